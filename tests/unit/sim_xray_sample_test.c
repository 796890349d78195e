/* Sampled launches tell exactly what full ones tell, for kernels whose blocks differ in many ways,
 * at even and ragged sizes; and they run few blocks where few classes are. */
#include "base/alloc.h"
#include "sim/xray/xray.h"
#include "xray_kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static int up(int n, int d) { return (n + d - 1) / d; }

/* Compares; returns the blocks that the sampled launch ran. */
static int64_t same_as_all(const xray_module *m, const struct xk_run *run, int checks,
                           const char *what) {
  struct xray_launch how = {.checks = checks};
  struct xk_result all = xk_do(m, run, &how);
  how.sample = true;
  struct xk_result some = xk_do(m, run, &how);
  if (!all.ran || !some.ran)
    fail_msg("%s: %s%s", what, all.err.text, some.err.text);
  if (all.report.nproblems || some.report.nproblems)
    fail_msg("%s: %s", what,
             (all.report.nproblems ? &all.report : &some.report)->problems[0].detail);
  assert_true(all.report.finished && some.report.finished);
  assert_false(all.report.sampled);
  assert_int_equal(some.report.blocks, all.report.blocks);
  assert_int_equal(some.report.sampled, some.report.blocks_executed < some.report.blocks);
  const char *differ = xk_counts_differ(&all.report, &some.report);
  if (*differ)
    fail_msg("%s, M %d N %d K %d: %s differs (%lld of %lld blocks were run)", what, run->ints[0],
             run->ints[1], run->ints[2], differ, (long long)some.report.blocks_executed,
             (long long)some.report.blocks);
  int64_t executed = some.report.blocks_executed;
  xk_done(&all);
  xk_done(&some);
  return executed;
}

static const int sizes[][3] = {{64, 64, 32},  {64, 96, 16}, {65, 64, 8},   {64, 65, 9},
                               {100, 72, 20}, {33, 130, 7}, {128, 40, 33}, {17, 17, 17},
                               {1, 200, 5},   {200, 1, 5},  {95, 93, 31},  {80, 112, 12}};
enum { NSIZES = sizeof sizes / sizeof *sizes };

static void test_shipped(void **state) {
  (void)state;
  static const struct {
    const char *ptx;
    int tile;
  } kernels[] = {{"assets/ptx/cuda_naive.ptx", 0},
                 {"assets/ptx/cuda_uncoalesced.ptx", -1},
                 {"assets/ptx/cuda_tiled_T8.ptx", 8},
                 {"assets/ptx/cuda_tiled_T16.ptx", 16},
                 {"assets/ptx/cuda_tiled_T32.ptx", 32}};
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    xray_module *m = xk_load(kernels[i].ptx);
    for (int s = 0; s < NSIZES; s++) {
      const int *n = sizes[s];
      int tile = kernels[i].tile;
      struct xk_run run = xk_shipped(kernels[i].ptx, tile < 0 ? 0 : tile, n[0], n[1], n[2]);
      if (tile < 0) {
        run.grid[0] = up(n[0], 32);
        run.grid[1] = up(n[1], 32);
      }
      same_as_all(m, &run, XRAY_CHECK_ALL, kernels[i].ptx);
    }
    xray_free(m);
  }
}

static void test_tiles(void **state) {
  (void)state;
  static const struct {
    const char *entry;
    int tile, block[2];
  } kernels[] = {{"transposed", 32, {32, 32}}, {"rows", 64, {512, 1}}, {"square", 64, {256, 1}}};
  xray_module *m = xk_load("tiles.ptx");
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    int n = 256, t = kernels[i].tile;
    struct xk_run run = {.entry = kernels[i].entry,
                         .grid = {n / t, n / t, 1},
                         .block = {kernels[i].block[0], kernels[i].block[1], 1},
                         .elements = {n * n, n * n, n * n},
                         .ints = {n, n, n},
                         .nints = 1};
    assert_int_equal(same_as_all(m, &run, XRAY_CHECK_ALL, kernels[i].entry), 2);
  }
  xray_free(m);
}

/* ---- blocks.cu */

enum shape { TILES, TILES_IN_A_ROW, HALF_OF_THEM, PARTS, FLAT, LONG_FLAT };

static const struct row {
  const char *entry;
  enum shape shape;
  int more; /* argument behind M, N, K */
  int most; /* blocks that the largest size may take; 0: any number */
} rows[] = {
    {"decomposed", TILES_IN_A_ROW, 0, 8},
    {"grouped", TILES_IN_A_ROW, 4, 30},
    {"grouped", TILES_IN_A_ROW, 3, 30},
    {"split", PARTS, 0, 16},
    {"persistent", HALF_OF_THEM, 0, 8},
    {"sums", LONG_FLAT, 0, 4},
    {"by_thread", FLAT, 0, 40},
    {"clamped", TILES, 0, 8},
    {"triangle", TILES, 0, 12},
    {"traded", FLAT, 0, 12},
    {"by_value", FLAT, 0, 0},
    {"scattered", FLAT, 0, 0},
    {"added", TILES, 0, 70},
};

static struct xk_run run_of(const struct row *r, int M, int N, int K) {
  int tiles = up(M, 16) * up(N, 16);
  bool flat = r->shape == FLAT || r->shape == LONG_FLAT;
  struct xk_run run = {.entry = r->entry,
                       .grid = {tiles, 1, 1},
                       .block = {flat ? 128 : 16, flat ? 1 : 16, 1},
                       .elements = {(int64_t)M * K, (int64_t)K * N, (int64_t)M * N + 512},
                       .ints = {M, N, K, r->more},
                       .nints = r->more ? 4 : 3};
  switch (r->shape) {
  case PARTS:
    run.grid[2] = 3;
    run.elements[2] *= 3;
    /* fall through */
  case TILES:
    run.grid[0] = up(N, 16);
    run.grid[1] = up(M, 16);
    break;
  case HALF_OF_THEM:
    run.grid[0] = up(tiles, 2);
    break;
  case FLAT:
    run.grid[0] = up(M * (N > K ? N : K), 128);
    break;
  case LONG_FLAT:
    run.grid[0] = up(M * K, 512);
    run.elements[2] += run.grid[0];
    break;
  default:
    break;
  }
  return run;
}

static void test_classes(void **state) {
  (void)state;
  xray_module *m = xk_load("blocks.ptx");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (int s = 0; s < NSIZES; s++) {
      struct xk_run run = run_of(&rows[i], sizes[s][0], sizes[s][1], sizes[s][2]);
      same_as_all(m, &run, 0, rows[i].entry);
    }
    struct xk_run large = run_of(&rows[i], 512, 384, 24);
    int64_t executed = same_as_all(m, &large, 0, rows[i].entry);
    if (getenv("SHOW"))
      printf("%s %lld of %lld\n", rows[i].entry, (long long)executed,
             (long long)(large.grid[0] * large.grid[1] * large.grid[2]));
    if (rows[i].most && executed > rows[i].most)
      fail_msg("%s ran %lld blocks, more than %d", rows[i].entry, (long long)executed,
               rows[i].most);
  }
  xray_free(m);
}

/* Every size of a stretch: rows of all lengths modulo 32 and edges of all widths. */
static void test_every_size(void **state) {
  (void)state;
  xray_module *m = xk_load("blocks.ptx");
  for (int n = 30; n <= 66; n += 3) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
      struct xk_run run = run_of(&rows[i], 97 - n, n, 3);
      same_as_all(m, &run, 0, rows[i].entry);
    }
  }
  xray_free(m);
}

/* Every kernel of the other fixtures: calls, text, atomics, asynchronous copies, tensor cores. */
static void test_fixtures(void **state) {
  (void)state;
  static const struct {
    const char *ptx;
    int blocks, threads, ints[2], nints, sampled; /* at least so many of its kernels */
  } files[] = {{"good.ptx", 24, 64, {128}, 1, 8}, {"tensor.ptx", 12, 32, {64, 32}, 2, 5}};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    xray_module *m = xk_load(files[i].ptx);
    const char *entry;
    int sampled = 0, n = 0;
    for (; (entry = xray_entry(m, n)); n++) {
      struct xk_run run = {.entry = entry,
                           .grid = {files[i].blocks / 3, 3, 1},
                           .block = {files[i].threads, 1, 1},
                           .elements = {16384, 16384, 16384},
                           .ints = {files[i].ints[0], files[i].ints[1]},
                           .nints = files[i].nints,
                           .shared_bytes = 4096};
      struct xray_launch how = {.budget = 10000000};
      struct xk_result all = xk_do(m, &run, &how);
      how.sample = true;
      struct xk_result some = xk_do(m, &run, &how);
      if (all.ran && some.ran && all.report.finished && some.report.finished) {
        if (*xk_counts_differ(&all.report, &some.report))
          fail_msg("%s: %s differs", entry, xk_counts_differ(&all.report, &some.report));
        sampled += some.report.sampled;
      }
      if (getenv("SHOW"))
        printf("%s %s: ran %d, sampled %d of %lld\n", files[i].ptx, entry, some.ran,
               some.report.sampled, (long long)some.report.blocks_executed);
      xk_done(&all);
      xk_done(&some);
    }
    if (sampled < files[i].sampled)
      fail_msg("%s: only %d of %d kernels were sampled", files[i].ptx, sampled, n);
    xray_free(m);
  }
}

/* Nothing can be said of the blocks and the budget is small: a sentence, and no number. */
static void test_refused(void **state) {
  (void)state;
  xray_module *m = xk_load("blocks.ptx");
  struct row by_value = {"by_value", FLAT, 0, 0};
  struct xk_run run = run_of(&by_value, 4096, 64, 64);
  struct xray_launch how = {.sample = true, .budget = 1000};
  struct xk_result r = xk_do(m, &run, &how);
  assert_false(r.ran);
  assert_non_null(strstr(r.err.text, "2048 blocks"));
  assert_non_null(strstr(r.err.text, "smaller size"));
  xk_done(&r);
  run.grid[0] = 10000000; /* more than are told apart */
  r = xk_do(m, &run, &how);
  assert_false(r.ran);
  assert_non_null(strstr(r.err.text, "10000000 blocks"));
  xk_done(&r);
  xray_free(m);
}

/* A problem of a block that is run is told; a halt leaves counts that are not scaled. */
static void test_problems(void **state) {
  (void)state;
  xray_module *m = xk_load("faults.ptx");
  static const char *const entries[] = {"second_barrier", "unwritten_shared", "trap", "endless",
                                        "past_the_end"};
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    struct xk_run run = {.entry = entries[i],
                         .grid = {16, 1, 1},
                         .block = {64, 1, 1},
                         .elements = {4096, 4096, 4096},
                         .ints = {128},
                         .nints = 1};
    struct xray_launch how = {.checks = XRAY_CHECK_ALL, .sample = true, .budget = 100000};
    struct xk_result r = xk_do(m, &run, &how);
    assert_true(r.ran);
    assert_true(r.report.nproblems > 0);
    assert_true(r.report.finished || !r.report.sampled);
    xk_done(&r);
  }
  xray_free(m);
}

/* The events of a block are told whether the launch is sampled or not. */
struct events {
  int64_t n, sum;
};

static void take_event(void *ctx, const struct xray_event *e) {
  struct events *all = ctx;
  assert_true(e->block[0] == 5 && e->block[1] == 3 && e->block[2] == 0);
  all->n++;
  for (int l = 0; l < 32 && e->address; l++)
    all->sum += e->mask >> l & 1 ? e->address[l] * (l + 1) : 0;
}

static void test_trace(void **state) {
  (void)state;
  xray_module *m = xk_load("assets/ptx/cuda_tiled_T8.ptx");
  struct xk_run run = xk_shipped("assets/ptx/cuda_tiled_T8.ptx", 8, 64, 64, 24);
  struct events of[3] = {{0}};
  for (int i = 0; i < 3; i++) {
    struct xray_launch how = {.trace = take_event,
                              .trace_block = {5, 3, 0},
                              .ctx = &of[i],
                              .sample = i == 1,
                              .threads = i == 2 ? 2 : 1};
    struct xk_result r = xk_do(m, &run, &how);
    assert_true(r.ran && r.report.finished && r.report.sampled == (i == 1));
    xk_done(&r);
  }
  assert_true(of[0].n > 0);
  for (int i = 1; i < 3; i++) {
    assert_int_equal(of[i].n, of[0].n);
    assert_int_equal(of[i].sum, of[0].sum);
  }
  xray_free(m);
}

/* Kernels with numbers changed here and there (registers, constants, places): whatever they do
 * then, sampled counts are those of a full run. */
static void mutate(char *text, size_t n, uint32_t *state) {
  for (int changes = 0; changes < 12; changes++) {
    *state = *state * 1664525u + 1013904223u;
    size_t at = (*state >> 4) % n;
    while (at + 2 < n && !(text[at] == '%' && text[at + 1] == 'r'))
      at++;
    at += text[at + 2] == 'd' ? 3 : 2;
    if (at + 1 < n && text[at] >= '1' && text[at] <= '9')
      text[at] = (char)('1' + (*state >> 9) % 9);
  }
}

static bool damaged_agrees(const xray_module *m, struct xk_run *run) {
  struct xray_launch how = {.budget = 20000};
  struct xk_result all = xk_do(m, run, &how);
  how.sample = true;
  struct xk_result some = xk_do(m, run, &how);
  bool both = all.ran && some.ran && all.report.finished && some.report.finished;
  if (both && *xk_counts_differ(&all.report, &some.report))
    fail_msg("%s: %s differs", run->entry, xk_counts_differ(&all.report, &some.report));
  xk_done(&all);
  xk_done(&some);
  return both;
}

static void test_damaged(void **state) {
  (void)state;
  static char intact[1 << 18];
  FILE *f = fopen("tests/fixtures/xray/blocks.ptx", "rb");
  assert_non_null(f);
  size_t n = fread(intact, 1, sizeof intact, f);
  fclose(f);
  uint32_t seed = 5;
  int compared = 0;
  for (int i = 0; i < 60; i++) {
    char *text = alloc_strn(intact, n);
    struct err err;
    mutate(text, n, &seed);
    xray_module *m = xray_load(text, n, &err);
    for (size_t k = 0; m && k < sizeof rows / sizeof *rows; k++) {
      struct xk_run run = run_of(&rows[k], 33, 50, 3);
      compared += damaged_agrees(m, &run);
    }
    xray_free(m);
    free(text);
  }
  if (getenv("SHOW"))
    printf("compared %d\n", compared);
  assert_true(compared > 300);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shipped), cmocka_unit_test(test_tiles),
      cmocka_unit_test(test_classes), cmocka_unit_test(test_every_size),
      cmocka_unit_test(test_refused), cmocka_unit_test(test_problems),
      cmocka_unit_test(test_damaged), cmocka_unit_test(test_fixtures),
      cmocka_unit_test(test_trace),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
