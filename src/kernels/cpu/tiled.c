/* mmtutor {
 "schema": 1,
 "id": "cpu/tiled",
 "op": "gemm",
 "dtype": {"A": "f32", "B": "f32", "C": "f32", "acc": "f32"},
 "layout": {"A": "row", "B": "row", "C": "row"},
 "params": {"T": {"values": [8, 16, 32, 64, 128, 256], "default": 64}},
 "parallel": false,
 "traffic": {"requested": "4*K*(M*ceil(N/T)+M*N)", "dram_min": "4*(M*K+K*N+M*N)"},
 "flop": "2*M*N*K",
 "deterministic": true,
 "idea": {"en": "ikj inside T x T tiles: a tile of B stays in the cache while T rows use it.",
          "zh": "在 T x T 的 tile 里做 ikj：B 的一个 tile 留在 cache 里，供 T 行使用。"},
 "limit": {"en": "The inner loop is only T long and still loads and stores C for every FMA.",
           "zh": "内层循环只有 T 那么长，而且每次 FMA 仍要读写 C。"}
} */
/* The loops of ikj, cut into tiles of T in every direction.
 * A[M][K] * B[K][N] = C[M][N], row-major with leading dimensions lda, ldb, ldc; T is a parameter
 * of the run.
 *
 * Traffic: a T x T tile of B (16 KB at T = 64) serves T rows of C from the cache, so B comes from
 * memory about M/T times instead of M times. Requested bytes stay near those of ikj.
 * Limit: nothing is kept in registers across k, and short rows cost loop overhead. Where B fits in
 * the cache anyway, this is slower than ikj. */
#include "mm_args.h"

static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }

/* Adds A[i0..i1)[k0..k1) * B[k0..k1)[j0..j1) to C. */
static void tile(const struct mm_args *a, int64_t i0, int64_t i1, int64_t k0, int64_t k1,
                 int64_t j0, int64_t j1) {
  for (int64_t i = i0; i < i1; ++i) {
    float *restrict c = a->C + i * a->ldc;
    for (int64_t k = k0; k < k1; ++k) {        //@ k_loop
      float x = a->A[i * a->lda + k];          //@ load_a
      const float *restrict b = a->B + k * a->ldb;
      for (int64_t j = j0; j < j1; ++j)
        c[j] += x * b[j];                      //@ fma
    }
  }
}

int cpu_tiled(const struct mm_args *a) {
  int64_t T = a->param[0];
  for (int64_t i = 0; i < a->M; ++i)
    for (int64_t j = 0; j < a->N; ++j)
      a->C[i * a->ldc + j] = 0.f;              //@ clear
  for (int64_t i = 0; i < a->M; i += T)
    for (int64_t k = 0; k < a->K; k += T)      //@ tile_loop
      for (int64_t j = 0; j < a->N; j += T)
        tile(a, i, least(i + T, a->M), k, least(k + T, a->K), j, least(j + T, a->N));
  return MM_OK;
}
