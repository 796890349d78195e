/* The fields of a structure that is a kernel's parameter, as its source declares them. */
#ifndef MM_BENCH_XRAY_STRUCT_H
#define MM_BENCH_XRAY_STRUCT_H

#include "bench/xray_params.h"
#include <stdint.h>

struct xray_struct {
  struct xray_params fields;
  int64_t at[XRAY_PARAMS_MAX], bytes[XRAY_PARAMS_MAX];
};

/* Finds the structure that `param` ("const Matrix A") names in `source` and lays its fields out as
 * C does. False where it is not there, has more than plain numbers and pointers, or is not of
 * `bytes` bytes then. */
bool xray_struct_find(struct xray_struct *s, const char *source, const char *param, int64_t bytes);

#endif
