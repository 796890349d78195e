/* mmtutor {
 "schema": 1,
 "id": "cpu/ikj",
 "op": "gemm",
 "dtype": {"A": "f32", "B": "f32", "C": "f32", "acc": "f32"},
 "layout": {"A": "row", "B": "row", "C": "row"},
 "parallel": false,
 "traffic": {"requested": "4*M*K*(N+1)", "dram_min": "4*(M*K+K*N+M*N)"},
 "flop": "2*M*N*K",
 "deterministic": true,
 "idea": {"en": "Two loops swapped: a row of B is scaled and added to a row of C.",
          "zh": "交换两层循环：把 B 的一行乘上一个数，加到 C 的一行。"},
 "limit": {"en": "All of B passes by once for each row of C; C is read and written for every k.",
           "zh": "C 的每一行都要把整个 B 过一遍，而且每个 k 都要读写一次 C。"}
} */
/* The loops of ijk with the inner two swapped: i, k, j.
 * A[M][K] * B[K][N] = C[M][N], row-major with leading dimensions lda, ldb, ldc.
 *
 * Traffic: A's element stays in a register for a whole row; B and C are walked along their rows,
 * so every byte of a cache line is used, and the compiler turns the inner loop into SIMD FMAs.
 * Requested of A and B: 4*M*K + 4*M*N*K bytes, plus a load and a store of C for every FMA.
 * Limit: the FMA units wait for two loads and a store each, and for memory once B outgrows the
 * cache. */
#include "mm_args.h"

int cpu_ikj(const struct mm_args *a) {
  for (int64_t i = 0; i < a->M; ++i) {
    float *restrict c = a->C + i * a->ldc;
    for (int64_t j = 0; j < a->N; ++j)
      c[j] = 0.f; // C holds anything before the run  //@ clear
    for (int64_t k = 0; k < a->K; ++k) {              //@ k_loop
      float x = a->A[i * a->lda + k];                 //@ load_a
      const float *restrict b = a->B + k * a->ldb;
      for (int64_t j = 0; j < a->N; ++j)              //@ j_loop
        c[j] += x * b[j];                             //@ fma
    }
  }
  return MM_OK;
}
