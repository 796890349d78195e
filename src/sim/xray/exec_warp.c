#include "sim/xray/exec_warp.h"

#include "sim/xray/exec_alu.h"
#include "sim/xray/exec_atom.h"
#include "sim/xray/exec_blend.h"
#include "sim/xray/exec_cvt.h"
#include "sim/xray/exec_half.h"
#include "sim/xray/exec_matrix.h"
#include "sim/xray/exec_misc.h"
#include "sim/xray/exec_mma.h"
#include "sim/xray/lanes.h"
#include "sim/xray/report.h"
#include <fenv.h>
#include <string.h>

/* Where a result of all lanes may be written at once: the register, or scratch before a blend. */
static void *open_dest(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  return mask == UINT32_MAX ? machine_lanes(m, w, in->dst) : m->scratch;
}
static void close_dest(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  if (mask != UINT32_MAX)
    exec_blend(machine_lanes(m, w, in->dst), m->scratch, mask, in->dst_bytes);
}

static void alu(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  const void *a = machine_lanes(m, w, in->a), *b = machine_lanes(m, w, in->b),
             *c = machine_lanes(m, w, in->c);
  void *d = open_dest(m, w, in, mask);
  unsigned char flushed[3][INSN_UNIT];
  if (in->ftz) {
    exec_alu_flush(flushed[0], a);
    exec_alu_flush(flushed[1], b);
    exec_alu_flush(flushed[2], c);
    a = flushed[0], b = flushed[1], c = flushed[2];
  }
  if (in->round) {
    int before = fegetround();
    fesetround(in->round == 'z' ? FE_TOWARDZERO : in->round == 'm' ? FE_DOWNWARD : FE_UPWARD);
    in->alu(d, a, b, c);
    fesetround(before);
  } else {
    in->alu(d, a, b, c);
  }
  if (in->ftz)
    exec_alu_flush(d, d);
  if (in->sat)
    exec_alu_saturate(d, d);
  close_dest(m, w, in, mask);
}

static uint32_t joined(enum insn_bool op, uint32_t a, uint32_t b) {
  switch (op) {
  case BOOL_AND:
    return a & b;
  case BOOL_OR:
    return a | b;
  case BOOL_XOR:
    return a ^ b;
  case BOOL_NOT:
    return ~a;
  default:
    return a;
  }
}

static void setp(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  const void *a = machine_lanes(m, w, in->a), *b = machine_lanes(m, w, in->b);
  unsigned char flushed[2][INSN_UNIT];
  if (in->ftz) {
    exec_alu_flush(flushed[0], a);
    exec_alu_flush(flushed[1], b);
    a = flushed[0], b = flushed[1];
  }
  uint32_t v = in->cmp(a, b), with = machine_pred(w, in->pa);
  enum insn_bool op = (enum insn_bool)in->sub;
  machine_set_pred(w, in->p, mask, joined(op, v, with));
  machine_set_pred(w, in->p2, mask, joined(op, ~v, with));
}

static void selp(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  void *d = m->scratch;
  memcpy(d, machine_lanes(m, w, in->b), (size_t)(in->dst_bytes * INSN_LANES));
  exec_blend(d, machine_lanes(m, w, in->a), machine_pred(w, in->pa), in->dst_bytes);
  exec_blend(machine_lanes(m, w, in->dst), d, mask, in->dst_bytes);
}

static void pack(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  size_t part = in->width;
  memset(m->scratch, 0, (size_t)in->dst_bytes * INSN_LANES);
  for (int l = 0; l < INSN_LANES; l++)
    for (int i = 0; i < in->nvec; i++)
      memcpy(m->scratch + (size_t)l * in->dst_bytes + (size_t)i * part,
             machine_lanes(m, w, in->vec[i]) + l * 4, part);
  exec_blend(machine_lanes(m, w, in->dst), m->scratch, mask, in->dst_bytes);
}

static void unpack(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  unsigned char whole[2 * INSN_UNIT];
  memcpy(whole, machine_lanes(m, w, in->a), (size_t)(in->dst_bytes * INSN_LANES));
  for (int i = 0; i < in->nvec; i++) {
    memset(m->scratch, 0, INSN_UNIT);
    for (int l = 0; l < INSN_LANES; l++)
      memcpy(m->scratch + l * 4, whole + l * in->dst_bytes + i * in->width, in->width);
    exec_blend(machine_lanes(m, w, in->vec[i]), m->scratch, mask, 4);
  }
}

/* ---- other lanes */

void exec_warp_members(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  const lane_u32 *members = (const lane_u32 *)machine_lanes(m, w, in->vec[0]);
  for (uint32_t left = mask; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    uint32_t missing = members[l] & w->alive & ~mask;
    if (!(members[l] >> l & 1) || missing) {
      report_problem(m, w, in, l, XRAY_SHFL_MASK, true,
                     "The mask %#010x names lanes that are not here: %#010x run this instruction.",
                     members[l], mask);
      return;
    }
  }
}

static void shfl(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  const lane_u32 *b = (const lane_u32 *)machine_lanes(m, w, in->b);
  const lane_u32 *c = (const lane_u32 *)machine_lanes(m, w, in->c);
  const lane_u32 *a = (const lane_u32 *)machine_lanes(m, w, in->a);
  lane_u32 *out = (lane_u32 *)m->scratch;
  uint32_t inside = 0;
  exec_warp_members(m, w, in, mask);
  for (int l = 0; l < INSN_LANES; l++) {
    int n = (int)(b[l] & 31), clamp = (int)(c[l] & 31), segment = (int)(c[l] >> 8 & 31);
    int top = (l & segment) | (clamp & ~segment), bottom = l & segment, from = l;
    bool ok = false;
    switch ((enum insn_shfl)in->sub) {
    case SHFL_UP:
      from = l - n;
      ok = from >= top;
      break;
    case SHFL_DOWN:
      from = l + n;
      ok = from <= top;
      break;
    case SHFL_BFLY:
      from = l ^ n;
      ok = from <= top;
      break;
    case SHFL_IDX:
      from = bottom | (n & ~segment);
      ok = from <= top;
      break;
    }
    out[l] = a[ok ? from & 31 : l];
    inside |= (uint32_t)ok << l;
  }
  exec_blend(machine_lanes(m, w, in->dst), out, mask, 4);
  machine_set_pred(w, in->p, mask, inside);
}

/* Groups of lanes may vote by themselves in one instruction: each lane asks its own members. */
static void vote(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  const lane_u32 *members = (const lane_u32 *)machine_lanes(m, w, in->vec[0]);
  exec_warp_members(m, w, in, mask);
  uint32_t pred = machine_pred(w, in->pa) & mask, v = 0;
  lane_u32 *out = (lane_u32 *)m->scratch;
  for (int l = 0; l < INSN_LANES; l++) {
    uint32_t group = members[l] & mask, yes = pred & members[l];
    out[l] = yes;
    bool is = in->sub == VOTE_ALL   ? yes == group
              : in->sub == VOTE_ANY ? yes != 0
                                    : yes == 0 || yes == group;
    v |= (uint32_t)is << l;
  }
  if (in->sub == VOTE_BALLOT)
    exec_blend(machine_lanes(m, w, in->dst), out, mask, 4);
  else
    machine_set_pred(w, in->p, mask, v);
}

static void redux(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  const lane_u32 *a = (const lane_u32 *)machine_lanes(m, w, in->a);
  const lane_u32 *members = (const lane_u32 *)machine_lanes(m, w, in->vec[0]);
  lane_u32 *out = (lane_u32 *)m->scratch;
  exec_warp_members(m, w, in, mask);
  for (uint32_t left = mask; left;) {
    uint32_t names = members[__builtin_ctz(left)], group = names & mask;
    if (!group)
      group = left & -left;
    uint64_t v = a[__builtin_ctz(group)];
    for (uint32_t more = group & (group - 1); more; more &= more - 1)
      v = exec_atom_value(in, v, a[__builtin_ctz(more)]);
    uint32_t same = 1u << __builtin_ctz(left);
    for (uint32_t more = left; more; more &= more - 1)
      same |= (uint32_t)(members[__builtin_ctz(more)] == names) << __builtin_ctz(more);
    for (uint32_t more = same; more; more &= more - 1)
      out[__builtin_ctz(more)] = (uint32_t)v;
    left &= ~same;
  }
  exec_blend(machine_lanes(m, w, in->dst), out, mask, 4);
}

/* match.any, and with sub match.all. */
static void match(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  const unsigned char *a = machine_lanes(m, w, in->a);
  const lane_u32 *members = (const lane_u32 *)machine_lanes(m, w, in->vec[0]);
  lane_u32 *out = (lane_u32 *)m->scratch;
  uint32_t all = 0;
  exec_warp_members(m, w, in, mask);
  for (int l = 0; l < INSN_LANES; l++) {
    uint32_t same = 0, group = members[l] & mask;
    for (int k = 0; k < INSN_LANES; k++)
      same |= (uint32_t)!memcmp(a + k * in->width, a + l * in->width, in->width) << k;
    all |= (uint32_t)((same & group) == group) << l;
    out[l] = !in->sub ? same & group : all >> l & 1 ? group : 0;
  }
  exec_blend(machine_lanes(m, w, in->dst), out, mask, 4);
  machine_set_pred(w, in->p, mask, all);
}

/* The low bits of a go into b at place c, as many as vec[0] says. */
static void bfi(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  size_t bytes = in->dst_bytes;
  const lane_u32 *at = (const lane_u32 *)machine_lanes(m, w, in->c);
  const lane_u32 *count = (const lane_u32 *)machine_lanes(m, w, in->vec[0]);
  for (int l = 0; l < INSN_LANES; l++) {
    uint64_t a = 0, b = 0;
    unsigned from = at[l] & 0xff, n = count[l] & 0xff;
    memcpy(&a, machine_lanes(m, w, in->a) + (size_t)l * bytes, bytes);
    memcpy(&b, machine_lanes(m, w, in->b) + (size_t)l * bytes, bytes);
    uint64_t bits = n > 63 ? UINT64_MAX : ((uint64_t)1 << n) - 1;
    if (from < 64)
      b = (b & ~(bits << from)) | (a & bits) << from;
    memcpy(m->scratch + (size_t)l * bytes, &b, bytes);
  }
  exec_blend(machine_lanes(m, w, in->dst), m->scratch, mask, in->dst_bytes);
}

static void activemask(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask,
                       uint32_t active) {
  lane_u32 *out = (lane_u32 *)m->scratch;
  for (int l = 0; l < INSN_LANES; l++)
    out[l] = active;
  exec_blend(machine_lanes(m, w, in->dst), out, mask, 4);
}

bool exec_warp(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask,
               uint32_t active) {
  switch ((enum insn_kind)in->kind) {
  case INSN_ALU:
    alu(m, w, in, mask);
    return true;
  case INSN_SETP:
    setp(m, w, in, mask);
    return true;
  case INSN_PRED:
    machine_set_pred(
        w, in->p, mask,
        joined((enum insn_bool)in->sub, machine_pred(w, in->pa), machine_pred(w, in->pb)));
    return true;
  case INSN_SELP:
    selp(m, w, in, mask);
    return true;
  case INSN_CVT:
    exec_cvt(in, open_dest(m, w, in, mask), machine_lanes(m, w, in->a));
    close_dest(m, w, in, mask);
    return true;
  case INSN_PACK:
    pack(m, w, in, mask);
    return true;
  case INSN_UNPACK:
    unpack(m, w, in, mask);
    return true;
  case INSN_SHFL:
    shfl(m, w, in, mask);
    return true;
  case INSN_VOTE:
    vote(m, w, in, mask);
    return true;
  case INSN_REDUX:
    redux(m, w, in, mask);
    return true;
  case INSN_ACTIVEMASK:
    activemask(m, w, in, mask, active);
    return true;
  case INSN_MATCH:
    match(m, w, in, mask);
    return true;
  case INSN_BFI:
    bfi(m, w, in, mask);
    return true;
  case INSN_WARP_SYNC:
    w->syncs++;
    return true;
  case INSN_FENCE:
  case INSN_NOP:
    return true;
  case INSN_CVT_PACK:
    exec_cvt_pack(in, open_dest(m, w, in, mask), machine_lanes(m, w, in->a),
                  machine_lanes(m, w, in->b));
    close_dest(m, w, in, mask);
    return true;
  default:
    return exec_half(m, w, in, mask) || exec_misc(m, w, in, mask) || exec_mma(m, w, in, mask) ||
           exec_matrix(m, w, in, mask);
  }
}
