#include "lesson/prose.h"
#include "ui/page.h"
#include "ui/prose_page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect(const page *p, int cols, int rows, int skip, const char *want) {
  canvas *cv = canvas_new(cols, rows);
  page_draw(p, cv, (struct rect){0, 0, cols, rows}, skip, NULL);
  char *got = canvas_to_text(cv);
  assert_string_equal(got, want);
  free(got);
  canvas_free(cv);
}

static void test_runs_wrap_together(void **state) {
  (void)state;
  page *p = page_new(12);
  struct page_run runs[] = {
      {.text = "one "}, {.text = "two", .mark = MARK_BOLD}, {.text = " three four"}};
  page_put(p, 2, "-", ROLE_DIM, runs, 3);
  assert_int_equal(page_lines(p), 2);
  expect(p, 12, 2, 0, "- one two   \n  three four\n");
  expect(p, 12, 2, 1, "  three four\n            \n");
  page_free(p);
}

/* A number and its unit stay together, and can be asked about where they are. */
static void test_numbers_are_solid(void **state) {
  (void)state;
  page *p = page_new(14);
  struct page_ask ask = {"work", "2*n^3", "2*4096^3", "137 GFLOP", "formula", ""};
  struct page_run runs[] = {{.text = "it takes "},
                            {.text = "137 GFLOP", .solid = true, .ask = &ask}};
  page_put(p, 0, NULL, ROLE_TEXT, runs, 2);
  expect(p, 14, 2, 0, "it takes      \n137 GFLOP     \n");
  canvas *cv = canvas_new(20, 4);
  page_draw(p, cv, (struct rect){3, 1, 14, 3}, 0, NULL);
  assert_int_equal(canvas_asks(cv), 1);
  const struct ask *a = canvas_ask_at(cv, 0);
  assert_string_equal(a->filled, "2*4096^3");
  assert_true(a->at.x == 3 && a->at.y == 2 && a->at.w == 9 && a->at.h == 1);
  canvas_free(cv);
  cv = canvas_new(20, 4);
  page_draw(p, cv, (struct rect){3, 1, 14, 1}, 0, NULL); /* scrolled out: not asked about */
  assert_int_equal(canvas_asks(cv), 0);
  canvas_free(cv);
  page_free(p);
}

static void test_code_goes_on_further_in(void **state) {
  (void)state;
  page *p = page_new(20);
  page_code(p, 2, "▸", ROLE_CODE, 0, "  acc += As[k] * Bs[k];");
  page_code(p, 2, NULL, ROLE_CODE, 0, "}");
  assert_true(page_aside(p, ROLE_DIM, "end"));
  assert_false(page_aside(p, ROLE_DIM, "a name that is far too long"));
  expect(p, 20, 3, 0, "▸   acc += As[k] *  \n        Bs[k];      \n  }              end\n");
  page_free(p);
}

static void test_gaps(void **state) {
  (void)state;
  page *p = page_new(10);
  page_gap(p); /* none at the top */
  page_say(p, 0, ROLE_TEXT, 0, "a");
  page_gap(p);
  page_gap(p);
  page_say(p, 0, ROLE_TEXT, 0, "b");
  assert_int_equal(page_space(p, 2), 3);
  page_gap(p); /* room for a picture is no gap */
  page_say(p, 0, ROLE_TEXT, 0, "c");
  assert_int_equal(page_lines(p), 7);
  page_free(p);
}

static void test_find(void **state) {
  (void)state;
  page *p = page_new(20);
  for (int i = 0; i < 3; i++) {
    page_say(p, 0, ROLE_TEXT, 0, "Nothing here");
    page_say(p, 0, ROLE_TEXT, 0, "a Barrier, 矩阵");
  }
  assert_int_equal(page_find(p, 0, "barrier"), 1);
  assert_int_equal(page_find(p, 2, "矩阵"), 3);
  assert_int_equal(page_find(p, 6, "barrier"), -1);
  assert_int_equal(page_find(p, 0, "absent"), -1);
  assert_int_equal(page_find(p, 0, ""), -1);
  canvas *cv = canvas_new(20, 2);
  page_draw(p, cv, (struct rect){0, 0, 20, 2}, 0, "矩阵");
  assert_int_equal(canvas_at(cv, 10, 1)->mark & MARK_REVERSE, 0);
  assert_int_equal(canvas_at(cv, 11, 1)->mark & MARK_REVERSE, MARK_REVERSE);
  canvas_free(cv);
  page_free(p);
}

static page *render(const char *markdown, int cols) {
  struct prose_source none = {0};
  struct prose_page how = {.label = "t", .role = ROLE_TEXT};
  struct prose *text = prose_render(markdown, &none);
  page *p = page_new(cols);
  prose_page_put(p, text, &how);
  prose_free(text);
  return p;
}

static void test_prose_lists_and_tables(void **state) {
  (void)state;
  page *p = render(
      "Two **limits**:\n\n- one\n- two\n\n| op | n |\n|---|---|\n| add | 12 |\n| gemm | 7 |\n", 16);
  expect(p, 16, 8, 0,
         "Two limits:     \n"
         "                \n"
         " · one          \n"
         " · two          \n"
         "                \n"
         "op     n        \n"
         "add   12        \n"
         "gemm   7        \n");
  page_free(p);
}

/* A table that is too wide wraps inside its cells and loses nothing. */
static void test_wide_table(void **state) {
  (void)state;
  page *p = render("| a | b |\n|---|---|\n| some longer words here | and more of them |\n", 16);
  canvas *cv = canvas_new(16, 8);
  page_draw(p, cv, (struct rect){0, 0, 16, 8}, 0, NULL);
  char *got = canvas_to_text(cv);
  static const char *const words[] = {"some", "longer", "words", "here", "and", "more", "them"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    assert_non_null(strstr(got, words[i]));
  free(got);
  canvas_free(cv);
  page_free(p);
}

static void test_any_width(void **state) {
  (void)state;
  for (int cols = 1; cols < 60; cols++) {
    page *p = render("# H\n\nWords `code` 矩阵乘法 and *more*.\n\n1. a\n2. b\n\n```\nint x = f(a, "
                     "b, c);\n```\n\n"
                     "```math\nx = y\n\nz\n```\n\n> quote\n\n|a|b|c|\n|-|-|-|\n|1|two words|3|\n",
                     cols);
    canvas *cv = canvas_new(cols, 60);
    page_draw(p, cv, (struct rect){0, 0, cols, 60}, 0, "a");
    struct err err;
    assert_true(canvas_check(cv, &err));
    canvas_free(cv);
    page_free(p);
  }
}

/* ASCII pages have words, not cells: a power keeps its sign, a product its star. */
static void test_ascii_words(void **state) {
  (void)state;
  page *p = page_new(20);
  canvas *cv = canvas_new(20, 2);
  page_set_ascii(p, true);
  page_say(p, 0, ROLE_TEXT, 0, "2·4,096³ × 5");
  page_draw(p, cv, (struct rect){0, 0, 20, 2}, 0, NULL);
  char *text = canvas_to_text(cv);
  assert_non_null(strstr(text, "2*4,096^3 x 5"));
  free(text);
  canvas_free(cv);
  page_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ascii_words),
      cmocka_unit_test(test_runs_wrap_together),
      cmocka_unit_test(test_numbers_are_solid),
      cmocka_unit_test(test_code_goes_on_further_in),
      cmocka_unit_test(test_gaps),
      cmocka_unit_test(test_find),
      cmocka_unit_test(test_prose_lists_and_tables),
      cmocka_unit_test(test_wide_table),
      cmocka_unit_test(test_any_width),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
