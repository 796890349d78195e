/* mmtutor {
 "schema": 1,
 "id": "cuda/transpose_naive",
 "op": "transpose",
 "dtype": {"A": "f32", "C": "f32"},
 "layout": {"A": "row", "C": "row"},
 "requires": ["ceil(M/8)<=65535"],
 "cc": {"min": "7.5", "max": null, "suffix": ""},
 "launches": [{"entry": "transpose", "grid": ["ceil(N/32)", "ceil(M/8)", 1], "block": [32, 8, 1],
               "smem": "0", "args": ["A", "C", "M", "N"]}],
 "traffic": {"requested": "4*M*N", "dram_min": "8*M*N"},
 "flop": "0",
 "deterministic": true,
 "idea": {"en": "One thread moves one element: A is read along its rows, C written down a column.",
          "zh": "一个 thread 搬一个元素：沿 A 的行读，沿 C 的列写。"},
 "limit": {"en": "The 32 stores of a warp lie M floats apart: 32 sectors for 128 bytes.",
           "zh": "一个 warp 的 32 次写相隔 M 个 float：128 bytes 要 32 个 sector。"}
} */
/* The transpose as it is defined. C[N][M] = A[M][N]^T, both row-major; a block of 32 x 8 threads
 * moves 8 rows of 32 elements.
 *
 * Traffic of one warp, M and N multiples of 32:
 *   A[r*N + c]: 32 neighbours              ->  4 sectors of 32 bytes,  1 wavefront
 *   C[c*M + r]: 32 addresses M floats apart -> 32 sectors of 32 bytes, 32 wavefronts
 * A sector of C is written by 8 warps, 4 bytes each: the caches must gather it before memory sees
 * it whole.
 * Limit: one of the two matrices is walked against its rows, whichever way the threads lie. */
extern "C" __global__ void transpose(const float *__restrict__ A, float *__restrict__ C, int M,
                                     int N) {
  long long c = blockIdx.x * 32LL + threadIdx.x; // the lanes of a warp: 32 columns of A //@ column
  long long r = blockIdx.y * 8LL + threadIdx.y;  // the same row of A                    //@ row
  if (r < M && c < N)                            //@ guard
    C[c * M + r] = A[r * N + c];                 //@ move
}
