/* What is shipped for machines without CUDA: of each built-in kernel PTX and the facts of its
 * machine code, which the PTX machine agrees with, and which NVRTC gives again. */
#include "../../scripts/ptx_code.h"

#include "sim/xray/xray.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { USUAL_ARCH = 90 };

static struct cuda_shipped shipped(const struct ptx_file *f, const char *entry, int arch) {
  struct cuda_shipped s;
  if (!cuda_shipped_find(f->kernel, &f->size, entry, arch, &s))
    fail_msg("%s is not there: run scripts/make_ptx.sh", f->path);
  return s;
}

/* The machine, given the recorded mix, finds the unrolling that gives the same. */
static void check_mix(const struct ptx_file *f, const char *entry, const struct cuda_shipped *s) {
  struct err err;
  struct xray_mix mix;
  bool exact = false;
  xray_module *m = xray_load(s->ptx, s->size, &err);
  if (!m || !xray_mix_of(m, entry, &s->sass, &mix, &exact, &err))
    fail_msg("%s: %s", f->path, err.text);
  if (!exact)
    fail_msg("%s for sm_%d: the mix of the machine is another", f->path, s->arch);
  xray_free(m);
}

static bool recorded(const struct kernel *k) {
  return ptx_code_wanted(k) && ptx_files_runs_on(k, USUAL_ARCH);
}

static bool check_file(void *ctx, const struct ptx_file *f) {
  int *rows = ctx;
  for (int i = 0; i < f->kernel->nlaunches; i++)
    for (int a = 0; a < PTX_CODE_ARCHS; a++) {
      const char *entry = f->kernel->launches[i].entry;
      struct cuda_shipped s = shipped(f, entry, ptx_code_archs[a]);
      /* of a kernel for newer GPUs NVRTC may make other PTX for the usual one than is shipped */
      if (f->kernel->cc_min < 7.6 && ptx_code_archs[a] == USUAL_ARCH && s.arch != USUAL_ARCH &&
          recorded(f->kernel))
        fail_msg("%s: its machine code is not recorded: run scripts/make_ptx.sh", f->path);
      if (!s.arch)
        continue;
      assert_int_equal(s.arch, ptx_code_archs[a]);
      assert_int_equal(strncmp(s.compiler, "NVRTC ", 6), 0);
      assert_true(s.registers > 0 && s.registers <= 255);
      assert_true(s.shared_bytes >= 0 && s.stack_bytes >= 0 && s.spill_bytes >= 0);
      check_mix(f, entry, &s);
      ++*rows;
    }
  return true;
}

static void test_recorded(void **state) {
  int rows = 0;
  assert_true(ptx_files_each(*state, check_file, &rows) >= 9);
  assert_true(rows >= 9);
}

static bool check_unknown(void *ctx, const struct ptx_file *f) {
  (void)ctx;
  const char *entry = f->kernel->launches[0].entry;
  struct cuda_shipped s = shipped(f, entry, 61);
  assert_int_equal(s.arch, 0);
  assert_int_equal(s.registers, -1);
  assert_true(s.size > 0);
  assert_int_equal(shipped(f, "no such entry", USUAL_ARCH).arch, 0);
  struct kernel changed = *f->kernel;
  changed.sha256[0] = changed.sha256[0] == '0' ? '1' : '0'; /* another source */
  assert_true(cuda_shipped_find(&changed, &f->size, entry, USUAL_ARCH, &s));
  assert_int_equal(s.arch, 0);
  changed.builtin = false;
  assert_false(cuda_shipped_find(&changed, &f->size, entry, USUAL_ARCH, &s));
  return false;
}

static void test_unknown(void **state) { ptx_files_each(*state, check_unknown, NULL); }

static bool check_again(void *ctx, const struct ptx_file *f) {
  struct ptx_build_output b;
  struct err err;
  if (!recorded(f->kernel) || !ptx_files_repeatable(f->kernel))
    return true;
  if (!ptx_code_build(*(const nvrtc *const *)ctx, f, USUAL_ARCH, &b, &err))
    fail_msg("%s: %s", f->path, err.text);
  for (int e = 0; e < b.nentries; e++) {
    struct cuda_shipped now, then = shipped(f, b.entries[e].symbol, USUAL_ARCH);
    if (then.arch != USUAL_ARCH)
      continue; /* test_recorded says where there may be none */
    if (!ptx_code_of(&b, e, USUAL_ARCH, &now, &err))
      fail_msg("%s: %s", f->path, err.text);
    bool same = now.registers == then.registers && now.shared_bytes == then.shared_bytes &&
                now.stack_bytes == then.stack_bytes && now.spill_bytes == then.spill_bytes &&
                sass_mix_equal(&now.sass, &then.sass);
    if (!same)
      fail_msg("%s: its machine code is another by now: run scripts/make_ptx.sh", f->path);
    char *fresh = ptx_code_body(b.ptx), *kept = ptx_code_body(then.ptx);
    if (strcmp(fresh, kept) != 0)
      fail_msg("%s: the PTX for sm_%d is another than the shipped one", f->path, USUAL_ARCH);
    free(fresh);
    free(kept);
  }
  ptx_build_done(&b);
  return true;
}

static bool same_compiler(void *ctx, const struct ptx_file *f) {
  char now[32];
  snprintf(now, sizeof now, "NVRTC %s", nvrtc_version(*(const nvrtc *const *)ctx));
  struct cuda_shipped s = shipped(f, f->kernel->launches[0].entry, USUAL_ARCH);
  if (strcmp(now, s.compiler) != 0) {
    print_message("# SKIP the files were made by %s, this is %s\n", s.compiler, now);
    skip();
  }
  return false; /* all are made at once: the first one tells */
}

static void test_made_again(void **state) {
  struct err err;
  const nvrtc *n = nvrtc_open(&err);
  if (!n) {
    print_message("# SKIP %s\n", err.text);
    skip();
  }
  ptx_files_each(*state, same_compiler, &n);
  ptx_files_each(*state, check_again, &n);
}

static int setup(void **state) {
  *state = catalog_new();
  return 0;
}

static int teardown(void **state) {
  catalog_free(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_recorded),
      cmocka_unit_test(test_unknown),
      cmocka_unit_test(test_made_again),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
