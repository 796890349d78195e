/* The parameters of a kernel as its source declares them: names, pointers and what they point to.
 */
#ifndef MM_BENCH_XRAY_PARAMS_H
#define MM_BENCH_XRAY_PARAMS_H

#include "kernels/kernel.h"

enum { XRAY_PARAMS_MAX = 32 };

enum xray_params_kind {
  XRAY_PARAMS_UNKNOWN,  /* a type of the file's own; also everything where there is no source */
  XRAY_PARAMS_INTEGER,  /* int, size_t, int64_t ... */
  XRAY_PARAMS_FLOATING, /* float, double, half, bfloat16 and vectors of them: see dtype */
};

struct xray_params_one {
  char text[120]; /* "const float *A"; "" where there is no source */
  char name[64];  /* "A"; "" where it has none */
  bool pointer, is_const, is_unsigned;
  enum xray_params_kind kind; /* of the value, or of what is pointed to */
  enum kernel_dtype dtype;    /* where kind is FLOATING */
};

struct xray_params {
  struct xray_params_one all[XRAY_PARAMS_MAX];
  int n; /* may be more than the array holds: such a kernel is refused */
  const char *source; /* with the types of the file's own; NULL where there is none */
};

/* Reads a parameter list as cuda_scan gives it ("const float *A, int n"); `template_params`
 * ("typename T, int BM", may be NULL) and the arguments in `entry` ("gemm<float, 64>") name the
 * types that are parameters of a template. Takes any text; cannot fail. */
void xray_params_read(struct xray_params *p, const char *params, const char *template_params,
                      const char *entry);

#endif
