#include "sim/xray/exec_cvt.h"

#include "sim/xray/exec_alu.h"
#include "sim/xray/exec_float.h"
#include "sim/xray/exec_half.h"
#include "sim/xray/lanes.h"
#include <fenv.h>
#include <math.h>
#include <string.h>

/* ---- half precision */

static enum exec_float short_format(struct ptx_type t) { return t.packed ? FLOAT_BF16 : FLOAT_F16; }

/* As the hardware has it: bf16 becomes the upper half of a float, any NaN of f16 the canonical one.
 */
static double short_value(struct ptx_type t, uint32_t h) {
  uint32_t bits = t.packed ? h << 16 : 0x7fffffff;
  float f;
  memcpy(&f, &bits, sizeof f);
  if (t.packed || (h & 0x7fff) > 0x7c00)
    return (double)f;
  return exec_float_value(FLOAT_F16, h);
}

static uint32_t short_bits(const struct insn *in, double v) {
  return exec_float_bits(short_format(in->type), v, in->round ? (char)in->round : 'n', in->finite);
}

/* ---- integers */

static LANES_HOT void widen(int64_t *v, const struct insn *in, const void *from) {
  const lane_u32 *narrow = from;
  const lane_u64 *wide = from;
  int shift = 64 - 8 * in->from.bytes;
  bool sign = in->from.cls == PTX_SIGNED;
  if (in->width == 8)
    for (int l = 0; l < INSN_LANES; l++)
      v[l] = (int64_t)wide[l];
  else
    for (int l = 0; l < INSN_LANES; l++)
      v[l] = (int64_t)(uint64_t)narrow[l];
  if (!shift)
    return;
  if (sign)
    for (int l = 0; l < INSN_LANES; l++)
      v[l] = (int64_t)((uint64_t)v[l] << shift) >> shift;
  else
    for (int l = 0; l < INSN_LANES; l++)
      v[l] = (int64_t)((uint64_t)v[l] << shift >> shift);
}

static int64_t clamped(int64_t v, const struct insn *in) {
  bool is_signed = in->type.cls == PTX_SIGNED;
  bool big = in->from.cls != PTX_SIGNED && v < 0; /* an unsigned above 2^63 */
  int bits = 8 * in->type.bytes - is_signed;
  int64_t top = bits >= 63 ? INT64_MAX : ((int64_t)1 << bits) - 1;
  if (big)
    return bits == 64 ? v : top;
  if (v > top)
    return top;
  int64_t bottom = is_signed ? -top - 1 : 0;
  return v < bottom ? bottom : v;
}

/* Puts integers of the destination's type into its registers, extended as its type says. */
static LANES_HOT void put(const struct insn *in, void *to, int64_t *v) {
  int shift = 64 - 8 * in->type.bytes;
  if (shift && in->type.cls == PTX_SIGNED)
    for (int l = 0; l < INSN_LANES; l++)
      v[l] = (int64_t)((uint64_t)v[l] << shift) >> shift;
  else if (shift)
    for (int l = 0; l < INSN_LANES; l++)
      v[l] = (int64_t)((uint64_t)v[l] << shift >> shift);
  lane_u32 *narrow = to;
  lane_u64 *wide = to;
  if (in->dst_bytes == 8)
    for (int l = 0; l < INSN_LANES; l++)
      wide[l] = (uint64_t)v[l];
  else
    for (int l = 0; l < INSN_LANES; l++)
      narrow[l] = (uint32_t)v[l];
}

/* ---- floats */

static void read_floats(const struct insn *in, double *v, const void *from) {
  const lane_f32 *f = from;
  const lane_f64 *d = from;
  const lane_u32 *h = from;
  for (int l = 0; l < INSN_LANES; l++)
    v[l] = in->from.bytes == 8   ? d[l]
           : in->from.bytes == 4 ? (double)f[l]
                                 : short_value(in->from, h[l]);
}

static double rounded(double v, uint8_t mode) {
  switch (mode) {
  case 'z':
    return trunc(v);
  case 'm':
    return floor(v);
  case 'p':
    return ceil(v);
  default:
    return nearbyint(v);
  }
}

static int64_t to_integer(const struct insn *in, double v) {
  bool is_signed = in->type.cls == PTX_SIGNED;
  int bits = 8 * in->type.bytes - is_signed;
  if (isnan(v)) /* PTX ISA, cvt: zero, but the highest bit if one of the two has 64 bits */
    return in->type.bytes == 8 || in->from.bytes == 8
               ? (int64_t)((uint64_t)1 << (8 * in->type.bytes - 1))
               : 0;
  v = rounded(v, in->round);
  double top = ldexp(1.0, bits);
  if (v >= top)
    return bits == 64 ? -1 : bits == 63 ? INT64_MAX : ((int64_t)1 << bits) - 1;
  if (!is_signed)
    return v <= 0 ? 0 : (int64_t)(uint64_t)v;
  return v < -top ? (bits == 63 ? INT64_MIN : -((int64_t)1 << bits)) : (int64_t)v;
}

static void write_floats(const struct insn *in, void *to, const double *v) {
  lane_f32 *f = to;
  lane_f64 *d = to;
  lane_u32 *h = to;
  for (int l = 0; l < INSN_LANES; l++) {
    double x = in->round_int ? rounded(v[l], in->round) : v[l];
    if (in->sat)
      x = x > 0 ? (x < 1 ? x : 1) : 0;
    if (in->half & HALF_RELU)
      x = x <= 0 ? 0 : x;
    if (in->type.bytes == 8)
      d[l] = x;
    else if (in->type.bytes == 4)
      f[l] = (float)x;
    else
      h[l] = short_bits(in, x);
  }
  if (in->ftz && in->type.bytes == 4)
    exec_alu_flush(to, to);
}

static void put_zero(void *to, int lane, int bytes) {
  memset((unsigned char *)to + lane * bytes, 0, (size_t)bytes);
}

/* One rounding, from the integer itself, as the FPU is set to. */
static void integers_to_floats(const struct insn *in, void *to, const int64_t *v) {
  lane_f32 *f = to;
  lane_f64 *d = to;
  lane_u32 *h = to;
  bool is_signed = in->from.cls == PTX_SIGNED;
  for (int l = 0; l < INSN_LANES; l++) {
    if (v[l] == 0 && in->type.bytes >= 4)
      put_zero(to, l, in->type.bytes); /* rounded down, 0 - 0 would be -0 */
    else if (in->type.bytes == 8)
      d[l] = is_signed ? (double)v[l] : (double)(uint64_t)v[l];
    else if (in->type.bytes == 4)
      f[l] = is_signed ? (float)v[l] : (float)(uint64_t)v[l];
    else
      h[l] = short_bits(in, exec_float_odd_integer(v[l], is_signed));
  }
}

/* Between a half and a float, to the nearest: most conversions of such kernels. */
static bool convert_half(const struct insn *in, void *to, const void *from) {
  bool plain = !in->sat && !in->half && !in->finite && !in->round_int && !in->ftz &&
               (!in->round || in->round == 'n') && in->dst_bytes == 4 && in->width == 4;
  if (!plain || in->from.cls != PTX_FLOAT || in->type.cls != PTX_FLOAT)
    return false;
  if (in->from.bytes == 2 && in->type.bytes == 4)
    exec_half_widen(in->from.packed, to, from, 0);
  else if (in->from.bytes == 4 && in->type.bytes == 2)
    exec_half_narrow(in->type.packed, to, from);
  else
    return false;
  return true;
}

static void convert(const struct insn *in, void *to, const void *from) {
  unsigned char flushed[INSN_UNIT];
  int64_t v[INSN_LANES];
  double f[INSN_LANES];
  if (convert_half(in, to, from))
    return;
  if (in->from.cls != PTX_FLOAT) {
    widen(v, in, from);
    if (in->type.cls == PTX_FLOAT) {
      integers_to_floats(in, to, v);
      return;
    }
    if (in->sat)
      for (int l = 0; l < INSN_LANES; l++)
        v[l] = clamped(v[l], in);
    put(in, to, v);
    return;
  }
  if (in->ftz && in->from.bytes == 4) {
    exec_alu_flush(flushed, from);
    from = flushed;
  }
  read_floats(in, f, from);
  if (in->type.cls == PTX_FLOAT) {
    write_floats(in, to, f);
    return;
  }
  for (int l = 0; l < INSN_LANES; l++)
    v[l] = to_integer(in, f[l]);
  put(in, to, v);
}

void exec_cvt(const struct insn *in, void *to, const void *from) {
  bool narrows = in->type.cls == PTX_FLOAT && in->type.bytes >= 4 && !in->round_int &&
                 (in->from.cls != PTX_FLOAT || in->from.bytes > in->type.bytes);
  if (!narrows || !in->round || in->round == 'n') {
    convert(in, to, from);
    return;
  }
  int before = fegetround();
  fesetround(in->round == 'z' ? FE_TOWARDZERO : in->round == 'm' ? FE_DOWNWARD : FE_UPWARD);
  convert(in, to, from);
  fesetround(before);
}

/* ---- packed formats */

static uint32_t code_of(const struct insn *in, double v, enum exec_float to) {
  if (in->half & HALF_RELU)
    v = v <= 0 ? 0 : v;
  return exec_float_bits(to, v, in->round ? (char)in->round : 'n', in->finite);
}

void exec_cvt_pack(const struct insn *in, void *to, const void *a, const void *b) {
  enum exec_float format = (enum exec_float)in->sub, source = (enum exec_float)in->width;
  const lane_u32 *upper = a, *lower = b;
  lane_u32 *out = to, high[INSN_LANES], low[INSN_LANES];
  if (source == FLOAT_F32 && format <= FLOAT_BF16 && in->round == 'n' && !in->half && !in->finite) {
    exec_half_narrow(format == FLOAT_BF16, high, a);
    exec_half_narrow(format == FLOAT_BF16, low, b);
    for (int l = 0; l < INSN_LANES; l++)
      out[l] = high[l] << 16 | low[l];
    return;
  }
  if (format == FLOAT_TF32) {
    for (int l = 0; l < INSN_LANES; l++)
      out[l] = code_of(in, exec_float_value(FLOAT_F32, upper[l]), format) << 13;
    return;
  }
  int from_bits = source == FLOAT_F32 ? 32 : source <= FLOAT_BF16 ? 16 : 8;
  int to_bits = format <= FLOAT_BF16 ? 16 : 8;
  for (int l = 0; l < INSN_LANES; l++) {
    uint32_t up = from_bits == 32 ? upper[l] : upper[l] >> from_bits;
    uint32_t down = from_bits == 32 ? lower[l] : upper[l] & ((1u << from_bits) - 1);
    uint32_t code = code_of(in, exec_float_value(source, up), format) << to_bits;
    out[l] = code | code_of(in, exec_float_value(source, down), format);
  }
}
