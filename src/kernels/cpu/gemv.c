/* mmtutor {
 "schema": 1,
 "id": "cpu/gemv",
 "op": "gemv",
 "dtype": {"A": "f32", "B": "f32", "C": "f32", "acc": "f32"},
 "layout": {"A": "row", "B": "row", "C": "row"},
 "parallel": false,
 "traffic": {"requested": "8*M*K", "dram_min": "4*(M*K+K+M)"},
 "flop": "2*M*K",
 "deterministic": true,
 "idea": {"en": "y = A x: a dot product a row, in 64 partial sums so that SIMD has work.",
          "zh": "y = A x：每行一个 dot product，分成 64 个部分和，好让 SIMD 有活干。"},
 "limit": {"en": "Each number of A is used once: 0.5 FLOP per byte, so bandwidth decides.",
           "zh": "A 的每个数只用一次：0.5 FLOP/B，由 bandwidth 决定。"}
} */
/* Matrix times vector. A[M][K] row-major with leading dimension lda, x[K] in B, y[M] in C.
 *
 * Traffic: A passes once, 4*M*K bytes; x is 4*K bytes and stays in the cache.
 * One sum would be a chain in which each addition waits for the one before. 64 sums do not wait,
 * and the compiler keeps them in a few SIMD registers.
 * Limit: 2 FLOP for every 4 bytes of A. Reuse needs a second vector, which makes it a GEMM. */
#include "mm_args.h"

enum { SUMS = 64 };

static float dot(const float *restrict row, const float *restrict x, int64_t K) {
  float sum[SUMS] = {0.f};
  int64_t k = 0;
  for (; k + SUMS <= K; k += SUMS) //@ k_loop
    for (int s = 0; s < SUMS; ++s)
      sum[s] += row[k + s] * x[k + s]; //@ fma
  for (int s = 0; k < K; ++k, ++s)
    sum[s] += row[k] * x[k]; //@ tail
  for (int half = SUMS / 2; half > 0; half /= 2)
    for (int s = 0; s < half; ++s)
      sum[s] += sum[s + half]; //@ reduce
  return sum[0];
}

int cpu_gemv(const struct mm_args *a) {
  for (int64_t i = 0; i < a->M; ++i)
    a->C[i] = dot(a->A + i * a->lda, a->B, a->K); //@ row
  return MM_OK;
}
