/* mmtutor {
 "schema": 1,
 "id": "cpu/ijk",
 "op": "gemm",
 "dtype": {"A": "f32", "B": "f32", "C": "f32", "acc": "f32"},
 "layout": {"A": "row", "B": "row", "C": "row"},
 "parallel": false,
 "traffic": {"requested": "8*M*N*K", "dram_min": "4*(M*K+K*N+M*N)"},
 "flop": "2*M*N*K",
 "deterministic": true,
 "idea": {"en": "The definition: each element of C is the dot product of a row and a column.",
          "zh": "按定义算：C 的每个元素是一行与一列的 dot product。"},
 "limit": {"en": "B is walked down a column: a new cache line for every multiply-add.",
           "zh": "B 沿列往下走：每次乘加都碰一条新的 cache line。"}
} */
/* The three loops in the order of the definition: i, j, k.
 * A[M][K] * B[K][N] = C[M][N], row-major with leading dimensions lda, ldb, ldc.
 *
 * Traffic: 8 bytes requested for 2 FLOP. Along k, A moves by 4 bytes and B by 4*ldb bytes, so of
 * every 64-byte line of B one float is used before the next line is needed.
 * The sum is one chain: each addition waits for the one before, and C forbids reordering it.
 * Limit: once a column of B spans more lines than the cache holds, every access goes to memory. */
#include "mm_args.h"

int cpu_ijk(const struct mm_args *a) {
  for (int64_t i = 0; i < a->M; ++i)
    for (int64_t j = 0; j < a->N; ++j) {
      float acc = 0.f;
      for (int64_t k = 0; k < a->K; ++k)                    //@ k_loop
        acc += a->A[i * a->lda + k] * a->B[k * a->ldb + j]; //@ fma
      a->C[i * a->ldc + j] = acc;                           //@ store
    }
  return MM_OK;
}
