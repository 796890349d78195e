/* f16, bf16 and the small formats of the PTX machine, held against tables of their values: nothing
 * here shares code with the machine. All 65536 codes where one operand is a half. */
#include "xray_ptx.h"

#include <math.h>

enum { CODES = 65536, PAIRS = 16384 };
__extension__ typedef __int128 fixed; /* of 2^-64 */

/* A format by its list of values, from 0 up to infinity: code = index. */
struct format {
  const char *name;
  int mantissa, bias, count; /* bits; finite codes that are not negative */
  uint32_t sign, nan;
  double *value;
};

static struct format formats[4] = {{"f16", 10, 15, 0x7c00, 0x8000, 0x7fff, NULL},
                                   {"bf16", 7, 127, 0x7f80, 0x8000, 0x7fff, NULL},
                                   {"e4m3", 3, 7, 0x7f, 0x80, 0x7f, NULL},
                                   {"e5m2", 2, 15, 0x7c, 0x80, 0x7f, NULL}};

/* Values one after the other: the step doubles with each power of two. */
static void list_values(struct format *f) {
  double v = 0, step = ldexp(1, 1 - f->bias - f->mantissa);
  f->value = alloc_zero((size_t)f->count + 1, sizeof *f->value);
  for (int i = 0; i <= f->count; i++) {
    f->value[i] = v;
    v += step;
    if (i + 1 >= 2 << f->mantissa && (i + 1) % (1 << f->mantissa) == 0)
      step *= 2;
  }
}

static double value_of(const struct format *f, uint32_t code) {
  uint32_t size = code & 0x7fff;
  double v = size > (uint32_t)f->count    ? (double)NAN
             : size == (uint32_t)f->count ? (double)INFINITY
                                          : f->value[size];
  return code & f->sign ? -v : v;
}

/* Rounds by search; the entry behind the largest is where infinity begins. */
static uint32_t code_of(const struct format *f, double v, char mode) {
  uint32_t sign = signbit(v) ? f->sign : 0;
  if (isnan(v))
    return f->nan;
  double size = fabs(v);
  if (isinf(size))
    return sign | (uint32_t)f->count;
  int low = 0, high = f->count;
  if (size >= f->value[high])
    return sign | (uint32_t)(f->count - (mode == 'z' || mode == (sign ? 'p' : 'm')));
  while (high - low > 1) {
    int mid = (low + high) / 2;
    if (f->value[mid] <= size)
      low = mid;
    else
      high = mid;
  }
  double middle = (f->value[low] + f->value[low + 1]) / 2;
  bool up = size != f->value[low] && (mode == 'n'   ? size > middle || (size == middle && low & 1)
                                      : mode == 'z' ? false
                                                    : (mode == 'p') == !sign);
  return sign | (uint32_t)(low + up);
}

static void expect(const char *body, int i, uint64_t a, uint64_t b, uint64_t is, uint64_t should) {
  if (is != should)
    fail_msg("%s, thread %d: %#llx and %#llx give %#llx, not %#llx", body, i, (unsigned long long)a,
             (unsigned long long)b, (unsigned long long)is, (unsigned long long)should);
}

static uint64_t float_bits(double v) {
  float f = (float)v;
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}
static uint64_t double_bits(double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  return bits;
}
static bool both_nan(uint64_t x, uint64_t y, bool wide) {
  uint64_t sign = wide ? (uint64_t)1 << 63 : 1u << 31;
  uint64_t inf = wide ? 0x7ff0000000000000u : 0x7f800000u;
  return (x & (sign - 1)) > inf && (y & (sign - 1)) > inf;
}

static uint64_t in[3][CODES], out[CODES];

static void fill_codes(void) {
  for (int i = 0; i < CODES; i++)
    in[0][i] = (uint64_t)i;
}

/* ---- conversions */

static void test_widening(void **state) {
  (void)state;
  fill_codes();
  for (int k = 0; k < 4; k++) {
    const struct format *f = &formats[k / 2];
    bool wide = k % 2;
    char body[80];
    snprintf(body, sizeof body, "cvt.%s.%s %%%c4, %%r1;", wide ? "f64" : "f32", f->name,
             wide ? 'd' : 'r');
    ptx_run(body, wide, CODES, in[0], NULL, NULL, out);
    for (int i = 0; i < CODES; i++) {
      double v = value_of(f, (uint32_t)i);
      uint64_t should = wide ? double_bits(v) : float_bits(v);
      uint64_t nan = k / 2 ? (uint64_t)i << 16 : 0x7fffffff; /* bf16 is the upper half of a float */
      if (isnan(v) && !wide)
        expect(body, i, in[0][i], 0, out[i] | 0x400000, nan | 0x400000); /* quiet */
      else if (!both_nan(should, out[i], wide))
        expect(body, i, in[0][i], 0, out[i], should);
    }
  }
}

/* Each code's value, the middle to the next, and both with a little more and less. */
static void narrow_all(const struct format *f, bool wide, char mode, int variant) {
  char body[80];
  snprintf(body, sizeof body, "cvt.r%c.%s.%s %%r4, %%%c1;", mode, f->name, wide ? "f64" : "f32",
           wide ? 'd' : 'r');
  for (int i = 0; i < CODES; i++) {
    int size = i & 0x7fff;
    double v = size < f->count ? f->value[size] : size == f->count ? (double)INFINITY : (double)NAN;
    if (variant >= 3 && size < f->count)
      v = (f->value[size] + f->value[size + 1]) / 2;
    v = i & 0x8000 ? -v : v;
    int nudge = variant % 3;
    if (wide && nudge)
      v = nextafter(v, nudge == 1 ? (double)INFINITY : -(double)INFINITY);
    else if (nudge)
      v = (double)nextafterf((float)v, nudge == 1 ? INFINITY : -INFINITY);
    in[0][i] = wide ? double_bits(v) : float_bits(v);
    in[1][i] = code_of(f, v, mode);
  }
  ptx_run(body, false, CODES, in[0], NULL, NULL, out);
  for (int i = 0; i < CODES; i++)
    expect(body, i, in[0][i], 0, out[i], in[1][i]);
}

static void test_narrowing(void **state) {
  (void)state;
  for (int f = 0; f < 2; f++)
    for (int mode = 0; mode < 4; mode++)
      for (int variant = 0; variant < 6; variant++)
        narrow_all(&formats[f], (variant + mode) % 2, "nzmp"[mode], variant);
  narrow_all(&formats[0], false, 'n', 3);
  narrow_all(&formats[1], false, 'n', 4);
}

static void test_from_integers(void **state) {
  (void)state;
  static const char *const types[] = {"s16", "u16", "s32", "u32", "s64", "u64"};
  uint64_t seed = 1;
  for (int k = 0; k < 48; k++) {
    const struct format *f = &formats[k % 2];
    int type = k / 2 % 6, bits = 16 << type / 2;
    char mode = "nzmp"[k / 12], body[80];
    bool is_signed = type % 2 == 0;
    snprintf(body, sizeof body, "cvt.r%c.%s.%s %%r4, %%%c1;", mode, f->name, types[type],
             bits == 64 ? 'd' : 'r');
    for (int i = 0; i < 4096; i++) {
      uint64_t v = ptx_random(&seed) >> (i % 64);
      in[0][i] = i % 3 ? v : v & (uint64_t) - (1 << i % 29); /* zeros at the end make ties */
    }
    for (int i = 5; i < 4096; i += 16) /* a tie of bf16 but for the last bit, 50 places below */
      in[0][i] = (0x101 | (in[0][i] & 0xff)) << 50 | 1;
    ptx_run(body, false, 4096, in[0], NULL, NULL, out);
    for (int i = 0; i < 4096; i++) {
      uint64_t cut = in[0][i] << (64 - bits) >> (64 - bits);
      bool minus = is_signed && cut >> (bits - 1);
      uint64_t size = minus ? (0 - in[0][i]) << (64 - bits) >> (64 - bits) : cut;
      double sticky = (double)(size >> 12) * 4096; /* what is cut off stays as a half step */
      double v = size >> 53 ? sticky + (size & 4095 ? 2048.0 : 0) : (double)size;
      expect(body, i, in[0][i], 0, out[i], code_of(f, minus ? -v : v, mode));
    }
  }
}

static void test_to_integers(void **state) {
  (void)state;
  fill_codes();
  static const struct {
    const char *name;
    double least, most;
  } types[] = {{"s16", -32768, 32767},
               {"u16", 0, 65535},
               {"s32", -2147483648.0, 2147483647},
               {"u32", 0, 4294967295}};
  for (int k = 0; k < 32; k++) {
    const struct format *f = &formats[k % 2];
    int type = k / 2 % 4;
    char mode = "nzmp"[k / 8], body[80];
    snprintf(body, sizeof body, "cvt.r%ci.%s.%s %%r4, %%r1;", mode, types[type].name, f->name);
    ptx_run(body, false, CODES, in[0], NULL, NULL, out);
    for (int i = 0; i < CODES; i++) {
      double v = value_of(f, (uint32_t)i);
      double r = mode == 'n' ? rint(v) : mode == 'z' ? trunc(v) : mode == 'm' ? floor(v) : ceil(v);
      r = isnan(v) ? 0 : fmin(fmax(r, types[type].least), types[type].most);
      expect(body, i, in[0][i], 0, out[i], (uint32_t)(int64_t)r);
    }
  }
}

/* ---- arithmetic */

static uint32_t special(uint64_t *seed, const struct format *f) {
  static const uint32_t f16[] = {0,      1,      0x3ff,  0x400,  0x3c00,
                                 0x7bff, 0x7c00, 0x7e00, 0x3555, 0x6800};
  static const uint32_t bf16[] = {0, 1, 0x7f, 0x80, 0x3f80, 0x7f7f, 0x7f80, 0x7fc0, 0x3eab, 0x4b00};
  uint64_t r = ptx_random(seed);
  uint32_t sign = r >> 60 & 1 ? 0x8000 : 0;
  if (r % 4 == 0)
    return (f->mantissa == 10 ? f16 : bf16)[r / 4 % 10] | sign;
  return (uint32_t)(r >> 20) & 0xffff;
}

/* Values of bf16 near 1, so that a sum of three fits a fixed-point number. */
static void fill_pairs(const struct format *f, uint64_t *seed, bool near) {
  for (int i = 0; i < PAIRS; i++)
    for (int k = 0; k < 3; k++) {
      uint32_t low = special(seed, f), high = special(seed, f);
      if (near && f->mantissa == 7) {
        low = (low & 0x807f) | (0x3f80 + ((low >> 7 & 31) - 16) * 0x80);
        high = (high & 0x807f) | (0x3f80 + ((high >> 7 & 31) - 16) * 0x80);
      }
      in[k][i] = (uint64_t)high << 16 | low;
    }
}

static fixed fixed_of(double v) { return (fixed)ldexp(v, 64); }

/* A sum that is no double: the finite code nearest to it. */
static uint32_t code_of_fixed(const struct format *f, fixed v) {
  fixed size = v < 0 ? -v : v;
  uint32_t sign = v < 0 ? f->sign : 0;
  int low = 0, high = f->count;
  while (high - low > 1) { /* values below 2^-62 are no fixed-point numbers, and do not occur */
    int mid = (low + high) / 2;
    bool below = f->value[mid] < 0x1p60 ? fixed_of(f->value[mid]) <= size : false;
    low = below ? mid : low;
    high = below ? high : mid;
  }
  if (f->value[low] < 0x1p-50 && f->mantissa == 7)
    return sign;
  fixed twice = 2 * size - fixed_of(f->value[low]) - fixed_of(f->value[low + 1]);
  return sign | (uint32_t)(low + (twice > 0 || (twice == 0 && low & 1)));
}

enum operation { ADD, SUB, MUL, FMA, MIN, MAX };

static uint32_t computed(const struct format *f, enum operation op, const char *flags, uint32_t a,
                         uint32_t b, uint32_t c) {
  double x = value_of(f, a), y = value_of(f, b), z = value_of(f, c), v = 0;
  bool nan = isnan(x) || isnan(y);
  uint32_t code = 0;
  if (op == MIN || op == MAX) {
    bool less = x < y || (x == y && signbit(x));
    v = nan && (strstr(flags, "NaN") || (isnan(x) && isnan(y))) ? (double)NAN
        : nan                                                   ? (isnan(x) ? y : x)
        : less == (op == MIN)                                   ? x
                                                                : y;
  } else {
    v = op == ADD ? x + y : op == SUB ? x - y : op == MUL ? x * y : x * y + z;
  }
  if (op == FMA && isfinite(v) && v != 0)
    code = code_of_fixed(f, fixed_of(x) / ((fixed)1 << 32) * (fixed_of(y) / ((fixed)1 << 32)) +
                                fixed_of(z));
  else
    code = code_of(f, v, 'n');
  v = value_of(f, code);
  if (strstr(flags, "sat"))
    code = v > 0 ? (v < 1 ? code : code_of(f, 1, 'n')) : 0;
  if (strstr(flags, "relu") && v <= 0)
    code = 0;
  return code;
}

static void test_arithmetic(void **state) {
  (void)state;
  static const struct {
    const char *name, *flags;
    enum operation op;
    double flop; /* of one half */
  } of[] = {
      {"add", "", ADD, 1},       {"add.rn", "", ADD, 1},        {"add.sat", "sat", ADD, 1},
      {"sub", "", SUB, 1},       {"mul.rn", "", MUL, 1},        {"mul.sat", "sat", MUL, 1},
      {"fma.rn", "", FMA, 2},    {"fma.rn.sat", "sat", FMA, 2}, {"fma.rn.relu", "relu", FMA, 2},
      {"min", "", MIN, 0},       {"max", "", MAX, 0},           {"min.NaN", "NaN", MIN, 0},
      {"max.NaN", "NaN", MAX, 0}};
  uint64_t seed = 3;
  for (size_t k = 0; k < 4 * sizeof of / sizeof *of; k++) {
    const struct format *f = &formats[k % 2];
    bool pair = k / 2 % 2, fma = of[k / 4].op == FMA;
    char body[80];
    snprintf(body, sizeof body, "%s.%s%s %%r4, %%r1, %%r2%s;", of[k / 4].name, f->name,
             pair ? "x2" : "", fma ? ", %r3" : "");
    fill_pairs(f, &seed, fma);
    struct xray_counts c = ptx_run(body, false, PAIRS, in[0], in[1], in[2], out);
    assert_true(c.other_flop == PAIRS * of[k / 4].flop * (pair ? 2 : 1));
    for (int i = 0; i < PAIRS; i++)
      for (int shift = 0; shift <= 16 * pair; shift += 16) {
        uint32_t v[3];
        for (int n = 0; n < 3; n++)
          v[n] = (uint32_t)(in[n][i] >> shift) & 0xffff;
        uint32_t should = computed(f, of[k / 4].op, of[k / 4].flags, v[0], v[1], v[2]);
        expect(body, i, v[0], v[1], out[i] >> shift & 0xffff, should);
      }
  }
}

/* A product halfway between two numbers, and a sum so small that 53 bits do not hold both: it
 * decides all the same. 129 * 3 = 387 lies between 386 and 388, 131 * 3 = 393 between 392 and 394.
 */
static void test_ties_and_crumbs(void **state) {
  (void)state;
  static const uint16_t of[6][3] = {{0x4301, 0x2180, 0x43c2}, {0x4301, 0xa180, 0x43c1},
                                    {0x4301, 0x0000, 0x43c2}, {0x4303, 0x2180, 0x43c5},
                                    {0x4303, 0xa180, 0x43c4}, {0x4303, 0x0000, 0x43c4}};
  for (int i = 0; i < 6; i++) {
    in[0][i] = of[i][0];
    in[1][i] = 0x4040;
    in[2][i] = of[i][1];
  }
  ptx_run("fma.rn.bf16 %r4, %r1, %r2, %r3;", false, 6, in[0], in[1], in[2], out);
  for (int i = 0; i < 6; i++)
    expect("fma.rn.bf16", i, in[0][i], in[2][i], out[i], of[i][2]);
}

static void test_unary(void **state) {
  (void)state;
  fill_codes();
  for (int k = 0; k < 2; k++) {
    const struct format *f = &formats[k];
    char body[200];
    snprintf(body, sizeof body,
             "neg.%s %%r4, %%r1; abs.%s %%r5, %%r1; shl.b32 %%r5, %%r5, 16; "
             "or.b32 %%r4, %%r4, %%r5;",
             f->name, f->name);
    ptx_run(body, false, CODES, in[0], NULL, NULL, out);
    for (int i = 0; i < CODES; i++) {
      bool nan = isnan(value_of(f, (uint32_t)i));
      uint64_t should = (uint64_t)((i ^ 0x8000) | (i & 0x7fff) << 16);
      expect(body, i, in[0][i], 0, out[i], nan ? 0x7fff7fff : should);
    }
    snprintf(body, sizeof body, "tanh.approx.%s %%r4, %%r1;", f->name);
    ptx_run(body, false, CODES, in[0], NULL, NULL, out);
    for (int i = 0; i < CODES; i++) {
      double v = tanh(value_of(f, (uint32_t)i)), is = value_of(f, (uint32_t)out[i]);
      if (isnan(v) ? !isnan(is) : !(fabs(is - v) <= fabs(v) * ldexp(1, -f->mantissa) + 0x1p-24))
        fail_msg("%s: %g of %d", body, is, i);
    }
  }
  ptx_run("ex2.approx.f16 %r4, %r1;", false, CODES, in[0], NULL, NULL, out);
  for (int i = 0; i < CODES; i++) {
    double v = exp2(value_of(&formats[0], (uint32_t)i)),
           is = value_of(&formats[0], (uint32_t)out[i]);
    if (isnan(v) ? !isnan(is) : v < 65520 && !(fabs(is - v) <= v * 0x1p-10 + 0x1p-24))
      fail_msg("ex2.approx.f16: %g of %d", is, i);
  }
  ptx_run("add.ftz.f16 %r4, %r1, 0x8000;", false, CODES, in[0], NULL, NULL, out);
  for (int i = 0; i < 0x400; i++)
    expect("add.ftz.f16", i, in[0][i], 0, out[i], 0);
}

/* ---- comparisons */

static bool compares(const char *cmp, double x, double y) {
  bool nan = isnan(x) || isnan(y), u = cmp[2] == 'u' && strcmp(cmp, "num") != 0;
  if (strcmp(cmp, "num") == 0 || strcmp(cmp, "nan") == 0)
    return nan == (cmp[1] == 'a');
  if (nan)
    return u;
  return !memcmp(cmp, "eq", 2)   ? x == y
         : !memcmp(cmp, "ne", 2) ? x != y
         : !memcmp(cmp, "lt", 2) ? x < y
         : !memcmp(cmp, "le", 2) ? x <= y
         : !memcmp(cmp, "gt", 2) ? x > y
                                 : x >= y;
}

static void test_comparisons(void **state) {
  (void)state;
  static const char *const cmps[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                     "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
  uint64_t seed = 5;
  for (size_t k = 0; k < 2 * sizeof cmps / sizeof *cmps; k++) {
    const struct format *f = &formats[k % 2];
    const char *cmp = cmps[k / 2], *n = f->name;
    char body[400];
    snprintf(body, sizeof body,
             "setp.%s.%sx2 %%p1|%%p2, %%r1, %%r2; setp.%s.%s %%p3, %%r1, %%r2;\n"
             "selp.b32 %%r4, 1, 0, %%p1; selp.b32 %%r5, 2, 0, %%p2; selp.b32 %%r6, 4, 0, %%p3;\n"
             "set.%s.%sx2.%sx2 %%r7, %%r1, %%r2; set.%s.u32.%sx2 %%r8, %%r1, %%r2;\n"
             "or.b32 %%r4, %%r4, %%r5; or.b32 %%r4, %%r4, %%r6; mov.b64 %%d4, {%%r7, %%r8};\n"
             "shl.b32 %%r4, %%r4, 4; cvt.u64.u32 %%d5, %%r4; xor.b64 %%d4, %%d4, %%d5;",
             cmp, n, cmp, n, cmp, n, n, cmp, n);
    fill_pairs(f, &seed, false);
    for (int i = 0; i < PAIRS; i += 3)
      in[1][i] = in[0][i];
    ptx_run(body, true, PAIRS, in[0], in[1], NULL, out);
    uint64_t one = code_of(f, 1, 'n');
    for (int i = 0; i < PAIRS; i++) {
      bool low = compares(cmp, value_of(f, in[0][i] & 0xffff), value_of(f, in[1][i] & 0xffff));
      bool high = compares(cmp, value_of(f, (uint32_t)(in[0][i] >> 16)),
                           value_of(f, (uint32_t)(in[1][i] >> 16)));
      uint64_t should = (low ? one : 0) | (high ? one << 16 : 0) |
                        (uint64_t)((low ? 0xffff : 0) | (high ? 0xffff0000 : 0)) << 32;
      expect(body, i, in[0][i], in[1][i], out[i],
             should ^ (uint64_t)((low ? 1 : 0) | (high ? 2 : 0) | (low ? 4 : 0)) << 4);
    }
  }
  in[0][0] = float_bits(1.5), in[1][0] = float_bits(2);
  ptx_run("set.lt.f32.f32 %r5, %r1, %r2; set.gt.u32.f32 %r6, %r2, %r1; xor.b32 %r4, %r5, %r6;",
          false, 1, in[0], in[1], NULL, out);
  expect("set.f32", 0, 0, 0, out[0], 0x3f800000 ^ 0xffffffff);
}

/* ---- packed and small formats */

static void test_small_formats(void **state) {
  (void)state;
  fill_codes();
  ptx_run("cvt.rn.f16x2.e4m3x2 %r4, %r1;", false, CODES, in[0], NULL, NULL, out);
  for (int i = 0; i < CODES; i++) {
    int e = i >> 3 & 15, mantissa = i & 7;
    double v = (i & 127) == 127 ? (double)NAN
               : e              ? ldexp(8 + mantissa, e - 10)
                                : ldexp(mantissa, -9);
    expect("e4m3x2", i, in[0][i], 0, out[i] & 0xffff, code_of(&formats[0], i & 128 ? -v : v, 'n'));
    in[1][i] = out[i];
  }
  ptx_run("cvt.rn.satfinite.e4m3x2.f16x2 %r4, %r1;", false, CODES, in[1], NULL, NULL, out);
  for (int i = 0; i < CODES; i++) /* NaN loses its sign */
    expect("back", i, in[1][i], 0, out[i],
           (uint64_t)(((i & 0x7f) == 0x7f ? 0x7f : i & 0xff) |
                      ((i & 0x7f00) == 0x7f00 ? 0x7f00 : i & 0xff00)));
  ptx_run("cvt.rn.f16x2.e5m2x2 %r4, %r1;", false, CODES, in[0], NULL, NULL, out);
  for (int i = 0; i < CODES; i++) /* e5m2 is the upper half of f16 */
    if ((i & 0x7f) <= 0x7c)
      expect("e5m2x2", i, in[0][i], 0, out[i] & 0xffff, (uint64_t)(i & 0xff) << 8);
}

/* All codes of f16 to 8 bits: too large is the largest. */
static void test_rounding_to_small(void **state) {
  (void)state;
  fill_codes();
  for (int k = 2; k < 4; k++) {
    const struct format *f = &formats[k];
    char body[80];
    snprintf(body, sizeof body, "cvt.rn.satfinite.%sx2.f16x2 %%r4, %%r1;", f->name);
    ptx_run(body, false, CODES, in[0], NULL, NULL, out);
    for (int i = 0; i < CODES; i++) {
      double v = value_of(&formats[0], (uint32_t)i);
      uint32_t should = code_of(f, v, 'n');
      if (!isnan(v) && (should & 0x7f) >= (uint32_t)f->count)
        should = (should & 0x80) | (uint32_t)(f->count - 1);
      expect(body, i, in[0][i], 0, out[i], should);
    }
  }
}

static void test_packed(void **state) {
  (void)state;
  uint64_t seed = 9;
  for (int i = 0; i < PAIRS; i++)
    for (int k = 0; k < 2; k++)
      in[k][i] = ptx_random(&seed) & 0xffffffff;
  for (int k = 0; k < 4; k++) {
    const struct format *f = &formats[k % 2];
    bool relu = k / 2;
    char body[80];
    snprintf(body, sizeof body, "cvt.rn%s.%sx2.f32 %%r4, %%r1, %%r2;", relu ? ".relu" : "",
             f->name);
    ptx_run(body, false, PAIRS, in[0], in[1], NULL, out);
    for (int i = 0; i < PAIRS; i++) {
      uint32_t code[2];
      for (int n = 0; n < 2; n++) {
        uint32_t bits = (uint32_t)in[n][i];
        float v;
        memcpy(&v, &bits, sizeof v);
        code[n] = relu && v <= 0 ? 0 : code_of(f, (double)v, 'n');
      }
      expect(body, i, in[0][i], in[1][i], out[i], code[0] << 16 | code[1]);
    }
  }
  ptx_run("cvt.rna.tf32.f32 %r4, %r1;", false, PAIRS, in[0], NULL, NULL, out);
  for (int i = 0; i < PAIRS; i++)
    if ((in[0][i] & 0x7fffffff) < 0x7f800000)
      expect("tf32", i, in[0][i], 0, out[i], (in[0][i] + 0x1000) & 0xffffe000);
}

static int set_up(void **state) {
  (void)state;
  for (int i = 0; i < 4; i++)
    list_values(&formats[i]);
  return 0;
}
static int tear_down(void **state) {
  (void)state;
  for (int i = 0; i < 4; i++)
    free(formats[i].value);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_widening),          cmocka_unit_test(test_narrowing),
      cmocka_unit_test(test_from_integers),     cmocka_unit_test(test_to_integers),
      cmocka_unit_test(test_arithmetic),        cmocka_unit_test(test_unary),
      cmocka_unit_test(test_ties_and_crumbs),   cmocka_unit_test(test_comparisons),
      cmocka_unit_test(test_small_formats),     cmocka_unit_test(test_packed),
      cmocka_unit_test(test_rounding_to_small),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
