#include "bench/xray_verify.h"

#include "base/alloc.h"
#include "base/rand.h"
#include "bench/exact.h"
#include "bench/narrow.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Products in all, and numbers of the right matrix that are kept at once. */
enum { PRODUCTS = 1 << 27, KEPT = 1 << 24, ELEMENTS_MIN = 256 };

/* Both factors may be cut to the 10 stored bits of tf32. */
#define TF32_PRODUCT 0x1p-9

struct check {
  const struct xray_case *c;
  const struct xray_data *d;
  struct exact e;
  struct exact_matrix columns;            /* the right matrix transposed: a column of it is a row */
  const struct xray_matrix *left, *right; /* read from memory; NULL: from the stream */
  uint64_t c_stream;
  int64_t row; /* that is in `a` */
  float *a, *b, *kept;
  bool *have; /* which columns are in `kept` */
  struct result_verify *out;
  int64_t first; /* index of the first wrong element, -1 */
};

static struct exact_matrix turned(struct exact_matrix m) {
  struct exact_matrix t = m;
  t.rows = m.cols;
  t.cols = m.rows;
  t.by_columns = !m.by_columns;
  return t;
}

/* n numbers of row r, from the stream or from memory. */
static void take(const struct exact_matrix *m, const struct xray_matrix *memory, int64_t r,
                 int64_t n, float *out) {
  if (!memory || m->ones)
    exact_fill(m, r, 0, n, out);
  else if (!m->by_columns)
    xray_matrix_floats(memory, m->dtype, r * m->cols, n, out);
  else
    for (int64_t i = 0; i < n; i++)
      xray_matrix_floats(memory, m->dtype, i * m->rows + r, 1, out + i);
}

/* Column col of the right matrix, kept for the next row where there is room. */
static const float *column(struct check *k, int64_t col) {
  int64_t n = k->e.inner;
  float *to = k->kept ? k->kept + col * n : k->b;
  if (!k->kept || !k->have[col])
    take(&k->columns, k->right, col, n, to);
  if (k->kept)
    k->have[col] = true;
  return to;
}

static void dot(const float *a, const float *b, int64_t n, double *sum, double *size) {
  double s[4] = {0}, z[4] = {0};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int j = 0; j < 4; j++) {
      double p = (double)a[i + j] * (double)b[i + j];
      s[j] += p;
      z[j] += fabs(p);
    }
  for (; i < n; i++) {
    double p = (double)a[i] * (double)b[i];
    s[0] += p;
    z[0] += fabs(p);
  }
  *sum = s[0] + s[1] + s[2] + s[3];
  *size = z[0] + z[1] + z[2] + z[3];
}

/* For results that are fp64 themselves. */
static void dot_long(const float *a, const float *b, int64_t n, long double *sum, double *size) {
  long double s = 0, z = 0;
  for (int64_t i = 0; i < n; i++) {
    long double p = (long double)a[i] * b[i];
    s += p;
    z += fabsl(p);
  }
  *sum = s;
  *size = (double)z;
}

static double before(const struct check *k, int64_t at) {
  if (k->d->c.periodic)
    return NAN;
  float v = rand_at(k->c_stream, (uint64_t)at);
  if (k->c->shape.c == DT_F16 || k->c->shape.c == DT_BF16) {
    uint16_t h = narrow_from(v, k->c->shape.c);
    return narrow_load(&h, k->c->shape.c, 0);
  }
  return (double)v;
}

/* What element (r, c) should be, and the sum of the absolute values that it is made of. */
static long double want(struct check *k, int64_t r, int64_t c, double *size) {
  const struct exact *e = &k->e;
  long double v = e->constant;
  *size = fabs(e->constant);
  if (e->form == EXACT_CONSTANT)
    return v;
  if (k->row != r) {
    take(&e->left, k->left, r, e->left.cols, k->a);
    k->row = r;
  }
  if (e->form != EXACT_PRODUCT) {
    double a = (double)k->a[c], b = 0;
    if (e->form == EXACT_ADD) {
      float x;
      exact_fill(&e->right, r, c, 1, &x);
      if (k->right)
        xray_matrix_floats(k->right, e->right.dtype, r * e->right.cols + c, 1, &x);
      b = (double)x;
    }
    *size = fabs(a) + fabs(b);
    return (long double)a + b;
  }
  double sum;
  if (e->u_acc < 0x1p-40)
    dot_long(k->a, column(k, c), e->inner, &v, size);
  else {
    dot(k->a, column(k, c), e->inner, &sum, size);
    v = sum;
  }
  v *= k->c->alpha;
  *size *= fabs(k->c->alpha);
  if (k->c->beta == 0)
    return v;
  double old = k->c->beta * before(k, r * e->cols + c);
  *size += fabs(old);
  return v + old;
}

static void note(struct check *k, int64_t at, double got, double should) {
  char name[64];
  k->first = at;
  if (k->e.cols == 1)
    snprintf(name, sizeof name, "C[%lld]", (long long)at);
  else
    snprintf(name, sizeof name, "C[%lld,%lld]", (long long)(at / k->e.cols),
             (long long)(at % k->e.cols));
  char *out = k->out->note;
  size_t size = sizeof k->out->note;
  if (isnan(got))
    snprintf(out, size, "%s is NaN", name);
  else if (!isfinite(got))
    snprintf(out, size, "%s is infinite", name);
  else
    snprintf(out, size, "%s is %.7g, should be %.7g", name, got, should);
}

static void look(struct check *k, int64_t at) {
  double size, got = narrow_load(k->d->c.data, k->c->shape.c, at);
  long double should = want(k, at / k->e.cols, at % k->e.cols, &size);
  double off = (double)fabsl(got - should) - k->e.u_out * (double)fabsl(should);
  double error = off <= 0 ? 0 : off / size; /* a NaN stays one; size 0 gives infinity */
  if (isnan(error))
    error = INFINITY;
  k->out->checked++;
  if (error > k->out->max_error)
    k->out->max_error = error;
  if (!(error <= k->e.bound) && k->first < 0)
    note(k, at, got, (double)should);
}

/* True if the launch has left element `at` as it was. */
static bool untouched(const struct check *k, int64_t at) {
  size_t w = kernel_dtype_size(k->c->shape.c);
  const unsigned char *p = (const unsigned char *)k->d->c.data + (size_t)at * w;
  if (k->c->beta != 0)
    return narrow_load(k->d->c.data, k->c->shape.c, at) == before(k, at);
  unsigned char was = xray_data_zero_c(k->c) ? 0 : 0xff;
  for (size_t i = 0; i < w; i++)
    if (p[i] != was)
      return false;
  return true;
}

/* True if the n bytes at p all are `was`. */
static bool all_are(const unsigned char *p, size_t n, unsigned char was) {
  return p[0] == was && memcmp(p, p + 1, n - 1) == 0;
}

/* Indices of the elements that the launch has written, in an allocated list. Most of a sampled C is
 * as it was: passed over by pages. */
static int64_t *list_written(const struct check *k, int64_t n, int64_t *count) {
  const unsigned char *p = k->d->c.data;
  size_t w = kernel_dtype_size(k->c->shape.c);
  unsigned char was = xray_data_zero_c(k->c) ? 0 : 0xff;
  int64_t *list = NULL, cap = 0, piece = (int64_t)(4096 / w);
  *count = 0;
  for (int64_t i = 0; i < n; i += piece) {
    int64_t some = n - i < piece ? n - i : piece;
    if (k->c->beta == 0 && all_are(p + (size_t)i * w, (size_t)some * w, was))
      continue;
    for (int64_t j = i; j < i + some; j++) {
      if (untouched(k, j))
        continue;
      if (*count == cap) {
        cap = cap ? 2 * cap : piece;
        list = alloc_grow(list, (size_t)cap, sizeof *list);
      }
      list[(*count)++] = j;
    }
  }
  return list;
}

static void prepare(struct check *k) {
  int64_t inner = k->e.inner, cols = k->e.cols;
  k->columns = turned(k->e.right);
  k->row = k->first = -1;
  int64_t left = k->e.left.cols;
  k->a = alloc_zero((size_t)left, sizeof *k->a);
  if (k->e.form != EXACT_PRODUCT)
    return;
  k->b = alloc_zero((size_t)inner, sizeof *k->b);
  if ((double)inner * (double)cols > KEPT)
    return;
  k->kept = alloc_zero((size_t)(inner * cols), sizeof *k->kept);
  k->have = alloc_zero((size_t)cols, sizeof *k->have);
}

/* Where the operands are read from. A column-major C is computed as its transpose, with A and B
 * changed over. */
static void choose_memory(struct check *k) {
  bool swapped = k->c->shape.op == OP_GEMM && k->c->shape.c_col;
  const struct xray_matrix *a = k->d->a.periodic ? &k->d->a : NULL;
  const struct xray_matrix *b = k->d->b.periodic ? &k->d->b : NULL;
  k->left = swapped ? b : a;
  k->right = swapped ? a : b;
}

void xray_verify(const struct xray_case *c, const struct xray_data *d, uint64_t seed,
                 bool only_written, struct result_verify *out) {
  struct check k = {.c = c, .d = d, .c_stream = xray_data_c(seed), .out = out};
  const struct device_job job = {.kernel = &c->shape, .size = c->size, .seed = seed};
  *out = (struct result_verify){0};
  if (!exact_init(&k.e, &job, NULL) || !d->c.data)
    return;
  if (c->tf32)
    k.e.bound += TF32_PRODUCT;
  out->bound = k.e.bound;
  choose_memory(&k);
  prepare(&k);
  int64_t n = k.e.rows * k.e.cols, written = n;
  int64_t *list = only_written ? list_written(&k, n, &written) : NULL;
  int64_t most = (k.kept ? PRODUCTS : PRODUCTS / 8) / k.e.inner;
  most = most > ELEMENTS_MIN ? most : ELEMENTS_MIN;
  int64_t step = written <= most ? 1 : (written + most - 1) / most;
  if (step > 1 && k.e.cols > 1 && k.e.cols % step == 0)
    step++; /* each row another column: a step that divides the row would see few of them */
  for (int64_t i = 0; i < written; i += step)
    look(&k, list ? list[i] : i);
  out->ok = out->checked > 0 && k.first < 0;
  free(k.a);
  free(k.b);
  free(k.kept);
  free(k.have);
  free(list);
}
