#include "bench/xray_data.h"

#include "base/units.h"
#include "bench/host.h"
#include "bench/wire.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

uint64_t xray_data_c(uint64_t seed) { return ~(2 * seed); }

static bool short_of(double bytes, double have, struct device_fault *fault) {
  char what[200], why[200] = "";
  char *need = units_format(bytes, "B", 3), *free_text = units_format(have, "B", 3);
  snprintf(what, sizeof what, "The matrices of these sizes take %s of memory.", need);
  if (isfinite(have))
    snprintf(why, sizeof why, "This machine has %s to spare.", free_text);
  wire_fault_set(fault, "out_of_memory", what, why,
                 "Choose smaller sizes, or look at a sample of the blocks with --sample.");
  free(need);
  free(free_text);
  return false;
}

/* Bytes of the workspace: the front matter's, else as many as C has. */
static double workspace(const struct xray_case *c, double elements_c) {
  double v;
  if (c->front && c->front->workspace &&
      expr_eval(c->front->workspace, xray_case_lookup, (void *)(uintptr_t)c, &v, NULL))
    return v;
  return elements_c * (double)kernel_dtype_size(c->shape.c);
}

bool xray_data_zero_c(const struct xray_case *c) {
  return c->beta == 0 && (c->takes_beta || (c->shape.op == OP_REDUCE && !c->several));
}

/* Memory that is not there is an answer here, and zeros cost nothing until they are touched. */
static bool make_workspace(struct xray_data *d, double bytes, struct device_fault *fault) {
  if (bytes >= 0 && bytes < 0x1p46)
    d->workspace = calloc((size_t)bytes + 16, 1);
  return d->workspace || short_of(bytes, NAN, fault);
}

static bool make_zeros(struct xray_matrix *x, enum kernel_dtype t, double n, struct err *err) {
  size_t bytes = (size_t)n * kernel_dtype_size(t);
  void *data = mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED)
    return err_set(err, "There is no memory for C. Choose a smaller size.");
  *x = (struct xray_matrix){.data = data, .bytes = bytes, .mapped = bytes + 1};
  return true;
}

static bool make_c(struct xray_data *d, const struct xray_case *c, double n, uint64_t seed,
                   bool lazy, struct err *err) {
  if (c->beta != 0)
    return xray_matrix_fill(&d->c, c->shape.c, (int64_t)n, xray_data_c(seed), lazy, err);
  if (xray_data_zero_c(c))
    return make_zeros(&d->c, c->shape.c, n, err);
  return xray_matrix_poison(&d->c, c->shape.c, (int64_t)n, lazy, err);
}

bool xray_data_make(struct xray_data *d, const struct xray_case *c, const struct xray_args *args,
                    uint64_t seed, bool lazy, struct device_fault *fault) {
  *d = (struct xray_data){0};
  double n[3], have = host_memory_free(), all = 0;
  struct err err;
  kernel_elements(&c->shape, &c->size, &n[0], &n[1], &n[2]);
  const enum kernel_dtype types[3] = {c->shape.a, c->shape.b, c->shape.c};
  for (int i = 0; i < 3; i++)
    all += args->uses[i] ? n[i] * (double)kernel_dtype_size(types[i]) : 0;
  if (!(all < 0x1p46) || (!lazy && all > have))
    return short_of(all, have, fault);
  bool ok = !args->uses[XRAY_ARGS_A] ||
            xray_matrix_fill(&d->a, types[0], (int64_t)n[0], 2 * seed, lazy, &err);
  ok = ok && (!args->uses[XRAY_ARGS_B] ||
              xray_matrix_fill(&d->b, types[1], (int64_t)n[1], 2 * seed + 1, lazy, &err));
  ok = ok && (!args->uses[XRAY_ARGS_C] || make_c(d, c, n[2], seed, lazy, &err));
  if (!ok) {
    wire_fault_set(fault, "out_of_memory", err.text, "", "");
    return false;
  }
  double w = args->uses[XRAY_ARGS_W] ? workspace(c, n[2]) : 0;
  if (args->uses[XRAY_ARGS_W] && !make_workspace(d, w, fault))
    return false;
  const struct xray_matrix *const of[3] = {&d->a, &d->b, &d->c};
  for (int i = 0; i < XRAY_ARGS_ARRAYS; i++)
    d->arrays[i].name = xray_args_names[i];
  for (int i = 0; i < 3; i++) {
    d->arrays[i].data = of[i]->data;
    d->arrays[i].bytes = of[i]->bytes;
    d->arrays[i].written = i < 2 || c->beta != 0 || xray_data_zero_c(c);
  }
  d->arrays[XRAY_ARGS_W].data = d->workspace;
  d->arrays[XRAY_ARGS_W].bytes = (size_t)w;
  d->arrays[XRAY_ARGS_W].written = true;
  return true;
}

void xray_data_done(struct xray_data *d) {
  xray_matrix_done(&d->a);
  xray_matrix_done(&d->b);
  xray_matrix_done(&d->c);
  free(d->workspace);
  *d = (struct xray_data){0};
}
