#include "sim/xray/decode_half.h"

#include "sim/xray/exec_cmp.h"
#include "sim/xray/exec_half.h"
#include "sim/xray/ptx_parse.h"

static struct slice last_part(const struct decoder *d) { return d->part[d->nparts - 1]; }

/* HALF_BRAIN and HALF_PAIR of "bf16x2"; -1: no half type. */
static int shape_of(struct slice type) {
  return ptx_lex_is(type, "f16")      ? 0
         : ptx_lex_is(type, "f16x2")  ? HALF_PAIR
         : ptx_lex_is(type, "bf16")   ? HALF_BRAIN
         : ptx_lex_is(type, "bf16x2") ? HALF_BRAIN | HALF_PAIR
                                      : -1;
}

bool decode_half_shape(struct slice type, uint8_t *half) {
  int shape = shape_of(type);
  if (shape >= 0)
    *half = (uint8_t)shape;
  return shape >= 0;
}

bool decode_half_is(const struct decoder *d) { return shape_of(last_part(d)) >= 0; }

bool decode_half(struct decoder *d) {
  static const struct {
    const char *name;
    int sources, flop;
  } ops[HALF_OPS] = {
      [HALF_ADD] = {"add", 2, 1},   [HALF_SUB] = {"sub", 2, 1}, [HALF_MUL] = {"mul", 2, 1},
      [HALF_FMA] = {"fma", 3, 2},   [HALF_NEG] = {"neg", 1, 0}, [HALF_ABS] = {"abs", 1, 0},
      [HALF_MIN] = {"min", 2, 0},   [HALF_MAX] = {"max", 2, 0}, [HALF_EX2] = {"ex2", 1, 0},
      [HALF_TANH] = {"tanh", 1, 0},
  };
  struct insn *out = d->out;
  int op = 0;
  while (op < HALF_OPS && !ptx_lex_is(d->part[0], ops[op].name))
    op++;
  if (op == HALF_OPS || d->src->n != 1 + ops[op].sources || d->src->pair >= 0)
    return false;
  out->kind = INSN_HALF;
  out->sub = (uint8_t)op;
  out->half = (uint8_t)shape_of(last_part(d));
  for (int i = 1; i < d->nparts - 1; i++) {
    struct slice s = d->part[i];
    if (ptx_lex_is(s, "ftz"))
      out->ftz = true;
    else if (ptx_lex_is(s, "sat"))
      out->sat = true;
    else if (ptx_lex_is(s, "relu"))
      out->half |= HALF_RELU;
    else if (ptx_lex_is(s, "NaN"))
      out->half |= HALF_NAN;
    else if (ptx_lex_is(s, "xorsign"))
      out->half |= HALF_XORSIGN;
    else if (!ptx_lex_is(s, "rn") && !ptx_lex_is(s, "approx") && !ptx_lex_is(s, "abs"))
      return false;
  }
  insn_slot *to[] = {&out->a, &out->b, &out->c};
  out->flop = (uint16_t)(ops[op].flop * (out->half & HALF_PAIR ? 2 : 1));
  out->dst_bytes = 4;
  out->dst = decode_dest(d, &d->src->a[0], 4);
  for (int i = 0; i < ops[op].sources; i++)
    *to[i] = decode_source(d, &d->src->a[1 + i], 4);
  return true;
}

/* ---- comparisons */

static enum insn_bool bool_of(struct slice s) {
  return ptx_lex_is(s, "and")   ? BOOL_AND
         : ptx_lex_is(s, "or")  ? BOOL_OR
         : ptx_lex_is(s, "xor") ? BOOL_XOR
                                : BOOL_NONE;
}

/* The comparison, its sources and the predicate that is joined; first: operand a. */
static bool comparison(struct decoder *d, int first) {
  struct insn *out = d->out;
  struct slice type = last_part(d);
  int shape = shape_of(type), bytes = 4;
  bool is_float = shape >= 0 || *type.p == 'f';
  out->kind = INSN_SET;
  out->from = ptx_parse_type(type);
  out->half = (uint8_t)(shape > 0 ? shape : 0);
  out->sub = (uint8_t)bool_of(d->part[2]);
  out->ftz = is_float && decode_has(d, "ftz");
  type = shape >= 0 ? (struct slice){".f32", 4} : (struct slice){type.p - 1, type.n + 1};
  out->cmp = exec_cmp_find(d->part[1], type, &bytes);
  if (!out->cmp || (out->ftz && bytes != 4) || d->src->n != first + 2 + (out->sub != BOOL_NONE))
    return false;
  const struct ptx_operand *a = &d->src->a[first];
  out->a = is_float ? decode_float_source(d, &a[0], bytes) : decode_source(d, &a[0], bytes);
  out->b = is_float ? decode_float_source(d, &a[1], bytes) : decode_source(d, &a[1], bytes);
  if (out->sub != BOOL_NONE)
    out->pa = decode_pred(d, &a[2]);
  return true;
}

bool decode_half_setp(struct decoder *d) {
  if (d->nparts < 3 || !comparison(d, 1))
    return false;
  d->out->p = decode_pred(d, &d->src->a[0]);
  d->out->p2 = decode_pred_reg(d, d->src->pair);
  return true;
}

bool decode_half_set(struct decoder *d) {
  struct insn *out = d->out;
  if (d->nparts < 4 || !comparison(d, 1))
    return false;
  struct slice to = d->part[d->nparts - 2];
  struct ptx_type type = ptx_parse_type(to);
  bool pair = out->half & HALF_PAIR;
  int shape = shape_of(to);
  uint32_t yes = shape >= 0                ? (shape & HALF_BRAIN ? 0x3f80 : 0x3c00)
                 : type.cls == PTX_FLOAT   ? 0x3f800000
                 : pair || type.bytes == 2 ? 0xffff
                                           : UINT32_MAX;
  bool known =
      shape >= 0 ? !(shape & HALF_PAIR) == !pair : type.bytes == 4 || (type.bytes == 2 && !pair);
  if (!known || type.cls == PTX_BITS || (pair && ptx_lex_is(to, "f32")))
    return false;
  out->vec[0] = decode_const(d, yes, 4);
  out->vec[1] = decode_const(d, yes << 16, 4);
  out->dst_bytes = 4;
  out->dst = decode_dest(d, &d->src->a[0], 4);
  return true;
}
