/* The matrices of a run on a CUDA device: room, contents, and the way back. */
#ifndef MM_BENCH_CUDA_BUFFERS_H
#define MM_BENCH_CUDA_BUFFERS_H

#include "bench/cuda_api.h"
#include "bench/device.h"

enum cuda_buffers_id { BUFFER_A, BUFFER_B, BUFFER_C, BUFFER_REFERENCE, BUFFER_WORK, BUFFER_COUNT };

struct cuda_buffers {
  const struct cuda_api *cu;
  cuda_stream stream;
  cuda_event begin, end; /* for timing; the owner's */
  cuda_ptr at[BUFFER_COUNT];
  size_t bytes[BUFFER_COUNT]; /* 0 where there is none */
  enum kernel_dtype type[3];  /* of the elements of A, B and C */
  void *stage;                /* pinned host memory for transfers */
  bool filled;                /* A and B hold the inputs of `seed`, rounded to their types */
  uint64_t seed;
  double transfer_in_ms;
};

/* Makes room for a job (the matrices by its kernel's element counts, `work` bytes of workspace, a
 * second C if reference is set) and fills it: A and B from the seed, C with NaN, the workspace with
 * 0. What fits from the job before is kept. Refuses with code out_of_memory, need and free in
 * bytes, before it allocates. */
bool cuda_buffers_prepare(struct cuda_buffers *b, const struct device_job *job, size_t work,
                          bool reference, struct device_fault *fault);

/* C becomes NaN. */
bool cuda_buffers_poison(struct cuda_buffers *b, struct device_fault *fault);

/* n elements of C from element i0 to out, as floats; *ms gets the time of the copies. */
bool cuda_buffers_download(struct cuda_buffers *b, int64_t i0, int64_t n, float *out, double *ms,
                           struct device_fault *fault);

void cuda_buffers_free(struct cuda_buffers *b);

#endif
