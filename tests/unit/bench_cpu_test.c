/* The CPU as a device: right rungs pass, wrong ones and faults are told as such. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "bench/dev_cpu.h"
#include "bench/host.h"
#include "bench/measure.h"
#include "bench/pool.h"
#include "bench/ref_cblas.h"
#include "bench/verify.h"
#include <assert.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static catalog *all;
static device *cpu;
static struct device_fault fault;

static struct device_job make_job(const struct kernel *k, int64_t M, int64_t N, int64_t K) {
  struct device_job job = {.kernel = k, .seed = 9, .isa_auto = true};
  assert_non_null(k);
  job.size = kernel_size_default(k, M, N, K);
  return job;
}

static bool measure(const struct device_job *job, struct result *r) {
  const struct measure_plan plan = {.seconds = 0.02, .warmup_s = 0.02, .prediction = NAN};
  return measure_run(&device_cpu, cpu, job, &plan, NULL, r, &fault);
}

/* One launch on poisoned C, verified. */
static struct result_verify once(const struct device_job *job) {
  struct device_built built;
  struct result_verify v;
  struct err err = {""};
  double ms;
  if (!device_cpu.prepare(cpu, job, &built, &fault))
    fail_msg("%s %s", fault.what, fault.why);
  free(built.log);
  assert_true(device_cpu.poison(cpu, &fault));
  if (!device_cpu.launch(cpu, ARM_KERNEL, 1, &ms, &fault))
    fail_msg("%s %s", fault.what, fault.why);
  verify *check = verify_new(job, &err);
  assert_non_null(check);
  assert_true(verify_check(check, &device_cpu, cpu, &v, NULL, &fault));
  verify_free(check);
  return v;
}

static void test_rungs_are_right(void **state) {
  (void)state;
  int gemms = 0;
  for (int i = 0; i < catalog_count(all); i++) {
    const struct kernel *k = catalog_at(all, i);
    if (k->target != KERNEL_CPU)
      continue;
    struct device_job job = make_job(k, 37, 53, k->op == OP_GEMM || k->op == OP_GEMV ? 29 : 1);
    for (int isa = 0; isa < ISA_COUNT; isa++) {
      job.isa_auto = false;
      job.isa = (enum catalog_isa)isa;
      if (!dev_cpu_has(job.isa))
        continue;
      struct result_verify v = once(&job);
      if (!v.ok)
        fail_msg("%s %s: %s", k->id, catalog_isa_name(job.isa), v.note);
      struct device_info info;
      device_cpu.describe(cpu, &info);
      assert_string_equal(info.isa, catalog_isa_name(job.isa));
    }
    gemms += k->op == OP_GEMM;
  }
  assert_true(gemms >= 3);
}

static void test_protocol(void **state) {
  (void)state;
  struct device_job job = make_job(catalog_find(all, "cpu/ikj"), 37, 53, 29);
  job.reference = true;
  struct result r;
  assert_true(measure(&job, &r));
  assert_true(r.verify.ok);
  assert_true(r.nsamples >= 7);
  assert_true(r.gflops > 0);
  assert_string_equal(r.device.id, "cpu");
  assert_int_equal(r.device.threads, 1);
  struct err err;
  if (ref_cblas_load(&err)) {
    assert_true(r.reference.name[0] != 0);
    assert_true(r.reference.ratio > 0);
  } else {
    assert_int_equal(r.nwarnings > 0, 1);
  }
  result_done(&r);
}

static struct kernel *load(const char *name) {
  struct err err = {""};
  size_t n;
  char *path = alloc_printf("tests/fixtures/wrong/cpu/%s.c", name);
  char *text = paths_read(path, 1 << 20, &n, &err);
  if (!text)
    fail_msg("%s", err.text);
  struct kernel *k = kernel_parse(text, n, path, NULL, &err);
  if (!k)
    fail_msg("%s", err.text);
  free(text);
  free(path);
  return k;
}

static void test_wrong_kernels_are_refused(void **state) {
  (void)state;
  static const char *const names[] = {
      "last_column_skipped", "last_k_dropped",   "last_row_skipped", "n_for_k",
      "only_squares",        "reads_c",          "store_transposed", "writes_nothing",
      "writes_one_nan"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct kernel *k = load(names[i]);
    struct device_job job = make_job(k, 64, 64, 64);
    struct result r;
    if (!measure(&job, &r))
      fail_msg("%s: %s %s", names[i], fault.what, fault.why);
    if (r.verify.ok)
      fail_msg("%s passed", names[i]);
    assert_true(r.verify.note[0] != 0);
    assert_int_equal(r.nsamples, 0);
    assert_true(isnan(r.gflops));
    result_done(&r);
    kernel_free(k);
  }
}

static void test_compile_error(void **state) {
  (void)state;
  struct kernel *k = load("compile_error");
  struct device_job job = make_job(k, 64, 64, 64);
  struct device_built built;
  assert_false(device_cpu.prepare(cpu, &job, &built, &fault));
  assert_string_equal(fault.code, "compile");
  assert_non_null(strstr(fault.why, "error:"));
  assert_non_null(strstr(fault.why, "compile_error.c:"));
  assert_null(strstr(fault.why, "/tmp"));
  assert_non_null(built.log);
  assert_non_null(strstr(built.log, "accumulator"));
  free(built.log);
  kernel_free(k);
}

static struct kernel *from_text(const char *body, const char *more) {
  struct err err = {""};
  char *text = alloc_printf("/* mmtutor {\"schema\":1,\"id\":\"cpu/t\",\"op\":\"gemm\",%s"
                            "\"dtype\":{\"A\":\"f32\",\"B\":\"f32\",\"C\":\"f32\",\"acc\":\"f32\"}"
                            ",\"traffic\":{\"dram_min\":\"4\"},\"flop\":\"2*M*N*K\"} */\n"
                            "#include \"mm_args.h\"\n%s\n", more, body);
  struct kernel *k = kernel_parse(text, strlen(text), "mine/t.c", NULL, &err);
  if (!k)
    fail_msg("%s", err.text);
  free(text);
  return k;
}

static void faults(const char *body, const char *more, const char *code, const char *part) {
  struct kernel *k = from_text(body, more);
  struct device_job job = make_job(k, 37, 53, 29);
  struct device_built built = {0};
  double ms;
  bool ok = device_cpu.prepare(cpu, &job, &built, &fault) &&
            device_cpu.launch(cpu, ARM_KERNEL, 1, &ms, &fault);
  free(built.log);
  assert_false(ok);
  assert_string_equal(fault.code, code);
  if (!strstr(fault.why, part) && !strstr(fault.what, part))
    fail_msg("%s %s", fault.what, fault.why);
  kernel_free(k);
}

static void test_faults(void **state) {
  (void)state;
  faults("static int cpu_t(const struct mm_args *a) { return a->M > 0; }", "", "compile", "cpu_t");
  faults("int gone(void);\nint cpu_t(const struct mm_args *a) { return gone() + (a == 0); }", "",
         "compile", "gone");
  faults("int cpu_t(const struct mm_args *a) { (void)a; return MM_NO_MEMORY; }", "",
         "out_of_memory", "memory");
  faults("int cpu_t(const struct mm_args *a) { (void)a; return 7; }", "", "launch", "7");
  faults("int cpu_t(const struct mm_args *a) { a->C[a->M * a->N] = 1; return 0; }", "", "overrun",
         "past the end of C");
  faults("int cpu_t(const struct mm_args *a) { return a->M < 0; }", "\"requires\":[\"M%4==0\"],",
         "size", "4");
}

/* A workspace is there, zeroed, and as large as the front matter says. */
static void test_workspace(void **state) {
  (void)state;
  struct kernel *k = from_text(
      "int cpu_t(const struct mm_args *a) {\n"
      "  float *sum = a->W;\n"
      "  for (int64_t i = 0; i < a->M; i++)\n"
      "    for (int64_t j = 0; j < a->N; j++) {\n"
      "      for (int64_t k = 0; k < a->K; k++)\n"
      "        sum[i * a->N + j] += a->A[i * a->lda + k] * a->B[k * a->ldb + j];\n"
      "      a->C[i * a->ldc + j] = sum[i * a->N + j];\n"
      "    }\n  return 0;\n}", "\"workspace\":\"4*M*N\",");
  struct device_job job = make_job(k, 37, 53, 29);
  assert_true(once(&job).ok);
  kernel_free(k);
}

static void test_isa_not_here(void **state) {
  (void)state;
  struct device_job job = make_job(catalog_find(all, "cpu/ikj"), 8, 8, 8);
  struct device_built built;
  job.isa_auto = false;
  for (int isa = 0; isa < ISA_COUNT; isa++) {
    job.isa = (enum catalog_isa)isa;
    bool ok = device_cpu.prepare(cpu, &job, &built, &fault);
    assert_true(ok == dev_cpu_has(job.isa));
    if (!ok)
      assert_string_equal(fault.code, "isa");
  }
  struct kernel *k = from_text("int cpu_t(const struct mm_args *a) { return a->M < 0; }",
                               "\"isa\":[\"avx2\",\"fma\"],");
  job = make_job(k, 8, 8, 8);
  job.isa_auto = false;
  job.isa = ISA_PLAIN;
  assert_false(device_cpu.prepare(cpu, &job, &built, &fault));
  assert_string_equal(fault.code, "isa");
  assert_non_null(strstr(fault.why, "avx2"));
  kernel_free(k);
}

/* Sizes beyond the memory are refused with a positive number of bytes, under a limit too. */
static void test_too_large(void **state) {
  (void)state;
  struct device_job job = make_job(catalog_find(all, "cpu/ikj"), 2147483647, 2147483647, 1);
  struct device_built built;
  assert_false(device_cpu.prepare(cpu, &job, &built, &fault));
  assert_string_equal(fault.code, "out_of_memory");
  assert_non_null(strstr(fault.why, "TiB"));
  assert_null(strchr(fault.why, '-'));
#if !defined(__SANITIZE_ADDRESS__)
  pid_t pid = fork();
  if (pid == 0) {
    struct rlimit lim = {1u << 30, 1u << 30};
    setrlimit(RLIMIT_AS, &lim);
    job = make_job(catalog_find(all, "cpu/ikj"), 16384, 16384, 1);
    bool ok = device_cpu.prepare(cpu, &job, &built, &fault);
    _exit(!ok && !strcmp(fault.code, "out_of_memory") ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
#endif
}

static void test_affinity_is_put_back(void **state) {
  (void)state;
  cpu_set_t before, after;
  sched_getaffinity(0, sizeof before, &before);
  struct device_job job = make_job(catalog_find(all, "cpu/ikj"), 64, 64, 64);
  job.reference = true;
  struct result r;
  assert_true(measure(&job, &r));
  result_done(&r);
  sched_getaffinity(0, sizeof after, &after);
  assert_true(CPU_EQUAL(&before, &after));
}

static void count(void *ctx, int64_t i, int worker) {
  ((unsigned char *)ctx)[i]++;
  assert(worker >= 0 && worker < pool_width());
}

static void test_pool(void **state) {
  (void)state;
  unsigned char seen[1000] = {0};
  pool_run(1000, count, seen);
  pool_run(0, count, seen);
  for (int i = 0; i < 1000; i++)
    assert_int_equal(seen[i], 1);
}

static void test_host(void **state) {
  (void)state;
  assert_true(host_threads() >= 1 && host_threads() <= host_cpus());
  assert_true(host_memory_free() > 1e6);
  double hz = host_clock_hz();
  assert_true(hz > 1e8 && hz < 1e10);
  struct device_info info;
  device_cpu_glance(&info);
  assert_string_equal(info.id, "cpu");
  assert_true(isnan(info.sms) && isnan(info.peak_fp32));
  char text[32];
  assert_string_equal(host_gib(1.5 * 1073741824, text), "1.50 GiB");
  assert_string_equal(host_gib(100, text), "100 B");
}

int main(void) {
  setenv("XDG_CACHE_HOME", "/nonexistent", 1);
  if (!getenv("MMTUTOR_DATA"))
    setenv("MMTUTOR_DATA", ".", 1);
  all = catalog_new();
  cpu = device_cpu.open(0, &fault);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rungs_are_right), cmocka_unit_test(test_protocol),
      cmocka_unit_test(test_wrong_kernels_are_refused), cmocka_unit_test(test_compile_error),
      cmocka_unit_test(test_faults),          cmocka_unit_test(test_workspace),
      cmocka_unit_test(test_isa_not_here),    cmocka_unit_test(test_too_large),
      cmocka_unit_test(test_affinity_is_put_back), cmocka_unit_test(test_pool),
      cmocka_unit_test(test_host),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  device_cpu.close(cpu);
  catalog_free(all);
  return failed;
}
