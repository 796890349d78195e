/* mmtutor {
 "schema": 1,
 "id": "cuda/wgmma_best",
 "op": "gemm",
 "dtype": {"A": "bf16", "B": "bf16", "C": "bf16", "acc": "f32"},
 "layout": {"A": "row", "B": "row", "C": "row"},
 "requires": ["K%8==0", "N%8==0", "M<=2147483647-256", "ceil(M/256)*ceil(N/256)<=1073741823"],
 "cc": {"min": "9.0", "max": "9.0", "suffix": "a"},
 "launches": [{"entry": "wgmma", "grid": ["2*min(floor(sms/2),ceil(M/256)*ceil(N/256))", 1, 1],
               "block": [384, 1, 1], "cluster": [2, 1, 1], "smem": "4*49152+2*16384+1024",
               "args": ["mapA", "mapB", "mapC", "M", "N", "K"]}],
 "maps": {"mapA": {"of": "A", "box": ["64", "128"], "swizzle": 128},
          "mapB": {"of": "B", "box": ["64", "64"], "swizzle": 128},
          "mapC": {"of": "C", "box": ["64", "64"], "swizzle": 128}},
 "tile": {"BM": "128", "BN": "256", "BK": "64", "TM": 1, "TN": 1, "stages": 4},
 "traffic": {"requested": "2*K*(M*ceil(N/256)+N*ceil(M/256))", "dram_min": "2*(M*K+K*N+M*N)"},
 "flop": "2*M*N*K",
 "deterministic": true,
 "idea": {"en": "Blocks that stay; TMA fills four stages, half of B comes from the neighbour.",
          "zh": "常驻 block；TMA 填四级 stage，B 的一半由 cluster 邻居 multicast 过来。"},
 "limit": {"en": "Power: on random numbers the clock falls before the tensor cores are full.",
           "zh": "上限是功耗：随机数据下，时钟先降下来，tensor core 还没有跑满。"}
} */
/* C[M][N] = A[M][K] * B[K][N], bf16 in and out, fp32 sums, row-major. A cluster of two blocks walks
 * over tiles of 256 x 256, a block 128 x 256 of each: warpgroup 0 is the producer, one thread of it
 * issues all copies; warpgroups 1 and 2 multiply, 64 x 256 each, 128 accumulators a thread.
 *
 * Traffic of a block for 64 steps of k: 128 rows of A and half of B's 256 columns, 32 KB, for
 * 2*128*256*64 FLOP: 128 FLOP a byte from L2. The other half of B is multicast by the neighbour.
 * Without it the tile has 85, and L2 could not deliver 800 TFLOP/s.
 *
 * A barrier `full` a stage counts the bytes that TMA brings; `empty` counts the four warpgroups of
 * both blocks that have read it, because a stage is written by both. The arrival at `empty` has no
 * .release.cluster: with it, every arrival costs a MEMBAR.GPU, and the kernel runs at 510 instead
 * of 710 TFLOP/s. Nothing is released here but the right to write, and the multiplications that
 * read the stage have ended.
 * Limit: power. */
typedef unsigned long long u64;
struct __align__(64) tensor_map {
  u64 opaque[16];
};

#define STAGES 4
#define BM 128
#define BN 256
#define BK 64
#define STAGE_A (BM * BK * 2)
#define STAGE_B (BK * BN * 2)
#define STAGE (STAGE_A + STAGE_B)
#define OUT (64 * 128 * 2) /* a half of a warpgroup's results */
#define CHUNK (64 * 64 * 2) /* 64 rows of 128 bytes, as TMA swizzles them */

__device__ __forceinline__ void wait(unsigned bar, unsigned phase) {
  asm volatile("{\n.reg .pred p;\n"
               "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
               "@!p bra again;\n}" ::"r"(bar), "r"(phase)
               : "memory");
}
__device__ __forceinline__ void arrive(unsigned bar, unsigned block_of_cluster) {
  asm volatile("{\n.reg .b32 far;\n"
               "mapa.shared::cluster.u32 far, %0, %1;\n"
               "mbarrier.arrive.shared::cluster.b64 _, [far];\n}" ::"r"(bar),
               "r"(block_of_cluster)
               : "memory");
}
__device__ __forceinline__ void load(unsigned to, const tensor_map *map, int x, int y,
                                     unsigned bar) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(bar)
               : "memory");
}
__device__ __forceinline__ void load_for_both(unsigned to, const tensor_map *map, int x, int y,
                                              unsigned bar) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to), "l"(map), "r"(x),
               "r"(y), "r"(bar), "h"((unsigned short)3)
               : "memory");
}
__device__ __forceinline__ void store(unsigned from, const tensor_map *map, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
                   map),
               "r"(x), "r"(y), "r"(from)
               : "memory");
}
__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n"
               "barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* Where an operand lies: address, distance of the 64-wide chunks, distance of groups of 8 rows, all
 * in units of 16 bytes; swizzled by 128 bytes. */
__device__ __forceinline__ u64 operand(unsigned at, unsigned chunks, unsigned groups) {
  return (u64)((at & 0x3ffff) >> 4) | (u64)(chunks >> 4) << 16 | (u64)(groups >> 4) << 32 |
         (u64)1 << 62;
}

/* d (64 x 256) = A (64 x 16, by rows) B (16 x 256, by rows: transposed for it), + d if keep. */
__device__ __forceinline__ void multiply(float (&d)[128], u64 a, u64 b, int keep) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11,"
               " %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23,"
               " %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35,"
               " %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,"
               " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59,"
               " %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71,"
               " %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83,"
               " %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95,"
               " %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107,"
               " %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119,"
               " %120, %121, %122, %123, %124, %125, %126, %127},"
               " %128, %129, p, 1, 1, 0, 1;\n}"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]),
                 "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
                 "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]),
                 "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
                 "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),
                 "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),
                 "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]),
                 "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
                 "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]),
                 "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]),
                 "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]),
                 "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]),
                 "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]),
                 "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]),
                 "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]),
                 "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]),
                 "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]),
                 "+f"(d[102]), "+f"(d[103]), "+f"(d[104]), "+f"(d[105]), "+f"(d[106]),
                 "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]),
                 "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]),
                 "+f"(d[117]), "+f"(d[118]), "+f"(d[119]), "+f"(d[120]), "+f"(d[121]),
                 "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]),
                 "+f"(d[127])
               : "l"(a), "l"(b), "r"(keep));
}
__device__ __forceinline__ unsigned pair(float low, float high) {
  unsigned v;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v) : "f"(high), "f"(low));
  return v;
}

extern "C" __global__ void __launch_bounds__(384, 1)
    wgmma(const __grid_constant__ tensor_map mapA, const __grid_constant__ tensor_map mapB,
          const __grid_constant__ tensor_map mapC, int M, int N, int K) {
  extern __shared__ char raw[];
  __shared__ u64 bars[2 * STAGES];
  const unsigned smem = ((unsigned)__cvta_generic_to_shared(raw) + 1023u) & ~1023u;
  const unsigned full = (unsigned)__cvta_generic_to_shared(bars), empty = full + STAGES * 8;
  const int tid = threadIdx.x, group = __shfl_sync(~0u, tid >> 7, 0);
  unsigned rank; // of this block in the cluster
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  const int tiles_m = (M + 2 * BM - 1) / (2 * BM), tiles_n = (N + BN - 1) / BN;
  const int total = tiles_m * tiles_n, pieces = (K + BK - 1) / BK;
  if (tid == 0) {
    for (int i = 0; i < STAGES; i++) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full + i * 8));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 4;" ::"r"(empty + i * 8));
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cluster_barrier(); // nobody arrives at a barrier that is not there yet
  auto place = [&](int id, int &tm, int &tn) { // 8 rows of tiles share L2 //@ raster
    const int per = 8 * tiles_n, g = id / per, first = g * 8, rows = min(tiles_m - first, 8);
    tm = first + id % per % rows;
    tn = id % per / rows;
  };

  int stage = 0;
  unsigned phase = 0;
  if (group == 0) { //@ producer
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    for (int id = blockIdx.x / 2; tid == 0 && id < total; id += gridDim.x / 2) {
      int tm, tn;
      place(id, tm, tn);
      const int m0 = (tm * 2 + rank) * BM, n0 = tn * BN + rank * (BN / 2);
      for (int t = 0; t < pieces; t++) {
        wait(empty + stage * 8, phase ^ 1);
        const unsigned bar = full + stage * 8, a = smem + stage * STAGE;
        const unsigned b = a + STAGE_A + rank * (STAGE_B / 2);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar),
                     "n"(STAGE)
                     : "memory");
        load(a, &mapA, t * BK, m0, bar);                          //@ load_a
        load_for_both(b, &mapB, n0, t * BK, bar);                 //@ load_b
        load_for_both(b + CHUNK, &mapB, n0 + 64, t * BK, bar);
        if (++stage == STAGES)
          stage = 0, phase ^= 1;
      }
    }
  } else { //@ consumer
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int w = group - 1, lane = tid & 31, warp = (tid >> 5) & 3, in_group = tid & 127;
    const unsigned out = smem + STAGES * STAGE + w * OUT;
    float d[128];
    for (int id = blockIdx.x / 2; id < total; id += gridDim.x / 2) {
      int tm, tn, before = -1;
      place(id, tm, tn);
      for (int t = 0; t < pieces; t++) {
        wait(full + stage * 8, phase);
        const unsigned at = smem + stage * STAGE;
        const u64 a = operand(at + w * CHUNK, 16, 1024), b = operand(at + STAGE_A, CHUNK, 1024);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < BK / 16; k++)
          multiply(d, a + k * (32 >> 4), b + k * (2048 >> 4), t + k > 0); //@ multiply
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        if (before >= 0) { // the stage before has been read: both blocks may fill it //@ release
          asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
          if (in_group < 2)
            arrive(empty + before * 8, in_group);
        }
        before = stage;
        if (++stage == STAGES)
          stage = 0, phase ^= 1;
      }
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
      for (int i = 0; i < 128; i++)
        asm volatile("" : "+f"(d[i])::"memory"); // not read before they are there
      if (in_group < 2)
        arrive(empty + before * 8, in_group);

      const int m0 = (tm * 2 + rank) * BM + w * 64, n0 = tn * BN;
#pragma unroll
      for (int h = 0; h < 2; h++) { // 128 columns at a time //@ epilogue
        if (in_group == 0)
          asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        asm volatile("bar.sync %0, 128;" ::"r"(w + 1) : "memory");
#pragma unroll
        for (int j = 0; j < 16; j += 2) {
          const int r = warp * 16 + (lane & 15), chunk = (j & 7) + (lane >> 4);
          const unsigned to = out + (j >> 3) * CHUNK + r * 128 + ((chunk ^ (r & 7)) << 4);
          const float *v = d + (h * 16 + j) * 4;
          asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
                       "r"(pair(v[0], v[1])), "r"(pair(v[2], v[3])), "r"(pair(v[4], v[5])),
                       "r"(pair(v[6], v[7]))
                       : "memory");
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); // TMA sees what was stored
        asm volatile("bar.sync %0, 128;" ::"r"(w + 1) : "memory");
        if (in_group == 0) {
          store(out, &mapC, n0 + h * 128, m0);
          store(out + CHUNK, &mapC, n0 + h * 128 + 64, m0);
          asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
      }
    }
    if (in_group == 0)
      asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
  cluster_barrier(); // no block leaves while the other may still write to it
}
