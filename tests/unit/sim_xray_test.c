/* The PTX machine: results and counts of the shipped kernels, what it finds in broken ones
 * (tests/fixtures/xray), and that no text can break it. */
#include "base/alloc.h"
#include "base/embed.h"
#include "sim/xray/xray.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- running the shipped kernels */

enum op { OP_GEMM, OP_COPY, OP_ADD, OP_GEMV };

struct problem {
  enum op op;
  int M, N, K;
  float *A, *B, *C;
  size_t na, nb, nc;
};

static struct problem problem_new(enum op op, int M, int N, int K) {
  struct problem p = {.op = op, .M = M, .N = N, .K = K};
  bool elementwise = op == OP_COPY || op == OP_ADD;
  p.na = (size_t)M * (size_t)(elementwise ? N : K);
  p.nb = op == OP_GEMM ? (size_t)K * (size_t)N : op == OP_ADD ? p.na : (size_t)K;
  p.nc = op == OP_GEMV ? (size_t)M : (size_t)M * (size_t)N;
  p.A = alloc_zero(p.na, sizeof(float));
  p.B = alloc_zero(p.nb, sizeof(float));
  p.C = alloc_zero(p.nc, sizeof(float));
  uint32_t state = 12345;
  for (size_t i = 0; i < p.na + p.nb; i++) {
    state = state * 1664525u + 1013904223u;
    float v = (float)(state >> 8) / 8388608.0f - 1.0f;
    if (i < p.na)
      p.A[i] = v;
    else
      p.B[i - p.na] = v;
  }
  for (size_t i = 0; i < p.nc; i++)
    p.C[i] = NAN;
  return p;
}

static void problem_done(struct problem *p) {
  free(p->A);
  free(p->B);
  free(p->C);
}

static struct xray_arg int_arg(int v) {
  struct xray_arg a = {.array = -1, .bytes = 4};
  memcpy(a.value, &v, 4);
  return a;
}

static int up(int n, int d) { return (n + d - 1) / d; }

/* Runs a shipped kernel; T: of the tiled ones, 0: naive, -1: uncoalesced. */
static void run_shipped(const struct problem *p, const char *file, int T, struct xray_report *out) {
  char path[80];
  snprintf(path, sizeof path, "assets/ptx/%s.ptx", file);
  const struct embed_file *e = embed_find(path);
  assert_non_null(e);
  struct err err;
  xray_module *m = xray_load(e->data, e->n, &err);
  if (!m)
    fail_msg("%s", err.text);
  struct xray_array arrays[3] = {
      {"A", p->A, p->na * 4, true}, {"B", p->B, p->nb * 4, true}, {"C", p->C, p->nc * 4, false}};
  struct xray_arg args[6] = {{.array = 0}, {.array = 1}, {.array = 2}};
  struct xray_launch l = {.grid = {1, 1, 1},
                          .block = {256, 1, 1},
                          .arrays = arrays,
                          .narrays = 3,
                          .args = args,
                          .checks = XRAY_CHECK_ALL};
  int t = T > 0 ? T : 32, n = 3;
  if (p->op == OP_COPY)
    args[1].array = 2, n = 2;
  args[n++] = int_arg(p->M);
  if (p->op != OP_GEMV)
    args[n++] = int_arg(p->N);
  if (p->op == OP_GEMM || p->op == OP_GEMV)
    args[n++] = int_arg(p->K);
  l.nargs = n;
  if (p->op == OP_GEMM) {
    l.block[0] = l.block[1] = t;
    l.grid[0] = T < 0 ? up(p->M, t) : up(p->N, t);
    l.grid[1] = T < 0 ? up(p->N, t) : up(p->M, t);
  } else if (p->op == OP_GEMV) {
    l.block[0] = 32, l.block[1] = 8;
    l.grid[0] = up(p->M, 8);
  } else {
    l.grid[0] = up(p->M * p->N, p->op == OP_COPY ? 2048 : 1024);
  }
  if (!xray_run(m, &l, out, &err))
    fail_msg("%s", err.text);
  xray_free(m);
}

static double expected(const struct problem *p, size_t i) {
  double sum = 0;
  size_t N = (size_t)p->N, K = (size_t)p->K;
  if (p->op == OP_COPY || p->op == OP_ADD)
    return p->op == OP_COPY ? (double)p->A[i] : (double)p->A[i] + (double)p->B[i];
  size_t r = p->op == OP_GEMV ? i : i / N, c = i % N;
  for (size_t k = 0; k < K; k++)
    sum += (double)p->A[r * K + k] * (double)(p->op == OP_GEMV ? p->B[k] : p->B[k * N + c]);
  return sum;
}

static void check_result(const struct problem *p, const char *file, const struct xray_report *r) {
  double bound = 8 * sqrt(p->K) * ldexp(1, -24);
  if (r->nproblems)
    fail_msg("%s %dx%dx%d: %s (line %d)", file, p->M, p->N, p->K, r->problems[0].detail,
             r->problems[0].line);
  assert_true(r->finished);
  for (size_t i = 0; i < p->nc; i++)
    if (!(fabs((double)p->C[i] - expected(p, i)) <= bound))
      fail_msg("%s %dx%dx%d: C[%zu] is %g, not %g", file, p->M, p->N, p->K, i, (double)p->C[i],
               expected(p, i));
}

static void run_and_check(enum op op, const char *file, int T, int M, int N, int K) {
  struct problem p = problem_new(op, M, N, K);
  struct xray_report r;
  run_shipped(&p, file, T, &r);
  check_result(&p, file, &r);
  xray_report_done(&r);
  problem_done(&p);
}

static const int sizes[6] = {1, 17, 31, 33, 64, 65};

/* 16 of the triples, each size in each place: rows of a Latin square. */
static void each_ragged(enum op op, const char *file, int T) {
  for (int i = 0; i < 16; i++)
    run_and_check(op, file, T, sizes[i % 6], sizes[(i + i / 6) % 6], sizes[(2 * i + i / 6) % 6]);
}

static void test_results(void **state) {
  (void)state;
  each_ragged(OP_GEMM, "cuda_naive", 0);
  each_ragged(OP_GEMM, "cuda_uncoalesced", -1);
  each_ragged(OP_GEMM, "cuda_tiled_T8", 8);
  each_ragged(OP_GEMM, "cuda_tiled_T16", 16);
  each_ragged(OP_GEMM, "cuda_tiled_T32", 32);
  each_ragged(OP_COPY, "cuda_copy", 0);
  each_ragged(OP_ADD, "cuda_add", 0);
  each_ragged(OP_GEMV, "cuda_gemv", 0);
}

/* ---- counts, held against the counters of an H200 (docs/counting.md) */

static struct xray_counts counts_256(const char *file, int T) {
  struct problem p = problem_new(OP_GEMM, 256, 256, 256);
  struct xray_report r;
  run_shipped(&p, file, T, &r);
  check_result(&p, file, &r);
  struct xray_counts c = r.counts;
  xray_report_done(&r);
  problem_done(&p);
  return c;
}

static void expect(const char *what, double is, double should) {
  if (is != should)
    fail_msg("%s: %.0f, not %.0f", what, is, should);
}

static void test_counts_naive(void **state) {
  (void)state;
  struct xray_counts c = counts_256("cuda_naive", 0);
  expect("load requests", c.gld_requests, 1048576);
  expect("load sectors", c.gld_sectors, 2621440);
  expect("store sectors", c.gst_sectors, 8192);
  expect("shared loads", c.lds_requests, 0);
  expect("ffma", c.ffma, 16777216);
  c = counts_256("cuda_uncoalesced", -1);
  expect("load requests", c.gld_requests, 1048576);
  expect("load sectors", c.gld_sectors, 17301504);
  expect("store sectors", c.gst_sectors, 65536);
  expect("ffma", c.ffma, 16777216);
}

static void test_counts_tiled(void **state) {
  (void)state;
  struct xray_counts c = counts_256("cuda_tiled_T32", 32);
  expect("load requests", c.gld_requests, 32768);
  expect("load sectors", c.gld_sectors, 131072);
  expect("store sectors", c.gst_sectors, 8192);
  expect("shared store wavefronts", c.sts_wavefronts, 32768);
  expect("shared store conflicts", c.sts_conflicts, 0);
  expect("shared load conflicts", c.lds_conflicts, 0);
  expect("ffma", c.ffma, 16777216);
}

static void test_loads_all_shipped(void **state) {
  (void)state;
  int n = 0;
  for (const struct embed_file *e = embed_files; e->path; e++)
    if (strncmp(e->path, "assets/ptx/", 11) == 0) {
      struct err err;
      xray_module *m = xray_load(e->data, e->n, &err);
      if (!m)
        fail_msg("%s: %s", e->path, err.text);
      assert_non_null(xray_entry(m, 0));
      assert_null(xray_entry(m, 1));
      xray_free(m);
      n++;
    }
  assert_true(n >= 9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_loads_all_shipped),
      cmocka_unit_test(test_results),
      cmocka_unit_test(test_counts_naive),
      cmocka_unit_test(test_counts_tiled),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
