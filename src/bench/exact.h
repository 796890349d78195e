/* The right answer of a job in fp64, made from the seed alone, and how far an answer is from it. */
#ifndef MM_BENCH_EXACT_H
#define MM_BENCH_EXACT_H

#include "bench/device.h"

/* How an element of C comes about. */
enum exact_form {
  EXACT_PRODUCT, /* sums of `inner` products */
  EXACT_ADD,     /* A + B, one rounding */
  EXACT_EQUAL,   /* an element of A */
  EXACT_CONSTANT /* the same number everywhere: what the FMA probe leaves with alpha 1, beta 0 */
};

/* A matrix that exists only as a stream of rand_at: element (r, c) is value r*cols + c, or c*rows +
 * r where it is stored by columns; `ones` is a matrix of 1. */
struct exact_matrix {
  uint64_t stream;
  int64_t rows, cols;
  bool by_columns, ones;
  enum kernel_dtype dtype;
};

struct exact {
  enum exact_form form;
  int64_t rows, cols, inner; /* C as it lies in memory: rows of cols elements */
  struct exact_matrix left, right;
  double constant;
  double u_acc, u_out, bound;
};

/* What comparing showed. Starts as { .first = -1 }. */
struct exact_report {
  double max_error;
  double checked;
  int64_t first; /* index (row * cols + col) of the first element that is wrong, or -1 */
  double got, want;
};

/* The truth for a job. False with a sentence where this op has no reference. */
bool exact_init(struct exact *e, const struct device_job *job, struct err *why);

/* Compares n rows of C with the truth, on all CPUs: row index[i] lies at c[i]. Adds to *report. */
void exact_compare(const struct exact *e, const int64_t *index, const float *const *c, int64_t n,
                   struct exact_report *report);

/* n values of row r from column c0, rounded to the matrix's type. */
void exact_fill(const struct exact_matrix *m, int64_t r, int64_t c0, int64_t n, float *out);

#endif
