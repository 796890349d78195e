/* Matrices for the PTX machine: the values, and that a large lazy one repeats them. */
#include "base/rand.h"
#include "bench/exact.h"
#include "bench/xray_matrix.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_values(void **state) {
  (void)state;
  for (int t = 0; t < DT_COUNT; t++) {
    enum kernel_dtype type = (enum kernel_dtype)t;
    struct xray_matrix x;
    struct err err;
    int64_t n = 10007;
    float want[10007], got[10007];
    const struct exact_matrix m = {42, 1, n, false, false, type};
    assert_true(xray_matrix_fill(&x, type, n, 42, true, &err));
    assert_int_equal(x.bytes, (size_t)n * kernel_dtype_size(type));
    assert_false(x.periodic);
    exact_fill(&m, 0, 0, n, want);
    xray_matrix_floats(&x, type, 0, n, got);
    for (int i = 0; i < n; i++)
      if (got[i] != want[i])
        fail_msg("%s: element %d is %a, not %a", kernel_dtype_name(type), i, (double)got[i],
                 (double)want[i]);
    xray_matrix_done(&x);
    assert_true(xray_matrix_poison(&x, type, n, false, &err));
    xray_matrix_floats(&x, type, 0, n, got);
    for (int i = 0; i < n; i++)
      assert_true(isnan(got[i]));
    xray_matrix_done(&x);
  }
}

/* Every f16 there and back: ordinary, subnormal and infinite ones are bits of a known value. */
static void test_halves(void **state) {
  (void)state;
  static const struct {
    uint16_t bits;
    float value;
  } known[] = {{0x3c00, 1},          {0xc000, -2},        {0x7bff, 65504},
               {0x0001, 0x1p-24f},   {0x03ff, 0x3ffp-24f}, {0x0400, 0x1p-14f},
               {0x3555, 0x555p-12f}, {0x7c00, INFINITY},  {0x8000, -0.0f}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    uint16_t bits = known[i].bits;
    struct xray_matrix x = {.data = &bits, .bytes = 2};
    float v;
    xray_matrix_floats(&x, DT_F16, 0, 1, &v);
    assert_true(v == known[i].value);
  }
}

static void test_lazy(void **state) {
  (void)state;
  struct xray_matrix x, c;
  struct err err;
  int64_t n = 4096 * 4096;
  assert_true(xray_matrix_fill(&x, DT_F32, n, 7, true, &err));
  float *v = x.data, first[64];
  for (int i = 0; i < 64; i++) {
    first[i] = v[i];
    assert_true(first[i] == rand_at(7, (uint64_t)i));
  }
  if (!x.periodic) { /* a system without memfd_create */
    xray_matrix_done(&x);
    skip();
  }
  int64_t period = 0;
  for (int64_t i = 64; i < n && !period; i += 64)
    if (memcmp(v + i, first, sizeof first) == 0)
      period = i;
  assert_true(period > 4096 && period % 4096 != 0);
  assert_true((period & (period - 1)) != 0);
  assert_true(v[n - 1] == v[(n - 1) % period]);
  v[0] = 5; /* private to this place */
  assert_true(v[period] == first[0]);
  assert_true(xray_matrix_poison(&c, DT_F32, n, true, &err));
  float *w = c.data;
  assert_true(isnan(w[0]) && isnan(w[n - 1]) && isnan(w[n / 2]));
  w[n / 2] = 1;
  assert_true(isnan(w[n / 2 + period]) && isnan(w[0]));
  assert_false(c.periodic);
  xray_matrix_done(&c);
  xray_matrix_done(&x);
}

static int asked;

static bool at_third(void) { return ++asked == 3; }

/* A large matrix takes long to fill: it can be stopped in the midst, and nothing is left. */
static void test_stopped(void **state) {
  (void)state;
  struct xray_matrix x;
  struct err err = {{0}};
  xray_matrix_stopped(at_third);
  for (int poison = 0; poison < 2; poison++) {
    asked = 0;
    int64_t n = 8 << 20; /* 32 MiB */
    assert_false(poison ? xray_matrix_poison(&x, DT_F32, n, false, &err)
                        : xray_matrix_fill(&x, DT_F32, n, 7, false, &err));
    assert_int_equal(asked, 3);
    assert_non_null(strstr(err.text, "stopped"));
    assert_null(x.data);
  }
  xray_matrix_stopped(NULL);
  /* Whole, it is the same values as in one piece: also behind the first pieces. */
  assert_true(xray_matrix_fill(&x, DT_F64, 2 << 20, 7, false, &err));
  const double *v = x.data;
  for (int64_t i = 0; i < 2 << 20; i += 65521)
    assert_true(v[i] == (double)rand_at(7, (uint64_t)i));
  xray_matrix_done(&x);
}

static void test_no_memory(void **state) {
  (void)state;
  struct xray_matrix x;
  struct err err = {{0}};
  assert_false(xray_matrix_fill(&x, DT_F32, INT64_C(1) << 58, 7, true, &err));
  assert_non_null(strstr(err.text, "smaller"));
  assert_null(x.data);
  xray_matrix_done(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_halves),
      cmocka_unit_test(test_lazy),
      cmocka_unit_test(test_stopped),
      cmocka_unit_test(test_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
