/* mmtutor {
 "schema": 1,
 "id": "cuda/warp_tile",
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
 "idea": {"en": "A warp owns 32 x 64 results, its lanes 4 x 8: pairs of lanes share their reads.",
          "zh": "每个 warp 负责 32 x 64 个结果，lane 排成 4 x 8：成对的 lane 共用每次读取。"},
 "limit": {"en": "8 x 8 results a thread need a 16-byte read for every 16 FMAs.",
           "zh": "每个 thread 8 x 8 个结果，每 16 次 FMA 要一次 16 字节的读。"}
} */
/* One block computes a 128 x 128 tile of C, one thread 8 x 8 results of it as 2 x 2 of 4 x 4.
 * A[M][K] * B[K][N] = C[M][N], all row-major; As[4][8][128 + 4], transposed, and Bs[4][8][128].
 *
 * New: the 8 warps own pieces of 32 x 64, 4 down and 2 across, and the lanes stand 4 x 8. For one
 * k a warp then reads 32 numbers of As and 64 of Bs, not 16 and 128. Lanes are numbered so that
 * lane and lane ^ 1 share the row, lane and lane ^ 2 the column: where all neighbours ask for
 * the same 16 bytes, half a warp is served at once, and a read costs 2 wavefronts, not 4.
 *
 * M = N = K = 256, counted by the x-ray, exact for sm_90; rates are of one SM:
 *                                          async_copy     warp_tile
 *   global load requests                        5,120         5,120
 *   global load sectors                        32,768        32,768
 *   shared load requests                       32,768        32,768
 *   shared load wavefronts                     98,304        65,536
 *   shared store wavefronts                         0             0
 *   wavefronts in all; one a clock            120,832        94,208
 *   FMAs of warps; four a clock               524,288       524,288
 *   barriers, one a warp                        1,024         1,024
 * A third of the shared loads' wavefronts less. All that are counted take 72 % of the FMAs' time,
 * in async_copy 92 %. Predicted: it helps where the data stage was the roof; the FMAs can now hold
 * it off.
 * Limit: 4 reads of 16 bytes for 64 FMAs, and the FMAs of a k wait for its reads, unless another
 * warp has work. A larger thread tile and reads one k ahead are what is left. */
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
  int warp = tid / 32, lane = tid % 32;
  int lane_row = lane / 2 % 4, lane_col = lane / 8 * 2 + lane % 2; // 4 x 8 lanes //@ lanes
  int ty = warp / 2 * 32 + lane_row * 4; // rows ty, ty + 16 on        //@ position
  int tx = warp % 2 * 64 + lane_col * 4; // columns tx, tx + 32 on
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
      *(float4 *)&a[4] = *(float4 *)&As[s][k][ty + 16];
      *(float4 *)&b[0] = *(float4 *)&Bs[s][k][tx]; //@ reg_b
      *(float4 *)&b[4] = *(float4 *)&Bs[s][k][tx + 32];
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j)
          acc[i][j] += a[i] * b[j]; // every a meets every b //@ fma
    }
  }
  for (int i = 0; i < TM; ++i)
    for (int j = 0; j < TN; j += 4) {
      int row = block_row + ty + i % 4 + i / 4 * 16, col = block_col + tx + j / 4 * 32;
      if (row < M && col < N)
        *(float4 *)&C[row * N + col] = *(float4 *)&acc[i][j]; //@ store
    }
}
