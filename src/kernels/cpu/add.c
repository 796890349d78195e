/* mmtutor {
 "schema": 1,
 "id": "cpu/add",
 "op": "add",
 "dtype": {"A": "f32", "B": "f32", "C": "f32", "acc": "f32"},
 "layout": {"A": "row", "B": "row", "C": "row"},
 "parallel": false,
 "traffic": {"requested": "8*M*N", "dram_min": "12*M*N"},
 "flop": "M*N",
 "deterministic": true,
 "idea": {"en": "C = A + B, element by element: one addition for every 12 bytes moved.",
          "zh": "C = A + B，逐元素相加：每搬 12 bytes 只做一次加法。"},
 "limit": {"en": "1/12 FLOP per byte: wider SIMD changes nothing once the arrays leave the cache.",
           "zh": "1/12 FLOP/B：数组放不进 cache 时，SIMD 再宽也没有用。"}
} */
/* The elementwise addition. A[M*N] + B[M*N] -> C[M*N].
 *
 * Traffic: 8 bytes read and 4 written for 1 FLOP. An ordinary store first reads the line it
 * overwrites, so the memory moves 16 bytes where 12 are counted.
 * Limit: memory bandwidth. */
#include "mm_args.h"

int cpu_add(const struct mm_args *a) {
  int64_t n = a->M * a->N;
  const float *restrict x = a->A;
  const float *restrict y = a->B;
  float *restrict c = a->C;
  for (int64_t i = 0; i < n; ++i)
    c[i] = x[i] + y[i]; //@ add
  return MM_OK;
}
