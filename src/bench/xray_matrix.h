/* Matrices in host memory for the PTX machine. A large one that only a sample of the blocks will
 * touch costs next to nothing: its pages are a short pattern mapped again and again. */
#ifndef MM_BENCH_XRAY_MATRIX_H
#define MM_BENCH_XRAY_MATRIX_H

#include "base/err.h"
#include "kernels/kernel.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xray_matrix { /* starts as {0}, which is also what xray_matrix_done leaves */
  void *data;        /* elements as they lie in memory, at the start of a page */
  size_t bytes;      /* of the elements */
  size_t mapped;
  bool periodic; /* the elements repeat: a result made of them cannot be held against the truth */
};

/* What is asked now and then while a matrix is filled: true ends it. NULL: nothing. One for the
 * process. */
void xray_matrix_stopped(bool (*stopped)(void));

/* Makes a matrix of n elements: value i is rand_at(stream, i) rounded to the type, as exact_fill
 * has it. lazy: only a sample will be read, so that a matrix of more than a few MiB may repeat a
 * pseudo-random pattern. False with a sentence if memory is short or it was
 * stopped; then *x is {0}. */
bool xray_matrix_fill(struct xray_matrix *x, enum kernel_dtype t, int64_t n, uint64_t stream,
                      bool lazy, struct err *err);

/* The same with every element a NaN (all bits set): what a result is before it is written. */
bool xray_matrix_poison(struct xray_matrix *x, enum kernel_dtype t, int64_t n, bool lazy,
                        struct err *err);

/* out[i] = element i0 + i of type t, i in 0 .. n-1. */
void xray_matrix_floats(const struct xray_matrix *x, enum kernel_dtype t, int64_t i0, int64_t n,
                        float *out);

void xray_matrix_done(struct xray_matrix *x);

#endif
