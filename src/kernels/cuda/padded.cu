/* mmtutor {
 "schema": 1,
 "id": "cuda/padded",
 "op": "gemm",
 "dtype": {"A": "f32", "B": "f32", "C": "f32", "acc": "f32"},
 "layout": {"A": "row", "B": "row", "C": "row"},
 "requires": ["K%4==0", "N%4==0", "M*K<=2147483647", "K*N<=2147483647", "M*N<=2147483647",
              "ceil(M/128)<=65535", "ceil(K/8)*8<=2147483647"],
 "cc": {"min": "7.5", "max": null, "suffix": ""},
 "launches": [{"entry": "matmul", "grid": ["ceil(N/128)", "ceil(M/128)", 1], "block": [256, 1, 1],
               "cluster": [1, 1, 1], "smem": "0", "args": ["A", "B", "C", "M", "N", "K"]}],
 "tile": {"BM": "128", "BN": "128", "BK": "8", "TM": 8, "TN": 8, "stages": 1},
 "traffic": {"requested": "4*K*(M*ceil(N/128)+N*ceil(M/128))", "dram_min": "4*(M*K+K*N+M*N)"},
 "flop": "2*M*N*K",
 "deterministic": true,
 "idea": {"en": "4 unused words a row of As: the transposed stores meet all banks.",
          "zh": "As 每行多留 4 个字，转置写入便分散到所有 bank。"},
 "limit": {"en": "Each tile is loaded, then used: a block has no FMA while it waits.",
           "zh": "每个 tile 先读再用：等待 global memory 时，block 没有 FMA 可做。"}
} */
/* One block computes a 128 x 128 tile of C, one thread 8 x 8 results of it as 2 x 2 of 4 x 4.
 * A[M][K] * B[K][N] = C[M][N], all row-major; As[8][128 + 4], transposed, and Bs[8][128].
 *
 * New: a row of As has PAD = 4 words more. The two lanes of one row of A stored 4 rows of As apart,
 * 4 * 128 words, the same bank; now it is 4 * 132 = 16 modulo 32, and 32 lanes meet 32 banks. Four
 * is the least that keeps the rows aligned to 16 bytes, which the float4 reads need. An XOR of
 * the column would cost no memory but an instruction in each address; 128 bytes are cheaper.
 *
 * M = N = K = 256, counted by the x-ray, exact for sm_90; rates are of one SM:
 *                                          vectorized        padded
 *   global load requests                        2,048         2,048
 *   global load sectors                        32,768        32,768
 *   shared load requests                       32,768        32,768
 *   shared load wavefronts                     98,304        98,304
 *   shared store wavefronts                    12,288         8,192
 *   wavefronts in all; one a clock            133,120       129,024
 *   FMAs of warps; four a clock               524,288       524,288
 *   barriers, one a warp                        2,048         2,048
 * 4,096 of 133,120 wavefronts less. Predicted: at most 3 % faster than vectorized, and less where
 * something else is the roof.
 * Limit: a tile is loaded, then used, then the next is loaded: the block waits for global memory
 * in each of its K / 8 rounds, and only the other block of the SM can fill the time. */
enum { BM = 128, BN = 128, BK = 8, TM = 8, TN = 8, THREADS = 256, PAD = 4 };

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    matmul(const float *A, const float *B, float *C, int M, int N, int K) {
  __shared__ __align__(16) float As[BK][BM + PAD], Bs[BK][BN];
  const float4 zero = {0.f, 0.f, 0.f, 0.f};
  int tid = threadIdx.x;
  int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
  int ty = tid / 16 * 4, tx = tid % 16 * 4; // rows ty, ty + 64; columns tx, tx + 64 //@ position
  int a_row = tid / 2, a_k = tid % 2 * 4;    // the 4 numbers of A that this thread brings
  int b_k = tid / 32, b_col = tid % 32 * 4;  // and those of B
  float acc[TM][TN] = {{0.f}};
  for (int k0 = 0; k0 < K; k0 += BK) { // tile by tile along K //@ k_loop
    int r = block_row + a_row, c = block_col + b_col;
    float4 a4 = (r < M && k0 + a_k < K) ? *(const float4 *)&A[r * K + k0 + a_k] : zero;   //@ load_a
    float4 b4 = (c < N && k0 + b_k < K) ? *(const float4 *)&B[(k0 + b_k) * N + c] : zero; //@ load_b
    As[a_k + 0][a_row] = a4.x; // along k in A, down a column of As //@ store_as
    As[a_k + 1][a_row] = a4.y;
    As[a_k + 2][a_row] = a4.z;
    As[a_k + 3][a_row] = a4.w;
    *(float4 *)&Bs[b_k][b_col] = b4; //@ store_bs
    __syncthreads(); // both tiles complete before anyone reads //@ barrier_1
#pragma unroll
    for (int k = 0; k < BK; ++k) { //@ t_loop
      float a[TM], b[TN];
      *(float4 *)&a[0] = *(float4 *)&As[k][ty]; //@ reg_a
      *(float4 *)&a[4] = *(float4 *)&As[k][ty + 64];
      *(float4 *)&b[0] = *(float4 *)&Bs[k][tx]; //@ reg_b
      *(float4 *)&b[4] = *(float4 *)&Bs[k][tx + 64];
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j)
          acc[i][j] += a[i] * b[j]; // every a meets every b //@ fma
    }
    __syncthreads(); // everyone has read before the next tile lands //@ barrier_2
  }
  for (int i = 0; i < TM; ++i)
    for (int j = 0; j < TN; j += 4) {
      int r = block_row + ty + i % 4 + i / 4 * 64, c = block_col + tx + j * 16;
      if (r < M && c < N)
        *(float4 *)&C[r * N + c] = *(float4 *)&acc[i][j]; //@ store
    }
}
