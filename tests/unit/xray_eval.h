/* What single PTX instructions compute, written a second time: integers in 128 bits, floats exactly
 * in a wide format and then rounded by hand. Shares no code with the machine. Values are bits. */
#ifndef MM_TESTS_XRAY_EVAL_H
#define MM_TESTS_XRAY_EVAL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

__extension__ typedef __int128 eval_s;
__extension__ typedef unsigned __int128 eval_u;

/* ---- numbers of a type: 's', 'u' or 'b' and a number of bits */

struct eval_type {
  char cls; /* s u b f, h of bf16 */
  int bits;
};

static inline uint64_t eval_mask(int bits) {
  return bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

static inline eval_s eval_int(uint64_t x, struct eval_type t) {
  x &= eval_mask(t.bits);
  if (t.cls == 's' && x >> (t.bits - 1))
    return (eval_s)x - ((eval_s)1 << t.bits);
  return (eval_s)x;
}

static inline uint64_t eval_fit(eval_s v, int bits) { return (uint64_t)v & eval_mask(bits); }

static inline eval_s eval_least(struct eval_type t) {
  return t.cls == 's' ? -((eval_s)1 << (t.bits - 1)) : 0;
}
static inline eval_s eval_most(struct eval_type t) {
  return ((eval_s)1 << (t.cls == 's' ? t.bits - 1 : t.bits)) - 1;
}

/* ---- bits */

static inline uint64_t eval_bfe(uint64_t a, uint64_t b, uint64_t c, struct eval_type t) {
  int msb = t.bits - 1, pos = (int)(b & 0xff), len = (int)(c & 0xff);
  bool sign = false;
  uint64_t d = 0;
  if (t.cls == 's' && len)
    sign = a >> (pos + len - 1 < msb ? pos + len - 1 : msb) & 1;
  for (int i = 0; i <= msb; i++)
    d |= (uint64_t)(i < len && pos + i <= msb ? a >> (pos + i) & 1 : sign) << i;
  return d;
}

static inline uint64_t eval_bfi(uint64_t a, uint64_t b, uint64_t c, uint64_t d, int bits) {
  int pos = (int)(c & 0xff), len = (int)(d & 0xff);
  for (int i = 0; i < len && pos + i < bits; i++)
    b = (b & ~((uint64_t)1 << (pos + i))) | (a >> i & 1) << (pos + i);
  return b;
}

static inline uint64_t eval_prmt(uint64_t a, uint64_t b, uint64_t c, const char *mode) {
  uint64_t bytes = (b & 0xffffffff) << 32 | (a & 0xffffffff), d = 0;
  int n = (int)(c & 3);
  for (int i = 0; i < 4; i++) {
    int from = (int)(c >> (4 * i) & 7);
    bool sign = !*mode && c >> (4 * i + 3) & 1;
    if (!strcmp(mode, "f4e"))
      from = n + i;
    else if (!strcmp(mode, "b4e"))
      from = (n - i) & 7;
    else if (!strcmp(mode, "rc8"))
      from = n;
    else if (!strcmp(mode, "ecl"))
      from = i > n ? i : n;
    else if (!strcmp(mode, "ecr"))
      from = i < n ? i : n;
    else if (!strcmp(mode, "rc16"))
      from = (n & 1) * 2 + (i & 1);
    uint64_t v = bytes >> (8 * from) & 0xff;
    d |= (sign ? (v & 0x80 ? 0xff : 0) : v) << (8 * i);
  }
  return d;
}

static inline uint64_t eval_bfind(uint64_t a, struct eval_type t) {
  if (t.cls == 's' && a >> (t.bits - 1) & 1)
    a = ~a;
  for (int i = t.bits - 1; i >= 0; i--)
    if (a >> i & 1)
      return (uint64_t)i;
  return 0xffffffff;
}

/* ---- floats, in a format that holds products of doubles exactly */

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 eval_wide;
#else
typedef long double eval_wide; /* 128 bits on AArch64 */
#endif

struct eval_format {
  int digits, emin, emax, bits;
};

static inline struct eval_format eval_format(struct eval_type t) {
  if (t.bits == 64)
    return (struct eval_format){53, -1022, 1023, 64};
  if (t.bits == 32)
    return (struct eval_format){24, -126, 127, 32};
  if (t.cls == 'h')
    return (struct eval_format){8, -126, 127, 16};
  return (struct eval_format){11, -14, 15, 16};
}

static inline uint64_t eval_infinity(struct eval_format f) {
  return (uint64_t)(f.emax - f.emin + 2) << (f.digits - 1);
}

static inline bool eval_is_nan(uint64_t x, struct eval_type t) {
  struct eval_format f = eval_format(t);
  return (x & eval_mask(f.bits - 1)) > eval_infinity(f);
}

static inline eval_wide eval_value(uint64_t x, struct eval_type t) {
  struct eval_format f = eval_format(t);
  bool minus = x >> (f.bits - 1) & 1;
  x &= eval_mask(f.bits - 1);
  if (x > eval_infinity(f))
    return (eval_wide)NAN;
  if (x == eval_infinity(f))
    return minus ? -(eval_wide)INFINITY : (eval_wide)INFINITY;
  int e = (int)(x >> (f.digits - 1));
  uint64_t m = x & eval_mask(f.digits - 1);
  if (e)
    m |= (uint64_t)1 << (f.digits - 1);
  double v = ldexp((double)m, (e ? e : 1) + f.emin - 1 - (f.digits - 1));
  return (eval_wide)(minus ? -v : v);
}

struct eval_parts { /* mantissa x 2^exponent */
  bool minus, nan, inf;
  eval_u m;
  int e;
};

static inline struct eval_parts eval_parts(eval_wide v) {
  eval_u x;
  memcpy(&x, &v, sizeof x);
  int e = (int)(x >> 112 & 0x7fff);
  struct eval_parts p = {.minus = x >> 127, .m = x & (((eval_u)1 << 112) - 1)};
  p.nan = e == 0x7fff && p.m;
  p.inf = e == 0x7fff && !p.m;
  if (e)
    p.m |= (eval_u)1 << 112;
  p.e = (e ? e : 1) - 16383 - 112;
  return p;
}

/* Rounds to a format: 'n' nearest even, 'z', 'm', 'p'. */
static inline uint64_t eval_round(eval_wide v, struct eval_type t, char mode) {
  struct eval_format f = eval_format(t);
  struct eval_parts p = eval_parts(v);
  uint64_t sign = (uint64_t)p.minus << (f.bits - 1), inf = eval_infinity(f);
  if (p.nan)
    return inf + 1;
  if (p.inf)
    return sign | inf;
  if (!p.m)
    return sign;
  int top = p.e + 112; /* exponent of the leading digit, if normal */
  int unit = (top < f.emin ? f.emin : top) - (f.digits - 1), drop = unit - p.e;
  bool far = drop > 120;
  eval_u kept = far ? 0 : p.m >> drop, rest = far ? 1 : p.m - (kept << drop);
  eval_u half = far ? 0 : (eval_u)1 << (drop - 1);
  bool up = mode == 'n'   ? !far && (rest > half || (rest == half && kept & 1))
            : mode == 'm' ? p.minus && rest
            : mode == 'p' ? !p.minus && rest
                          : false;
  kept += up;
  uint64_t bits = ((uint64_t)(unit + f.digits - 1 - f.emin) << (f.digits - 1)) + (uint64_t)kept;
  bool to_inf = mode == 'n' || (mode == 'm' && p.minus) || (mode == 'p' && !p.minus);
  if (bits >= inf)
    bits = to_inf ? inf : inf - 1;
  return sign | bits;
}

/* The sum, with its last digit odd if something was lost: then a second rounding is as one. */
static inline eval_wide eval_sum(eval_wide a, eval_wide b, char mode) {
  eval_wide s = a + b, other = s - a, lost = (a - (s - other)) + (b - other);
  struct eval_parts p = eval_parts(s);
  if (p.nan || p.inf)
    return s;
  if (!p.m)
    return mode == 'm' && (eval_parts(a).minus || eval_parts(b).minus) ? -(eval_wide)0 : s;
  if (lost != 0) {
    eval_u x;
    memcpy(&x, &s, sizeof x);
    if ((lost < 0) != p.minus)
      x--;
    x |= 1;
    memcpy(&s, &x, sizeof x);
  }
  return s;
}

static inline eval_wide eval_root(eval_wide a) {
  if (!(a > 0) || eval_parts(a).inf)
    return a < 0 ? (eval_wide)NAN : a;
  eval_wide x = (eval_wide)sqrt((double)a);
  for (int i = 0; i < 3; i++)
    x = (x + a / x) / 2;
  return x;
}

/* To an integral value; 'n' ties to even. */
static inline eval_wide eval_integral(eval_wide v, char mode) {
  struct eval_parts p = eval_parts(v);
  if (p.nan || p.inf || p.e >= 0 || !p.m)
    return v;
  int drop = -p.e;
  eval_u kept = drop > 120 ? 0 : p.m >> drop;
  eval_u rest = drop > 120 ? 1 : p.m - (kept << drop);
  eval_u half = drop > 120 ? 2 : (eval_u)1 << (drop - 1);
  bool up = mode == 'n'   ? rest > half || (rest == half && kept & 1)
            : mode == 'm' ? p.minus && rest
            : mode == 'p' ? !p.minus && rest
                          : false;
  eval_wide out = (eval_wide)(kept + up);
  return p.minus ? -out : out;
}

static inline uint64_t eval_flush(uint64_t x, struct eval_type t) {
  struct eval_format f = eval_format(t);
  uint64_t sign = (uint64_t)1 << (f.bits - 1);
  return (x & ~sign) < (uint64_t)1 << (f.digits - 1) ? x & sign : x;
}

static inline uint64_t eval_float_to_int(eval_wide v, struct eval_type from, struct eval_type to,
                                         char mode) {
  if (eval_parts(v).nan) /* PTX ISA 9.0, cvt */
    return from.bits == 64 || to.bits == 64 ? (uint64_t)1 << (to.bits - 1) : 0;
  v = eval_integral(v, mode);
  if (v >= (eval_wide)eval_most(to))
    return eval_fit(eval_most(to), to.bits);
  if (v <= (eval_wide)eval_least(to))
    return eval_fit(eval_least(to), to.bits);
  return eval_fit((eval_s)v, to.bits);
}

#endif
