/* mmtutor {
 "schema": 1,
 "id": "cuda/naive",
 "op": "gemm",
 "dtype": {"A": "f32", "B": "f32", "C": "f32", "acc": "f32"},
 "layout": {"A": "row", "B": "row", "C": "row"},
 "requires": ["M*K<=2147483647", "K*N<=2147483647", "M*N<=2147483647", "ceil(M/32)<=65535"],
 "cc": {"min": "7.5", "max": null, "suffix": ""},
 "launches": [{"entry": "matmul", "grid": ["ceil(N/32)", "ceil(M/32)", 1], "block": [32, 32, 1],
               "smem": "0", "args": ["A", "B", "C", "M", "N", "K"]}],
 "traffic": {"requested": "8*M*N*K", "dram_min": "4*(M*K+K*N+M*N)"},
 "flop": "2*M*N*K",
 "deterministic": true,
 "idea": {"en": "One thread computes one element of C; threadIdx.x runs along the columns.",
          "zh": "一个 thread 算 C 的一个元素；threadIdx.x 沿列方向走。"},
 "limit": {"en": "Every multiply-add loads its two numbers again: 0.25 FLOP per byte requested.",
           "zh": "每次乘加都重新读两个数：每请求 1 byte 只做 0.25 FLOP。"}
} */
/* The definition of a matrix product, one thread an element.
 * A[M][K] * B[K][N] = C[M][N], all row-major.
 *
 * Traffic of one warp for one k:
 *   A[r*K + k]: all lanes the same address -> 1 sector of 32 bytes, broadcast
 *   B[k*N + c]: 32 neighbouring floats     -> 4 sectors
 * 5 sectors for 32 multiply-adds, against 33 in the uncoalesced kernel.
 * Requested: 8 bytes for 2 FLOP. The caches serve most of it; memory sees far less.
 * Limit: two load instructions for one FMA, whatever the caches do. */
extern "C" __global__ void matmul(const float *A, const float *B, float *C, int M, int N, int K) {
  int r = blockIdx.y * 32 + threadIdx.y; // the same row for a whole warp //@ row
  int c = blockIdx.x * 32 + threadIdx.x; // 32 neighbouring columns       //@ column
  if (r >= M || c >= N)                                                   //@ guard
    return;
  float acc = 0.f;
  for (int k = 0; k < K; ++k)           //@ k_loop
    acc += A[r * K + k] * B[k * N + c]; //@ fma
  C[r * N + c] = acc;                   //@ store
}
