#include "bench/exact.h"

#include "base/alloc.h"
#include "base/rand.h"
#include "bench/pool.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  TILE_ROWS = 64,
  TILE_COLS = 256,
  TILE_K = 128,
  MICRO_ROWS = 4,
  MICRO_COLS = 8,
  STRETCH = 16384 /* elements of one item of an elementwise op */
};

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define EVERY_ISA __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define EVERY_ISA
#endif

typedef double vec __attribute__((vector_size(8 * MICRO_COLS)));
typedef int64_t bits __attribute__((vector_size(8 * MICRO_COLS)));

/* ---- the truth of each op */

static double unit_roundoff(enum kernel_dtype t) {
  switch (t) {
  case DT_BF16:
    return 0x1p-8;
  case DT_F16:
    return 0x1p-11;
  case DT_F64:
    return 0x1p-53;
  default:
    return 0x1p-24;
  }
}

static struct exact_matrix matrix(uint64_t stream, int64_t rows, int64_t cols, bool by_columns,
                                  enum kernel_dtype dtype) {
  return (struct exact_matrix){stream, rows, cols, by_columns, false, dtype};
}

static struct exact_matrix transposed(struct exact_matrix m) {
  int64_t rows = m.rows;
  m.rows = m.cols;
  m.cols = rows;
  m.by_columns = !m.by_columns;
  return m;
}

static void product(struct exact *e, struct exact_matrix a, struct exact_matrix b, bool c_col) {
  e->form = EXACT_PRODUCT;
  /* A column-major C is a row-major C^T = B^T A^T. */
  e->left = c_col ? transposed(b) : a;
  e->right = c_col ? transposed(a) : b;
}

bool exact_init(struct exact *e, const struct device_job *job, struct err *why) {
  const struct kernel *k = job->kernel;
  int64_t M = job->size.M, N = job->size.N, K = job->size.K;
  uint64_t sa = 2 * job->seed, sb = sa + 1;
  memset(e, 0, sizeof *e);
  e->form = EXACT_EQUAL;
  e->left = matrix(sa, M, N, false, k->a);
  e->right = matrix(sb, M, N, false, k->b);
  switch (k->op) {
  case OP_GEMM:
    product(e, matrix(sa, M, K, k->a_col, k->a), matrix(sb, K, N, k->b_col, k->b), k->c_col);
    break;
  case OP_GEMV:
    product(e, matrix(sa, M, K, k->a_col, k->a), matrix(sb, K, 1, false, k->b), false);
    break;
  case OP_REDUCE:
    product(e, matrix(sa, 1, M * N, false, k->a), matrix(sb, M * N, 1, false, k->b), false);
    e->right.ones = true;
    break;
  case OP_ADD:
    e->form = EXACT_ADD;
    break;
  case OP_COPY:
    break;
  case OP_FMA: /* 1 + 2 + ... over the chains of the probe's rungs (cuda/fma.cu, cpu/fma.c) */
    e->form = EXACT_CONSTANT;
    e->constant = k->target == KERNEL_CUDA ? 36 : 1248;
    e->left = matrix(sa, M, 1, false, k->c);
    break;
  case OP_TRANSPOSE:
    e->left = transposed(e->left);
    break;
  default:
    return err_set(why, "A kernel of the kind %s has no result that could be checked.",
                   kernel_op_name(k->op));
  }
  e->rows = e->left.rows;
  e->cols = e->form == EXACT_PRODUCT ? e->right.cols : e->left.cols;
  e->inner = e->form == EXACT_PRODUCT ? e->left.cols : 1;
  e->u_acc = unit_roundoff(k->acc);
  e->u_out = k->c == k->acc ? 0 : unit_roundoff(k->c);
  bool equal = e->form == EXACT_EQUAL || e->form == EXACT_CONSTANT;
  e->bound = equal ? 0 : 8 * sqrt((double)e->inner) * e->u_acc;
  return true;
}

/* ---- elements */

/* x to the nearest value with `digits` significand bits, ties to even; smallest exponent emin. */
static float rounded(float x, int digits, int emin) {
  int e;
  frexpf(x, &e);
  float quantum = ldexpf(1, (e - 1 < emin ? emin : e - 1) - digits + 1);
  return rintf(x / quantum) * quantum;
}

void exact_fill(const struct exact_matrix *m, int64_t r, int64_t c0, int64_t n, float *out) {
  if (m->ones) {
    for (int64_t i = 0; i < n; i++)
      out[i] = 1;
    return;
  }
  if (!m->by_columns) {
    rand_fill(m->stream, (uint64_t)(r * m->cols + c0), (size_t)n, out);
  } else {
    for (int64_t i = 0; i < n; i++)
      out[i] = rand_at(m->stream, (uint64_t)((c0 + i) * m->rows + r));
  }
  for (int64_t i = 0; m->dtype == DT_BF16 && i < n; i++)
    out[i] = rounded(out[i], 8, -126);
  for (int64_t i = 0; m->dtype == DT_F16 && i < n; i++)
    out[i] = rounded(out[i], 11, -14);
}

/* ---- comparing */

struct scratch {
  double a[TILE_ROWS / MICRO_ROWS][TILE_K][MICRO_ROWS];
  double b[TILE_COLS / MICRO_COLS][TILE_K][MICRO_COLS] __attribute__((aligned(64)));
  double sum[TILE_ROWS][TILE_COLS] __attribute__((aligned(64)));
  double size[TILE_ROWS][TILE_COLS] __attribute__((aligned(64))); /* sum of |a||b| */
  float row[STRETCH], row2[STRETCH];
  struct exact_report report;
};

struct compare {
  const struct exact *e;
  const int64_t *index;
  const float *const *c;
  int64_t n, pieces; /* rows; pieces of the columns */
  struct scratch *scratch;
};

static void look(struct exact_report *rep, const struct exact *e, int64_t at, double got,
                 double want, double size) {
  double d = fabs(got - want) - e->u_out * fabs(want);
  double error = d <= 0 ? 0 : d / size; /* a NaN stays one; size 0 gives infinity */
  if (!(error <= e->bound)) {
    if (rep->first < 0 || at < rep->first) {
      rep->first = at;
      rep->got = got;
      rep->want = want;
    }
    if (isnan(error))
      error = INFINITY;
  }
  if (error > rep->max_error)
    rep->max_error = error;
}

/* sum and size of a 4 x 8 piece over n values of k. */
EVERY_ISA static void micro(const double (*a)[MICRO_ROWS], const double (*b)[MICRO_COLS], int n,
                            double (*sum)[TILE_COLS], double (*size)[TILE_COLS], int col) {
  vec c0 = {0}, c1 = {0}, c2 = {0}, c3 = {0}, s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
  for (int k = 0; k < n; k++) {
    vec y, z;
    memcpy(&y, b[k], sizeof y);
    z = (vec)((bits)y & INT64_MAX); /* |y| */
    c0 += a[k][0] * y;
    s0 += fabs(a[k][0]) * z;
    c1 += a[k][1] * y;
    s1 += fabs(a[k][1]) * z;
    c2 += a[k][2] * y;
    s2 += fabs(a[k][2]) * z;
    c3 += a[k][3] * y;
    s3 += fabs(a[k][3]) * z;
  }
  const vec c[MICRO_ROWS] = {c0, c1, c2, c3}, s[MICRO_ROWS] = {s0, s1, s2, s3};
  for (int r = 0; r < MICRO_ROWS; r++) {
    double x[MICRO_COLS], y[MICRO_COLS];
    memcpy(x, &c[r], sizeof x);
    memcpy(y, &s[r], sizeof y);
    for (int j = 0; j < MICRO_COLS; j++) {
      sum[r][col + j] += x[j];
      size[r][col + j] += y[j];
    }
  }
}

static void load_left(const struct compare *cmp, struct scratch *w, int64_t row0, int rows,
                      int64_t k0, int nk) {
  memset(w->a, 0, sizeof w->a);
  for (int r = 0; r < rows; r++) {
    exact_fill(&cmp->e->left, cmp->index[row0 + r], k0, nk, w->row);
    for (int k = 0; k < nk; k++)
      w->a[r / MICRO_ROWS][k][r % MICRO_ROWS] = (double)w->row[k];
  }
}

static void load_right(const struct compare *cmp, struct scratch *w, int64_t col0, int cols,
                       int64_t k0, int nk) {
  if (cols % MICRO_COLS)
    memset(w->b[cols / MICRO_COLS], 0, sizeof w->b[0]);
  for (int k = 0; k < nk; k++) {
    exact_fill(&cmp->e->right, k0 + k, col0, cols, w->row);
    for (int j = 0; j < cols; j++)
      w->b[j / MICRO_COLS][k][j % MICRO_COLS] = (double)w->row[j];
  }
}

static void compare_product(void *ctx, int64_t item, int worker) {
  const struct compare *cmp = ctx;
  const struct exact *e = cmp->e;
  struct scratch *w = &cmp->scratch[worker];
  int64_t row0 = item / cmp->pieces * TILE_ROWS, col0 = item % cmp->pieces * TILE_COLS;
  int rows = (int)(cmp->n - row0 < TILE_ROWS ? cmp->n - row0 : TILE_ROWS);
  int cols = (int)(e->cols - col0 < TILE_COLS ? e->cols - col0 : TILE_COLS);
  memset(w->sum, 0, sizeof w->sum);
  memset(w->size, 0, sizeof w->size);
  for (int64_t k0 = 0; k0 < e->inner; k0 += TILE_K) {
    int nk = (int)(e->inner - k0 < TILE_K ? e->inner - k0 : TILE_K);
    load_left(cmp, w, row0, rows, k0, nk);
    load_right(cmp, w, col0, cols, k0, nk);
    for (int j = 0; j < cols; j += MICRO_COLS)
      for (int r = 0; r < rows; r += MICRO_ROWS)
        micro((const double(*)[MICRO_ROWS])w->a[r / MICRO_ROWS],
              (const double(*)[MICRO_COLS])w->b[j / MICRO_COLS], nk, &w->sum[r], &w->size[r], j);
  }
  for (int r = 0; r < rows; r++)
    for (int j = 0; j < cols; j++)
      look(&w->report, e, cmp->index[row0 + r] * e->cols + col0 + j,
           (double)cmp->c[row0 + r][col0 + j], w->sum[r][j], w->size[r][j]);
}

static void compare_elements(void *ctx, int64_t item, int worker) {
  const struct compare *cmp = ctx;
  const struct exact *e = cmp->e;
  struct scratch *w = &cmp->scratch[worker];
  int64_t i = item / cmp->pieces, row = cmp->index[i], col0 = item % cmp->pieces * STRETCH;
  int64_t n = e->cols - col0 < STRETCH ? e->cols - col0 : STRETCH;
  exact_fill(&e->left, row, col0, n, w->row);
  if (e->form == EXACT_ADD)
    exact_fill(&e->right, row, col0, n, w->row2);
  for (int64_t j = 0; j < n; j++) {
    double a = e->form == EXACT_CONSTANT ? e->constant : (double)w->row[j];
    double b = e->form == EXACT_ADD ? (double)w->row2[j] : 0, got = (double)cmp->c[i][col0 + j];
    if (!(got - (a + b) == 0)) /* most are equal, and arrays for bandwidth are large */
      look(&w->report, e, row * e->cols + col0 + j, got, a + b, fabs(a) + fabs(b));
  }
}

static void merge(struct exact_report *to, const struct exact_report *from) {
  to->max_error = fmax(to->max_error, from->max_error);
  if (from->first >= 0 && (to->first < 0 || from->first < to->first)) {
    to->first = from->first;
    to->got = from->got;
    to->want = from->want;
  }
}

void exact_compare(const struct exact *e, const int64_t *index, const float *const *c, int64_t n,
                   struct exact_report *report) {
  int width = pool_width();
  struct scratch *memory = alloc_zero((size_t)width + 1, sizeof *memory); /* one more to align */
  struct scratch *scratch = (struct scratch *)(((uintptr_t)memory + 63) & ~(uintptr_t)63);
  for (int i = 0; i < width; i++)
    scratch[i].report.first = -1;
  bool product_form = e->form == EXACT_PRODUCT;
  int64_t piece = product_form ? TILE_COLS : STRETCH;
  struct compare cmp = {e, index, c, n, (e->cols + piece - 1) / piece, scratch};
  int64_t groups = product_form ? (n + TILE_ROWS - 1) / TILE_ROWS : n;
  pool_run(groups * cmp.pieces, product_form ? compare_product : compare_elements, &cmp);
  for (int i = 0; i < width; i++)
    merge(report, &scratch[i].report);
  free(memory);
  report->checked += (double)n * (double)e->cols;
}
