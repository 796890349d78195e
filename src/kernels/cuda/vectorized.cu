/* mmtutor {
 "schema": 1,
 "id": "cuda/vectorized",
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
 "idea": {"en": "16 bytes a lane and instruction: float4 everywhere, As transposed.",
          "zh": "每条指令每个 lane 搬 16 字节：全部用 float4，As 转置存放。"},
 "limit": {"en": "Two lanes bring one row of A; their transposed stores meet in one bank.",
           "zh": "两个 lane 搬 A 的同一行，转置写入时落在同一个 bank。"}
} */
/* One block computes a 128 x 128 tile of C, one thread 8 x 8 results of it as 2 x 2 of 4 x 4.
 * A[M][K] * B[K][N] = C[M][N], all row-major; As[8][128], transposed, and Bs[8][128].
 *
 * New: every load and the store of C are float4, a quarter of the instructions for the same bytes.
 * A thread needs 8 rows of one k, so A lies transposed in shared memory: As[k][row]. Its own 4
 * rows, or columns, are neighbours. K and N must be multiples of 4, or rows are not aligned.
 *
 * M = N = K = 256, counted by the x-ray, exact for sm_90; rates are of one SM:
 *                                             tile_2d    vectorized
 *   global load requests                        8,192         2,048
 *   global load sectors                        32,768        32,768
 *   shared load requests                       81,920        32,768
 *   shared load wavefronts                     98,304        98,304
 *   shared store wavefronts                     8,192        12,288
 *   wavefronts in all; one a clock            131,072       133,120
 *   FMAs of warps; four a clock               524,288       524,288
 *   barriers, one a warp                        2,048         2,048
 * The wavefronts take 102 % of the FMAs' time, as before; what falls is instructions: shared loads
 * from 81,920 to 32,768, global ones from 8,192 to 2,048. Predicted: up to 10 % fewer issue slots
 * than tile_2d.
 * Limit: lanes 2 l and 2 l + 1 bring one row of A; they store 4 rows of As apart, 512 words, which
 * is the same bank: each of these stores costs 2 wavefronts. */
enum { BM = 128, BN = 128, BK = 8, TM = 8, TN = 8, THREADS = 256 };

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    matmul(const float *A, const float *B, float *C, int M, int N, int K) {
  __shared__ __align__(16) float As[BK][BM], Bs[BK][BN];
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
