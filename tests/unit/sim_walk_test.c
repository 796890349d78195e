/* Properties of the tile walk over many sizes, ragged ones too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/rand.h"
#include "sim/walk/walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t sizes[][3] = {{1, 1, 1},    {4, 4, 4},    {12, 12, 12}, {5, 7, 3},
                                   {33, 17, 40}, {32, 32, 64}, {31, 65, 33}, {8, 40, 9},
                                   {64, 32, 1},  {1, 70, 35},  {13, 1, 50}};
static const int edges[] = {1, 2, 4, 5, 8, 16, 32};

typedef void (*each_setup)(const struct walk_setup *s);

static void over_setups(each_setup f) {
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (size_t e = 0; e < sizeof edges / sizeof *edges; e++)
      for (int kind = 0; kind < 2; kind++) {
        struct walk_setup s = {.kind = kind == 0 ? WALK_NAIVE : WALK_TILED, .T = edges[e]};
        s.M = sizes[i][0], s.N = sizes[i][1], s.K = sizes[i][2];
        assert_true(walk_check(&s, NULL));
        f(&s);
      }
}

static void add(struct walk_counters *to, const struct walk_counters *c) {
  to->requested_bytes += c->requested_bytes;
  to->global_sectors += c->global_sectors;
  to->global_wavefronts += c->global_wavefronts;
  to->shared_load_wavefronts += c->shared_load_wavefronts;
  to->shared_store_wavefronts += c->shared_store_wavefronts;
  to->fma += c->fma;
  to->barriers += c->barriers;
  to->stored_bytes += c->stored_bytes;
}

static void same_counters(const struct walk_counters *a, const struct walk_counters *b) {
  const double *x = (const double *)a, *y = (const double *)b;
  for (size_t i = 0; i < sizeof *a / sizeof *x; i++)
    assert_true(x[i] == y[i]);
}

/* Walks one block from start to end; C gets its results and how often each element was written. */
static void walk_block(const struct walk_setup *s, double *C, int *written,
                       struct walk_counters *sum) {
  static struct walk_state w;
  walk_at(s, 0, &w);
  while (w.step < w.steps)
    walk_next(&w);
  assert_true(w.stored);
  for (int i = 0; i < s->T; i++)
    for (int j = 0; j < s->T; j++) {
      int64_t r = s->brow * s->T + i, c = s->bcol * s->T + j;
      if (r >= s->M || c >= s->N)
        continue;
      C[r * s->N + c] = w.acc[i][j];
      written[r * s->N + c]++;
    }
  add(sum, &w.block);
}

/* Every element is written once with the right sum; what the blocks did together equals walk_total
 * and the closed formulas. */
static void check_grid(const struct walk_setup *s) {
  double *C = calloc((size_t)(s->M * s->N), sizeof *C);
  int *written = calloc((size_t)(s->M * s->N), sizeof *written);
  struct walk_counters sum = {0}, total, formula;
  for (int64_t b = 0; b < walk_block_rows(s) * walk_block_cols(s); b++) {
    struct walk_setup one = *s;
    one.brow = b / walk_block_cols(s), one.bcol = b % walk_block_cols(s);
    walk_block(&one, C, written, &sum);
  }
  for (int64_t r = 0; r < s->M; r++)
    for (int64_t c = 0; c < s->N; c++) {
      double ref = 0;
      for (int64_t k = 0; k < s->K; k++)
        ref += (double)rand_at(2, (uint64_t)(r * s->K + k)) *
               (double)rand_at(3, (uint64_t)(k * s->N + c));
      assert_int_equal(written[r * s->N + c], 1);
      assert_true(C[r * s->N + c] == ref);
    }
  walk_total(s, &total);
  same_counters(&sum, &total);
  walk_formula(s, &formula);
  const double *f = (const double *)&formula, *t = (const double *)&total;
  for (size_t i = 0; i < sizeof total / sizeof *t; i++)
    assert_true(isnan(f[i]) || f[i] == t[i]);
  free(C);
  free(written);
}

static void test_grid(void **state) {
  (void)state;
  over_setups(check_grid);
}

static void same_state(const struct walk_state *a, const struct walk_state *b) {
  assert_int_equal(a->step, b->step);
  assert_int_equal(a->phase, b->phase);
  assert_int_equal(a->tile, b->tile);
  assert_int_equal(a->k0, b->k0);
  assert_int_equal(a->k, b->k);
  assert_int_equal(a->warp, b->warp);
  assert_int_equal(a->stored, b->stored);
  assert_int_equal(a->race, b->race);
  assert_memory_equal(a->as, b->as, sizeof a->as);
  assert_memory_equal(a->bs, b->bs, sizeof a->bs);
  assert_memory_equal(a->acc_k, b->acc_k, sizeof a->acc_k);
  for (int i = 0; i < 32; i++)
    for (int j = 0; j < 32; j++) {
      assert_true(a->acc[i][j] == b->acc[i][j] || (isnan(a->acc[i][j]) && isnan(b->acc[i][j])));
      float x = a->as_value[i][j], y = b->as_value[i][j];
      assert_true(x == y || (isnan(x) && isnan(y)));
    }
  same_counters(&a->block, &b->block);
}

/* Jumping to a step gives what stepping gives: the way back is exact too. */
static void check_jump(const struct walk_setup *s) {
  static struct walk_state w, jumped;
  struct walk_setup last = *s;
  last.brow = walk_block_rows(s) - 1, last.bcol = walk_block_cols(s) - 1;
  walk_at(&last, 0, &w);
  for (int64_t i = 0; i <= w.steps; i += 1 + w.steps / 23) {
    while (w.step < i)
      walk_next(&w);
    walk_at(&last, i, &jumped);
    same_state(&w, &jumped);
  }
}

static void test_jump(void **state) {
  (void)state;
  over_setups(check_jump);
}

static void test_jump_with_bugs(void **state) {
  (void)state;
  for (unsigned bugs = 1; bugs < 16; bugs++)
    for (int pad = 0; pad <= 2; pad++) {
      struct walk_setup s = {.kind = WALK_TILED, .M = 20, .N = 27, .K = 19, .T = 8};
      s.bugs = bugs, s.pad = pad;
      check_jump(&s);
    }
}

static double final_error(const struct walk_setup *s, bool *race) {
  static struct walk_state w;
  walk_at(s, walk_steps(s), &w);
  double worst = 0;
  for (int i = 0; i < s->T; i++)
    for (int j = 0; j < s->T; j++) {
      double ref = 0;
      for (int64_t k = 0; k < s->K; k++)
        ref += (double)rand_at(2, (uint64_t)(i * s->K + k)) *
               (double)rand_at(3, (uint64_t)(k * s->N + j));
      double e = fabs(w.acc[i][j] - ref);
      if (!(e <= worst))
        worst = e;
    }
  *race = w.race;
  return worst;
}

/* What each bug does to a block inside C: barriers race without a wrong sum in order, no zero fill
 * is wrong only where K is ragged, the swapped index is wrong and conflicts. */
static void test_bugs(void **state) {
  (void)state;
  bool race;
  struct walk_setup s = {.kind = WALK_TILED, .M = 16, .N = 16, .K = 20, .T = 8};
  assert_true(final_error(&s, &race) == 0);
  assert_false(race);
  s.bugs = WALK_NO_FIRST_BARRIER;
  assert_true(final_error(&s, &race) == 0);
  assert_true(race);
  s.bugs = WALK_NO_SECOND_BARRIER;
  assert_true(final_error(&s, &race) == 0);
  assert_true(race);
  s.K = 8; /* one tile: nothing is overwritten */
  final_error(&s, &race);
  assert_false(race);
  s.bugs = WALK_NO_ZERO_FILL;
  assert_true(final_error(&s, &race) == 0);
  s.K = 20;
  assert_true(final_error(&s, &race) > 0.01);
  s.K = 3; /* words that nobody wrote */
  assert_true(isnan(final_error(&s, &race)));
  s.bugs = WALK_SWAPPED_INDEX, s.K = 16;
  assert_true(final_error(&s, &race) > 0.01);
  struct walk_counters right, swapped, padded;
  struct walk_setup t = {.kind = WALK_TILED, .M = 64, .N = 64, .K = 64, .T = 32};
  walk_total(&t, &right);
  t.bugs = WALK_SWAPPED_INDEX;
  walk_total(&t, &swapped);
  t.pad = 1;
  walk_total(&t, &padded);
  assert_true(swapped.shared_store_wavefronts == right.shared_store_wavefronts / 2 * 33);
  assert_true(padded.shared_store_wavefronts == right.shared_store_wavefronts);
}

/* What Nsight Compute counted on an H200 at 4096^3. */
static void test_hardware(void **state) {
  (void)state;
  struct walk_setup s = {.kind = WALK_TILED, .M = 4096, .N = 4096, .K = 4096, .T = 32};
  struct walk_counters c;
  walk_total(&s, &c);
  assert_true(c.global_sectors == 536870912.0);
  assert_true(c.shared_load_wavefronts == 3221225472.0);
  assert_true(c.fma == 68719476736.0);
  assert_true(c.requested_bytes == 17179869184.0);
  s.kind = WALK_NAIVE;
  walk_total(&s, &c);
  assert_true(c.global_sectors == 10737418240.0);
  assert_true(c.fma == 68719476736.0);
}

static void test_large_and_limits(void **state) {
  (void)state;
  static struct walk_state w;
  struct err err;
  struct walk_setup s = {
      .kind = WALK_TILED, .M = WALK_SIZE_MAX, .N = WALK_SIZE_MAX, .K = WALK_SIZE_MAX};
  s.T = 32;
  assert_true(walk_check(&s, &err));
  walk_at(&s, walk_steps(&s) - 1, &w);
  assert_true(isnan(w.acc[0][0]));
  assert_int_equal(w.acc_k[0][0], walk_tiles(&s) * 32);
  int64_t bad[][3] = {{0, 1, 1}, {1, -1, 1}, {1, 1, (int64_t)WALK_SIZE_MAX + 1}};
  for (size_t i = 0; i < 3; i++) {
    struct walk_setup b = {.kind = WALK_TILED, .M = bad[i][0], .N = bad[i][1], .K = bad[i][2]};
    b.T = 8;
    assert_false(walk_check(&b, &err));
    assert_non_null(strstr(err.text, "1073741824"));
  }
  s.T = 33;
  assert_false(walk_check(&s, &err));
  s.T = 32, s.brow = walk_block_rows(&s);
  assert_false(walk_check(&s, &err));
}

static void test_barrier_jump(void **state) {
  (void)state;
  static struct walk_state w;
  struct walk_setup s = {.kind = WALK_TILED, .M = 8, .N = 8, .K = 12, .T = 4};
  int64_t step = 0, barriers = 0;
  while ((step = walk_barrier(&s, step, 1)) < walk_steps(&s)) {
    walk_at(&s, step, &w);
    assert_int_equal(w.phase, WALK_BARRIER);
    assert_string_equal(walk_mark(&w), barriers % 2 ? "barrier_2" : "barrier_1");
    barriers++;
  }
  assert_int_equal(barriers, 6);
  assert_int_equal(walk_barrier(&s, 1, -1), 0);
}

static void test_progress_of_c(void **state) {
  (void)state;
  static struct walk_state w;
  struct walk_setup s = {.kind = WALK_TILED, .M = 10, .N = 10, .K = 4, .T = 4};
  s.brow = 1, s.bcol = 1;
  walk_at(&s, 3, &w);
  assert_int_equal(walk_c_at(&w, 0, 9), WALK_DONE);
  assert_int_equal(walk_c_at(&w, 4, 3), WALK_DONE);
  assert_int_equal(walk_c_at(&w, 5, 5), WALK_NOW);
  assert_int_equal(walk_c_at(&w, 5, 9), WALK_TODO);
  walk_at(&s, walk_steps(&s), &w);
  assert_int_equal(walk_c_at(&w, 5, 5), WALK_DONE);
}

static void test_addresses(void **state) {
  (void)state;
  static struct walk_state w;
  int64_t a[32];
  struct walk_setup s = {.kind = WALK_TILED, .M = 32, .N = 32, .K = 40, .T = 32};
  walk_at(&s, 1, &w);
  walk_addresses(&w, WALK_LOAD_A, 2, a);
  for (int l = 0; l < 32; l++)
    assert_int_equal(a[l], 4 * (2 * 40 + l));
  walk_addresses(&w, WALK_LOAD_B, 2, a);
  assert_int_equal(a[5], 4 * (2 * 32 + 5));
  walk_at(&s, 33 + 7, &w); /* 32 warps, the barrier, then k = 6 */
  assert_int_equal(w.k, 7);
  walk_addresses(&w, WALK_READ_BS, 0, a);
  assert_int_equal(a[3], 4 * (6 * 32 + 3));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_grid),           cmocka_unit_test(test_jump),
      cmocka_unit_test(test_jump_with_bugs), cmocka_unit_test(test_bugs),
      cmocka_unit_test(test_hardware),       cmocka_unit_test(test_large_and_limits),
      cmocka_unit_test(test_barrier_jump),   cmocka_unit_test(test_progress_of_c),
      cmocka_unit_test(test_addresses),
  };
  return cmocka_run_group_tests_name("sim_walk", tests, NULL, NULL);
}
