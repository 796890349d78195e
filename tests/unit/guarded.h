/* Float arrays that end at an unreadable page, and a GEMM check in double on top of them. */
#ifndef MM_TESTS_GUARDED_H
#define MM_TESTS_GUARDED_H

#include "base/rand.h"
#include "kernels/mm_args.h"
#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct guarded {
  float *data; /* n floats; the byte behind them lies on a page without access */
  char *base;
  size_t bytes, n;
};

static inline struct guarded guarded_new(size_t n) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t room = (n * sizeof(float) + page - 1) / page * page;
  struct guarded g = {.bytes = room + 2 * page, .n = n};
  g.base = mmap(NULL, g.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert(g.base != MAP_FAILED);
  mprotect(g.base, page, PROT_NONE);
  mprotect(g.base + page + room, page, PROT_NONE);
  g.data = (float *)(void *)(g.base + page + room - n * sizeof(float));
  for (size_t i = 0; i < room / sizeof(float); i++)
    ((float *)(void *)(g.base + page))[i] = NAN;
  return g;
}

static inline void guarded_free(struct guarded *g) { munmap(g->base, g->bytes); }

/* Makes the floats read-only. */
static inline void guarded_lock(struct guarded *g) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  mprotect(g->base + page, g->bytes - 2 * page, PROT_READ);
}

typedef int (*guarded_entry)(const struct mm_args *);

/* One shape: A[M][lda], B[K][ldb], C[M][ldc]; what pads the rows is NaN, and C is NaN all over. */
struct guarded_shape {
  int64_t M, N, K, pad, param;
};

/* Floats of rows x cols with a leading dimension ld: the last row is not padded. */
static inline size_t guarded_floats(int64_t rows, int64_t cols, int64_t ld) {
  return (size_t)((rows - 1) * ld + cols);
}

static inline void guarded_fill(struct guarded *g, int64_t cols, int64_t ld, uint64_t seed) {
  for (size_t i = 0; i < g->n; i++)
    if ((int64_t)i % ld < cols)
      g->data[i] = rand_at(seed, i);
}

/* The largest error of C in units of sum |a||b|, INFINITY where an element is NaN or padding was
 * written. */
static inline double guarded_error(const struct mm_args *a, size_t floats) {
  double worst = 0;
  for (int64_t i = 0; i < a->M; i++) {
    for (int64_t j = 0; j < a->N; j++) {
      double sum = 0, scale = 0;
      for (int64_t k = 0; k < a->K; k++) {
        double p = (double)a->A[i * a->lda + k] * (double)a->B[k * a->ldb + j];
        sum += p, scale += fabs(p);
      }
      double e = fabs((double)a->C[i * a->ldc + j] - sum) / scale;
      if (!(e <= worst))
        worst = isnan(e) ? INFINITY : e;
    }
    for (int64_t j = a->N; j < a->ldc && (size_t)(i * a->ldc + j) < floats; j++)
      if (!isnan(a->C[i * a->ldc + j]))
        worst = INFINITY;
  }
  return worst;
}

/* Runs a GEMM entry on a shape; its error. *code gets what the entry returned. */
static inline double guarded_gemm(guarded_entry entry, struct guarded_shape s, int *code) {
  int64_t lda = s.K + s.pad, ldb = s.N + s.pad, ldc = s.N + s.pad;
  struct guarded A = guarded_new(guarded_floats(s.M, s.K, lda));
  struct guarded B = guarded_new(guarded_floats(s.K, s.N, ldb));
  struct guarded C = guarded_new(guarded_floats(s.M, s.N, ldc));
  guarded_fill(&A, s.K, lda, 2);
  guarded_fill(&B, s.N, ldb, 3);
  guarded_lock(&A); // inputs are not written
  guarded_lock(&B);
  struct mm_args args = {.A = A.data,
                         .B = B.data,
                         .C = C.data,
                         .M = s.M,
                         .N = s.N,
                         .K = s.K,
                         .lda = lda,
                         .ldb = ldb,
                         .ldc = ldc,
                         .alpha = 1,
                         .beta = 0,
                         .param = {s.param},
                         .threads = 1};
  *code = entry(&args);
  double e = guarded_error(&args, C.n);
  guarded_free(&A);
  guarded_free(&B);
  guarded_free(&C);
  return e;
}

/* The bound of the measuring protocol for fp32. */
static inline double guarded_bound(int64_t K) { return 8 * sqrt((double)K) * 0x1p-24; }

/* Mixed shapes: every size of the list appears in every place, none square but 1, 1, 1. */
static const struct guarded_shape guarded_shapes[] = {
    {1, 1, 1, 0, 0},     {1, 2, 3, 0, 0},     {2, 1, 7, 1, 0},      {3, 7, 1, 0, 0},
    {7, 3, 17, 5, 0},    {17, 31, 2, 0, 0},   {31, 17, 33, 1, 0},   {33, 65, 31, 0, 0},
    {65, 33, 129, 3, 0}, {129, 1, 65, 0, 0},  {1, 129, 33, 0, 0},   {2, 65, 129, 0, 0},
    {64, 128, 32, 0, 0}, {128, 64, 96, 4, 0}, {129, 130, 67, 0, 0}, {16, 257, 48, 0, 0}};
enum { GUARDED_SHAPES = sizeof guarded_shapes / sizeof *guarded_shapes };

#endif
