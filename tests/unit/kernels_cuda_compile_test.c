/* Every CUDA rung compiles for every architecture that its front matter allows, and every fixture,
 * by NVRTC without headers. */
#include "../../scripts/ptx_files.h"
#include "base/paths.h"
#include <dirent.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static const int archs[] = {75, 80, 86, 89, 90, 100, 120};
enum { ARCHS = sizeof archs / sizeof *archs };
static const char wrong_dir[] = "tests/fixtures/wrong/cuda";

static struct nvrtc nvrtc;

static bool compile_everywhere(void *ctx, const struct ptx_file *f) {
  (void)ctx;
  for (int i = 0; i < ARCHS; i++) {
    size_t size;
    char *log, arch[16];
    if (!ptx_files_runs_on(f->kernel, archs[i]))
      continue;
    snprintf(arch, sizeof arch, "sm_%d%s", archs[i], f->kernel->cc_suffix);
    char *cubin = ptx_files_build(&nvrtc, f, arch, &size, &log);
    if (!cubin)
      fail_msg("%s for %s: %s", f->path, arch, log ? log : "no cubin");
    assert_true(size > 100);
    free(cubin);
  }
  return true;
}

static void need_nvrtc(void) {
  if (!nvrtc_open(&nvrtc)) {
    print_message("# SKIP no NVRTC here\n");
    skip();
  }
}

static void test_rungs(void **state) {
  (void)state;
  need_nvrtc();
  catalog *c = catalog_new();
  assert_true(ptx_files_each(c, compile_everywhere, NULL) >= 9);
  catalog_free(c);
}

/* Reads a fixture; its front matter must be right whatever the code does. */
static struct kernel *fixture(const char *name) {
  char *path = alloc_printf("%s/%s", wrong_dir, name);
  struct err err = {0};
  size_t n;
  char *text = paths_read(path, 1 << 16, &n, &err);
  if (!text)
    fail_msg("%s", err.text);
  struct kernel *k = kernel_parse(text, n, path, NULL, &err);
  if (!k)
    fail_msg("%s", err.text);
  assert_memory_equal(k->id, "cuda/wrong_", 11);
  free(text);
  free(path);
  return k;
}

static void test_wrong_ones(void **state) {
  (void)state;
  need_nvrtc();
  DIR *d = opendir(wrong_dir);
  assert_non_null(d);
  int count = 0;
  for (struct dirent *e; (e = readdir(d));) {
    if (!strstr(e->d_name, ".cu"))
      continue;
    count++;
    struct kernel *k = fixture(e->d_name);
    struct ptx_file f = {.kernel = k, .size = kernel_size_default(k, 1, 1, 1)};
    size_t size;
    char *log;
    char *cubin = ptx_files_build(&nvrtc, &f, "sm_75", &size, &log);
    if (!strcmp(k->id, "cuda/wrong_compile_error")) {
      assert_null(cubin);
      assert_non_null(strstr(log, "accumulator"));
      assert_non_null(strstr(log, "compile_error.cu(")); // the file's own name and line
    } else if (!cubin) {
      fail_msg("%s: %s", e->d_name, log);
    }
    free(cubin);
    free(log);
    kernel_free(k);
  }
  closedir(d);
  assert_int_equal(count, 12);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rungs),
                                     cmocka_unit_test(test_wrong_ones)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
