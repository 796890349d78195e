/* mmtutor {
 "schema": 1,
 "id": "cuda/tile_1d",
 "op": "gemm",
 "dtype": {"A": "f32", "B": "f32", "C": "f32", "acc": "f32"},
 "layout": {"A": "row", "B": "row", "C": "row"},
 "requires": ["M*K<=2147483647", "K*N<=2147483647", "M*N<=2147483647", "ceil(M/64)<=65535",
              "ceil(K/8)*8<=2147483647"],
 "cc": {"min": "7.5", "max": null, "suffix": ""},
 "launches": [{"entry": "matmul", "grid": ["ceil(N/64)", "ceil(M/64)", 1], "block": [512, 1, 1],
               "cluster": [1, 1, 1], "smem": "0", "args": ["A", "B", "C", "M", "N", "K"]}],
 "tile": {"BM": "64", "BN": "64", "BK": "8", "TM": 8, "TN": 1, "stages": 1},
 "traffic": {"requested": "4*K*(M*ceil(N/64)+N*ceil(M/64))", "dram_min": "4*(M*K+K*N+M*N)"},
 "flop": "2*M*N*K",
 "deterministic": true,
 "idea": {"en": "A thread computes a column of 8 results: one number of B serves 8 FMAs.",
          "zh": "每个 thread 算一列 8 个结果：寄存器里 B 的一个数供 8 次 FMA 用。"},
 "limit": {"en": "Every FMA still reads its own number of As; only B is reused in registers.",
           "zh": "每次 FMA 仍要从 As 读一个数；在寄存器里重复使用的只有 B。"}
} */
/* One block computes a 64 x 64 tile of C, one thread a column of 8 results of it.
 * A[M][K] * B[K][N] = C[M][N], all row-major; As[64][8] and Bs[8][64] in shared memory.
 *
 * New: for one k, a thread reads one number of Bs and 8 of As, for 8 FMAs. In tiled these were 16
 * reads. With fewer threads for one result the tile can be 64 wide: 16 FLOP per byte requested.
 * The 8 numbers of a row of As are neighbours along k, so the compiler reads 4 of them at once.
 *
 * M = N = K = 256, counted by the x-ray, exact for sm_90; rates are of one SM:
 *                                               tiled       tile_1d
 *   global load requests                       32,768        16,384
 *   global load sectors                       131,072        65,536
 *   shared load requests                      655,360       196,608
 *   shared load wavefronts                    786,432       327,680
 *   shared store wavefronts                    32,768        16,384
 *   wavefronts in all; one a clock            854,016       387,072
 *   FMAs of warps; four a clock               524,288       524,288
 *   barriers, one a warp                       32,768        16,384
 * Wavefronts are still the roof, at 34 % of the FMA peak; in tiled it was 15 %. Predicted: at most
 * 2.2 times as fast as tiled.
 * Limit: 8 of the 9 reads for one k are of As, each for a single FMA. */
enum { BM = 64, BN = 64, BK = 8, TM = 8 };

extern "C" __global__ void __launch_bounds__(512)
    matmul(const float *A, const float *B, float *C, int M, int N, int K) {
  __shared__ float As[BM][BK], Bs[BK][BN];
  int tid = threadIdx.x;
  int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
  int ty = tid / BN * TM, tx = tid % BN; // first row and column in the tile //@ position
  int a_row = tid / BK, a_k = tid % BK;  // the number of A that this thread brings
  int b_k = tid / BN, b_col = tid % BN;  // and that of B
  float acc[TM] = {0.f};
  for (int k0 = 0; k0 < K; k0 += BK) { // tile by tile along K //@ k_loop
    int r = block_row + a_row, c = block_col + b_col;
    As[a_row][a_k] = (r < M && k0 + a_k < K) ? A[r * K + k0 + a_k] : 0.f;     //@ load_a
    Bs[b_k][b_col] = (c < N && k0 + b_k < K) ? B[(k0 + b_k) * N + c] : 0.f;   //@ load_b
    __syncthreads();                 // both tiles complete before anyone reads //@ barrier_1
    for (int k = 0; k < BK; ++k) {   //@ t_loop
      float b = Bs[k][tx];           // read once, used TM times //@ reg_b
      for (int i = 0; i < TM; ++i)
        acc[i] += As[ty + i][k] * b; //@ fma
    }
    __syncthreads(); // everyone has read before the next tile lands //@ barrier_2
  }
  for (int i = 0; i < TM; ++i) {
    int r = block_row + ty + i, c = block_col + tx;
    if (r < M && c < N)
      C[r * N + c] = acc[i]; //@ store
  }
}
