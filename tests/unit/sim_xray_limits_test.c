/* What a kernel or a launch can do that no machine should do for ever, or at all: each is a
 * sentence, soon. */
#include "base/alloc.h"
#include "base/str.h"
#include "sim/xray/xray.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char top[] = ".version 8.0\n.target sm_80\n.address_size 64\n";
static const char entry[] = ".visible .entry k(.param .u64 p0)\n{\n"
                            ".reg .b64 %rd<4>;\n.reg .b32 %r<4>;\n.reg .f32 %f<4>;\n"
                            ".reg .pred %p<4>;\nld.param.u64 %rd1, [p0];\n";

static float numbers[64];

static struct xray_launch launch(void) {
  static const struct xray_array array = {"A", numbers, sizeof numbers, true};
  static const struct xray_arg arg = {.array = 0};
  return (struct xray_launch){.grid = {1, 1, 1},
                              .block = {32, 1, 1},
                              .arrays = &array,
                              .narrays = 1,
                              .args = &arg,
                              .nargs = 1,
                              .checks = XRAY_CHECK_ALL,
                              .budget = 20000};
}

/* Module-level text, then the body of kernel k. The caller frees with xray_free. */
static xray_module *load(const char *before, const char *body) {
  char *text = alloc_printf("%s%s%s%s\nret;\n}\n", top, before, entry, body);
  struct err err;
  xray_module *m = xray_load(text, strlen(text), &err);
  if (!m)
    fail_msg("%s", err.text);
  free(text);
  return m;
}

static void check_problem(const char *before, const char *body, struct xray_launch l,
                          enum xray_kind kind, const char *words) {
  struct err err;
  struct xray_report r;
  xray_module *m = load(before, body);
  if (!xray_run(m, &l, &r, &err))
    fail_msg("%s: %s", body, err.text);
  if (r.nproblems == 0)
    fail_msg("%s: nothing reported", body);
  bool met = false;
  for (int i = 0; i < r.nproblems; i++)
    met |= r.problems[i].kind == kind && strstr(r.problems[i].detail, words);
  if (!met)
    fail_msg("%s: %s: %s", body, xray_kind_name(r.problems[0].kind), r.problems[0].detail);
  assert_true(r.counts.warp_instructions <= (double)l.budget + 1);
  xray_report_done(&r);
  xray_free(m);
}

static void test_problems(void **state) {
  (void)state;
  static const struct {
    const char *before, *body;
    enum xray_kind kind;
    const char *words;
  } of[] = {
      {"", "L: bra L;", XRAY_BUDGET, "does not end"},
      {"", "mov.u32 %r1, 0;\nL: add.s32 %r1, %r1, 1;\nsetp.ne.s32 %p1, %r1, 0;\n@%p1 bra L;",
       XRAY_BUDGET, "budget"},
      {"", "mov.u64 %rd2, 0;\nld.global.f32 %f1, [%rd2];", XRAY_NULL, "null pointer"},
      {"", "mov.u64 %rd2, 0;\nst.global.v4.f32 [%rd2+4080], {%f1, %f1, %f1, %f1};", XRAY_NULL,
       "null pointer"},
      {"", "ld.global.f32 %f1, [%rd1+2147483648];", XRAY_OOB_GLOBAL, "byte 2147483648"},
      {"", "ld.global.f32 %f1, [%rd1+-2147483648];", XRAY_OOB_GLOBAL, "byte -2147483648"},
      {"",
       "mov.u32 %r1, 2147483647;\nmul.wide.s32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
       "st.global.f32 [%rd3], %f1;",
       XRAY_OOB_GLOBAL, "byte 8589934588"},
      {"", "ld.global.f32 %f1, [%rd1+9223372036854775807];", XRAY_OOB_GLOBAL, "no array"},
      {"", "ld.global.f32 %f1, [%rd1+2];", XRAY_MISALIGNED, "multiple of 4"},
      {"", "ld.shared.f32 %f1, [4294967292];", XRAY_OOB_SHARED, "there are 0 bytes"},
      {"", "mov.u64 %rd2, -8;\nld.f32 %f1, [%rd2];", XRAY_OOB_GLOBAL, "no array"},
      {"", "st.global.f32 [%rd3], %f1;", XRAY_OOB_GLOBAL, "no array"}, /* a register nobody wrote */
      {"", "trap;", XRAY_TRAP, "stops itself"},
      {"", "frobnicate.f32 %f1, %f2;", XRAY_UNSUPPORTED, "frobnicate.f32"},
      {".func f()\n{\ncall f;\nret;\n}\n", "call f;", XRAY_UNSUPPORTED, ""},
      {"", "bar.sync 16;", XRAY_DEADLOCK, "0 to 15"},
      {"", "bar.sync 1, 64;", XRAY_DEADLOCK, "for ever"},
      {"", "mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 5;\n@%p1 bra L;\nbar.sync 0;\nL:",
       XRAY_BARRIER_DIVERGENCE, "0xffffffe0"},
  };
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    check_problem(of[i].before, of[i].body, launch(), of[i].kind, of[i].words);
}

static void check_refused(const char *before, const char *body, struct xray_launch l,
                          const char *words) {
  struct err err = {{0}};
  struct xray_report r;
  xray_module *m = load(before, body);
  if (xray_run(m, &l, &r, &err))
    fail_msg("%s: it ran", body);
  if (!strstr(err.text, words))
    fail_msg("%s: %s", body, err.text);
  xray_free(m);
}

static void test_launches(void **state) {
  (void)state;
  static const struct {
    int64_t grid[3], block[3], shared;
    const char *words;
  } of[] = {
      {{1, 1, 1}, {1000, 1000, 1}, 0, "1000000 threads"},
      {{1, 1, 1}, {1000000, 1, 1}, 0, "1000000 threads"},
      {{1, 1, 1}, {0, 1, 1}, 0, "0 threads"},
      {{1, 1, 1}, {32, 1, 65}, 0, "65 threads in z"},
      {{0, 1, 1}, {32, 1, 1}, 0, "0 blocks"},
      {{2147483648, 1, 1}, {32, 1, 1}, 0, "2147483648 blocks"},
      {{1, 65536, 1}, {32, 1, 1}, 0, "65536 blocks in y"},
      {{1, 1, -1}, {32, 1, 1}, 0, "-1 blocks"},
      {{1, 1, 1}, {32, 1, 1}, 233473, "233473 bytes of shared memory"},
      {{1, 1, 1}, {32, 1, 1}, INT64_MAX, "9223372036854775807 bytes of shared memory"},
      {{1, 1, 1}, {32, 1, 1}, -1, "shared memory"},
  };
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    struct xray_launch l = launch();
    memcpy(l.grid, of[i].grid, sizeof l.grid);
    memcpy(l.block, of[i].block, sizeof l.block);
    l.shared_bytes = of[i].shared;
    check_refused("", "", l, of[i].words);
  }
  struct xray_launch l = launch();
  l.nargs = 0;
  check_refused("", "", l, "takes 1 arguments, 0 were given");
  l = launch();
  l.entry = "other";
  check_refused("", "", l, "no kernel \"other\"");
}

/* The largest grid there is, of nothing. */
static void test_large_grid(void **state) {
  (void)state;
  for (int threads = 1; threads <= 3; threads += 2) {
    struct xray_launch l = launch();
    l.grid[0] = INT32_MAX;
    l.threads = threads;
    check_problem("", "", l, XRAY_BUDGET, "too large");
  }
}

/* What the kernel says of its own blocks: __launch_bounds__ and __block_size__. */
static void test_own_bounds(void **state) {
  (void)state;
  static const struct {
    const char *says;
    int64_t block[3];
    const char *words; /* NULL: it runs */
  } of[] = {
      {".maxntid 64", {64, 1, 1}, NULL},
      {".maxntid 64, 1, 1\n.minnctapersm 2", {8, 8, 1}, NULL},
      {".maxntid 16, 4", {64, 1, 1}, NULL},
      {".minnctapersm 1\n.maxntid 64, 1, 1", {65, 1, 1}, "at most 64 (__launch_bounds__)"},
      {".maxntid 16, 4", {16, 5, 1}, "80 threads"},
      {".maxntid 2147483647, 2147483647, 2147483647", {1024, 1, 1}, NULL},
      {".reqntid 16, 4", {16, 4, 1}, NULL},
      {".reqntid 16, 4", {4, 16, 1}, "exactly 16 x 4 x 1"},
      {".reqntid 64", {32, 1, 1}, "32 x 1 x 1"},
  };
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    char *text = alloc_printf("%s.visible .entry k()\n%s\n{\nret;\n}\n", top, of[i].says);
    struct err err = {{0}};
    struct xray_report r;
    struct xray_launch l = launch();
    l.nargs = 0;
    memcpy(l.block, of[i].block, sizeof l.block);
    xray_module *m = xray_load(text, strlen(text), &err);
    assert_non_null(m);
    bool ran = xray_run(m, &l, &r, &err);
    if (ran != !of[i].words || (!ran && !strstr(err.text, of[i].words)))
      fail_msg("%s: %s", of[i].says, ran ? "it ran" : err.text);
    if (ran)
      xray_report_done(&r);
    xray_free(m);
    free(text);
  }
}

/* ---- declarations */

static void test_declarations(void **state) {
  (void)state;
  static const struct {
    const char *body, *words;
  } of[] = {
      {".shared .align 16 .b8 s[67108864];", "shared memory"},
      {".shared .b8 a[200000];\n.shared .b8 b[200000];", "400"},
      {".local .b8 l[1048576];", "1048576 bytes of local memory"},
  };
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    check_refused("", of[i].body, launch(), of[i].words);
  struct xray_launch l = launch();
  l.block[0] = 1024;
  check_refused("", ".local .b8 l[262144];", l, "268435456 bytes of local memory together");
  check_refused(".const .b8 c[65537];\n", "", launch(), "constant variables");
  struct str s = {0};
  for (int i = 0; i < 17; i++)
    str_addf(&s, ".global .b8 g%d[67108864];\n", i);
  char *text = str_take(&s);
  check_refused(text, "", launch(), "global variables");
  free(text);
}

static void check_not_read(const char *body, const char *words) {
  char *text = alloc_printf("%s%s%s\nret;\n}\n", top, entry, body);
  struct err err = {{0}};
  if (xray_load(text, strlen(text), &err))
    fail_msg("%s: it was read", body);
  if (strncmp(err.text, "PTX line ", 9) != 0 || !strstr(err.text, words))
    fail_msg("%s: %s", body, err.text);
  free(text);
}

static void test_not_read(void **state) {
  (void)state;
  check_not_read(".shared .b8 s[1099511627776];", "too large");
  check_not_read(".shared .b8 s[65536][65536][65536][65536];", "too large");
  check_not_read(".shared .v4 .b64 s[67108864];", "too large");
  check_not_read(".shared .b8 s[-1];", "too large");
  check_not_read(".reg .b32 %x<4000000000>;", "too many registers");
  check_not_read(".reg .b32 %x<9223372036854775807>;", "too many registers");
  check_not_read(".reg .b32 %x<0>;", "too many registers");
  check_not_read(".shared .align 3 .b8 s[4];", "power of two");
  char *deep = alloc_zero(70001, 1);
  memset(deep, '{', 70000);
  check_not_read(deep, "too deep");
  free(deep);
}

/* ---- long kernels: each of these ends in a blink, and the square of its length would not */

#ifdef __SANITIZE_ADDRESS__
enum { SHORTER = 20 }; /* the sanitizers make these a hundred times slower */
#else
enum { SHORTER = 1 };
#endif

static void check_long(const char *first, const char *fmt, int most, const char *last) {
  int n = most > 1000 ? most / SHORTER : most;
  struct str s = {0};
  str_add(&s, first);
  for (int i = 0; i < n; i++) {
    char line[200];
    size_t k = 0;
    for (const char *p = fmt; *p && k < sizeof line - 16; p++) /* # i, + i + 1, ~ i mod 32 */
      if (*p == '#' || *p == '+' || *p == '~')
        k += (size_t)snprintf(line + k, 16, "%d", *p == '#' ? i : *p == '+' ? i + 1 : i % 32);
      else
        line[k++] = *p;
    str_addn(&s, line, k);
  }
  str_add(&s, last);
  char *text = str_take(&s);
  xray_module *m = load("", text);
  struct xray_launch l = launch();
  struct xray_report r;
  struct err err;
  l.budget = 1000000;
  assert_true(xray_run(m, &l, &r, &err));
  if (r.nproblems)
    fail_msg("%s: %s", fmt, r.problems[0].detail);
  assert_true(r.finished && r.counts.warp_instructions >= n);
  xray_report_done(&r);
  xray_free(m);
  free(text);
}

static void test_long(void **state) {
  (void)state;
  check_long("", "add.s32 %r1, %r1, #;\n", 100000, "");
  check_long("", "L#: bra L+;\n", 100000, SHORTER > 1 ? "L5000:" : "L100000:");
  check_long("", ".loc 1 + 1\nadd.s32 %r1, %r1, 1;\n", 20000, "");
  check_long("mov.u32 %r1, %laneid;\n",
             "setp.lt.u32 %p1, %r1, ~;\n@%p1 bra M#;\nadd.s32 %r2, %r2, 1;\nM#:\n", 25000, "");
  check_long("mov.u32 %r1, %laneid;\n", "setp.gt.u32 %p1, %r1, #;\n@%p1 bra M#;\nret;\nM#:\n", 31,
             "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_problems),   cmocka_unit_test(test_launches),
      cmocka_unit_test(test_large_grid), cmocka_unit_test(test_declarations),
      cmocka_unit_test(test_not_read),   cmocka_unit_test(test_long),
      cmocka_unit_test(test_own_bounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
