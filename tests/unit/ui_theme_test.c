#include "ui/theme.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Linear RGB of 0xRRGGBB. */
static void linear(unsigned rgb, double out[3]) {
  for (int i = 0; i < 3; i++) {
    double c = (rgb >> (16 - 8 * i) & 255) / 255.0;
    out[i] = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
  }
}

static double luminance(unsigned rgb) {
  double c[3];
  linear(rgb, c);
  return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
}

static double contrast(unsigned a, unsigned b) {
  double x = luminance(a), y = luminance(b);
  return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}

/* How normal, red-blind, green-blind and blue-blind eyes see linear RGB (full strength). */
static const double eyes[4][3][3] = {
    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
    {{0.152286, 1.052583, -0.204868},
     {0.114503, 0.786281, 0.099216},
     {-0.003882, -0.048116, 1.051998}},
    {{0.367322, 0.860646, -0.227968},
     {0.280085, 0.672501, 0.047413},
     {-0.011820, 0.042940, 0.968881}},
    {{1.255528, -0.076749, -0.178779},
     {-0.078411, 0.930809, 0.147602},
     {0.004733, 0.691367, 0.303900}},
};

static double lab_f(double t) { return t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116; }

static void lab(unsigned rgb, int eye, double out[3]) {
  double in[3], c[3];
  linear(rgb, in);
  for (int i = 0; i < 3; i++) {
    c[i] = 0;
    for (int k = 0; k < 3; k++)
      c[i] += eyes[eye][i][k] * in[k];
    c[i] = fmin(1, fmax(0, c[i]));
  }
  double x = lab_f((0.4124564 * c[0] + 0.3575761 * c[1] + 0.1804375 * c[2]) / 0.95047);
  double y = lab_f(0.2126729 * c[0] + 0.7151522 * c[1] + 0.0721750 * c[2]);
  double z = lab_f((0.0193339 * c[0] + 0.1191920 * c[1] + 0.9503041 * c[2]) / 1.08883);
  out[0] = 116 * y - 16;
  out[1] = 500 * (x - y);
  out[2] = 200 * (y - z);
}

static double apart(unsigned a, unsigned b, int eye) {
  double p[3], q[3];
  lab(a, eye, p);
  lab(b, eye, q);
  return sqrt(pow(p[0] - q[0], 2) + pow(p[1] - q[1], 2) + pow(p[2] - q[2], 2));
}

static void test_names(void **state) {
  (void)state;
  static const char *const names[] = {"dark", "light", "contrast", "mono"};
  for (int i = 0; i < 4; i++) {
    assert_non_null(theme_find(names[i]));
    assert_ptr_equal(theme_find(names[i]), theme_at(i));
  }
  assert_null(theme_at(4));
  assert_null(theme_at(-1));
  assert_null(theme_find("pink"));
  assert_null(theme_find(NULL));
}

static void test_contrast(void **state) {
  (void)state;
  for (int t = 0; theme_at(t); t++) {
    const struct theme *theme = theme_at(t);
    double least = strcmp(theme->name, "contrast") == 0 ? 6.9 : 4.5;
    assert_true(contrast(theme->foreground, theme->background) >= 7);
    for (int r = 0; r < ROLE_COUNT; r++)
      if (contrast(theme->style[r].rgb, theme->background) < least)
        fail_msg("%s role %d: contrast %.2f", theme->name, r,
                 contrast(theme->style[r].rgb, theme->background));
  }
}

static void test_colour_blind_eyes(void **state) {
  (void)state;
  static const enum role shown[] = {ROLE_NOW, ROLE_DONE, ROLE_WRONG, ROLE_A, ROLE_B, ROLE_ACC};
  for (int t = 0; t < 3; t++)
    for (int eye = 0; eye < 4; eye++)
      for (int i = 0; i < 6; i++)
        for (int k = 0; k < i; k++) {
          const struct theme_style *s = theme_at(t)->style;
          double d = apart(s[shown[i]].rgb, s[shown[k]].rgb, eye);
          if (d < 16)
            fail_msg("%s: roles %d and %d are %.1f apart for eye %d", theme_at(t)->name, shown[i],
                     shown[k], d, eye);
        }
}

/* The 256-colour number is the colour it says it is. */
static unsigned xterm_rgb(int n) {
  if (n >= 232)
    return (unsigned)(8 + 10 * (n - 232)) * 0x010101u;
  static const unsigned level[] = {0, 95, 135, 175, 215, 255};
  unsigned v = (unsigned)n - 16;
  return level[v / 36] << 16 | level[v / 6 % 6] << 8 | level[v % 6];
}

static void test_fallbacks(void **state) {
  (void)state;
  for (int t = 0; theme_at(t); t++)
    for (int r = 0; r < ROLE_COUNT; r++) {
      const struct theme_style *s = &theme_at(t)->style[r];
      assert_true(s->xterm == -1 || (s->xterm >= 16 && s->xterm < 256));
      if (s->xterm >= 0)
        assert_true(apart(xterm_rgb(s->xterm), s->rgb, 0) < 4);
      /* Neither black nor blue, which cannot be read on black. */
      assert_true(s->ansi == -1 || (s->ansi > 0 && s->ansi < 8 && s->ansi != 4));
    }
  const struct theme *mono = theme_find("mono");
  for (int r = 0; r < ROLE_COUNT; r++)
    assert_true(mono->style[r].ansi == -1 && mono->style[r].xterm == -1);
  assert_int_not_equal(mono->style[ROLE_NOW].mark, mono->style[ROLE_DONE].mark);
  assert_int_not_equal(mono->style[ROLE_NOW].mark, mono->style[ROLE_WRONG].mark);
  assert_int_equal(theme_at(0)->style[ROLE_TEXT].xterm, -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_contrast),
      cmocka_unit_test(test_colour_blind_eyes),
      cmocka_unit_test(test_fallbacks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
