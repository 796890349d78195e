#include "bench/verify.h"

#include "base/alloc.h"
#include "base/rand.h"
#include "bench/exact.h"
#include "bench/host.h"
#include "bench/pool.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALL_BELOW 2147483648.0 /* FMAs up to which every element is compared */
enum { BLOCK_ELEMENTS = 1 << 24, ROWS_MIN = 3, ROWS_MAX = 64, STRETCH = 4096, PART_MIN = 64 };

/* Standard deviations that count as rounding in the projection: by Hoeffding a right C exceeds
 * seven with a chance of 5e-11 a row, whatever its errors are, because the signs are random. */
#define SIGMAS 7.0

struct verify {
  struct exact exact;
  int64_t block; /* rows of one download */
  float *buffer;
  bool sampled;
  int64_t row[ROWS_MAX];
  int nrows;
  float *samples;       /* nrows x cols */
  float *sign;          /* cols of +1 and -1 */
  int64_t part;         /* columns of one projection; the last one of a row may have fewer */
  int64_t nparts;       /* of a row */
  double *want, *slack; /* rows x nparts: the projection of the right C, and its rounding */
};

void verify_shape(const struct device_job *job, int64_t *rows, int64_t *cols) {
  struct exact e;
  if (exact_init(&e, job, NULL)) {
    *rows = e.rows;
    *cols = e.cols;
  } else {
    double a, b, c;
    kernel_elements(job->kernel, &job->size, &a, &b, &c);
    *rows = 1;
    *cols = (int64_t)c;
  }
}

/* ---- what a right C projects to */

struct projection {
  const struct exact *e;
  const float *sign;
  int64_t part, nparts;
  double *x, *norm; /* of each part of a row of B: its projection and its length */
  double *want, *slack;
  double unit;
};

static void project_right(void *ctx, int64_t k, int worker) {
  struct projection *p = ctx;
  (void)worker;
  float v[STRETCH];
  for (int64_t i = 0; i < p->nparts; i++) {
    int64_t from = i * p->part, end = from + p->part < p->e->cols ? from + p->part : p->e->cols;
    double sum = 0, squares = 0;
    for (int64_t j0 = from; j0 < end; j0 += STRETCH) {
      int64_t n = end - j0 < STRETCH ? end - j0 : STRETCH;
      exact_fill(&p->e->right, k, j0, n, v);
      for (int64_t j = 0; j < n; j++) {
        sum += (double)v[j] * (double)p->sign[j0 + j];
        squares += (double)v[j] * (double)v[j];
      }
    }
    p->x[k * p->nparts + i] = sum;
    p->norm[k * p->nparts + i] = sqrt(squares);
  }
}

static void project_left(void *ctx, int64_t i, int worker) {
  struct projection *p = ctx;
  (void)worker;
  float v[STRETCH];
  double *want = p->want + i * p->nparts, *slack = p->slack + i * p->nparts;
  for (int64_t k0 = 0; k0 < p->e->inner; k0 += STRETCH) {
    int64_t n = p->e->inner - k0 < STRETCH ? p->e->inner - k0 : STRETCH;
    exact_fill(&p->e->left, i, k0, n, v);
    for (int64_t k = 0; k < n; k++) {
      const double *x = p->x + (k0 + k) * p->nparts, *norm = p->norm + (k0 + k) * p->nparts;
      for (int64_t part = 0; part < p->nparts; part++) {
        want[part] += (double)v[k] * x[part];
        slack[part] += SIGMAS * p->unit * fabs((double)v[k]) * norm[part];
      }
    }
  }
}

/* The rounding of one element, over its sum of |a||b|. Products of U(-1,1) numbers summed in fp32
 * with rounding to nearest err about 1 u whatever K is; 8 u leaves room and sees a single wrong
 * element where the bound, which grows with sqrt(K), would not. Tensor cores cut instead of
 * rounding, so that their errors add up: there it is the bound itself. */
static bool is_plain(const struct exact *e) {
  return e->left.dtype == DT_F32 && e->right.dtype == DT_F32 && e->u_out == 0;
}

static double rounding(const struct exact *e) { return is_plain(e) ? 8 * e->u_acc : e->bound; }

/* Where C itself is rounded, or the bound is the slack, a whole row's rounding would hide a wrong
 * element. A part of it hides less, and costs another product with A: as many as the budget has. */
static void choose_parts(verify *v) {
  const struct exact *e = &v->exact;
  double fit = ALL_BELOW / ((double)e->rows * (double)e->inner);
  int64_t most = (e->cols + PART_MIN - 1) / PART_MIN;
  int64_t n = is_plain(e) || fit < 1 ? 1 : fit > (double)most ? most : (int64_t)fit;
  v->part = (e->cols + n - 1) / n;
  v->nparts = (e->cols + v->part - 1) / v->part;
}

static void project(verify *v, uint64_t seed) {
  const struct exact *e = &v->exact;
  v->sign = alloc_zero((size_t)e->cols, sizeof *v->sign);
  rand_fill(~seed, 0, (size_t)e->cols, v->sign);
  for (int64_t j = 0; j < e->cols; j++)
    v->sign[j] = v->sign[j] < 0 ? -1 : 1;
  size_t left = (size_t)(e->rows * v->nparts), right = (size_t)(e->inner * v->nparts);
  v->want = alloc_zero(left, sizeof *v->want);
  v->slack = alloc_zero(left, sizeof *v->slack);
  struct projection p = {.e = e,
                         .sign = v->sign,
                         .part = v->part,
                         .nparts = v->nparts,
                         .want = v->want,
                         .slack = v->slack,
                         .unit = rounding(e)};
  p.x = alloc_zero(right, sizeof *p.x);
  p.norm = alloc_zero(right, sizeof *p.norm);
  pool_run(e->inner, project_right, &p);
  pool_run(e->rows, project_left, &p);
  free(p.x);
  free(p.norm);
}

/* ---- set-up */

static bool has_row(const verify *v, int64_t row) {
  for (int i = 0; i < v->nrows; i++)
    if (v->row[i] == row)
      return true;
  return false;
}

/* The first row, the last, and random ones while the budget lasts. */
static void choose_rows(verify *v, uint64_t seed) {
  const struct exact *e = &v->exact;
  double fit = ALL_BELOW / ((double)e->cols * (double)e->inner);
  int want = fit < ROWS_MIN ? ROWS_MIN : fit > ROWS_MAX ? ROWS_MAX : (int)fit;
  if (want > e->rows)
    want = (int)e->rows;
  struct rand r;
  rand_seed(&r, ~seed);
  v->row[v->nrows++] = 0;
  if (want > 1)
    v->row[v->nrows++] = e->rows - 1;
  while (v->nrows < want) {
    int64_t row = (int64_t)rand_below(&r, (uint64_t)e->rows);
    if (!has_row(v, row))
      v->row[v->nrows++] = row;
  }
}

static double memory_needed(const verify *v) {
  const struct exact *e = &v->exact;
  double bytes = 4.0 * (double)v->block * (double)e->cols;
  if (v->sampled)
    bytes += 4.0 * (double)(v->nrows + 1) * (double)e->cols +
             16.0 * (double)(e->rows + e->inner) * (double)v->nparts;
  return bytes;
}

verify *verify_new(const struct device_job *job, struct err *why) {
  struct exact e;
  if (!exact_init(&e, job, why))
    return NULL;
  verify *v = alloc_zero(1, sizeof *v);
  v->exact = e;
  v->block = BLOCK_ELEMENTS / e.cols;
  if (v->block < 1)
    v->block = 1;
  if (v->block > e.rows)
    v->block = e.rows;
  double work = (double)e.rows * (double)e.cols * (double)e.inner;
  v->sampled = e.form == EXACT_PRODUCT && work > ALL_BELOW;
  if (v->sampled) {
    choose_rows(v, job->seed);
    choose_parts(v);
  }
  double need = memory_needed(v), avail = host_memory_free();
  if (need > avail) {
    char a[32], b[32];
    err_set(why, "Checking C needs %s of host memory, %s are free; choose a smaller size.",
            host_gib(need, a), host_gib(avail, b));
    free(v);
    return NULL;
  }
  v->buffer = alloc_zero((size_t)v->block * (size_t)e.cols, sizeof *v->buffer);
  if (v->sampled) {
    v->samples = alloc_zero((size_t)v->nrows * (size_t)e.cols, sizeof *v->samples);
    project(v, job->seed);
  }
  return v;
}

void verify_free(verify *v) {
  if (!v)
    return;
  free(v->buffer);
  free(v->samples);
  free(v->sign);
  free(v->want);
  free(v->slack);
  free(v);
}

/* ---- checking */

static void name_element(const struct exact *e, int64_t at, char *out, size_t size) {
  if (e->cols == 1)
    snprintf(out, size, "C[%lld]", (long long)at);
  else
    snprintf(out, size, "C[%lld,%lld]", (long long)(at / e->cols), (long long)(at % e->cols));
}

static void note_element(const struct exact *e, int64_t at, double got, double want, char *note,
                         size_t size) {
  char name[64];
  name_element(e, at, name, sizeof name);
  if (isnan(got))
    snprintf(note, size, "%s is NaN", name);
  else if (!isfinite(got))
    snprintf(note, size, "%s is infinite", name);
  else
    snprintf(note, size, "%s is %.7g, should be %.7g", name, got, want);
}

/* One block in the sampled mode, a row an item. */
struct pass {
  const verify *v;
  int64_t row0;
  int64_t *bad;  /* for each row: the first column that is not finite, -1 none, -2 projection off */
  int64_t *part; /* of the projection that is off */
  double *off, *allowed;
};

static void pass_part(struct pass *p, int64_t i, int64_t part) {
  const verify *v = p->v;
  const struct exact *e = &v->exact;
  const float *c = v->buffer + i * e->cols;
  int64_t from = part * v->part, end = from + v->part < e->cols ? from + v->part : e->cols;
  int64_t at = (p->row0 + i) * v->nparts + part;
  double sum = 0, squares = 0;
  for (int64_t j = from; j < end; j++) {
    sum += (double)c[j] * (double)v->sign[j];
    squares += (double)c[j] * (double)c[j];
  }
  for (int64_t j = end - 1; j >= from && !isfinite(sum); j--)
    if (!isfinite(c[j]))
      p->bad[i] = j;
  if (p->bad[i] != -1)
    return;
  p->allowed[i] = v->slack[at] + SIGMAS * e->u_out * sqrt(squares);
  p->off[i] = fabs(sum - v->want[at]);
  p->part[i] = part;
  if (!(p->off[i] <= p->allowed[i]))
    p->bad[i] = -2;
}

static void pass_row(void *ctx, int64_t i, int worker) {
  struct pass *p = ctx;
  (void)worker;
  p->bad[i] = -1;
  for (int64_t part = 0; part < p->v->nparts && p->bad[i] == -1; part++)
    pass_part(p, i, part);
}

static void note_projection(const struct pass *p, int64_t i, char *note, size_t size) {
  const verify *v = p->v;
  int64_t from = p->part[i] * v->part, end = from + v->part;
  if (v->nparts == 1)
    snprintf(note, size,
             "row %lld of C is wrong: its random +-1 sum is off by %.3g, rounding is below %.3g",
             (long long)(p->row0 + i), p->off[i], p->allowed[i]);
  else
    snprintf(note, size,
             "row %lld of C is wrong in columns %lld to %lld: their random +-1 sum is off by %.3g, "
             "rounding is below %.3g",
             (long long)(p->row0 + i), (long long)from,
             (long long)(end < v->exact.cols ? end : v->exact.cols) - 1, p->off[i], p->allowed[i]);
}

static void check_block(const verify *v, int64_t row0, int64_t n, struct result_verify *out) {
  struct pass p = {.v = v, .row0 = row0};
  p.bad = alloc_zero((size_t)n, sizeof *p.bad);
  p.part = alloc_zero((size_t)n, sizeof *p.part);
  p.off = alloc_zero((size_t)n, sizeof *p.off);
  p.allowed = alloc_zero((size_t)n, sizeof *p.allowed);
  pool_run(n, pass_row, &p);
  for (int64_t i = 0; i < n && out->ok; i++) {
    if (p.bad[i] == -1)
      continue;
    out->ok = false;
    if (p.bad[i] >= 0)
      note_element(&v->exact, (row0 + i) * v->exact.cols + p.bad[i],
                   (double)v->buffer[i * v->exact.cols + p.bad[i]], 0, out->note, sizeof out->note);
    else
      note_projection(&p, i, out->note, sizeof out->note);
  }
  for (int s = 0; s < v->nrows; s++)
    if (v->row[s] >= row0 && v->row[s] < row0 + n)
      memcpy(v->samples + s * v->exact.cols, v->buffer + (v->row[s] - row0) * v->exact.cols,
             (size_t)v->exact.cols * sizeof *v->samples);
  free(p.bad);
  free(p.part);
  free(p.off);
  free(p.allowed);
}

static void compare_rows(const verify *v, const float *from, int64_t row0, const int64_t *list,
                         int64_t n, struct exact_report *rep) {
  int64_t *index = alloc_zero((size_t)n, sizeof *index);
  const float **c = alloc_zero((size_t)n, sizeof *c);
  for (int64_t i = 0; i < n; i++) {
    index[i] = list ? list[i] : row0 + i;
    c[i] = from + i * v->exact.cols;
  }
  exact_compare(&v->exact, index, (const float *const *)c, n, rep);
  free(index);
  free(c);
}

static void conclude(const verify *v, const struct exact_report *rep, struct result_verify *out) {
  out->max_error = rep->max_error;
  out->checked = rep->checked;
  if (rep->first >= 0) {
    out->ok = false;
    note_element(&v->exact, rep->first, rep->got, rep->want, out->note, sizeof out->note);
  }
}

bool verify_check(verify *v, const struct device_ops *ops, device *d, struct result_verify *out,
                  double *out_ms, struct device_fault *fault) {
  const struct exact *e = &v->exact;
  struct exact_report rep = {.first = -1};
  double total = 0;
  memset(out, 0, sizeof *out);
  out->ok = true;
  out->bound = e->bound;
  for (int64_t row0 = 0; row0 < e->rows; row0 += v->block) {
    int64_t n = e->rows - row0 < v->block ? e->rows - row0 : v->block;
    double ms = NAN;
    if (!ops->download(d, row0, n, v->buffer, &ms, fault))
      return false;
    total += ms;
    if (v->sampled)
      check_block(v, row0, n, out);
    else
      compare_rows(v, v->buffer, row0, NULL, n, &rep);
  }
  if (v->sampled)
    compare_rows(v, v->samples, 0, v->row, v->nrows, &rep);
  conclude(v, &rep, out);
  if (out_ms)
    *out_ms = total;
  return true;
}
