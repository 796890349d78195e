/* Tensor maps: what the TMA unit must know of a matrix of the run. */
#ifndef MM_BENCH_CUDA_MAP_H
#define MM_BENCH_CUDA_MAP_H

#include "bench/cuda_buffers.h"

/* Makes the map of a matrix as the buffers hold it now: of its address, the job's sizes and its
 * layout. It is good until the buffers are prepared again. False with a fault: a driver without
 * tensor maps, or a size or box that TMA cannot take, which is found before the driver is asked. */
bool cuda_map_make(const struct kernel_map *map, const struct cuda_buffers *b,
                   const struct device_job *job, const struct device_info *info,
                   struct cuda_tensor_map *out, struct device_fault *fault);

#endif
