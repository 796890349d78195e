/* A built-in CUDA kernel on the PTX machine: its matrices, its launches and the truth, all from the
 * front matter and the seed. For tests of the layer bench and above. */
#ifndef MM_TESTS_XRAY_RUNG_H
#define MM_TESTS_XRAY_RUNG_H

#include "base/alloc.h"
#include "bench/exact.h"
#include "bench/xray_matrix.h"
#include "sim/xray/xray.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { XRAY_RUNG_SEED = 3, XRAY_RUNG_ARGS = 16 };

struct xray_rung {
  struct device_job job;
  struct xray_matrix at[4]; /* A, B, C, workspace */
};

/* False with a sentence where the kernel refuses the sizes. Free with xray_rung_done. */
static inline bool xray_rung_new(struct xray_rung *r, const struct kernel *k,
                                 const struct kernel_size *size, struct err *err) {
  *r = (struct xray_rung){.job = {.kernel = k, .size = *size, .seed = XRAY_RUNG_SEED}};
  double n[3], work = 0;
  if (!kernel_accepts(k, size, err))
    return false;
  kernel_elements(k, size, &n[0], &n[1], &n[2]);
  struct kernel_scope scope = {k, size, (double)NAN, (double)NAN};
  if (k->workspace && !expr_eval(k->workspace, kernel_lookup, &scope, &work, err))
    return false;
  return xray_matrix_fill(&r->at[0], k->a, (int64_t)n[0], 2 * XRAY_RUNG_SEED, false, err) &&
         xray_matrix_fill(&r->at[1], k->b, (int64_t)n[1], 2 * XRAY_RUNG_SEED + 1, false, err) &&
         xray_matrix_poison(&r->at[2], k->c, (int64_t)n[2], false, err) &&
         xray_matrix_poison(&r->at[3], DT_F32, (int64_t)ceil(work / 4), false, err);
}

static inline void xray_rung_done(struct xray_rung *r) {
  for (int i = 0; i < 4; i++)
    xray_matrix_done(&r->at[i]);
}

/* A name or an expression of the front matter becomes the bytes of a parameter. */
static inline bool xray_rung_arg(const struct xray_rung *r, const char *text, int64_t bytes,
                                 struct xray_arg *arg, struct err *err) {
  static const char *const matrices[] = {"A", "B", "C", "W"};
  const struct kernel *k = r->job.kernel;
  const struct kernel_size *s = &r->job.size;
  *arg = (struct xray_arg){.array = -1, .bytes = (int)bytes};
  for (int i = 0; i < 4; i++)
    if (!strcmp(text, matrices[i])) {
      arg->array = i;
      return true;
    }
  struct kernel_scope scope = {k, s, (double)NAN, (double)NAN};
  bool alpha = !strcmp(text, "alpha");
  double v = alpha;
  if (!strcmp(text, "lda"))
    v = (double)(k->a_col ? s->M : k->op == OP_GEMM || k->op == OP_GEMV ? s->K : s->N);
  else if (!strcmp(text, "ldb"))
    v = (double)(k->b_col ? s->K : s->N);
  else if (!strcmp(text, "ldc"))
    v = (double)(k->c_col || k->op == OP_TRANSPOSE ? s->M : s->N);
  else if (!alpha && strcmp(text, "beta") != 0 && !expr_eval(text, kernel_lookup, &scope, &v, err))
    return false;
  float real = (float)v;
  int64_t whole = (int64_t)v;
  if (alpha || !strcmp(text, "beta") || strchr(text, '.'))
    memcpy(arg->value, &real, sizeof real);
  else
    memcpy(arg->value, &whole, sizeof whole); /* little-endian: an int takes the lower half */
  return true;
}

/* Runs launch i of the kernel from this module; of a later one, C and W count as written. `l`
 * brings checks, budget and the like. False with a sentence where nothing ran; else *out is to be
 * freed. */
static inline bool xray_rung_run(struct xray_rung *r, const xray_module *m, int i,
                                 struct xray_launch *l, struct xray_report *out, struct err *err) {
  const struct kernel_launch *from = &r->job.kernel->launches[i];
  struct kernel_geometry g;
  struct xray_arg args[XRAY_RUNG_ARGS];
  struct xray_array arrays[4];
  static const char *const names[] = {"A", "B", "C", "W"};
  if (!kernel_geometry(r->job.kernel, i, &r->job.size, &g, err))
    return false;
  for (int a = 0; a < 4; a++)
    arrays[a] = (struct xray_array){names[a], r->at[a].data, r->at[a].bytes, a < 2 || i > 0};
  for (int a = 0; a < from->nargs && a < XRAY_RUNG_ARGS; a++) {
    struct xray_param p = {0};
    if (!xray_param(m, from->entry, a, &p))
      return err_set(err, "%s has no parameter %d.", from->entry, a);
    if (!xray_rung_arg(r, from->args[a], p.bytes, &args[a], err))
      return false;
  }
  memcpy(l->grid, g.grid, sizeof l->grid);
  memcpy(l->block, g.block, sizeof l->block);
  l->shared_bytes = g.smem;
  l->entry = from->entry;
  l->arrays = arrays;
  l->narrays = 4;
  l->args = args;
  l->nargs = from->nargs;
  return xray_run(m, l, out, err);
}

/* True if C is the truth within the bound of the contract; else the first wrong element in err. */
static inline bool xray_rung_right(const struct xray_rung *r, struct err *err) {
  struct exact e;
  struct exact_report rep = {.first = -1};
  if (!exact_init(&e, &r->job, err))
    return false;
  int64_t n = e.rows * e.cols;
  float *c = alloc_zero((size_t)n, sizeof *c);
  const float **row = alloc_zero((size_t)e.rows, sizeof *row);
  int64_t *index = alloc_zero((size_t)e.rows, sizeof *index);
  xray_matrix_floats(&r->at[2], r->job.kernel->c, 0, n, c);
  for (int64_t i = 0; i < e.rows; i++)
    row[i] = c + i * e.cols, index[i] = i;
  exact_compare(&e, index, row, e.rows, &rep);
  free(index);
  free(row);
  free(c);
  if (rep.first >= 0)
    return err_set(err, "C[%lld] is %.9g, not %.9g.", (long long)rep.first, rep.got, rep.want);
  return rep.checked == (double)n || err_set(err, "Not all of C was looked at.");
}

#endif
