/* Lines of text for `read` and the plain tutor, and the numbers in them. */
#include "app/paper.h"
#include "app/step_text.h"
#include "app/values.h"

#include "lesson_dirs.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void prints(const char *markdown, int width, const char *expect) {
  struct paper p = {.width = width};
  struct prose *prose = prose_render(markdown, NULL);
  paper_prose(&p, prose);
  assert_string_equal(p.out.data ? p.out.data : "", expect);
  prose_free(prose);
  str_free(&p.out);
}

static void test_blocks(void **state) {
  (void)state;
  prints("one\n\ntwo `x`", 40, "one\n\ntwo `x`\n");
  prints("- a\n- b\n  - c\n\nd", 40, "- a\n- b\n  - c\n\nd\n");
  prints("- aaaaaaaaa bbbbbbbbb ccccccccc", 24, "- aaaaaaaaa bbbbbbbbb\n  ccccccccc\n");
  prints("```\nint a;\n\nint b;\n```", 40, "    int a;\n\n    int b;\n");
  prints("```math\nx = 1\n```", 25, "          x = 1\n");
  prints("> said", 40, "> said\n");
}

static void test_tables(void **state) {
  (void)state;
  prints("| a | bbb |\n|---|---|\n| 中文 | 2 |\n", 40, "  a     bbb\n  ----  ---\n  中文  2\n");
  prints("| name | what it does |\n|---|---|\n| load | brings a whole tile |\n", 24,
         "  - name: load; what it\n    does: brings a whole\n    tile\n");
}

static void test_wide_lines_continue(void **state) {
  (void)state;
  struct paper p = {.width = 24};
  paper_lines(&p, 4, "0123456789012345678901234\nx");
  assert_string_equal(p.out.data, "    01234567890123456789\n    01234\n    x\n");
  str_free(&p.out);
}

/* ---- values */

static char *home;

static void write_json(const char *file, cJSON *obj) {
  char *text = json_print(obj), *path = alloc_printf("%s/%s", home, file);
  assert_true(paths_write(path, text, strlen(text), NULL));
  free(path);
  free(text);
  cJSON_Delete(obj);
}

static void add_run(cJSON *runs, const char *kernel, double gflops) {
  struct result r;
  result_init(&r);
  snprintf(r.kernel, sizeof r.kernel, "%s", kernel);
  r.M = r.N = r.K = 4096;
  r.flop = 2.0 * 4096 * 4096 * 4096;
  r.verify.ok = true;
  r.gflops = gflops;
  r.median_ms = r.flop / gflops / 1e6;
  if (strcmp(kernel, "cuda/tiled") == 0) {
    snprintf(r.params[0].name, sizeof r.params[0].name, "T");
    r.params[0].value = 32;
    r.nparams = 1;
  }
  cJSON_AddItemToArray(runs, result_to_json(&r));
  result_done(&r);
}

static int setup(void **state) {
  (void)state;
  home = dirs_new();
  setenv("MMTUTOR_DATA", home, 1);
  setenv("XDG_CACHE_HOME", home, 1);
  cJSON *rec = cJSON_CreateObject(), *card = cJSON_AddObjectToObject(rec, "device");
  cJSON_AddNumberToObject(rec, "schema", 1);
  cJSON_AddStringToObject(card, "id", "cuda:0");
  cJSON_AddStringToObject(card, "name", "NVIDIA H200");
  cJSON_AddStringToObject(rec, "date", "2026-11-30T02:03:04Z");
  cJSON *runs = cJSON_AddArrayToObject(rec, "runs");
  add_run(runs, "cuda/naive", 6000);
  add_run(runs, "cuda/tiled", 9000);
  write_json("assets/recorded/h200.json", rec);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  unsetenv("MMTUTOR_DATA");
  dirs_remove(home);
  return 0;
}

static char *render(struct values *v, const char *markdown) {
  struct prose_source source = values_source(v);
  struct prose *p = prose_render(markdown, &source);
  char *text = alloc_str(p->blocks[0].runs[0].text);
  prose_free(p);
  return text;
}

static void shows(struct values *v, const char *markdown, const char *expect) {
  char *text = render(v, markdown);
  assert_string_equal(text, expect);
  free(text);
}

static void test_values(void **state) {
  (void)state;
  struct err err = {""};
  struct values *v = alloc_zero(1, sizeof *v);
  catalog *kernels = catalog_new();
  struct lesson *l = lesson_load(DIRS_GOOD, &err);
  assert_non_null(l);
  values_open(v, kernels);
  v->lesson = l;
  v->step = &l->steps[1];
  shows(v, "{{n/T}}", "128");
  shows(v, "{{device.sms}}", "-");
  shows(v, "{{run.e1.b.gflops/run.e1.a.gflops}}", "1.5 (H200)");
  shows(v, "{{run.e1.c.gflops}}", "-");
  struct result r;
  result_init(&r);
  r.gflops = 10;
  values_keep(v, "e1", "a", &r);
  shows(v, "{{run.e1.a.gflops}}", "10");
  shows(v, "{{run.e1.b.gflops/run.e1.a.gflops}}", "1.5 (H200)"); /* not 900: two machines */
  r.gflops = 25;
  values_keep(v, "e1", "b", &r);
  shows(v, "{{run.e1.b.gflops/run.e1.a.gflops}}", "2.5");
  shows(v, "{{run.e1.b.gbs}}", "-");
  double got;
  assert_true(values_of_runs(v, "e1", "b.gflops/a.gflops", &got));
  assert_true(got == 2.5);
  assert_false(values_of_runs(v, "e2", "b.gflops/a.gflops", &got));
  result_done(&r);
  lesson_free(l);
  values_close(v);
  catalog_free(kernels);
  free(v);
}

static void test_run_sizes(void **state) {
  (void)state;
  catalog *kernels = catalog_new();
  struct values v = {.kernels = kernels};
  char tiled[] = "cuda/tiled", b[] = "b", n[] = "n", t[] = "T", size[] = "64",
       wrong[] = "cuda/tild";
  struct exp_run run = {.as = b, .kernel = tiled};
  struct experiment e = {.sweep_var = n};
  struct kernel_size out;
  struct err err = {""};
  assert_true(values_run_size(&v, &e, &run, 512, &out, &err));
  assert_true(out.M == 512 && out.N == 512 && out.K == 512);
  e.sweep_var = t;
  assert_false(values_run_size(&v, &e, &run, 16, &out, &err)); /* no sizes */
  run.M = run.N = run.K = size;
  assert_true(values_run_size(&v, &e, &run, 16, &out, &err));
  assert_true(out.M == 64 && out.param[0] == 16);
  assert_false(values_run_size(&v, &e, &run, 7, &out, &err));
  assert_non_null(strstr(err.text, "7"));
  run.kernel = wrong;
  assert_false(values_run_size(&v, &e, &run, 16, &out, &err));
  assert_non_null(strstr(err.text, "cuda/tild"));
  catalog_free(kernels);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_blocks),
      cmocka_unit_test(test_tables),
      cmocka_unit_test(test_wide_lines_continue),
      cmocka_unit_test_setup_teardown(test_values, setup, teardown),
      cmocka_unit_test(test_run_sizes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
