/* mmtutor {
 "schema": 1,
 "id": "cuda/uncoalesced",
 "op": "gemm",
 "dtype": {"A": "f32", "B": "f32", "C": "f32", "acc": "f32"},
 "layout": {"A": "row", "B": "row", "C": "row"},
 "requires": ["M*K<=2147483647", "K*N<=2147483647", "M*N<=2147483647", "ceil(N/32)<=65535"],
 "cc": {"min": "7.5", "max": null, "suffix": ""},
 "launches": [{"entry": "matmul", "grid": ["ceil(M/32)", "ceil(N/32)", 1], "block": [32, 32, 1],
               "smem": "0", "args": ["A", "B", "C", "M", "N", "K"]}],
 "traffic": {"requested": "8*M*N*K", "dram_min": "4*(M*K+K*N+M*N)"},
 "flop": "2*M*N*K",
 "deterministic": true,
 "idea": {"en": "One thread computes one element of C; threadIdx.x runs along the rows.",
          "zh": "一个 thread 算 C 的一个元素；threadIdx.x 沿行方向走。"},
 "limit": {"en": "The 32 lanes of a warp read A at stride K: 32 sectors for 32 numbers.",
           "zh": "一个 warp 的 32 个 lane 以步长 K 读 A：32 个数要 32 个 sector。"}
} */
/* The naive kernel with its two thread indices swapped: lane x of a warp owns row x.
 * A[M][K] * B[K][N] = C[M][N], all row-major.
 *
 * Traffic of one warp for one k:
 *   A[r*K + k]: 32 rows, 32 addresses K floats apart -> 32 sectors of 32 bytes
 *   B[k*N + c]: all lanes the same address           ->  1 sector
 * 33 sectors for 32 multiply-adds; the naive kernel needs 5. Only the mapping of threads differs.
 * Limit: the load path is busy with sectors of which 4 bytes in 32 are used at once. */
extern "C" __global__ void matmul(const float *A, const float *B, float *C, int M, int N, int K) {
  int r = blockIdx.x * 32 + threadIdx.x; // the lanes of a warp: 32 rows //@ row
  int c = blockIdx.y * 32 + threadIdx.y; // the same column             //@ column
  if (r >= M || c >= N)                                                 //@ guard
    return;
  float acc = 0.f;
  for (int k = 0; k < K; ++k)           //@ k_loop
    acc += A[r * K + k] * B[k * N + c]; //@ fma
  C[r * N + c] = acc;                   //@ store
}
