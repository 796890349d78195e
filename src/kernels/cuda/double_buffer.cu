/* mmtutor {
 "schema": 1,
 "id": "cuda/double_buffer",
 "op": "gemm",
 "dtype": {"A": "f32", "B": "f32", "C": "f32", "acc": "f32"},
 "layout": {"A": "row", "B": "row", "C": "row"},
 "requires": ["K%4==0", "N%4==0", "M*K<=2147483647", "K*N<=2147483647", "M*N<=2147483647",
              "ceil(M/128)<=65535", "ceil(K/8)*8<=2147483647"],
 "cc": {"min": "7.5", "max": null, "suffix": ""},
 "launches": [{"entry": "matmul", "grid": ["ceil(N/128)", "ceil(M/128)", 1], "block": [256, 1, 1],
               "cluster": [1, 1, 1], "smem": "0", "args": ["A", "B", "C", "M", "N", "K"]}],
 "tile": {"BM": "128", "BN": "128", "BK": "8", "TM": 8, "TN": 8, "stages": 2},
 "traffic": {"requested": "4*K*(M*ceil(N/128)+N*ceil(M/128))", "dram_min": "4*(M*K+K*N+M*N)"},
 "flop": "2*M*N*K",
 "deterministic": true,
 "idea": {"en": "The next tile is on its way while this one is used; one barrier a tile.",
          "zh": "使用当前 tile 时，下一个 tile 已在途；每个 tile 只要一个 barrier。"},
 "limit": {"en": "The tile on its way takes 8 registers a thread; a second would take 8 more.",
           "zh": "在途的 tile 每个 thread 占 8 个寄存器；再多一个就再占 8 个。"}
} */
/* One block computes a 128 x 128 tile of C, one thread 8 x 8 results of it as 2 x 2 of 4 x 4.
 * A[M][K] * B[K][N] = C[M][N], all row-major; As[2][8][128 + 4], transposed, and Bs[2][8][128].
 *
 * New: while the block computes on one buffer, the loads of the next tile are already under way
 * into registers; after the FMAs they are stored into the other buffer. Whoever stores there has
 * passed the barrier behind its last reading, so one barrier a tile is enough.
 *
 * M = N = K = 256, counted by the x-ray, exact for sm_90; rates are of one SM:
 *                                              padded double_buffer
 *   global load requests                        2,048         2,048
 *   global load sectors                        32,768        32,768
 *   shared load requests                       32,768        32,768
 *   shared load wavefronts                     98,304        98,304
 *   shared store wavefronts                     8,192         8,448
 *   wavefronts in all; one a clock            129,024       129,280
 *   FMAs of warps; four a clock               524,288       524,288
 *   barriers, one a warp                        2,048         1,056
 * The counts stay, but for half of the barriers, and for one tile of zeros that is stored behind
 * the last. Predicted: the gain is the time that a block waited for its tiles, which no count
 * shows.
 * Limit: 8 registers a thread hold the tile that is under way, and its data pass through them
 * on their way to shared memory. A second one on the way would take 8 more. */
enum { BM = 128, BN = 128, BK = 8, TM = 8, TN = 8, THREADS = 256, PAD = 4 };

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    matmul(const float *A, const float *B, float *C, int M, int N, int K) {
  __shared__ __align__(16) float As[2][BK][BM + PAD], Bs[2][BK][BN];
  const float4 zero = {0.f, 0.f, 0.f, 0.f};
  int tid = threadIdx.x;
  int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
  int ty = tid / 16 * 4, tx = tid % 16 * 4; // rows ty, ty + 64; columns tx, tx + 64 //@ position
  int a_row = tid / 2, a_k = tid % 2 * 4;    // the 4 numbers of A that this thread brings
  int b_k = tid / 32, b_col = tid % 32 * 4;  // and those of B
  int r = block_row + a_row, c = block_col + b_col;
  float4 a4, b4; // here they wait for their place
  float acc[TM][TN] = {{0.f}};

  auto fetch = [&](int k0) { // starts the loads of the tile at k0; zeros behind K
    a4 = (r < M && k0 + a_k < K) ? *(const float4 *)&A[r * K + k0 + a_k] : zero;   //@ load_a
    b4 = (c < N && k0 + b_k < K) ? *(const float4 *)&B[(k0 + b_k) * N + c] : zero; //@ load_b
  };
  auto put = [&](int buffer) { // waits for them and stores them
    As[buffer][a_k + 0][a_row] = a4.x; //@ store_as
    As[buffer][a_k + 1][a_row] = a4.y;
    As[buffer][a_k + 2][a_row] = a4.z;
    As[buffer][a_k + 3][a_row] = a4.w;
    *(float4 *)&Bs[buffer][b_k][b_col] = b4; //@ store_bs
  };

  fetch(0); //@ first_tile
  put(0);
  __syncthreads(); //@ barrier_1
  for (int k0 = 0, now = 0; k0 < K; k0 += BK, now ^= 1) { // tile by tile along K //@ k_loop
    fetch(k0 + BK); // the next tile is on its way while this one is used //@ prefetch
#pragma unroll
    for (int k = 0; k < BK; ++k) { //@ t_loop
      float a[TM], b[TN];
      *(float4 *)&a[0] = *(float4 *)&As[now][k][ty]; //@ reg_a
      *(float4 *)&a[4] = *(float4 *)&As[now][k][ty + 64];
      *(float4 *)&b[0] = *(float4 *)&Bs[now][k][tx]; //@ reg_b
      *(float4 *)&b[4] = *(float4 *)&Bs[now][k][tx + 64];
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j)
          acc[i][j] += a[i] * b[j]; // every a meets every b //@ fma
    }
    put(now ^ 1);    // nobody reads there: all have passed the last barrier //@ put_next
    __syncthreads(); // the next tile is complete, and this one has been read //@ barrier_2
  }
  for (int i = 0; i < TM; ++i)
    for (int j = 0; j < TN; j += 4) {
      int row = block_row + ty + i % 4 + i / 4 * 64, col = block_col + tx + j * 16;
      if (row < M && col < N)
        *(float4 *)&C[row * N + col] = *(float4 *)&acc[i][j]; //@ store
    }
}
