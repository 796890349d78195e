/* Kernels for the tests of the PTX machine: shipped ones and fixtures, run on arrays of floats. */
#ifndef MM_TESTS_XRAY_KERNELS_H
#define MM_TESTS_XRAY_KERNELS_H

#include "base/alloc.h"
#include "base/embed.h"
#include "sim/xray/xray.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { XK_ARRAYS = 3, XK_INTS = 5 };

struct xk_run {
  const char *ptx, *entry; /* "assets/ptx/cuda_naive.ptx", or a fixture's name */
  int64_t grid[3], block[3];
  int64_t elements[XK_ARRAYS]; /* of A, B, C */
  int ints[XK_INTS], nints;    /* arguments behind the arrays */
  int64_t shared_bytes;
};

struct xk_result {
  float *array[XK_ARRAYS];
  struct xray_report report;
  bool ran;
  struct err err;
};

static inline xray_module *xk_load(const char *ptx) {
  struct err err;
  const struct embed_file *e = embed_find(ptx);
  if (e)
    return xray_load(e->data, e->n, &err);
  char path[160];
  snprintf(path, sizeof path, "tests/fixtures/xray/%s", ptx);
  FILE *f = fopen(path, "rb");
  if (!f) {
    fprintf(stderr, "%s is not there: run the tests from the root of the sources\n", path);
    exit(1);
  }
  char *text = alloc_zero(1 << 19, 1);
  size_t n = fread(text, 1, (1 << 19) - 1, f);
  fclose(f);
  xray_module *m = xray_load(text, n, &err);
  free(text);
  if (!m) {
    fprintf(stderr, "%s: %s\n", path, err.text);
    exit(1);
  }
  return m;
}

/* Runs a kernel with A and B filled and C of NaN; `how` gives checks, threads, sample, budget. */
static inline struct xk_result xk_do(const xray_module *m, const struct xk_run *run,
                                     const struct xray_launch *how) {
  struct xk_result r = {.err = {{0}}};
  static const char *const names[XK_ARRAYS] = {"A", "B", "C"};
  struct xray_array arrays[XK_ARRAYS];
  struct xray_arg args[XK_ARRAYS + XK_INTS];
  for (int i = 0; i < XK_ARRAYS; i++) {
    r.array[i] = alloc_zero((size_t)run->elements[i], sizeof(float));
    for (int64_t k = 0; k < run->elements[i]; k++)
      r.array[i][k] = i == 2 ? NAN : (float)((k * 37 + i * 11) % 101 - 50) / 16.0f;
    arrays[i] = (struct xray_array){names[i], r.array[i], (size_t)run->elements[i] * 4, i != 2};
    args[i] = (struct xray_arg){.array = i};
  }
  for (int i = 0; i < run->nints; i++) {
    args[XK_ARRAYS + i] = (struct xray_arg){.array = -1, .bytes = 4};
    memcpy(args[XK_ARRAYS + i].value, &run->ints[i], 4);
  }
  struct xray_launch l = *how;
  l.entry = run->entry;
  memcpy(l.grid, run->grid, sizeof l.grid);
  memcpy(l.block, run->block, sizeof l.block);
  l.shared_bytes = run->shared_bytes;
  l.arrays = arrays;
  l.narrays = XK_ARRAYS;
  l.args = args;
  l.nargs = XK_ARRAYS + run->nints;
  r.ran = xray_run(m, &l, &r.report, &r.err);
  return r;
}

static inline void xk_done(struct xk_result *r) {
  for (int i = 0; i < XK_ARRAYS; i++)
    free(r->array[i]);
  if (r->ran)
    xray_report_done(&r->report);
}

/* "" if both reports tell the same counts, else what differs. */
static inline const char *xk_counts_differ(const struct xray_report *a,
                                           const struct xray_report *b) {
  const struct xray_counts *x = &a->counts, *y = &b->counts;
#define SAME(field)                                                                                \
  if (x->field != y->field)                                                                        \
    return #field;
  SAME(gld_requests)
  SAME(gld_sectors)
  SAME(gld_wavefronts)
  SAME(gst_requests)
  SAME(gst_sectors)
  SAME(gst_wavefronts)
  SAME(lds_requests)
  SAME(lds_wavefronts)
  SAME(lds_conflicts)
  SAME(sts_requests)
  SAME(sts_wavefronts)
  SAME(sts_conflicts)
  SAME(ffma)
  SAME(fadd)
  SAME(fmul)
  SAME(other_flop)
  SAME(warp_instructions)
  SAME(barriers)
  SAME(divergent_branches)
#undef SAME
  if (a->nlines != b->nlines)
    return "nlines";
  for (int i = 0; i < a->nlines; i++)
    if (a->lines[i].line != b->lines[i].line || strcmp(a->lines[i].file, b->lines[i].file) != 0 ||
        memcmp(&a->lines[i].counts, &b->lines[i].counts, sizeof a->lines[i].counts) != 0)
      return "the counts of a line";
  return "";
}

/* A product of matrices by a shipped kernel: tile 0 is the naive one with blocks of 32 x 32. */
static inline struct xk_run xk_shipped(const char *ptx, int tile, int M, int N, int K) {
  int t = tile ? tile : 32;
  return (struct xk_run){.ptx = ptx,
                         .grid = {(N + t - 1) / t, (M + t - 1) / t, 1},
                         .block = {t, t, 1},
                         .elements = {(int64_t)M * K, (int64_t)K * N, (int64_t)M * N},
                         .ints = {M, N, K},
                         .nints = 3};
}

#endif
