/* The PTX machine: results and counts of the shipped kernels, what it finds in broken ones
 * (tests/fixtures/xray), and that no text can break it. */
#include "base/alloc.h"
#include "base/embed.h"
#include "sim/xray/xray.h"
#include "xray_fixture.h"

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

/* What C[i] should be; *size: the root of the sum of squares of what is added. */
static double expected(const struct problem *p, size_t i, double *size) {
  double sum = 0, squares = 0;
  *size = 1;
  size_t N = (size_t)p->N, K = (size_t)p->K;
  if (p->op == OP_COPY || p->op == OP_ADD)
    return p->op == OP_COPY ? (double)p->A[i] : (double)p->A[i] + (double)p->B[i];
  size_t r = p->op == OP_GEMV ? i : i / N, c = i % N;
  for (size_t k = 0; k < K; k++) {
    double v = (double)p->A[r * K + k] * (double)(p->op == OP_GEMV ? p->B[k] : p->B[k * N + c]);
    sum += v;
    squares += v * v;
  }
  *size = sqrt(squares);
  return sum;
}

static void check_result(const struct problem *p, const char *file, const struct xray_report *r) {
  if (r->nproblems)
    fail_msg("%s %dx%dx%d: %s (line %d)", file, p->M, p->N, p->K, r->problems[0].detail,
             r->problems[0].line);
  assert_true(r->finished);
  for (size_t i = 0; i < p->nc; i++) {
    double size, should = expected(p, i, &size), bound = 8 * sqrt(p->K) * ldexp(size, -24);
    if (!(fabs((double)p->C[i] - should) <= bound))
      fail_msg("%s %dx%dx%d: C[%zu] is %g, not %g", file, p->M, p->N, p->K, i, (double)p->C[i],
               should);
  }
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
  expect("shared load wavefronts", c.lds_wavefronts, 786432);
  expect("shared load conflicts", c.lds_conflicts, 0);
  expect("shared load requests", c.lds_requests, 655360);
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
      assert_null(xray_entry(m, 2)); /* reductions have two kernels */
      xray_free(m);
      n++;
    }
  assert_true(n >= 9);
}

/* Kernels of tiles.cu at n = 256: the counters of the hardware. */
static void test_counts_of_tiles(void **state) {
  (void)state;
  static const struct {
    const char *entry;
    int grid, block[2];
    double gld, sectors, gst_sectors, lds_requests, lds, lds_conflicts, sts, sts_conflicts;
  } of[] = {
      {"transposed", 8, {32, 32}, 32768, 131072, 8192, 262144, 4456448, 3670016, 540672, 507904},
      {"rows", 4, {512, 1}, 16384, 65536, 8192, 196608, 327680, 0, 16384, 0},
      {"square", 4, {256, 1}, 4096, 65536, 8192, 65536, 196608, 0, 40960, 24576},
  };
  xray_module *m = load_fixture("tiles.ptx");
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    struct problem p = problem_new(OP_GEMM, 256, 256, 256);
    struct xray_array arrays[3] = {
        {"A", p.A, p.na * 4, true}, {"B", p.B, p.nb * 4, true}, {"C", p.C, p.nc * 4, false}};
    struct xray_arg args[4] = {{.array = 0}, {.array = 1}, {.array = 2}, int_arg(256)};
    struct xray_launch l = {.entry = of[i].entry,
                            .grid = {of[i].grid, of[i].grid, 1},
                            .block = {of[i].block[0], of[i].block[1], 1},
                            .arrays = arrays,
                            .narrays = 3,
                            .args = args,
                            .nargs = 4,
                            .checks = XRAY_CHECK_ALL};
    struct xray_report r;
    struct err err;
    if (!xray_run(m, &l, &r, &err))
      fail_msg("%s", err.text);
    check_result(&p, of[i].entry, &r);
    print_message("# %s\n", of[i].entry);
    expect("load requests", r.counts.gld_requests, of[i].gld);
    expect("load sectors", r.counts.gld_sectors, of[i].sectors);
    expect("store sectors", r.counts.gst_sectors, of[i].gst_sectors);
    expect("shared load wavefronts", r.counts.lds_wavefronts, of[i].lds);
    expect("shared load conflicts", r.counts.lds_conflicts, of[i].lds_conflicts);
    expect("shared loads", r.counts.lds_requests, of[i].lds_requests);
    expect("shared store wavefronts", r.counts.sts_wavefronts, of[i].sts);
    expect("shared store conflicts", r.counts.sts_conflicts, of[i].sts_conflicts);
    expect("ffma", r.counts.ffma, 16777216);
    xray_report_done(&r);
    problem_done(&p);
  }
  xray_free(m);
}

/* ---- what good.cu computes, on the host */

static double reversed(const struct field *f, int i) { return (double)f->A[64 + 63 - i % 64]; }

static double reduced(const struct field *f, int i) {
  double sum = 0;
  for (int k = 0; k < 64; k++)
    sum += (double)f->A[i / 64 * 64 + k];
  return sum;
}

static double atomics(const struct field *f, int i) {
  (void)f, (void)i;
  return 8 + 63;
}

static uint32_t reverse_bits(uint32_t x) {
  uint32_t v = 0;
  for (int i = 0; i < 32; i++)
    v |= (x >> i & 1) << (31 - i);
  return v;
}

static double integers(const struct field *f, int I) {
  (void)f;
  int i = I - 64, d = I % 64 % 7 - 3;
  uint32_t u = (uint32_t)I * 2654435761u;
  int64_t w = (int64_t)i * 1000000007ll;
  uint32_t v = (uint32_t)(i / (d ? d : 5) + i % (d ? d : 5));
  v += (uint32_t)(__builtin_popcount(u) + (u >> 3 ? __builtin_clz(u >> 3) : 32));
  v += (reverse_bits(u) >> 28) + (uint32_t)((uint64_t)u * 12345u >> 32);
  v += (uint32_t)(w / 12345) + (uint32_t)(w % 777) + (uint32_t)((uint64_t)w >> 40);
  uint64_t both = (uint64_t)~u << 32 | u;
  v ^= (uint32_t)(both << (i & 31) >> 32) + (uint32_t)(i < 3 ? i : 3) +
       ((uint32_t)i > 9 ? (uint32_t)i : 9u);
  v += (uint32_t)((int16_t)(u >> 5) * (int8_t)(u >> 9)) + (uint8_t)u;
  return v & 0xffffff;
}

static double floats(const struct field *f, int i) {
  float a = f->A[i], b = f->B[i];
  double x = (double)a * (double)b + 0.5;
  float v = sqrtf(fabsf(a)) + a / (b + 3.03f) + fminf(a, b) - fmaxf(a, -b);
  v += (float)(x / 3.0) + floorf(a * 10) + (float)(int)(b * 100) + rintf(a * 7);
  return (double)(v * (float)(1 << i % 4));
}

static double control(const struct field *f, int i) {
  static const float start[] = {10, 0, 4, 7, 0};
  int steps = 0, t = i % 64;
  for (unsigned x = (unsigned)i + 1; x != 1; x = x & 1 ? 3 * x + 1 : x / 2)
    steps++;
  float v = t % 5 == 1 ? f->B[i] : start[t % 5];
  return t % 5 == 4 ? steps : (double)(v + (float)steps + f->A[steps % 8 + t]);
}

static double wide(const struct field *f, int i) {
  bool any = false;
  for (int k = i % 64 / 32 * 32; k < i % 64 / 32 * 32 + 32; k++)
    any |= f->A[k / 4 * 4 + 1] > 2;
  int t = i % 64 / 4 * 4;
  return (double)(i & 1 ? f->A[t] : f->A[t + 3]) + 1 + any;
}

static double early(const struct field *f, int i) {
  double v = (double)f->A[i];
  return i % 64 % 3 == 0 ? 1 : v > 0 ? v + 2 : v;
}

static double block_votes(const struct field *f, int i) {
  int count = 0, any = 0, same = 0;
  for (int k = i / 64 * 64; k < i / 64 * 64 + 64; k++) {
    count += f->A[k] > 0;
    any |= f->A[k] > 3.1f;
    same += k / 32 == i / 32 && k % 64 % 3 == i % 64 % 3;
  }
  return exp((double)f->A[i]) + count + 100 * any + 200 + same;
}

static void test_good_kernels(void **state) {
  (void)state;
  static const struct right kernels[] = {
      {"reversed", reversed}, {"reduced", reduced}, {"atomics", atomics},
      {"integers", integers}, {"floats", floats},   {"control", control},
      {"wide", wide},         {"early", early},     {"block_votes", block_votes}};
  check_right("good.ptx", kernels, sizeof kernels / sizeof *kernels);
}

/* ---- damaged text */

static void mutate(char *text, size_t n, uint32_t *state) {
  for (int changes = 0; changes < 3; changes++) {
    *state = *state * 1664525u + 1013904223u;
    size_t at = (*state >> 4) % n, from = (*state * 2654435761u >> 3) % n, len = 1 + (*state >> 28);
    if (*state >> 30 & 1 && at + len < n && from + len < n)
      memmove(text + at, text + from, len);
    else
      text[at] = "0123456789%$.[]{}@,;+-rfsxb \n"[(*state >> 9) % 29];
  }
}

/* Each kernel of the text, with six arguments or the four of the fixtures. */
static void run_mutant(const char *text, size_t n, bool fixture) {
  struct err err = {{0}};
  xray_module *m = xray_load(text, n, &err);
  if (!m) {
    assert_true(strncmp(err.text, "PTX line ", 9) == 0);
    return;
  }
  struct field *f = field_new();
  struct xray_array arrays[3] = {{"A", f->A, sizeof f->A, true},
                                 {"B", f->B, sizeof f->B, true},
                                 {"C", f->C, sizeof f->C, false}};
  struct xray_arg args[6] = {{.array = 0}, {.array = 1}, {.array = 2},
                             int_arg(40),  int_arg(40),  int_arg(40)};
  const char *entry;
  for (int i = 0; (entry = xray_entry(m, i)); i++) {
    struct xray_launch l = {.entry = entry,
                            .grid = {2, 2, 1},
                            .block = {16, 16, 1},
                            .arrays = arrays,
                            .narrays = 3,
                            .args = args,
                            .nargs = fixture ? 4 : 6,
                            .checks = XRAY_CHECK_ALL,
                            .budget = 3000};
    struct xray_report r;
    if (xray_run(m, &l, &r, &err)) {
      assert_true(r.finished || r.nproblems > 0);
      xray_report_done(&r);
    }
  }
  free(f);
  xray_free(m);
}

static void damage(const char *intact, size_t n, uint32_t *seed, bool fixture) {
  char *text = alloc_strn(intact, n);
  mutate(text, n, seed);
  run_mutant(text, n, fixture);
  free(text);
}

static void test_damaged_text(void **state) {
  (void)state;
  uint32_t seed = 7;
  int done = 0;
  while (done < 2000)
    for (const struct embed_file *e = embed_files; e->path && done < 2000; e++)
      if (strncmp(e->path, "assets/ptx/", 11) == 0) {
        damage(e->data, e->n, &seed, false);
        done++;
      }
  size_t n = 0;
  char *good = read_fixture("good.ptx", &n);
  for (int i = 0; i < 500; i++)
    damage(good, n, &seed, true);
  free(good);
}

static void test_wrong_launches(void **state) {
  (void)state;
  xray_module *m = load_fixture("good.ptx");
  struct field *f = field_new();
  struct xray_report r;
  struct err err;
  assert_false(run_fixture(m, NULL, f, 0, &r, &err)); /* several kernels: which one? */
  assert_false(run_fixture(m, "missing", f, 0, &r, &err));
  struct xray_launch l = {.entry = "early", .grid = {1, 1, 1}, .block = {64, 1, 1}};
  assert_false(xray_run(m, &l, &r, &err)); /* no arguments */
  l.block[1] = 32;
  assert_false(xray_run(m, &l, &r, &err));
  assert_non_null(strstr(err.text, "1024"));
  l.block[1] = 0;
  assert_false(xray_run(m, &l, &r, &err));
  free(f);
  xray_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_loads_all_shipped), cmocka_unit_test(test_results),
      cmocka_unit_test(test_counts_naive),      cmocka_unit_test(test_counts_tiled),
      cmocka_unit_test(test_counts_of_tiles),   cmocka_unit_test(test_good_kernels),
      cmocka_unit_test(test_damaged_text),      cmocka_unit_test(test_wrong_launches),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
