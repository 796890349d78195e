/* The CUDA device against stand-ins for NVIDIA's libraries (tests/fixtures/fake). The program
 * builds them, then runs itself again with them on the library path. */
#include "base/paths.h"
#include "base/rand.h"
#include "bench/cubin_cache.h"
#include "bench/device.h"
#include <dirent.h>
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_libs.h"

static catalog *rungs;

static const struct kernel *rung(const char *id) {
  const struct kernel *k = catalog_find(rungs, id);
  if (!k)
    fail_msg("no rung %s", id);
  return k;
}

static struct device_job job_of(const struct kernel *k, int64_t M, int64_t N, int64_t K) {
  struct device_job job = {.kernel = k, .size = kernel_size_default(k, M, N, K), .seed = 5};
  job.reference = true;
  return job;
}

static device *open_fake(void) {
  struct device_fault fault = {0};
  device *d = device_cuda.open(0, &fault);
  if (!d)
    fail_msg("%s %s", fault.what, fault.why);
  return d;
}

static void must(bool ok, const struct device_fault *fault) {
  if (!ok)
    fail_msg("%s: %s %s", fault->code, fault->what, fault->why);
}

/* Three sentences that say something, and the code. */
static void assert_fault(const struct device_fault *fault, const char *code) {
  assert_string_equal(fault->code, code);
  assert_true(strlen(fault->what) > 15);
  assert_true(strlen(fault->why) > 10);
  assert_true(strlen(fault->next) > 10);
}

static void assert_has(const char *text, const char *part) {
  if (!strstr(text, part))
    fail_msg("'%s' is not in '%s'", part, text);
}

static void prepare(device *d, const struct device_job *job, struct device_built *built) {
  struct device_fault fault;
  must(device_cuda.prepare(d, job, built, &fault), &fault);
  free(built->log);
  built->log = NULL;
}

/* The fault of preparing this job. */
static struct device_fault refused(device *d, const struct device_job *job) {
  struct device_built built;
  struct device_fault fault = {0};
  assert_false(device_cuda.prepare(d, job, &built, &fault));
  free(built.log);
  return fault;
}

static void fake_reset(void) {
  void (*reset)(void);
  void *address = dlsym(RTLD_DEFAULT, "fake_reset");
  assert_non_null(address);
  memcpy(&reset, &address, sizeof reset);
  reset();
}

/* ---- reaching the device */

static void test_init_sentences(void **state) {
  (void)state;
  static const struct {
    const char *name, *value, *part;
  } cases[] = {
      {"FAKE_cuInit", "34", "stub"},    {"FAKE_cuInit", "35", "too old"},
      {"FAKE_cuInit", "100", "GPU"},    {"FAKE_cuInit", "802", "fabricmanager"},
      {"FAKE_cuInit", "803", "reboot"}, {"FAKE_cuInit", "804", "cuda-compat"},
      {"FAKE_cuInit", "999", "999"},    {"FAKE_cuInit", "304", "/dev/nvidia"},
      {"FAKE_cuInit", "46", "another"}, {"FAKE_cuInit", "345", "FAKE_ERROR_345"},
      {"FAKE_COUNT", "0", "GPU"},       {"FAKE_cuDeviceGetCount", "999", "999"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct err err = {""};
    setenv(cases[i].name, cases[i].value, 1);
    assert_int_equal(device_cuda_count(&err), 0);
    assert_has(err.text, cases[i].part);
    assert_true(err.text[strlen(err.text) - 1] == '.' && !strchr(err.text, '\n'));
    struct device_fault fault = {0};
    assert_null(device_cuda.open(0, &fault));
    assert_fault(&fault, "no_device");
    unsetenv(cases[i].name);
  }
  struct err err;
  assert_int_equal(device_cuda_count(&err), 1);
}

static void test_hidden_devices(void **state) {
  (void)state;
  struct err err = {""};
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  setenv("FAKE_cuInit", "100", 1);
  assert_int_equal(device_cuda_count(&err), 0);
  assert_has(err.text, "CUDA_VISIBLE_DEVICES");
  unsetenv("CUDA_VISIBLE_DEVICES");
  unsetenv("FAKE_cuInit");
}

static void test_index(void **state) {
  (void)state;
  struct device_fault fault = {0};
  assert_null(device_cuda.open(5, &fault));
  assert_fault(&fault, "no_device");
  assert_has(fault.why, "cuda:5");
  struct device_info info;
  assert_false(device_cuda_glance(1, &info));
  assert_true(device_cuda_glance(0, &info));
  assert_string_equal(info.id, "cuda:0");
}

static void test_describe(void **state) {
  (void)state;
  setenv("FAKE_MEMCLOCK", "0", 1);
  struct device_info info;
  assert_true(device_cuda_glance(0, &info));
  assert_true(isnan(info.mem_clock_hz) && isnan(info.peak_dram));
  unsetenv("FAKE_MEMCLOCK");
  device *d = open_fake();
  device_cuda.describe(d, &info);
  assert_string_equal(info.name, "Fake GPU 0");
  assert_string_equal(info.cc, "9.0");
  assert_string_equal(info.compiler, "NVRTC 13.0");
  assert_true(fabs(info.peak_fp32 / (132 * 1.98e9 * 256) - 1) < 1e-12);
  assert_true(fabs(info.peak_dram / (3.201e9 * 6144 / 8 * 2) - 1) < 1e-12);
  assert_true(info.smem_block == 232448);
  device_cuda.close(d);
}

/* Runs this program again as `probe WHAT` with another environment and gives what it printed. */
static void probe(const char *environment, const char *what, char out[1024]) {
  char self[512], command[2048];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  assert_true(n > 0);
  self[n] = 0;
  snprintf(command, sizeof command, "%s %s probe %s", environment, self, what);
  FILE *f = popen(command, "r");
  assert_non_null(f);
  size_t got = fread(out, 1, 1023, f);
  out[got] = 0;
  assert_int_equal(pclose(f), 0);
}

static void test_no_driver(void **state) {
  (void)state;
  char out[1024];
  probe("LD_LIBRARY_PATH=/nonexistent", "count", out);
  if (!strncmp(out, "0 ", 2) && !strstr(out, "libcuda.so.1"))
    skip(); /* a real driver without a device */
  if (out[0] != '0')
    skip(); /* a real GPU */
  assert_has(out, "No NVIDIA driver: libcuda.so.1 is not here.");
}

static void test_missing_symbol(void **state) {
  (void)state;
  char out[1024];
  probe("LD_LIBRARY_PATH=$FAKE_DIR/old:$FAKE_DIR", "count", out);
  assert_has(out, "cuFuncSetAttribute");
  assert_has(out, "too old");
}

static void test_no_nvrtc(void **state) {
  (void)state;
  char out[1024];
  probe("MMTUTOR_NVRTC=/nonexistent/libnvrtc.so", "builtin", out);
  assert_string_equal(out, "ok driver JIT (shipped PTX)");
  probe("MMTUTOR_NVRTC=/nonexistent/libnvrtc.so", "learner", out);
  assert_has(out, "no_nvrtc");
  assert_has(out, "pip install nvidia-cuda-nvrtc");
  assert_has(out, "/nonexistent/libnvrtc.so");
}

/* ---- the good path */

static double expected(const struct kernel *k, const struct device_job *job, int64_t i, int64_t j) {
  uint64_t a = 2 * job->seed, b = a + 1;
  uint64_t N = (uint64_t)job->size.N, K = (uint64_t)job->size.K;
  uint64_t at = (uint64_t)i * N + (uint64_t)j;
  double sum = 0;
  switch (k->op) {
  case OP_COPY:
    return (double)rand_at(a, at);
  case OP_ADD:
    return (double)(rand_at(a, at) + rand_at(b, at));
  case OP_FMA:
    return 36;
  default:
    for (uint64_t l = 0; l < K; l++)
      sum += (double)rand_at(a, (uint64_t)i * K + l) *
             (double)rand_at(b, k->op == OP_GEMV ? l : l * N + (uint64_t)j);
    return sum;
  }
}

static void check_result(device *d, const struct device_job *job) {
  const struct kernel *k = job->kernel;
  int64_t columns = k->op == OP_GEMV || k->op == OP_FMA ? 1 : job->size.N;
  float row[256];
  struct device_fault fault;
  for (int64_t i = 0; i < job->size.M; i++) {
    double ms = -1;
    must(device_cuda.download(d, i, 1, row, &ms, &fault), &fault);
    assert_true(ms >= 0);
    for (int64_t j = 0; j < columns; j++)
      if (!(fabs((double)row[j] - expected(k, job, i, j)) < 1e-4))
        fail_msg("%s C[%d,%d] is %g", k->id, (int)i, (int)j, (double)row[j]);
  }
}

static bool all_nan(device *d, const struct device_job *job) {
  float row[256];
  struct device_fault fault;
  for (int64_t i = 0; i < job->size.M; i++) {
    must(device_cuda.download(d, i, 1, row, NULL, &fault), &fault);
    for (int64_t j = 0; j < job->size.N; j++)
      if (!isnan(row[j]))
        return false;
  }
  return true;
}

static void test_every_rung(void **state) {
  (void)state;
  device *d = open_fake();
  struct device_fault fault;
  for (int i = 0; i < catalog_count(rungs); i++) {
    const struct kernel *k = catalog_at(rungs, i);
    static const char *const emulated = " matmul gemv add copy fma_loop ";
    char name[80];
    if (k->target != KERNEL_CUDA || k->a != DT_F32) // 16 bits: bench_cuda_types_test
      continue;
    snprintf(name, sizeof name, " %s ", k->launches[0].entry);
    if (!strstr(emulated, name))
      continue;
    struct device_job job = job_of(k, 37, 29, 41);
    struct device_built built;
    struct err err;
    double ms;
    if (!kernel_accepts(k, &job.size, &err))
      job = job_of(k, 37, 28, 44); // it moves four numbers at a time
    prepare(d, &job, &built);
    assert_int_equal(built.registers, 38);
    assert_true(k->op == OP_FMA ? isnan(built.transfer_in_ms) : built.transfer_in_ms >= 0);
    must(device_cuda.launch(d, ARM_KERNEL, 2, &ms, &fault), &fault);
    assert_true(ms > 0);
    check_result(d, &job);
  }
  device_cuda.close(d);
}

static void test_reference(void **state) {
  (void)state;
  static const char *const ids[] = {"cuda/naive", "cuda/gemv", "cuda/add", "cuda/copy"};
  device *d = open_fake();
  for (int i = 0; i < 4; i++) {
    struct device_job job = job_of(rung(ids[i]), 23, 1, 31);
    struct device_built built;
    struct device_fault fault;
    struct err why;
    char name[64], version[64];
    double ms;
    prepare(d, &job, &built);
    assert_true(device_cuda.reference(d, name, version, &why));
    assert_string_equal(name, i == 3 ? "cuMemcpyDtoD" : "cuBLAS");
    assert_string_equal(version, i == 0   ? "13.0.2 pedantic"
                                 : i == 3 ? "driver CUDA 13.0"
                                          : "13.0.2");
    must(device_cuda.launch(d, ARM_REFERENCE, 1, &ms, &fault), &fault);
    assert_true(all_nan(d, &job)); /* it has a C of its own and cannot mask a bad kernel */
  }
  device_cuda.close(d);
}

static void test_no_reference(void **state) {
  (void)state;
  setenv("FAKE_cublasCreate_v2", "1", 1);
  device *d = open_fake();
  struct device_job job = job_of(rung("cuda/naive"), 8, 8, 8);
  struct device_built built;
  struct device_fault fault;
  struct err why;
  char name[64], version[64];
  double ms;
  prepare(d, &job, &built);
  assert_false(device_cuda.reference(d, name, version, &why));
  assert_has(why.text, "cuBLAS does not start");
  assert_false(device_cuda.launch(d, ARM_REFERENCE, 1, &ms, &fault));
  assert_fault(&fault, "no_reference");
  must(device_cuda.launch(d, ARM_KERNEL, 1, &ms, &fault), &fault);
  unsetenv("FAKE_cublasCreate_v2");
  job.kernel = rung("cuda/fma");
  prepare(d, &job, &built);
  assert_false(device_cuda.reference(d, name, version, &why));
  device_cuda.close(d);
}

static void test_poison_and_reuse(void **state) {
  (void)state;
  device *d = open_fake();
  struct device_job job = job_of(rung("cuda/tiled"), 20, 20, 20);
  struct device_built built;
  struct device_fault fault;
  double ms;
  prepare(d, &job, &built);
  assert_true(all_nan(d, &job));
  must(device_cuda.launch(d, ARM_KERNEL, 1, &ms, &fault), &fault);
  assert_false(all_nan(d, &job));
  must(device_cuda.poison(d, &fault), &fault);
  assert_true(all_nan(d, &job));
  setenv("FAKE_cuMemcpyHtoDAsync_v2", "1", 1); /* the same inputs are not sent again */
  job.kernel = rung("cuda/naive");
  prepare(d, &job, &built);
  must(device_cuda.launch(d, ARM_KERNEL, 1, &ms, &fault), &fault);
  check_result(d, &job);
  job.seed++;
  fault = refused(d, &job); /* other inputs are */
  assert_fault(&fault, "launch");
  unsetenv("FAKE_cuMemcpyHtoDAsync_v2");
  prepare(d, &job, &built);
  must(device_cuda.launch(d, ARM_KERNEL, 1, &ms, &fault), &fault);
  check_result(d, &job);
  device_cuda.close(d);
}

static void test_health(void **state) {
  (void)state;
  device *d = open_fake();
  double mhz, watt;
  int throttled;
  device_cuda.health(d, &mhz, &watt, &throttled);
  assert_true(mhz == 1980);
  assert_true(watt == 351.5);
  assert_int_equal(throttled, 0);
  setenv("FAKE_THROTTLE", "4", 1);
  setenv("FAKE_nvmlDeviceGetPowerUsage", "3", 1);
  device_cuda.health(d, &mhz, &watt, &throttled);
  assert_true(isnan(watt));
  assert_int_equal(throttled, 1);
  unsetenv("FAKE_THROTTLE");
  unsetenv("FAKE_nvmlDeviceGetPowerUsage");
  assert_true(device_cuda.overhead(d) >= 0);
  device_cuda.close(d);
}

/* ---- compiling and the cache */

static long compilations(void) {
  struct stat st;
  const char *file = getenv("FAKE_NVRTC_COUNT");
  return file && !stat(file, &st) ? (long)st.st_size : 0;
}

static struct device_built build_once(const struct kernel *k, double T) {
  device *d = open_fake();
  struct device_job job = job_of(k, 8, 8, 8);
  struct device_built built;
  struct err err;
  assert_true(kernel_set_param(k, &job.size, "T", T, &err));
  prepare(d, &job, &built);
  device_cuda.close(d);
  return built;
}

/* Changes a byte near the end of every entry of the cache. */
static void damage_cache(void) {
  char *dir = paths_cache("cubin");
  DIR *list = opendir(dir);
  assert_non_null(list);
  int damaged = 0;
  for (struct dirent *e; (e = readdir(list));) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
    FILE *f = e->d_name[0] == '.' ? NULL : fopen(path, "r+");
    if (!f)
      continue;
    fseek(f, -40, SEEK_END);
    fputc('#', f);
    fclose(f);
    damaged++;
  }
  closedir(list);
  free(dir);
  assert_true(damaged > 0);
}

static void test_cache(void **state) {
  (void)state;
  const struct kernel *k = rung("cuda/tiled");
  long before = compilations();
  build_once(k, 8);
  long first = compilations();
  assert_true(first <= before + 1);
  assert_true(build_once(k, 8).cached);
  assert_int_equal(compilations(), first);
  setenv("FAKE_CC", "80", 1); /* another device: never the same code */
  assert_false(build_once(k, 8).cached);
  unsetenv("FAKE_CC");
  assert_int_equal(compilations(), first + 1);
  damage_cache();
  assert_false(build_once(k, 8).cached);
  assert_true(build_once(k, 8).cached);
  assert_int_equal(compilations(), first + 2);
}

static void test_cache_key(void **state) {
  (void)state;
  const char *const a[] = {"-DT=8"}, *const b[] = {"-DT=16"};
  char base[65], other[65];
  cubin_cache_key("x", a, 1, "90", "NVRTC 13.0", "580", base);
  cubin_cache_key("x", a, 1, "90", "NVRTC 13.0", "580", other);
  assert_string_equal(base, other);
  cubin_cache_key("y", a, 1, "90", "NVRTC 13.0", "580", other);
  assert_string_not_equal(base, other);
  cubin_cache_key("x", b, 1, "90", "NVRTC 13.0", "580", other);
  assert_string_not_equal(base, other);
  cubin_cache_key("x", a, 1, "90", "NVRTC 12.4", "580", other);
  assert_string_not_equal(base, other);
  cubin_cache_key("x", a, 1, "90", "NVRTC 13.0", "570", other);
  assert_string_not_equal(base, other);
}

/* A learner's file: the text of a rung with one part replaced. */
static struct kernel *changed(const char *id, const char *from, const char *to) {
  const struct kernel *k = rung(id);
  char *at = strstr(k->source, from), *text = NULL;
  assert_non_null(at);
  assert_true(asprintf(&text, "%.*s%s%s", (int)(at - k->source), k->source, to, at + strlen(from)) >
              0);
  struct err err;
  struct kernel *mine = kernel_parse(text, strlen(text), "mine/my.cu", NULL, &err);
  free(text);
  if (!mine)
    fail_msg("%s", err.text);
  return mine;
}

static void test_compile_error(void **state) {
  (void)state;
  struct kernel *k = changed("cuda/naive", "extern \"C\"", "#error\nextern \"C\"");
  int line = 1;
  for (const char *c = k->source, *end = strstr(c, "#error"); c < end; c++)
    line += *c == '\n';
  char place[64];
  snprintf(place, sizeof place, "my.cu(%d)", line);
  device *d = open_fake();
  struct device_job job = job_of(k, 8, 8, 8);
  struct device_built built;
  struct device_fault fault;
  assert_false(device_cuda.prepare(d, &job, &built, &fault));
  assert_fault(&fault, "compile");
  assert_has(fault.why, place);
  assert_has(built.log, "1 error detected");
  free(built.log);
  double ms;
  assert_false(device_cuda.launch(d, ARM_KERNEL, 1, &ms, &fault));
  job.kernel = rung("cuda/naive"); /* the device goes on */
  prepare(d, &job, &built);
  setenv("FAKE_nvrtcCompileProgram", "7", 1);
  struct kernel *other = changed("cuda/naive", "extern \"C\"", "\nextern \"C\"");
  job.kernel = other;
  fault = refused(d, &job);
  assert_fault(&fault, "compile");
  assert_has(fault.why, "libnvrtc-builtins.so.13.0");
  unsetenv("FAKE_nvrtcCompileProgram");
  device_cuda.close(d);
  kernel_free(k);
  kernel_free(other);
}

static void test_entry_missing(void **state) {
  (void)state;
  device *d = open_fake();
  struct device_job job = job_of(rung("cuda/naive"), 8, 8, 8);
  setenv("FAKE_cuModuleGetFunction", "500", 1);
  struct device_fault fault = refused(d, &job);
  unsetenv("FAKE_cuModuleGetFunction");
  assert_fault(&fault, "load");
  assert_has(fault.why, "matmul");
  device_cuda.close(d);
}

static void test_architectures(void **state) {
  (void)state;
  struct device_info info;
  struct device_built built;
  struct device_job job = job_of(rung("cuda/naive"), 8, 8, 8);
  setenv("FAKE_CC", "120", 1); /* newer than this NVRTC */
  device *d = open_fake();
  prepare(d, &job, &built);
  device_cuda.describe(d, &info);
  assert_string_equal(info.compiler, "NVRTC 13.0 (PTX, driver JIT)");
  device_cuda.close(d);
  setenv("FAKE_CC", "70", 1); /* older than the rung allows */
  d = open_fake();
  struct device_fault fault = refused(d, &job);
  assert_fault(&fault, "cc");
  device_cuda.close(d);
  unsetenv("FAKE_CC");
  setenv("FAKE_OLD_DRIVER", "1", 1); /* refuses what NVRTC made */
  d = open_fake();
  prepare(d, &job, &built);
  device_cuda.describe(d, &info);
  assert_string_equal(info.compiler, "driver JIT (shipped PTX)");
  device_cuda.close(d);
  unsetenv("FAKE_OLD_DRIVER");
}

/* ---- faults */

static void test_out_of_memory(void **state) {
  (void)state;
  device *d = open_fake();
  setenv("FAKE_MEMORY", "2", 1);
  setenv("FAKE_cuMemAlloc_v2", "999", 1); /* nothing may be allocated */
  struct device_job job = job_of(rung("cuda/naive"), 512, 512, 512);
  struct device_fault fault = refused(d, &job);
  assert_fault(&fault, "out_of_memory");
  assert_has(fault.why, "4194304"); /* A B C and the reference's C */
  assert_has(fault.why, "2097152");
  unsetenv("FAKE_MEMORY");
  setenv("FAKE_cuMemAlloc_v2", "2", 1);
  fault = refused(d, &job);
  assert_fault(&fault, "out_of_memory");
  unsetenv("FAKE_cuMemAlloc_v2");
  struct device_job huge = job_of(rung("cuda/add"), 2147483647, 2147483647, 1);
  fault = refused(d, &huge);
  assert_true(!strcmp(fault.code, "out_of_memory") || !strcmp(fault.code, "size"));
  assert_null(strstr(fault.why, "-"));
  struct device_built built;
  prepare(d, &job, &built);
  device_cuda.close(d);
}

static void test_launch_refused(void **state) {
  (void)state;
  device *d = open_fake();
  struct device_job job = job_of(rung("cuda/naive"), 8, 8, 8);
  struct device_built built;
  struct device_fault fault;
  double ms;
  setenv("FAKE_MAXTHREADS", "256", 1);
  fault = refused(d, &job);
  assert_fault(&fault, "too_many_resources");
  assert_has(fault.why, "1024 threads x 38 registers = 38912");
  unsetenv("FAKE_MAXTHREADS");
  prepare(d, &job, &built);
  static const char *const codes[][2] = {
      {"701", "too_many_resources"}, {"1", "launch"}, {"9", "launch"}};
  for (int i = 0; i < 3; i++) {
    setenv("FAKE_cuLaunchKernel", codes[i][0], 1);
    assert_false(device_cuda.launch(d, ARM_KERNEL, 1, &ms, &fault));
    assert_fault(&fault, codes[i][1]);
  }
  unsetenv("FAKE_cuLaunchKernel");
  must(device_cuda.launch(d, ARM_KERNEL, 1, &ms, &fault), &fault); /* none of these is fatal */
  device_cuda.close(d);
}

static void test_fatal_faults(void **state) {
  (void)state;
  static const char *const codes[][2] = {{"700", "illegal_address"}, {"716", "illegal_address"},
                                         {"717", "illegal_address"}, {"718", "illegal_address"},
                                         {"719", "launch_failed"},   {"714", "launch_failed"},
                                         {"715", "launch_failed"},   {"710", "launch_failed"},
                                         {"702", "launch_timeout"},  {"214", "ecc"},
                                         {"999", "unknown"},         {"345", "unknown"}};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
    device *d = open_fake();
    struct device_job job = job_of(rung("cuda/naive"), 8, 8, 8);
    struct device_built built;
    struct device_fault fault;
    double ms;
    float row[8];
    prepare(d, &job, &built);
    setenv("FAKE_FAULT", codes[i][0], 1);
    assert_false(device_cuda.launch(d, ARM_KERNEL, 3, &ms, &fault));
    assert_true(isnan(ms));
    assert_fault(&fault, codes[i][1]);
    unsetenv("FAKE_FAULT");
    fake_reset(); /* even if the driver answered again the device stays closed */
    assert_false(device_cuda.launch(d, ARM_KERNEL, 1, &ms, &fault));
    assert_fault(&fault, codes[i][1]);
    assert_false(device_cuda.download(d, 0, 1, row, NULL, &fault));
    assert_false(device_cuda.poison(d, &fault));
    fault = refused(d, &job);
    assert_fault(&fault, codes[i][1]);
    assert_true(isnan(device_cuda.overhead(d)));
    device_cuda.close(d);
  }
}

/* ---- running under the stand-ins */

static int probe_main(const char *what) {
  struct err err = {""};
  struct device_fault fault = {0};
  if (!strcmp(what, "count")) {
    int n = device_cuda_count(&err);
    printf("%d %s", n, err.text);
    return 0;
  }
  rungs = catalog_new();
  struct kernel *mine = changed("cuda/naive", "extern \"C\"", "\nextern \"C\"");
  device *d = device_cuda.open(0, &fault);
  struct device_job job = job_of(!strcmp(what, "learner") ? mine : rung("cuda/naive"), 8, 8, 8);
  struct device_built built = {.log = NULL};
  struct device_info info;
  if (d && device_cuda.prepare(d, &job, &built, &fault)) {
    device_cuda.describe(d, &info);
    printf("ok %s", info.compiler);
  } else
    printf("%s\n%s\n%s\n%s", fault.code, fault.what, fault.why, fault.next);
  free(built.log);
  if (d)
    device_cuda.close(d);
  kernel_free(mine);
  catalog_free(rungs);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 3 && !strcmp(argv[1], "probe"))
    return probe_main(argv[2]);
  if (!getenv("FAKE_DIR"))
    return fake_libs_start(argv, "CUDA device");
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_init_sentences),
      cmocka_unit_test(test_hidden_devices),
      cmocka_unit_test(test_index),
      cmocka_unit_test(test_describe),
      cmocka_unit_test(test_no_driver),
      cmocka_unit_test(test_missing_symbol),
      cmocka_unit_test(test_no_nvrtc),
      cmocka_unit_test(test_every_rung),
      cmocka_unit_test(test_reference),
      cmocka_unit_test(test_no_reference),
      cmocka_unit_test(test_poison_and_reuse),
      cmocka_unit_test(test_health),
      cmocka_unit_test(test_cache),
      cmocka_unit_test(test_cache_key),
      cmocka_unit_test(test_compile_error),
      cmocka_unit_test(test_entry_missing),
      cmocka_unit_test(test_architectures),
      cmocka_unit_test(test_out_of_memory),
      cmocka_unit_test(test_launch_refused),
      cmocka_unit_test(test_fatal_faults),
  };
  rungs = catalog_new();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  catalog_free(rungs);
  return fake_libs_end(failed);
}
