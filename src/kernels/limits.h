/* What a kernel cannot do with given sizes, told as a sentence with the multiple or the limit. */
#ifndef MM_KERNELS_LIMITS_H
#define MM_KERNELS_LIMITS_H

#include "kernels/kernel.h"

/* The sentence for a requirement that does not hold in this scope: "cuda/x needs N to be a multiple
 * of 4; 37 is not. Take 36 or 40." Returns false. */
bool limits_sentence(const struct kernel *k, const char *requirement, struct kernel_scope *scope,
                     struct err *err);

/* Evaluates a launch's geometry; false with a sentence where it is beyond CUDA's limits. */
bool limits_geometry(const struct kernel_launch *launch, struct kernel_scope *scope,
                     struct kernel_geometry *out, struct err *err);

#endif
