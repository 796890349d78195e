/* mmtutor {
 "schema": 1,
 "id": "cuda/reduce_shuffle",
 "op": "reduce",
 "dtype": {"A": "f32", "C": "f32", "acc": "f32"},
 "layout": {"A": "row", "C": "row"},
 "cc": {"min": "7.5", "max": null, "suffix": ""},
 "launches": [{"entry": "clear", "grid": [1, 1, 1], "block": [1, 1, 1], "smem": "0",
               "args": ["C"]},
              {"entry": "reduce", "grid": ["ceil(M*N/512)", 1, 1], "block": [256, 1, 1],
               "smem": "0", "args": ["A", "C", "M", "N"]}],
 "traffic": {"requested": "4*M*N", "dram_min": "4*(M*N+1)"},
 "flop": "M*N-1",
 "deterministic": false,
 "idea": {"en": "A warp adds through registers: five shuffles, no barrier, no shared memory.",
          "zh": "一个 warp 通过 register 相加：5 次 shuffle，不用 barrier 和 shared memory。"},
 "limit": {"en": "Two elements a thread, then ten shuffles: a block ends soon after its loads.",
           "zh": "每个 thread 只读两个元素，之后连着 10 次 shuffle：读完不久 block 就结束了。"}
} */
/* The sum of all elements, by warp shuffles. A[M*N] -> C[1]; part[8], one word a warp; a block of
 * 256 threads adds 512 elements.
 *
 * Traffic of a block: 64 sectors of A, 1 atomic, 1 barrier instead of 9.
 * Shared memory: 8 stores of one lane and 1 load, 9 wavefronts; the tree has 45.
 * Shuffles: 5 a warp for its 32 lanes, then 5 in the first warp for the 8 partial sums.
 * Limit: too little work a thread for what a block costs at its start and its end. */
extern "C" __global__ void clear(float *sum) { *sum = 0.f; } // the first launch //@ clear

// The sum over the lanes of a warp, in lane 0.
static __device__ float warp_sum(float x) {
  for (int d = 16; d > 0; d /= 2)
    x += __shfl_down_sync(0xffffffffu, x, d); //@ shuffle
  return x;
}

extern "C" __global__ void reduce(const float *__restrict__ A, float *sum, int M, int N) {
  long long n = (long long)M * N;
  __shared__ float part[8];
  int t = threadIdx.x;
  long long i = blockIdx.x * 512LL + t; //@ index
  float a = i < n ? A[i] : 0.f;         //@ load_1
  float b = i + 256 < n ? A[i + 256] : 0.f; //@ load_2
  float x = warp_sum(a + b);            //@ warp
  if (t % 32 == 0)
    part[t / 32] = x; //@ put
  __syncthreads();    //@ barrier
  if (t >= 32)
    return;
  x = warp_sum(t < 8 ? part[t] : 0.f); //@ block
  if (t == 0)
    atomicAdd(sum, x); //@ atomic
}
