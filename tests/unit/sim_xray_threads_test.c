/* Several host threads tell exactly what one tells: results, counts, problems, budget and stops. */
#include "base/alloc.h"
#include "sim/xray/xray.h"
#include "xray_kernels.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void same_problems(const char *what, const struct xray_report *a,
                          const struct xray_report *b) {
  if (a->nproblems != b->nproblems)
    fail_msg("%s: %d problems, not %d", what, b->nproblems, a->nproblems);
  for (int i = 0; i < a->nproblems; i++) {
    const struct xray_problem *x = &a->problems[i], *y = &b->problems[i];
    if (x->kind != y->kind || x->line != y->line || x->times != y->times || x->error != y->error ||
        memcmp(x->block, y->block, sizeof x->block) != 0 ||
        memcmp(x->thread, y->thread, sizeof x->thread) != 0 || strcmp(x->detail, y->detail) != 0)
      fail_msg("%s: problem %d is %s at line %d (%lld times): %s\nnot %s at line %d (%lld): %s",
               what, i, xray_kind_name(y->kind), y->line, (long long)y->times, y->detail,
               xray_kind_name(x->kind), x->line, (long long)x->times, x->detail);
  }
}

/* Runs with one thread and with several and compares everything. */
static void same_as_one(const xray_module *m, const struct xk_run *run,
                        const struct xray_launch *how) {
  struct xray_launch launch = *how;
  launch.threads = 1;
  struct xk_result one = xk_do(m, run, &launch);
  const char *what = run->entry ? run->entry : run->ptx;
  if (!one.ran)
    fail_msg("%s: %s", what, one.err.text);
  for (int threads = 2; threads <= 5; threads += threads == 2 ? 1 : 2) {
    launch.threads = threads;
    struct xk_result many = xk_do(m, run, &launch);
    assert_true(many.ran);
    same_problems(what, &one.report, &many.report);
    const char *differ = xk_counts_differ(&one.report, &many.report);
    if (*differ)
      fail_msg("%s with %d threads: %s differs", what, threads, differ);
    assert_int_equal(many.report.finished, one.report.finished);
    assert_int_equal(many.report.blocks, one.report.blocks);
    assert_int_equal(many.report.blocks_executed, one.report.blocks_executed);
    for (int i = 0; i < XK_ARRAYS; i++)
      if (memcmp(one.array[i], many.array[i], (size_t)run->elements[i] * 4) != 0)
        fail_msg("%s with %d threads: array %d differs", what, threads, i);
    xk_done(&many);
  }
  xk_done(&one);
}

static void test_shipped(void **state) {
  (void)state;
  static const struct {
    const char *ptx;
    int tile;
  } kernels[] = {{"assets/ptx/cuda_naive.ptx", 0},
                 {"assets/ptx/cuda_tiled_T8.ptx", 8},
                 {"assets/ptx/cuda_tiled_T32.ptx", 32}};
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    xray_module *m = xk_load(kernels[i].ptx);
    for (int checks = 0; checks <= XRAY_CHECK_ALL; checks += XRAY_CHECK_ALL)
      for (int64_t checked = 0; checked <= 2; checked++) {
        struct xk_run run = xk_shipped(kernels[i].ptx, kernels[i].tile, 75, 70, 33);
        struct xray_launch how = {.checks = checks, .checked_blocks = checked};
        same_as_one(m, &run, &how);
      }
    xray_free(m);
  }
}

static struct xk_run fixture(const char *ptx, const char *entry, int blocks) {
  return (struct xk_run){.ptx = ptx,
                         .entry = entry,
                         .grid = {blocks, 1, 1},
                         .block = {64, 1, 1},
                         .elements = {4096, 4096, 4096},
                         .ints = {128},
                         .nints = 1,
                         .shared_bytes = strcmp(entry, "wide") == 0 ? 256 : 0};
}

/* Every kernel of the fixtures, right and wrong, with a few blocks and with many. */
static void each_fixture(const char *ptx) {
  xray_module *m = xk_load(ptx);
  const char *entry;
  for (int i = 0; (entry = xray_entry(m, i)); i++)
    for (int blocks = 2; blocks <= 70; blocks += 34) {
      struct xk_run run = fixture(ptx, entry, blocks);
      struct xray_launch how = {.checks = XRAY_CHECK_ALL, .budget = 300000};
      same_as_one(m, &run, &how);
    }
  xray_free(m);
}

static void test_good(void **state) {
  (void)state;
  each_fixture("good.ptx");
}

static void test_faults(void **state) {
  (void)state;
  each_fixture("faults.ptx");
}

/* A race between blocks that run long enough to be on two threads: neither sees it by itself. */
static void test_race_between_threads(void **state) {
  (void)state;
  xray_module *m = xk_load("blocks.ptx");
  struct xk_run run = {.entry = "apart",
                       .grid = {2, 1, 1},
                       .block = {128, 1, 1},
                       .elements = {128, 128, 256},
                       .ints = {1, 16, 8},
                       .nints = 3};
  struct xray_launch how = {.checks = XRAY_CHECK_ALL};
  same_as_one(m, &run, &how);
  struct xk_result r = xk_do(m, &run, &how);
  assert_int_equal(r.report.nproblems, 1);
  assert_int_equal(r.report.problems[0].kind, XRAY_RACE_GLOBAL);
  xk_done(&r);
  xray_free(m);
}

/* A launch that has just enough of a budget, and one instruction too few. */
static void test_budget(void **state) {
  (void)state;
  struct xk_run run = xk_shipped("assets/ptx/cuda_tiled_T8.ptx", 8, 64, 64, 64);
  xray_module *m = xk_load(run.ptx);
  struct xray_launch how = {.checks = XRAY_CHECK_ALL, .threads = 1};
  struct xk_result r = xk_do(m, &run, &how);
  int64_t need = (int64_t)r.report.counts.warp_instructions;
  xk_done(&r);
  for (int threads = 1; threads <= 2; threads++) {
    how.threads = threads;
    how.budget = need;
    r = xk_do(m, &run, &how);
    /* Two threads may both hold a part of so tight a budget: then one runs it all again. */
    assert_true(r.report.finished && r.report.nproblems == 0);
    xk_done(&r);
    how.budget = need - 1;
    r = xk_do(m, &run, &how);
    assert_false(r.report.finished);
    assert_int_equal(r.report.nproblems, 1);
    assert_int_equal(r.report.problems[0].kind, XRAY_BUDGET);
    xk_done(&r);
  }
  xray_free(m);
}

/* ---- stops */

static int asked;
static pthread_t caller;
static bool asked_elsewhere;

static bool stop_soon(void) {
  asked_elsewhere |= !pthread_equal(pthread_self(), caller);
  return ++asked > 5;
}

static void test_stopped(void **state) {
  (void)state;
  xray_module *m = xk_load("faults.ptx");
  struct xk_run run = fixture("faults.ptx", "endless", 4);
  caller = pthread_self();
  for (int threads = 1; threads <= 3; threads++) {
    asked = 0;
    struct xray_launch how = {.threads = threads, .stopped = stop_soon};
    struct xk_result r = xk_do(m, &run, &how);
    assert_true(r.ran);
    assert_false(r.report.finished);
    assert_int_equal(r.report.nproblems, 0);
    assert_true(asked > 5);
    assert_false(asked_elsewhere);
    xk_done(&r);
    volatile bool stop = true;
    how = (struct xray_launch){.threads = threads, .stop = &stop};
    r = xk_do(m, &run, &how);
    assert_false(r.report.finished);
    assert_int_equal(r.report.blocks_executed, 0);
    xk_done(&r);
  }
  xray_free(m);
}

/* Races and initialisation are looked for in the first blocks only, bounds in all. */
static void test_checked_blocks(void **state) {
  (void)state;
  xray_module *m = xk_load("faults.ptx");
  struct xk_run run = fixture("faults.ptx", "second_barrier", 8);
  int64_t times[2];
  for (int i = 0; i < 2; i++) {
    struct xray_launch how = {.checks = XRAY_CHECK_ALL, .checked_blocks = 1 + i};
    struct xk_result r = xk_do(m, &run, &how);
    assert_true(r.report.nproblems > 0);
    times[i] = r.report.problems[0].times;
    for (int k = 0; k < r.report.nproblems; k++)
      assert_true(r.report.problems[k].block[0] <= i);
    xk_done(&r);
  }
  assert_int_equal(times[1], 2 * times[0]);
  run = fixture("faults.ptx", "past_the_end", 8);
  int64_t all = 0;
  for (int checked = 0; checked < 2; checked++) {
    struct xray_launch how = {.checks = XRAY_CHECK_ALL, .checked_blocks = checked};
    struct xk_result r = xk_do(m, &run, &how);
    assert_int_equal(r.report.nproblems, 1);
    if (checked)
      assert_int_equal(r.report.problems[0].times, all);
    all = r.report.problems[0].times;
    xk_done(&r);
  }
  xray_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shipped),
      cmocka_unit_test(test_good),
      cmocka_unit_test(test_faults),
      cmocka_unit_test(test_budget),
      cmocka_unit_test(test_race_between_threads),
      cmocka_unit_test(test_stopped),
      cmocka_unit_test(test_checked_blocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
