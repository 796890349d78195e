/* What a CUDA error means for the person in front of the screen. */
#ifndef MM_BENCH_CUDA_FAULT_H
#define MM_BENCH_CUDA_FAULT_H

#include "bench/cuda_api.h"
#include "bench/device.h"

/* Fills a fault from parts; each may be NULL or clipped. Returns false. */
bool cuda_fault_set(struct device_fault *fault, const char *code, const char *what, const char *why,
                    const char *next);

/* The fault of a failed driver call; `doing` says what was tried ("loading the kernel"). Returns
 * false. */
bool cuda_fault_driver(const struct cuda_api *cu, cuda_result rc, const char *doing,
                       struct device_fault *fault);

/* True for the codes after which the process can do nothing more on the device. */
bool cuda_fault_fatal(const char *code);

/* One sentence for a cuInit or device count that failed, with the usual remedy. Returns false. */
bool cuda_fault_init(const struct cuda_api *cu, cuda_result rc, struct err *err);

#endif
