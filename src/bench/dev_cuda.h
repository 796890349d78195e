/* The CUDA device: driver, NVRTC and cuBLAS behind the table of device.h. */
#ifndef MM_BENCH_DEV_CUDA_H
#define MM_BENCH_DEV_CUDA_H

#include "bench/device.h"

/* device_cuda, device_cuda_count and device_cuda_glance are declared in device.h. */

#endif
