#include "sim/xray/exec_float.h"

#include <math.h>
#include <string.h>

struct format {
  int exponent, mantissa; /* bits */
  uint32_t largest, infinity, nan;
};

static const struct format formats[] = {
    [FLOAT_F16] = {5, 10, 0x7bff, 0x7c00, 0x7fff},
    [FLOAT_BF16] = {8, 7, 0x7f7f, 0x7f80, 0x7fff},
    [FLOAT_TF32] = {8, 10, 0x3fbff, 0x3fc00, 0x3ffff},
    [FLOAT_E4M3] = {4, 3, 0x7e, 0x7f, 0x7f}, /* has no infinity */
    [FLOAT_E5M2] = {5, 2, 0x7b, 0x7c, 0x7f},
};

static double float_of(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return (double)f;
}

double exec_float_value(enum exec_float format, uint32_t code) {
  if (format == FLOAT_F32)
    return float_of(code);
  const struct format *f = &formats[format];
  int bias = (1 << (f->exponent - 1)) - 1;
  int e = (int)(code >> f->mantissa & ((1u << f->exponent) - 1));
  double m = (double)(code & ((1u << f->mantissa) - 1));
  uint32_t size = code & ((1u << (f->exponent + f->mantissa)) - 1);
  bool negative = code >> (f->exponent + f->mantissa) & 1;
  double v = size > f->infinity || size == f->nan ? (double)NAN
             : size == f->infinity                ? (double)INFINITY
             : e == 0                             ? ldexp(m, 1 - bias - f->mantissa)
                      : ldexp(m + ldexp(1, f->mantissa), e - bias - f->mantissa);
  return negative ? -v : v;
}

/* A value of at least 0 to an integer; negative: it stands for its negative. */
static double whole(double v, char mode, bool negative) {
  double low = floor(v);
  switch (mode) {
  case 'z':
    return low;
  case 'm':
    return negative ? ceil(v) : low;
  case 'p':
    return negative ? low : ceil(v);
  case 'a':
    return v - low >= 0.5 ? low + 1 : low;
  default:
    return v - low > 0.5 || (v - low == 0.5 && fmod(low, 2) != 0) ? low + 1 : low;
  }
}

uint32_t exec_float_bits(enum exec_float format, double v, char mode, bool finite) {
  if (format == FLOAT_F32) {
    float single = (float)v;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return isnan(v) ? 0x7fffffff : bits;
  }
  const struct format *f = &formats[format];
  bool negative = signbit(v);
  uint32_t sign = negative ? 1u << (f->exponent + f->mantissa) : 0;
  int least = 2 - (1 << (f->exponent - 1));
  if (isnan(v))
    return f->nan;
  v = fabs(v);
  if (isinf(v))
    return sign | (finite ? f->largest : f->infinity);
  int e = v > 0 ? ilogb(v) : least;
  e = e < least ? least : e;
  double steps = whole(ldexp(v, f->mantissa - e), mode, negative);
  /* A steps of one bit more than the mantissa has carries the 1 into the exponent. */
  uint32_t code =
      e > 1 << f->exponent ? f->infinity : ((uint32_t)(e - least) << f->mantissa) + (uint32_t)steps;
  if (code <= f->largest)
    return sign | code;
  bool cut = finite || mode == 'z' || mode == (negative ? 'p' : 'm');
  return sign | (cut ? f->largest : f->infinity);
}

/* What was cut off makes the last bit 1: so it is neither even nor a tie when it is rounded again.
 */
static double odd(double rounded, double rest) {
  uint64_t bits;
  memcpy(&bits, &rounded, sizeof bits);
  if (rest == 0 || bits & 1 || !isfinite(rounded))
    return rounded;
  bits = (rest > 0) == (rounded > 0) ? bits + 1 : bits - 1;
  memcpy(&rounded, &bits, sizeof bits);
  return rounded;
}

double exec_float_odd_sum(double x, double y) {
  double sum = x + y, of_y = sum - x;
  return odd(sum, (x - (sum - of_y)) + (y - of_y));
}

double exec_float_odd_integer(int64_t v, bool is_signed) {
  bool negative = is_signed && v < 0;
  uint64_t size = negative ? -(uint64_t)v : (uint64_t)v;
  int shift = size >> 53 ? 11 : 0;
  uint64_t top = size >> shift;
  if (top << shift != size)
    top |= 1;
  double d = ldexp((double)(int64_t)top, shift);
  return negative ? -d : d;
}
