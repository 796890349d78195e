/* The CUDA device with 16-bit matrices, clusters and tensor maps, against the stand-ins for
 * NVIDIA's libraries. */
#include "bench/cuda_build.h"
#include "bench/device.h"
#include "bench/exact.h"
#include "bench/narrow.h"
#include "bench/verify.h"
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_libs.h"

/* What the fake driver keeps of a tensor map. */
struct map {
  unsigned long long address;
  uint64_t sizes[2], stride;
  uint32_t box[2], every[2];
  unsigned char type, rank, interleave, swizzle, l2, outside;
};

static void *symbol(const char *library, const char *name) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD), *address;
  assert_non_null(handle);
  address = dlsym(handle, name);
  assert_non_null(address);
  dlclose(handle);
  return address;
}

static const struct map *last_map(void) { return symbol("libcuda.so.1", "fake_map"); }
static int maps_made(void) { return *(int *)symbol("libcuda.so.1", "fake_maps"); }

/* A kernel by its front matter: types of A, B, C, entry, arguments, and other members. */
static struct kernel *make(const char *a, const char *b, const char *c, const char *entry,
                           const char *args, const char *cluster, const char *more) {
  char text[2048];
  struct err err;
  snprintf(text, sizeof text,
           "/* mmtutor {\"schema\":1,\"id\":\"cuda/t\",\"op\":\"gemm\",\n"
           "\"dtype\":{\"A\":\"%s\",\"B\":\"%s\",\"C\":\"%s\",\"acc\":\"f32\"},\n%s\n"
           "\"launches\":[{\"entry\":\"%s\",\"grid\":[\"ceil(N/8)\",\"ceil(M/8)\",1],"
           "\"block\":[8,8,1],\"cluster\":%s,\"args\":[%s]}]} */\n"
           "extern \"C\" __global__ void %s(int x) {}\n",
           a, b, c, more, entry, cluster, args, entry);
  struct kernel *k = kernel_parse(text, strlen(text), "mine/t.cu", NULL, &err);
  if (!k)
    fail_msg("%s", err.text);
  return k;
}

#define USUAL "\"A\",\"B\",\"C\",\"M\",\"N\",\"K\""

static struct kernel *make_half(const char *type) {
  char entry[32];
  snprintf(entry, sizeof entry, "matmul_%s", type);
  return make(type, type, type, entry, USUAL, "[1,1,1]", "");
}

/* bf16 to f32; alpha is in the middle of its arguments. */
static struct kernel *make_wide(void) {
  return make("bf16", "bf16", "f32", "matmul_wide",
              "\"A\",\"B\",\"C\",\"alpha\",\"M\",\"N\",\"K\",\"beta\"", "[1,1,1]", "");
}

static struct kernel *make_maps(const char *maps) {
  char more[512];
  snprintf(more, sizeof more, "\"maps\":{%s},", maps);
  return make("bf16", "bf16", "bf16", "matmul_maps", "\"mapA\",\"mapB\",\"C\"", "[1,1,1]", more);
}

static const char *const good_maps =
    "\"mapA\":{\"of\":\"A\",\"box\":[\"64\",\"M/2\"],\"swizzle\":128},"
    "\"mapB\":{\"of\":\"B\",\"box\":[16,8],\"swizzle\":32,\"l2\":256}";

static struct device_job job_of(const struct kernel *k, int64_t M, int64_t N, int64_t K) {
  struct device_job job = {.kernel = k, .size = kernel_size_default(k, M, N, K), .seed = 5};
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

static void assert_has(const char *text, const char *part) {
  if (!strstr(text, part))
    fail_msg("'%s' is not in '%s'", part, text);
}

static void prepare(device *d, const struct device_job *job) {
  struct device_built built;
  struct device_fault fault;
  must(device_cuda.prepare(d, job, &built, &fault), &fault);
  free(built.log);
}

/* The fault of preparing this job; it must have three sentences. */
static struct device_fault refused(device *d, const struct device_job *job, const char *code) {
  struct device_built built;
  struct device_fault fault = {0};
  assert_false(device_cuda.prepare(d, job, &built, &fault));
  free(built.log);
  assert_string_equal(fault.code, code);
  assert_true(strlen(fault.what) > 15 && strlen(fault.why) > 10 && strlen(fault.next) > 10);
  return fault;
}

/* Prepares, launches and verifies. */
static struct result_verify run(device *d, const struct device_job *job) {
  struct device_fault fault;
  struct result_verify v;
  struct err err;
  double ms;
  prepare(d, job);
  must(device_cuda.launch(d, ARM_KERNEL, 1, &ms, &fault), &fault);
  verify *check = verify_new(job, &err);
  assert_non_null(check);
  must(verify_check(check, &device_cuda, d, &v, &ms, &fault), &fault);
  verify_free(check);
  return v;
}

static void must_be_right(device *d, const struct device_job *job) {
  struct result_verify v = run(d, job);
  if (!v.ok)
    fail_msg("%s: %s", job->kernel->launches[0].entry, v.note);
  assert_true(v.checked == (double)(job->size.M * job->size.N));
  assert_true(v.bound == 8 * sqrt((double)job->size.K) * 0x1p-24);
}

/* ---- types */

static void test_types(void **state) {
  (void)state;
  device *d = open_fake();
  struct kernel *k[] = {make_half("f16"), make_half("bf16"), make_wide()};
  for (int i = 0; i < 3; i++) {
    struct device_job job = job_of(k[i], 37, 29, 41);
    must_be_right(d, &job);
    setenv("FAKE_WRONG", "1", 1);
    struct result_verify v = run(d, &job);
    unsetenv("FAKE_WRONG");
    assert_false(v.ok);
    assert_has(v.note, "C[36,28]");
    kernel_free(k[i]);
  }
  device_cuda.close(d);
}

/* f16 and bf16 inputs have the same bytes in number, but not in kind. */
static void test_type_changes(void **state) {
  (void)state;
  device *d = open_fake();
  struct kernel *a = make_half("f16"), *b = make_half("bf16");
  struct device_job job = job_of(a, 16, 16, 16);
  must_be_right(d, &job);
  job.kernel = b;
  must_be_right(d, &job);
  job.kernel = a;
  must_be_right(d, &job);
  kernel_free(a);
  kernel_free(b);
  device_cuda.close(d);
}

static void test_poison(void **state) {
  (void)state;
  device *d = open_fake();
  struct kernel *k[] = {make_half("f16"), make_half("bf16"), make_wide()};
  for (int i = 0; i < 3; i++) {
    struct device_job job = job_of(k[i], 5, 7, 3);
    struct device_fault fault;
    float c[35];
    double ms;
    prepare(d, &job);
    must(device_cuda.launch(d, ARM_KERNEL, 1, &ms, &fault), &fault);
    must(device_cuda.download(d, 0, 5, c, &ms, &fault), &fault);
    for (int j = 0; j < 35; j++)
      assert_true(!isnan(c[j]));
    must(device_cuda.poison(d, &fault), &fault);
    must(device_cuda.download(d, 2, 3, c, &ms, &fault), &fault);
    for (int j = 0; j < 21; j++)
      assert_true(isnan(c[j]));
    kernel_free(k[i]);
  }
  device_cuda.close(d);
}

static void test_bytes_needed(void **state) {
  (void)state;
  device *d = open_fake();
  struct kernel *k[] = {make_half("bf16"), make_wide()};
  static const char *const bytes[] = {"1572864", "2097152"}; /* 512^2 elements are 262144 */
  setenv("FAKE_MEMORY", "1", 1);
  for (int i = 0; i < 2; i++) {
    struct device_job job = job_of(k[i], 512, 512, 512);
    struct device_fault fault = refused(d, &job, "out_of_memory");
    assert_has(fault.why, bytes[i]);
    kernel_free(k[i]);
  }
  unsetenv("FAKE_MEMORY");
  device_cuda.close(d);
}

static void test_f64_refused(void **state) {
  (void)state;
  device *d = open_fake();
  struct kernel *k = make("f64", "f64", "f64", "matmul", USUAL, "[1,1,1]", "");
  struct device_job job = job_of(k, 8, 8, 8);
  struct device_fault fault = refused(d, &job, "unsupported");
  assert_has(fault.what, "f32, f16 and bf16");
  kernel_free(k);
  device_cuda.close(d);
}

/* What goes to a device is what the truth is made of, to the bit. */
static void test_rounding(void **state) {
  (void)state;
  enum { N = 1 << 16 };
  static float in[N], truth[N], back[N];
  static uint16_t narrow[N];
  for (int t = DT_BF16; t <= DT_F16; t++) {
    struct exact_matrix m = {9, 1, N, false, false, (enum kernel_dtype)t};
    exact_fill(&m, 0, 0, N, truth);
    m.dtype = DT_F32;
    exact_fill(&m, 0, 0, N, in);
    narrow_store(narrow, (enum kernel_dtype)t, in, N);
    narrow_widen(narrow, (enum kernel_dtype)t, N, back);
    assert_memory_equal(truth, back, sizeof truth);
    for (int i = 0; i < N; i++) /* every bit pattern: alone and in a row it is the same number */
      narrow[i] = (uint16_t)i;
    narrow_widen(narrow, (enum kernel_dtype)t, N, back);
    for (int i = 0; i < N; i++) {
      double alone = narrow_load(narrow, (enum kernel_dtype)t, i);
      assert_true(isnan(back[i]) ? isnan(alone) : (double)back[i] == alone);
    }
  }
}

/* ---- the reference */

static void reference_is(device *d, const struct device_job *job, const char *want) {
  struct device_fault fault;
  struct err why;
  char name[64], version[64];
  double ms;
  prepare(d, job);
  if (!device_cuda.reference(d, name, version, &why))
    fail_msg("%s", why.text);
  assert_string_equal(name, "cuBLAS");
  assert_string_equal(version, want);
  must(device_cuda.launch(d, ARM_REFERENCE, 1, &ms, &fault), &fault);
}

static void test_reference(void **state) {
  (void)state;
  device *d = open_fake();
  struct kernel *k[] = {make_half("bf16"), make_half("f16"), make_wide(),
                        make("f32", "f32", "f32", "matmul", USUAL, "[1,1,1]", "")};
  for (int round = 0; round < 2; round++) /* math mode and workspace follow the kernel */
    for (int i = 0; i < 4; i++) {
      struct device_job job = job_of(k[i], 13, 17, 19);
      struct device_fault fault;
      float ours[13 * 17], theirs[13 * 17];
      double ms;
      job.reference = true;
      reference_is(d, &job, i == 3 ? "13.0.2 pedantic" : "13.0.2");
      if (i == 3)
        continue;
      must(device_cuda.launch(d, ARM_KERNEL, 1, &ms, &fault), &fault);
      must(device_cuda.download(d, 0, 13, ours, &ms, &fault), &fault);
      void **out = symbol("libcublas.so.13", "fake_blas_out");
      narrow_widen(*out, k[i]->c, 13 * 17, theirs);
      for (int j = 0; j < 13 * 17; j++)
        assert_true(fabsf(ours[j] - theirs[j]) <= fabsf(theirs[j]) * 0x1p-7f + 1e-5f);
    }
  for (int i = 0; i < 4; i++)
    kernel_free(k[i]);
  device_cuda.close(d);
}

static void test_reference_layout(void **state) {
  (void)state;
  device *d = open_fake();
  struct kernel *k = make("bf16", "bf16", "f32", "matmul_wide", USUAL, "[1,1,1]",
                          "\"layout\":{\"A\":\"row\",\"B\":\"col\",\"C\":\"row\"},");
  struct device_job job = job_of(k, 13, 17, 19);
  job.reference = true;
  reference_is(d, &job, "13.0.2");
  struct exact e;
  struct err err;
  struct exact_report report = {.first = -1};
  assert_true(exact_init(&e, &job, &err));
  const float *c = *(float **)symbol("libcublas.so.13", "fake_blas_out");
  for (int64_t i = 0; i < 13; i++) {
    const float *row = c + i * 17;
    exact_compare(&e, &i, &row, 1, &report);
  }
  assert_int_equal(report.first, -1);
  kernel_free(k);
  device_cuda.close(d);
}

static void test_no_reference(void **state) {
  (void)state;
  device *d = open_fake();
  struct kernel *k[] = {make_half("bf16"),
                        make("f16", "bf16", "f32", "matmul", USUAL, "[1,1,1]", "")};
  static const char *const says[] = {"settings", "types"};
  setenv("FAKE_cublasSetWorkspace_v2", "7", 1);
  for (int i = 0; i < 2; i++) {
    struct device_job job = job_of(k[i], 8, 8, 8);
    struct err why;
    char name[64], version[64];
    job.reference = true;
    prepare(d, &job);
    assert_false(device_cuda.reference(d, name, version, &why));
    assert_has(why.text, says[i]);
    kernel_free(k[i]);
  }
  unsetenv("FAKE_cublasSetWorkspace_v2");
  device_cuda.close(d);
}

/* ---- code for one generation alone */

static void test_suffix(void **state) {
  (void)state;
  struct kernel *k = make("f32", "f32", "f32", "matmul", USUAL, "[1,1,1]",
                          "\"cc\":{\"min\":\"9.0\",\"suffix\":\"a\"},");
  struct device_job job = job_of(k, 16, 16, 16);
  char **options;
  int n = cuda_build_options(k, 90, false, NULL, &options);
  assert_string_equal(options[0], "--gpu-architecture=sm_90a");
  cuda_build_free_options(options, n);
  device *d = open_fake();
  must_be_right(d, &job);
  device_cuda.close(d);
  setenv("FAKE_CC", "120", 1); /* newer than this NVRTC; PTX for an older one would not load */
  d = open_fake();
  struct device_fault fault = refused(d, &job, "no_nvrtc");
  unsetenv("FAKE_CC");
  assert_has(fault.why, "compute capability 12.0");
  device_cuda.close(d);
  kernel_free(k);
}

/* ---- clusters */

static void test_clusters(void **state) {
  (void)state;
  device *d = open_fake();
  struct kernel *k = make("bf16", "bf16", "bf16", "matmul_bf16", USUAL, "[2,4,1]", "");
  struct device_job job = job_of(k, 64, 48, 16);
  must_be_right(d, &job);
  const unsigned *cluster = symbol("libcuda.so.1", "fake_cluster"),
                 *grid = symbol("libcuda.so.1", "fake_grid");
  assert_true(cluster[0] == 2 && cluster[1] == 4 && cluster[2] == 1);
  assert_true(grid[0] == 6 && grid[1] == 8 && grid[2] == 1);
  job = job_of(k, 64, 56, 16);
  struct device_fault fault = refused(d, &job, "cluster");
  assert_has(fault.why, "7 blocks in x");
  kernel_free(k);
  k = make("bf16", "bf16", "bf16", "matmul_bf16", USUAL, "[4,4,1]", "");
  job = job_of(k, 64, 64, 16);
  fault = refused(d, &job, "cluster");
  assert_has(fault.why, "4 x 4 x 1 = 16");
  kernel_free(k);
  device_cuda.close(d);
}

/* ---- tensor maps */

static void test_maps(void **state) {
  (void)state;
  device *d = open_fake();
  struct kernel *k = make_maps(good_maps);
  struct device_job job = job_of(k, 40, 24, 64);
  int before = maps_made();
  setenv("FAKE_PARAMS", "128 128 8", 1);
  must_be_right(d, &job);
  assert_int_equal(maps_made(), before + 2);
  const struct map *b = last_map();
  assert_true(b->sizes[0] == 24 && b->sizes[1] == 64 && b->stride == 48);
  assert_true(b->box[0] == 16 && b->box[1] == 8 && b->every[0] == 1 && b->every[1] == 1);
  assert_true(b->type == 9 && b->rank == 2 && b->interleave == 0 && b->outside == 0);
  assert_true(b->swizzle == 1 && b->l2 == 3);
  job = job_of(k, 72, 32, 128); /* other sizes, other buffers: nothing is kept */
  must_be_right(d, &job);
  assert_true(last_map()->sizes[0] == 32 && last_map()->sizes[1] == 128);
  must_be_right(d, &job);
  assert_int_equal(maps_made(), before + 6);
  static const char *const others[] = {"8 128 8", "128 128 128"};
  for (int i = 0; i < 2; i++) {
    setenv("FAKE_PARAMS", others[i], 1);
    struct device_fault fault = refused(d, &job, "arguments");
    assert_has(fault.why, i ? "Parameter 3" : "Parameter 1");
  }
  unsetenv("FAKE_PARAMS");
  kernel_free(k);
  device_cuda.close(d);
}

/* Types and layouts: a column-major A has M elements together. */
static void test_map_of(void **state) {
  (void)state;
  static const struct {
    const char *type, *layout, *of;
    int code, size, inner, outer;
  } cases[] = {{"f32", "row", "A", 7, 4, 64, 32},  {"f32", "col", "A", 7, 4, 32, 64},
               {"f16", "row", "B", 6, 2, 48, 64},  {"f16", "col", "B", 6, 2, 64, 48},
               {"bf16", "row", "C", 9, 2, 48, 32}, {"bf16", "col", "C", 9, 2, 32, 48}};
  device *d = open_fake();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char more[256];
    snprintf(more, sizeof more,
             "\"layout\":{\"%s\":\"%s\"},\"maps\":{\"m\":{\"of\":\"%s\",\"box\":[8,256],"
             "\"swizzle\":0,\"l2\":0}},",
             cases[i].of, cases[i].layout, cases[i].of);
    const char *t = cases[i].type;
    struct kernel *k = make(t, t, t, "other", "\"m\"", "[1,1,1]", more);
    struct device_job job = job_of(k, 32, 48, 64);
    prepare(d, &job);
    const struct map *m = last_map();
    if (m->type != cases[i].code || m->sizes[0] != (uint64_t)cases[i].inner ||
        m->sizes[1] != (uint64_t)cases[i].outer ||
        m->stride != (uint64_t)(cases[i].inner * cases[i].size) || m->swizzle || m->l2)
      fail_msg("case %d", (int)i);
    kernel_free(k);
  }
  device_cuda.close(d);
}

static void test_map_refused(void **state) {
  (void)state;
  static const struct {
    const char *box, *says;
    int swizzle, K;
  } cases[] = {{"[64,8]", "a multiple of 16", 128, 36},
               {"[64,8]", "36 elements of bf16, 72", 0, 36},
               {"[64,\"K+129\"]", "257", 128, 128},
               {"[8,0]", "1 to 256", 0, 64},
               {"[\"K/3\",8]", "1 to 256", 0, 64},
               {"[128,8]", "256 bytes, and the swizzle takes 128", 128, 64},
               {"[32,8]", "64 bytes, and the swizzle takes 32", 32, 64},
               {"[12,8]", "24 bytes", 0, 64},
               {"[\"1/0\",8]", "zero", 0, 64}};
  device *d = open_fake();
  int before = 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char maps[256];
    snprintf(maps, sizeof maps,
             "\"mapA\":{\"of\":\"A\",\"box\":%s,\"swizzle\":%d},\"mapB\":{\"of\":"
             "\"B\",\"box\":[8,8],\"swizzle\":0}",
             cases[i].box, cases[i].swizzle);
    struct kernel *k = make_maps(maps);
    struct device_job job = job_of(k, 32, 32, cases[i].K);
    if (!i)
      before = maps_made();
    struct device_fault fault = refused(d, &job, "tensor_map");
    assert_has(fault.what, "mapA");
    assert_has(fault.why, cases[i].says);
    kernel_free(k);
  }
  assert_int_equal(maps_made(), before); /* the driver was not asked */
  struct kernel *k = make_maps(good_maps);
  struct device_job job = job_of(k, 32, 32, 64);
  setenv("FAKE_cuTensorMapEncodeTiled", "1", 1);
  struct device_fault fault = refused(d, &job, "launch");
  unsetenv("FAKE_cuTensorMapEncodeTiled");
  assert_has(fault.why, "mapA");
  kernel_free(k);
  device_cuda.close(d);
}

/* ---- a driver that knows neither */

static int probe_main(void) {
  struct kernel *k[] = {make("f32", "f32", "f32", "matmul", USUAL, "[2,1,1]", ""),
                        make_maps(good_maps),
                        make("f32", "f32", "f32", "matmul", USUAL, "[1,1,1]", "")};
  device *d = open_fake();
  for (int i = 0; i < 3; i++) {
    struct device_job job = job_of(k[i], 32, 32, 64);
    struct device_fault fault = {0};
    struct device_built built;
    bool ok = device_cuda.prepare(d, &job, &built, &fault);
    printf("%s: %s\n", ok ? "ok" : fault.code, fault.why);
    free(built.log);
    kernel_free(k[i]);
  }
  device_cuda.close(d);
  return 0;
}

static void test_old_driver(void **state) {
  (void)state;
  char self[512], command[1024], out[1024];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  assert_true(n > 0);
  self[n] = 0;
  snprintf(command, sizeof command, "LD_LIBRARY_PATH=$FAKE_DIR/11.7:$FAKE_DIR %s probe", self);
  FILE *f = popen(command, "r");
  assert_non_null(f);
  size_t got = fread(out, 1, sizeof out - 1, f);
  out[got] = 0;
  assert_int_equal(pclose(f), 0);
  assert_string_equal(out, "cluster: It has no function cuLaunchKernelEx.\n"
                           "tensor_map: This driver has no tensor maps (cuTensorMapEncodeTiled is "
                           "missing).\nok: \n");
}

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "probe"))
    return probe_main();
  if (!getenv("FAKE_DIR"))
    return fake_libs_start(argv, "types, clusters and tensor maps");
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_types),        cmocka_unit_test(test_type_changes),
      cmocka_unit_test(test_poison),       cmocka_unit_test(test_bytes_needed),
      cmocka_unit_test(test_f64_refused),  cmocka_unit_test(test_rounding),
      cmocka_unit_test(test_reference),    cmocka_unit_test(test_reference_layout),
      cmocka_unit_test(test_no_reference), cmocka_unit_test(test_suffix),
      cmocka_unit_test(test_clusters),     cmocka_unit_test(test_maps),
      cmocka_unit_test(test_map_of),       cmocka_unit_test(test_map_refused),
      cmocka_unit_test(test_old_driver),
  };
  return fake_libs_end(cmocka_run_group_tests(tests, NULL, NULL));
}
