/* The authors' check: the shipped lessons' fixture is clean, and each kind of fault is found. */
#include "lesson/lesson.h"

#include "lesson_dirs.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static catalog *kernels;
static char *data, *dir;

static int setup(void **state) {
  (void)state;
  kernels = catalog_new();
  data = dirs_new();
  dir = alloc_printf("%s/06-tiling", data);
  mkdir(dir, 0700);
  dirs_copy_good(dir);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  catalog_free(kernels);
  free(dir);
  dirs_remove(data);
  return 0;
}

static void test_good(void **state) {
  (void)state;
  struct str faults = {0}, summary = {0};
  int n = lesson_check(data, kernels, &faults, &summary);
  if (n)
    fail_msg("%s", faults.data);
  assert_string_equal(summary.data, "1 lesson, 8 items, 140 draws: 0 faults");
  str_clear(&summary);
  assert_int_equal(lesson_check(dir, kernels, &faults, &summary), 0);
  str_clear(&summary);
  char *json = alloc_printf("%s/lesson.json", dir);
  assert_int_equal(lesson_check(json, kernels, &faults, &summary), 0);
  assert_string_equal(summary.data, "1 lesson, 8 items, 140 draws: 0 faults");
  free(json);
  str_free(&faults);
  str_free(&summary);
}

static const struct {
  const char *what, *file, *from, *to, *expect;
} table[] = {
    {"loader's refusal", "lesson.json", "\"order\": 6", "\"order\": \"x\"", "\"order\""},
    {"order", "lesson.json", "\"order\": 6", "\"order\": 7", "\"order\" is 7"},
    {"id of another place", "lesson.json", "\"id\": \"tiling\"", "\"id\": \"flops\"", "02-flops"},
    {"id of no place", "lesson.json", "\"id\": \"tiling\"", "\"id\": \"cooking\"", "cooking"},
    {"unknown member", "lesson.json", "\"minutes\": 15", "\"minutes\": 15, \"mintes\": 2",
     "mintes"},
    {"unknown member of a malrule", "lesson.json", "\"tag\": \"fma1\"}",
     "\"tag\": \"fma1\", \"sya\": {}}", "sya"},
    {"no minutes", "lesson.json", "\"minutes\": 15,", "", "minutes"},
    {"kernel of a step", "lesson.json", "\"kernel\": \"cuda/tiled\", \"M\": 12",
     "\"kernel\": \"cuda/tild\", \"M\": 12", "cuda/tild"},
    {"kernel of a run", "lesson.json", "cuda/naive", "cuda/naif", "cuda/naif"},
    {"parameter of a run", "lesson.json", "\"params\": {\"T\": 32}}]", "\"params\": {\"T\": 33}}]",
     "33"},
    {"mark", "lesson.json", "\"marks\": []", "\"marks\": [\"nowhere\"]", "nowhere"},
    {"no band", "lesson.json", "\"band\": [\"1\", \"80\"], ", "", "band"},
    {"no not_visible", "lesson.json", "[{\"if\": \"b.gflops<1.2*a.gflops\", \"text\": \"slower\"}]",
     "[]", "not_visible"},
    {"unknown run in the quantity", "lesson.json", "\"b.gflops/a.gflops\"", "\"c.gflops/a.gflops\"",
     "c.gflops"},
    {"unknown field", "lesson.json", "\"b.gflops/a.gflops\"", "\"b.speed/a.gflops\"", "b.speed"},
    {"time of an x-ray", "lesson.json", "\"quantity\"",
     "\"xray\": {\"runs\": [{\"as\": \"a\", \"kernel\": \"cuda/naive\", \"M\": 64, \"N\": 64, "
     "\"K\": 64}], \"quantity\": \"a.ms\", \"ask\": {\"en\": \"?\", \"zh\": \"?\"}, \"band\": "
     "[\"1\", \"2\"]}, \"quantity\"",
     "a.ms"},
    {"x-ray of a CPU kernel", "lesson.json", "\"quantity\"",
     "\"xray\": {\"runs\": [{\"as\": \"a\", \"kernel\": \"cpu/ikj\", \"M\": 64, \"N\": 64, \"K\": "
     "64}], \"quantity\": \"a.ffma\", \"ask\": {\"en\": \"?\", \"zh\": \"?\"}, \"band\": [\"1\", "
     "\"2\"]}, \"quantity\"",
     "cpu/ikj is none"},
    {"a count without a question", "lesson.json", "\"quantity\"",
     "\"xray\": {\"runs\": [{\"as\": \"a\", \"kernel\": \"cuda/naive\", \"M\": 64, \"N\": 64, "
     "\"K\": 64}], \"quantity\": \"a.ffma\", \"band\": [\"1\", \"2\"]}, \"quantity\"",
     "an \"ask\""},
    {"a count of a timed run", "lesson.json", "\"b.gflops/a.gflops\"", "\"a.gld_sectors\"",
     "a.gld_sectors"},
    {"key without value", "lesson.json", "\"key\": \"2*M*N*K\"", "\"key\": \"2*M*N*Q\"",
     "no value"},
    {"malrule near the key", "lesson.json", "\"key\": \"8*n^3\"", "\"key\": \"8.24*n^3/T\"",
     "twice the tolerance"},
    {"malrule that is the key", "lesson.json", "\"key\": \"8*n^3\"", "\"key\": \"8*n^3/T+1\"",
     "every draw"},
    {"escapes in a name", "lesson.json", "\"minutes\": 15", "\"minutes\": 15, \"\\u001b[2J\": 2",
     "\"\xef\xbf\xbd[2J\""},
    {"name not drawn", "lesson.json", "n = {n}, T = {T}: bytes", "n = {n}, T = {S}: bytes", "{S}"},
    {"expression of a text", "lesson.json", "{{8*n^3/T | B}}", "{{8*n^3/S | B}}", "S"},
    {"no solution", "lesson.json", ", \"solution\": {\"en\": \"gcd\", \"zh\": \"gcd\"}", "",
     "solution"},
    {"tag without text", "lesson.json", "[\"fma1\", \"rate\"]", "[\"fma1\", \"rat\"]", "rat"},
    {"note that nobody names", "en.md", "## end Summary", "## stray A\n\nb\n\n## end Summary",
     "stray"},
    {"number by hand", "en.md", "a tile of T = {{T}}", "4.25 TB/s at T = {{T}}", "4.25 TB/s"},
};

static void test_faults(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    size_t n;
    struct str faults = {0}, summary = {0};
    char *text = dirs_read(dir, table[i].file, &n);
    char *bad = dirs_replace(text, table[i].from, table[i].to);
    dirs_write(dir, table[i].file, bad, strlen(bad));
    int count = lesson_check(data, kernels, &faults, &summary);
    assert_null(faults.data ? strpbrk(faults.data, "\x1b\x07") : NULL);
    if (count < 1 || !strstr(faults.data, table[i].expect) || !strstr(faults.data, "06-tiling/"))
      fail_msg("%s: %d faults: %s", table[i].what, count, faults.data ? faults.data : "");
    dirs_write(dir, table[i].file, text, n);
    free(text);
    free(bad);
    str_free(&faults);
    str_free(&summary);
  }
}

/* The fault of a section says the line of the text and not of the file's start. */
static void test_line_of_prose(void **state) {
  (void)state;
  size_t n;
  struct str faults = {0}, summary = {0};
  char *text = dirs_read(dir, "zh.md", &n);
  char *bad = dirs_replace(text, "完。", "完。\n\n{{T}} 比 9 ms");
  dirs_write(dir, "zh.md", bad, strlen(bad));
  int line = 1;
  for (const char *p = bad; p < strstr(bad, "9 ms"); p++)
    line += *p == '\n';
  char *expect = alloc_printf("/zh.md:%d: ", line);
  assert_int_equal(lesson_check(data, kernels, &faults, &summary), 1);
  assert_non_null(strstr(faults.data, expect));
  free(expect);
  free(text);
  free(bad);
  str_free(&faults);
  str_free(&summary);
}

static void test_nothing_there(void **state) {
  (void)state;
  struct str faults = {0}, summary = {0};
  assert_true(lesson_check("/nonexistent", kernels, &faults, &summary) > 0);
  assert_non_null(strstr(faults.data, "/nonexistent"));
  str_free(&faults);
  str_free(&summary);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_good, setup, teardown),
      cmocka_unit_test_setup_teardown(test_faults, setup, teardown),
      cmocka_unit_test_setup_teardown(test_line_of_prose, setup, teardown),
      cmocka_unit_test_setup_teardown(test_nothing_there, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
