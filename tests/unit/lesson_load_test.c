/* Loading lessons: the good one, every kind of broken one, and a course in which one is broken. */
#include "lesson/lesson.h"

#include "lesson_dirs.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

static struct lesson *load_good(void) {
  struct err err = {""};
  struct lesson *l = lesson_load(DIRS_GOOD, &err);
  if (!l)
    fail_msg("%s", err.text);
  return l;
}

static void test_good(void **state) {
  (void)state;
  struct lesson *l = load_good();
  assert_string_equal(l->id, "tiling");
  assert_string_equal(l->dir, "good");
  assert_int_equal(l->order, 6);
  assert_int_equal(l->nsteps, 8);
  assert_int_equal(l->nitems, 8);
  assert_int_equal(l->nexperiments, 1);
  assert_int_equal(l->nnotes, 1);
  assert_string_equal(l->steps[0].title.in[LANG_EN], "Tiles move");
  assert_int_equal(l->steps[1].M, 4096);
  assert_int_equal(l->steps[1].params.n, 1);
  assert_non_null(l->steps[5].figure_data);
  assert_non_null(strstr(l->steps[1].prose[LANG_EN], "## no section"));
  assert_int_equal(lesson_step(l, "moved"), 1);
  assert_int_equal(lesson_step(l, "2"), 1);
  assert_int_equal(lesson_step(l, "0"), -1);
  assert_int_equal(lesson_step(l, "9"), -1);
  assert_int_equal(lesson_step(l, "99999999999999999999"), -1);
  lesson_free(l);
}

static void test_experiment_and_rows(void **state) {
  (void)state;
  struct lesson *l = load_good();
  const struct experiment *e = lesson_experiment(l, "e1");
  const char *prose = NULL;
  assert_string_equal(e->band_high[EXP_CUDA], "2");
  assert_string_equal(e->band_high[EXP_CPU], "80"); /* the fallback */
  assert_null(e->band_high[EXP_XRAY]);
  assert_string_equal(e->side[EXP_CUDA].runs[1].M, "4096");
  assert_true(lesson_section(l, e->not_visible[0].step, LANG_EN, NULL, &prose));
  assert_string_equal(prose, "L2 had it already.");
  const struct item *ridge = lesson_item(l, "fix.ridge");
  assert_string_equal(ridge->draw[0].labels[3], "H200");
  assert_int_equal(ridge->draw[0].rows[3].n, 2);
  lesson_free(l);
}

/* A place may ask something of its own; the prediction of it is kept by itself. */
static void test_place_of_its_own(void **state) {
  (void)state;
  char key[LESSON_KEY];
  static char fast[] = "How fast?", many[] = "How many?", duo[] = "多少？", time[] = "a.ms";
  static char ms[] = "ms", ffma[] = "a.ffma", none[] = "";
  struct experiment e = {.ask = {{fast, fast}}, .quantity = time, .unit = ms};
  e.side[EXP_XRAY].ask = (struct text2){{many, duo}};
  e.side[EXP_XRAY].quantity = ffma;
  e.side[EXP_XRAY].unit = none;
  assert_string_equal(lesson_ask(&e, EXP_CUDA)->in[LANG_EN], "How fast?");
  assert_string_equal(lesson_ask(&e, EXP_XRAY)->in[LANG_ZH], "多少？");
  assert_string_equal(lesson_quantity(&e, EXP_CPU), "a.ms");
  assert_string_equal(lesson_quantity(&e, EXP_XRAY), "a.ffma");
  assert_string_equal(lesson_unit(&e, EXP_CUDA), "ms");
  assert_string_equal(lesson_unit(&e, EXP_XRAY), "");
  lesson_prediction_key(&e, EXP_CUDA, "predict", key);
  assert_string_equal(key, "predict");
  lesson_prediction_key(&e, EXP_XRAY, "predict", key);
  assert_string_equal(key, "predict@xray");
}

/* Each breaks one thing; the message must name the file, a line and the words. */
static const struct broken {
  const char *what, *file, *from, *to, *expect;
} table[] = {
    {"unknown experiment", "lesson.json", "\"experiment\": \"e1\"", "\"experiment\": \"e9\"", "e9"},
    {"unknown item", "lesson.json", "\"item\": \"fix.bytes\"", "\"item\": \"fix.nothing\"",
     "fix.nothing"},
    {"missing zh", "lesson.json", ", \"zh\": \"样例\"", "", "\"zh\""},
    {"empty text", "lesson.json", "\"样例\"", "\" \"", "empty"},
    {"wrong type", "lesson.json", "\"order\": 6", "\"order\": \"six\"", "\"order\""},
    {"order out of range", "lesson.json", "\"order\": 6", "\"order\": 20", "\"order\""},
    {"schema 2", "lesson.json", "\"schema\": 1", "\"schema\": 2", "schema"},
    {"no schema", "lesson.json", "\"schema\": 1,", "", "schema"},
    {"duplicate key", "lesson.json", "\"order\": 6", "\"order\": 6, \"order\": 7", "order"},
    {"kind unknown", "lesson.json", "\"kind\": \"sim\"", "\"kind\": \"film\"", "kind"},
    {"second step", "lesson.json", "\"id\": \"moved\"", "\"id\": \"strips\"", "strips"},
    {"second item", "lesson.json", "\"id\": \"fix.ridge\"", "\"id\": \"fix.flops\"", "fix.flops"},
    {"bad id", "lesson.json", "\"id\": \"fix.flops\"", "\"id\": \"Fix Flops\"", "no id"},
    {"bad key", "lesson.json", "\"key\": \"2*M*N*K\"", "\"key\": \"2*M*N*\"", "key"},
    {"bad tol", "lesson.json", "\"tol\": \"2%\"", "\"tol\": \"about\"", "tol"},
    {"bad unit", "lesson.json", "\"unit\": \"FLOP\"", "\"unit\": \"furlong\"", "furlong"},
    {"two right options", "lesson.json", "\"tag\": \"auto\"", "\"right\": true", "right"},
    {"malrule without words", "lesson.json", "\"tag\": \"fma1\"}", "\"tag\": \"nosuchtag\"}",
     "say"},
    {"mixed draw", "lesson.json", "[1024, 2048, 4096, 8192]", "[1024, \"x\"]", "draw"},
    {"empty draw", "lesson.json", "[1024, 2048, 4096, 8192]", "[]", "draw"},
    {"sim without sizes", "lesson.json", "\"M\": 12, ", "", "\"M\""},
    {"negative size", "lesson.json", "\"M\": 12", "\"M\": -12", "\"M\""},
    {"no such note", "lesson.json", "\"text\": \"slower\"", "\"text\": \"faster\"", "faster"},
    {"predict without ask", "lesson.json",
     "\"ask\": {\"en\": \"How much faster?\", \"zh\": \"快多少？\"},", "", "ask"},
    {"steps no list", "lesson.json", "\"steps\": [", "\"steps\": 3, \"was\": [", "steps"},
    {"trailing text", "lesson.json", "\"schema\": 1", "x\"schema\": 1", "lesson.json"},
    {"section missing in zh", "zh.md", "## end 小结", "## fin 小结", "fin"},
    {"section twice", "en.md", "## end Summary", "## code Summary", "code"},
    {"heading without title", "en.md", "## end Summary", "## end", "## step-id"},
    {"text before a section", "en.md", "# Fixture", "Fixture", "before the first"},
    {"bad expression", "en.md", "{{T}}", "{{T+}}", "{{T+}}"},
    {"unknown unit", "en.md", "| B/s}}", "| miles}}", "miles"},
    {"no prose for a step", "en.md", "Points.", "", "plot"},
    {"not UTF-8", "en.md", "Points", "Poi\xff", "UTF-8"},
    {"UTF-16", "en.md", "# Fix", "\xff\xfe#\x01", "UTF-8"},
};

static void load_broken(const char *dir, const char *what, const char *file, const char *expect) {
  struct err err = {""};
  struct lesson *l = lesson_load(dir, &err);
  if (l)
    fail_msg("%s: loaded", what);
  const char *at = strstr(err.text, file);
  if (!at || at[strlen(file)] != ':' || at[strlen(file) + 1] < '1' || at[strlen(file) + 1] > '9')
    fail_msg("%s: no file:line in: %s", what, err.text);
  if (!strstr(err.text, expect))
    fail_msg("%s: no '%s' in: %s", what, expect, err.text);
}

static void test_broken(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    const struct broken *b = &table[i];
    char *dir = dirs_new();
    size_t n;
    dirs_copy_good(dir);
    char *text = dirs_read(dir, b->file, &n), *bad = dirs_replace(text, b->from, b->to);
    dirs_write(dir, b->file, bad, strlen(bad));
    load_broken(dir, b->what, b->file, b->expect);
    free(bad);
    free(text);
    dirs_remove(dir);
  }
}

static void test_truncated(void **state) {
  (void)state;
  char *dir = dirs_new();
  size_t n;
  dirs_copy_good(dir);
  char *text = dirs_read(dir, "lesson.json", &n);
  for (size_t cut = 0; cut + 2 < n; cut += 97) {
    dirs_write(dir, "lesson.json", text, cut);
    load_broken(dir, "truncated", "lesson.json", "");
  }
  free(text);
  dirs_remove(dir);
}

static void test_bom_and_crlf(void **state) {
  (void)state;
  char *dir = dirs_new();
  size_t n;
  struct err err = {""};
  dirs_copy_good(dir);
  char *text = dirs_read(dir, "lesson.json", &n), *bom = alloc_printf("\xEF\xBB\xBF%s", text);
  dirs_write(dir, "lesson.json", bom, strlen(bom));
  free(text);
  free(bom);
  text = dirs_read(dir, "en.md", &n);
  struct str crlf = {0};
  str_add(&crlf, "\xEF\xBB\xBF");
  for (const char *p = text; *p; p++) {
    if (*p == '\n')
      str_addc(&crlf, '\r');
    str_addc(&crlf, *p);
  }
  dirs_write(dir, "en.md", crlf.data, crlf.len);
  struct lesson *l = lesson_load(dir, &err);
  if (!l)
    fail_msg("%s", err.text);
  assert_null(strchr(l->steps[0].prose[LANG_EN], '\r'));
  assert_string_equal(l->steps[0].title.in[LANG_EN], "Tiles move");
  lesson_free(l);
  str_free(&crlf);
  free(text);
  dirs_remove(dir);
}

static void test_escapes_are_cleaned(void **state) {
  (void)state;
  char *dir = dirs_new();
  size_t n;
  struct err err = {""};
  dirs_copy_good(dir);
  char *text = dirs_read(dir, "lesson.json", &n);
  char *bad = dirs_replace(text, "\"Fixture\"", "\"Fix\\u001b[2Jture\\u202e\"");
  dirs_write(dir, "lesson.json", bad, strlen(bad));
  free(text);
  free(bad);
  text = dirs_read(dir, "en.md", &n);
  bad = dirs_replace(text, "Points.", "Poi\033]0;x\007nts.");
  dirs_write(dir, "en.md", bad, strlen(bad));
  struct lesson *l = lesson_load(dir, &err);
  if (!l)
    fail_msg("%s", err.text);
  assert_null(strchr(l->title.in[LANG_EN], '\033'));
  assert_null(strstr(l->title.in[LANG_EN], "\u202e"));
  assert_null(strchr(l->steps[5].prose[LANG_EN], '\033'));
  assert_null(strchr(l->steps[5].prose[LANG_EN], '\007'));
  lesson_free(l);
  free(text);
  free(bad);
  dirs_remove(dir);
}

static void test_deep_nesting(void **state) {
  (void)state;
  char *dir = dirs_new();
  struct str deep = {0};
  dirs_copy_good(dir);
  for (int i = 0; i < 1000; i++)
    str_add(&deep, "[");
  dirs_write(dir, "lesson.json", deep.data, deep.len);
  load_broken(dir, "1000 deep", "lesson.json", "");
  str_free(&deep);
  dirs_remove(dir);
}

static void test_odd_files(void **state) {
  (void)state;
  char *dir = dirs_new();
  struct err err = {""};
  dirs_copy_good(dir);
  char *json = alloc_printf("%s/lesson.json", dir);
  assert_int_equal(truncate(json, (off_t)9 << 30), 0); /* sparse: refused before it is read */
  clock_t before = clock();
  load_broken(dir, "9 GiB", "lesson.json", "");
  assert_true(clock() - before < CLOCKS_PER_SEC);
  unlink(json);
  load_broken(dir, "absent", "lesson.json", "");
  assert_int_equal(symlink("lesson.json", json), 0);
  load_broken(dir, "link to itself", "lesson.json", "");
  unlink(json);
  assert_int_equal(mkdir(json, 0700), 0);
  load_broken(dir, "directory", "lesson.json", "directory");
  assert_null(lesson_load("/nonexistent", &err));
  free(json);
  dirs_remove(dir);
}

static char *course_dir_new(void) {
  char *data = dirs_new(), *lessons = alloc_printf("%s/lessons", data);
  mkdir(lessons, 0700);
  free(lessons);
  return data;
}

static char *add_lesson(const char *data, const char *name) {
  char *dir = alloc_printf("%s/lessons/%s", data, name);
  mkdir(dir, 0700);
  dirs_copy_good(dir);
  return dir;
}

static void test_course(void **state) {
  (void)state;
  char *data = course_dir_new();
  char *good = add_lesson(data, "06-tiling"), *bad = add_lesson(data, "02-flops");
  char *other = add_lesson(data, "05-coalescing"); /* its id says tiling */
  dirs_write(bad, "lesson.json", "{\n\"schema\":", 11);
  setenv("MMTUTOR_DATA", data, 1);
  struct course *c = course_load();
  const struct course_entry *e = course_find(c, "tiling");
  assert_non_null(e);
  assert_non_null(e->lesson);
  assert_null(e->broken);
  assert_string_equal(e->title.in[LANG_ZH], "样例");
  assert_int_equal(e->minutes, 15);
  e = course_find(c, "02-flops");
  assert_null(e->lesson);
  assert_non_null(strstr(e->broken, "02-flops/lesson.json:"));
  e = course_find(c, "5");
  assert_null(e->lesson);
  assert_non_null(strstr(e->broken, "tiling"));
  e = course_find(c, "interview");
  assert_null(e->lesson);
  assert_null(e->broken);
  assert_true(*e->title.in[LANG_EN] != '\0');
  assert_null(course_find(c, "cooking"));
  course_free(c);
  unsetenv("MMTUTOR_DATA");
  free(good);
  free(bad);
  free(other);
  dirs_remove(data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_good),
      cmocka_unit_test(test_experiment_and_rows),
      cmocka_unit_test(test_place_of_its_own),
      cmocka_unit_test(test_broken),
      cmocka_unit_test(test_truncated),
      cmocka_unit_test(test_bom_and_crlf),
      cmocka_unit_test(test_escapes_are_cleaned),
      cmocka_unit_test(test_deep_nesting),
      cmocka_unit_test(test_odd_files),
      cmocka_unit_test(test_course),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
