#include "sim/xray/exec_cvt.h"

#include "sim/xray/exec_alu.h"
#include "sim/xray/lanes.h"
#include <math.h>
#include <string.h>

/* ---- half precision, by its bits */

static double half_value(uint32_t h) {
  int exponent = (int)(h >> 10 & 31);
  double m = (double)(h & 0x3ff);
  double v = exponent == 31  ? (m > 0 ? (double)NAN : (double)INFINITY)
             : exponent == 0 ? ldexp(m, -24)
                             : ldexp(m + 1024, exponent - 25);
  return h & 0x8000 ? -v : v;
}

/* Nearest even: the quotient by the spacing at v is rounded by the FPU. */
static uint32_t half_bits(double v) {
  uint32_t sign = signbit(v) ? 0x8000 : 0;
  v = fabs(v);
  if (isnan(v))
    return 0x7fff;
  if (v >= 65520.0)
    return sign | 0x7c00;
  int e = v > 0 ? ilogb(v) : -14;
  if (e < -14)
    e = -14;
  uint32_t steps = (uint32_t)nearbyint(ldexp(v, 10 - e)); /* 1024 .. 2048, less if subnormal */
  return sign | (uint32_t)((e + 14) * 1024 + (int)steps);
}

/* bfloat16 is the upper half of a float. */
static double brain_value(uint32_t h) {
  uint32_t bits = h << 16;
  float f;
  memcpy(&f, &bits, sizeof f);
  return (double)f;
}

static uint32_t brain_bits(double v) {
  float f = (float)v;
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  if (isnan(f))
    return 0x7fff;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static double short_value(struct ptx_type t, uint32_t h) {
  return t.packed ? brain_value(h & 0xffff) : half_value(h & 0xffff);
}
static uint32_t short_bits(struct ptx_type t, double v) {
  return t.packed ? brain_bits(v) : half_bits(v);
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
  if (isnan(v))
    return in->type.bytes == 8 ? INT64_MIN : 0;
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
    if (in->type.bytes == 8)
      d[l] = x;
    else if (in->type.bytes == 4)
      f[l] = (float)x;
    else
      h[l] = short_bits(in->type, x);
  }
  if (in->ftz && in->type.bytes == 4)
    exec_alu_flush(to, to);
}

/* One rounding, from the integer itself. */
static void integers_to_floats(const struct insn *in, void *to, const int64_t *v) {
  lane_f32 *f = to;
  lane_f64 *d = to;
  lane_u32 *h = to;
  bool is_signed = in->from.cls == PTX_SIGNED;
  for (int l = 0; l < INSN_LANES; l++) {
    if (in->type.bytes == 8)
      d[l] = is_signed ? (double)v[l] : (double)(uint64_t)v[l];
    else if (in->type.bytes == 4)
      f[l] = is_signed ? (float)v[l] : (float)(uint64_t)v[l];
    else
      h[l] = short_bits(in->type, is_signed ? (double)v[l] : (double)(uint64_t)v[l]);
  }
}

void exec_cvt(const struct insn *in, void *to, const void *from) {
  unsigned char flushed[INSN_UNIT];
  int64_t v[INSN_LANES];
  double f[INSN_LANES];
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
