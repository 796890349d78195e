/* mmtutor {
 "schema": 1,
 "id": "cuda/copy",
 "op": "copy",
 "dtype": {"A": "f32", "C": "f32"},
 "layout": {"A": "row", "C": "row"},
 "cc": {"min": "7.5", "max": null, "suffix": ""},
 "launches": [{"entry": "copy", "grid": ["ceil(M*N/2048)", 1, 1], "block": [256, 1, 1],
               "smem": "0", "args": ["A", "C", "M", "N"]}],
 "traffic": {"requested": "4*M*N", "dram_min": "8*M*N"},
 "flop": "0",
 "deterministic": true,
 "idea": {"en": "C = A. A thread copies eight floats, each 256 elements after the last.",
          "zh": "C = A。一个 thread 复制 8 个 float，彼此相隔 256 个元素。"},
 "limit": {"en": "Nothing but bandwidth: 8 bytes move for every element, 4 in and 4 out.",
           "zh": "只受 bandwidth 限制：每个元素搬 8 bytes，读 4、写 4。"}
} */
/* The bandwidth probe. A[M*N] -> C[M*N]; a block of 256 threads copies 2048 elements.
 * Element indices are 64-bit, since M*N may pass 2^31.
 *
 * Traffic: 4 bytes read and 4 written an element. In each of the eight passes the lanes of a warp
 * touch 128 contiguous bytes; the eight loads do not wait for one another.
 * Limit: the memory itself. */
extern "C" __global__ void copy(const float *__restrict__ A, float *__restrict__ C, int M, int N) {
  long long n = (long long)M * N;
  long long first = blockIdx.x * 2048LL + threadIdx.x; //@ index
#pragma unroll
  for (int j = 0; j < 8; ++j) {         //@ loop
    long long i = first + 256 * j;
    if (i < n)                          //@ guard
      C[i] = A[i];                      //@ copy
  }
}
