/* What the driver says of a device, without a context. */
#ifndef MM_BENCH_CUDA_INFO_H
#define MM_BENCH_CUDA_INFO_H

#include "bench/cuda_api.h"
#include "bench/device.h"

/* The driver, initialised (cuInit may take seconds), and the number of devices. NULL with one
 * sentence. */
const struct cuda_api *cuda_info_start(int *count, struct err *err);

/* Fills info for device `index`; false if the driver does not give it. *handle and *arch (90 for
 * compute capability 9.0) may be NULL. */
bool cuda_info_fill(const struct cuda_api *cu, int index, struct device_info *info,
                    cuda_device *handle, int *arch);

/* FP32 lanes of an SM by compute capability ("90"), 0 where not known. */
int cuda_info_lanes(int arch);

#endif
