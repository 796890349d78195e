/* mmtutor {
 "schema": 1,
 "id": "cuda/tile_2d",
 "op": "gemm",
 "dtype": {"A": "f32", "B": "f32", "C": "f32", "acc": "f32"},
 "layout": {"A": "row", "B": "row", "C": "row"},
 "requires": ["M*K<=2147483647", "K*N<=2147483647", "M*N<=2147483647", "ceil(M/128)<=65535",
              "ceil(K/8)*8<=2147483647"],
 "cc": {"min": "7.5", "max": null, "suffix": ""},
 "launches": [{"entry": "matmul", "grid": ["ceil(N/128)", "ceil(M/128)", 1], "block": [256, 1, 1],
               "cluster": [1, 1, 1], "smem": "0", "args": ["A", "B", "C", "M", "N", "K"]}],
 "tile": {"BM": "128", "BN": "128", "BK": "8", "TM": 8, "TN": 8, "stages": 1},
 "traffic": {"requested": "4*K*(M*ceil(N/128)+N*ceil(M/128))", "dram_min": "4*(M*K+K*N+M*N)"},
 "flop": "2*M*N*K",
 "deterministic": true,
 "idea": {"en": "A thread computes 8 x 8 results: 16 numbers in registers serve 64 FMAs.",
          "zh": "每个 thread 算 8 x 8 个结果：寄存器里的 16 个数供 64 次 FMA 用。"},
 "limit": {"en": "Numbers move one by one: 4 bytes a lane and instruction.",
           "zh": "数据一个一个地搬：每条指令每个 lane 只有 4 字节。"}
} */
/* One block computes a 128 x 128 tile of C, one thread 8 x 8 results of it, 16 apart both ways.
 * A[M][K] * B[K][N] = C[M][N], all row-major; As[128][8] and Bs[8][128] in shared memory.
 *
 * New: for one k, a thread reads 8 numbers of As and 8 of Bs into registers, then every a meets
 * every b: 16 reads for 64 FMAs; in tile_1d they were 9 for 8. The tile is 128 wide: 32 FLOP per
 * byte requested. A half-warp owns 16 neighbouring columns, so reads of Bs have no conflict.
 *
 * M = N = K = 256, counted by the x-ray, exact for sm_90; rates are of one SM:
 *                                             tile_1d       tile_2d
 *   global load requests                       16,384         8,192
 *   global load sectors                        65,536        32,768
 *   shared load requests                      196,608        81,920
 *   shared load wavefronts                    327,680        98,304
 *   shared store wavefronts                    16,384         8,192
 *   wavefronts in all; one a clock            387,072       131,072
 *   FMAs of warps; four a clock               524,288       524,288
 *   barriers, one a warp                       16,384         2,048
 * The wavefronts now take 100 % of the FMAs' time, and can go on beside them. Predicted: at most
 * 3.0 times as fast as tile_1d, where they were the roof.
 * Limit: all loads but those of As are of 4 bytes a lane, and each is an instruction. */
enum { BM = 128, BN = 128, BK = 8, TM = 8, TN = 8, THREADS = 256 };

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    matmul(const float *A, const float *B, float *C, int M, int N, int K) {
  __shared__ float As[BM][BK], Bs[BK][BN];
  int tid = threadIdx.x;
  int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
  int ty = tid / 16, tx = tid % 16; // rows ty + 16 i, columns tx + 16 j of the tile //@ position
  float acc[TM][TN] = {{0.f}};
  for (int k0 = 0; k0 < K; k0 += BK) { // tile by tile along K //@ k_loop
    for (int n = tid; n < BM * BK; n += THREADS) { // 4 numbers of A a thread
      int row = n / BK, k = k0 + n % BK, r = block_row + row;
      As[row][n % BK] = (r < M && k < K) ? A[r * K + k] : 0.f; //@ load_a
    }
    for (int n = tid; n < BK * BN; n += THREADS) { // and 4 of B
      int col = n % BN, k = k0 + n / BN, c = block_col + col;
      Bs[n / BN][col] = (c < N && k < K) ? B[k * N + c] : 0.f; //@ load_b
    }
    __syncthreads(); // both tiles complete before anyone reads //@ barrier_1
#pragma unroll
    for (int k = 0; k < BK; ++k) { //@ t_loop
      float a[TM], b[TN];
      for (int i = 0; i < TM; ++i)
        a[i] = As[ty + 16 * i][k]; //@ reg_a
      for (int j = 0; j < TN; ++j)
        b[j] = Bs[k][tx + 16 * j]; //@ reg_b
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j)
          acc[i][j] += a[i] * b[j]; // every a meets every b //@ fma
    }
    __syncthreads(); // everyone has read before the next tile lands //@ barrier_2
  }
  for (int i = 0; i < TM; ++i)
    for (int j = 0; j < TN; ++j) {
      int r = block_row + ty + 16 * i, c = block_col + tx + 16 * j;
      if (r < M && c < N)
        C[r * N + c] = acc[i][j]; //@ store
    }
}
