/* Kernels that order their threads by cp.async, named barriers, mbarriers, fences and flags
 * (tests/fixtures/xray/order.cu): right results, counts, and no false report. */
#include "xray_fixture.h"

/* ---- what order.cu computes, on the host */

static double pipeline(const struct field *f, int i) {
  double sum = 0;
  for (int t = 0; t < 8; t++)
    sum += (double)f->A[4 * (t * 64 + 63 - i % 64)];
  return sum;
}

static double zero_fill(const struct field *f, int i) {
  int t = 63 - i % 64, at = 2 * (i / 64 * 64 + t);
  double x = t < 62 ? (double)f->A[at] : 0, y = t < 60 ? (double)f->A[at + 1] : 0;
  return x + 2 * y;
}

static double ignored(const struct field *f, int i) { return i % 64 > 40 ? 0 : (double)f->A[i]; }

static double tiles(const struct field *f, int i, int n) {
  double sum = 0;
  for (int t = 0; t < n; t++)
    sum += (double)f->A[t * 32 + (63 - i % 64) % 32];
  return sum;
}
static double producer(const struct field *f, int i) { return i % 64 < 32 ? 0 : tiles(f, i, 4); }
static double mbarriers(const struct field *f, int i) { return i % 64 >= 32 ? 0 : tiles(f, i, 8); }

static double mirrored(const struct field *f, int i) {
  return (double)f->A[i / 64 * 64 + 63 - i % 64];
}

static double sum_of(const struct field *f, int from, int n) {
  double sum = 0;
  for (int k = from; k < from + n; k++)
    sum += (double)f->A[k];
  return sum;
}
static double last_block(const struct field *f, int i) {
  return i == 0 ? sum_of(f, 0, 128) : sum_of(f, i / 64 * 64, 64);
}

static double histogram(const struct field *f, int i) {
  (void)f;
  int sum = 0;
  for (int t = 0; t < 64; t++)
    sum += (t * 7 & 15) == (i % 64 & 15) ? t : 0;
  return sum;
}

static double flag(const struct field *f, int i) {
  return i % 64 < 32 ? (double)f->A[i / 64 * 64 + 32] : 0;
}
static double warp_sync(const struct field *f, int i) { return sum_of(f, i / 32 * 32, 32); }
static double tile(const struct field *f, int i) { return sum_of(f, i / 16 * 16, 16); }
static double halves(const struct field *f, int i) { return (double)f->A[i] * 16 + 50 + 1; }

static void test_right_kernels(void **state) {
  (void)state;
  static const struct right kernels[] = {
      {"pipeline", pipeline}, {"zero_fill", zero_fill},   {"ignored", ignored},
      {"producer", producer}, {"mbarriers", mbarriers},   {"async_arrive", mirrored},
      {"barriers", producer}, {"last_block", last_block}, {"histogram", histogram},
      {"flag", flag},         {"warp_sync", warp_sync},   {"tile", tile},
      {"halves", halves},
  };
  check_right("order.ptx", kernels, sizeof kernels / sizeof *kernels);
}

static struct xray_counts counts_of(const char *entry) {
  xray_module *m = load_fixture("order.ptx");
  struct field *f = field_new();
  struct xray_report r;
  struct err err;
  if (!run_fixture(m, entry, f, 1000000, &r, &err))
    fail_msg("%s", err.text);
  struct xray_counts c = r.counts;
  xray_report_done(&r);
  free(f);
  xray_free(m);
  return c;
}

/* An asynchronous copy is a load of global memory; lanes that read nothing have no part in it. */
static void test_counts(void **state) {
  (void)state;
  struct xray_counts c = counts_of("pipeline"); /* 2 blocks, 2 warps, 8 tiles of 512 bytes a warp */
  assert_true(c.gld_requests == 2 * 2 * 8);
  assert_true(c.gld_sectors == 2 * 2 * 8 * 16);
  assert_true(c.sts_requests == 0 && c.sts_wavefronts == 0);
  assert_true(c.lds_requests == 2 * 2 * 8);
  c = counts_of("ignored"); /* the second warp of a block copies 9 of 32 words */
  assert_true(c.gld_requests == 2 * 2);
  assert_true(c.gld_sectors == 2 * (4 + 2));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_right_kernels),
                                     cmocka_unit_test(test_counts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
