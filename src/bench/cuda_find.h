/* Finds the libraries of the CUDA toolkit: named outright, in $CUDA_HOME, where the loader looks,
 * in /usr/local/cuda, or in a pip wheel. */
#ifndef MM_BENCH_CUDA_FIND_H
#define MM_BENCH_CUDA_FIND_H

#include "base/err.h"
#include <stdbool.h>

struct cuda_find {
  const char *name;          /* "NVRTC", for messages */
  const char *variable;      /* an environment variable with a full path, tried before all else */
  const char *sonames[5];    /* newest first; ends with NULL */
  const char *companions[5]; /* same order: a pattern of what must be loaded with it, from the same
                                directory, or NULL */
  const char *wheel;         /* directory of the pip wheel below nvidia/: "cuda_nvrtc" */
};

/* Opens it (dlopen handle, never closed) and writes the directory it came from, "" if that is not
 * known, to dir. NULL with a sentence that lists where it was looked for. */
void *cuda_find_open(const struct cuda_find *what, char dir[1024], struct err *err);

#endif
