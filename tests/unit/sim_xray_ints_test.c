/* The rarer integer instructions, carry flags and votes of the PTX machine: each against an
 * expression of the test's own, over random bits. */
#include "xray_ptx.h"

#include <math.h>

enum { N = 2048 };
__extension__ typedef unsigned __int128 wide;

static uint64_t a[N], b[N], c[N], out[N];

static void fill(uint64_t seed) {
  for (int i = 0; i < N; i++) {
    a[i] = ptx_random(&seed) >> (i % 5 * 13);
    b[i] = ptx_random(&seed) >> (i % 7 * 9);
    c[i] = ptx_random(&seed) >> (i % 3 * 20);
    if (i % 11 == 0)
      a[i] = b[i] = i % 2 ? UINT64_MAX : 0;
  }
}

static void expect(const char *body, int i, uint64_t should) {
  if (out[i] != should)
    fail_msg("%s, thread %d: %#llx, %#llx, %#llx give %#llx, not %#llx", body, i,
             (unsigned long long)a[i], (unsigned long long)b[i], (unsigned long long)c[i],
             (unsigned long long)out[i], (unsigned long long)should);
}

/* ---- 32 bits */

static uint32_t dp4a_us(uint32_t x, uint32_t y, uint32_t z) {
  for (int i = 0; i < 32; i += 8)
    z += (uint32_t)((int)(uint8_t)(x >> i) * (int8_t)(y >> i));
  return z;
}
static uint32_t dp2a_hi_su(uint32_t x, uint32_t y, uint32_t z) {
  return z + (uint32_t)((int16_t)x * (int)(y >> 16 & 255)) +
         (uint32_t)((int16_t)(x >> 16) * (int)(y >> 24));
}
static uint32_t dp2a_lo_ss(uint32_t x, uint32_t y, uint32_t z) {
  return z + (uint32_t)((int16_t)x * (int8_t)y) + (uint32_t)((int16_t)(x >> 16) * (int8_t)(y >> 8));
}
static uint32_t sad_s32(uint32_t x, uint32_t y, uint32_t z) {
  return (uint32_t)llabs((long long)(int32_t)x - (int32_t)y) + z;
}
static uint32_t bfind_s32(uint32_t x, uint32_t y, uint32_t z) {
  (void)y, (void)z;
  uint32_t at = UINT32_MAX, sign = x >> 31;
  for (uint32_t i = 0; i < 32; i++)
    at = (x >> i & 1) != sign ? i : at;
  return at;
}
static uint32_t shift_u32(uint32_t x, uint32_t y, uint32_t z) {
  (void)y, (void)z;
  return x ? (uint32_t)__builtin_clz(x) : UINT32_MAX;
}
static uint32_t lop3_mux(uint32_t x, uint32_t y, uint32_t z) { return (x & y) | (~x & z); }
static uint32_t lop3_odd(uint32_t x, uint32_t y, uint32_t z) { return x ^ y ^ z; }
static uint32_t mul24_hi(uint32_t x, uint32_t y, uint32_t z) {
  (void)z;
  return (uint32_t)((uint64_t)(x & 0xffffff) * (y & 0xffffff) >> 16);
}
static uint32_t mad24_lo(uint32_t x, uint32_t y, uint32_t z) {
  return (uint32_t)((int64_t)((int32_t)(x << 8) >> 8) * ((int32_t)(y << 8) >> 8)) + z;
}
static uint32_t mulhi_s16(uint32_t x, uint32_t y, uint32_t z) {
  (void)z;
  return (uint32_t)((int16_t)x * (int16_t)y >> 16);
}
static uint32_t max_s16x2_relu(uint32_t x, uint32_t y, uint32_t z) {
  (void)z;
  int low = (int16_t)x > (int16_t)y ? (int16_t)x : (int16_t)y;
  int high = (int16_t)(x >> 16) > (int16_t)(y >> 16) ? (int16_t)(x >> 16) : (int16_t)(y >> 16);
  return (uint32_t)(low < 0 ? 0 : low) | (uint32_t)(high < 0 ? 0 : high) << 16;
}
static uint32_t slct(uint32_t x, uint32_t y, uint32_t z) { return z >> 31 ? y : x; }
static uint32_t vabsdiff4(uint32_t x, uint32_t y, uint32_t z) {
  for (int i = 0; i < 32; i += 8)
    z += (uint32_t)abs((int)(x >> i & 255) - (int)(y >> i & 255));
  return z;
}
static uint32_t bytes_packed(uint32_t x, uint32_t y, uint32_t z) {
  (void)z;
  return (x & 255) | (y & 255) << 8;
}
static uint32_t mask_of(uint32_t x, uint32_t y, uint32_t z) {
  (void)z;
  uint32_t v = 0;
  for (uint32_t i = x & 63; i < 32 && i - (x & 63) < (y & 63); i++)
    v |= 1u << i;
  return v;
}
static uint32_t in_shared(uint32_t x, uint32_t y, uint32_t z) {
  (void)x, (void)y, (void)z;
  return 2; /* %d10 is global; bit 0: shared, bit 1: global */
}

static void test_words(void **state) {
  (void)state;
  static const struct {
    const char *body;
    uint32_t (*should)(uint32_t x, uint32_t y, uint32_t z);
  } of[] = {
      {"dp4a.u32.s32 %r4, %r1, %r2, %r3;", dp4a_us},
      {"dp2a.hi.s32.u32 %r4, %r1, %r2, %r3;", dp2a_hi_su},
      {"dp2a.lo.s32.s32 %r4, %r1, %r2, %r3;", dp2a_lo_ss},
      {"sad.s32 %r4, %r1, %r2, %r3;", sad_s32},
      {"bfind.s32 %r4, %r1;", bfind_s32},
      {"bfind.shiftamt.u32 %r4, %r1;", shift_u32},
      {"lop3.b32 %r4, %r1, %r2, %r3, 0xCA;", lop3_mux},
      {"lop3.b32 %r4, %r1, %r2, %r3, 150;", lop3_odd},
      {"mul24.hi.u32 %r4, %r1, %r2;", mul24_hi},
      {"mad24.lo.s32 %r4, %r1, %r2, %r3;", mad24_lo},
      {"mul.hi.s16 %r4, %r1, %r2;", mulhi_s16},
      {"max.s16x2.relu %r4, %r1, %r2;", max_s16x2_relu},
      {"slct.u32.s32 %r4, %r1, %r2, %r3;", slct},
      {"vabsdiff4.u32.u32.u32.add %r4, %r1, %r2, %r3;", vabsdiff4},
      {"and.b32 %r5, %r1, 63; and.b32 %r6, %r2, 63; bmsk.clamp.b32 %r4, %r5, %r6;", mask_of},
      {"mov.b16 %r4, {%r1, %r2};", bytes_packed},
      {"isspacep.shared %p1, %d10; isspacep.global %p2, %d10;\n"
       "selp.b32 %r4, 1, 0, %p1; selp.b32 %r5, 2, 0, %p2; or.b32 %r4, %r4, %r5;",
       in_shared},
  };
  for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
    fill(k + 1);
    ptx_run(of[k].body, false, N, a, b, c, out);
    for (int i = 0; i < N; i++)
      expect(of[k].body, i, of[k].should((uint32_t)a[i], (uint32_t)b[i], (uint32_t)c[i]));
  }
}

static void test_long_words(void **state) {
  (void)state;
  fill(77);
  ptx_run("brev.b64 %d4, %d1;", true, N, a, b, c, out);
  for (int i = 0; i < N; i++) {
    uint64_t v = 0;
    for (int k = 0; k < 64; k++)
      v = v << 1 | (a[i] >> k & 1);
    expect("brev", i, v);
  }
  ptx_run("and.b32 %r2, %r2, 63; and.b32 %r3, %r3, 31; bfe.s64 %d4, %d1, %r2, %r3;", true, N, a, b,
          c, out);
  for (int i = 0; i < N; i++) {
    int at = (int)(b[i] & 63), n = (int)(c[i] & 31);
    int64_t v = (int64_t)a[i] >> at;
    expect("bfe.s64", i, n ? (uint64_t)((int64_t)((uint64_t)v << (64 - n)) >> (64 - n)) : 0);
  }
  ptx_run("and.b32 %r2, %r2, 31; shr.s32 %r3, %r3, 28; fns.b32 %r4, %r1, %r2, %r3;", false, N, a, b,
          c, out);
  for (int i = 0; i < N; i++) {
    int at = (int)(b[i] & 31), n = (int32_t)c[i] >> 28, step = n < 0 ? -1 : 1;
    uint32_t mask = (uint32_t)a[i];
    if (n != 0)
      for (n = abs(n); at >= 0 && at < 32; at += step)
        if (mask >> at & 1 && --n == 0)
          break;
    bool found = at >= 0 && at < 32 && mask >> at & 1;
    expect("fns", i, found ? (uint64_t)at : UINT32_MAX);
  }
}

/* ---- carry flags */

static void test_carries(void **state) {
  (void)state;
  fill(5);
  /* {b, a} + {c, b}, minus {a, c}: 128 bits, of which the upper half is kept. */
  ptx_run("add.cc.u64 %d5, %d1, %d2; addc.u64 %d6, %d2, %d3;\n"
          "sub.cc.s64 %d7, %d5, %d3; subc.s64 %d4, %d6, %d1;",
          true, N, a, b, c, out);
  for (int i = 0; i < N; i++) {
    wide v = ((wide)b[i] << 64 | a[i]) + ((wide)c[i] << 64 | b[i]) - ((wide)a[i] << 64 | c[i]);
    expect("add.cc", i, (uint64_t)(v >> 64));
  }
  /* The 96-bit product of a and the word b, plus c: its upper 64 bits. */
  ptx_run("mov.b64 {%r5, %r6}, %d1; mov.b64 {%r7, %r8}, %d3;\n"
          "mad.lo.cc.u32 %r9, %r5, %r2, %r7; madc.hi.cc.u32 %r10, %r5, %r2, %r8;\n"
          "addc.u32 %r12, 0, 0; mad.lo.cc.u32 %r10, %r6, %r2, %r10;\n"
          "madc.hi.u32 %r11, %r6, %r2, %r12; mov.b64 %d4, {%r10, %r11};",
          true, N, a, b, c, out);
  for (int i = 0; i < N; i++)
    expect("mad.cc", i, (uint64_t)(((wide)a[i] * (uint32_t)b[i] + c[i]) >> 32));
}

/* ---- floats */

static void test_float_tests(void **state) {
  (void)state;
  static const float v[8] = {0, 1, -1e-40f, INFINITY, -INFINITY, NAN, 3e38f, -0.0f};
  static const char *const tests[] = {"finite",     "infinite", "number",
                                      "notanumber", "normal",   "subnormal"};
  static const uint32_t passes[] = {0xc7, 0x18, 0xdf, 0x20, 0xc3, 0x04}; /* bit i: of v[i] */
  for (int k = 0; k < 6; k++) {
    char body[80];
    snprintf(body, sizeof body, "testp.%s.f32 %%p1, %%r1; selp.b32 %%r4, 1, 0, %%p1;", tests[k]);
    for (int i = 0; i < 8; i++) {
      a[i] = 0;
      memcpy(&a[i], &v[i], 4);
    }
    ptx_run(body, false, 8, a, NULL, NULL, out);
    for (int i = 0; i < 8; i++)
      expect(body, i, passes[k] >> i & 1);
  }
  for (int i = 0; i < 8; i++) {
    memcpy(&a[i], &v[i], 4);
    memcpy(&b[i], &v[(i + 5) % 8], 4);
  }
  ptx_run("min.NaN.f32 %r4, %r1, %r2; max.xorsign.abs.f32 %r5, %r1, %r2; mov.b64 %d4, {%r4, %r5};",
          true, 8, a, b, NULL, out);
  for (int i = 0; i < 8; i++) {
    float x = v[i], y = v[(i + 5) % 8], low, high, size = fmaxf(fabsf(x), fabsf(y));
    uint32_t low_bits = (uint32_t)out[i], high_bits = (uint32_t)(out[i] >> 32);
    memcpy(&low, &low_bits, 4);
    memcpy(&high, &high_bits, 4);
    assert_true(isnan(x) || isnan(y) ? isnan(low) : low == fminf(x, y));
    assert_true(fabsf(high) == size && !signbit(high) == (!signbit(x) == !signbit(y)));
  }
}

static void test_rounded_conversions(void **state) {
  (void)state;
  fill(9);
  static const char *const modes[] = {"rz", "rm", "rp"};
  for (int k = 0; k < 3; k++) {
    char body[80];
    snprintf(body, sizeof body, "cvt.%s.f32.u64 %%r4, %%d1;", modes[k]);
    ptx_run(body, false, N, a, NULL, NULL, out);
    for (int i = 0; i < N;
         i++) { /* the neighbours of the nearest float, held against the integer */
      float f = (float)a[i];
      wide is = (wide)f;
      if (k < 2 && is > a[i])
        f = nextafterf(f, 0);
      if (k == 2 && is < a[i])
        f = nextafterf(f, INFINITY);
      uint32_t bits;
      memcpy(&bits, &f, 4);
      expect(body, i, bits);
    }
  }
}

/* ---- other lanes */

/* Two halves of the warp vote at once, each with its own mask. */
static void test_groups(void **state) {
  (void)state;
  for (int i = 0; i < 32; i++)
    a[i] = (uint64_t)(i % 16 == 3 || i == 20 ? 5 : i / 4), b[i] = i < 16 ? 0xffff : 0xffff0000;
  ptx_run("setp.gt.u32 %p1, %r1, 4; vote.sync.ballot.b32 %r4, %p1, %r2;", false, 32, a, b, NULL,
          out);
  for (int i = 0; i < 32; i++)
    expect("ballot", i, i < 16 ? 0x0008 : 0xfff80000 | 1u << 20);
  ptx_run("setp.lt.u32 %p1, %r1, 6; vote.sync.all.pred %p2, %p1, %r2; selp.b32 %r4, 1, 0, %p2;",
          false, 32, a, b, NULL, out);
  for (int i = 0; i < 32; i++)
    expect("all", i, i < 16);
  ptx_run("redux.sync.add.u32 %r4, %r1, %r2;", false, 32, a, b, NULL, out);
  for (int i = 0; i < 32; i++) {
    uint64_t sum = 0;
    for (int k = i / 16 * 16; k < i / 16 * 16 + 16; k++)
      sum += a[k];
    expect("redux", i, sum);
  }
  ptx_run("match.any.sync.b64 %r4, %d1, %r2;", false, 32, a, b, NULL, out);
  for (int i = 0; i < 32; i++) {
    uint64_t same = 0;
    for (int k = i / 16 * 16; k < i / 16 * 16 + 16; k++)
      same |= (uint64_t)(a[k] == a[i]) << k;
    expect("match.any", i, same);
  }
  for (int i = 0; i < 16; i++)
    a[i] = 9;
  ptx_run("match.all.sync.b32 %r5|%p1, %r1, %r2; selp.b32 %r4, %r5, 7, %p1;", false, 32, a, b, NULL,
          out);
  for (int i = 0; i < 32; i++)
    expect("match.all", i, i < 16 ? 0xffff : 7);
  ptx_run("elect.sync %r5|%p1, %r2; selp.b32 %r6, 64, 0, %p1; or.b32 %r4, %r5, %r6;", false, 32, a,
          b, NULL, out);
  for (int i = 0; i < 32; i++)
    expect("elect", i, (uint64_t)(i / 16 * 16 | (i % 16 ? 0 : 64)));
}

/* A count, not a time: it grows with every instruction. */
static void test_clock(void **state) {
  (void)state;
  ptx_run("mov.u64 %d5, %clock64; add.s64 %d6, %d5, 1; mov.u64 %d7, %clock64;\n"
          "sub.s64 %d4, %d7, %d5;",
          true, 32, a, NULL, NULL, out);
  for (int i = 0; i < 32; i++)
    expect("clock", i, 2);
}

/* Hints change no value; %d10 is where c[i] lies. */
static void test_hints(void **state) {
  (void)state;
  fill(21);
  ptx_run(
      "createpolicy.fractional.L2::evict_last.b64 %d5, 1.0;\n"
      "prefetch.global.L2 [%d10]; applypriority.global.L2::evict_normal [%d10], 128;\n"
      "griddepcontrol.wait; fence.proxy.async; fence.acq_rel.gpu; membar.gl; nanosleep.u32 20;\n"
      "ld.global.L1::evict_last.L2::cache_hint.u64 %d6, [%d10], %d5;\n"
      "ld.global.nc.L1::no_allocate.L2::128B.v2.u32 {%r5, %r6}, [%d10];\n"
      "ldu.global.u32 %r7, [%d10]; mov.b64 %d7, {%r5, %r6}; cvt.u64.u32 %d8, %r7;\n"
      "st.global.L2::cache_hint.u64 [%d10], %d6, %d5;\n"
      "sub.s64 %d7, %d7, %d6; add.s64 %d7, %d7, %d8; mov.u32 %r8, %cluster_nctarank;\n"
      "cvt.u64.u32 %d9, %r8; add.s64 %d4, %d7, %d9;",
      true, N, a, b, c, out);
  for (int i = 0; i < N; i++)
    expect("hints", i, (c[i] & 0xffffffff) + 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_words),
      cmocka_unit_test(test_long_words),
      cmocka_unit_test(test_carries),
      cmocka_unit_test(test_float_tests),
      cmocka_unit_test(test_rounded_conversions),
      cmocka_unit_test(test_groups),
      cmocka_unit_test(test_clock),
      cmocka_unit_test(test_hints),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
