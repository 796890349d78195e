/* mmtutor {
 "schema": 1,
 "id": "cuda/fma",
 "op": "fma",
 "dtype": {"C": "f32", "acc": "f32"},
 "layout": {"C": "row"},
 "cc": {"min": "7.5", "max": null, "suffix": ""},
 "launches": [{"entry": "fma_loop", "grid": ["ceil(M/256)", 1, 1], "block": [256, 1, 1],
               "smem": "0", "args": ["C", "M", "N", "alpha", "beta"]}],
 "traffic": {"requested": "0", "dram_min": "4*M"},
 "flop": "16*M*N",
 "deterministic": true,
 "idea": {"en": "FMAs on registers alone: M threads, N rounds of 8 independent FMAs each.",
          "zh": "只在 register 上做 FMA：M 个 thread，各做 N 轮，每轮 8 个互不依赖的 FMA。"},
 "limit": {"en": "It is the roof: no kernel that uses these units can be faster.",
           "zh": "它就是上限：用同一种单元的 kernel 不会更快。"}
} */
/* The probe of the FP32 roof. M = threads, N = rounds, K = 1; C[M] receives one number a thread.
 * 8 accumulators a thread do not depend on one another, so an FMA can start while others are in
 * flight. FLOP: 2 (multiply, add) * 8 * M * N, exact: threads beyond M do nothing.
 * Traffic: one store of 4 bytes a thread at the end, so that the compiler keeps the loop.
 * The run passes alpha = 1 and beta = 0: the sums stay as they began and C is 36 everywhere. The
 * compiler does not know that. */
extern "C" __global__ void fma_loop(float *C, int M, int N, float alpha, float beta) {
  long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= M)
    return;
  float acc[8];
#pragma unroll
  for (int j = 0; j < 8; ++j)
    acc[j] = j + 1;
#pragma unroll 16
  for (int n = 0; n < N; ++n) { //@ loop
#pragma unroll
    for (int j = 0; j < 8; ++j)
      acc[j] = acc[j] * alpha + beta; //@ fma
  }
  float sum = 0.f;
#pragma unroll
  for (int j = 0; j < 8; ++j)
    sum += acc[j];
  C[i] = sum; //@ store
}
