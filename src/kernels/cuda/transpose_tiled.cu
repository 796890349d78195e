/* mmtutor {
 "schema": 1,
 "id": "cuda/transpose_tiled",
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
 "idea": {"en": "A 32 x 32 tile turns round in shared memory: rows are read, rows are written.",
          "zh": "32 x 32 的 tile 在 shared memory 里转置：读整行，写也是整行。"},
 "limit": {"en": "A column of the tile lies in one bank: its 32 reads take 32 wavefronts.",
           "zh": "tile 的一列全在同一个 bank：32 次读要 32 个 wavefront。"}
} */
/* The transpose by way of shared memory. C[N][M] = A[M][N]^T, both row-major; a block of 32 x 8
 * threads moves a tile of 32 x 32 elements, four a thread.
 *
 * Traffic of one warp for one row, M and N multiples of 32:
 *   A, global load      :  4 sectors,  1 wavefront
 *   tile, shared store  :  1 wavefront
 *   tile, shared load   : 32 wavefronts, since tile[x][y] and tile[x+1][y] are 32 words apart and
 *                         a word's bank is its address modulo 32: 31 bank conflicts
 *   C, global store     :  4 sectors,  1 wavefront; the naive kernel has 32 and 32
 * Limit: the strided walk is still there. It has moved from global memory, where a wavefront costs
 * a sector, to shared memory. */
extern "C" __global__ void transpose(const float *__restrict__ A, float *__restrict__ C, int M,
                                     int N) {
  __shared__ float tile[32][32]; //@ tile
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
