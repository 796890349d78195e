#include "sim/xray/exec_rare.h"

#include "sim/xray/lanes.h"
#include <math.h>
#include <string.h>

/* ---- min and max where a NaN wins, and by size with the product's sign */

static float least(float x, float y, bool nan) {
  if (isnan(x) || isnan(y))
    return nan ? NAN : isnan(x) ? y : x;
  return x < y || (x == y && signbit(x)) ? x : y;
}
static float most(float x, float y, bool nan) { return -least(-x, -y, nan); }
static float signed_as(float v, float x, float y) {
  return copysignf(v, !signbit(x) == !signbit(y) ? 1.0f : -1.0f);
}

#define OP2(name, EXPR)                                                                            \
  static void name(void *d, const void *a, const void *b, const void *c) {                         \
    (void)c;                                                                                       \
    lane_f32 *out = d;                                                                             \
    const lane_f32 *pa = a, *pb = b;                                                               \
    for (int l = 0; l < INSN_LANES; l++) {                                                         \
      float x = pa[l], y = pb[l];                                                                  \
      out[l] = (EXPR);                                                                             \
    }                                                                                              \
  }
OP2(min_nan, least(x, y, true))
OP2(max_nan, most(x, y, true))
OP2(min_size, signed_as(least(fabsf(x), fabsf(y), false), x, y))
OP2(max_size, signed_as(most(fabsf(x), fabsf(y), false), x, y))
OP2(min_size_nan, signed_as(least(fabsf(x), fabsf(y), true), x, y))
OP2(max_size_nan, signed_as(most(fabsf(x), fabsf(y), true), x, y))

/* ---- approximations in double: the upper word only, subnormals as zeros */

static double upper_word(double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  bits &= 0xffffffff00000000u;
  memcpy(&v, &bits, sizeof v);
  return fpclassify(v) == FP_SUBNORMAL ? copysign(0, v) : v;
}

#define OP1(name, EXPR)                                                                            \
  static void name(void *d, const void *a, const void *b, const void *c) {                         \
    (void)b, (void)c;                                                                              \
    lane_f64 *out = d;                                                                             \
    const lane_f64 *pa = a;                                                                        \
    for (int l = 0; l < INSN_LANES; l++) {                                                         \
      double x = upper_word(pa[l]);                                                                \
      out[l] = upper_word(EXPR);                                                                   \
    }                                                                                              \
  }
OP1(rcp_approx, 1.0 / x)
OP1(rsqrt_approx, 1.0 / sqrt(x))

static void rsqrt_f64(void *d, const void *a, const void *b, const void *c) {
  (void)b, (void)c;
  lane_f64 *out = d;
  const lane_f64 *pa = a;
  for (int l = 0; l < INSN_LANES; l++)
    out[l] = 1.0 / sqrt(pa[l]);
}

static const struct exec_alu_op table[] = {
    {"min.NaN.f32", "4:44", min_nan},
    {"max.NaN.f32", "4:44", max_nan},
    {"min.xorsign.abs.f32", "4:44", min_size},
    {"max.xorsign.abs.f32", "4:44", max_size},
    {"min.NaN.xorsign.abs.f32", "4:44", min_size_nan},
    {"max.NaN.xorsign.abs.f32", "4:44", max_size_nan},
    {"rcp.approx.ftz.f64", "8:8", rcp_approx},
    {"rsqrt.approx.ftz.f64", "8:8", rsqrt_approx},
    {"rsqrt.approx.f64", "8:8", rsqrt_f64},
};

const struct exec_alu_op *exec_rare_find(struct slice name) {
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (ptx_lex_is(name, table[i].name))
      return &table[i];
  return NULL;
}
