/* mmtutor {
 "schema": 1,
 "id": "cpu/fma",
 "op": "fma",
 "dtype": {"C": "f32", "acc": "f32"},
 "layout": {"C": "row"},
 "parallel": false,
 "traffic": {"requested": "0", "dram_min": "4*M"},
 "flop": "384*M*N",
 "deterministic": true,
 "idea": {"en": "FMAs on registers alone: M times N rounds of 192 independent FMAs.",
          "zh": "只在 register 上做 FMA：M 次，每次 N 轮，每轮 192 个互不依赖的 FMA。"},
 "limit": {"en": "It is the roof of one core: no kernel on one thread can be faster.",
           "zh": "它就是单核的上限：单 thread 的 kernel 不会更快。"}
} */
/* The probe of one core's FP32 roof. M repetitions of N rounds, K = 1; C[M] receives their sums.
 * A round is 192 FMAs on 192 floats: 12 registers of AVX-512, or 12 of AVX twice, or 12 of SSE four
 * times. 12 independent chains are more than the two FMA units times four cycles that an FMA takes.
 * FLOP: 2 (multiply, add) * 192 * M * N, whatever the registers. Without FMA instructions (plain) a
 * multiply and an addition do the same work.
 * Traffic: one store of 4 bytes a repetition, so that the compiler keeps the loop.
 * The run passes alpha = 1 and beta = 0: the sums stay as they began and C is 1248 everywhere. The
 * compiler does not know that. */
#include "mm_args.h"

#if defined __AVX512F__
enum { LANES = 16 };
#elif defined __AVX__
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
enum { FLOATS = 192, CHAINS = 12 };
typedef float vec __attribute__((vector_size(LANES * sizeof(float))));

/* N rounds on CHAINS registers that begin as 1, 2, 3, ...; the sum of all their floats. The
 * volatile reads keep the compiler from doing one repetition and using its sum for all. */
static float rounds(const struct mm_args *a) {
  vec alpha = (vec){0} + *(const volatile float *)&a->alpha;
  vec beta = (vec){0} + *(const volatile float *)&a->beta;
  vec acc[CHAINS];
  for (int j = 0; j < CHAINS; ++j)
    acc[j] = (vec){0} + (float)(j + 1);
  for (int64_t n = 0; n < a->N; ++n) //@ loop
#pragma GCC unroll 12
    for (int j = 0; j < CHAINS; ++j)
      acc[j] = acc[j] * alpha + beta; //@ fma
  float sum = 0.f;
  for (int j = 0; j < CHAINS; ++j)
    for (int l = 0; l < LANES; ++l)
      sum += acc[j][l];
  return sum;
}

int cpu_fma(const struct mm_args *a) {
  for (int64_t i = 0; i < a->M; ++i) {
    float sum = 0.f;
    for (int part = 0; part < FLOATS / (CHAINS * LANES); ++part)
      sum += rounds(a);
    a->C[i] = sum; //@ store
  }
  return MM_OK;
}
