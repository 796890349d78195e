/* A CBLAS found on this machine at run time: the reference of the CPU rungs. */
#ifndef MM_BENCH_REF_CBLAS_H
#define MM_BENCH_REF_CBLAS_H

#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>

/* Looks for one (OpenBLAS, BLIS, MKL), loads it once and checks a small product against fp64. False
 * with a sentence: none is installed, or the one found computes wrongly. The affinity mask is put
 * back, since some builds change it on load. */
bool ref_cblas_load(struct err *why);

/* "OpenBLAS", and "0.3.21 SkylakeX, 1 thread"; valid after a successful load. */
void ref_cblas_name(char name[64], char version[64]);

/* The threads that it may use from now on. */
void ref_cblas_threads(int n);

/* Row-major C = A B, and y = A x, with alpha 1 and beta 0. Sizes up to 2^31 - 1. */
void ref_cblas_gemm(int64_t M, int64_t N, int64_t K, const float *A, const float *B, float *C);
void ref_cblas_gemv(int64_t M, int64_t K, const float *A, const float *x, float *y);

#endif
