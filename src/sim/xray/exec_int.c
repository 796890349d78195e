#include "sim/xray/exec_int.h"

#include "sim/xray/exec_bits.h"
#include "sim/xray/lanes.h"

__extension__ typedef __int128 wide_s;
__extension__ typedef unsigned __int128 wide_u;

/* D: type of the destination; T: what each source is cast to before EXPR; A, B, C: the lanes read.
 */
#define OP1(name, D, A, T, EXPR)                                                                   \
  static LANES_HOT void name(void *d, const void *a, const void *b, const void *c) {               \
    (void)b, (void)c;                                                                              \
    D *out = d;                                                                                    \
    const A *pa = a;                                                                               \
    LANES_FREE for (int l = 0; l < INSN_LANES; l++) {                                              \
      T x = (T)pa[l];                                                                              \
      out[l] = (D)(EXPR);                                                                          \
    }                                                                                              \
  }
#define OP2(name, D, A, B, T, EXPR)                                                                \
  static LANES_HOT void name(void *d, const void *a, const void *b, const void *c) {               \
    (void)c;                                                                                       \
    D *out = d;                                                                                    \
    const A *pa = a;                                                                               \
    const B *pb = b;                                                                               \
    LANES_FREE for (int l = 0; l < INSN_LANES; l++) {                                              \
      T x = (T)pa[l], y = (T)pb[l];                                                                \
      out[l] = (D)(EXPR);                                                                          \
    }                                                                                              \
  }
#define OP3(name, D, A, C, T, EXPR)                                                                \
  static LANES_HOT void name(void *d, const void *a, const void *b, const void *c) {               \
    D *out = d;                                                                                    \
    const A *pa = a, *pb = b;                                                                      \
    const C *pc = c;                                                                               \
    LANES_FREE for (int l = 0; l < INSN_LANES; l++) {                                              \
      T x = (T)pa[l], y = (T)pb[l];                                                                \
      C z = pc[l];                                                                                 \
      out[l] = (D)(EXPR);                                                                          \
    }                                                                                              \
  }

#define U32 lane_u32
#define U64 lane_u64

OP2(add_32, U32, U32, U32, uint32_t, x + y)
OP2(sub_32, U32, U32, U32, uint32_t, x - y)
OP2(mul_32, U32, U32, U32, uint32_t, x *y)
OP3(mad_32, U32, U32, U32, uint32_t, x *y + z)
OP2(add_64, U64, U64, U64, uint64_t, x + y)
OP2(sub_64, U64, U64, U64, uint64_t, x - y)
OP2(mul_64, U64, U64, U64, uint64_t, x *y)
OP3(mad_64, U64, U64, U64, uint64_t, x *y + z)

OP2(mulhi_s32, U32, U32, U32, int32_t, ((int64_t)x * y) >> 32)
OP2(mulhi_u32, U32, U32, U32, uint32_t, ((uint64_t)x * y) >> 32)
OP3(madhi_s32, U32, U32, U32, int32_t, (uint32_t)(((int64_t)x * y) >> 32) + z)
OP3(madhi_u32, U32, U32, U32, uint32_t, (uint32_t)(((uint64_t)x * y) >> 32) + z)
OP2(mulhi_s64, U64, U64, U64, int64_t, ((wide_s)x * y) >> 64)
OP2(mulhi_u64, U64, U64, U64, uint64_t, ((wide_u)x * y) >> 64)
OP2(mulwide_s32, U64, U32, U32, int32_t, (int64_t)x *y)
OP2(mulwide_u32, U64, U32, U32, uint32_t, (uint64_t)x *y)
OP3(madwide_s32, U64, U32, U64, int32_t, (uint64_t)((int64_t)x *y) + z)
OP3(madwide_u32, U64, U32, U64, uint32_t, (uint64_t)x *y + z)
OP2(mulwide_s16, U32, U32, U32, int16_t, x *y)
OP2(mulwide_u16, U32, U32, U32, uint16_t, (uint32_t)x *y)

/* Division by zero has no defined value on the hardware either. */
static int32_t quot_s32(int32_t x, int32_t y) {
  return y == 0 ? -1 : y == -1 ? (int32_t) - (uint32_t)x : x / y;
}
static int32_t rest_s32(int32_t x, int32_t y) { return y == 0 ? x : y == -1 ? 0 : x % y; }
static int64_t quot_s64(int64_t x, int64_t y) {
  return y == 0 ? -1 : y == -1 ? (int64_t) - (uint64_t)x : x / y;
}
static int64_t rest_s64(int64_t x, int64_t y) { return y == 0 ? x : y == -1 ? 0 : x % y; }
OP2(div_s32, U32, U32, U32, int32_t, quot_s32(x, y))
OP2(rem_s32, U32, U32, U32, int32_t, rest_s32(x, y))
OP2(div_u32, U32, U32, U32, uint32_t, y ? x / y : UINT32_MAX)
OP2(rem_u32, U32, U32, U32, uint32_t, y ? x % y : x)
OP2(div_s64, U64, U64, U64, int64_t, quot_s64(x, y))
OP2(rem_s64, U64, U64, U64, int64_t, rest_s64(x, y))
OP2(div_u64, U64, U64, U64, uint64_t, y ? x / y : UINT64_MAX)
OP2(rem_u64, U64, U64, U64, uint64_t, y ? x % y : x)
OP2(div_s16, U32, U32, U32, int16_t, quot_s32(x, y))
OP2(rem_s16, U32, U32, U32, int16_t, rest_s32(x, y))
OP2(div_u16, U32, U32, U32, uint16_t, y ? x / y : UINT16_MAX)
OP2(rem_u16, U32, U32, U32, uint16_t, y ? x % y : x)

OP2(min_s32, U32, U32, U32, int32_t, x < y ? x : y)
OP2(max_s32, U32, U32, U32, int32_t, x > y ? x : y)
OP2(min_u32, U32, U32, U32, uint32_t, x < y ? x : y)
OP2(max_u32, U32, U32, U32, uint32_t, x > y ? x : y)
OP2(min_s64, U64, U64, U64, int64_t, x < y ? x : y)
OP2(max_s64, U64, U64, U64, int64_t, x > y ? x : y)
OP2(min_u64, U64, U64, U64, uint64_t, x < y ? x : y)
OP2(max_u64, U64, U64, U64, uint64_t, x > y ? x : y)
OP2(min_s16, U32, U32, U32, int16_t, x < y ? x : y)
OP2(max_s16, U32, U32, U32, int16_t, x > y ? x : y)
OP2(min_u16, U32, U32, U32, uint16_t, x < y ? x : y)
OP2(max_u16, U32, U32, U32, uint16_t, x > y ? x : y)
OP1(neg_32, U32, U32, uint32_t, -x)
OP1(neg_64, U64, U64, uint64_t, -x)
OP1(abs_s32, U32, U32, int32_t, x < 0 ? -(uint32_t)x : (uint32_t)x)
OP1(abs_s64, U64, U64, int64_t, x < 0 ? -(uint64_t)x : (uint64_t)x)
OP1(abs_s16, U32, U32, int16_t, x < 0 ? -x : x)

OP2(and_32, U32, U32, U32, uint32_t, x &y)
OP2(or_32, U32, U32, U32, uint32_t, x | y)
OP2(xor_32, U32, U32, U32, uint32_t, x ^ y)
OP1(not_32, U32, U32, uint32_t, ~x)
OP1(cnot_32, U32, U32, uint32_t, x == 0)
OP2(and_64, U64, U64, U64, uint64_t, x &y)
OP2(or_64, U64, U64, U64, uint64_t, x | y)
OP2(xor_64, U64, U64, U64, uint64_t, x ^ y)
OP1(not_64, U64, U64, uint64_t, ~x)

/* A shift by the width or more leaves zeros, or copies of the sign. */
OP2(shl_32, U32, U32, U32, uint32_t, y > 31 ? 0 : x << (y & 31))
OP2(shr_u32, U32, U32, U32, uint32_t, y > 31 ? 0 : x >> (y & 31))
OP2(shr_s32, U32, U32, U32, int32_t, x >> ((uint32_t)y > 31 ? 31 : y))
OP2(shl_64, U64, U64, U32, uint64_t, y > 63 ? 0 : x << (y & 63))
OP2(shr_u64, U64, U64, U32, uint64_t, y > 63 ? 0 : x >> (y & 63))
OP2(shr_s64, U64, U64, U32, int64_t, x >> ((uint64_t)y > 63 ? 63 : y))
OP2(shl_16, U32, U32, U32, uint32_t, y > 15 ? 0 : x << (y & 15))
OP2(shr_u16, U32, U32, U32, uint32_t, y > 15 ? 0 : (x & 0xffff) >> (y & 15))
OP2(shr_s16, U32, U32, U32, uint32_t, (int16_t)x >> (y > 15 ? 15 : y))

static uint32_t funnel(uint32_t lo, uint32_t hi, uint32_t n, bool left) {
  uint64_t v = (uint64_t)hi << 32 | lo;
  return left ? (uint32_t)((v << n) >> 32) : (uint32_t)(v >> n);
}
OP3(shf_l_wrap, U32, U32, U32, uint32_t, funnel(x, y, z & 31, true))
OP3(shf_r_wrap, U32, U32, U32, uint32_t, funnel(x, y, z & 31, false))
OP3(shf_l_clamp, U32, U32, U32, uint32_t, funnel(x, y, z < 32 ? z : 32, true))
OP3(shf_r_clamp, U32, U32, U32, uint32_t, funnel(x, y, z < 32 ? z : 32, false))

static uint32_t reversed(uint32_t x) {
  uint32_t v = 0;
  for (int i = 0; i < 32; i++)
    v |= (x >> i & 1) << (31 - i);
  return v;
}
static uint32_t permuted(uint32_t a, uint32_t b, uint32_t sel) {
  uint64_t bytes = (uint64_t)b << 32 | a;
  uint32_t v = 0;
  for (int i = 0; i < 4; i++) {
    uint32_t s = sel >> (4 * i) & 15;
    uint32_t byte = (uint32_t)(bytes >> (8 * (s & 7))) & 0xff;
    if (s & 8)
      byte = byte & 0x80 ? 0xff : 0;
    v |= byte << (8 * i);
  }
  return v;
}
static uint32_t field(uint32_t x, uint32_t at, uint32_t n, bool sign) {
  at &= 0xff;
  n &= 0xff;
  if (n == 0)
    return 0;
  uint64_t wide = sign && x >> 31 ? 0xffffffff00000000u | x : x;
  if (at > 31)
    return sign && x >> 31 ? UINT32_MAX : 0;
  wide = sign ? (uint64_t)((int64_t)wide >> at) : wide >> at;
  if (n > 31)
    return (uint32_t)wide;
  uint32_t v = (uint32_t)wide & ((1u << n) - 1);
  return sign && v >> (n - 1) & 1 ? v | ~((1u << n) - 1) : v;
}
OP1(popc_32, U32, U32, uint32_t, __builtin_popcount(x))
OP1(popc_64, U32, U64, uint64_t, __builtin_popcountll(x))
OP1(clz_32, U32, U32, uint32_t, x ? __builtin_clz(x) : 32)
OP1(clz_64, U32, U64, uint64_t, x ? __builtin_clzll(x) : 64)
OP1(brev_32, U32, U32, uint32_t, reversed(x))
OP3(prmt_32, U32, U32, U32, uint32_t, permuted(x, y, z))
OP3(bfe_u32, U32, U32, U32, uint32_t, field(x, y, z, false))
OP3(bfe_s32, U32, U32, U32, uint32_t, field(x, y, z, true))

#define ROW3(op, t1, t2, t3, sig, fn)                                                              \
  {op "." t1, sig, fn}, {op "." t2, sig, fn}, { op "." t3, sig, fn }
#define ROW2(op, t1, t2, sig, fn)                                                                  \
  {op "." t1, sig, fn}, { op "." t2, sig, fn }
/* The low half does not depend on the sign; 16-bit registers lie in 32-bit lanes. */
#define BOTH(op, fn)                                                                               \
  ROW2(op, "s16", "u16", "4:44", fn##_32), ROW3(op, "s32", "u32", "b32", "4:44", fn##_32),         \
      ROW3(op, "s64", "u64", "b64", "8:88", fn##_64)
#define SIGNED(op, fn)                                                                             \
  {op ".s16", "4:44", fn##_s16}, {op ".u16", "4:44", fn##_u16}, {op ".s32", "4:44", fn##_s32},     \
      {op ".u32", "4:44", fn##_u32}, {op ".s64", "8:88", fn##_s64}, {                              \
    op ".u64", "8:88", fn##_u64                                                                    \
  }
#define BITS(op, fn)                                                                               \
  ROW2(op, "b16", "b32", "4:44", fn##_32), { op ".b64", "8:88", fn##_64 }

static const struct exec_alu_op table[] = {
    BOTH("add", add),
    BOTH("sub", sub),
    BOTH("mul.lo", mul),
    ROW2("mad.lo", "s16", "u16", "4:444", mad_32),
    ROW2("mad.lo", "s32", "u32", "4:444", mad_32),
    ROW2("mad.lo", "s64", "u64", "8:888", mad_64),
    {"mul.hi.s32", "4:44", mulhi_s32},
    {"mul.hi.u32", "4:44", mulhi_u32},
    {"mad.hi.s32", "4:444", madhi_s32},
    {"mad.hi.u32", "4:444", madhi_u32},
    {"mul.hi.s64", "8:88", mulhi_s64},
    {"mul.hi.u64", "8:88", mulhi_u64},
    {"mul.wide.s32", "8:44", mulwide_s32},
    {"mul.wide.u32", "8:44", mulwide_u32},
    {"mad.wide.s32", "8:448", madwide_s32},
    {"mad.wide.u32", "8:448", madwide_u32},
    {"mul.wide.s16", "4:44", mulwide_s16},
    {"mul.wide.u16", "4:44", mulwide_u16},
    SIGNED("div", div),
    SIGNED("rem", rem),
    SIGNED("min", min),
    SIGNED("max", max),
    ROW2("neg", "s16", "s32", "4:4", neg_32),
    {"neg.s64", "8:8", neg_64},
    {"abs.s16", "4:4", abs_s16},
    {"abs.s32", "4:4", abs_s32},
    {"abs.s64", "8:8", abs_s64},
    BITS("and", and),
    BITS("or", or),
    BITS("xor", xor),
    ROW2("not", "b16", "b32", "4:4", not_32),
    {"not.b64", "8:8", not_64},
    {"cnot.b32", "4:4", cnot_32},
    {"shl.b16", "4:44", shl_16},
    {"shl.b32", "4:44", shl_32},
    {"shl.b64", "8:84", shl_64},
    ROW2("shr", "u16", "b16", "4:44", shr_u16),
    {"shr.s16", "4:44", shr_s16},
    ROW2("shr", "u32", "b32", "4:44", shr_u32),
    {"shr.s32", "4:44", shr_s32},
    ROW2("shr", "u64", "b64", "8:84", shr_u64),
    {"shr.s64", "8:84", shr_s64},
    {"shf.l.wrap.b32", "4:444", shf_l_wrap},
    {"shf.r.wrap.b32", "4:444", shf_r_wrap},
    {"shf.l.clamp.b32", "4:444", shf_l_clamp},
    {"shf.r.clamp.b32", "4:444", shf_r_clamp},
    {"popc.b32", "4:4", popc_32},
    {"popc.b64", "4:8", popc_64},
    {"clz.b32", "4:4", clz_32},
    {"clz.b64", "4:8", clz_64},
    {"brev.b32", "4:4", brev_32},
    {"prmt.b32", "4:444", prmt_32},
    {"bfe.u32", "4:444", bfe_u32},
    {"bfe.s32", "4:444", bfe_s32},
};

const struct exec_alu_op *exec_int_find(struct slice name) {
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (ptx_lex_is(name, table[i].name))
      return &table[i];
  return exec_bits_find(name);
}
