/* The reference on a CUDA device: cuBLAS in full fp32 (pedantic) for fp32 matrices, summing in fp32
 * with its default algorithm for f16 and bf16, the driver's own copy for OP_COPY. cuBLAS is opened
 * by dlopen when it is first wanted. */
#ifndef MM_BENCH_REF_CUBLAS_H
#define MM_BENCH_REF_CUBLAS_H

#include "bench/cuda_buffers.h"

typedef struct ref_cublas ref_cublas;

/* A handle on a stream of the current context, or NULL with a sentence. Free with ref_cublas_close.
 */
ref_cublas *ref_cublas_open(const struct cuda_api *cu, cuda_stream stream, struct err *why);
void ref_cublas_close(ref_cublas *r);

/* Sets the handle up for the types of a kernel that ref_cublas_covers: math mode, workspace. False
 * with a sentence. */
bool ref_cublas_ready(ref_cublas *r, const struct kernel *k, struct err *why);

/* True if there is a reference for this kernel's operation and types; false with a sentence. */
bool ref_cublas_covers(const struct kernel *k, struct err *why);

/* True if the operation needs cuBLAS (a copy does not). */
bool ref_cublas_needs_library(const struct kernel *k);

/* "cuBLAS" and "13.0.2 pedantic" (of f16 and bf16 "13.0.2"); for a copy "cuMemcpyDtoD" and "", and
 * r may be NULL. */
void ref_cublas_name(const ref_cublas *r, const struct kernel *k, char name[64], char version[64]);

/* True if cuBLAS can be opened here; `path` gets its directory ("" if not known). False with a
 * sentence. Needs no device; loads the library (seconds from a cold disk). */
bool ref_cublas_probe(char path[1024], struct err *why);

/* Starts one run into the second C buffer; does not wait. *rc gets the driver's or 0; false with a
 * sentence if cuBLAS itself refused. */
bool ref_cublas_go(ref_cublas *r, const struct device_job *job, const struct cuda_buffers *b,
                   cuda_result *rc, struct err *why);

#endif
