/* The face of the PTX machine: parameters of a kernel, and a budget for each block. */
#include "base/embed.h"
#include "sim/xray/xray.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static xray_module *load(const char *path) {
  const struct embed_file *e = embed_find(path);
  assert_non_null(e);
  struct err err;
  xray_module *m = xray_load(e->data, e->n, &err);
  if (!m)
    fail_msg("%s", err.text);
  return m;
}

static void test_params(void **state) {
  (void)state;
  xray_module *m = load("assets/ptx/cuda_naive.ptx");
  const char *entry = xray_entry(m, 0);
  struct xray_param p;
  static const int bytes[] = {8, 8, 8, 4, 4, 4};
  for (int i = 0; i < 6; i++) {
    assert_true(xray_param(m, entry, i, &p));
    assert_int_equal(p.bytes, bytes[i]);
    assert_false(p.is_float);
  }
  assert_false(xray_param(m, entry, 6, &p));
  assert_false(xray_param(m, entry, -1, &p));
  assert_false(xray_param(m, "missing", 0, &p));
  xray_free(m);
  static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                             ".visible .entry k(.param .f32 a, .param .f64 b, .param .u64 c)\n"
                             "{ ret; }\n";
  struct err err;
  m = xray_load(text, sizeof text - 1, &err);
  assert_non_null(m);
  assert_true(xray_param(m, "k", 0, &p) && p.is_float && p.bytes == 4);
  assert_true(xray_param(m, "k", 1, &p) && p.is_float && p.bytes == 8);
  assert_true(xray_param(m, "k", 2, &p) && !p.is_float && p.bytes == 8);
  xray_free(m);
}

static void coarse_is(const char *insn, bool f16, bool bf16, bool tf32) {
  char text[400];
  int n = snprintf(text, sizeof text,
                   ".version 8.0\n.target sm_90\n.address_size 64\n"
                   ".visible .entry other() { add.f16 %%h1, %%h2, %%h3; ret; }\n"
                   ".visible .entry k() { .reg .b32 %%r<9>; %s; ret; }\n",
                   insn);
  struct err err;
  xray_module *m = xray_load(text, (size_t)n, &err);
  if (!m)
    fail_msg("%s: %s", insn, err.text);
  struct xray_coarse c = xray_coarse_of(m, "k");
  if (c.f16_sums != f16 || c.bf16_sums != bf16 || c.tf32 != tf32)
    fail_msg("%s: f16 %d, bf16 %d, tf32 %d", insn, c.f16_sums, c.bf16_sums, c.tf32);
  xray_free(m);
}

static void test_coarse(void **state) {
  (void)state;
  coarse_is("fma.rn.f32 %r1, %r2, %r3, %r4", false, false, false);
  coarse_is("fma.rn.f16x2 %r1, %r2, %r3, %r4", true, false, false);
  coarse_is("mul.f16x2 %r1, %r2, %r3", false, false, false);
  coarse_is("add.bf16x2 %r1, %r2, %r3", false, true, false);
  coarse_is("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r1, %r2, %r3, %r4}, "
            "{%r1, %r2}, {%r1, %r2}",
            true, false, false);
  coarse_is("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r1, %r2, %r3, %r4}, "
            "{%r1, %r2, %r3, %r4}, {%r1, %r2}, {%r1, %r2, %r3, %r4}",
            false, false, false);
  coarse_is("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r1, %r2, %r3, %r4}, "
            "{%r1, %r2, %r3, %r4}, {%r1, %r2}, {%r1, %r2, %r3, %r4}",
            false, false, true);
}

enum { N = 64 };

static void run(const xray_module *m, int64_t budget, int64_t block_budget, struct xray_report *r) {
  static float A[N * N], B[N * N], C[N * N];
  struct xray_array arrays[3] = {
      {"A", A, sizeof A, true}, {"B", B, sizeof B, true}, {"C", C, sizeof C, false}};
  struct xray_arg args[6] = {{.array = 0}, {.array = 1}, {.array = 2}};
  for (int i = 3; i < 6; i++) {
    args[i] = (struct xray_arg){.array = -1, .bytes = 4};
    args[i].value[0] = N;
  }
  struct xray_launch l = {.grid = {2, 2, 1},
                          .block = {32, 32, 1},
                          .arrays = arrays,
                          .narrays = 3,
                          .args = args,
                          .nargs = 6,
                          .budget = budget,
                          .block_budget = block_budget};
  struct err err;
  if (!xray_run(m, &l, r, &err))
    fail_msg("%s", err.text);
}

static void test_block_budget(void **state) {
  (void)state;
  xray_module *m = load("assets/ptx/cuda_naive.ptx");
  struct xray_report r;
  run(m, 0, 0, &r);
  assert_true(r.finished && r.nproblems == 0);
  int64_t all = (int64_t)r.counts.warp_instructions;
  xray_report_done(&r);
  /* A quarter of all is what one of the four blocks needs. */
  run(m, 0, all / 4, &r);
  assert_true(r.finished && r.nproblems == 0);
  xray_report_done(&r);
  run(m, 0, all / 4 - 1, &r);
  assert_false(r.finished);
  assert_int_equal(r.nproblems, 1);
  assert_int_equal(r.problems[0].kind, XRAY_BUDGET);
  xray_report_done(&r);
  /* The budget of the whole still holds. */
  run(m, all - 1, all, &r);
  assert_false(r.finished);
  xray_report_done(&r);
  run(m, all, all, &r);
  assert_true(r.finished);
  xray_report_done(&r);
  xray_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_params), cmocka_unit_test(test_coarse),
                                     cmocka_unit_test(test_block_budget)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
