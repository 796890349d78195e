/* mmtutor {
 "schema": 1,
 "id": "cuda/tiled",
 "op": "gemm",
 "dtype": {"A": "f32", "B": "f32", "C": "f32", "acc": "f32"},
 "layout": {"A": "row", "B": "row", "C": "row"},
 "params": {"T": {"values": [8, 16, 32], "default": 32}},
 "requires": ["M*K<=2147483647", "K*N<=2147483647", "M*N<=2147483647", "ceil(M/T)<=65535",
              "ceil(K/T)*T<=2147483647"],
 "cc": {"min": "7.5", "max": null, "suffix": ""},
 "launches": [{"entry": "matmul", "grid": ["ceil(N/T)", "ceil(M/T)", 1], "block": ["T", "T", 1],
               "cluster": [1, 1, 1], "smem": "0", "args": ["A", "B", "C", "M", "N", "K"]}],
 "tile": {"BM": "T", "BN": "T", "BK": "T", "TM": 1, "TN": 1, "stages": 1},
 "traffic": {"requested": "4*K*(M*ceil(N/T)+N*ceil(M/T))", "dram_min": "4*(M*K+K*N+M*N)"},
 "flop": "2*M*N*K",
 "deterministic": true,
 "idea": {"en": "A block stages T x T tiles of A and B in shared memory; each is used T times.",
          "zh": "一个 block 把 A、B 的 T x T tile 搬进 shared memory；每个数用 T 次。"},
 "limit": {"en": "Every FMA still reads two numbers from shared memory, and that becomes the roof.",
           "zh": "每次 FMA 仍要从 shared memory 读两个数，新的上限就在这里。"}
} */
/* One block computes one T x T tile of C and walks along K, a tile of A and a tile of B at a time.
 * A[M][K] * B[K][N] = C[M][N], all row-major; As[T][T] and Bs[T][T] in shared memory.
 *
 * Traffic of one block for one step along K: 2*T*T floats loaded, 2*T*T*T FLOP done,
 * so 2*T^3 / (4 * 2*T^2) = T/4 FLOP per byte requested: 8 at T = 32, the naive kernel has 0.25.
 * Outside the matrices the tiles are filled with zeros: they add nothing, and no thread leaves
 * early, since all of them must reach both barriers.
 * Limit: per k a thread reads As and Bs once each for one FMA; shared memory delivers about one
 * 128-byte wavefront a clock, and that is the next roof. One thread an element caps T at 32. */
#ifndef T
#define T 32
#endif
extern "C" __global__ void matmul(const float *A, const float *B, float *C, int M, int N, int K) {
  __shared__ float As[T][T], Bs[T][T];
  int tx = threadIdx.x, ty = threadIdx.y;
  int r = blockIdx.y * T + ty, c = blockIdx.x * T + tx; //@ position
  float acc = 0.f;
  for (int k0 = 0; k0 < K; k0 += T) { // tile by tile along K             //@ k_loop
    As[ty][tx] = (r < M && k0 + tx < K) ? A[r * K + k0 + tx] : 0.f;   //@ load_a
    Bs[ty][tx] = (c < N && k0 + ty < K) ? B[(k0 + ty) * N + c] : 0.f; //@ load_b
    __syncthreads(); // both tiles complete before anyone reads          //@ barrier_1
    for (int k = 0; k < T; ++k)         //@ t_loop
      acc += As[ty][k] * Bs[k][tx]; // each number serves T threads      //@ fma
    __syncthreads(); // everyone has read before the next tile lands     //@ barrier_2
  }
  if (r < M && c < N) C[r * N + c] = acc; //@ store
}
