/* Learners' whole .cu files through the real NVRTC, where there is one. No GPU is needed. */
#include "base/alloc.h"
#include "base/paths.h"
#include "bench/ptx_build.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char dir[] = "tests/fixtures/learner";

static const nvrtc *here(void) {
  struct err err;
  const nvrtc *n = nvrtc_open(&err);
  if (!n) {
    print_message("# SKIP %s\n", err.text);
    skip();
  }
  return n;
}

struct expected {
  const char *file;
  const char *entries; /* names, one space between */
  const char *left;    /* of the file itself */
  const char *line;    /* a text of a kernel's line that must have instructions */
  bool toolkit;        /* needs its headers */
};

static const struct expected files[] = {
    {"01_naive.cu", "matmul", "28 fill, 33 main", "sum += A[", false},
    {"02_template_tiled.cu", "tiled<32> tiled<16>", "9 h_A, 10 h_C, 32 print, 37 main",
     "acc += As[ty][k]", false},
    {"03_constant_conv.cu", "conv", "13 start_time, 15 now, 41 main", "mask[k]", false},
    {"04_struct_params.cu", "mul",
     "13 HostMatrix, 14 HostMatrix, 15 operator(), 16 describe, 22 describe, 24 Timer, 54 main",
     "v += As[row][e]", false},
    {"05_namespaces.cu", "gemm::blocked<float, 64, 64, 8, 8> zero plain",
     "10 launches, 30 launch, 42 host_entry, 45 main", "acc[i] += As", false},
    {"06_float4_half.cu", "copy4 axpy_half", "20 main", "__hfma2", true},
    {"07_reduce.cu", "reduce", "8 Clock, 10 random_vector, 43 main", "v += in[i]", true},
    {"08_macros.cu", "squares last scale_f", "28 run, 43 main, 3 common/timer.h", "p[0] = 3",
     false},
    {"09_wmma.cu", "wmma_gemm to_bf16", "25 main", "wmma::mma_sync(", true},
    {"10_class_device.cu", "apply", "10 print, 18 Op, 22 callback, 23 sizes, 35 time_it, 37 main",
     "r[k] = op(", false},
    {"11_dynamic.cu", "transpose_naive transpose_smem", "29 table, 34 main",
     "out[y * h + x] = tile", false},
    {"12_many_kernels.cu", "good extra<4>",
     "7 string, 31 main, 4 thrust/device_vector.h, 25 typed, 16 broken, 20 Loader, 29 stray",
     "twice(p[i])", false},
    {"13_async_copy.cu", "stage", "20 main", "__pipeline_wait_prior(1)", true},
    {"14_instances.cu", "scale<double, 2> scale<float, (4 * 2)> noise", "18 main",
     "p[threadIdx.x + i", true},
};

static int line_of(const char *text, const char *piece) {
  const char *at = strstr(text, piece);
  assert_non_null(at);
  int line = 1;
  for (const char *c = text; c < at; c++)
    line += *c == '\n';
  return line;
}

/* True if the PTX has an instruction of this line of the file called `name`. */
static bool has_loc(const char *ptx, const char *name, int line) {
  char want[40];
  for (const char *f = ptx; (f = strstr(f, "\t.file\t")) != NULL; f++) {
    int index = atoi(f + 7);
    size_t len = strcspn(f, "\n"), n = strlen(name);
    if (len < n + 2 || memcmp(f + len - n - 1, name, n) || f[len - n - 2] != '/')
      continue;
    snprintf(want, sizeof want, "\t.loc\t%d %d ", index, line);
    if (strstr(ptx, want))
      return true;
  }
  return false;
}

static void check_left(const struct cuda_scan *s, const char *expected, const char *file) {
  char all[1000] = "";
  size_t used = 0;
  for (int i = 0; i < s->nleft; i++)
    used += (size_t)snprintf(all + used, sizeof all - used, "%s%d %s", i ? ", " : "",
                             s->left[i].line, s->left[i].name);
  if (strcmp(all, expected))
    fail_msg("%s: left out are %s", file, all);
}

static void check_entries(const struct ptx_build_output *out, const char *expected,
                          const char *file) {
  char all[1000] = "";
  size_t used = 0;
  for (int i = 0; i < out->nentries; i++) {
    const struct ptx_build_entry *e = &out->entries[i];
    used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? " " : "", e->name);
    char head[300];
    snprintf(head, sizeof head, ".entry %s(", e->symbol);
    if (!strstr(out->ptx, head))
      fail_msg("%s: no %s in the PTX", file, head);
    assert_int_equal(e->registers, -1);
  }
  if (strcmp(all, expected))
    fail_msg("%s: entries are %s", file, all);
}

static void one_file(const nvrtc *n, const struct expected *x) {
  struct err err = {""};
  struct ptx_build_output out;
  char *path = alloc_printf("%s/%s", dir, x->file);
  size_t size;
  char *text = paths_read(path, 1 << 20, &size, &err);
  assert_non_null(text);
  const char *flags[] = {"-DSTEP=32"};
  struct ptx_build_request q = {
      .source = text, .size = size, .name = x->file, .dir = dir, .flags = flags, .nflags = 1};
  if (!ptx_build(n, &q, &out, &err))
    fail_msg("%s: %s\n%s", x->file, err.text, out.log);
  check_entries(&out, x->entries, x->file);
  check_left(out.sources.all[0].scan, x->left, x->file);
  if (!has_loc(out.ptx, x->file, line_of(text, x->line)))
    fail_msg("%s: no instruction of line %d", x->file, line_of(text, x->line));
  assert_false(has_loc(out.ptx, x->file, line_of(text, "main(")));
  assert_non_null(strstr(out.ptx, ".target sm_90"));
  ptx_build_done(&out);
  free(text);
  free(path);
}

static void test_learner_files(void **state) {
  (void)state;
  const nvrtc *n = here();
  int done = 0;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (!files[i].toolkit || nvrtc_include(n)) {
      one_file(n, &files[i]);
      done++;
    }
  print_message("%d files\n", done);
}

/* One text, built; the sentence of a failure or "". */
static struct ptx_build_output built;
static const char *build(const char *text, const char *entry) {
  static struct err err;
  struct ptx_build_request q = {
      .source = text, .size = strlen(text), .name = "mine.cu", .entry = entry};
  err.text[0] = 0;
  bool ok = ptx_build(here(), &q, &built, &err);
  assert_true(ok == (built.ptx != NULL));
  assert_true(ok == !err.text[0]);
  return err.text;
}

static const char two[] = "template <int T> __global__ void tiled(float *p) { p[0] = T; }\n"
                          "namespace a { __global__ void plain(float *p) { p[0] = 1; } }\n"
                          "int main() { const int W = 8; tiled<W * 2><<<1, 1>>>(0); }\n";

static void test_entry(void **state) {
  (void)state;
  static const struct {
    const char *entry, *name, *symbol;
  } asked[] = {{"plain", "a::plain", "_ZN1a5plainEPf"},
               {"a::plain", "a::plain", "_ZN1a5plainEPf"},
               {"tiled<32>", "tiled<32>", "_Z5tiledILi32EEvPf"},
               {"tiled < 4 >", "tiled< 4 >", "_Z5tiledILi4EEvPf"},
               {"tiled", "tiled<8 * 2>", "_Z5tiledILi16EEvPf"}};
  for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
    assert_string_equal(build(two, asked[i].entry), "");
    assert_int_equal(built.nentries, 1);
    assert_string_equal(built.entries[0].name, asked[i].name);
    assert_string_equal(built.entries[0].symbol, asked[i].symbol);
    ptx_build_done(&built);
  }
}

static void refuse(const char *text, const char *entry, const char *sentence) {
  assert_string_equal(build(text, entry), sentence);
  ptx_build_done(&built);
}

static void test_refusals(void **state) {
  (void)state;
  refuse(two, "other", "mine.cu has no kernel named other. It has: tiled<int T>, a::plain.");
  refuse(two, "tiled<X>", "There is no kernel 'tiled<X>': identifier \"X\" is undefined.");
  refuse("template <class T> __global__ void k(T *p) {}\nvoid f() { k<Q><<<1, 1>>>(0); }", "k",
         "There is no kernel 'k<Q>': identifier \"Q\" is undefined. If it is a template, name its "
         "arguments, as in --entry 'name<32>'.");
  refuse("int main() { }", NULL, "mine.cu has no kernel: no function with __global__ and a body.");
  refuse("template <class T> __global__ void k(T *p) {}", "k",
         "k is a template <class T>. Name its arguments, as in --entry 'k<...>'.");
  refuse("template <class T> __global__ void k(T *p) {}", NULL,
         "The kernels of mine.cu are templates, and nothing in the file says with which "
         "arguments: k<class T>. Name one with its arguments, as in --entry 'name<32>'.");
  refuse("__global__ void k(int *p) {\n  p[0] = q;\n}", "k",
         "mine.cu:2: identifier \"q\" is undefined");
  refuse("int f(int a) { return a; }\n__global__ void k(int *p) { p[0] = f(1); }", "k",
         "mine.cu:2: identifier \"f\" is undefined. f (line 1) is host code and was left out. "
         "Mark it __device__ if the kernel needs it.");
  refuse("struct S { foo x; };\n__global__ void k(S p) { }", "k",
         "mine.cu:2: identifier \"S\" is undefined. S (line 1) was left out: identifier \"foo\" is "
         "undefined");
}

/* A kernel that does not compile does not stop the one that is asked for, nor the others. */
static void test_broken_neighbour(void **state) {
  (void)state;
  const char *text = "__global__ void bad(int *p) { p[0] = q; }\n"
                     "using W = nowhere::thing;\n"
                     "__global__ void good(int *p) { p[0] = 7; }\n";
  for (int i = 0; i < 2; i++) {
    assert_string_equal(build(text, i ? "good" : NULL), "");
    assert_int_equal(built.nentries, 1);
    assert_string_equal(built.entries[0].name, "good");
    assert_int_equal(built.entries[0].line, 3);
    assert_int_equal(built.sources.all[0].scan->nleft, 2);
    assert_int_equal(built.compiles, 3);
    ptx_build_done(&built);
  }
}

static void test_prelude(void **state) {
  (void)state;
  const char *text =
      "#include <assert.h>\n#include <limits>\n#include <unistd.h>\n"
      "static_assert(sizeof(int64_t) == 8 && sizeof(uint) == 4 && sizeof(ushort) == 2, \"\");\n"
      "__global__ void k(float *p, long long *q, size_t n) {\n"
      "  int64_t *same = q; uint64_t m = n; uint8_t b = UINT8_MAX;\n"
      "  p[0] = std::min(p[1], FLT_MAX) + (float)M_PI + std::max(1, 2) + same[0] + m + b;\n"
      "  p[2] = INFINITY; p[3] = NAN; p[4] = std::numeric_limits<float>::max();\n"
      "  p[5] = -std::numeric_limits<float>::infinity(); p[6] = INT_MAX;\n"
      "  std::swap(p[7], p[8]); assert(p[0] > 1); printf(\"%f\\n\", p[0]);\n}\n";
  assert_string_equal(build(text, "k"), "");
  assert_non_null(strstr(built.ptx, "call.uni"));
  assert_non_null(strstr(built.ptx, "__assertfail"));
  assert_non_null(strstr(built.ptx, "vprintf"));
  ptx_build_done(&built);
  assert_string_equal(
      build("#define NDEBUG\n#include <cassert>\n__global__ void k(int *p) { assert(p[0]); }", "k"),
      "");
  assert_null(strstr(built.ptx, "call.uni"));
  ptx_build_done(&built);
}

static void test_toolkit_header(void **state) {
  (void)state;
  struct err err = {""};
  const char *text = "#include <stdio.h>\n#include <cuda_fp16.h>\n__global__ void k(half *p) { }";
  struct ptx_build_request q = {
      .source = text, .size = strlen(text), .name = "mine.cu", .include = "/nowhere"};
  assert_false(ptx_build(here(), &q, &built, &err));
  assert_string_equal(
      err.text, "mine.cu:2 includes cuda_fp16.h, which only a CUDA toolkit has; it is not in "
                "/nowhere. Install its headers, or set CUDA_HOME to a toolkit that has them.");
  ptx_build_done(&built);
}

static void test_resources(void **state) {
  (void)state;
  struct err err = {""};
  const char *text =
      "__device__ __noinline__ float f(float x) { return x * x; }\n"
      "__global__ void k(float *p) { __shared__ float s[64]; s[threadIdx.x] = f(p[0]);\n"
      "  __syncthreads(); p[threadIdx.x] = s[63 - threadIdx.x]; }\n"
      "__global__ void __launch_bounds__(1024) wide(float *p) { float a[200];\n"
      "#pragma unroll\n  for (int i = 0; i < 200; i++) a[i] = p[i * 1024 + threadIdx.x];\n"
      "  __syncthreads();\n#pragma unroll\n"
      "  for (int i = 0; i < 200; i++) p[i * 1024 + threadIdx.x] = a[199 - i] + a[i]; }\n";
  struct ptx_build_request q = {
      .source = text, .size = strlen(text), .name = "mine.cu", .resources = true};
  if (!ptx_build(here(), &q, &built, &err))
    fail_msg("%s", err.text);
  assert_int_equal(built.nentries, 2);
  assert_int_equal(built.entries[0].shared_bytes, 256);
  assert_in_range(built.entries[0].registers, 4, 255);
  assert_int_equal(built.entries[0].spill_bytes, 0);
  assert_int_equal(built.entries[1].registers, 64);
  assert_true(built.entries[1].spill_bytes > 100);
  assert_true(built.cubin_size > 500 && !memcmp(built.cubin, "\177ELF", 4));
  assert_int_equal(built.compiles, 1);
  char *ptx = built.ptx; /* the same as without machine code */
  built.ptx = NULL;
  ptx_build_done(&built);
  assert_string_equal(build(text, NULL), "");
  assert_string_equal(built.ptx, ptx);
  free(ptx);
  ptx_build_done(&built);
}

/* What only the assembler refuses: the PTX is handed over all the same. */
static void test_too_large(void **state) {
  (void)state;
  struct err err = {""};
  const char *text = "__global__ void k(float *p) { __shared__ float s[20000];\n"
                     "  s[threadIdx.x] = p[0]; __syncthreads(); p[1] = s[threadIdx.x ^ 1]; }\n";
  struct ptx_build_request q = {
      .source = text, .size = strlen(text), .name = "mine.cu", .resources = true};
  assert_false(ptx_build(here(), &q, &built, &err));
  assert_non_null(strstr(err.text, "The PTX is there, but not the machine code: "));
  assert_non_null(built.ptx);
  assert_null(built.cubin);
  assert_int_equal(built.compiles, 2);
  ptx_build_done(&built);
}

static void test_arch_and_flags(void **state) {
  (void)state;
  struct err err = {""};
  const char *flags[] = {"-DT=5", "--fmad=false"};
  const char *text = "__global__ void k(float *p) { p[0] = p[1] * p[2] + T; }";
  struct ptx_build_request q = {.source = text,
                                .size = strlen(text),
                                .name = "mine.cu",
                                .arch = "80",
                                .flags = flags,
                                .nflags = 2};
  if (!ptx_build(here(), &q, &built, &err))
    fail_msg("%s", err.text);
  assert_non_null(strstr(built.ptx, ".target sm_80"));
  assert_null(strstr(built.ptx, "fma.rn"));
  ptx_build_done(&built);
  q.arch = "52";
  assert_false(ptx_build(here(), &q, &built, &err));
  assert_true(err.text[0] != 0);
  ptx_build_done(&built);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_learner_files), cmocka_unit_test(test_entry),
      cmocka_unit_test(test_refusals),      cmocka_unit_test(test_broken_neighbour),
      cmocka_unit_test(test_prelude),       cmocka_unit_test(test_toolkit_header),
      cmocka_unit_test(test_resources),     cmocka_unit_test(test_too_large),
      cmocka_unit_test(test_arch_and_flags)};
  return cmocka_run_group_tests_name("bench_ptx_build", tests, NULL, NULL);
}
