/* Every CPU rung at every instruction-set level of this machine against arithmetic in double. */
#include "guarded.h"
#include "kernels/catalog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static bool level_here(enum catalog_isa isa) {
#if defined __x86_64__
  if (isa == ISA_AVX2)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (isa == ISA_AVX512)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
#endif
  return isa == ISA_PLAIN;
}

/* The entry if it was compiled and this machine can run it. */
static catalog_entry entry_of(const char *id, int isa) {
  const struct catalog_cpu *c = catalog_cpu_find(id);
  assert_non_null(c);
  assert_non_null(c->entry[ISA_PLAIN]);
  return level_here((enum catalog_isa)isa) ? c->entry[isa] : NULL;
}

static void check_gemm(const char *id, int64_t param) {
  for (int isa = 0; isa < ISA_COUNT; isa++) {
    catalog_entry entry = entry_of(id, isa);
    for (int i = 0; entry && i < GUARDED_SHAPES; i++) {
      struct guarded_shape s = guarded_shapes[i];
      s.param = param;
      int code = -1;
      double e = guarded_gemm(entry, s, &code);
      assert_int_equal(code, MM_OK);
      if (!(e <= guarded_bound(s.K)))
        fail_msg("%s %s at %d x %d x %d, T = %d: error %g", id,
                 catalog_isa_name((enum catalog_isa)isa), (int)s.M, (int)s.N, (int)s.K, (int)param,
                 e);
    }
  }
}

static void test_ijk(void **state) {
  (void)state;
  check_gemm("cpu/ijk", 0);
}

static void test_ikj(void **state) {
  (void)state;
  check_gemm("cpu/ikj", 0);
}

static void test_tiled(void **state) {
  (void)state;
  catalog *c = catalog_new();
  const struct kernel *k = catalog_find(c, "cpu/tiled");
  assert_non_null(k);
  for (int v = 0; v < k->params[0].nvalues; v++)
    check_gemm("cpu/tiled", (int64_t)k->params[0].values[v]);
  catalog_free(c);
}

static void test_copy_and_add(void **state) {
  (void)state;
  for (int isa = 0; isa < ISA_COUNT; isa++)
    for (int64_t n = 1; n < 300; n += n < 70 ? 1 : 37) {
      struct guarded A = guarded_new((size_t)n), B = guarded_new((size_t)n);
      struct guarded C = guarded_new((size_t)n);
      guarded_fill(&A, 1, 1, 2);
      guarded_fill(&B, 1, 1, 3);
      struct mm_args args = {.A = A.data, .C = C.data, .M = 1, .N = n, .K = 1, .threads = 1};
      catalog_entry copy = entry_of("cpu/copy", isa), add = entry_of("cpu/add", isa);
      if (copy) {
        assert_int_equal(copy(&args), MM_OK);
        assert_memory_equal(C.data, A.data, (size_t)n * sizeof(float));
      }
      args.B = B.data;
      args.M = n, args.N = 1; // the other way round: M * N elements all the same
      if (add) {
        assert_int_equal(add(&args), MM_OK);
        for (int64_t i = 0; i < n; i++)
          assert_true(C.data[i] == A.data[i] + B.data[i]);
      }
      guarded_free(&A);
      guarded_free(&B);
      guarded_free(&C);
    }
}

static void check_gemv(catalog_entry entry, int64_t M, int64_t K, int64_t pad) {
  int64_t lda = K + pad;
  struct guarded A = guarded_new(guarded_floats(M, K, lda)), x = guarded_new((size_t)K);
  struct guarded y = guarded_new((size_t)M);
  guarded_fill(&A, K, lda, 2);
  guarded_fill(&x, 1, 1, 3);
  struct mm_args args = {.A = A.data,
                         .B = x.data,
                         .C = y.data,
                         .M = M,
                         .N = 1,
                         .K = K,
                         .lda = lda,
                         .ldb = 1,
                         .ldc = 1,
                         .alpha = 1,
                         .threads = 1};
  assert_int_equal(entry(&args), MM_OK);
  double e = guarded_error(&args, y.n);
  if (!(e <= guarded_bound(K)))
    fail_msg("gemv %d x %d: error %g", (int)M, (int)K, e);
  guarded_free(&A);
  guarded_free(&x);
  guarded_free(&y);
}

static void test_gemv(void **state) {
  (void)state;
  static const int64_t sizes[] = {1, 2, 3, 7, 17, 31, 33, 63, 64, 65, 127, 129, 1000};
  for (int isa = 0; isa < ISA_COUNT; isa++) {
    catalog_entry entry = entry_of("cpu/gemv", isa);
    for (size_t i = 0; entry && i < sizeof sizes / sizeof *sizes; i++) {
      check_gemv(entry, 5, sizes[i], 0);
      check_gemv(entry, sizes[i], 13, 3);
    }
  }
}

/* With alpha = 1 and beta = 0 the probe gives one exact number; other values show that it computes.
 */
static void test_fma(void **state) {
  (void)state;
  for (int isa = 0; isa < ISA_COUNT; isa++) {
    catalog_entry entry = entry_of("cpu/fma", isa);
    if (!entry)
      continue;
    struct guarded C = guarded_new(3);
    struct mm_args args = {.C = C.data, .M = 3, .N = 1000, .K = 1, .alpha = 1, .threads = 1};
    assert_int_equal(entry(&args), MM_OK);
    for (int i = 0; i < 3; i++)
      assert_true(C.data[i] == 1248.f);
    args.N = 4, args.alpha = 2, args.beta = 1; // x -> 16 x + 15 in four rounds
    assert_int_equal(entry(&args), MM_OK);
    assert_true(C.data[2] == 16.f * 1248.f + 15.f * 192.f);
    guarded_free(&C);
  }
}

/* The table names every embedded CPU rung, and each level that this machine has. */
static void test_table(void **state) {
  (void)state;
  catalog *c = catalog_new();
  int rungs = 0;
  for (int i = 0; i < catalog_count(c); i++) {
    const struct kernel *k = catalog_at(c, i);
    if (k->target != KERNEL_CPU)
      continue;
    rungs++;
    assert_non_null(catalog_cpu_find(k->id));
  }
  assert_true(rungs >= 7);
  assert_null(catalog_cpu_find("cpu/none"));
  assert_string_equal(catalog_isa_name(ISA_AVX512), "avx512");
  catalog_free(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table), cmocka_unit_test(test_ijk),
      cmocka_unit_test(test_ikj),   cmocka_unit_test(test_tiled),
      cmocka_unit_test(test_gemv),  cmocka_unit_test(test_copy_and_add),
      cmocka_unit_test(test_fma)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
