#include "base/err.h"
#include "base/rand.h"
#include "base/utf8.h"
#include "ui/canvas.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect_text(const canvas *cv, const char *want) {
  char *got = canvas_to_text(cv);
  assert_string_equal(got, want);
  free(got);
  struct err err;
  assert_true(canvas_check(cv, &err));
}

static void test_text_and_columns(void **state) {
  (void)state;
  canvas *cv = canvas_new(8, 2);
  assert_int_equal(canvas_text(cv, 0, 0, ROLE_TEXT, 0, "ab矩阵"), 6);
  assert_int_equal(canvas_text(cv, 5, 1, ROLE_TEXT, 0, "wxyz"), 4);
  assert_int_equal(canvas_text(cv, -1, 1, ROLE_TEXT, 0, "mn"), 2);
  expect_text(cv, "ab矩阵  \nn    wxy\n");
  assert_int_equal(canvas_at(cv, 2, 0)->width, 2);
  assert_string_equal(canvas_at(cv, 3, 0)->glyph, "");
  assert_null(canvas_at(cv, 8, 0));
  assert_null(canvas_at(cv, 0, -1));
  canvas_free(cv);
}

static void test_half_wide_becomes_space(void **state) {
  (void)state;
  canvas *cv = canvas_new(6, 1);
  canvas_text(cv, 0, 0, ROLE_TEXT, 0, "你好世");
  canvas_text(cv, 1, 0, ROLE_TEXT, 0, "x");
  expect_text(cv, " x好世\n");
  canvas_text(cv, 4, 0, ROLE_TEXT, 0, "y");
  expect_text(cv, " x好y \n");
  canvas_clear(cv);
  canvas_text(cv, 5, 0, ROLE_TEXT, 0, "你");
  expect_text(cv, "      \n");
  canvas_text(cv, -1, 0, ROLE_TEXT, 0, "你好");
  expect_text(cv, " 好   \n");
  canvas_text(cv, 2, 0, ROLE_TEXT, 0, "阵");
  expect_text(cv, "  阵  \n");
  canvas_free(cv);
}

static void test_clip(void **state) {
  (void)state;
  canvas *cv = canvas_new(8, 2);
  struct rect old = canvas_clip(cv, (struct rect){2, 0, 3, 1});
  assert_int_equal(old.w, 8);
  canvas_text(cv, 0, 0, ROLE_TEXT, 0, "abcdefgh");
  canvas_text(cv, 2, 1, ROLE_TEXT, 0, "no");
  canvas_fill(cv, (struct rect){-5, -5, 4, 4}, ROLE_TEXT, "#");
  expect_text(cv, "  cde   \n        \n");
  canvas_text(cv, 1, 0, ROLE_TEXT, 0, "矩阵");
  expect_text(cv, "   阵   \n        \n");
  canvas_clip(cv, old);
  canvas_fill(cv, (struct rect){0, 1, 8, 9}, ROLE_TEXT, "#");
  expect_text(cv, "   阵   \n########\n");
  canvas_clip(cv, (struct rect){INT32_MAX, 0, INT32_MAX, INT32_MAX});
  canvas_text(cv, 0, 0, ROLE_TEXT, 0, "abc");
  canvas_free(cv);
}

static void test_controls_never_written(void **state) {
  (void)state;
  canvas *cv = canvas_new(8, 1);
  canvas_text(cv, 0, 0, ROLE_TEXT, 0, "a\nb\x1b[1m\x7f\xC2\x9B\xFF");
  expect_text(cv, "ab[1m\xEF\xBF\xBD  \n");
  canvas_free(cv);
}

static void test_fit_right_wrap(void **state) {
  (void)state;
  canvas *cv = canvas_new(10, 3);
  assert_int_equal(canvas_fit(cv, 0, 0, 6, ROLE_TEXT, 0, "abcdefgh"), 6);
  assert_int_equal(canvas_right(cv, 10, 0, ROLE_TEXT, 0, "12"), 8);
  assert_int_equal(canvas_fit(cv, 0, 1, 4, ROLE_TEXT, 0, "矩阵乘"), 3);
  assert_int_equal(canvas_fit(cv, 5, 1, 4, ROLE_TEXT, 0, "矩阵"), 4);
  expect_text(cv, "abcde…  12\n矩…  矩阵 \n          \n");
  canvas_clear(cv);
  int n = canvas_wrap(cv, (struct rect){1, 0, 5, 2}, 1, ROLE_TEXT, 0, "one two three four");
  assert_int_equal(n, 4);
  expect_text(cv, " two      \n three    \n          \n");
  canvas_free(cv);
}

static void test_ascii(void **state) {
  (void)state;
  canvas *cv = canvas_new(10, 1);
  canvas_set_ascii(cv, true);
  canvas_text(cv, 0, 0, ROLE_TEXT, 0, "─│█⣿é×…矩\xF0\x9F\x98\x80");
  struct err err;
  assert_true(canvas_check(cv, &err));
  for (int x = 0; x < 10; x++)
    if (canvas_at(cv, x, 0)->width != 2)
      assert_true((unsigned char)canvas_at(cv, x, 0)->glyph[0] < 0x80);
  assert_string_equal(canvas_at(cv, 0, 0)->glyph, "-");
  assert_string_equal(canvas_at(cv, 1, 0)->glyph, "|");
  assert_string_equal(canvas_at(cv, 7, 0)->glyph, "矩");
  canvas_free(cv);
}

static void test_essential_and_asks(void **state) {
  (void)state;
  canvas *cv = canvas_new(10, 2);
  canvas_essential(cv, 0, 0, ROLE_TEXT, 0, "fits whole");
  assert_int_equal(canvas_clipped(cv), 0);
  canvas_essential(cv, 1, 0, ROLE_TEXT, 0, "too long s");
  canvas_essential(cv, 0, 2, ROLE_TEXT, 0, "below");
  assert_int_equal(canvas_clipped(cv), 2);
  assert_string_equal(canvas_clipped_text(cv, 1), "below");
  canvas_ask(cv, (struct rect){1, 1, 3, 1}, "moved", "8*n^3/T", NULL, "17 GB", "here", NULL);
  assert_int_equal(canvas_asks(cv), 1);
  assert_string_equal(canvas_ask_at(cv, 0)->formula, "8*n^3/T");
  assert_string_equal(canvas_ask_at(cv, 0)->holds, "");
  assert_null(canvas_ask_at(cv, 1));
  canvas_cursor(cv, 3, 1);
  canvas_clear(cv);
  int x, y;
  canvas_cursor_get(cv, &x, &y);
  assert_true(x == -1 && y == -1 && canvas_asks(cv) == 0 && canvas_clipped(cv) == 0);
  canvas_free(cv);
}

static void test_paint_keeps_both_halves(void **state) {
  (void)state;
  canvas *cv = canvas_new(4, 1);
  canvas_text(cv, 0, 0, ROLE_TEXT, 0, "矩阵");
  canvas_paint(cv, (struct rect){1, 0, 1, 1}, ROLE_NOW, MARK_BOLD);
  assert_int_equal(canvas_at(cv, 0, 0)->role, ROLE_NOW);
  assert_int_equal(canvas_at(cv, 1, 0)->mark, MARK_BOLD);
  assert_int_equal(canvas_at(cv, 2, 0)->role, ROLE_TEXT);
  expect_text(cv, "矩阵\n");
  canvas_free(cv);
}

static void test_long_grapheme_is_cut(void **state) {
  (void)state;
  char zalgo[200] = "e";
  for (int i = 0; i < 40; i++)
    strcat(zalgo, "\xCC\x81");
  strcat(zalgo, "z");
  canvas *cv = canvas_new(3, 1);
  assert_int_equal(canvas_text(cv, 0, 0, ROLE_TEXT, 0, zalgo), 2);
  struct err err;
  assert_true(canvas_check(cv, &err));
  assert_string_equal(canvas_at(cv, 1, 0)->glyph, "z");
  canvas_free(cv);
}

static int below(struct rand *r, int n) { return (int)rand_below(r, (uint64_t)n); }

static void random_draw(canvas *cv, struct rand *r, int cols, int rows) {
  static const char *const texts[] = {
      "plain",    "矩阵乘法",     "a矩b阵",
      "…─│█⣿",    "e\xCC\x81x",   "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB",
      "\xFF\xFE", "a\tb\nc",      "",
      "，。）",   "\xE2\x80\x8B", "\xEF\xBC\xA1\xEF\xBD\xB1"};
  const char *text = texts[below(r, (int)(sizeof texts / sizeof texts[0]))];
  int x = below(r, cols + 8) - 4, y = below(r, rows + 4) - 2;
  struct rect area = {x, y, below(r, cols + 4) - 2, below(r, rows + 4) - 2};
  enum role role = (enum role)below(r, ROLE_COUNT);
  switch (below(r, 9)) {
  case 0:
    canvas_text(cv, x, y, role, 0, text);
    break;
  case 1:
    canvas_right(cv, x, y, role, 0, text);
    break;
  case 2:
    canvas_fit(cv, x, y, area.w, role, 0, text);
    break;
  case 3:
    canvas_wrap(cv, area, below(r, 3) - 1, role, 0, text);
    break;
  case 4:
    canvas_fill(cv, area, role, text);
    break;
  case 5:
    canvas_hline(cv, x, y, area.w, role);
    break;
  case 6:
    canvas_paint(cv, area, role, MARK_BOLD);
    break;
  case 7:
    canvas_clip(cv, area);
    break;
  default:
    canvas_clip(cv, (struct rect){0, 0, cols, rows});
    canvas_set_ascii(cv, below(r, 4) == 0);
  }
}

static void test_random_draws_keep_invariants(void **state) {
  (void)state;
  struct rand r;
  rand_seed(&r, 20261130);
  for (int round = 0; round < 300; round++) {
    int cols = 1 + below(&r, 30), rows = 1 + below(&r, 6);
    canvas *cv = canvas_new(cols, rows);
    for (int i = 0; i < 60; i++) {
      random_draw(cv, &r, cols, rows);
      struct err err;
      if (!canvas_check(cv, &err))
        fail_msg("round %d draw %d: %s", round, i, err.text);
    }
    char *text = canvas_to_text(cv), *line = text;
    for (int y = 0; y < rows; y++) {
      char *end = strchr(line, '\n');
      assert_non_null(end);
      assert_int_equal(utf8_width_n(line, (size_t)(end - line)), cols);
      line = end + 1;
    }
    free(text);
    canvas_free(cv);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_text_and_columns),
      cmocka_unit_test(test_half_wide_becomes_space),
      cmocka_unit_test(test_clip),
      cmocka_unit_test(test_controls_never_written),
      cmocka_unit_test(test_fit_right_wrap),
      cmocka_unit_test(test_ascii),
      cmocka_unit_test(test_essential_and_asks),
      cmocka_unit_test(test_paint_keeps_both_halves),
      cmocka_unit_test(test_long_grapheme_is_cut),
      cmocka_unit_test(test_random_draws_keep_invariants),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
