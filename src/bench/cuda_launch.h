/* One launch of a kernel: function, geometry and arguments, ready to be handed to the driver. */
#ifndef MM_BENCH_CUDA_LAUNCH_H
#define MM_BENCH_CUDA_LAUNCH_H

#include "bench/cuda_api.h"
#include "bench/cuda_buffers.h"
#include "bench/device.h"

enum { CUDA_LAUNCH_ARGS = 32 };

struct cuda_launch {
  cuda_function function;
  unsigned grid[3], block[3], shared;
  unsigned cluster[3]; /* 0 where blocks are not grouped */
  int nargs;
  union cuda_launch_arg {
    cuda_ptr pointer;
    int64_t whole; /* little-endian, so an int parameter reads its lower half */
    float real;
    uint64_t map[16]; /* the bytes of a cuda_tensor_map */
  } arg[CUDA_LAUNCH_ARGS];
  bool is_map[CUDA_LAUNCH_ARGS];
  int registers, shared_bytes, local_bytes; /* of the function; -1 where not known */
};

/* Prepares launch `i` of the kernel: checks block size, registers, shared memory and cluster
 * against what the function and the device allow, and makes the tensor maps of the matrices as they
 * are now. False with a fault. */
bool cuda_launch_prepare(struct cuda_launch *l, int i, cuda_module module,
                         const struct cuda_buffers *b, const struct device_job *job,
                         const struct device_info *info, struct device_fault *fault);

/* Hands it to the driver; does not wait. */
cuda_result cuda_launch_go(struct cuda_launch *l, const struct cuda_buffers *b);

#endif
