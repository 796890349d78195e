#include "sim/xray/decode_cvt.h"

#include "sim/xray/exec_float.h"
#include "sim/xray/exec_half.h"
#include "sim/xray/ptx_parse.h"
#include <string.h>

static int lane_bytes(struct ptx_type t) { return t.bytes <= 4 ? 4 : 8; }

/* The modifiers before the two types. */
static bool modifiers(struct decoder *d) {
  struct insn *out = d->out;
  for (int i = 1; i < d->nparts - 2; i++) {
    struct slice s = d->part[i];
    if (ptx_lex_is(s, "rna")) {
      out->round = 'a';
    } else if (ptx_lex_is(s, "relu")) {
      out->half |= HALF_RELU;
    } else if (ptx_lex_is(s, "satfinite")) {
      out->finite = true;
    } else if (s.n >= 2 && s.p[0] == 'r' && strchr("nzmp", s.p[1]) &&
               (s.n == 2 || (s.n == 3 && s.p[2] == 'i'))) {
      out->round = (uint8_t)s.p[1];
      out->round_int = s.n == 3;
    } else if (!ptx_lex_is(s, "ftz") && !ptx_lex_is(s, "sat")) {
      return false;
    }
  }
  out->ftz = decode_has(d, "ftz");
  out->sat = decode_has(d, "sat");
  return true;
}

static bool known_number(struct ptx_type t) {
  bool bf16 = t.packed && t.bytes == 2;
  return t.bytes > 0 && (!t.packed || bf16) && t.cls != PTX_BITS && t.cls != PTX_PRED;
}

static bool scalar(struct decoder *d) {
  struct insn *out = d->out;
  struct ptx_type to = out->type, from = out->from;
  bool to_half = to.cls == PTX_FLOAT && to.bytes == 2;
  if (d->src->n != 2 || !known_number(to) || !known_number(from) || out->round == 'a' ||
      ((out->finite || out->half) && !to_half))
    return false;
  out->kind = INSN_CVT;
  const struct ptx_operand *a = &d->src->a[0], *b = &d->src->a[1];
  int wide = decode_lane_bytes(d, a), source = decode_lane_bytes(d, b);
  out->dst_bytes = (uint8_t)(wide ? wide : lane_bytes(to));
  out->width = (uint8_t)(source ? source : lane_bytes(from));
  out->dst = decode_dest(d, a, out->dst_bytes);
  out->a = decode_source(d, b, out->width);
  return out->dst_bytes >= lane_bytes(to) && out->width >= lane_bytes(from);
}

static int format_of(struct slice s) {
  static const struct {
    const char *name;
    enum exec_float format;
  } names[] = {{"f32", FLOAT_F32},   {"f16x2", FLOAT_F16},   {"bf16x2", FLOAT_BF16},
               {"tf32", FLOAT_TF32}, {"e4m3x2", FLOAT_E4M3}, {"e5m2x2", FLOAT_E5M2}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (ptx_lex_is(s, names[i].name))
      return (int)names[i].format;
  return -1;
}

/* cvt.rn.f16x2.f32 d, upper, lower and the like. */
static bool packed(struct decoder *d, int to, int from) {
  struct insn *out = d->out;
  bool two = from == FLOAT_F32 && to != FLOAT_TF32;
  bool known = from == FLOAT_F32   ? to != FLOAT_F32
               : from == FLOAT_F16 ? to == FLOAT_E4M3 || to == FLOAT_E5M2
                                   : (from == FLOAT_E4M3 || from == FLOAT_E5M2) && to == FLOAT_F16;
  if (!known || d->src->n != 2 + two || out->ftz || out->sat || out->round_int)
    return false;
  out->kind = INSN_CVT_PACK;
  out->sub = (uint8_t)to;
  out->width = (uint8_t)from;
  out->dst_bytes = 4;
  out->dst = decode_dest(d, &d->src->a[0], 4);
  out->a = decode_float_source(d, &d->src->a[1], 4);
  if (two)
    out->b = decode_float_source(d, &d->src->a[2], 4);
  return true;
}

bool decode_cvt(struct decoder *d) {
  if (d->nparts < 3 || !modifiers(d))
    return false;
  struct slice to = d->part[d->nparts - 2], from = d->part[d->nparts - 1];
  d->out->type = ptx_parse_type(to);
  d->out->from = ptx_parse_type(from);
  if (format_of(to) >= 0 && format_of(from) >= 0 &&
      !(ptx_lex_is(to, "f32") && ptx_lex_is(from, "f32")))
    return packed(d, format_of(to), format_of(from));
  return scalar(d);
}
