/* mmtutor {
 "schema": 1,
 "id": "cuda/reduce_first_add",
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
 "idea": {"en": "Each thread adds two elements as it loads them: half the blocks, half the trees.",
          "zh": "每个 thread 读入时先加两个元素：block 减半，tree 也减半。"},
 "limit": {"en": "The tree is unchanged: 9 barriers a block, now for 512 elements.",
           "zh": "tree 没有变：一个 block 仍有 9 个 barrier，现在对应 512 个元素。"}
} */
/* The tree, with a first addition on the way into shared memory. A[M*N] -> C[1]; part[256]; a
 * block of 256 threads adds 512 elements.
 *
 * Traffic of a block: 64 sectors of A, 1 atomic, 9 barriers; in shared memory 25 loads and 20
 * stores, a wavefront each, as before. They now serve 512 elements instead of 256.
 * The two loads do not wait for one another, so twice as many bytes are on their way.
 * Limit: the eight halvings still go through shared memory and barriers. */
extern "C" __global__ void clear(float *sum) { *sum = 0.f; } // the first launch //@ clear

extern "C" __global__ void reduce(const float *__restrict__ A, float *sum, int M, int N) {
  long long n = (long long)M * N;
  __shared__ float part[256];
  int t = threadIdx.x;
  long long i = blockIdx.x * 512LL + t; //@ index
  float a = i < n ? A[i] : 0.f;         //@ load_1
  float b = i + 256 < n ? A[i + 256] : 0.f; //@ load_2
  part[t] = a + b;                      //@ first_add
  __syncthreads();                      //@ barrier_1
  for (int d = 128; d > 0; d /= 2) {    //@ halving
    if (t < d)
      part[t] += part[t + d];           //@ add
    __syncthreads(); // this halving is complete before the next one //@ barrier_2
  }
  if (t == 0)
    atomicAdd(sum, part[0]); //@ atomic
}
