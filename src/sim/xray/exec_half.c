#include "sim/xray/exec_half.h"

#include "sim/xray/exec_alu.h"
#include "sim/xray/exec_blend.h"
#include "sim/xray/exec_float.h"
#include "sim/xray/lanes.h"
#include <math.h>
#include <string.h>

static inline float as_float(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}
static inline uint32_t as_bits(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}

/* ---- 32 halves to floats and back, without branches */

static LANES_HOT void widen_f16(float *out, const lane_u32 *in, int shift) {
  for (int l = 0; l < INSN_LANES; l++) {
    uint32_t h = in[l] >> shift, size = (h & 0x7fff) << 13;
    uint32_t bits = as_bits(as_float(size) * 0x1p112f); /* moves the bias; subnormals come right */
    bits = (size >= 0x0f800000 ? 0x7f800000 : bits) | (h & 0x8000) << 16;
    out[l] = as_float(size > 0x0f800000 ? 0x7fffffff : bits);
  }
}

static LANES_HOT void widen_bf16(float *out, const lane_u32 *in, int shift) {
  for (int l = 0; l < INSN_LANES; l++)
    out[l] = as_float(in[l] >> shift << 16);
}

static LANES_HOT void narrow_f16(lane_u32 *out, const float *v) {
  for (int l = 0; l < INSN_LANES; l++) {
    uint32_t bits = as_bits(v[l]), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
    uint32_t normal = (size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13;
    /* Floats from 1/2 to 1 have the spacing of the subnormal halves: the addition rounds. */
    uint32_t small = as_bits(as_float(size < 0x38800000 ? size : 0) + 0.5f) - 0x3f000000;
    uint32_t h = size < 0x38800000 ? small : size >= 0x477ff000 ? 0x7c00 : normal;
    out[l] = size > 0x7f800000 ? 0x7fff : sign | h;
  }
}

static LANES_HOT void narrow_bf16(lane_u32 *out, const float *v) {
  for (int l = 0; l < INSN_LANES; l++) {
    uint32_t bits = as_bits(v[l]);
    uint32_t h = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    out[l] = (bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : h;
  }
}

void exec_half_widen(bool brain, float *out, const void *lanes, int shift) {
  if (brain)
    widen_bf16(out, lanes, shift);
  else
    widen_f16(out, lanes, shift);
}

void exec_half_narrow(bool brain, void *lanes, const float *v) {
  if (brain)
    narrow_bf16(lanes, v);
  else
    narrow_f16(lanes, v);
}

static void widen(const struct insn *in, float *out, const void *lanes, int shift) {
  exec_half_widen(in->half & HALF_BRAIN, out, lanes, shift);
  float least = in->half & HALF_BRAIN ? 0x1p-126f : 0x1p-14f;
  if (in->ftz)
    for (int l = 0; l < INSN_LANES; l++)
      out[l] = fabsf(out[l]) < least ? copysignf(0, out[l]) : out[l];
}

static void narrow(const struct insn *in, lane_u32 *out, const float *v) {
  exec_half_narrow(in->half & HALF_BRAIN, out, v);
  uint32_t exponent = in->half & HALF_BRAIN ? 0x7f80 : 0x7c00;
  if (in->ftz)
    for (int l = 0; l < INSN_LANES; l++)
      out[l] = out[l] & exponent ? out[l] : out[l] & 0x8000;
}

/* ---- operations on floats that hold halves. Sums and products of two halves are rounded to 24
 * bits first: twice and two more than a half has, so the second rounding is right. */

/* Product and sum can be too long for a float and for a double: odd twice, so that the last
 * rounding is right. */
static float fused(float x, float y, float z) {
  double v = exec_float_odd_sum((double)x * (double)y, (double)z);
  float f = (float)v;
  if (isnan(f) || (double)f == v || as_bits(f) & 1)
    return f;
  return as_float(fabs((double)f) < fabs(v) ? as_bits(f) + 1 : as_bits(f) - 1);
}

static float lesser(float x, float y, bool nan) {
  if (isnan(x) || isnan(y))
    return nan ? NAN : isnan(x) ? y : x;
  return x < y || (x == y && signbit(x)) ? x : y;
}

static float chosen(const struct insn *in, float x, float y) {
  bool negative = !signbit(x) != !signbit(y), nan = in->half & HALF_NAN;
  if (in->half & HALF_XORSIGN)
    x = fabsf(x), y = fabsf(y);
  float v = in->sub == HALF_MIN ? lesser(x, y, nan) : -lesser(-x, -y, nan);
  return in->half & HALF_XORSIGN ? copysignf(v, negative ? -1.0f : 1.0f) : v;
}

static LANES_HOT void arithmetic(const struct insn *in, float *d, const float *x, const float *y,
                                 const float *z) {
  switch ((enum exec_half_op)in->sub) {
  case HALF_ADD:
    for (int l = 0; l < INSN_LANES; l++)
      d[l] = x[l] + y[l];
    break;
  case HALF_SUB:
    for (int l = 0; l < INSN_LANES; l++)
      d[l] = x[l] - y[l];
    break;
  case HALF_MUL:
    for (int l = 0; l < INSN_LANES; l++)
      d[l] = x[l] * y[l];
    break;
  case HALF_FMA:
    for (int l = 0; l < INSN_LANES; l++)
      d[l] = fused(x[l], y[l], z[l]);
    break;
  case HALF_MIN:
  case HALF_MAX:
    for (int l = 0; l < INSN_LANES; l++)
      d[l] = chosen(in, x[l], y[l]);
    break;
  case HALF_EX2:
    for (int l = 0; l < INSN_LANES; l++)
      d[l] = exp2f(x[l]);
    break;
  case HALF_TANH:
    for (int l = 0; l < INSN_LANES; l++)
      d[l] = tanhf(x[l]);
    break;
  default:
    break;
  }
  if (in->sat)
    for (int l = 0; l < INSN_LANES; l++)
      d[l] = d[l] > 0 ? (d[l] < 1 ? d[l] : 1) : 0;
  if (in->half & HALF_RELU)
    for (int l = 0; l < INSN_LANES; l++)
      d[l] = d[l] <= 0 ? 0 : d[l];
}

/* A NaN becomes the canonical one, as on the hardware. */
static uint32_t signed_half(const struct insn *in, uint32_t h) {
  uint32_t infinity = in->half & HALF_BRAIN ? 0x7f80 : 0x7c00;
  if ((h & 0x7fff) > infinity)
    return 0x7fff;
  return in->sub == HALF_NEG ? h ^ 0x8000 : h & 0x7fff;
}

static void signs(const struct insn *in, lane_u32 *out, const lane_u32 *a) {
  for (int l = 0; l < INSN_LANES; l++) {
    out[l] = signed_half(in, a[l] & 0xffff);
    if (in->half & HALF_PAIR)
      out[l] |= signed_half(in, a[l] >> 16) << 16;
  }
}

static void half(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  const void *a = machine_lanes(m, w, in->a), *b = machine_lanes(m, w, in->b),
             *c = machine_lanes(m, w, in->c);
  lane_u32 *out = (lane_u32 *)m->scratch;
  float x[INSN_LANES], y[INSN_LANES], z[INSN_LANES], v[INSN_LANES];
  lane_u32 part[INSN_LANES];
  bool unary = in->sub == HALF_NEG || in->sub == HALF_ABS;
  if (unary)
    signs(in, out, a);
  for (int shift = 0; !unary && shift <= (in->half & HALF_PAIR ? 16 : 0); shift += 16) {
    widen(in, x, a, shift);
    if (in->sub != HALF_EX2 && in->sub != HALF_TANH)
      widen(in, y, b, shift);
    if (in->sub == HALF_FMA)
      widen(in, z, c, shift);
    arithmetic(in, v, x, y, z);
    narrow(in, part, v);
    for (int l = 0; l < INSN_LANES; l++)
      out[l] = shift ? out[l] | part[l] << 16 : part[l];
  }
  exec_blend(machine_lanes(m, w, in->dst), out, mask, 4);
}

/* ---- set of all types, and setp of halves: vec[0] and vec[1] hold what a true comparison of the
 * lower and the upper halves leaves */

static uint32_t joined(enum insn_bool op, uint32_t a, uint32_t b) {
  return op == BOOL_AND ? a & b : op == BOOL_OR ? a | b : op == BOOL_XOR ? a ^ b : a;
}

static uint32_t compared(const struct insn *in, const void *a, const void *b, int shift) {
  float x[INSN_LANES], y[INSN_LANES];
  bool halves = in->from.bytes == 2 || in->from.packed;
  if (in->from.cls == PTX_FLOAT && halves) {
    widen(in, x, a, shift);
    widen(in, y, b, shift);
    return in->cmp(x, y);
  }
  if (in->ftz) {
    exec_alu_flush(x, a);
    exec_alu_flush(y, b);
    return in->cmp(x, y);
  }
  return in->cmp(a, b);
}

static void set(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  const void *a = machine_lanes(m, w, in->a), *b = machine_lanes(m, w, in->b);
  bool pair = in->half & HALF_PAIR;
  uint32_t low = compared(in, a, b, 0), high = pair ? compared(in, a, b, 16) : ~low;
  uint32_t with = machine_pred(w, in->pa);
  enum insn_bool op = (enum insn_bool)in->sub;
  low = joined(op, low, with);
  high = joined(op, high, with);
  if (!in->dst_bytes) {
    machine_set_pred(w, in->p, mask, low);
    machine_set_pred(w, in->p2, mask, high);
    return;
  }
  const lane_u32 *yes = (const lane_u32 *)machine_lanes(m, w, in->vec[0]);
  const lane_u32 *upper = (const lane_u32 *)machine_lanes(m, w, in->vec[1]);
  lane_u32 *out = (lane_u32 *)m->scratch;
  for (int l = 0; l < INSN_LANES; l++)
    out[l] = (low >> l & 1 ? yes[l] : 0) | (pair && high >> l & 1 ? upper[l] : 0);
  exec_blend(machine_lanes(m, w, in->dst), out, mask, 4);
}

bool exec_half(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  if (in->kind == INSN_HALF)
    half(m, w, in, mask);
  else if (in->kind == INSN_SET)
    set(m, w, in, mask);
  else
    return false;
  return true;
}
