#include "sim/xray/exec_alu.h"

#include "sim/xray/exec_cmp.h"
#include "sim/xray/exec_int.h"
#include "sim/xray/lanes.h"
#include <math.h>
#include <string.h>

/* ---- float and double: each operation rounds once, as the hardware */

#define UNARY(name, T, EXPR)                                                                       \
  static LANES_HOT void name(void *d, const void *a, const void *b, const void *c) {               \
    (void)b, (void)c;                                                                              \
    T *out = d;                                                                                    \
    const T *x = a;                                                                                \
    LANES_FREE for (int l = 0; l < INSN_LANES; l++) out[l] = EXPR;                                 \
  }
#define BINARY(name, T, EXPR)                                                                      \
  static LANES_HOT void name(void *d, const void *a, const void *b, const void *c) {               \
    (void)c;                                                                                       \
    T *out = d;                                                                                    \
    const T *x = a, *y = b;                                                                        \
    LANES_FREE for (int l = 0; l < INSN_LANES; l++) out[l] = EXPR;                                 \
  }
#define TERNARY(name, T, EXPR)                                                                     \
  static LANES_HOT void name(void *d, const void *a, const void *b, const void *c) {               \
    T *out = d;                                                                                    \
    const T *x = a, *y = b, *z = c;                                                                \
    LANES_FREE for (int l = 0; l < INSN_LANES; l++) out[l] = EXPR;                                 \
  }

/* A NaN gives way to a number, and -0 is less than +0. */
static inline double lesser(double x, double y) {
  if (isnan(x) || isnan(y))
    return isnan(x) ? y : x;
  return x < y || (x == y && signbit(x)) ? x : y;
}
static inline double greater(double x, double y) {
  if (isnan(x) || isnan(y))
    return isnan(x) ? y : x;
  return x > y || (x == y && signbit(y)) ? x : y;
}

BINARY(add_f32, lane_f32, x[l] + y[l])
BINARY(sub_f32, lane_f32, x[l] - y[l])
BINARY(mul_f32, lane_f32, x[l] * y[l])
BINARY(div_f32, lane_f32, x[l] / y[l])
BINARY(min_f32, lane_f32, (float)lesser(x[l], y[l]))
BINARY(max_f32, lane_f32, (float)greater(x[l], y[l]))
BINARY(copysign_f32, lane_f32, copysignf(y[l], x[l]))
TERNARY(fma_f32, lane_f32, fmaf(x[l], y[l], z[l]))
UNARY(abs_f32, lane_f32, fabsf(x[l]))
UNARY(neg_f32, lane_f32, -x[l])
UNARY(rcp_f32, lane_f32, 1.0f / x[l])
UNARY(sqrt_f32, lane_f32, sqrtf(x[l]))
UNARY(rsqrt_f32, lane_f32, (float)(1.0 / sqrt((double)x[l])))
UNARY(ex2_f32, lane_f32, exp2f(x[l]))
UNARY(lg2_f32, lane_f32, log2f(x[l]))
UNARY(sin_f32, lane_f32, sinf(x[l]))
UNARY(cos_f32, lane_f32, cosf(x[l]))
UNARY(tanh_f32, lane_f32, tanhf(x[l]))

BINARY(add_f64, lane_f64, x[l] + y[l])
BINARY(sub_f64, lane_f64, x[l] - y[l])
BINARY(mul_f64, lane_f64, x[l] * y[l])
BINARY(div_f64, lane_f64, x[l] / y[l])
BINARY(min_f64, lane_f64, lesser(x[l], y[l]))
BINARY(max_f64, lane_f64, greater(x[l], y[l]))
BINARY(copysign_f64, lane_f64, copysign(y[l], x[l]))
TERNARY(fma_f64, lane_f64, fma(x[l], y[l], z[l]))
UNARY(abs_f64, lane_f64, fabs(x[l]))
UNARY(neg_f64, lane_f64, -x[l])
UNARY(rcp_f64, lane_f64, 1.0 / x[l])
UNARY(sqrt_f64, lane_f64, sqrt(x[l]))
UNARY(rsqrt_f64, lane_f64, 1.0 / sqrt(x[l]))

UNARY(mov_32, lane_u32, x[l])
UNARY(mov_64, lane_u64, x[l])

static const struct exec_alu_op table[] = {
    {"fma.f32", "4:444", fma_f32},
    {"mad.f32", "4:444", fma_f32},
    {"add.f32", "4:44", add_f32},
    {"sub.f32", "4:44", sub_f32},
    {"mul.f32", "4:44", mul_f32},
    {"div.f32", "4:44", div_f32},
    {"min.f32", "4:44", min_f32},
    {"max.f32", "4:44", max_f32},
    {"abs.f32", "4:4", abs_f32},
    {"neg.f32", "4:4", neg_f32},
    {"rcp.f32", "4:4", rcp_f32},
    {"sqrt.f32", "4:4", sqrt_f32},
    {"rsqrt.f32", "4:4", rsqrt_f32},
    {"ex2.f32", "4:4", ex2_f32},
    {"lg2.f32", "4:4", lg2_f32},
    {"sin.f32", "4:4", sin_f32},
    {"cos.f32", "4:4", cos_f32},
    {"tanh.f32", "4:4", tanh_f32},
    {"copysign.f32", "4:44", copysign_f32},
    {"fma.f64", "8:888", fma_f64},
    {"mad.f64", "8:888", fma_f64},
    {"add.f64", "8:88", add_f64},
    {"sub.f64", "8:88", sub_f64},
    {"mul.f64", "8:88", mul_f64},
    {"div.f64", "8:88", div_f64},
    {"min.f64", "8:88", min_f64},
    {"max.f64", "8:88", max_f64},
    {"abs.f64", "8:8", abs_f64},
    {"neg.f64", "8:8", neg_f64},
    {"rcp.f64", "8:8", rcp_f64},
    {"sqrt.f64", "8:8", sqrt_f64},
    {"rsqrt.f64", "8:8", rsqrt_f64},
    {"copysign.f64", "8:88", copysign_f64},
    {"mov.b16", "4:4", mov_32},
    {"mov.u16", "4:4", mov_32},
    {"mov.s16", "4:4", mov_32},
    {"mov.f16", "4:4", mov_32},
    {"mov.b32", "4:4", mov_32},
    {"mov.u32", "4:4", mov_32},
    {"mov.s32", "4:4", mov_32},
    {"mov.f32", "4:4", mov_32},
    {"mov.b64", "8:8", mov_64},
    {"mov.u64", "8:8", mov_64},
    {"mov.s64", "8:8", mov_64},
    {"mov.f64", "8:8", mov_64},
};

const struct exec_alu_op *exec_alu_find(struct slice name) {
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (ptx_lex_is(name, table[i].name))
      return &table[i];
  return exec_int_find(name);
}

void exec_alu_flush(void *to, const void *from) {
  lane_f32 *out = to;
  const lane_f32 *in = from;
  for (int l = 0; l < INSN_LANES; l++)
    out[l] = fpclassify(in[l]) == FP_SUBNORMAL ? copysignf(0.0f, in[l]) : in[l];
}

void exec_alu_saturate(void *to, const void *from) {
  lane_f32 *out = to;
  const lane_f32 *in = from;
  for (int l = 0; l < INSN_LANES; l++)
    out[l] = in[l] > 0.0f ? (in[l] < 1.0f ? in[l] : 1.0f) : 0.0f;
}
