/* One PTX instruction, run by many threads on given bits: for the tests of the PTX machine. */
#ifndef MM_TESTS_XRAY_PTX_H
#define MM_TESTS_XRAY_PTX_H

#include "base/alloc.h"
#include "sim/xray/xray.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Runs `body` in n threads, blocks of 256 (or n). Thread i has a[i], b[i], c[i] in %d1 to %d3 and
 * their lower halves in %r1 to %r3; it leaves %r4 in out[i], or %d4 if wide. b and c may be NULL.
 * Fails the test at any problem of the kernel. */
static inline struct xray_counts ptx_run(const char *body, bool wide, int n, const uint64_t *a,
                                         const uint64_t *b, const uint64_t *c, uint64_t *out) {
  static char text[4000];
  snprintf(text, sizeof text,
           ".version 8.0\n.target sm_90\n.address_size 64\n"
           ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 po)\n{\n"
           ".reg .pred %%p<9>; .reg .b16 %%h<9>; .reg .b32 %%r<20>; .reg .f32 %%f<9>;\n"
           ".reg .b64 %%d<20>;\n"
           "mov.u32 %%r17, %%ctaid.x; mov.u32 %%r18, %%ntid.x; mov.u32 %%r19, %%tid.x;\n"
           "mad.lo.s32 %%r17, %%r17, %%r18, %%r19; mul.wide.u32 %%d15, %%r17, 8;\n"
           "ld.param.u64 %%d10, [pa]; add.s64 %%d10, %%d10, %%d15; ld.global.u64 %%d1, [%%d10];\n"
           "ld.param.u64 %%d10, [pb]; add.s64 %%d10, %%d10, %%d15; ld.global.u64 %%d2, [%%d10];\n"
           "ld.param.u64 %%d10, [pc]; add.s64 %%d10, %%d10, %%d15; ld.global.u64 %%d3, [%%d10];\n"
           "cvt.u32.u64 %%r1, %%d1; cvt.u32.u64 %%r2, %%d2; cvt.u32.u64 %%r3, %%d3;\n"
           "%s\n%s"
           "ld.param.u64 %%d10, [po]; add.s64 %%d10, %%d10, %%d15; st.global.u64 [%%d10], %%d4;\n"
           "ret;\n}\n",
           body, wide ? "" : "cvt.u64.u32 %d4, %r4;\n");
  struct err err;
  xray_module *m = xray_load(text, strlen(text), &err);
  if (!m)
    fail_msg("%s: %s", body, err.text);
  size_t bytes = (size_t)n * 8;
  const uint64_t *in[3] = {a, b ? b : a, c ? c : a};
  struct xray_array arrays[4] = {{"out", out, bytes, false}};
  static const char *const names[] = {"a", "b", "c"};
  for (int i = 0; i < 3; i++)
    arrays[1 + i] =
        (struct xray_array){names[i], memcpy(alloc_zero(1, bytes), in[i], bytes), bytes, true};
  struct xray_arg args[4] = {{.array = 1}, {.array = 2}, {.array = 3}, {.array = 0}};
  int block = n < 256 ? n : 256;
  struct xray_launch l = {.grid = {n / block, 1, 1},
                          .block = {block, 1, 1},
                          .arrays = arrays,
                          .narrays = 4,
                          .args = args,
                          .nargs = 4,
                          .checks = XRAY_CHECK_INIT};
  struct xray_report r;
  if (!xray_run(m, &l, &r, &err))
    fail_msg("%s: %s", body, err.text);
  if (r.nproblems || !r.finished)
    fail_msg("%s: %s", body, r.nproblems ? r.problems[0].detail : "not finished");
  struct xray_counts counts = r.counts;
  xray_report_done(&r);
  xray_free(m);
  for (int i = 0; i < 3; i++)
    free(arrays[1 + i].data);
  return counts;
}

/* Numbers that look random, the same each time. */
static inline uint64_t ptx_random(uint64_t *state) {
  *state += 0x9e3779b97f4a7c15u;
  uint64_t z = *state;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

#endif
