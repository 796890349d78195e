/* The matrices of an x-ray: A and B at random, C poisoned, in host memory. */
#ifndef MM_BENCH_XRAY_DATA_H
#define MM_BENCH_XRAY_DATA_H

#include "bench/xray_args.h"
#include "bench/xray_matrix.h"

struct xray_data {
  struct xray_matrix a, b, c;
  void *workspace;                            /* W */
  struct xray_array arrays[XRAY_ARGS_ARRAYS]; /* by role; those not used have no bytes */
};

/* Makes what the arguments use: A is stream 2*seed, B 2*seed+1. C is NaN; but random (stream
 * xray_data_c) where beta is not 0, and 0 where kernels read it all the same: for a reduction of
 * one launch, and where beta = 0 is an argument. `lazy` as in xray_matrix.h. False with a
 * fault if the memory is not there. Free with xray_data_done in either case. */
bool xray_data_make(struct xray_data *d, const struct xray_case *c, const struct xray_args *args,
                    uint64_t seed, bool lazy, struct device_fault *fault);
void xray_data_done(struct xray_data *d);

/* True if C began as zeros. */
bool xray_data_zero_c(const struct xray_case *c);

/* The stream of C's first values where beta is not 0. */
uint64_t xray_data_c(uint64_t seed);

#endif
