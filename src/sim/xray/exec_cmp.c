#include "sim/xray/exec_cmp.h"

#include "sim/xray/lanes.h"

#define CMP(name, L, T, EXPR)                                                                      \
  static LANES_HOT uint32_t name(const void *a, const void *b) {                                   \
    const L *pa = a, *pb = b;                                                                      \
    uint32_t mask = 0;                                                                             \
    for (int l = 0; l < INSN_LANES; l++) {                                                         \
      T x = (T)pa[l], y = (T)pb[l];                                                                \
      mask |= (uint32_t)(EXPR) << l;                                                               \
    }                                                                                              \
    return mask;                                                                                   \
  }
#define ORDER(t, L, T)                                                                             \
  CMP(lt_##t, L, T, x < y)                                                                         \
  CMP(le_##t, L, T, x <= y) CMP(gt_##t, L, T, x > y) CMP(ge_##t, L, T, x >= y)
#define EQUAL(t, L, T) CMP(eq_##t, L, T, x == y) CMP(ne_##t, L, T, x != y)
#define UNORDERED(t, L, T)                                                                         \
  EQUAL(t, L, T)                                                                                   \
  ORDER(t, L, T)                                                                                   \
  CMP(ltu_##t, L, T, !(x >= y)) CMP(leu_##t, L, T, !(x > y)) CMP(gtu_##t, L, T, !(x <= y))         \
      CMP(geu_##t, L, T, !(x < y)) CMP(equ_##t, L, T, !(x < y || x > y))                           \
          CMP(one_##t, L, T, x<y || x> y) CMP(num_##t, L, T, x == x && y == y)                     \
              CMP(nan_##t, L, T, x != x || y != y)

EQUAL(16, lane_u32, uint16_t)
EQUAL(32, lane_u32, uint32_t)
EQUAL(64, lane_u64, uint64_t)
ORDER(s16, lane_u32, int16_t)
ORDER(u16, lane_u32, uint16_t)
ORDER(s32, lane_u32, int32_t)
ORDER(u32, lane_u32, uint32_t)
ORDER(s64, lane_u64, int64_t)
ORDER(u64, lane_u64, uint64_t)
UNORDERED(f32, lane_f32, float)
UNORDERED(f64, lane_f64, double)

struct row {
  const char *cmp, *types;
  int bytes;
  insn_cmp *fn;
};
#define EQUALS(n, bytes)                                                                           \
  {"eq", ".b" #n ".s" #n ".u" #n, bytes, eq_##n}, { "ne", ".b" #n ".s" #n ".u" #n, bytes, ne_##n }
#define ORDERS(t, bytes)                                                                           \
  {"lt", "." #t, bytes, lt_##t}, {"le", "." #t, bytes, le_##t}, {"gt", "." #t, bytes, gt_##t},     \
      {"ge", "." #t, bytes, ge_##t}, {"lo", "." #t, bytes, lt_##t}, {"ls", "." #t, bytes, le_##t}, \
      {"hi", "." #t, bytes, gt_##t}, {                                                             \
    "hs", "." #t, bytes, ge_##t                                                                    \
  }
/* "ne" of floats is false where one is a NaN; the plain C comparison is "neu". */
#define FLOATS(t, bytes)                                                                           \
  {"eq", "." #t, bytes, eq_##t}, {"neu", "." #t, bytes, ne_##t}, {"ne", "." #t, bytes, one_##t},   \
      {"equ", "." #t, bytes, equ_##t}, {"ltu", "." #t, bytes, ltu_##t},                            \
      {"leu", "." #t, bytes, leu_##t}, {"gtu", "." #t, bytes, gtu_##t},                            \
      {"geu", "." #t, bytes, geu_##t}, {"num", "." #t, bytes, num_##t},                            \
      {"nan", "." #t, bytes, nan_##t}, ORDERS(t, bytes)

static const struct row table[] = {
    EQUALS(16, 4),  EQUALS(32, 4),  EQUALS(64, 8),  ORDERS(s16, 4), ORDERS(u16, 4), ORDERS(s32, 4),
    ORDERS(u32, 4), ORDERS(s64, 8), ORDERS(u64, 8), FLOATS(f32, 4), FLOATS(f64, 8),
};

/* True if type (".s32") is one of the four-letter words of types. */
static bool type_among(struct slice type, const char *types) {
  for (; type.n == 4 && *types; types += 4)
    if (ptx_lex_is(type, (const char[]){types[0], types[1], types[2], types[3], '\0'}))
      return true;
  return false;
}

insn_cmp *exec_cmp_find(struct slice cmp, struct slice type, int *bytes) {
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (ptx_lex_is(cmp, table[i].cmp) && type_among(type, table[i].types)) {
      *bytes = table[i].bytes;
      return table[i].fn;
    }
  return 0;
}
