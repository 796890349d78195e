/* mmtutor {
 "schema": 1,
 "id": "cuda/mma_sync",
 "op": "gemm",
 "dtype": {"A": "bf16", "B": "bf16", "C": "bf16", "acc": "f32"},
 "layout": {"A": "row", "B": "row", "C": "row"},
 "requires": ["K%8==0", "N%8==0", "ceil(M/128)<=65535", "K<=2147483519"],
 "cc": {"min": "8.0", "max": null, "suffix": ""},
 "launches": [{"entry": "matmul", "grid": ["ceil(N/128)", "ceil(M/128)", 1], "block": [256, 1, 1],
               "smem": "0", "args": ["A", "B", "C", "M", "N", "K"]}],
 "tile": {"BM": "128", "BN": "128", "BK": "32", "TM": 8, "TN": 8, "stages": 3},
 "traffic": {"requested": "2*K*(M*ceil(N/128)+N*ceil(M/128))", "dram_min": "2*(M*K+K*N+M*N)"},
 "flop": "2*M*N*K",
 "deterministic": true,
 "idea": {"en": "Two tiles are on their way by cp.async while mma.sync multiplies a third.",
          "zh": "mma.sync 乘一个 tile 时，另两个 tile 正由 cp.async 送来。"},
 "limit": {"en": "Each warp fetches its own operands by ldmatrix, and issues 16 mma for every 6.",
           "zh": "每个 warp 都用 ldmatrix 取自己的操作数：每 6 条才有 16 条 mma。"}
} */
/* Tensor cores by mma.sync, fed by a ring. A[M][K] * B[K][N] = C[M][N], all row-major, bf16, summed
 * in fp32. A block of 8 warps computes 128 x 128 of C and walks along K, 32 at a time, through a
 * ring of 3 stages: As[128][32], Bs[32][128]. The warps stand 2 x 4; a warp has 64 x 32 of C, which
 * is 4 x 4 tiles of 16 x 8, 4 fp32 numbers a lane each.
 *
 * Traffic of a block for one step along K: 16 KiB, 2*128*128*32 FLOP: 64 FLOP per byte requested,
 * twice those of cuda/wmma. cp.async brings 16 bytes a lane past the registers: 16 sectors a warp,
 * in 8 wavefronts for 8 rows of As, in 4 for 2 rows of Bs.
 * Shared memory, a warp: for 16 of K 4 + 2 ldmatrix.x4 of 4 wavefronts each, for 16 mma of
 * 2*16*8*16 FLOP. Rows lie without padding; instead the 16-byte pieces of a row change places:
 *   As, row r: piece p lies at p ^ (r/2 % 4), 4 pieces a row, 2 rows in all 32 banks
 *   Bs, row k: piece p lies at p ^ (k % 8), 16 pieces a row
 * so the 8 rows that ldmatrix reads at once lie in different banks: no bank conflict.
 * Outside the matrices cp.async writes zeros; K and N are multiples of 8, so that a piece is inside
 * or outside as a whole.
 * C leaves as 4 bytes a lane, 8 rows of 16 bytes: 8 sectors, half full; L2 puts them together.
 * Limit: mma.sync waits for its operands in registers, and the warp has to bring them there. */
typedef unsigned short bf16;

const int STAGES = 3;

static __device__ unsigned shared_address(const void *p) {
  return (unsigned)__cvta_generic_to_shared(p);
}

// Starts a copy of 16 bytes to shared memory; zeros where it is outside of the matrix.
static __device__ void copy16(bf16 *to, const bf16 *from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)),
               "l"(from), "r"(inside ? 16 : 0)
               : "memory");
}

// Four 8 x 8 matrices; lane 8*i + j gives the address of row j of matrix i.
static __device__ void ldmatrix(unsigned m[4], const bf16 *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
               : "r"(shared_address(row))
               : "memory");
}

// The same, each matrix transposed: B has to come along its columns.
static __device__ void ldmatrix_trans(unsigned m[4], const bf16 *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
               : "r"(shared_address(row))
               : "memory");
}

// c += a * b: 16 x 16 times 16 x 8.
static __device__ void mma(float c[4], const unsigned a[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Two fp32 numbers as bf16, rounded to nearest; `first` lies first in memory.
static __device__ unsigned round2(float first, float second) {
  unsigned two;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(two) : "f"(second), "f"(first));
  return two;
}

// Where the 16-byte piece `p` of a row lies.
static __device__ bf16 *place_a(bf16 (*As)[32], int r, int p) {
  return &As[r][(p ^ (r / 2 % 4)) * 8]; //@ swizzle_a
}

static __device__ bf16 *place_b(bf16 (*Bs)[128], int k, int p) {
  return &Bs[k][(p ^ (k % 8)) * 8]; //@ swizzle_b
}

extern "C" __global__ void __launch_bounds__(256, 2)
    matmul(const bf16 *__restrict__ A, const bf16 *__restrict__ B, bf16 *__restrict__ C, int M,
           int N, int K) {
  __shared__ __align__(128) bf16 As[STAGES][128][32], Bs[STAGES][32][128]; //@ ring
  int t = threadIdx.x, warp = t / 32, lane = t % 32;
  int wr = warp / 4 * 64, wc = warp % 4 * 32; // the warp's corner in the tile //@ warp_tile
  long long r0 = blockIdx.y * 128LL, c0 = blockIdx.x * 128LL;                  //@ position
  int row = lane % 16, piece = lane / 16;     // whose address this lane gives to ldmatrix
  int steps = (K + 31) / 32;
  float acc[4][4][4] = {};                                                     //@ accumulators

  auto start = [&](int step) { // the copies of one tile, 2 + 2 a thread; one group, maybe empty
    int stage = step % STAGES, k0 = step * 32;
    for (int i = 0; i < 2 && step < steps; ++i) {
      int r = t / 4 + 64 * i, p = t % 4, k = t / 16 + 16 * i, q = t % 16;
      bool in_a = r0 + r < M && k0 + p * 8 < K, in_b = k0 + k < K && c0 + q * 8 < N;
      const bf16 *a = A + (r0 + r) * K + k0 + p * 8, *b = B + (long long)(k0 + k) * N + c0 + q * 8;
      copy16(place_a(As[stage], r, p), in_a ? a : A, in_a);                    //@ copy_a
      copy16(place_b(Bs[stage], k, q), in_b ? b : B, in_b);                    //@ copy_b
    }
    asm volatile("cp.async.commit_group;" ::: "memory");                       //@ commit
  };

  for (int step = 0; step < STAGES - 1; ++step)
    start(step);                                                               //@ fill
  for (int step = 0; step < steps; ++step) {                                   //@ k_loop
    // All groups but the newest are complete, in all threads; and the stage before is read.
    asm volatile("cp.async.wait_group 1;" ::: "memory");                       //@ wait
    __syncthreads();                                                           //@ barrier
    start(step + STAGES - 1);                                                  //@ refill
    int stage = step % STAGES;
#pragma unroll
    for (int k = 0; k < 32; k += 16) {                                         //@ step
      unsigned a[4][4], b[2][4];
      for (int i = 0; i < 4; ++i)
        ldmatrix(a[i], place_a(As[stage], wr + 16 * i + row, k / 8 + piece));   //@ load_a
      for (int j = 0; j < 2; ++j)
        ldmatrix_trans(b[j], place_b(Bs[stage], k + row, wc / 8 + 2 * j + piece)); //@ load_b
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
          mma(acc[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);   //@ mma
    }
  }

  // A lane has two neighbours of row lane/4 and two of the row eight below.
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      for (int half = 0; half < 2; ++half) {
        long long r = r0 + wr + 16 * i + 8 * half + lane / 4, c = c0 + wc + 8 * j + lane % 4 * 2;
        const float *two = &acc[i][j][2 * half];
        if (r < M && c < N)
          *(unsigned *)&C[r * N + c] = round2(two[0], two[1]);                 //@ store
      }
}
