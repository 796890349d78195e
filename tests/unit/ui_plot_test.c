#include "base/err.h"
#include "base/rand.h"
#include "ui/plot.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect_row(const canvas *cv, const char *want) {
  char *got = canvas_to_text(cv);
  got[strcspn(got, "\n")] = '\0';
  assert_string_equal(got, want);
  free(got);
}

static void test_bar(void **state) {
  (void)state;
  static const struct {
    double share;
    const char *unicode, *ascii;
  } rows[] = {
      {0, "░░░░", "----"},       {1, "████", "####"},       {0.5, "██░░", "##--"},
      {0.28125, "█▏░░", "#---"}, {0.96875, "███▉", "####"}, {0.001, "▏░░░", "#---"},
      {7, "████", "####"},       {-3, "░░░░", "----"},      {NAN, "░░░░", "----"},
  };
  canvas *cv = canvas_new(4, 1);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    for (int ascii = 0; ascii < 2; ascii++) {
      canvas_clear(cv);
      canvas_set_ascii(cv, ascii);
      plot_bar(cv, 0, 0, 4, rows[i].share, ROLE_NOW);
      expect_row(cv, ascii ? rows[i].ascii : rows[i].unicode);
    }
  canvas_free(cv);
}

static const struct plot_point roof[] = {
    {0.1, 0.4, NULL, ROLE_ROOF}, {14, 61, NULL, ROLE_ROOF}, {1000, 61, "61 FMA", ROLE_ROOF}};
static const struct plot_point points[] = {{0.25, 0.5, "naive", ROLE_NOW},
                                           {8, 8.9, "tiled", ROLE_DONE},
                                           {8, 8.9, "the same place", ROLE_RECORDED},
                                           {0.25, 1e9, "outside", ROLE_NOW}};
static const struct plot_line line = {roof, 3, ROLE_ROOF};
static const struct plot roofline = {0.1,       1000, 0.1,   100, true,   true, "FLOP/B",
                                     "TFLOP/s", NULL, &line, 1,   points, 4};

static char *drawn(int w, int h, bool ascii) {
  canvas *cv = canvas_new(w, h);
  canvas_set_ascii(cv, ascii);
  assert_true(plot_draw(cv, (struct rect){0, 0, w, h}, &roofline));
  struct err err;
  assert_true(canvas_check(cv, &err));
  char *text = canvas_to_text(cv);
  canvas_free(cv);
  return text;
}

static void test_roofline(void **state) {
  (void)state;
  char *text = drawn(60, 16, false);
  assert_non_null(strstr(text, "TFLOP/s"));
  assert_non_null(strstr(text, "FLOP/B"));
  assert_non_null(strstr(text, "100┤"));
  assert_non_null(strstr(text, "0.1┤"));
  assert_non_null(strstr(text, "naive"));
  assert_non_null(strstr(text, "tiled"));
  assert_non_null(strstr(text, "61 FMA"));
  assert_null(strstr(text, "outside"));
  free(text);
}

static void test_ascii_has_no_other_bytes(void **state) {
  (void)state;
  char *text = drawn(60, 16, true);
  for (const char *s = text; *s; s++)
    assert_true((unsigned char)*s < 0x80);
  assert_non_null(strstr(text, "naive"));
  assert_non_null(strchr(text, '*'));
  free(text);
}

static void test_refuses(void **state) {
  (void)state;
  canvas *cv = canvas_new(60, 20);
  struct plot bad = roofline;
  assert_false(plot_draw(cv, (struct rect){0, 0, 15, 20}, &roofline));
  assert_false(plot_draw(cv, (struct rect){0, 0, 60, 4}, &roofline));
  bad.x0 = 0;
  assert_false(plot_draw(cv, (struct rect){0, 0, 60, 20}, &bad));
  bad.x0 = NAN;
  assert_false(plot_draw(cv, (struct rect){0, 0, 60, 20}, &bad));
  char *text = canvas_to_text(cv);
  assert_int_equal(strspn(text, " \n"), strlen(text));
  free(text);
  canvas_free(cv);
}

/* At every size: drawn inside its rectangle, tick labels of x apart by two columns. */
static void test_sizes(void **state) {
  (void)state;
  for (int w = 16; w <= 120; w += 3)
    for (int h = 5; h <= 40; h += 5) {
      canvas *cv = canvas_new(w + 2, h + 2);
      canvas_fill(cv, (struct rect){0, 0, w + 2, h + 2}, ROLE_TEXT, "~");
      canvas_fill(cv, (struct rect){1, 1, w, h}, ROLE_TEXT, " ");
      assert_true(plot_draw(cv, (struct rect){1, 1, w, h}, &roofline));
      for (int x = 0; x < w + 2; x++)
        for (int y = 0; y < h + 2; y++)
          if (x == 0 || y == 0 || x == w + 1 || y == h + 1)
            assert_string_equal(canvas_at(cv, x, y)->glyph, "~");
      canvas_free(cv);
    }
}

static double any(struct rand *r) {
  static const double odd[] = {0, -1, 1e-300, 1e300, INFINITY, 5};
  if (rand_below(r, 4) == 0)
    return odd[rand_below(r, 6)];
  return pow(10, (double)rand_below(r, 24) - 12) * (1 + (double)rand_below(r, 9));
}

static void test_random_windows(void **state) {
  (void)state;
  struct rand r;
  rand_seed(&r, 7);
  for (int i = 0; i < 3000; i++) {
    struct plot_point p[4];
    for (int k = 0; k < 4; k++)
      p[k] = (struct plot_point){any(&r), any(&r), "label", ROLE_NOW};
    struct plot_line l = {p, 4, ROLE_ROOF};
    struct plot plot = {
        any(&r), any(&r), any(&r), any(&r), rand_below(&r, 2), rand_below(&r, 2), "x", "y", "title",
        &l,      1,       p,       4};
    canvas *cv = canvas_new(40, 12);
    plot_draw(cv, (struct rect){0, 0, 40, 12}, &plot);
    struct err err;
    assert_true(canvas_check(cv, &err));
    canvas_free(cv);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bar),
      cmocka_unit_test(test_roofline),
      cmocka_unit_test(test_ascii_has_no_other_bytes),
      cmocka_unit_test(test_refuses),
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_random_windows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
