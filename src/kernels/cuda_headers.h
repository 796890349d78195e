/* What stands in for the C, C++ and CUDA headers that NVRTC does not have. Plain text, no files. */
#ifndef MM_KERNELS_CUDA_HEADERS_H
#define MM_KERNELS_CUDA_HEADERS_H

#include <stdbool.h>

/* The prelude: types, limits, constants, assert and the few std:: names that device code uses. A
 * learner's file is compiled behind an #include of this name. */
extern const char cuda_headers_prelude_name[];

enum cuda_headers_kind {
  CUDA_HEADERS_EMPTY,   /* known; its device part is in the prelude or in the compiler */
  CUDA_HEADERS_TOOLKIT, /* must be the real file of a CUDA toolkit */
  CUDA_HEADERS_UNKNOWN
};

/* What the name in an #include is, as it stands between the quotes ("cooperative_groups.h"). */
enum cuda_headers_kind cuda_headers_find(const char *name);

/* The headers kept in memory, 0 to count - 1: the EMPTY kind (assert.h is not quite empty) and the
 * prelude with what it includes. */
int cuda_headers_count(void);
const char *cuda_headers_name(int i);
const char *cuda_headers_text(int i);

#endif
