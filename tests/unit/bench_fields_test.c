/* Numbers by name: what is known comes back, what is not is not 0. */
#include "bench/fields.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_device(void **state) {
  (void)state;
  struct device_info d;
  double v = 7;
  result_device_init(&d);
  d.sms = 132;
  assert_true(fields_device(&d, "sms", &v));
  assert_true(v == 132);
  assert_false(fields_device(&d, "clock_hz", &v)); /* it did not say */
  assert_false(fields_device(&d, "smss", &v));
  assert_false(fields_device(NULL, "sms", &v));
}

static void test_roof(void **state) {
  (void)state;
  struct roofs r = {.n = 2};
  double v;
  strcpy(r.roof[0].name, "dram");
  strcpy(r.roof[1].name, "fma");
  r.roof[0].value = 4.2e12;
  r.roof[1].value = NAN;
  assert_true(fields_roof(&r, "dram", &v));
  assert_true(v == 4.2e12);
  assert_false(fields_roof(&r, "fma", &v));
  assert_false(fields_roof(&r, "l2", &v));
  assert_false(fields_roof(NULL, "dram", &v));
}

static void test_rates(void **state) {
  (void)state;
  struct result r;
  double v;
  result_init(&r);
  r.gflops = 8900;
  r.median_ms = 15.5;
  r.reference.ratio = 0.17; /* of a reference without a name: not to be told */
  struct fields_rates rates = fields_of(&r);
  assert_true(fields_rate(&rates, "gflops", &v) && v == 8900);
  assert_true(fields_rate(&rates, "ms", &v) && v == 15.5);
  assert_false(fields_rate(&rates, "ratio", &v));
  assert_false(fields_rate(&rates, "share", &v));
  strcpy(r.reference.name, "cuBLAS");
  strcpy(r.roof.name, "FP32 FMA");
  r.roof.share = 0.14;
  rates = fields_of(&r);
  assert_true(fields_rate(&rates, "ratio", &v) && v == 0.17);
  assert_true(fields_rate(&rates, "share", &v) && v == 0.14);
  result_done(&r);
}

static void test_run_name(void **state) {
  (void)state;
  char experiment[FIELDS_EXPERIMENT], as[FIELDS_AS];
  const char *field;
  assert_true(fields_run_name("e1.b.gflops", experiment, as, &field));
  assert_string_equal(experiment, "e1");
  assert_string_equal(as, "b");
  assert_string_equal(field, "gflops");
  assert_false(fields_run_name("e1.gflops", experiment, as, &field));
  assert_false(fields_run_name("", experiment, as, &field));
  assert_false(fields_run_name("e1.a_name_that_is_too_long.ms", experiment, as, &field));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_device), cmocka_unit_test(test_roof),
                                     cmocka_unit_test(test_rates), cmocka_unit_test(test_run_name)};
  return cmocka_run_group_tests_name("bench_fields", tests, NULL, NULL);
}
