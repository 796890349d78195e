/* mmtutor {
 "schema": 1,
 "id": "cuda/reduce_tree",
 "op": "reduce",
 "dtype": {"A": "f32", "C": "f32", "acc": "f32"},
 "layout": {"A": "row", "C": "row"},
 "cc": {"min": "7.5", "max": null, "suffix": ""},
 "launches": [{"entry": "clear", "grid": [1, 1, 1], "block": [1, 1, 1], "smem": "0",
               "args": ["C"]},
              {"entry": "reduce", "grid": ["ceil(M*N/256)", 1, 1], "block": [256, 1, 1],
               "smem": "0", "args": ["A", "C", "M", "N"]}],
 "traffic": {"requested": "4*M*N", "dram_min": "4*(M*N+1)"},
 "flop": "M*N-1",
 "deterministic": false,
 "idea": {"en": "A block adds 256 elements in shared memory, in 8 halvings; one atomic is left.",
          "zh": "一个 block 在 shared memory 里用 8 次折半加完 256 个元素，只剩一次 atomic。"},
 "limit": {"en": "Half the threads only load, and 9 barriers stand in the way of 256 elements.",
           "zh": "一半的 thread 只负责读，每次折半都要等 barrier：256 个元素要 9 个 barrier。"}
} */
/* The sum of all elements, by a tree in shared memory. A[M*N] -> C[1]; part[256]; a block of 256
 * threads adds 256 elements. Beyond the end a thread brings 0, which adds nothing, and stays: all
 * must reach the barriers.
 *
 * Traffic of a block: 32 sectors of A, 1 atomic instead of 256, 9 barriers.
 * Shared memory: 8 warps store the elements. A halving of d = 128, 64, 32 has d/32 active warps,
 * each with 2 loads and 1 store; the last five, d = 16 ... 1, keep one warp partly busy:
 * 2*(4+2+1+5) + 1 = 25 loads and 8 + (4+2+1+5) = 20 stores, a wavefront each and no bank conflict,
 * because neighbouring threads touch neighbouring words.
 * Limit: in a halving at least half of the threads do nothing, and the barrier is for all. */
extern "C" __global__ void clear(float *sum) { *sum = 0.f; } // the first launch //@ clear

extern "C" __global__ void reduce(const float *__restrict__ A, float *sum, int M, int N) {
  long long n = (long long)M * N;
  __shared__ float part[256];
  int t = threadIdx.x;
  long long i = blockIdx.x * 256LL + t; //@ index
  part[t] = i < n ? A[i] : 0.f;         //@ load
  __syncthreads();                      //@ barrier_1
  for (int d = 128; d > 0; d /= 2) {    //@ halving
    if (t < d)
      part[t] += part[t + d];           //@ add
    __syncthreads(); // this halving is complete before the next one //@ barrier_2
  }
  if (t == 0)
    atomicAdd(sum, part[0]); //@ atomic
}
