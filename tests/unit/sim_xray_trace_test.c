/* The events of one block of a tiled kernel. */
#include "base/embed.h"
#include "sim/xray/xray.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { N = 64, T = 32, WARPS = T, TILES = N / T };

struct seen {
  int loads, stores, shared_loads, shared_stores, barriers, warps[WARPS];
  int64_t words;
};

static bool starts(const char *op, const char *with) {
  return strncmp(op, with, strlen(with)) == 0;
}

static void count(void *ctx, const struct xray_event *e) {
  struct seen *s = ctx;
  assert_true(e->block[0] == 1 && e->block[1] == 0 && e->block[2] == 0);
  assert_true(e->warp >= 0 && e->warp < WARPS);
  assert_int_equal(e->mask, UINT32_MAX);
  s->warps[e->warp]++;
  s->barriers += starts(e->op, "bar");
  s->shared_loads += starts(e->op, "ld.shared");
  s->shared_stores += starts(e->op, "st.shared");
  if (starts(e->op, "bar")) {
    assert_null(e->address);
    assert_string_equal(e->array, "");
    return;
  }
  assert_true(e->line > 0);
  assert_non_null(strstr(e->file, "tiled.cu"));
  for (int l = 0; l < 32; l++)
    assert_true(e->address[l] >= 0 && e->address[l] % e->bytes == 0);
  if (starts(e->op, "ld.global")) { /* a row of a tile of A or B */
    assert_true(strcmp(e->array, "A") == 0 || strcmp(e->array, "B") == 0);
    assert_int_equal(e->address[31] - e->address[0], 31 * 4);
    s->loads++;
  }
  if (starts(e->op, "st.global")) {
    assert_string_equal(e->array, "C");
    assert_int_equal(e->address[0], (e->warp * N + T) * 4);
    s->stores++;
  }
  if (starts(e->op, "ld.shared") || starts(e->op, "st.shared"))
    assert_string_equal(e->array, "shared");
  s->words += e->bytes / 4;
}

static void run(const xray_module *m, void (*trace)(void *, const struct xray_event *), void *ctx,
                struct xray_report *r) {
  static float A[N * N], B[N * N], C[N * N];
  struct xray_array arrays[3] = {
      {"A", A, sizeof A, true}, {"B", B, sizeof B, true}, {"C", C, sizeof C, false}};
  struct xray_arg args[6] = {{.array = 0}, {.array = 1}, {.array = 2}};
  for (int i = 3; i < 6; i++) {
    args[i] = (struct xray_arg){.array = -1, .bytes = 4};
    args[i].value[0] = N;
  }
  struct xray_launch l = {.grid = {2, 2, 1},
                          .block = {T, T, 1},
                          .arrays = arrays,
                          .narrays = 3,
                          .args = args,
                          .nargs = 6,
                          .checks = XRAY_CHECK_ALL,
                          .threads = 2,
                          .trace = trace,
                          .trace_block = {1, 0, 0},
                          .ctx = ctx};
  struct err err;
  if (!xray_run(m, &l, r, &err))
    fail_msg("%s", err.text);
  assert_true(r->finished && r->nproblems == 0);
}

static void test_tiled(void **state) {
  (void)state;
  const struct embed_file *e = embed_find("assets/ptx/cuda_tiled_T32.ptx");
  assert_non_null(e);
  struct err err;
  struct seen s = {0};
  struct xray_report with, without;
  xray_module *m = xray_load(e->data, e->n, &err);
  assert_non_null(m);
  run(m, count, &s, &with);
  run(m, NULL, NULL, &without);
  assert_int_equal(s.loads, 2 * WARPS * TILES);
  assert_int_equal(s.shared_stores, 2 * WARPS * TILES);
  assert_int_equal(s.stores, WARPS);
  assert_int_equal(s.barriers, 2 * WARPS * TILES);
  assert_true(s.shared_loads > 0);
  for (int w = 1; w < WARPS; w++)
    assert_int_equal(s.warps[w], s.warps[0]);
  /* Watching changes no count. */
  assert_memory_equal(&with.counts, &without.counts, sizeof with.counts);
  assert_true(with.counts.gld_requests == 4 * s.loads);
  xray_report_done(&with);
  xray_report_done(&without);
  xray_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_tiled)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
