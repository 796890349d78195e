#include "sim/xray/exec_bits.h"

#include "sim/xray/exec_rare.h"
#include "sim/xray/lanes.h"

/* D: type of the destination; A, C: of the lanes read; x, y, z: their values. */
#define OP1(name, D, A, EXPR)                                                                      \
  static void name(void *d, const void *a, const void *b, const void *c) {                         \
    (void)b, (void)c;                                                                              \
    D *out = d;                                                                                    \
    const A *pa = a;                                                                               \
    LANES_FREE for (int l = 0; l < INSN_LANES; l++) {                                              \
      A x = pa[l];                                                                                 \
      out[l] = (D)(EXPR);                                                                          \
    }                                                                                              \
  }
#define OP3(name, D, A, B, C, EXPR)                                                                \
  static void name(void *d, const void *a, const void *b, const void *c) {                         \
    D *out = d;                                                                                    \
    const A *pa = a;                                                                               \
    const B *pb = b;                                                                               \
    const C *pc = c;                                                                               \
    LANES_FREE for (int l = 0; l < INSN_LANES; l++) {                                              \
      A x = pa[l];                                                                                 \
      B y = pb[l];                                                                                 \
      C z = pc[l];                                                                                 \
      (void)z;                                                                                     \
      out[l] = (D)(EXPR);                                                                          \
    }                                                                                              \
  }
#define U32 lane_u32
#define U64 lane_u64

/* ---- dot products */

/* Part i of x as a number of `bits` bits. */
static int64_t part(uint32_t x, int i, int bits, bool is_signed) {
  uint32_t v = x >> (i * bits) & ((1u << bits) - 1);
  return is_signed && v >> (bits - 1) ? (int64_t)v - (1 << bits) : (int64_t)v;
}

static uint32_t dot4(uint32_t x, uint32_t y, uint32_t z, bool sx, bool sy) {
  for (int i = 0; i < 4; i++)
    z += (uint32_t)(part(x, i, 8, sx) * part(y, i, 8, sy));
  return z;
}
/* Two halves of x with the lower or the upper two bytes of y. */
static uint32_t dot2(uint32_t x, uint32_t y, uint32_t z, bool sx, bool sy, int from) {
  for (int i = 0; i < 2; i++)
    z += (uint32_t)(part(x, i, 16, sx) * part(y, from + i, 8, sy));
  return z;
}
#define DOT(t, sx, sy)                                                                             \
  OP3(dp4a_##t, U32, U32, U32, U32, dot4(x, y, z, sx, sy))                                         \
  OP3(dp2a_lo_##t, U32, U32, U32, U32, dot2(x, y, z, sx, sy, 0))                                   \
  OP3(dp2a_hi_##t, U32, U32, U32, U32, dot2(x, y, z, sx, sy, 2))
DOT(uu, false, false)
DOT(us, false, true)
DOT(su, true, false)
DOT(ss, true, true)

/* ---- sums of differences */

#define DISTANCE(x, y) ((x) > (y) ? (x) - (y) : (y) - (x))
OP3(sad_u16, U32, U32, U32, U32, DISTANCE(x & 0xffff, y & 0xffff) + z)
OP3(sad_s16, U32, U32, U32, U32, DISTANCE((int16_t)x, (int16_t)y) + (int)z)
OP3(sad_u32, U32, U32, U32, U32, DISTANCE(x, y) + z)
OP3(sad_s32, U32, U32, U32, U32, (int32_t)x > (int32_t)y ? x - y + z : y - x + z)
OP3(sad_u64, U64, U64, U64, U64, DISTANCE(x, y) + z)
OP3(sad_s64, U64, U64, U64, U64, (int64_t)x > (int64_t)y ? x - y + z : y - x + z)

static uint32_t distances(uint32_t x, uint32_t y, bool sum) {
  uint32_t v = 0;
  for (int i = 0; i < 4; i++) {
    int64_t a = part(x, i, 8, false), b = part(y, i, 8, false);
    uint32_t n = (uint32_t)DISTANCE(a, b);
    v += sum ? n : n << (8 * i);
  }
  return v;
}
OP3(vabsdiff4, U32, U32, U32, U32, distances(x, y, false))
OP3(vabsdiff4_add, U32, U32, U32, U32, distances(x, y, true) + z)

/* ---- bits */

static uint32_t first_bit(uint64_t x, int bits, bool is_signed, bool shift) {
  if (bits == 32)
    x = is_signed ? (uint64_t)(int64_t)(int32_t)x : (uint32_t)x;
  if (is_signed && (int64_t)x < 0)
    x = ~x;
  if (!x)
    return UINT32_MAX;
  int at = 63 - __builtin_clzll(x);
  return (uint32_t)(shift ? bits - 1 - at : at);
}
OP1(bfind_u32, U32, U32, first_bit(x, 32, false, false))
OP1(bfind_s32, U32, U32, first_bit(x, 32, true, false))
OP1(bfind_u64, U32, U64, first_bit(x, 64, false, false))
OP1(bfind_s64, U32, U64, first_bit(x, 64, true, false))
OP1(shift_u32, U32, U32, first_bit(x, 32, false, true))
OP1(shift_s32, U32, U32, first_bit(x, 32, true, true))
OP1(shift_u64, U32, U64, first_bit(x, 64, false, true))
OP1(shift_s64, U32, U64, first_bit(x, 64, true, true))

static uint64_t reversed(uint64_t x) {
  uint64_t v = 0;
  for (int i = 0; i < 64; i++)
    v |= (x >> i & 1) << (63 - i);
  return v;
}
OP1(brev_64, U64, U64, reversed(x))
OP1(cnot_16, U32, U32, (x & 0xffff) == 0)
OP1(cnot_64, U64, U64, x == 0)

static uint64_t field(uint64_t x, uint32_t at, uint32_t n, bool is_signed) {
  at &= 0xff;
  n &= 0xff;
  uint64_t sign = is_signed && x >> 63 ? UINT64_MAX : 0;
  if (n == 0)
    return 0;
  uint64_t v = at > 63 ? sign : at ? x >> at | sign << (64 - at) : x;
  if (n > 63)
    return v;
  uint64_t low = ((uint64_t)1 << n) - 1;
  return is_signed && v >> (n - 1) & 1 ? v | ~low : v & low;
}
OP3(bfe_u64, U64, U64, U32, U32, field(x, y, z, false))
OP3(bfe_s64, U64, U64, U32, U32, field(x, y, z, true))

/* The n-th set bit of mask from base on: n below 0 looks down. */
static uint32_t nth_bit(uint32_t mask, uint32_t base, int32_t n) {
  int step = n < 0 ? -1 : 1;
  int64_t left = n < 0 ? -(int64_t)n - 1 : (int64_t)n - 1;
  if (base > 31 || n == 0)
    return base <= 31 && mask >> base & 1 ? base : UINT32_MAX;
  for (int at = (int)base; at >= 0 && at < 32; at += step)
    if (mask >> at & 1 && left-- == 0)
      return (uint32_t)at;
  return UINT32_MAX;
}
/* n ones from bit `at` on; what does not fit is cut off. */
static uint32_t ones(uint32_t at, uint32_t n) {
  uint64_t field = n > 31 ? UINT32_MAX : ((uint64_t)1 << n) - 1;
  return at > 31 ? 0 : (uint32_t)(field << at);
}
OP3(bmsk_clamp, U32, U32, U32, U32, ones(x, y))
OP3(fns_32, U32, U32, U32, U32, nth_bit(x, y, (int32_t)z))

/* ---- 24 and 16 bits */

static int64_t low24(uint32_t x, bool is_signed) {
  int64_t v = x & 0xffffff;
  return is_signed && v >> 23 ? v - (1 << 24) : v;
}
#define MUL24(t, s)                                                                                \
  OP3(mul24_lo_##t, U32, U32, U32, U32, low24(x, s) * low24(y, s))                                 \
  OP3(mul24_hi_##t, U32, U32, U32, U32, (low24(x, s) * low24(y, s)) >> 16)                         \
  OP3(mad24_lo_##t, U32, U32, U32, U32, (uint32_t)(low24(x, s) * low24(y, s)) + z)                 \
  OP3(mad24_hi_##t, U32, U32, U32, U32, (uint32_t)((low24(x, s) * low24(y, s)) >> 16) + z)
MUL24(u32, false)
MUL24(s32, true)
OP3(mulhi_u16, U32, U32, U32, U32, ((x & 0xffff) * (y & 0xffff)) >> 16)
OP3(mulhi_s16, U32, U32, U32, U32, ((int16_t)x * (int16_t)y) >> 16)
OP3(madhi_u16, U32, U32, U32, U32, (((x & 0xffff) * (y & 0xffff)) >> 16) + z)
OP3(madhi_s16, U32, U32, U32, U32, (uint32_t)(((int16_t)x * (int16_t)y) >> 16) + z)
OP3(madwide_u16, U32, U32, U32, U32, (x & 0xffff) * (y & 0xffff) + z)
OP3(madwide_s16, U32, U32, U32, U32, (uint32_t)((int16_t)x *(int16_t)y) + z)

enum pair_op { PAIR_ADD, PAIR_MIN, PAIR_MAX, PAIR_MIN_RELU, PAIR_MAX_RELU };
static uint32_t paired(uint32_t x, uint32_t y, enum pair_op op, bool is_signed) {
  uint32_t v = 0;
  for (int i = 0; i < 2; i++) {
    int64_t a = part(x, i, 16, is_signed), b = part(y, i, 16, is_signed);
    int64_t r = op == PAIR_ADD                          ? a + b
                : op == PAIR_MIN || op == PAIR_MIN_RELU ? (a < b ? a : b)
                                                        : (a > b ? a : b);
    if (op >= PAIR_MIN_RELU && r < 0)
      r = 0;
    v |= ((uint32_t)r & 0xffff) << (16 * i);
  }
  return v;
}
OP3(add_pair, U32, U32, U32, U32, paired(x, y, PAIR_ADD, false))
OP3(min_u16x2, U32, U32, U32, U32, paired(x, y, PAIR_MIN, false))
OP3(max_u16x2, U32, U32, U32, U32, paired(x, y, PAIR_MAX, false))
OP3(min_s16x2, U32, U32, U32, U32, paired(x, y, PAIR_MIN, true))
OP3(max_s16x2, U32, U32, U32, U32, paired(x, y, PAIR_MAX, true))
OP3(min_relu_s16x2, U32, U32, U32, U32, paired(x, y, PAIR_MIN_RELU, true))
OP3(max_relu_s16x2, U32, U32, U32, U32, paired(x, y, PAIR_MAX_RELU, true))

static int32_t above_zero(int32_t v) { return v < 0 ? 0 : v; }
OP3(min_relu_s32, U32, U32, U32, U32, above_zero((int32_t)((int32_t)x < (int32_t)y ? x : y)))
OP3(max_relu_s32, U32, U32, U32, U32, above_zero((int32_t)((int32_t)x > (int32_t)y ? x : y)))

OP3(slct_s32, U32, U32, U32, U32, (int32_t)z >= 0 ? x : y)
OP3(slct_f32, U32, U32, U32, lane_f32, z >= 0 ? x : y)
OP3(slct_wide_s32, U64, U64, U64, U32, (int32_t)z >= 0 ? x : y)
OP3(slct_wide_f32, U64, U64, U64, lane_f32, z >= 0 ? x : y)

insn_alu *exec_bits_slct(bool wide, bool of_float) {
  return wide ? (of_float ? slct_wide_f32 : slct_wide_s32) : of_float ? slct_f32 : slct_s32;
}

#define DOT_ROWS(a, b, t)                                                                          \
  {"dp4a." a "." b, "4:444", dp4a_##t}, {"dp2a.lo." a "." b, "4:444", dp2a_lo_##t}, {              \
    "dp2a.hi." a "." b, "4:444", dp2a_hi_##t                                                       \
  }
#define FIRST(t, sig)                                                                              \
  {"bfind." #t, sig, bfind_##t}, { "bfind.shiftamt." #t, sig, shift_##t }
#define MUL24_ROWS(t)                                                                              \
  {"mul24.lo." #t, "4:44", mul24_lo_##t}, {"mul24.hi." #t, "4:44", mul24_hi_##t},                  \
      {"mad24.lo." #t, "4:444", mad24_lo_##t}, {                                                   \
    "mad24.hi." #t, "4:444", mad24_hi_##t                                                          \
  }

static const struct exec_alu_op table[] = {
    DOT_ROWS("u32", "u32", uu),
    DOT_ROWS("u32", "s32", us),
    DOT_ROWS("s32", "u32", su),
    DOT_ROWS("s32", "s32", ss),
    {"sad.u16", "4:444", sad_u16},
    {"sad.s16", "4:444", sad_s16},
    {"sad.u32", "4:444", sad_u32},
    {"sad.s32", "4:444", sad_s32},
    {"sad.u64", "8:888", sad_u64},
    {"sad.s64", "8:888", sad_s64},
    {"vabsdiff4.u32.u32.u32", "4:444", vabsdiff4},
    {"vabsdiff4.u32.u32.u32.add", "4:444", vabsdiff4_add},
    FIRST(u32, "4:4"),
    FIRST(s32, "4:4"),
    FIRST(u64, "4:8"),
    FIRST(s64, "4:8"),
    {"brev.b64", "8:8", brev_64},
    {"cnot.b16", "4:4", cnot_16},
    {"cnot.b64", "8:8", cnot_64},
    {"bfe.u64", "8:844", bfe_u64},
    {"bfe.s64", "8:844", bfe_s64},
    {"fns.b32", "4:444", fns_32},
    {"bmsk.clamp.b32", "4:44", bmsk_clamp},
    MUL24_ROWS(u32),
    MUL24_ROWS(s32),
    {"mul.hi.u16", "4:44", mulhi_u16},
    {"mul.hi.s16", "4:44", mulhi_s16},
    {"mad.hi.u16", "4:444", madhi_u16},
    {"mad.hi.s16", "4:444", madhi_s16},
    {"mad.wide.u16", "4:444", madwide_u16},
    {"mad.wide.s16", "4:444", madwide_s16},
    {"add.u16x2", "4:44", add_pair},
    {"add.s16x2", "4:44", add_pair},
    {"min.u16x2", "4:44", min_u16x2},
    {"max.u16x2", "4:44", max_u16x2},
    {"min.s16x2", "4:44", min_s16x2},
    {"max.s16x2", "4:44", max_s16x2},
    {"min.relu.s16x2", "4:44", min_relu_s16x2},
    {"max.relu.s16x2", "4:44", max_relu_s16x2},
    {"min.s16x2.relu", "4:44", min_relu_s16x2},
    {"max.s16x2.relu", "4:44", max_relu_s16x2},
    {"min.relu.s32", "4:44", min_relu_s32},
    {"max.relu.s32", "4:44", max_relu_s32},
};

const struct exec_alu_op *exec_bits_find(struct slice name) {
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (ptx_lex_is(name, table[i].name))
      return &table[i];
  return exec_rare_find(name);
}
