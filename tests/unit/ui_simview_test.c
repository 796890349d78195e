/* The simulator pane: formulas beside the counters, the player, the settings, the picture. */
#include "base/err.h"
#include "ui/simview_draw.h"
#include "ui/simview_formula.h"
#include "ui/simview_internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static simview *opened(const char *kernel, int64_t M, int64_t N, int64_t K, int T, int64_t at) {
  struct err err;
  simview *s = simview_new();
  if (!simview_open(s, kernel, M, N, K, T, at, &err))
    fail_msg("%s", err.text);
  return s;
}

static void same_state(const struct walk_state *got, const struct walk_setup *setup, int64_t step) {
  static struct walk_state want;
  walk_at(setup, step, &want);
  assert_int_equal(got->step, want.step);
  assert_int_equal(got->phase, want.phase);
  assert_int_equal(got->k, want.k);
  assert_int_equal(got->warp, want.warp);
  assert_memory_equal(&got->block, &want.block, sizeof want.block);
  assert_memory_equal(got->acc_k, want.acc_k, sizeof want.acc_k);
  assert_memory_equal(got->as, want.as, sizeof want.as);
}

/* ---- formulas */

static void check_formulas(const struct walk_setup *setup) {
  static struct walk_state w;
  struct err err;
  if (!walk_check(setup, &err))
    fail_msg("%s", err.text);
  for (walk_at(setup, 0, &w);; walk_next(&w)) {
    if (simview_formula_bytes(&w) != w.block.requested_bytes ||
        simview_formula_fma(&w) != w.block.fma || simview_formula_barriers(&w) != w.block.barriers)
      fail_msg("kind %d %lldx%lldx%lld T %d block (%lld,%lld) bugs %u step %lld: bytes %g of %g, "
               "FMA %g of %g, barriers %g of %g",
               setup->kind, (long long)setup->M, (long long)setup->N, (long long)setup->K, setup->T,
               (long long)setup->brow, (long long)setup->bcol, setup->bugs, (long long)w.step,
               simview_formula_bytes(&w), w.block.requested_bytes, simview_formula_fma(&w),
               w.block.fma, simview_formula_barriers(&w), w.block.barriers);
    if (w.step == w.steps)
      return;
  }
}

static void check_corners(struct walk_setup s) {
  int64_t rows = walk_block_rows(&s), cols = walk_block_cols(&s);
  for (int i = 0; i < 4; i++) {
    s.brow = i & 1 ? rows - 1 : 0, s.bcol = i & 2 ? cols - 1 : 0;
    check_formulas(&s);
  }
}

static void test_formulas(void **state) {
  (void)state;
  static const int64_t size[][3] = {
      {12, 12, 12}, {1, 1, 1}, {37, 53, 29}, {64, 32, 33}, {5, 70, 3}};
  for (size_t i = 0; i < sizeof size / sizeof *size; i++)
    for (int T = 1; T <= 32; T += T < 9 ? 1 : 4)
      for (int kind = 0; kind < 2; kind++) {
        struct walk_setup s = {.kind = kind ? WALK_TILED : WALK_NAIVE, .T = T};
        s.M = size[i][0], s.N = size[i][1], s.K = size[i][2];
        check_corners(s);
      }
  for (unsigned bugs = 0; bugs < 16; bugs++)
    for (int T = 1; T <= 32; T = T * 2 + 1)
      check_corners(
          (struct walk_setup){.kind = WALK_TILED, .M = 37, .N = 53, .K = 29, .T = T, .bugs = bugs});
}

/* ---- the player */

static void test_open(void **state) {
  (void)state;
  struct err err = {""};
  simview *s = simview_new();
  char title[96];
  assert_false(simview_is_open(s));
  assert_false(simview_command(s, CMD_STEP));
  simview_title(s, LANG_EN, title, sizeof title);
  assert_string_equal(title, "");
  assert_false(simview_open(s, "cuda/wmma", 8, 8, 8, 4, 0, &err));
  assert_non_null(strstr(err.text, "cuda/wmma"));
  assert_false(simview_open(s, "cuda/tiled", 8, 8, 8, 33, 0, &err));
  assert_false(simview_open(s, "cuda/tiled", 0, 8, 8, 4, 0, &err));
  assert_false(simview_is_open(s));
  assert_true(simview_open(s, "cuda/tiled", 1 << 30, 1 << 30, 1 << 30, 32, INT64_MAX, &err));
  assert_int_equal(simview_state(s)->step, simview_state(s)->steps);
  simview_title(s, LANG_EN, title, 6);
  assert_int_equal(strlen(title), 5);
  simview_free(s);
}

static void test_steps(void **state) {
  (void)state;
  simview *s = opened("cuda/tiled", 20, 12, 17, 5, 0);
  struct walk_setup setup = simview_state(s)->setup;
  int64_t steps = simview_state(s)->steps, barriers = 0;
  assert_true(simview_command(s, CMD_STEP_BACK));
  same_state(simview_state(s), &setup, 0);
  for (int64_t i = 1; i <= steps; i++) {
    assert_true(simview_command(s, CMD_STEP));
    same_state(simview_state(s), &setup, i);
    barriers += simview_state(s)->phase == WALK_BARRIER;
  }
  simview_command(s, CMD_STEP);
  same_state(simview_state(s), &setup, steps);
  for (int64_t i = steps - 1; i >= 0; i--) {
    assert_true(simview_command(s, CMD_STEP_BACK));
    same_state(simview_state(s), &setup, i);
  }
  for (int64_t i = 0; i < barriers; i++) {
    simview_command(s, CMD_BARRIER);
    assert_int_equal(simview_state(s)->phase, WALK_BARRIER);
    same_state(simview_state(s), &setup, simview_state(s)->step);
  }
  assert_int_equal(barriers, 2 * simview_state(s)->tiles);
  simview_command(s, CMD_BARRIER); /* none is left: the end */
  same_state(simview_state(s), &setup, steps);
  simview_free(s);
}

/* Whatever the times between pictures are, the state is the walk's at that step. */
static void test_play(void **state) {
  (void)state;
  for (int speed = 0; speed <= SIM_SPEED_MAX + 2; speed++) {
    simview *s = opened("cuda/tiled", 40, 40, 96, 8, 0);
    struct walk_setup setup = simview_state(s)->setup;
    int64_t steps = simview_state(s)->steps, before = 0;
    int shown = speed > SIM_SPEED_MAX ? SIM_SPEED_MAX : speed;
    double a_second = 4 << shown, now = 1000, start = now;
    assert_int_equal(simview_due(s, now), -1);
    assert_false(simview_tick(s, now));
    for (int i = 0; i < speed; i++)
      simview_command(s, CMD_FASTER);
    simview_command(s, CMD_PLAY);
    assert_false(simview_tick(s, now));
    for (int i = 0; simview_due(s, now) >= 0; i++) {
      assert_true(simview_due(s, now) >= 33); /* at most 30 pictures a second */
      now += i % 3 == 1 ? 7 : simview_due(s, now) + 40 * (i % 5);
      simview_tick(s, now);
      int64_t at = simview_state(s)->step;
      double want = fmin((double)steps, floor((now - start) * a_second / 1000));
      assert_true(fabs((double)at - want) <= 1);
      assert_true(at >= before);
      before = at;
      same_state(simview_state(s), &setup, at);
    }
    assert_int_equal(simview_state(s)->step, steps);
    simview_command(s, CMD_PLAY); /* from the start again */
    assert_int_equal(simview_state(s)->step, 0);
    simview_command(s, CMD_PLAY);
    assert_int_equal(simview_due(s, now), -1);
    simview_free(s);
  }
}

/* After a long pause (a suspended program) the walk is where it would be, and not long in coming.
 */
static void test_play_after_a_pause(void **state) {
  (void)state;
  simview *s = opened("cuda/tiled", 64, 64, 60000, 32, 0);
  struct walk_setup setup = simview_state(s)->setup;
  simview_command(s, CMD_PLAY);
  simview_tick(s, 0);
  assert_true(simview_tick(s, 5000 * 250.0));
  same_state(simview_state(s), &setup, 5000);
  assert_true(simview_tick(s, 1e300));
  assert_int_equal(simview_state(s)->step, simview_state(s)->steps);
  assert_int_equal(simview_due(s, 1e300), -1);
  simview_free(s);
}

/* ---- settings */

static void set(simview *s, int field, const char *text) {
  s->form.at = field;
  for (int i = 0; i < 20; i++)
    simview_key(s, KEYS_BACKSPACE);
  for (; *text; text++)
    assert_true(simview_key(s, (unsigned char)*text));
}

static void test_form_values(void **state) {
  (void)state;
  static const struct {
    int field;
    const char *text;
  } wrong[] = {{SIM_M, "0"},    {SIM_M, "-1"},  {SIM_N, "x"},     {SIM_K, "1e30"},
               {SIM_K, "2^31"}, {SIM_T, "0"},   {SIM_T, "33"},    {SIM_T, "2^40"},
               {SIM_T, "-1"},   {SIM_ROW, "3"}, {SIM_COL, "-1"},  {SIM_M, ""},
               {SIM_M, "1.5"},  {SIM_M, "1/0"}, {SIM_COL, "1e9"}, {SIM_M, "0/0"}};
  simview *s = opened("cuda/tiled", 12, 12, 12, 4, 3);
  struct walk_setup setup = simview_state(s)->setup;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    simview_command(s, CMD_SIM_SETTINGS);
    assert_true(simview_field(s));
    set(s, wrong[i].field, wrong[i].text);
    simview_key(s, KEYS_ENTER);
    if (!simview_field(s) || !s->form.error.text[0])
      fail_msg("'%s' was taken", wrong[i].text);
    simview_key(s, KEYS_ESC);
    assert_false(simview_field(s));
    same_state(simview_state(s), &setup, 3);
  }
  simview_command(s, CMD_SIM_SETTINGS);
  set(s, SIM_M, "2^6");
  set(s, SIM_ROW, "15");
  s->form.at = SIM_FIELDS + 1;
  assert_true(simview_key(s, ' ')); /* no second barrier */
  assert_false(simview_key(s, 'y'));
  simview_key(s, KEYS_ENTER);
  assert_false(simview_field(s));
  assert_int_equal(simview_state(s)->setup.M, 64);
  assert_int_equal(simview_state(s)->setup.brow, 15);
  assert_int_equal(simview_state(s)->setup.bugs, WALK_NO_SECOND_BARRIER);
  assert_int_equal(simview_state(s)->step, 0);
  simview_free(s);
}

static void test_form_rows(void **state) {
  (void)state;
  static const char *const kernels[] = {"cuda/tiled", "cuda/naive"};
  for (int i = 0; i < 2; i++) {
    simview *s = opened(kernels[i], 12, 12, 12, 4, 0);
    int rows = SIM_FIELDS + (i ? 0 : SIM_BUGS); /* naive has no tile to spoil */
    simview_command(s, CMD_PLAY);
    simview_command(s, CMD_SIM_SETTINGS);
    assert_int_equal(simview_due(s, 0), -1);
    simview_key(s, KEYS_UP);
    assert_int_equal(s->form.at, rows - 1);
    for (int j = 0; j < rows; j++)
      simview_key(s, KEYS_DOWN);
    assert_int_equal(s->form.at, rows - 1);
    simview_free(s);
  }
}

/* ---- the picture */

/* The scale fits, and no cell holds a part of a tile. */
static void test_scale(void **state) {
  (void)state;
  static const int64_t size[] = {1, 7, 12, 33, 100, 4096, 1 << 20, 1 << 30};
  for (int T = 1; T <= 32; T++)
    for (int i = 0; i < 512; i++)
      for (int w = 8; w <= 160; w += 19)
        for (int h = 4; h <= 60; h += 11) {
          struct walk_setup s = {.kind = WALK_TILED, .T = T};
          s.M = size[i & 7], s.N = size[i >> 3 & 7], s.K = size[i >> 6];
          struct simview_scale z;
          if (!simview_draw_scale(&s, w, h, &z)) {
            assert_true(w < 12 || h < 6);
            continue;
          }
          assert_true((z.n + z.k) * z.cell + 3 <= w && z.m + z.k + 2 <= h);
          assert_true(T % z.step == 0 || z.step % T == 0);
          assert_true(z.m * z.step >= s.M && (z.m - 1) * z.step < s.M);
          assert_true(z.n * z.step >= s.N && (z.n - 1) * z.step < s.N);
          assert_true(z.k * z.step >= s.K && (z.k - 1) * z.step < s.K);
        }
}

static int count(const canvas *cv, struct rect r, const char *glyph) {
  int n = 0;
  for (int y = r.y; y < r.y + r.h; y++)
    for (int x = r.x; x < r.x + r.w; x++)
      n += strcmp(canvas_at(cv, x, y)->glyph, glyph) == 0;
  return n;
}

/* One element a cell: C on the screen is C of the walk. */
static void test_c_is_the_walks(void **state) {
  (void)state;
  for (int tiled = 0; tiled < 2; tiled++) {
    simview *s = opened(tiled ? "cuda/tiled" : "cuda/naive", 13, 11, 9, 4, 0);
    canvas *cv = canvas_new(70, 40);
    struct simview_scale z;
    for (;; simview_command(s, CMD_STEP)) {
      const struct walk_state *w = simview_state(s);
      int want[3] = {0};
      for (int i = 0; i < 13 * 11; i++)
        want[walk_c_at(w, i / 11, i % 11)]++;
      canvas_clear(cv);
      simview_draw(s, cv, (struct rect){0, 0, 70, 40}, LANG_EN);
      assert_true(simview_draw_scale(&w->setup, 70, 40 - 9, &z) && z.step == 1);
      struct rect c = {9 * z.cell + 3, 9 + 2, 11 * z.cell, 13};
      assert_int_equal(count(cv, c, "·"), want[WALK_TODO] * z.cell);
      assert_int_equal(count(cv, c, "▓"), want[WALK_NOW] * z.cell);
      assert_int_equal(count(cv, c, "✓"), want[WALK_DONE] * z.cell);
      if (w->step == w->steps)
        break;
    }
    canvas_free(cv);
    simview_free(s);
  }
}

static void check_size(const simview *s, int w, int h, bool ascii, enum lang lang) {
  struct err err;
  canvas *cv = canvas_new(w + 4, h + 2);
  canvas_set_ascii(cv, ascii);
  canvas_fill(cv, (struct rect){0, 0, w + 4, h + 2}, ROLE_TEXT, "@");
  simview_draw(s, cv, (struct rect){2, 1, w, h}, lang);
  if (!canvas_check(cv, &err))
    fail_msg("%dx%d: %s", w, h, err.text);
  for (int y = 0; y < h + 2; y++)
    for (int x = 0; x < w + 4; x++)
      if ((x < 2 || x >= w + 2 || y < 1 || y >= h + 1) &&
          strcmp(canvas_at(cv, x, y)->glyph, "@") != 0)
        fail_msg("%dx%d: drawn outside at %d,%d: %s", w, h, x, y, canvas_at(cv, x, y)->glyph);
  for (int i = 0; i < canvas_asks(cv); i++) {
    struct rect at = canvas_ask_at(cv, i)->at;
    assert_true(at.x >= 2 && at.x + at.w <= w + 2 && at.y >= 1 && at.y < h + 1);
  }
  canvas_free(cv);
}

static void check_sizes(const simview *s) {
  for (int w = 1; w <= 160; w += w < 40 ? 3 : 13)
    for (int h = 1; h <= 60; h += h < 30 ? 1 : 9)
      for (int lang = 0; lang < LANGS; lang++)
        check_size(s, w, h, (w + h) % 2, (enum lang)lang);
}

static void test_every_size(void **state) {
  (void)state;
  simview *s = simview_new();
  check_sizes(s);
  simview_free(s);
  static const int T[] = {1, 4, 8, 32};
  for (int i = 0; i < 8; i++) {
    s = opened(i & 1 ? "cuda/naive" : "cuda/tiled", i < 4 ? 12 : 1000, 20, i < 4 ? 12 : 4096,
               T[i / 2], 11);
    check_sizes(s);
    simview_command(s, CMD_SIM_SETTINGS);
    check_sizes(s);
    set(s, SIM_M, "wrong");
    simview_key(s, KEYS_ENTER);
    check_sizes(s);
    simview_free(s);
  }
}

/* Counters stand beside their formulas, marked as equal, all the way. */
static void test_counters_on_the_screen(void **state) {
  (void)state;
  simview *s = opened("cuda/tiled", 12, 12, 12, 4, 0);
  canvas *cv = canvas_new(80, 40);
  for (int64_t i = 0; i <= simview_state(s)->steps; i++, simview_command(s, CMD_STEP)) {
    canvas_clear(cv);
    simview_draw(s, cv, (struct rect){0, 0, 80, 40}, LANG_EN);
    assert_int_equal(count(cv, (struct rect){0, 0, 80, 40}, "✗"), 0);
  }
  char *text = canvas_to_text(cv);
  assert_non_null(strstr(text, "384 B")); /* 4 * (4 + 4) * 12 */
  assert_non_null(strstr(text, "192"));   /* 4 * 4 * 12 */
  assert_non_null(strstr(text, "1.00 FLOP/B"));
  free(text);
  canvas_free(cv);
  simview_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_formulas),
      cmocka_unit_test(test_open),
      cmocka_unit_test(test_steps),
      cmocka_unit_test(test_play),
      cmocka_unit_test(test_play_after_a_pause),
      cmocka_unit_test(test_form_values),
      cmocka_unit_test(test_form_rows),
      cmocka_unit_test(test_scale),
      cmocka_unit_test(test_c_is_the_walks),
      cmocka_unit_test(test_every_size),
      cmocka_unit_test(test_counters_on_the_screen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
