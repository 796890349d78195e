#include "bench/xray_rung.h"

#include <math.h>
#include <stdio.h>

enum { PARAM_BYTES = 48 };

/* A kernel is taken to need so many warp instructions for each FMA, or value moved, of a warp. */
static const double WARP_INSTRUCTIONS_MOST = 1e8, WARP_INSTRUCTIONS_EACH = 8;

bool xray_rung_sampled(const struct kernel *k, const struct kernel_size *size) {
  double fmas = kernel_flop(k, size) / 2;
  double values = kernel_dram_min(k, size) / (double)kernel_dtype_size(k->a);
  return fmax(fmas, values) / 32 * WARP_INSTRUCTIONS_EACH > WARP_INSTRUCTIONS_MOST;
}

bool xray_rung_runs(const struct kernel *k, struct err *err) {
  return k->nmaps == 0 || err_set(err,
                                  "The x-ray does not run %.100s: it copies through tensor maps "
                                  "(TMA), which only a GPU has.",
                                  k->id);
}

int xray_rung_ask(client *c, const struct kernel *k, const struct kernel_size *size,
                  struct err *err) {
  char param[MM_PARAMS][PARAM_BYTES];
  if (!xray_rung_runs(k, err))
    return 0;
  struct xray_request q = {.kernel = k->id,
                           .source = k->builtin ? NULL : k->source,
                           .M = size->M,
                           .N = size->N,
                           .K = size->K,
                           .sample = xray_rung_sampled(k, size),
                           .seed = 1};
  for (int i = 0; i < k->nparams; i++) {
    snprintf(param[i], sizeof param[i], "%s=%.15g", k->params[i].name, size->param[i]);
    q.defines[q.ndefines++] = param[i];
  }
  return client_xray(c, &q, err);
}
