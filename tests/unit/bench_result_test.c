/* The result object: statistics, and JSON to the contract and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "bench/result.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void samples(struct result *r, const double *ms, int n) {
  r->samples_ms = alloc_zero((size_t)n, sizeof *ms);
  memcpy(r->samples_ms, ms, (size_t)n * sizeof *ms);
  r->nsamples = n;
}

static void fill(struct result *r) {
  const double ms[] = {2, 1, 3, 5, 4};
  result_init(r);
  strcpy(r->kernel, "cuda/tiled");
  strcpy(r->params[0].name, "T");
  r->params[0].value = 32;
  r->nparams = 1;
  strcpy(r->device.id, "cuda:0");
  strcpy(r->device.name, "NVIDIA H200");
  r->device.sms = 132;
  r->M = 4096, r->N = 4095, r->K = 4094;
  r->flop = 2e9;
  r->requested = 1e9;
  r->dram_min = 4e8;
  r->verify = (struct result_verify){true, 2.6e-7, 3.1e-5, 16777216, ""};
  samples(r, ms, 5);
  r->launches_per_sample = 7;
  result_statistics(r);
  strcpy(r->roof.name, "FP32 FMA");
  strcpy(r->roof.unit, "FLOP/s");
  r->roof.value = 5e13;
  r->roof.share = 0.25;
  strcpy(r->reference.name, "cuBLAS");
  strcpy(r->reference.version, "13.0 pedantic");
  r->reference.median_ms = 1.5;
  r->reference.gflops = 1333;
  r->reference.ratio = 0.5;
  r->clock_mhz = 1980;
  r->throttled = 0;
  strcpy(r->cache, "hot");
  strcpy(r->date, "2026-11-30T02:03:04Z");
  r->seed = UINT64_MAX - 1;
  result_warn(r, "spread %d", 7);
}

static void test_statistics(void **state) {
  (void)state;
  struct result r;
  fill(&r);
  assert_true(fabs(r.median_ms - 3) < 1e-12);
  assert_true(fabs(r.p10_ms - 1.4) < 1e-12);
  assert_true(fabs(r.p90_ms - 4.6) < 1e-12);
  assert_true(fabs(r.gflops - 2e9 / 3e-3 / 1e9) < 1e-9);
  assert_true(fabs(r.gbs - 4e8 / 3e-3 / 1e9) < 1e-9);
  assert_true(fabs(result_spread(&r) - 3.2 / 3) < 1e-12);
  result_done(&r);
}

static void test_no_samples_is_unknown(void **state) {
  (void)state;
  struct result r;
  result_init(&r);
  r.flop = 1;
  result_statistics(&r);
  assert_true(isnan(r.median_ms) && isnan(r.gflops) && isnan(result_spread(&r)));
  result_done(&r);
}

static void test_copy_has_no_gflops(void **state) {
  (void)state;
  struct result r;
  fill(&r);
  r.flop = 0;
  result_statistics(&r);
  assert_true(isnan(r.gflops));
  assert_true(r.gbs > 0);
  result_done(&r);
}

static void test_round_trip(void **state) {
  (void)state;
  struct result a, b;
  struct err err = {""};
  fill(&a);
  cJSON *one = result_to_json(&a);
  assert_true(result_from_json(one, &b, &err));
  cJSON *two = result_to_json(&b);
  char *x = json_print(one), *y = json_print(two);
  assert_string_equal(x, y);
  assert_true(b.seed == UINT64_MAX - 1);
  assert_int_equal(b.nsamples, 5);
  assert_int_equal(b.throttled, 0);
  assert_string_equal(b.warnings[0], "spread 7");
  free(x);
  free(y);
  cJSON_Delete(one);
  cJSON_Delete(two);
  result_done(&a);
  result_done(&b);
}

static void test_keys_of_the_contract(void **state) {
  (void)state;
  static const char *const keys[] = {
      "schema", "kernel", "params", "device", "M", "N", "K", "flop", "bytes", "verify",
      "samples_ms", "launches_per_sample", "median_ms", "p10_ms", "p90_ms", "gflops", "gbs",
      "roof", "reference", "clock_mhz", "throttled", "cache", "date", "seed", "warnings"};
  struct result r;
  fill(&r);
  cJSON *obj = result_to_json(&r);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (!json_get(obj, keys[i]))
      fail_msg("%s is missing", keys[i]);
  /* What is not known is absent. */
  assert_null(json_get(obj, "prediction"));
  assert_null(json_get(obj, "power_w"));
  assert_null(json_get(obj, "transfer_ms"));
  assert_null(json_get(json_get(obj, "device"), "sms"));
  assert_null(json_get(json_get(obj, "device"), "threads"));
  cJSON_Delete(obj);
  result_done(&r);
}

static void test_unknown_is_absent(void **state) {
  (void)state;
  struct result r;
  result_init(&r);
  strcpy(r.kernel, "cpu/x");
  r.M = r.N = r.K = 1;
  cJSON *obj = result_to_json(&r);
  char *text = json_print(obj);
  assert_null(strstr(text, "null"));
  assert_null(strstr(text, "nan"));
  assert_null(json_get(obj, "samples_ms"));
  assert_null(json_get(obj, "reference"));
  assert_null(json_get(obj, "gflops"));
  free(text);
  cJSON_Delete(obj);
  result_done(&r);
}

static void test_device_numbers(void **state) {
  (void)state;
  struct device_info a, b;
  result_device_init(&a);
  strcpy(a.id, "cuda:1");
  a.sms = 132;
  a.mem_clock_hz = 3.2e9;
  cJSON *obj = result_device_to_json(&a, true);
  result_device_from_json(obj, &b);
  assert_string_equal(b.id, "cuda:1");
  assert_true(b.sms > 131 && b.sms < 133);
  assert_true(b.mem_clock_hz > 3.1e9);
  assert_true(isnan(b.peak_fp32));
  cJSON_Delete(obj);
}

static void refuse(const char *text, const char *part) {
  struct err err = {""};
  struct result r;
  cJSON *obj = cJSON_Parse(text);
  assert_non_null(obj);
  assert_false(result_from_json(obj, &r, &err));
  if (!strstr(err.text, part))
    fail_msg("%s: %s", text, err.text);
  assert_null(r.samples_ms);
  cJSON_Delete(obj);
}

static void test_bad_json(void **state) {
  (void)state;
  refuse("[]", "object");
  refuse("{\"schema\":2}", "schema");
  refuse("{\"schema\":1}", "kernel");
  refuse("{\"schema\":1,\"kernel\":\"a\",\"M\":0,\"N\":1,\"K\":1}", "M");
  refuse("{\"schema\":1,\"kernel\":\"a\",\"M\":1,\"N\":1.5,\"K\":1}", "N");
  refuse("{\"schema\":1,\"kernel\":\"a\",\"M\":1,\"N\":1,\"K\":1,\"samples_ms\":[1,\"x\"]}",
         "samples_ms");
  refuse("{\"schema\":1,\"kernel\":\"a\",\"M\":1,\"N\":1,\"K\":1,\"samples_ms\":[-1]}",
         "samples_ms");
}

static void test_copy_is_deep(void **state) {
  (void)state;
  struct result a, b;
  fill(&a);
  result_copy(&b, &a);
  result_done(&a);
  assert_int_equal(b.nsamples, 5);
  assert_true(b.samples_ms[3] > 4.9);
  assert_string_equal(b.warnings[0], "spread 7");
  result_done(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_statistics),        cmocka_unit_test(test_no_samples_is_unknown),
      cmocka_unit_test(test_copy_has_no_gflops), cmocka_unit_test(test_round_trip),
      cmocka_unit_test(test_keys_of_the_contract), cmocka_unit_test(test_unknown_is_absent),
      cmocka_unit_test(test_device_numbers),    cmocka_unit_test(test_bad_json),
      cmocka_unit_test(test_copy_is_deep),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
