/* The real NVRTC, where there is one: every CUDA rung compiles for every GPU that its front matter
 * allows, with every value of every parameter. No GPU is needed. */
#include "bench/cuda_build.h"
#include "bench/nvrtc.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static catalog *rungs;

static const nvrtc *here(void) {
  struct err err;
  const nvrtc *n = nvrtc_open(&err);
  if (!n) {
    print_message("# SKIP %s\n", err.text);
    skip();
  }
  return n;
}

static bool allowed(const struct kernel *k, int arch) {
  double cc = arch / 10.0;
  if (k->cc_suffix[0] && fabs(cc - k->cc_min) > 0.05)
    return false;
  return cc > k->cc_min - 0.05 && (k->cc_max <= 0 || cc < k->cc_max + 0.05);
}

/* Compiles one choice of parameters; an ELF file must come out. */
static void compile_one(const nvrtc *n, const struct kernel *k, const struct kernel_size *size,
                        int arch) {
  char **options;
  struct nvrtc_output out;
  struct err err = {""};
  int noptions = cuda_build_options(k, arch, false, nvrtc_include(n), &options);
  char *code = kernel_code(k, size);
  bool ok =
      nvrtc_compile(n, code, k->path, (const char *const *)options, noptions, false, &out, &err);
  if (!ok)
    fail_msg("%s sm_%d: %s\n%s", k->id, arch, err.text, out.log);
  assert_true(out.size > 500);
  assert_memory_equal(out.image, "\177ELF", 4);
  assert_string_equal(out.log, "");
  assert_true(out.ms > 0);
  free(code);
  nvrtc_output_done(&out);
  cuda_build_free_options(options, noptions);
}

/* All values of parameter p and those behind it; returns how many were compiled. */
static int compile_all(const nvrtc *n, const struct kernel *k, struct kernel_size *size, int p,
                       int arch) {
  if (p == k->nparams) {
    compile_one(n, k, size, arch);
    return 1;
  }
  int count = 0;
  for (int v = 0; v < k->params[p].nvalues; v++) {
    size->param[p] = k->params[p].values[v];
    count += compile_all(n, k, size, p + 1, arch);
  }
  return count;
}

static void test_every_rung_compiles(void **state) {
  (void)state;
  static const int archs[] = {75, 80, 86, 89, 90, 100, 120};
  const nvrtc *n = here();
  int count = 0;
  for (int i = 0; i < catalog_count(rungs); i++) {
    const struct kernel *k = catalog_at(rungs, i);
    for (size_t a = 0; k->target == KERNEL_CUDA && a < sizeof archs / sizeof *archs; a++) {
      struct kernel_size size = kernel_size_default(k, 256, 256, 256);
      if (nvrtc_target(n, archs[a]) != archs[a] || !allowed(k, archs[a]))
        continue;
      /* all parameters on one architecture, the defaults on the others */
      if (archs[a] == 90)
        count += compile_all(n, k, &size, 0, archs[a]);
      else
        compile_one(n, k, &size, archs[a]), count++;
    }
  }
  assert_true(count >= 7);
}

static bool compile_text(const char *text, struct nvrtc_output *out, struct err *err) {
  static const char *const options[] = {"--gpu-architecture=compute_75"};
  return nvrtc_compile(here(), text, "mine.cu", options, 1, true, out, err);
}

static void test_message_names_the_line(void **state) {
  (void)state;
  struct nvrtc_output out;
  struct err err;
  assert_false(compile_text("__global__ void f(float *x) {\n  x[0] = y;\n}\n", &out, &err));
  assert_non_null(strstr(err.text, "mine.cu(2): error"));
  assert_null(strchr(err.text, '\n'));
  assert_non_null(strstr(out.log, "1 error"));
  nvrtc_output_done(&out);
}

static void test_small_headers(void **state) {
  (void)state;
  struct nvrtc_output out;
  struct err err = {""};
  bool ok = compile_text("#include <stdint.h>\n#include <float.h>\n#include <math.h>\n"
                         "#include <assert.h>\n#include <stdio.h>\n#include <stddef.h>\n"
                         "extern \"C\" __global__ void f(float *x, int64_t n, uint32_t m) {\n"
                         "  assert(n > 0);\n  if (m) printf(\"%d\\n\", (int)n);\n"
                         "  size_t i = n; x[i] = fminf(INFINITY, FLT_MAX) + NAN;\n}\n",
                         &out, &err);
  if (!ok)
    fail_msg("%s\n%s", err.text, out.log);
  assert_non_null(strstr(out.image, ".entry f"));
  nvrtc_output_done(&out);
}

static void test_targets(void **state) {
  (void)state;
  const nvrtc *n = here();
  assert_int_equal(nvrtc_target(n, 90), 90);
  assert_int_equal(nvrtc_target(n, 10), 0);
  int newest = nvrtc_target(n, 9999);
  assert_true(newest >= 90 && nvrtc_target(n, newest + 7) == newest);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_rung_compiles),
      cmocka_unit_test(test_message_names_the_line),
      cmocka_unit_test(test_small_headers),
      cmocka_unit_test(test_targets),
  };
  rungs = catalog_new();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  catalog_free(rungs);
  return failed;
}
