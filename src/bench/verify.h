/* Checks C of a device against fp64: every element of a small job, and of a large one sampled rows,
 * a random projection of all of it (Freivalds) and that every element is finite. */
#ifndef MM_BENCH_VERIFY_H
#define MM_BENCH_VERIFY_H

#include "bench/result.h"

typedef struct verify verify;

/* The check of one job. NULL with a sentence where the op has no reference or the host memory for
 * it is not there. Free with verify_free. */
verify *verify_new(const struct device_job *job, struct err *why);
void verify_free(verify *v);

/* C as it lies in memory: so many rows of so many elements. gemv: M rows of 1; transpose: N rows of
 * M; reduce: 1 of 1; fma: M of 1; a column-major C: N rows of M; else M rows of N. */
void verify_shape(const struct device_job *job, int64_t *rows, int64_t *cols);

/* Downloads C in blocks of rows and checks it. False with a fault only if a download fails; a wrong
 * C is out->ok = false with out->note. *out_ms (may be NULL) gets the time of the downloads. */
bool verify_check(verify *v, const struct device_ops *ops, device *d, struct result_verify *out,
                  double *out_ms, struct device_fault *fault);

#endif
