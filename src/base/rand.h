/* A seeded generator, the same on every machine, that can also be asked for its i-th value. */
#ifndef MM_BASE_RAND_H
#define MM_BASE_RAND_H

#include <stddef.h>
#include <stdint.h>

struct rand {
  uint64_t state;
};

void rand_seed(struct rand *r, uint64_t seed);
uint64_t rand_u64(struct rand *r);
uint64_t rand_below(struct rand *r, uint64_t n); /* 0 .. n-1, unbiased; n >= 1 */

/* The i-th value of stream `seed`, uniform in [-1, 1), exactly representable as float (24 bits).
 * Pure: the value depends on (seed, i) alone, so any element of a matrix can be made again by
 * itself. */
float rand_at(uint64_t seed, uint64_t i);

/* out[j] = rand_at(seed, i0 + j) for j in 0 .. n-1, without a call for each. */
void rand_fill(uint64_t seed, uint64_t i0, size_t n, float *out);

#endif
