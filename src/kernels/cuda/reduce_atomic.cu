/* mmtutor {
 "schema": 1,
 "id": "cuda/reduce_atomic",
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
 "idea": {"en": "Every thread adds its element to the sum: correct, and in no particular order.",
          "zh": "每个 thread 把自己的元素加到总和上：结果正确，但次序不定。"},
 "limit": {"en": "All additions go to one address; its slice of L2 does them one after another.",
           "zh": "所有加法都在同一个地址，只能在那一片 L2 里一个接一个地做。"}
} */
/* The sum of all elements, by atomics alone. A[M*N] -> C[1]; a block of 256 threads adds 256
 * elements. Element indices are 64-bit, since M*N may pass 2^31.
 *
 * Traffic of one warp: 4 sectors of A in 1 wavefront, and 32 atomic additions to one address.
 * They are a read, an addition and a write in L2, M*N times: A could arrive much faster.
 * Atomics add floats in the order in which they come: the last bits differ from run to run.
 * Limit: one address. Fewer atomics are the way out: add up within the block first. */
extern "C" __global__ void clear(float *sum) { *sum = 0.f; } // the first launch //@ clear

extern "C" __global__ void reduce(const float *__restrict__ A, float *sum, int M, int N) {
  long long n = (long long)M * N;
  long long i = blockIdx.x * 256LL + threadIdx.x; //@ index
  if (i < n)                                      //@ guard
    atomicAdd(sum, A[i]);                         //@ atomic
}
