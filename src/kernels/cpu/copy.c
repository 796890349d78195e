/* mmtutor {
 "schema": 1,
 "id": "cpu/copy",
 "op": "copy",
 "dtype": {"A": "f32", "C": "f32"},
 "layout": {"A": "row", "C": "row"},
 "parallel": false,
 "traffic": {"requested": "4*M*N", "dram_min": "8*M*N"},
 "flop": "0",
 "deterministic": true,
 "idea": {"en": "C = A: 8 bytes move for every element and nothing is computed.",
          "zh": "C = A：每个元素搬 8 bytes，什么都不算。"},
 "limit": {"en": "Memory bandwidth, once the arrays are larger than the last cache.",
           "zh": "数组比最后一级 cache 大时，就是 memory bandwidth。"}
} */
/* The bandwidth probe of the CPU. A[M*N] -> C[M*N].
 *
 * Traffic: 4 bytes read and 4 written an element. The compiler knows this loop as memcpy, and for
 * large arrays the C library's memcpy stores past the caches; an ordinary store would first read
 * the line it overwrites and move 12 bytes instead of 8.
 * Limit: the memory itself; a single core may not fill it. */
#include "mm_args.h"

int cpu_copy(const struct mm_args *a) {
  int64_t n = a->M * a->N;
  const float *restrict from = a->A;
  float *restrict to = a->C;
  for (int64_t i = 0; i < n; ++i)
    to[i] = from[i]; //@ copy
  return MM_OK;
}
