/* mmtutor {
 "schema": 1,
 "id": "cuda/add",
 "op": "add",
 "dtype": {"A": "f32", "B": "f32", "C": "f32", "acc": "f32"},
 "layout": {"A": "row", "B": "row", "C": "row"},
 "cc": {"min": "7.5", "max": null, "suffix": ""},
 "launches": [{"entry": "add", "grid": ["ceil(M*N/1024)", 1, 1], "block": [256, 1, 1],
               "smem": "0", "args": ["A", "B", "C", "M", "N"]}],
 "traffic": {"requested": "8*M*N", "dram_min": "12*M*N"},
 "flop": "M*N",
 "deterministic": true,
 "idea": {"en": "C = A + B, element by element: one addition for every 12 bytes moved.",
          "zh": "C = A + B，逐元素相加：每搬 12 bytes 只做一次加法。"},
 "limit": {"en": "1/12 FLOP per byte: bandwidth decides, and a faster unit would change nothing.",
           "zh": "1/12 FLOP/B：由 bandwidth 决定，计算单元再快也没有用。"}
} */
/* The elementwise addition. A[M*N] + B[M*N] -> C[M*N]; a block of 256 threads adds 1024 elements.
 * Element indices are 64-bit, since M*N may pass 2^31.
 *
 * Traffic: 8 bytes read and 4 written for 1 FLOP; nothing is used twice, so no tile can help.
 * Limit: memory bandwidth / 12 bytes is the number of additions a second. */
extern "C" __global__ void add(const float *__restrict__ A, const float *__restrict__ B,
                               float *__restrict__ C, int M, int N) {
  long long n = (long long)M * N;
  long long first = blockIdx.x * 1024LL + threadIdx.x; //@ index
#pragma unroll
  for (int j = 0; j < 4; ++j) {         //@ loop
    long long i = first + 256 * j;
    if (i < n)                          //@ guard
      C[i] = A[i] + B[i];               //@ add
  }
}
