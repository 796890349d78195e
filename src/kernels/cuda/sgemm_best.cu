/* mmtutor {
 "schema": 1,
 "id": "cuda/sgemm_best",
 "op": "gemm",
 "dtype": {"A": "f32", "B": "f32", "C": "f32", "acc": "f32"},
 "layout": {"A": "row", "B": "row", "C": "row"},
 "requires": ["N%4==0", "M*K<=2147483647", "K*N<=2147483647", "M*N<=2147483647",
              "ceil(M/128)*ceil(N/256)*(ceil(K/16)+1)<=2147483647"],
 "cc": {"min": "8.0", "max": null, "suffix": ""},
 "launches": [{"entry": "sgemm", "grid": ["min(min(sms,1024),8*ceil(M/128)*ceil(N/256))", 1, 1],
               "block": [256, 1, 1], "cluster": [1, 1, 1], "smem": "99328",
               "args": ["A", "B", "C", "M", "N", "K", "alpha", "W"]}],
 "workspace": "4096+sms*128*256*4",
 "tile": {"BM": "128", "BN": "256", "BK": "16", "TM": 16, "TN": 8, "stages": 4},
 "traffic": {"requested": "4*K*(M*ceil(N/256)+N*ceil(M/128))", "dram_min": "4*(M*K+K*N+M*N)"},
 "flop": "2*M*N*K",
 "deterministic": true,
 "idea": {"en": "16 x 8 sums a thread, no conflicts, cp.async, and work cut so that all SMs end.",
          "zh": "每个 thread 16 x 8 个累加器，无 bank conflict，cp.async，并把工作切到所有 SM 同时结束。"},
 "limit": {"en": "FFMA issue: 92 of 100 instructions, and each reads registers from two banks.",
           "zh": "上限是 FFMA 的发射：一百条指令里 92 条是 FMA，而每条 FMA 都要从两个 register bank 取数。"}
} */
/* C[M][N] = alpha * A[M][K] * B[K][N], row-major. A block of 256 threads computes tiles of
 * 128 x 256; each of its 8 warps 64 x 64 of one, each thread 16 x 8 in registers.
 *
 * Traffic of a block for 16 steps of k: 128 + 256 rows of 16 floats, 24 KB, for 2*128*256*16 FLOP:
 * 42.7 FLOP a byte. In shared memory a thread reads 16 + 8 floats, 6 LDS.128, for 128 FMAs.
 *
 * Lanes of a warp: 4 rows (y) x 8 columns (x) of 4 x 4 floats, so numbered that lane ^ 1 has the
 * same y and lane ^ 2 the same x. Then every LDS.128 has pairs of lanes at one address and takes
 * 2 wavefronts instead of 4.
 *
 * Work: T tiles on P blocks, one a SM, rarely divide. The last T mod P tiles and P more are cut
 * along k into P equal shares; one that ends within a tile leaves its sums in W, and the block that
 * ends this tile adds them, in order. Each block works from the end of its share to the beginning,
 * so that what others wait for is done first. At 4096 that is 3.88 rounds instead of 4.
 *
 * Why alpha multiplies before the store: a float4 store wants its four sums in four neighbouring
 * registers, and this would tie the accumulators to the register banks that the operands of the
 * FMAs use too. The product breaks the tie.
 * Limit: the rate at which FFMAs issue. */
#define BM 128
#define BN 256
#define BK 16
#define STAGES 4
#define THREADS 256
#define LDA (BM + 4) /* As is stored by columns; 4 more floats keep its stores free of conflicts */
#define STAGE (BK * LDA + BK * BN)
#define FLAGS 1024

__device__ __forceinline__ void copy4(unsigned to, const char *from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
}
__device__ __forceinline__ void copy16(unsigned to, const char *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ __forceinline__ void copy4_or_0(unsigned to, const char *from, bool in) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(in ? 4 : 0)
               : "memory");
}
__device__ __forceinline__ void copy16_or_0(unsigned to, const char *from, bool in) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
               "r"(in ? 16 : 0)
               : "memory");
}
__device__ __forceinline__ void copies_end() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int N> __device__ __forceinline__ void copies_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    sgemm(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int M,
          int N, int K, float alpha, float *W) {
  extern __shared__ __align__(16) float s[];
  unsigned *flags = (unsigned *)W; // one a block, 0 at first; then a tile of sums a block
  W += FLAGS;
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
  const int wm = warp / 4 * 64, wn = warp % 4 * 64; // this warp's part of the tile
  const int x = 2 * (lane >> 3) + (lane & 1), y = (lane >> 1) & 3;
  const float *ra = s + wm + 4 * y, *rb = s + BK * LDA + wn + 4 * x;

  // who copies what: 16 lanes a row of A, one float each; 64 threads a row of B, a float4 each
  const int ak = tid % BK, am = tid / BK, bk = tid / (BN / 4), bn = tid % (BN / 4) * 4;
  const unsigned base = (unsigned)__cvta_generic_to_shared(s);
  const unsigned sa = base + (ak * LDA + am) * 4, sb = base + (BK * LDA + bk * BN + bn) * 4;

  const int tiles_m = (M + BM - 1) / BM, tiles_n = (N + BN - 1) / BN, T = tiles_m * tiles_n;
  const int P = gridDim.x, me = blockIdx.x, ktiles = (K + BK - 1) / BK;
  const int first_k = K - (ktiles - 1) * BK; // the ragged piece of k comes first
  const int cut = T % P == 0 ? 0 : T > P ? T % P + P : T; // tiles that are cut into shares //@ cut
  const long long units = (long long)cut * ktiles;
  const int u_begin = (int)(units * me / P);
  int u = (int)(units * (me + 1) / P);
  int next_tile = cut + me;

#pragma unroll 1
  for (;;) { // one piece of work: `pieces` steps of k of one tile, from t0 on
    int tile, t0, pieces;
    if (u > u_begin) {
      tile = (u - 1) / ktiles, t0 = max(u_begin - tile * ktiles, 0);
      pieces = u - tile * ktiles - t0;
      u -= pieces;
    } else if (next_tile < T) {
      tile = next_tile, t0 = 0, pieces = ktiles;
      next_tile += P;
    } else
      break;
    // 8 rows of tiles share L2
    const int per = 8 * tiles_n, g = tile / per, first = g * 8; //@ raster
    const int rows = min(tiles_m - first, 8);
    const int m0 = (first + tile % per % rows) * BM, n0 = tile % per / rows * BN;

    // rows and columns outside of the matrices read the last one inside: nobody stores the result
    unsigned oa[8], ob[4];
#pragma unroll
    for (int i = 0; i < 8; i++)
      oa[i] = (unsigned)(min(am + i * 16, M - 1 - m0) * K + ak) * 4u;
#pragma unroll
    for (int i = 0; i < 4; i++)
      ob[i] = (unsigned)((bk + i * 4) * N + min(bn, N - 4 - n0)) * 4u;
    const int k0 = t0 == 0 ? 0 : first_k + (t0 - 1) * BK, klen = t0 == 0 ? first_k : BK;
    const char *ua = (const char *)(A + (size_t)m0 * K + k0);
    const char *ub = (const char *)(B + (size_t)k0 * N + n0);
    auto load = [&](unsigned at) { //@ load
#pragma unroll
      for (int i = 0; i < 8; i++)
        copy4(sa + at + i * 16 * 4, ua + oa[i]);
#pragma unroll
      for (int i = 0; i < 4; i++)
        copy16(sb + at + i * 4 * BN * 4, ub + ob[i]);
      ua += BK * 4;
      ub += (size_t)BK * N * 4;
    };
#pragma unroll
    for (int i = 0; i < 8; i++) // the first piece: zeros beyond its k
      copy4_or_0(sa + i * 16 * 4, ua + (ak < klen ? oa[i] : 0), ak < klen);
#pragma unroll
    for (int i = 0; i < 4; i++)
      copy16_or_0(sb + i * 4 * BN * 4, ub + (bk + i * 4 < klen ? ob[i] : 0), bk + i * 4 < klen);
    copies_end();
    ua += klen * 4;
    ub += (size_t)klen * N * 4;
#pragma unroll
    for (int i = 1; i < STAGES - 1; i++) {
      if (i < pieces)
        load(i * STAGE * 4);
      copies_end();
    }

    float acc[16][8] = {};
    float4 fa[2][4], fb[2][2]; // of this k and of the next
    copies_wait<STAGES - 2>();
    __syncthreads();
    int rd = 0, wr = (STAGES - 1) * STAGE;
#pragma unroll
    for (int i = 0; i < 4; i++)
      fa[0][i] = *(const float4 *)(ra + i * 16);
#pragma unroll
    for (int i = 0; i < 2; i++)
      fb[0][i] = *(const float4 *)(rb + i * 32);
    for (int t = 0; t < pieces; t++) {
      const float *qa = ra + rd, *qb = rb + rd;
#pragma unroll
      for (int k = 0; k < BK; k++) {
        if (k == BK - 1) { // on to the next stage: its copies have landed, for everyone //@ turn
          copies_wait<STAGES - 2>();
          __syncthreads();
          if (t + 1 < pieces)
            rd = rd + STAGE == STAGES * STAGE ? 0 : rd + STAGE;
          qa = ra + rd - BK * LDA;
          qb = rb + rd - BK * BN;
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
          fa[(k + 1) & 1][i] = *(const float4 *)(qa + (k + 1) * LDA + i * 16); //@ read_a
#pragma unroll
        for (int i = 0; i < 2; i++)
          fb[(k + 1) & 1][i] = *(const float4 *)(qb + (k + 1) * BN + i * 32); //@ read_b
        if (k == 0) {
          if (t + STAGES - 1 < pieces)
            load(wr * 4);
          copies_end();
          wr = wr + STAGE == STAGES * STAGE ? 0 : wr + STAGE;
        }
        const float *a = (const float *)fa[k & 1], *b = (const float *)fb[k & 1];
#pragma unroll
        for (int j = 0; j < 8; j++)
#pragma unroll
          for (int n = 0; n < 16; n++) {
            const int i = j & 1 ? 15 - n : n; // back and forth: one operand stays //@ serpentine
            acc[i][j] += a[i] * b[j];         //@ fma
          }
      }
    }
    copies_wait<0>();
    __syncthreads(); // the stages are free for the next piece

    if (t0 + pieces < ktiles) { // not the end of its tile: leave the sums to the next //@ leave
      float *w = W + (size_t)me * (BM * BN) + tid;
#pragma unroll
      for (int i = 0; i < 16; i++)
#pragma unroll
        for (int j = 0; j < 8; j++)
          __stcg(w + (i * 8 + j) * THREADS, acc[i][j]);
      __threadfence();
      __syncthreads();
      if (tid == 0)
        asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flags + me) : "memory");
      continue;
    }
    if (t0 > 0) { // the beginning of this tile lies with the blocks before //@ gather
      const long long begin = (long long)tile * ktiles;
      for (int c = me - 1; c >= 0 && units * (c + 1) / P > begin; c--) {
        if (units * c / P == units * (c + 1) / P)
          continue; // that block had no share
        if (tid == 0) {
          unsigned there;
          do
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(there) : "l"(flags + c)
                         : "memory");
          while (!there);
          flags[c] = 0; // as it was, for the next launch
        }
        __syncthreads();
        const float *w = W + (size_t)c * (BM * BN) + tid;
#pragma unroll
        for (int i = 0; i < 16; i++)
#pragma unroll
          for (int j = 0; j < 8; j++)
            acc[i][j] += __ldcg(w + (i * 8 + j) * THREADS);
      }
    }
#pragma unroll
    for (int i = 0; i < 16; i++) {
      const int r = m0 + wm + i / 4 * 16 + 4 * y + i % 4;
#pragma unroll
      for (int j = 0; j < 2; j++) {
        const int c = n0 + wn + j * 32 + 4 * x;
        if (r < M && c < N)
          *(float4 *)(C + (size_t)r * N + c) = //@ store
              make_float4(alpha * acc[i][4 * j], alpha * acc[i][4 * j + 1],
                          alpha * acc[i][4 * j + 2], alpha * acc[i][4 * j + 3]);
      }
    }
  }
}
