/* What is shipped of the built-in CUDA kernels for machines without a compiler: their PTX, and what
 * NVRTC's machine code of the same source holds (assets/ptx_code.json). */
#ifndef MM_BENCH_CUDA_SHIPPED_H
#define MM_BENCH_CUDA_SHIPPED_H

#include "kernels/kernel.h"
#include "sim/xray/xray.h"

struct cuda_shipped {
  const char *ptx; /* text, built in */
  size_t size;
  char compiler[32]; /* "NVRTC 13.0": that made the machine code; "" if none is known */
  int arch;          /* 90: what the machine code is for; 0 if none is known */
  int registers, shared_bytes, stack_bytes, spill_bytes; /* of that code; -1 not known */
  struct xray_mix sass;                                  /* of that code; for xray_launch.sass */
};

/* The shipped PTX of a kernel with these parameters, and of kernel `entry` in it the machine code
 * for `arch` (90). False where this kernel is not shipped. Where it is but machine code of that
 * target is not known, out->arch is 0 and out->sass must not be used. */
bool cuda_shipped_find(const struct kernel *k, const struct kernel_size *size, const char *entry,
                       int arch, struct cuda_shipped *out);

#endif
