/* mmtutor {
 "schema": 1,
 "id": "cuda/transpose_padded",
 "op": "transpose",
 "dtype": {"A": "f32", "C": "f32"},
 "layout": {"A": "row", "C": "row"},
 "requires": ["ceil(M/32)<=65535"],
 "cc": {"min": "7.5", "max": null, "suffix": ""},
 "launches": [{"entry": "transpose", "grid": ["ceil(N/32)", "ceil(M/32)", 1], "block": [32, 8, 1],
               "smem": "0", "args": ["A", "C", "M", "N"]}],
 "traffic": {"requested": "4*M*N", "dram_min": "8*M*N"},
 "flop": "0",
 "deterministic": true,
 "idea": {"en": "One unused word at the end of each tile row moves every row by one bank.",
          "zh": "tile 的每行末尾多留一个不用的 word，下一行就错开一个 bank。"},
 "limit": {"en": "Memory: each element is read once and written once, in whole sectors.",
           "zh": "只剩内存：每个元素读一次、写一次，都是完整的 sector。"}
} */
/* The tiled transpose with rows of 33 words. C[N][M] = A[M][N]^T, both row-major; a block of 32 x 8
 * threads moves a tile of 32 x 32 elements, four a thread.
 *
 * Traffic of one warp for one row, M and N multiples of 32:
 *   A, global load      :  4 sectors,  1 wavefront
 *   tile, shared store  :  1 wavefront
 *   tile, shared load   :  1 wavefront: tile[x][y] and tile[x+1][y] are 33 words apart, 33 modulo
 *                         32 is 1, so the 32 lanes read from 32 banks; no conflict
 *   C, global store     :  4 sectors,  1 wavefront
 * The price is 32 words of shared memory that hold nothing.
 * Limit: memory bandwidth / 8 bytes is the number of elements a second, as for a copy. */
extern "C" __global__ void transpose(const float *__restrict__ A, float *__restrict__ C, int M,
                                     int N) {
  __shared__ float tile[32][32 + 1]; // the last column is never used //@ tile
  int x = threadIdx.x, y = threadIdx.y;
  long long c = blockIdx.x * 32LL, r = blockIdx.y * 32LL; // the tile's corner in A     //@ position
#pragma unroll
  for (int j = 0; j < 32; j += 8)                 //@ in_loop
    if (r + y + j < M && c + x < N)               //@ guard_a
      tile[y + j][x] = A[(r + y + j) * N + c + x]; //@ load
  __syncthreads(); // the tile is complete         //@ barrier
#pragma unroll
  for (int j = 0; j < 32; j += 8)                 //@ out_loop
    if (c + y + j < N && r + x < M)               //@ guard_c
      C[(c + y + j) * M + r + x] = tile[x][y + j]; //@ store
}
