/* What a CPU rung is called with. The only header a file under src/kernels/cpu includes. */
#ifndef MM_ARGS_H
#define MM_ARGS_H

#include <stdint.h>

enum { MM_PARAMS = 8 };

struct mm_args {
  const float *A, *B; /* row-major; gemv: A is M x K, B holds x[K]; add and copy: M*N elements */
  float *C;           /* M x N row-major; gemv: y[M] */
  void *W;            /* the workspace the front matter asks for, zeroed; NULL if none */
  int64_t M, N, K;
  int64_t lda, ldb, ldc; /* elements from one row to the next */
  float alpha, beta;
  int64_t param[MM_PARAMS]; /* in front-matter order */
  int threads;              /* at most this many */
};

/* What a rung returns. */
enum { MM_OK = 0, MM_NO_MEMORY = 1, MM_NO_THREADS = 2 };

#endif
