/* Tensor cores of the PTX machine: products of tests/fixtures/xray/tensor.cu, whose mma.sync
 * kernels write the documented fragments out, against sums in double; what they count; what is
 * refused. */
#include "xray_kernels.h"
#include "xray_ptx.h"

enum type { F16, BF16, TF32, F64, S8 };

struct kernel {
  const char *entry;
  enum type type;
  int m, n; /* of a block */
  bool half_sums, a_column, b_column, c_column;
};

static const struct kernel kernels[] = {
    {"mma_f16", F16, 16, 16, false, false, false, false},
    {"mma_bf16", BF16, 16, 16, false, false, false, false},
    {"mma_f16_sums", F16, 16, 8, true, false, false, false},
    {"mma_tf32", TF32, 16, 8, false, false, false, false},
    {"mma_s8", S8, 16, 8, false, false, false, false},
    {"mma_f64", F64, 8, 8, false, false, false, false},
    {"wmma_f16", F16, 16, 16, false, false, true, false},
    {"wmma_f16_col", F16, 16, 16, false, true, false, true},
    {"wmma_f16_staged", F16, 16, 16, false, false, true, false},
    {"wmma_f16_sums", F16, 16, 16, true, false, true, false},
    {"wmma_f16_sums_col", F16, 16, 16, true, true, false, true},
    {"wmma_f16_tall", F16, 32, 8, false, false, true, false},
    {"wmma_f16_tall_col", F16, 32, 8, false, true, false, true},
    {"wmma_f16_wide", F16, 8, 32, false, false, true, false},
    {"wmma_f16_wide_col", F16, 8, 32, false, true, false, true},
    {"wmma_bf16", BF16, 16, 16, false, false, true, false},
    {"wmma_bf16_col", BF16, 16, 16, false, true, false, true},
    {"wmma_bf16_staged", BF16, 16, 16, false, false, true, false},
    {"wmma_tf32", TF32, 16, 16, false, false, true, false},
    {"wmma_tf32_col", TF32, 16, 16, false, true, false, true},
    {"wmma_s8", S8, 16, 16, false, false, true, false},
    {"wmma_s8_col", S8, 16, 16, false, true, false, true},
    {"wmma_s8_staged", S8, 16, 16, false, false, true, false},
    {"wmma_s8_tall", S8, 32, 8, false, false, true, false},
    {"wmma_s8_tall_col", S8, 32, 8, false, true, false, true},
    {"wmma_s8_wide", S8, 8, 32, false, false, true, false},
    {"wmma_s8_wide_col", S8, 8, 32, false, true, false, true},
    {"wmma_f64", F64, 8, 8, false, false, true, false},
    {"wmma_f64_col", F64, 8, 8, false, true, false, true},
};

enum { K = 64, TILES_M = 2, TILES_N = 3 };
static const size_t bytes_of[] = {2, 2, 4, 8, 1};

/* ---- numbers: random bits of the type, and what they are worth */

static double half_worth(uint32_t h) {
  int e = (int)(h >> 10 & 31);
  double v = e ? ldexp(1024 + (int)(h & 1023), e - 25) : ldexp(h & 1023, -24);
  return h & 0x8000 ? -v : v;
}

static double worth(enum type t, const unsigned char *at) {
  uint32_t bits = 0;
  float f;
  double d;
  if (t == F64) {
    memcpy(&d, at, 8);
    return d;
  }
  memcpy(&bits, at, bytes_of[t]);
  if (t == F16)
    return half_worth(bits);
  if (t == S8)
    return (int8_t)bits;
  bits = t == BF16 ? bits << 16 : bits;
  memcpy(&f, &bits, 4);
  return (double)f;
}

/* Magnitudes from 2^-6 to 2, all bits of the mantissa in use. */
static void fill(enum type t, unsigned char *p, size_t n, uint64_t *seed) {
  for (size_t i = 0; i < n; i++, p += bytes_of[t]) {
    uint64_t r = ptx_random(seed);
    uint32_t sign = (uint32_t)(r >> 63), e = (uint32_t)(r >> 40) % 7;
    uint32_t half = sign << 15 | (9 + e) << 10 | (uint32_t)(r & 1023);
    uint32_t brain = sign << 15 | (121 + e) << 7 | (uint32_t)(r & 127);
    uint32_t single = sign << 31 | (121 + e) << 23 | (uint32_t)(r & 0x7fe000);
    double wide = ldexp((double)(int64_t)r, -62);
    if (t == F16)
      memcpy(p, &half, 2);
    else if (t == BF16)
      memcpy(p, &brain, 2);
    else if (t == TF32)
      memcpy(p, &single, 4);
    else if (t == F64)
      memcpy(p, &wide, 8);
    else
      *p = (unsigned char)r;
  }
}

/* ---- one product */

struct product {
  const struct kernel *k;
  int M, N;
  unsigned char *A, *B, *C;
  size_t c_bytes;
};

static struct product product_new(const struct kernel *k, uint64_t *seed) {
  struct product p = {.k = k, .M = TILES_M * k->m, .N = TILES_N * k->n};
  size_t na = (size_t)p.M * K, nb = (size_t)p.N * K;
  p.A = alloc_zero(na, bytes_of[k->type]);
  p.B = alloc_zero(nb, bytes_of[k->type]);
  p.c_bytes = k->half_sums ? 2 : k->type == F64 ? 8 : 4;
  p.C = alloc_zero((size_t)(p.M * p.N), p.c_bytes);
  fill(k->type, p.A, na, seed);
  fill(k->type, p.B, nb, seed);
  return p;
}

static void product_done(struct product *p) {
  free(p->A);
  free(p->B);
  free(p->C);
}

static void run(const xray_module *m, const struct product *p, size_t a_bytes,
                struct xray_report *r) {
  size_t b_bytes = (size_t)p->N * K * bytes_of[p->k->type];
  struct xray_array arrays[3] = {{"A", p->A, a_bytes, true},
                                 {"B", p->B, b_bytes, true},
                                 {"C", p->C, (size_t)(p->M * p->N) * p->c_bytes, false}};
  struct xray_arg args[5] = {{.array = 0}, {.array = 1}, {.array = 2}};
  int ints[2] = {p->N, K};
  for (int i = 0; i < 2; i++) {
    args[3 + i] = (struct xray_arg){.array = -1, .bytes = 4};
    memcpy(args[3 + i].value, &ints[i], 4);
  }
  struct xray_launch l = {.entry = p->k->entry,
                          .grid = {TILES_N, TILES_M, 1},
                          .block = {32, 1, 1},
                          .arrays = arrays,
                          .narrays = 3,
                          .args = args,
                          .nargs = 5,
                          .checks = XRAY_CHECK_ALL};
  struct err err;
  if (!xray_run(m, &l, r, &err))
    fail_msg("%s: %s", p->k->entry, err.text);
}

static size_t a_bytes(const struct product *p) { return (size_t)p->M * K * bytes_of[p->k->type]; }

static double result(const struct product *p, int row, int column) {
  size_t at = p->k->c_column ? (size_t)(column * p->M + row) : (size_t)(row * p->N + column);
  const unsigned char *c = p->C + at * p->c_bytes;
  uint32_t bits = 0;
  memcpy(&bits, c, p->c_bytes < 4 ? 2 : 4);
  return p->k->half_sums     ? half_worth(bits)
         : p->k->type == F64 ? worth(F64, c)
         : p->k->type == S8  ? (double)(int32_t)bits
                             : worth(TF32, c);
}

static void check(const struct product *p) {
  enum type t = p->k->type;
  double unit = p->k->half_sums ? 0x1p-11 : t == F64 ? 0x1p-53 : 0x1p-24;
  for (int row = 0; row < p->M; row++)
    for (int column = 0; column < p->N; column++) {
      double sum = 0, squares = 0;
      for (int k = 0; k < K; k++) {
        int a = p->k->a_column ? k * p->M + row : row * K + k;
        int b = p->k->b_column ? column * K + k : k * p->N + column;
        double v =
            worth(t, p->A + (size_t)a * bytes_of[t]) * worth(t, p->B + (size_t)b * bytes_of[t]);
        sum += v;
        squares += v * v;
      }
      double bound = t == S8 ? 0 : 8 * sqrt(K) * sqrt(squares) * unit;
      if (!(fabs(result(p, row, column) - sum) <= bound))
        fail_msg("%s: C[%d][%d] is %.9g, not %.9g", p->k->entry, row, column,
                 result(p, row, column), sum);
    }
}

static void test_products(void **state) {
  (void)state;
  xray_module *m = xk_load("tensor.ptx");
  uint64_t seed = 1;
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    struct product p = product_new(&kernels[i], &seed);
    struct xray_report r;
    run(m, &p, a_bytes(&p), &r);
    if (r.nproblems || !r.finished)
      fail_msg("%s: %s (line %d)", p.k->entry, r.problems[0].detail, r.problems[0].line);
    check(&p);
    assert_true(r.counts.other_flop == 2.0 * p.M * p.N * K);
    xray_report_done(&r);
    product_done(&p);
  }
  xray_free(m);
}

/* ---- counts, for one block and one step of k where the table says so */

static void expect(const char *entry, const char *what, double is, double should) {
  if (is != should)
    fail_msg("%s, %s: %.0f, not %.0f", entry, what, is, should);
}

/* How ptxas lowers a wmma.load and wmma.store, and rows of 16 bytes against the banks: see
 * exec_matrix.h. A row of 32 bytes puts rows r and r + 4 on the same banks, one of 48 none. */
static void test_counts(void **state) {
  (void)state;
  static const struct {
    const char *entry;
    int k_step;
    double gld, gld_sectors; /* of a step */
    double gst, gst_sectors; /* of a block */
    double lds, wavefronts, conflicts;
  } of[] = {
      {"wmma_f16", 16, 8, 64, 4, 32, 0, 0, 0},      /* 4 + 4 words, 8 rows each; pairs of floats */
      {"wmma_f16_col", 16, 8, 64, 8, 32, 0, 0, 0},  /* the floats of a pair are in two columns */
      {"wmma_f16_sums", 16, 8, 64, 4, 32, 0, 0, 0}, /* words of two halves */
      {"wmma_f16_tall", 16, 10, 80, 4, 32, 0, 0, 0},
      {"wmma_f16_wide", 16, 10, 80, 8, 32, 0, 0, 0}, /* computed transposed */
      {"wmma_bf16", 16, 8, 64, 4, 32, 0, 0, 0},
      {"wmma_tf32", 8, 8, 64, 4, 32, 0, 0, 0},
      {"wmma_s8", 16, 4, 32, 4, 32, 0, 0, 0},
      {"wmma_s8_col", 16, 16, 64, 8, 32, 0, 0, 0}, /* single bytes: 4 values of k, 8 of m or n */
      {"wmma_f64", 4, 2, 16, 1, 16, 0, 0, 0},
      {"wmma_f64_col", 4, 2, 16, 2, 16, 0, 0, 0},
      {"wmma_f16_staged", 16, 12, 0, 4, 32, 1, 8, 4},
      {"wmma_bf16_staged", 16, 12, 0, 4, 32, 4, 8, 4}, /* generic: words, not ldmatrix */
      {"mma_f16", 16, 16, 0, 8, 0, 3, 16, 8},
      {"mma_bf16", 16, 16, 0, 8, 0, 3, 8, 0},
  };
  xray_module *m = xk_load("tensor.ptx");
  uint64_t seed = 2;
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    const struct kernel *k = kernels;
    while (strcmp(k->entry, of[i].entry))
      k++;
    struct product p = product_new(k, &seed);
    struct xray_report r;
    run(m, &p, a_bytes(&p), &r);
    double blocks = TILES_M * TILES_N, steps = blocks * K / of[i].k_step;
    const struct xray_counts *c = &r.counts;
    expect(k->entry, "load requests", c->gld_requests, steps * of[i].gld);
    if (of[i].gld_sectors > 0)
      expect(k->entry, "load sectors", c->gld_sectors, steps * of[i].gld_sectors);
    expect(k->entry, "store requests", c->gst_requests, blocks * of[i].gst);
    if (of[i].gst_sectors > 0)
      expect(k->entry, "store sectors", c->gst_sectors, blocks * of[i].gst_sectors);
    expect(k->entry, "shared loads", c->lds_requests, steps * of[i].lds);
    expect(k->entry, "wavefronts", c->lds_wavefronts, steps * of[i].wavefronts);
    expect(k->entry, "conflicts", c->lds_conflicts, steps * of[i].conflicts);
    xray_report_done(&r);
    product_done(&p);
  }
  xray_free(m);
}

/* ---- 8x8 matrices */

static void test_matrices(void **state) {
  (void)state;
  static const struct kernel k = {.entry = "matrices", .type = TF32, .m = 16, .n = 16};
  xray_module *m = xk_load("tensor.ptx");
  uint64_t seed = 3;
  struct product p = product_new(&k, &seed);
  struct xray_report r;
  run(m, &p, a_bytes(&p), &r);
  /* Every block writes the same; the race between blocks is this kernel's own. */
  const uint16_t *A = (const uint16_t *)(const void *)p.A;
  const uint16_t *C = (const uint16_t *)(const void *)p.C;
  for (int i = 0; i < 512; i++) {
    int matrix = i / 64 % 4, row = i / 8 % 8, column = i % 8;
    if (C[i] != A[matrix * 64 + column * 8 + row])
      fail_msg("half %d is %x, not %x", i, C[i], A[matrix * 64 + column * 8 + row]);
  }
  assert_true(r.counts.sts_requests == TILES_M * TILES_N * 5);
  xray_report_done(&r);
  product_done(&p);
  xray_free(m);
}

/* ---- what is wrong or cannot be run */

static const struct xray_problem *only_problem(const struct xray_report *r, enum xray_kind kind) {
  for (int i = 0; i < r->nproblems; i++)
    if (r->problems[i].kind == kind)
      return &r->problems[i];
  fail_msg("no %s among %d problems", xray_kind_name(kind), r->nproblems);
  return NULL;
}

static void test_problems(void **state) {
  (void)state;
  static const struct kernel part = {.entry = "half_a_warp", .type = F16, .m = 16, .n = 16};
  xray_module *m = xk_load("tensor.ptx");
  uint64_t seed = 4;
  struct product p = product_new(&part, &seed);
  struct xray_report r;
  run(m, &p, a_bytes(&p), &r);
  const struct xray_problem *found = only_problem(&r, XRAY_SHFL_MASK);
  assert_string_equal(found->file, "tensor.cu");
  assert_non_null(strstr(found->detail, "0x0000ffff"));
  xray_report_done(&r);
  p.k = &kernels[6];
  run(m, &p, 16 * K * 2, &r); /* the lower tiles have no A */
  found = only_problem(&r, XRAY_OOB_GLOBAL);
  assert_non_null(strstr(found->detail, "of A at byte"));
  xray_report_done(&r);
  product_done(&p);
  xray_free(m);
}

static void test_refused(void **state) {
  (void)state;
  static const struct {
    const char *body, *says;
  } of[] = {
      {"wgmma.fence.sync.aligned;", "wgmma works on 4 warps at once"},
      {"setmaxnreg.inc.sync.aligned.u32 40;", "setmaxnreg"},
      {"cp.async.bulk.commit_group;", "TMA"},
      {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%d1], [%d2], 16, [%d3];",
       "compute_80"},
      {"barrier.cluster.arrive;", "cluster"},
      {"mapa.u64 %d4, %d1, %r1;", "cluster"},
      {"mov.u32 %r4, %envreg2;", "Grid"},
      {"tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%d1, {%r1}];", "exture"},
      {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f2};", "matrix"},
  };
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    char text[600];
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
             ".reg .b32 %%r<5>; .reg .f32 %%f<5>; .reg .b64 %%d<5>;\n%s\nret;\n}\n",
             of[i].body);
    struct err err;
    xray_module *m = xray_load(text, strlen(text), &err);
    if (!m)
      fail_msg("%s: %s", of[i].body, err.text);
    struct xray_launch l = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    struct xray_report r;
    assert_true(xray_run(m, &l, &r, &err));
    const char *says = only_problem(&r, XRAY_UNSUPPORTED)->detail;
    if (!strstr(says, of[i].says) || !strstr(says, "PTX line 7"))
      fail_msg("%s: %s", of[i].body, says);
    xray_report_done(&r);
    xray_free(m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_products), cmocka_unit_test(test_counts),
      cmocka_unit_test(test_matrices), cmocka_unit_test(test_problems),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
