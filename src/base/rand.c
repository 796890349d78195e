#include "base/rand.h"

#include <assert.h>

/* Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014). */
static const uint64_t golden = 0x9E3779B97F4A7C15u;

static inline uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

void rand_seed(struct rand *r, uint64_t seed) { r->state = seed; }

uint64_t rand_u64(struct rand *r) {
  r->state += golden;
  return mix(r->state);
}

uint64_t rand_below(struct rand *r, uint64_t n) {
  assert(n >= 1);
  if (n <= 1)
    return 0;
  uint64_t uneven = (0 - n) % n; /* 2^64 mod n: draws below it would favour small results */
  uint64_t x;
  do
    x = rand_u64(r);
  while (x < uneven);
  return x % n;
}

/* The seed is mixed first, so that streams of neighbouring seeds are not shifted copies. */
static inline uint64_t stream(uint64_t seed) { return mix(seed + golden); }

static inline float element(uint64_t start, uint64_t i) {
  int32_t bits = (int32_t)(mix(start + i * golden) >> 40) - (1 << 23);
  return (float)bits * 0x1p-23f;
}

float rand_at(uint64_t seed, uint64_t i) { return element(stream(seed), i); }

void rand_fill(uint64_t seed, uint64_t i0, size_t n, float *out) {
  uint64_t start = stream(seed);
  for (size_t i = 0; i < n; i++)
    out[i] = element(start, i0 + i);
}
