/* Numbers of matrices as bytes and back: f32, f64, f16, bf16. What a device gets, what the PTX
 * machine gets and what the truth is made of (exact_fill) are rounded alike. */
#ifndef MM_BENCH_NARROW_H
#define MM_BENCH_NARROW_H

#include "kernels/kernel.h"

/* x to the nearest f16 or bf16 (ties to even), as its 16 bits. */
uint16_t narrow_from(float x, enum kernel_dtype t);

/* n numbers into memory of type t, which need not be aligned. Cannot fail. */
void narrow_store(void *to, enum kernel_dtype t, const float *from, int64_t n);

/* Number i of memory of type t. */
double narrow_load(const void *from, enum kernel_dtype t, int64_t i);

/* The first n numbers of memory of type t as floats; exact but for f64, which is rounded. */
void narrow_widen(const void *from, enum kernel_dtype t, int64_t n, float *out);

#endif
