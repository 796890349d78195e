/* Numbers of matrices as bytes and back: f32, f64, f16, bf16. */
#ifndef MM_BENCH_XRAY_HALF_H
#define MM_BENCH_XRAY_HALF_H

#include "kernels/kernel.h"

/* x to the nearest f16 or bf16 (ties to even), as its 16 bits. */
uint16_t xray_half_from(float x, enum kernel_dtype t);

/* n numbers into memory of type t, and one of it. Cannot fail. */
void xray_half_store(void *to, enum kernel_dtype t, const float *from, int64_t n);
double xray_half_load(const void *from, enum kernel_dtype t, int64_t i);

#endif
