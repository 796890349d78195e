/* Verification: a right C passes in every op and mode, and each kind of wrong C is caught. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/rand.h"
#include "base/str.h"
#include "bench/exact.h"
#include "bench/narrow.h"
#include "bench/verify.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A stand-in for a device: C in host memory. */
static float *C;
static int64_t C_cols;

static bool fake_download(device *d, int64_t row0, int64_t rows, float *out, double *ms,
                          struct device_fault *fault) {
  (void)d;
  (void)fault;
  memcpy(out, C + row0 * C_cols, (size_t)(rows * C_cols) * sizeof *out);
  *ms = 1;
  return true;
}
static const struct device_ops fake = {.kind = "fake", .download = fake_download};

static struct kernel *make_kernel(const char *op, const char *more) {
  struct err err = {""};
  char *text = alloc_printf("/* mmtutor {\"schema\":1,\"id\":\"cpu/t\",\"op\":\"%s\",%s} */\n"
                            "int cpu_t(void);\n", op, more);
  struct kernel *k = kernel_parse(text, strlen(text), "src/kernels/cpu/t.c", NULL, &err);
  if (!k)
    fail_msg("%s", err.text);
  free(text);
  return k;
}

static const char *const f32 = "\"dtype\":{\"A\":\"f32\",\"B\":\"f32\",\"C\":\"f32\","
                               "\"acc\":\"f32\"}";

static struct device_job make_job(const struct kernel *k, int64_t M, int64_t N, int64_t K) {
  struct device_job job = {.kernel = k, .seed = 5};
  job.size = (struct kernel_size){.M = M, .N = N, .K = K};
  return job;
}

static void round_to(enum kernel_dtype t, int64_t n, float *v) {
  for (int64_t i = 0; i < n; i++) {
    double bits;
    narrow_store(&bits, t, &v[i], 1);
    narrow_widen(&bits, t, 1, &v[i]);
  }
}

/* The answer summed in fp32, in order, and rounded once to the type of C; column-major
 * operands and C as their flags say. */
static void compute(const struct device_job *job) {
  const struct kernel *k = job->kernel;
  int64_t M = job->size.M, N = job->size.N, K = job->size.K, rows, cols;
  verify_shape(job, &rows, &cols);
  free(C);
  C = alloc_zero((size_t)(rows * cols), sizeof *C);
  C_cols = cols;
  float *A = alloc_zero((size_t)(M * K), sizeof *A), *B = alloc_zero((size_t)(K * N), sizeof *B);
  rand_fill(2 * job->seed, 0, (size_t)(M * K), A);
  rand_fill(2 * job->seed + 1, 0, (size_t)(K * N), B);
  round_to(k->a, M * K, A);
  round_to(k->b, K * N, B);
  float *sum = alloc_zero((size_t)N, sizeof *sum);
  for (int64_t i = 0; i < M; i++) {
    memset(sum, 0, (size_t)N * sizeof *sum);
    for (int64_t p = 0; p < K; p++) {
      float a = A[k->a_col ? p * M + i : i * K + p];
      for (int64_t j = 0; j < N; j++)
        sum[j] += a * B[k->b_col ? j * K + p : p * N + j];
    }
    for (int64_t j = 0; j < N; j++)
      C[k->c_col ? j * M + i : i * N + j] = sum[j];
  }
  round_to(k->c, M * N, C);
  free(sum);
  free(A);
  free(B);
}

static struct result_verify check(const struct device_job *job) {
  struct err err = {""};
  struct device_fault fault;
  struct result_verify v;
  double ms;
  verify *check = verify_new(job, &err);
  if (!check)
    fail_msg("%s", err.text);
  assert_true(verify_check(check, &fake, NULL, &v, &ms, &fault));
  struct result_verify again;
  assert_true(verify_check(check, &fake, NULL, &again, &ms, &fault));
  assert_true(again.ok == v.ok);
  verify_free(check);
  return v;
}

static void test_right_small(void **state) {
  (void)state;
  static const int64_t sizes[][3] = {{1, 1, 1}, {37, 53, 29}, {64, 256, 128}, {65, 257, 129},
                                     {1, 300, 7}, {300, 1, 1000}, {2, 9, 513}};
  struct kernel *k = make_kernel("gemm", f32);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    struct device_job job = make_job(k, sizes[i][0], sizes[i][1], sizes[i][2]);
    compute(&job);
    struct result_verify v = check(&job);
    if (!v.ok)
      fail_msg("%zu: %s", i, v.note);
    assert_true(v.checked > 0 && (int64_t)v.checked == job.size.M * job.size.N);
    assert_true(v.max_error <= v.bound);
    assert_true(fabs(v.bound - 8 * sqrt((double)job.size.K) * 0x1p-24) < 1e-20);
  }
  kernel_free(k);
}

static void test_layouts(void **state) {
  (void)state;
  for (int bits = 0; bits < 8; bits++) {
    char more[256];
    snprintf(more, sizeof more, "%s,\"layout\":{\"A\":\"%s\",\"B\":\"%s\",\"C\":\"%s\"}", f32,
             bits & 1 ? "col" : "row", bits & 2 ? "col" : "row", bits & 4 ? "col" : "row");
    struct kernel *k = make_kernel("gemm", more);
    struct device_job job = make_job(k, 37, 53, 29);
    compute(&job);
    struct result_verify v = check(&job);
    if (!v.ok)
      fail_msg("%d: %s", bits, v.note);
    kernel_free(k);
  }
}

/* Kinds of a wrong C. */
enum mistake {
  ONE_NAN,
  LAST_NAN,
  ONE_INF,
  LAST_ROW_ZERO,
  LAST_COL_ZERO,
  MIDDLE_ROW_STALE,
  ONE_ELEMENT,
  ONE_TILE_ZERO,
  SIGN,
  SWAPPED_ROWS,
  ALL_NAN,
  LAST_TERM,
  MISTAKES
};

static void spoil(const struct device_job *job, enum mistake m) {
  int64_t M = job->size.M, N = job->size.N, K = job->size.K;
  switch (m) {
  case ONE_NAN:
    C[(M / 3) * N + N / 3] = NAN;
    break;
  case LAST_NAN:
    C[M * N - 1] = NAN;
    break;
  case ONE_INF:
    C[(M / 2) * N + 1] = -INFINITY;
    break;
  case LAST_ROW_ZERO:
    memset(C + (M - 1) * N, 0, (size_t)N * sizeof *C);
    break;
  case LAST_COL_ZERO:
    for (int64_t i = 0; i < M; i++)
      C[i * N + N - 1] = 0;
    break;
  case MIDDLE_ROW_STALE:
    memcpy(C + (M / 3) * N, C + (M / 3 + 1) * N, (size_t)N * sizeof *C);
    break;
  case ONE_ELEMENT:
    C[(M / 3) * N + N / 5] += 4;
    break;
  case ONE_TILE_ZERO:
    for (int64_t i = M / 3; i < M / 3 + 16; i++)
      memset(C + i * N + N / 3, 0, 16 * sizeof *C);
    break;
  case SIGN:
    for (int64_t i = 0; i < M * N; i++)
      C[i] = -C[i];
    break;
  case SWAPPED_ROWS:
    for (int64_t j = 0; j < N; j++) {
      float t = C[(M / 3) * N + j];
      C[(M / 3) * N + j] = C[(M / 3 + 7) * N + j];
      C[(M / 3 + 7) * N + j] = t;
    }
    break;
  case ALL_NAN:
    memset(C, 0xff, (size_t)(M * N) * sizeof *C);
    break;
  case LAST_TERM: /* a loop to K - 1 */
    for (int64_t i = 0; i < M; i++)
      for (int64_t j = 0; j < N; j++)
        C[i * N + j] -= rand_at(2 * job->seed, (uint64_t)(i * K + K - 1)) *
                        rand_at(2 * job->seed + 1, (uint64_t)((K - 1) * N + j));
    break;
  case MISTAKES:
    break;
  }
}

static void all_mistakes(const char *types, int64_t M, int64_t N, int64_t K, bool sampled) {
  struct kernel *k = make_kernel("gemm", types);
  struct device_job job = make_job(k, M, N, K);
  compute(&job);
  struct result_verify v = check(&job);
  if (!v.ok)
    fail_msg("right: %s", v.note);
  assert_true((v.checked < (double)(M * N)) == sampled);
  float *right = alloc_zero((size_t)(M * N), sizeof *right);
  memcpy(right, C, (size_t)(M * N) * sizeof *right);
  for (int m = 0; m < MISTAKES; m++) {
    memcpy(C, right, (size_t)(M * N) * sizeof *right);
    spoil(&job, (enum mistake)m);
    v = check(&job);
    if (v.ok)
      fail_msg("mistake %d passed at %lld %lld %lld", m, (long long)M, (long long)N, (long long)K);
    if (!v.note[0])
      fail_msg("mistake %d has no note", m);
  }
  free(right);
  kernel_free(k);
}

static void test_mistakes_small(void **state) {
  (void)state;
  all_mistakes(f32, 53, 67, 31, false);
  all_mistakes(f32, 130, 270, 140, false);
}

/* More than 2^31 FMAs, so that rows are sampled and the rest is projected. */
static void test_mistakes_sampled(void **state) {
  (void)state;
  all_mistakes(f32, 1291, 1301, 1303, true);
}

static const char *const bf16 = "\"dtype\":{\"A\":\"bf16\",\"B\":\"bf16\",\"C\":\"bf16\","
                                "\"acc\":\"f32\"}";
static const char *const f16 = "\"dtype\":{\"A\":\"f16\",\"B\":\"f16\",\"C\":\"f16\","
                               "\"acc\":\"f32\"}";
static const char *const wide = "\"dtype\":{\"A\":\"bf16\",\"B\":\"bf16\",\"C\":\"f32\","
                                "\"acc\":\"f32\"}";

static void test_mistakes_half(void **state) {
  (void)state;
  all_mistakes(bf16, 53, 67, 31, false);
  all_mistakes(f16, 130, 270, 140, false);
  all_mistakes(wide, 53, 67, 31, false);
}

/* C in 16 bits hides more than C in 32: the sums are of parts of a row. */
static void test_mistakes_half_sampled(void **state) {
  (void)state;
  all_mistakes(bf16, 1291, 1301, 1303, true);
  all_mistakes(wide, 1291, 1301, 1303, true);
}

/* One element more than its rounding away, by a whole unit in the last place, is wrong. */
static void test_half_last_place(void **state) {
  (void)state;
  static const struct {
    const char *types;
    double ulp;
  } cases[] = {{bf16, 0x1p-7}, {f16, 0x1p-10}};
  for (int i = 0; i < 2; i++) {
    struct kernel *k = make_kernel("gemm", cases[i].types);
    struct device_job job = make_job(k, 53, 67, 31);
    compute(&job);
    struct result_verify v = check(&job);
    assert_true(v.ok && v.max_error <= v.bound);
    assert_true(v.bound == 8 * sqrt(31.0) * 0x1p-24);
    C[20 * 67 + 7] *= (float)(1 + 2 * cases[i].ulp);
    v = check(&job);
    assert_false(v.ok);
    assert_non_null(strstr(v.note, "C[20,7]"));
    kernel_free(k);
  }
}

static void test_first_is_named(void **state) {
  (void)state;
  struct kernel *k = make_kernel("gemm", f32);
  struct device_job job = make_job(k, 300, 400, 20);
  compute(&job);
  C[250 * 400 + 3] = 0;
  C[170 * 400 + 333] = NAN;
  struct result_verify v = check(&job);
  assert_string_equal(v.note, "C[170,333] is NaN");
  assert_true(isinf(v.max_error));
  kernel_free(k);
}

static void elementwise(const char *op, int64_t M, int64_t N, int kind) {
  struct kernel *k = make_kernel(op, f32);
  struct device_job job = make_job(k, M, N, 1);
  int64_t rows, cols;
  verify_shape(&job, &rows, &cols);
  assert_int_equal(rows * cols, M * N);
  free(C);
  C = alloc_zero((size_t)(M * N), sizeof *C);
  C_cols = cols;
  for (int64_t i = 0; i < M * N; i++) {
    float a = rand_at(2 * job.seed, (uint64_t)i), b = rand_at(2 * job.seed + 1, (uint64_t)i);
    int64_t at = kind == 2 ? i % N * M + i / N : i;
    C[at] = kind == 0 ? a : kind == 1 ? a + b : a;
  }
  struct result_verify v = check(&job);
  if (!v.ok)
    fail_msg("%s: %s", op, v.note);
  assert_int_equal((int64_t)v.checked, M * N);
  C[M * N / 2] = nextafterf(C[M * N / 2], 9);
  C[M * N / 2] += kind == 1 ? 1e-5f : 0;
  assert_false(check(&job).ok);
  kernel_free(k);
}

static void test_elementwise(void **state) {
  (void)state;
  elementwise("copy", 37, 53, 0);
  elementwise("copy", 1, 40000, 0);
  elementwise("add", 37, 53, 1);
  elementwise("add", 40000, 1, 1);
  elementwise("transpose", 37, 53, 2);
}

static void test_gemv_and_reduce(void **state) {
  (void)state;
  struct kernel *k = make_kernel("gemv", f32);
  struct device_job job = make_job(k, 300, 1, 700);
  compute(&job);
  assert_true(check(&job).ok);
  C[299] += 0.01f;
  assert_false(check(&job).ok);
  kernel_free(k);

  k = make_kernel("reduce", f32);
  job = make_job(k, 300, 200, 1);
  double sum = 0;
  for (uint64_t i = 0; i < 60000; i++)
    sum += (double)rand_at(10, i);
  C[0] = (float)sum;
  C_cols = 1;
  assert_true(check(&job).ok);
  C[0] = (float)(sum + 100);
  assert_false(check(&job).ok);
  kernel_free(k);
}

static void test_half_inputs_are_rounded(void **state) {
  (void)state;
  struct exact_matrix m = {.stream = 3, .rows = 1, .cols = 1000, .dtype = DT_BF16};
  float v[1000];
  exact_fill(&m, 0, 0, 1000, v);
  for (int i = 0; i < 1000; i++) {
    uint32_t bits;
    memcpy(&bits, &v[i], sizeof bits);
    assert_int_equal(bits & 0xffff, 0);
    assert_true(fabsf(v[i] - rand_at(3, (uint64_t)i)) <= fabsf(v[i]) * 0x1p-8f);
  }
  m.dtype = DT_F16;
  exact_fill(&m, 0, 0, 1000, v);
  for (int i = 0; i < 1000; i++) {
    uint32_t bits;
    memcpy(&bits, &v[i], sizeof bits);
    if (fabsf(v[i]) >= 0x1p-14f)
      assert_int_equal(bits & 0x1fff, 0);
    assert_true(fabsf(v[i] - rand_at(3, (uint64_t)i)) <= fabsf(v[i]) * 0x1p-11f + 0x1p-25f);
  }
}

static void test_no_reference(void **state) {
  (void)state;
  struct kernel *k = make_kernel("chase", f32);
  struct device_job job = make_job(k, 3, 3, 3);
  struct err err = {""};
  assert_null(verify_new(&job, &err));
  assert_non_null(strstr(err.text, "chase"));
  kernel_free(k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_right_small),      cmocka_unit_test(test_layouts),
      cmocka_unit_test(test_mistakes_small),   cmocka_unit_test(test_mistakes_sampled),
      cmocka_unit_test(test_mistakes_half),    cmocka_unit_test(test_mistakes_half_sampled),
      cmocka_unit_test(test_half_last_place),
      cmocka_unit_test(test_first_is_named),   cmocka_unit_test(test_elementwise),
      cmocka_unit_test(test_gemv_and_reduce),  cmocka_unit_test(test_half_inputs_are_rounded),
      cmocka_unit_test(test_no_reference),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  free(C);
  return failed;
}
