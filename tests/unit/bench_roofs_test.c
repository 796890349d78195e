/* Roofs: measured on a device, kept, found again, and refused where damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "bench/dev_null.h"
#include "bench/host.h"
#include "bench/measure.h"
#include "bench/result.h"
#include "bench/roofs.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char dir[] = "/tmp/mmtutor-roofs-XXXXXX";

static struct roofs sample(void) {
  struct roofs r = {.n = 2, .date = "2026-11-30T02:03:04Z"};
  result_device_init(&r.device);
  strcpy(r.device.id, "cuda:0");
  strcpy(r.device.name, "Test card");
  r.roof[0] = (struct roof){"dram", "DRAM copy", "B/s", 4.2e12, 0.01, 4.8e12};
  r.roof[1] = (struct roof){"fma", "FP32 FMA", "FLOP/s", 6e13, NAN, NAN};
  return r;
}

static void test_kept(void **state) {
  (void)state;
  struct roofs a = sample(), b;
  assert_false(roofs_load("cuda:0", &b));
  roofs_save(&a);
  assert_true(roofs_load("cuda:0", &b));
  assert_int_equal(b.n, 2);
  assert_string_equal(b.device.name, "Test card");
  assert_string_equal(b.date, a.date);
  assert_true(fabs(roofs_find(&b, "dram")->value - 4.2e12) < 1);
  assert_true(isnan(roofs_find(&b, "fma")->theoretical));
  assert_false(b.recorded);
  assert_false(roofs_load("cuda:1", &b));
  assert_null(roofs_find(&b, "bf16"));
}

static void test_damaged(void **state) {
  (void)state;
  struct roofs r;
  struct err err;
  static const char *const bad[] = {"", "[]", "{\"schema\":1}", "{\"schema\":3,\"roofs\":[]}",
                                    "{\"schema\":1,\"roofs\":[{}]}",
                                    "{\"schema\":1,\"roofs\":[{\"name\":\"dram\",\"unit\":\"B/s\","
                                    "\"value\":-1}]}"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char *path = paths_cache("roofs-cpu.json");
    assert_true(paths_write(path, bad[i], strlen(bad[i]), &err));
    free(path);
    assert_false(roofs_load("cpu", &r));
  }
}

/* On the null device the probes' times are scripted, so the roofs are known. Its cache is small, or
 * the copy would be large. */
static void test_measured(void **state) {
  (void)state;
  static const double ms[] = {50};
  struct dev_null_script script = {.kernel_ms = ms, .nkernel = 1, .throttled = -1};
  result_device_init(&script.info);
  script.mhz = script.watt = NAN;
  script.info.threads = 1;
  script.info.peak_dram = 1e12;
  dev_null_set(&script);
  struct device_fault fault;
  struct roofs r;
  device *d = device_null.open(0, &fault);
  if (!roofs_measure(&device_null, d, 0.01, &r, &fault))
    fail_msg("%s %s", fault.what, fault.why);
  assert_int_equal(r.n, 2);
  assert_true(roofs_find(&r, "fma")->value > 0);
  const struct roof *dram = roofs_find(&r, "dram");
  assert_non_null(dram);
  assert_string_equal(dram->label, "DRAM copy, 1 thread");
  assert_string_equal(dram->unit, "B/s");
  assert_true(fabs(dram->theoretical - 1e12) < 1);
  /* 64 MiB an array, read and written in 50 ms. */
  assert_true(fabs(dram->value - 2 * 67108864.0 / 0.05) < 1);
  assert_true(dram->spread < 1e-9);
  device_null.close(d);
  dev_null_set(NULL);
}

static void spoil_fma(const struct device_job *job, float *C, int launch) {
  (void)launch;
  if (job->kernel->op == OP_FMA)
    C[0] += 1;
}

/* A probe that computes the wrong numbers gives no roof. */
static void test_wrong_probe(void **state) {
  (void)state;
  struct dev_null_script script = {.throttled = -1, .spoil = spoil_fma};
  result_device_init(&script.info);
  script.mhz = script.watt = NAN;
  dev_null_set(&script);
  struct device_fault fault;
  struct roofs r;
  device *d = device_null.open(0, &fault);
  assert_false(roofs_measure(&device_null, d, 0.01, &r, &fault));
  assert_string_equal(fault.code, "roofs");
  assert_int_equal(r.n, 1);
  device_null.close(d);
  dev_null_set(NULL);
}

static int launches_left;
static const struct device_ops *wrapped;

static bool stopping_launch(device *d, enum device_arm arm, int n, double *ms,
                            struct device_fault *fault) {
  if (launches_left-- > 0)
    return wrapped->launch(d, arm, n, ms, fault);
  strcpy(fault->code, "cancelled");
  return false;
}

/* A table that is a copy, as the worker's is: the same probes, and its own fault comes through. */
static void test_wrapped_table(void **state) {
  (void)state;
  struct device_fault fault;
  struct roofs r;
  wrapped = &device_null;
  struct device_ops copy = device_null;
  copy.launch = stopping_launch;
  copy.kind = "cuda";
  launches_left = 3;
  dev_null_set(NULL);
  device *d = device_null.open(0, &fault);
  assert_false(roofs_measure(&copy, d, 0.01, &r, &fault));
  assert_string_equal(fault.code, "cancelled");
  const struct roof *none = roofs_find(&r, "fma");
  assert_null(none);
  device_null.close(d);
}

static void test_cpu_core(void **state) {
  (void)state;
  struct device_fault fault;
  catalog *all = catalog_new();
  device *d = device_cpu.open(0, &fault);
  struct device_job job = {.kernel = catalog_find(all, "cpu/fma"), .seed = 1, .isa_auto = true};
  struct measure_plan plan = {.seconds = 0.05, .warmup_s = 0.1, .prediction = NAN};
  struct result r;
  assert_non_null(job.kernel);
  job.size = kernel_size_default(job.kernel, 16, 10000, 1);
  if (!measure_run(&device_cpu, d, &job, &plan, NULL, &r, &fault))
    fail_msg("%s %s", fault.what, fault.why);
  if (!r.verify.ok)
    fail_msg("%s", r.verify.note);
  /* More than 64 FLOP a clock and core does not exist: the loop was not folded away. */
  assert_true(r.gflops * 1e9 < 1.3 * 64 * r.device.clock_hz);
  result_done(&r);
  device_cpu.close(d);
  catalog_free(all);
}

int main(void) {
  if (!mkdtemp(dir))
    return 1;
  setenv("XDG_CACHE_HOME", dir, 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_kept),
      cmocka_unit_test(test_damaged),
      cmocka_unit_test(test_measured),
      cmocka_unit_test(test_wrong_probe),
      cmocka_unit_test(test_wrapped_table),
      cmocka_unit_test(test_cpu_core),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  char *command = alloc_printf("rm -rf %s", dir);
  failed += system(command) != 0;
  free(command);
  return failed;
}
