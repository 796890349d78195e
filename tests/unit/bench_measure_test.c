/* The measuring protocol on the null device: order, counts, statistics, tripwires, faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/rand.h"
#include "bench/dev_null.h"
#include "bench/measure.h"
#include "bench/roofs.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct kernel *gemm, *steps;

static struct kernel *parse(const char *more) {
  struct err err = {""};
  char *text = alloc_printf(
      "/* mmtutor {\"schema\":1,\"id\":\"cpu/t\",\"op\":\"gemm\",%s\"dtype\":{\"A\":\"f32\","
      "\"B\":\"f32\",\"C\":\"f32\",\"acc\":\"f32\"},\"traffic\":{\"requested\":\"8*M*N*K\","
      "\"dram_min\":\"4*(M*K+K*N+M*N)\"},\"flop\":\"2*M*N*K\"} */\nint cpu_t(void);\n", more);
  struct kernel *k = kernel_parse(text, strlen(text), "src/kernels/cpu/t.c", NULL, &err);
  if (!k)
    fail_msg("%s", err.text);
  free(text);
  return k;
}

static struct dev_null_script script; /* each test begins with an empty one */
static struct measure_plan plan;
static struct device_job job;
static struct result result;
static struct device_fault fault;
static struct told {
  int compile, verify, samples;
  bool last_ok;
} told;

static int set_up(void **state) {
  (void)state;
  memset(&script, 0, sizeof script);
  result_device_init(&script.info);
  script.mhz = script.watt = NAN;
  script.throttled = -1;
  plan = (struct measure_plan){.seconds = 0.1, .warmup_s = 0.3, .prediction = NAN};
  job = (struct device_job){.kernel = gemm, .seed = 3, .isa_auto = true};
  job.size = kernel_size_default(gemm, 16, 16, 16);
  memset(&told, 0, sizeof told);
  measure_forget();
  return 0;
}

static int clean(void **state) {
  (void)state;
  result_done(&result);
  measure_forget();
  dev_null_set(NULL);
  return 0;
}

static void on_compile(void *ctx, const struct device_built *built) {
  (void)built;
  ((struct told *)ctx)->compile++;
}
static void on_verify(void *ctx, const struct result_verify *v) {
  struct told *t = ctx;
  t->verify++;
  t->last_ok = v->ok;
}
static void on_sample(void *ctx, const double *ms, int n) {
  (void)ms;
  ((struct told *)ctx)->samples += n;
}

static bool run(void) {
  const struct measure_sink sink = {&told, on_compile, on_verify, on_sample};
  dev_null_set(&script);
  device *d = device_null.open(0, &fault);
  bool ok = measure_run(&device_null, d, &job, &plan, &sink, &result, &fault);
  device_null.close(d);
  return ok;
}

static bool warned(const char *part) {
  for (int i = 0; i < result.nwarnings; i++)
    if (strstr(result.warnings[i], part))
      return true;
  return false;
}

static void test_plain_run(void **state) {
  (void)state;
  assert_true(run());
  assert_true(result.verify.ok);
  assert_true(told.last_ok);
  assert_int_equal(told.compile, 1);
  assert_int_equal(told.verify, 2);
  assert_int_equal(told.samples, result.nsamples);
  assert_int_equal(result.launches_per_sample, 20); /* 1 ms a launch, 20 ms a sample */
  assert_int_equal(result.nsamples, 7);
  assert_true(fabs(result.median_ms - 1) < 1e-12);
  assert_true(fabs(result.gflops - 2 * 4096 / 1e6) < 1e-12);
  assert_string_equal(result.kernel, "cpu/t");
  assert_string_equal(result.cache, "hot");
  assert_int_equal(strlen(result.date), 20);
  assert_string_equal(result.kernel_sha256, gemm->sha256);
  assert_int_equal(result.nwarnings, 0);
}

/* Small shape; real shape; warm-up until three windows of 50 ms agree; samples; poison before the
 * last one; verification of what it wrote. */
static void test_order(void **state) {
  (void)state;
  assert_true(run());
  assert_string_equal(dev_null_trace(), "PNAD" "PNAD" "AAA" "AAA" "AAA" "AAAAAA" "NA" "D");
}

static void test_order_with_reference(void **state) {
  (void)state;
  static const double ref[] = {2};
  script.reference_ms = ref;
  script.nreference = 1;
  job.reference = true;
  assert_true(run());
  /* Eight samples: the seventh needs its round. Two launches tell the reference's time. */
  assert_string_equal(dev_null_trace(),
                      "PNAD" "PNAD" "AAAAAAAAA" "BB" "ABBA" "ABBA" "ABBA" "ABBNA" "D");
  assert_int_equal(result.nsamples, 8);
  assert_string_equal(result.reference.name, "null");
  assert_true(fabs(result.reference.median_ms - 2) < 1e-12);
  assert_true(fabs(result.reference.ratio - 2) < 1e-12);
}

/* The ratio is the median of rounds, not of all samples: one slow round does not move it. */
static void test_ratio_is_paired(void **state) {
  (void)state;
  /* Calls: small, real, warm-up, then two a round. */
  static const double kernel[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 8, 8, 1, 1, 1, 1};
  static const double ref[] = {3, 3, 3, 3, 24, 24, 3};
  script.kernel_ms = kernel;
  script.nkernel = 19;
  script.reference_ms = ref;
  script.nreference = 7;
  job.reference = true;
  assert_true(run());
  assert_true(fabs(result.reference.ratio - 3) < 1e-9);
}

static void test_refused_reference(void **state) {
  (void)state;
  script.refuse_reference = "there is no library for it.";
  job.reference = true;
  assert_true(run());
  assert_string_equal(result.reference.name, "");
  assert_true(isnan(result.reference.ratio));
  assert_true(warned("there is no library"));
  assert_null(strchr(dev_null_trace(), 'B'));
}

static void test_seconds_give_more_samples(void **state) {
  (void)state;
  plan.seconds = 1;
  assert_true(run());
  assert_int_equal(result.nsamples, 50);
}

static void test_long_launches(void **state) {
  (void)state;
  static const double ms[] = {400};
  script.kernel_ms = ms;
  script.nkernel = 1;
  assert_true(run());
  assert_int_equal(result.launches_per_sample, 1);
  assert_int_equal(result.nsamples, 3);
  assert_true(fabs(result.median_ms - 400) < 1e-9);
}

/* A launch over 20 ms of which seven still fit. */
static void test_seven_where_they_fit(void **state) {
  (void)state;
  static const double ms[] = {30};
  script.kernel_ms = ms;
  script.nkernel = 1;
  plan.seconds = 0.21;
  assert_true(run());
  assert_int_equal(result.nsamples, 7);
}

static void test_warm_up_ends(void **state) {
  (void)state;
  static double ms[600];
  for (int i = 0; i < 600; i++)
    ms[i] = i % 2 ? 1.0 : 1.5; /* never agrees */
  script.kernel_ms = ms;
  script.nkernel = 600;
  assert_true(run());
  int launches = 0;
  for (int i = 2; dev_null_batch(i) > 0; i++)
    launches += dev_null_batch(i);
  assert_true(launches < 700); /* 0.3 s of warm-up, 7 samples of 20 ms */
  assert_true(warned("spread"));
}

static void test_warm_up_settles_the_batch(void **state) {
  (void)state;
  static const double ms[] = {100, 100, 100, 1};
  script.kernel_ms = ms;
  script.nkernel = 4;
  assert_true(run());
  assert_int_equal(result.launches_per_sample, 20);
}

static void test_no_time_passes(void **state) {
  (void)state;
  static const double ms[] = {0};
  script.kernel_ms = ms;
  script.nkernel = 1;
  plan.warmup_s = 0;
  plan.seconds = 0;
  assert_true(run());
  assert_false(result.verify.ok);
  assert_int_equal(result.nsamples, 0);
  assert_true(isnan(result.gflops));
  assert_true(warned("impossible"));
}

static void test_faster_than_the_peak(void **state) {
  (void)state;
  script.info.peak_fp32 = 2 * 4096 / 1e-3 / 1.1; /* 10 % below what it seems to do */
  assert_true(run());
  assert_false(result.verify.ok);
  assert_non_null(strstr(result.verify.note, "impossible"));
  assert_true(warned("impossible"));
  assert_int_equal(result.nsamples, 0);
  assert_true(isnan(result.gflops) && isnan(result.median_ms));
}

static void test_memory_peak_needs_a_large_set(void **state) {
  (void)state;
  double bytes = 4 * 3 * 256 / 1e-3;
  script.info.peak_dram = bytes / 2;
  script.info.l2_bytes = 4096; /* 3 KiB fit */
  assert_true(run());
  assert_true(result.verify.ok);
  result_done(&result);
  script.info.l2_bytes = 100; /* more than four caches */
  assert_true(run());
  assert_false(result.verify.ok);
  assert_true(warned("impossible"));
  result_done(&result);
  script.info.l2_bytes = NAN; /* nothing can be said */
  assert_true(run());
  assert_true(result.verify.ok);
}

static void test_clock_that_was_seen(void **state) {
  (void)state;
  script.info.peak_fp32 = 2 * 4096 / 1e-3 * 1.5;
  script.info.clock_hz = 2e9;
  script.mhz = 1000;
  script.throttled = 1;
  assert_true(run());
  assert_true(result.verify.ok);
  assert_true(warned("1000 MHz"));
  assert_true(warned("lowered its clock"));
}

static void late(const struct device_job *j, float *C, int launch) {
  (void)j;
  if (launch >= 15)
    C[7] += 1;
}

static void test_late_corruption(void **state) {
  (void)state;
  script.spoil = late;
  assert_true(run());
  assert_false(result.verify.ok);
  assert_non_null(strstr(result.verify.note, "after the last sample"));
  assert_int_equal(result.nsamples, 0);
  assert_true(isnan(result.gflops));
  assert_int_equal(told.verify, 2);
  assert_false(told.last_ok);
}

static void stops_writing(const struct device_job *j, float *C, int launch) {
  if (launch >= 15) /* as if the launch had not written: the poison stays */
    for (int64_t i = 0; i < j->size.M * j->size.N; i++)
      C[i] = NAN;
}

static void test_stops_writing(void **state) {
  (void)state;
  script.spoil = stops_writing;
  assert_true(run());
  assert_false(result.verify.ok);
}

static void only_squares(const struct device_job *j, float *C, int launch) {
  (void)launch;
  if (j->size.M != j->size.N)
    C[0] = 0;
}

static void test_right_only_for_squares(void **state) {
  (void)state;
  script.spoil = only_squares;
  assert_true(run());
  assert_false(result.verify.ok);
  assert_non_null(strstr(result.verify.note, "M 37, N 53, K 29"));
  assert_int_equal(result.M, 16);
  assert_string_equal(dev_null_trace(), "PNAD");
}

static void test_small_shape_once(void **state) {
  (void)state;
  assert_true(run());
  result_done(&result);
  assert_true(run());
  assert_int_equal(strncmp(dev_null_trace(), "PNADA", 5), 0);
  assert_int_equal(told.compile, 2);
}

static struct kernel_size seen;
static void note_size(const struct device_job *j, float *C, int launch) {
  (void)C;
  if (launch == 0)
    seen = j->size;
}

static void test_small_shape_meets_requirements(void **state) {
  (void)state;
  script.spoil = note_size;
  job.kernel = steps;
  job.size = kernel_size_default(steps, 64, 64, 64);
  assert_true(run());
  assert_true(result.verify.ok);
  assert_true(seen.N % 4 == 0 && seen.K % 8 == 0);
  assert_true(seen.M % 16 && seen.N % 16 && seen.K % 16);
  assert_true(seen.M != seen.N && seen.N != seen.K && seen.M != seen.K);
}

static void test_faults(void **state) {
  (void)state;
  static const char *const places[] = {"prepare", "poison", "launch", "download"};
  for (size_t i = 0; i < 4; i++)
    for (int after = 0; after < 2; after++) {
      measure_forget();
      script.fail_in = places[i];
      script.fail_after = after;
      assert_false(run());
      assert_string_equal(fault.code, places[i]);
      assert_true(fault.what[0] && fault.why[0] && fault.next[0]);
      assert_null(result.samples_ms);
    }
  script.fail_in = "launch"; /* in the middle of the samples */
  script.fail_after = 13;
  measure_forget();
  assert_false(run());
  assert_null(result.samples_ms);
}

static void test_cold_is_refused(void **state) {
  (void)state;
  plan.cold = true;
  assert_false(run());
  assert_string_equal(fault.code, "cold");
}

static void test_roof(void **state) {
  (void)state;
  char dir[] = "/tmp/mmtutor-roof-XXXXXX";
  assert_non_null(mkdtemp(dir));
  setenv("XDG_CACHE_HOME", dir, 1);
  struct roofs roofs = {.n = 1, .date = "2026-11-30T02:03:04Z"};
  result_device_init(&roofs.device);
  strcpy(roofs.device.id, "null");
  roofs.roof[0] = (struct roof){"fma", "FP32 FMA", "FLOP/s", 2e7, 0.01, NAN};
  roofs_save(&roofs);
  assert_true(run());
  assert_string_equal(result.roof.name, "FP32 FMA");
  assert_true(fabs(result.roof.share - 8.192e6 / 2e7) < 1e-9);
  result_done(&result);

  roofs.roof[0].value = 4e6; /* slower than the run: it is raised */
  roofs_save(&roofs);
  assert_true(run());
  assert_true(warned("roof raised"));
  assert_true(fabs(result.roof.share - 1) < 1e-9);
  assert_true(roofs_load("null", &roofs));
  assert_true(fabs(roofs.roof[0].value - 8.192e6) < 1);
  result_done(&result);

  strcpy(roofs.device.name, "another card");
  roofs_save(&roofs);
  assert_true(run());
  assert_string_equal(result.roof.name, "");
  char *file = alloc_printf("rm -rf %s", dir);
  assert_int_equal(system(file), 0);
  free(file);
  unsetenv("XDG_CACHE_HOME");
}

static void test_device_by_id(void **state) {
  (void)state;
  int index;
  struct err err = {""};
  assert_ptr_equal(device_by_id("cuda:3", &index, &err), &device_cuda);
  assert_int_equal(index, 3);
  assert_ptr_equal(device_by_id("cuda", &index, &err), &device_cuda);
  assert_int_equal(index, 0);
  assert_ptr_equal(device_by_id("cpu", &index, &err), &device_cpu);
  static const char *const bad[] = {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cpu:0",
                                    "cuda:99999999999999999999", "cudax"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_null(device_by_id(bad[i], &index, &err));
    assert_non_null(strstr(err.text, "cuda:0"));
  }
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, clean)

int main(void) {
  setenv("XDG_CACHE_HOME", "/nonexistent", 1);
  gemm = parse("");
  steps = parse("\"requires\":[\"N%4==0\",\"K%8==0\"],");
  const struct CMUnitTest tests[] = {
      T(test_plain_run), T(test_order), T(test_order_with_reference), T(test_ratio_is_paired),
      T(test_refused_reference), T(test_seconds_give_more_samples), T(test_long_launches),
      T(test_seven_where_they_fit), T(test_warm_up_ends), T(test_warm_up_settles_the_batch),
      T(test_no_time_passes), T(test_faster_than_the_peak), T(test_memory_peak_needs_a_large_set),
      T(test_clock_that_was_seen), T(test_late_corruption), T(test_stops_writing),
      T(test_right_only_for_squares), T(test_small_shape_once),
      T(test_small_shape_meets_requirements), T(test_faults), T(test_cold_is_refused),
      T(test_roof), T(test_device_by_id),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  kernel_free(gemm);
  kernel_free(steps);
  return failed;
}
