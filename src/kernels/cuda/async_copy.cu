/* mmtutor {
 "schema": 1,
 "id": "cuda/async_copy",
 "op": "gemm",
 "dtype": {"A": "f32", "B": "f32", "C": "f32", "acc": "f32"},
 "layout": {"A": "row", "B": "row", "C": "row"},
 "requires": ["N%4==0", "M*K<=2147483647", "K*N<=2147483647", "M*N<=2147483647",
              "ceil(M/128)<=65535"],
 "cc": {"min": "8.0", "max": null, "suffix": ""},
 "launches": [{"entry": "matmul", "grid": ["ceil(N/128)", "ceil(M/128)", 1], "block": [256, 1, 1],
               "cluster": [1, 1, 1], "smem": "0", "args": ["A", "B", "C", "M", "N", "K"]}],
 "tile": {"BM": "128", "BN": "128", "BK": "8", "TM": 8, "TN": 8, "stages": 4},
 "traffic": {"requested": "4*K*(M*ceil(N/128)+N*ceil(M/128))", "dram_min": "4*(M*K+K*N+M*N)"},
 "flop": "2*M*N*K",
 "deterministic": true,
 "idea": {"en": "cp.async copies past the registers: three tiles are on their way at a time.",
          "zh": "cp.async 不经寄存器直接写入 shared memory：同时有三个 tile 在途。"},
 "limit": {"en": "A warp spends 4 wavefronts on 16 pieces of a row of Bs; 2 could carry them.",
           "zh": "warp 读 Bs 一行的 16 段要 4 个 wavefront，而 2 个就装得下。"}
} */
/* One block computes a 128 x 128 tile of C, one thread 8 x 8 results of it as 2 x 2 of 4 x 4.
 * A[M][K] * B[K][N] = C[M][N], all row-major; As[4][8][128 + 4], transposed, and Bs[4][8][128].
 *
 * New: cp.async copies from global to shared memory past the registers, and the thread goes on.
 * Four places in a ring: one tile is used while three are on their way. One group of copies is
 * committed a round, empty or not, so "at most two groups open" means that tile t has arrived.
 * A goes to its transposed place by copies of 4 bytes, the least that cp.async has; B by 16. So K
 * may be any number. Outside the matrices the source is 0 bytes long and the place is zeroed.
 *
 * M = N = K = 256, counted by the x-ray, exact for sm_90; rates are of one SM:
 *                                       double_buffer    async_copy
 *   global load requests                        2,048         5,120
 *   global load sectors                        32,768        32,768
 *   shared load requests                       32,768        32,768
 *   shared load wavefronts                     98,304        98,304
 *   shared store wavefronts                     8,448             0
 *   wavefronts in all; one a clock            129,280       120,832
 *   FMAs of warps; four a clock               524,288       524,288
 *   barriers, one a warp                        1,056         1,024
 * No store instruction is left; cp.async writes shared memory itself, which is in no line above.
 * Copies of 4 bytes bring A: 5,120 requests, not 2,048. Predicted: the longer the loads take, the
 * more is gained; no count shows it.
 * Limit: in a warp 16 lanes share a row of C; their float4 reads of Bs hold 16 different pieces,
 * which is 4 wavefronts where the 256 bytes would fit into 2. */
enum { BM = 128, BN = 128, BK = 8, TM = 8, TN = 8, THREADS = 256, PAD = 4, STAGES = 4 };

template <int BYTES> // from global to shared memory, by the copy engine of the SM; zeros if outside
static __device__ void copy_async(float *to, const float *from, bool inside) {
  unsigned place = (unsigned)__cvta_generic_to_shared(to);
  int bytes = inside ? BYTES : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" //@ cp_async
               :: "r"(place), "l"(from), "n"(BYTES), "r"(bytes) : "memory");
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    matmul(const float *A, const float *B, float *C, int M, int N, int K) {
  __shared__ __align__(16) float As[STAGES][BK][BM + PAD], Bs[STAGES][BK][BN];
  int tid = threadIdx.x, tiles = (K - 1) / BK + 1;
  int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
  int ty = tid / 16 * 4, tx = tid % 16 * 4; // rows ty, ty + 64; columns tx, tx + 64 //@ position
  int a_row = tid / 8, a_k = tid % 8;        // brings A at rows a_row, + 32, + 64, + 96
  int b_k = tid / 32, b_col = tid % 32 * 4;  // and 4 numbers of B
  float acc[TM][TN] = {{0.f}};

  auto bring = [&](int tile) { // starts the copies of a tile
    int k = tile * BK + a_k, s = tile % STAGES, c = block_col + b_col;
    for (int i = 0; i < BM && tile < tiles; i += 32) {
      int r = block_row + a_row + i;
      bool inside = r < M && k < K;
      copy_async<4>(&As[s][a_k][a_row + i], inside ? &A[r * K + k] : A, inside); //@ load_a
    }
    k = tile * BK + b_k;
    bool inside = c < N && k < K;
    if (tile < tiles)
      copy_async<16>(&Bs[s][b_k][b_col], inside ? &B[k * N + c] : B, inside); //@ load_b
    asm volatile("cp.async.commit_group;" ::: "memory"); //@ commit
  };

  for (int t = 0; t < STAGES - 1; ++t)
    bring(t); //@ first_tiles
  for (int t = 0; t < tiles; ++t) { // tile by tile along K //@ k_loop
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory"); // own //@ wait
    __syncthreads(); // everyone's copies of t; and tile t - 1 has been read //@ barrier_1
    bring(t + STAGES - 1); // into the place of t - 1 //@ prefetch
    int s = t % STAGES;
#pragma unroll
    for (int k = 0; k < BK; ++k) { //@ t_loop
      float a[TM], b[TN];
      *(float4 *)&a[0] = *(float4 *)&As[s][k][ty]; //@ reg_a
      *(float4 *)&a[4] = *(float4 *)&As[s][k][ty + 64];
      *(float4 *)&b[0] = *(float4 *)&Bs[s][k][tx]; //@ reg_b
      *(float4 *)&b[4] = *(float4 *)&Bs[s][k][tx + 64];
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j)
          acc[i][j] += a[i] * b[j]; // every a meets every b //@ fma
    }
  }
  for (int i = 0; i < TM; ++i)
    for (int j = 0; j < TN; j += 4) {
      int row = block_row + ty + i % 4 + i / 4 * 64, col = block_col + tx + j / 4 * 64;
      if (row < M && col < N)
        *(float4 *)&C[row * N + col] = *(float4 *)&acc[i][j]; //@ store
    }
}
