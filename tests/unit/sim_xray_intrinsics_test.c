/* What an H200 left of tests/fixtures/xray/intrinsics.cu, bit for bit: halves, bf16 and integers
 * with all their special values. The sums are of the outputs of the hardware. */
#include "xray_kernels.h"
#include "xray_ptx.h"

enum { BYTES = 16384, ARRAYS = 5 };

/* Two bytes of random bits, of which a quarter are special: zeros, subnormals, infinity, NaN. */
static void fill_halves(unsigned char *p, const uint16_t special[16], uint64_t *seed) {
  for (int i = 0; i < BYTES; i += 2) {
    uint64_t r = ptx_random(seed);
    uint16_t v = r >> 62 == 0 ? special[r >> 16 & 15] : (uint16_t)r;
    if (r >> 62 == 1)
      v = (uint16_t)((r & 0x8fff) | 0x3000); /* of like size, so that sums do not drown */
    memcpy(p + i, &v, 2);
  }
}

static void fill_words(unsigned char *p, bool floats, uint64_t *seed) {
  static const float special[8] = {0, -0.0f, 65519, 65520, 1e-40f, INFINITY, 2.5f, -1e9f};
  for (int i = 0; i < BYTES; i += 4) {
    uint64_t r = ptx_random(seed);
    int32_t word = (int32_t)r >> (r >> 40) % 28;
    uint32_t size = ((uint32_t)r & 0x807fffff) | (uint32_t)(110 + (r >> 40) % 30) << 23;
    if (floats)
      memcpy(p + i, r >> 61 ? (const void *)&size : (const void *)&special[r >> 50 & 7], 4);
    else
      memcpy(p + i, &word, 4);
  }
}

static uint64_t sum_of(uint64_t h, const unsigned char *p) {
  for (int i = 0; i < BYTES; i++)
    h = (h ^ p[i]) * 0x100000001b3u;
  return h;
}

static uint64_t run(const xray_module *m, const char *entry) {
  static const uint16_t f16[16] = {0,      0x8000, 1,      0x3ff,  0x400,  0x3c00, 0xbc00, 0x7bff,
                                   0x7c00, 0xfc00, 0x7e00, 0x6400, 0x3800, 0xb800, 0x3e00, 0x4100};
  static const uint16_t bf16[16] = {0,      0x8000, 1,      0x7f,   0x80,   0x3f80, 0xbf80, 0x7f7f,
                                    0x7f80, 0xff80, 0x7fc0, 0x4b00, 0x3f00, 0xbf00, 0x3fc0, 0x4020};
  static unsigned char data[ARRAYS][BYTES];
  static const char *const names[ARRAYS] = {"a", "b", "c", "f", "n"};
  struct xray_array arrays[ARRAYS];
  struct xray_arg args[ARRAYS];
  uint64_t seed = 11, h = 0xcbf29ce484222325u;
  for (int i = 0; i < ARRAYS; i++) {
    if (i >= 3 || *entry == 'i')
      fill_words(data[i], i == 3, &seed);
    else
      fill_halves(data[i], *entry == 'b' ? bf16 : f16, &seed);
    arrays[i] = (struct xray_array){names[i], data[i], BYTES, true};
    args[i] = (struct xray_arg){.array = i};
  }
  struct xray_launch l = {.entry = entry,
                          .grid = {1, 1, 1},
                          .block = {32, 1, 1},
                          .arrays = arrays,
                          .narrays = ARRAYS,
                          .args = args,
                          .nargs = ARRAYS,
                          .checks = XRAY_CHECK_ALL};
  struct xray_report r;
  struct err err;
  if (!xray_run(m, &l, &r, &err))
    fail_msg("%s: %s", entry, err.text);
  if (r.nproblems || !r.finished)
    fail_msg("%s: %s (line %d)", entry, r.problems[0].detail, r.problems[0].line);
  xray_report_done(&r);
  for (int i = 0; i < ARRAYS; i++)
    h = sum_of(h, data[i]);
  return h;
}

static void test_as_the_hardware(void **state) {
  (void)state;
  static const struct {
    const char *entry;
    uint64_t sum;
  } of[] = {
      {"halves", 0x516695c5d5d8a46du},   {"half_pairs", 0x8c75aca25009db9fu},
      {"brains", 0xbf70286eb4aee6f0u},   {"brain_pairs", 0xa1f2d663d2ad27d6u},
      {"integers", 0xf31dd465bcad0ca6u},
  };
  xray_module *m = xk_load("intrinsics.ptx");
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    uint64_t sum = run(m, of[i].entry);
    if (sum != of[i].sum)
      fail_msg("%s: the sum of the outputs is %#llx, not %#llx", of[i].entry,
               (unsigned long long)sum, (unsigned long long)of[i].sum);
  }
  xray_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_the_hardware)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
