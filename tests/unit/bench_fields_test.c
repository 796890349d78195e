/* Numbers by name: what is known comes back, what is not is not 0. */
#include "bench/fields.h"
#include "bench/xray_rung.h"

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

static void test_counts(void **state) {
  (void)state;
  struct xray_result x;
  double v;
  xray_result_init(&x);
  x.counts.gld_sectors = 40;
  x.flop_executed = 8;
  struct fields_counts c = fields_counts_of(&x);
  assert_true(fields_count(&c, "gld_sectors", &v) && v == 40);
  assert_true(fields_count(&c, "barriers", &v) && v == 0);
  assert_true(fields_count(&c, "flop", &v) && v == 8);
  assert_false(fields_count(&c, "registers", &v)); /* not known is not 0 */
  assert_false(fields_count(&c, "occupancy", &v));
  assert_false(fields_count(&c, "ms", &v));
  x.registers = 40;
  x.occupancy = 0.5;
  c = fields_counts_of(&x);
  assert_true(fields_count(&c, "registers", &v) && v == 40);
  assert_true(fields_count(&c, "occupancy", &v) && v == 0.5);
  xray_result_done(&x);
}

/* Small launches are run whole, large ones by classes of blocks. */
static void test_sampled_by_size(void **state) {
  (void)state;
  catalog *c = catalog_new();
  const struct kernel *tiled = catalog_find(c, "cuda/tiled"), *copy = catalog_find(c, "cuda/copy");
  struct kernel_size s = kernel_size_default(tiled, 256, 256, 256);
  assert_false(xray_rung_sampled(tiled, &s));
  s = kernel_size_default(tiled, 4096, 4096, 4096);
  assert_true(xray_rung_sampled(tiled, &s));
  s = kernel_size_default(tiled, 1, 1, 4096);
  assert_false(xray_rung_sampled(tiled, &s));
  s = kernel_size_default(copy, 1024, 1024, 1); /* moves, without a FLOP */
  assert_false(xray_rung_sampled(copy, &s));
  s = kernel_size_default(copy, 32768, 32768, 1);
  assert_true(xray_rung_sampled(copy, &s));
  catalog_free(c);
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
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_device),          cmocka_unit_test(test_roof),
      cmocka_unit_test(test_rates),           cmocka_unit_test(test_counts),
      cmocka_unit_test(test_sampled_by_size), cmocka_unit_test(test_run_name)};
  return cmocka_run_group_tests_name("bench_fields", tests, NULL, NULL);
}
