/* mmtutor {
 "schema": 1,
 "id": "cuda/wmma",
 "op": "gemm",
 "dtype": {"A": "bf16", "B": "bf16", "C": "bf16", "acc": "f32"},
 "layout": {"A": "row", "B": "row", "C": "row"},
 "requires": ["K%8==0", "N%8==0", "ceil(M/64)<=65535", "K<=2147483583"],
 "cc": {"min": "8.0", "max": null, "suffix": ""},
 "launches": [{"entry": "matmul", "grid": ["ceil(N/64)", "ceil(M/64)", 1], "block": [128, 1, 1],
               "smem": "0", "args": ["A", "B", "C", "M", "N", "K"]}],
 "tile": {"BM": "64", "BN": "64", "BK": "64", "TM": 4, "TN": 8, "stages": 1},
 "traffic": {"requested": "2*K*(M*ceil(N/64)+N*ceil(M/64))", "dram_min": "2*(M*K+K*N+M*N)"},
 "flop": "2*M*N*K",
 "deterministic": true,
 "idea": {"en": "A warp multiplies 16 x 16 x 16 at once: the tensor cores, bf16 in, fp32 sums.",
          "zh": "一个 warp 一次乘 16 x 16 x 16：tensor core，输入 bf16，累加 fp32。"},
 "limit": {"en": "Load, wait, multiply, wait: nothing is on its way while the tensor cores work.",
           "zh": "读、等、乘、再等：tensor core 工作时，没有数据在路上。"}
} */
/* Tensor cores by way of wmma. A[M][K] * B[K][N] = C[M][N], all row-major, bf16, summed in fp32.
 * A block of 4 warps computes 64 x 64 of C and walks along K, 64 at a time: As[64][64], Bs[64][64].
 * A warp has 32 x 32 of it: 2 x 2 fragments of 16 x 16, 8 fp32 numbers a lane each.
 * The first functions below are what load_matrix_sync, mma_sync and store_matrix_sync of <mma.h>
 * become; which lane holds which element of a fragment is the hardware's affair.
 *
 * Traffic of a block for one step along K: 16 KiB in copies of 16 bytes, 2*64*64*64 FLOP: 32 FLOP
 * per byte requested; fp32 in the same tile has 16. A load of a warp is 4 rows of 128 bytes,
 * 16 sectors, where M, N and K are multiples of 64.
 * Shared memory, a warp: each copy 4 wavefronts; for 16 of K 4 fragments, 4 wavefronts each, and 4
 * products of 2*16*16*16 FLOP. Rows are 16 bytes longer than the 64 elements they hold, so that 8
 * rows of 16 bytes lie in 32 banks: no bank conflict anywhere.
 * Outside the matrices the tiles are filled with zeros; K and N are multiples of 8, so that a copy
 * of 16 bytes is inside or outside as a whole. C goes through shared memory, is rounded to bf16,
 * and leaves in whole rows of 128 bytes.
 * Limit: one tile, two barriers: the copies and the products take turns. */
typedef unsigned short bf16;
typedef unsigned fragment[4]; // 16 x 16 of bf16, spread over the warp
const int LD = 64 + 8;        // a row of As or Bs: 16 bytes more than it holds //@ padding

static __device__ unsigned shared_address(const void *p) {
  return (unsigned)__cvta_generic_to_shared(p);
}

// 16 x 16 from shared memory, rows LD elements apart.
static __device__ void load_a(fragment f, const bf16 *tile) {
  asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.shared.bf16 {%0,%1,%2,%3}, [%4], %5;"
               : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
               : "r"(shared_address(tile)), "n"(LD)
               : "memory");
}

static __device__ void load_b(fragment f, const bf16 *tile) {
  asm volatile("wmma.load.b.sync.aligned.row.m16n16k16.shared.bf16 {%0,%1,%2,%3}, [%4], %5;"
               : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
               : "r"(shared_address(tile)), "n"(LD)
               : "memory");
}

// c += a * b, 16 x 16 x 16.
static __device__ void multiply(float c[8], const fragment a, const fragment b) {
  asm volatile("wmma.mma.sync.aligned.row.row.m16n16k16.f32.bf16.bf16.f32 "
               "{%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9,%10,%11}, {%12,%13,%14,%15}, "
               "{%0,%1,%2,%3,%4,%5,%6,%7};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]),
                 "+f"(c[6]), "+f"(c[7])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]),
                 "r"(b[3]));
}

static __device__ void store(float *tile, const float c[8]) {
  asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%0], "
               "{%1,%2,%3,%4,%5,%6,%7,%8}, %9;" ::"r"(shared_address(tile)),
               "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "f"(c[4]), "f"(c[5]), "f"(c[6]),
               "f"(c[7]), "n"(LD)
               : "memory");
}

// Four fp32 numbers as bf16, rounded to nearest: 8 bytes.
static __device__ unsigned long long round4(float4 v) {
  unsigned long long four;
  asm("{ .reg .b32 lo, hi;\n\t"
      "cvt.rn.bf16x2.f32 lo, %2, %1;\n\t"
      "cvt.rn.bf16x2.f32 hi, %4, %3;\n\t"
      "mov.b64 %0, {lo, hi}; }"
      : "=l"(four)
      : "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w));
  return four;
}

extern "C" __global__ void __launch_bounds__(128)
    matmul(const bf16 *__restrict__ A, const bf16 *__restrict__ B, bf16 *__restrict__ C, int M,
           int N, int K) {
  __shared__ __align__(32) bf16 tiles[2][64][LD];         //@ tiles
  bf16(*As)[LD] = tiles[0], (*Bs)[LD] = tiles[1];
  float(*Cs)[LD] = (float(*)[LD])tiles; // in the end: 64 x 64 numbers of fp32 in the same place
  int t = threadIdx.x, warp = t / 32;
  int wr = warp / 2 * 32, wc = warp % 2 * 32;             // the warp's corner in the tile //@ warp
  long long r0 = blockIdx.y * 64LL, c0 = blockIdx.x * 64LL; // the tile's in C  //@ position
  int col = t % 8 * 8; // a thread copies 8 elements of a row, four times
  const int4 zero = {0, 0, 0, 0};
  float acc[2][2][8] = {};                                //@ accumulators

  for (int k0 = 0; k0 < K; k0 += 64) {                    //@ k_loop
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      int y = t / 8 + 16 * i;
      bool in_a = r0 + y < M && k0 + col < K, in_b = k0 + y < K && c0 + col < N;
      const bf16 *a = A + (r0 + y) * K + k0 + col, *b = B + (long long)(k0 + y) * N + c0 + col;
      *(int4 *)&As[y][col] = in_a ? *(const int4 *)a : zero; //@ load_a
      *(int4 *)&Bs[y][col] = in_b ? *(const int4 *)b : zero; //@ load_b
    }
    __syncthreads(); // both tiles complete before anyone reads          //@ barrier_1
#pragma unroll
    for (int k = 0; k < 64; k += 16) {                    //@ step
      fragment a[2], b[2];
      for (int i = 0; i < 2; ++i) {
        load_a(a[i], &As[wr + 16 * i][k]);                //@ fragment_a
        load_b(b[i], &Bs[k][wc + 16 * i]);                //@ fragment_b
      }
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
          multiply(acc[i][j], a[i], b[j]);                //@ mma
    }
    __syncthreads(); // everyone has read before the next tile lands     //@ barrier_2
  }

  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      store(&Cs[wr + 16 * i][wc + 16 * j], acc[i][j]);    //@ store_fragment
  __syncthreads();                                        //@ barrier_3
  int x = t % 16 * 4; // a thread rounds four numbers of a row, eight times
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    int y = t / 16 + 8 * i;
    unsigned long long four = round4(*(float4 *)&Cs[y][x]);        //@ round
    if (r0 + y < M && c0 + x < N)
      *(unsigned long long *)&C[(r0 + y) * N + c0 + x] = four;     //@ store
  }
}
