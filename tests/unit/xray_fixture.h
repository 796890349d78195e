/* The kernels of tests/fixtures/xray and the launch that they name. */
#ifndef XRAY_FIXTURE_H
#define XRAY_FIXTURE_H

#include "base/alloc.h"
#include "sim/xray/xray.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static inline struct xray_arg int_arg(int v) {
  struct xray_arg a = {.array = -1, .bytes = 4};
  memcpy(a.value, &v, 4);
  return a;
}

static inline char *read_fixture(const char *name, size_t *n) {
  char path[120];
  snprintf(path, sizeof path, "tests/fixtures/xray/%s", name);
  FILE *f = fopen(path, "rb");
  if (!f)
    fail_msg("%s is not there: run the tests from the root of the sources", path);
  char *text = alloc_zero(1 << 18, 1);
  *n = fread(text, 1, (1 << 18) - 1, f);
  fclose(f);
  return text;
}

static inline xray_module *load_fixture(const char *name) {
  size_t n = 0;
  struct err err;
  char *text = read_fixture(name, &n);
  xray_module *m = xray_load(text, n, &err);
  free(text);
  if (!m)
    fail_msg("%s: %s", name, err.text);
  return m;
}

enum { NUMBERS = 4096 };

struct field {
  float A[NUMBERS], B[NUMBERS], C[NUMBERS];
  float weights[4]; /* __constant__, of flow.cu */
  int hits;
};

static inline struct field *field_new(void) {
  struct field *f = alloc_zero(1, sizeof *f);
  for (int i = 0; i < NUMBERS; i++) {
    f->A[i] = (float)(i * 37 % 101 - 50) / 16.0f;
    f->B[i] = (float)(i * 53 % 97 - 48) / 8.0f;
    f->C[i] = NAN;
  }
  for (int i = 0; i < 4; i++)
    f->weights[i] = (float)(i - 2);
  f->hits = 7;
  return f;
}

struct printed {
  char text[4096];
  size_t n;
};

static inline void take_text(void *ctx, const char *text, size_t n) {
  struct printed *p = ctx;
  assert_true(p->n + n < sizeof p->text);
  memcpy(p->text + p->n, text, n);
  p->n += n;
}

/* The launch that the fixtures name; printed: NULL, or takes what the kernel prints. */
static inline bool run_printing(const xray_module *m, const char *entry, struct field *f,
                                int64_t budget, struct printed *printed, struct xray_report *r,
                                struct err *err) {
  struct xray_array arrays[5] = {{"A", f->A, sizeof f->A, true},
                                 {"B", f->B, sizeof f->B, true},
                                 {"C", f->C, sizeof f->C, false},
                                 {"weights", f->weights, sizeof f->weights, true},
                                 {"hits", &f->hits, sizeof f->hits, true}};
  struct xray_arg args[4] = {{.array = 0}, {.array = 1}, {.array = 2}, int_arg(128)};
  struct xray_launch l = {.entry = entry,
                          .grid = {2, 1, 1},
                          .block = {64, 1, 1},
                          .shared_bytes = entry && strcmp(entry, "wide") == 0 ? 256 : 0,
                          .arrays = arrays,
                          .narrays = 5,
                          .args = args,
                          .nargs = 4,
                          .checks = XRAY_CHECK_ALL,
                          .budget = budget,
                          .print = printed ? take_text : NULL,
                          .ctx = printed};
  return xray_run(m, &l, r, err);
}

static inline bool run_fixture(const xray_module *m, const char *entry, struct field *f,
                               int64_t budget, struct xray_report *r, struct err *err) {
  return run_printing(m, entry, f, budget, NULL, r, err);
}

/* A kernel that is right, and what it should leave in C[i] of 128. */
struct right {
  const char *entry;
  double (*should)(const struct field *f, int i);
};

/* Runs every kernel of a fixture; the table names them all, in order. */
static inline void check_right(const char *name, const struct right *kernels, size_t n) {
  xray_module *m = load_fixture(name);
  for (size_t k = 0; k < n; k++) {
    struct field *f = field_new();
    struct xray_report r;
    struct err err;
    assert_string_equal(xray_entry(m, (int)k), kernels[k].entry);
    if (!run_fixture(m, kernels[k].entry, f, 1000000, &r, &err))
      fail_msg("%s: %s", kernels[k].entry, err.text);
    if (r.nproblems || !r.finished)
      fail_msg("%s: %s (line %d)", kernels[k].entry, r.problems[0].detail, r.problems[0].line);
    for (int i = 0; i < 128; i++) {
      double should = kernels[k].should(f, i);
      if (!(fabs((double)f->C[i] - should) <= fabs(should) * 1e-5))
        fail_msg("%s: C[%d] is %.9g, not %.9g", kernels[k].entry, i, (double)f->C[i], should);
    }
    xray_report_done(&r);
    free(f);
  }
  assert_null(xray_entry(m, (int)n));
  xray_free(m);
}

#endif
