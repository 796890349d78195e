/* mmtutor {
 "schema": 1,
 "id": "cuda/reduce_best",
 "op": "reduce",
 "dtype": {"A": "f32", "C": "f32", "acc": "f32"},
 "layout": {"A": "row", "C": "row"},
 "cc": {"min": "7.5", "max": null, "suffix": ""},
 "workspace": "4096",
 "launches": [{"entry": "partial", "grid": ["min(1024,ceil(M*N/4096))", 1, 1], "block": [256, 1, 1],
               "smem": "0", "args": ["A", "W", "M", "N"]},
              {"entry": "finish", "grid": [1, 1, 1], "block": [256, 1, 1], "smem": "0",
               "args": ["W", "C", "M", "N"]}],
 "traffic": {"requested": "4*M*N", "dram_min": "4*(M*N+1)"},
 "flop": "M*N-1",
 "deterministic": true,
 "idea": {"en": "1024 blocks stride through A, 16 bytes a lane; a second launch adds their sums.",
          "zh": "1024 个 block 跨步读 A，每个 lane 16 bytes；第二次 launch 把各自的和相加。"},
 "limit": {"en": "Memory: A is read once at full speed, and 4 bytes come out.",
           "zh": "只剩内存：A 以全速读一遍，结果只有 4 bytes。"}
} */
/* The sum of all elements at the speed of memory, the same bits every time. A[M*N] -> C[1]; W[1024]
 * has a partial sum a block; 256 threads a block.
 *
 * Traffic of one warp and one load: 512 bytes, 16 sectors in 4 wavefronts, for 1 instruction; the
 * loop is unrolled four times, so 2 KiB of a warp are on their way at once. A block starts and ends
 * once for all of its elements.
 * What lies before the first address that is a multiple of 16, and behind the last whole float4, at
 * most 6 elements, goes to the first threads of block 0.
 * No atomics: who adds what in which order is fixed by the indices, so the result is deterministic.
 * Limit: memory bandwidth / 4 bytes is the number of elements a second. */
// The sum over the lanes of a warp, in lane 0.
static __device__ float warp_sum(float x) {
  for (int d = 16; d > 0; d /= 2)
    x += __shfl_down_sync(0xffffffffu, x, d); //@ shuffle
  return x;
}

// The sum over the 256 threads of a block, in thread 0; part[8] in shared memory.
static __device__ float block_sum(float x, float *part) {
  int t = threadIdx.x;
  x = warp_sum(x);
  if (t % 32 == 0)
    part[t / 32] = x;                             //@ put
  __syncthreads();                                //@ barrier
  return warp_sum(t < 8 ? part[t] : 0.f);         //@ block
}

extern "C" __global__ void __launch_bounds__(256)
    partial(const float *__restrict__ A, float *W, int M, int N) {
  __shared__ float part[8];
  long long n = (long long)M * N;
  long long t = blockIdx.x * 256LL + threadIdx.x, threads = gridDim.x * 256LL;
  long long head = (4 - (long long)A / 4 % 4) % 4; // floats before a multiple of 16 bytes //@ head
  if (head > n)
    head = n;
  const float4 *V = (const float4 *)(A + head);
  long long vectors = (n - head) / 4, tail = n - (n - head) % 4; //@ tail
  float x = 0.f;
#pragma unroll 4
  for (long long i = t; i < vectors; i += threads) { //@ stride_loop
    float4 v = V[i];                                 //@ load
    x += (v.x + v.y) + (v.z + v.w);                  //@ add
  }
  if (t < head)
    x += A[t];                                       //@ rest_1
  if (t < n - tail)
    x += A[tail + t];                                //@ rest_2
  x = block_sum(x, part);
  if (threadIdx.x == 0)
    W[blockIdx.x] = x;                               //@ partial
}

// The second launch, one block: the sums of the first one's blocks, at most four a thread.
extern "C" __global__ void finish(const float *__restrict__ W, float *sum, int M, int N) {
  __shared__ float part[8];
  long long blocks = ((long long)M * N + 4095) / 4096; // as many as the first launch had
  blocks = blocks < 1024 ? blocks : 1024;
  float x = 0.f;
  for (int i = threadIdx.x; i < blocks; i += 256) //@ finish_loop
    x += W[i];                                    //@ finish_add
  x = block_sum(x, part);
  if (threadIdx.x == 0)
    *sum = x; //@ store
}
