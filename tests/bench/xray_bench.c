/* Speed of the PTX machine (make bench-xray): M warp instructions/s of four kernels, alternating
 * runs, medians; the time of sampled launches; host instructions per warp instruction by callgrind,
 * held against tests/bench/xray_cost.json.
 *
 *   xray_bench            everything; with `table`: without the sampled ones
 *   xray_bench large KERNEL    one sampled run
 *   xray_bench KERNEL MODE N   one run, for callgrind: prints its warp instructions */
#include "base/alloc.h"
#include "base/embed.h"
#include "bench/xray_matrix.h"
#include "sim/xray/xray.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KERNELS = 4, MODES = 4, ROUNDS = 7, SIZE = 256, LARGE = 4096, SMALL = 64 };

static const struct kernel_row {
  const char *name, *ptx, *entry;
  int tile, threads; /* of C a block; threads of a block: tile x tile if 0 */
} kernels[KERNELS] = {
    {"naive", "assets/ptx/cuda_naive.ptx", NULL, 32, 0},
    {"tiled", "assets/ptx/cuda_tiled_T32.ptx", NULL, 32, 0},
    {"rows", "tests/fixtures/xray/tiles.ptx", "rows", 64, 512},
    {"square", "tests/fixtures/xray/tiles.ptx", "square", 64, 256},
};

static const struct mode_row {
  const char *name;
  int checks, threads;
  int64_t checked_blocks;
} modes[MODES] = {
    {"checked", XRAY_CHECK_ALL, 1, 0},
    {"counts", 0, 1, 0},
    {"checked, 2 threads", XRAY_CHECK_ALL, 2, 0},
    {"counts, 2 threads, checks on 2 blocks", XRAY_CHECK_ALL, 2, 2},
};

static _Noreturn void die(const char *what) {
  fprintf(stderr, "xray_bench: %s\n", what);
  exit(1);
}

static xray_module *load(const struct kernel_row *k) {
  struct err err;
  const struct embed_file *e = embed_find(k->ptx);
  char *text = NULL;
  size_t n = e ? e->n : 0;
  if (!e) {
    FILE *f = fopen(k->ptx, "rb");
    if (!f)
      die("run it from the root of the sources");
    text = alloc_zero(1 << 18, 1);
    n = fread(text, 1, (1 << 18) - 1, f);
    fclose(f);
  }
  xray_module *m = xray_load(e ? e->data : text, n, &err);
  free(text);
  if (!m)
    die(err.text);
  return m;
}

/* Of one thread the time of the processor, so that what else runs matters less; else the wall's. */
static double seconds(bool of_cpu) {
  struct timespec t;
  clock_gettime(of_cpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct outcome {
  double instructions, seconds;
  int64_t blocks_executed;
  bool sampled;
};

static struct outcome run(const struct kernel_row *k, const struct mode_row *mode, int n,
                          bool sample) {
  struct err err;
  xray_module *m = load(k);
  struct xray_matrix x[3];
  bool cpu = mode->threads == 1;
  double begin = seconds(cpu);
  int64_t elements = (int64_t)n * n;
  for (int i = 0; i < 2; i++)
    if (!xray_matrix_fill(&x[i], DT_F32, elements, (uint64_t)i, sample, &err))
      die(err.text);
  if (!xray_matrix_poison(&x[2], DT_F32, elements, sample, &err))
    die(err.text);
  double ready = seconds(cpu);
  struct xray_array arrays[3] = {{"A", x[0].data, x[0].bytes, true},
                                 {"B", x[1].data, x[1].bytes, true},
                                 {"C", x[2].data, x[2].bytes, false}};
  struct xray_arg args[6] = {{.array = 0}, {.array = 1}, {.array = 2}};
  for (int i = 3; i < 6; i++) {
    args[i] = (struct xray_arg){.array = -1, .bytes = 4};
    memcpy(args[i].value, &n, sizeof n);
  }
  struct xray_launch l = {.entry = k->entry,
                          .grid = {n / k->tile, n / k->tile, 1},
                          .block = {k->threads ? k->threads : k->tile, k->threads ? 1 : k->tile, 1},
                          .arrays = arrays,
                          .narrays = 3,
                          .args = args,
                          .nargs = k->entry ? 4 : 6,
                          .checks = mode->checks,
                          .threads = mode->threads,
                          .checked_blocks = mode->checked_blocks,
                          .sample = sample};
  struct xray_report r;
  if (!xray_run(m, &l, &r, &err))
    die(err.text);
  if (!r.finished || r.nproblems)
    die(r.nproblems ? r.problems[0].detail : "not finished");
  struct outcome o = {r.counts.warp_instructions, seconds(cpu) - (sample ? begin : ready),
                      r.blocks_executed, r.sampled};
  xray_report_done(&r);
  for (int i = 0; i < 3; i++)
    xray_matrix_done(&x[i]);
  xray_free(m);
  return o;
}

static int by_value(const void *a, const void *b) {
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static void table(void) {
  static double rate[KERNELS][MODES][ROUNDS];
  for (int round = 0; round < ROUNDS; round++)
    for (int k = 0; k < KERNELS; k++)
      for (int mode = 0; mode < MODES; mode++) {
        struct outcome o = run(&kernels[k], &modes[mode], SIZE, false);
        rate[k][mode][round] = o.instructions / o.seconds / 1e6;
      }
  printf("M warp instructions/s at %d^3, median of %d alternating runs (one thread: processor "
         "time)\n",
         SIZE, ROUNDS);
  for (int mode = 0; mode < MODES; mode++) {
    printf("  %-38s", modes[mode].name);
    for (int k = 0; k < KERNELS; k++) {
      qsort(rate[k][mode], ROUNDS, sizeof(double), by_value);
      printf("  %s %5.1f", kernels[k].name, rate[k][mode][ROUNDS / 2]);
    }
    printf("\n");
  }
}

static void large(void) {
  printf("Sampled at %d^3, matrices included, median of %d, processor time\n", LARGE, ROUNDS);
  for (int k = 0; k < KERNELS; k++) {
    double seconds[ROUNDS];
    struct outcome o = {0};
    for (int round = 0; round < ROUNDS; round++) {
      o = run(&kernels[k], &modes[0], LARGE, true);
      seconds[round] = o.seconds;
    }
    qsort(seconds, ROUNDS, sizeof(double), by_value);
    printf("  %-8s %.3f s, %lld blocks%s\n", kernels[k].name, seconds[ROUNDS / 2],
           (long long)o.blocks_executed, o.sampled ? "" : ", not sampled");
  }
}

static int one(const char *kernel, const char *mode, const char *size) {
  for (int k = 0; k < KERNELS; k++)
    for (int i = 0; i < MODES; i++)
      if (strcmp(kernels[k].name, kernel) == 0 && strcmp(modes[i].name, mode) == 0) {
        printf("%.0f\n", run(&kernels[k], &modes[i], atoi(size), false).instructions);
        return 0;
      }
  die("no such kernel or mode");
}

static int large_one(const char *kernel) {
  for (int k = 0; k < KERNELS; k++)
    if (strcmp(kernels[k].name, kernel) == 0)
      printf("%lld\n", (long long)run(&kernels[k], &modes[0], LARGE, true).blocks_executed);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "large") == 0)
    return large_one(argv[2]);
  if (argc == 4)
    return one(argv[1], argv[2], argv[3]);
  table();
  if (argc == 1)
    large();
  return 0;
}
