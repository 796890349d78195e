#include "sim/xray/exec_misc.h"

#include "sim/xray/exec_blend.h"
#include "sim/xray/exec_warp.h"
#include "sim/xray/lanes.h"
#include "sim/xray/memory.h"
#include <math.h>
#include <string.h>

__extension__ typedef __int128 wide_s;
__extension__ typedef unsigned __int128 wide_u;

static uint64_t lane_value(const struct machine *m, const struct warp *w, insn_slot s, int lane,
                           size_t bytes) {
  uint64_t v = 0;
  memcpy(&v, machine_lanes(m, w, s) + (size_t)lane * bytes, bytes);
  return v;
}

/* ---- add.cc and the like: a flag for each lane */

static uint64_t product(const struct insn *in, uint64_t a, uint64_t b, int bits) {
  wide_u p = in->sub & CARRY_SIGNED ? (wide_u)(bits == 32 ? (wide_s)(int32_t)a * (int32_t)b
                                                          : (wide_s)(int64_t)a * (int64_t)b)
                                    : (wide_u)a * b;
  return (uint64_t)((in->sub & CARRY_OP) == CARRY_MAD_HI ? p >> bits : p);
}

static void carry(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  size_t bytes = in->dst_bytes;
  int bits = (int)bytes * 8;
  uint64_t all = bits == 64 ? UINT64_MAX : UINT32_MAX;
  uint32_t flags = 0;
  for (uint32_t left = mask; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    uint64_t a = lane_value(m, w, in->a, l, bytes), b = lane_value(m, w, in->b, l, bytes);
    uint64_t flag = in->sub & CARRY_READS ? w->carry >> l & 1 : 0;
    wide_u v;
    if ((in->sub & CARRY_OP) == CARRY_SUB)
      v = (wide_u)a - b - flag; /* a borrow fills all bits above */
    else if ((in->sub & CARRY_OP) == CARRY_ADD)
      v = (wide_u)a + b + flag;
    else
      v = (wide_u)(product(in, a, b, bits) & all) + lane_value(m, w, in->c, l, bytes) + flag;
    flags |= (uint32_t)(v >> bits & 1) << l;
    uint64_t out = (uint64_t)v;
    memcpy(m->scratch + (size_t)l * bytes, &out, bytes);
  }
  if (in->sub & CARRY_WRITES)
    w->carry = (w->carry & ~mask) | flags;
  exec_blend(machine_lanes(m, w, in->dst), m->scratch, mask, in->dst_bytes);
}

/* ---- the rest */

static void lop3(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  const lane_u32 *a = (const lane_u32 *)machine_lanes(m, w, in->a);
  const lane_u32 *b = (const lane_u32 *)machine_lanes(m, w, in->b);
  const lane_u32 *c = (const lane_u32 *)machine_lanes(m, w, in->c);
  lane_u32 *out = (lane_u32 *)m->scratch;
  for (int l = 0; l < INSN_LANES; l++) {
    uint32_t v = 0;
    for (int i = 0; i < 8; i++) /* bit i of the table: a = bit 2 of i, b = bit 1, c = bit 0 */
      if (in->offset >> i & 1)
        v |= (i & 4 ? a[l] : ~a[l]) & (i & 2 ? b[l] : ~b[l]) & (i & 1 ? c[l] : ~c[l]);
    out[l] = v;
  }
  exec_blend(machine_lanes(m, w, in->dst), out, mask, 4);
}

static bool passes(enum exec_misc_test test, int class) {
  switch (test) {
  case TEST_FINITE:
    return class != FP_NAN && class != FP_INFINITE;
  case TEST_INFINITE:
    return class == FP_INFINITE;
  case TEST_NUMBER:
    return class != FP_NAN;
  case TEST_NOTANUMBER:
    return class == FP_NAN;
  case TEST_NORMAL: /* 0 too */
    return class == FP_NORMAL || class == FP_ZERO;
  case TEST_SUBNORMAL:
    return class == FP_SUBNORMAL;
  case TEST_TESTS:
    break;
  }
  return false;
}

static void testp(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  const lane_f32 *f = (const lane_f32 *)machine_lanes(m, w, in->a);
  const lane_f64 *d = (const lane_f64 *)machine_lanes(m, w, in->a);
  uint32_t v = 0;
  for (int l = 0; l < INSN_LANES; l++) {
    int class = in->width == 8 ? fpclassify(d[l]) : fpclassify(f[l]);
    v |= (uint32_t)passes((enum exec_misc_test)in->sub, class) << l;
  }
  machine_set_pred(w, in->p, mask, v);
}

static void isspacep(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  uint32_t v = 0;
  for (int l = 0; l < INSN_LANES; l++) {
    int64_t address = (int64_t)lane_value(m, w, in->a, l, in->width);
    v |= (uint32_t)(memory_space(&address) == (enum ptx_space)in->space) << l;
  }
  machine_set_pred(w, in->p, mask, v);
}

/* No clock, but a count that only grows: of the warp instructions that the block has run so far. */
static void read_clock(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  uint64_t now = (uint64_t)(INT64_MAX - m->block_left - m->left);
  for (int l = 0; l < INSN_LANES; l++)
    memcpy(m->scratch + l * in->dst_bytes, &now, in->dst_bytes);
  exec_blend(machine_lanes(m, w, in->dst), m->scratch, mask, in->dst_bytes);
}

/* The lowest of the members is the leader. */
static void elect(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  const lane_u32 *members = (const lane_u32 *)machine_lanes(m, w, in->vec[0]);
  lane_u32 *out = (lane_u32 *)m->scratch;
  uint32_t leaders = 0;
  exec_warp_members(m, w, in, mask);
  for (int l = 0; l < INSN_LANES; l++) {
    uint32_t here = members[l] & mask;
    out[l] = here ? (uint32_t)__builtin_ctz(here) : 0;
    leaders |= (uint32_t)(here && out[l] == (uint32_t)l) << l;
  }
  exec_blend(machine_lanes(m, w, in->dst), out, mask, 4);
  machine_set_pred(w, in->p, mask, leaders);
}

bool exec_misc(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  switch ((enum insn_kind)in->kind) {
  case INSN_CARRY:
    carry(m, w, in, mask);
    return true;
  case INSN_LOP3:
    lop3(m, w, in, mask);
    return true;
  case INSN_TESTP:
    testp(m, w, in, mask);
    return true;
  case INSN_ISSPACEP:
    isspacep(m, w, in, mask);
    return true;
  case INSN_CLOCK:
    read_clock(m, w, in, mask);
    return true;
  case INSN_ELECT:
    elect(m, w, in, mask);
    return true;
  default:
    return false;
  }
}
