/* Finds the `kernel<T><<<grid, block, smem>>>(args)` launches of a CUDA C++ text. */
#ifndef MM_KERNELS_CUDA_LAUNCHES_H
#define MM_KERNELS_CUDA_LAUNCHES_H

#include "kernels/cuda_mask.h"
#include <stddef.h>

/* Texts as written, white space folded. */
struct cuda_launch {
  char *kernel;        /* "matmul", "ns::matmul" */
  char *template_args; /* "32, float"; constants put in; NULL if none are written */
  char *grid, *block;
  char *smem; /* "" if not given */
  char *args; /* "" if none */
  int line;
};

struct cuda_launches {
  struct cuda_launch *all; /* in file order */
  int n;
};

/* Takes any text with its mask, in linear time. Cannot fail. */
void cuda_launches_find(struct cuda_launches *l, const char *source, const struct cuda_mask *mask);
void cuda_launches_done(struct cuda_launches *l);

/* source[b, e) in one line: comments and line ends are one space each, none at the ends. The caller
 * frees. */
char *cuda_launches_fold(const char *source, const struct cuda_mask *mask, size_t b, size_t e);

#endif
