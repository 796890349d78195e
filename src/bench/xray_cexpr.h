/* Integer arithmetic of host code as it stands in a learner's file: what `dim3 grid((N + 31) / 32)`
 * comes to. Only what can be read off the file: constants, macros, dim3 variables, functions of one
 * return. */
#ifndef MM_BENCH_XRAY_CEXPR_H
#define MM_BENCH_XRAY_CEXPR_H

#include "base/expr.h"
#include "kernels/cuda_mask.h"
#include <stdint.h>

struct xray_cexpr {
  const char *source; /* the whole file */
  const struct cuda_mask *mask;
  size_t at;         /* where the text to be evaluated stands */
  expr_lookup known; /* sizes and defines, asked before the file; may be NULL */
  void *ctx;
  const char *template_params, *entry; /* "int BM" and "tiled<32>"; may be NULL */
};

/* The three numbers of a grid or block: "dim3(N / 32, N / 32)", "grid", "256". Missing ones are 1.
 * False where it cannot be evaluated. Takes any text. */
bool xray_cexpr_dim3(const struct xray_cexpr *c, const char *text, int64_t out[3]);

/* One number; false where it cannot be evaluated. */
bool xray_cexpr_value(const struct xray_cexpr *c, const char *text, double *out);

#endif
