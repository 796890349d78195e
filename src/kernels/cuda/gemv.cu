/* mmtutor {
 "schema": 1,
 "id": "cuda/gemv",
 "op": "gemv",
 "dtype": {"A": "f32", "B": "f32", "C": "f32", "acc": "f32"},
 "layout": {"A": "row", "B": "row", "C": "row"},
 "requires": ["K<=2147483520"],
 "cc": {"min": "7.5", "max": null, "suffix": ""},
 "launches": [{"entry": "gemv", "grid": ["ceil(M/8)", 1, 1], "block": [32, 8, 1],
               "smem": "0", "args": ["A", "B", "C", "M", "K"]}],
 "traffic": {"requested": "8*M*K", "dram_min": "4*(M*K+K+M)"},
 "flop": "2*M*K",
 "deterministic": true,
 "idea": {"en": "y = A x: a warp takes one row, its 32 lanes add up by shuffles.",
          "zh": "y = A x：一个 warp 负责一行，32 个 lane 用 shuffle 求和。"},
 "limit": {"en": "Each number of A is used once: 0.5 FLOP per byte, so bandwidth decides.",
           "zh": "A 的每个数只用一次：0.5 FLOP/B，由 bandwidth 决定。"}
} */
/* Matrix times vector. A[M][K] row-major, x[K], y[M]; a block is 8 warps, a warp owns a row.
 *
 * Traffic: A passes once, 4*M*K bytes, in pieces of 128 contiguous bytes a warp; x is 4*K bytes
 * and comes from the caches for all rows but the first.
 * Five shuffles add the 32 partial sums: no shared memory, no barrier.
 * Limit: 2 FLOP for every 4 bytes of A. Reuse needs a second vector, which makes it a GEMM. */
extern "C" __global__ void gemv(const float *__restrict__ A, const float *__restrict__ x,
                                float *__restrict__ y, int M, int K) {
  long long r = blockIdx.x * 8LL + threadIdx.y; //@ row
  if (r >= M)
    return;
  const float *row = A + r * K;
  float acc = 0.f;
#pragma unroll 4
  for (int k = threadIdx.x; k < K; k += 32) //@ k_loop
    acc += row[k] * x[k];                   //@ fma
  for (int d = 16; d > 0; d /= 2)
    acc += __shfl_down_sync(0xffffffffu, acc, d); //@ shuffle
  if (threadIdx.x == 0)
    y[r] = acc; //@ store
}
