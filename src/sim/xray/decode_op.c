#include "sim/xray/decode_op.h"

#include "sim/xray/decode_async.h"
#include "sim/xray/decode_call.h"
#include "sim/xray/decode_cvt.h"
#include "sim/xray/decode_half.h"
#include "sim/xray/decode_mem.h"
#include "sim/xray/decode_misc.h"
#include "sim/xray/decode_mma.h"
#include "sim/xray/exec_alu.h"
#include "sim/xray/exec_cmp.h"
#include "sim/xray/memory.h"
#include "sim/xray/ptx_parse.h"
#include <stdio.h>
#include <string.h>

static int lane_bytes(struct ptx_type t) { return t.bytes <= 4 ? 4 : 8; }

static struct slice last_part(const struct decoder *d) { return d->part[d->nparts - 1]; }

/* ---- arithmetic: the name without what does not change the value, looked up in the table */

static bool dropped(const struct decoder *d, struct slice part) {
  bool is_float = *last_part(d).p == 'f';
  if (ptx_lex_is(last_part(d), "f64"))
    return ptx_lex_is(part, "rn");
  return is_float &&
         (ptx_lex_is(part, "rn") || ptx_lex_is(part, "ftz") || ptx_lex_is(part, "sat") ||
          ptx_lex_is(part, "approx") || ptx_lex_is(part, "full"));
}

/* .rz, .rm and .rp of the operations that the FPU can round so. */
static bool rounds(const struct decoder *d, struct slice part) {
  static const char *const base[] = {"add", "sub", "mul", "fma", "mad", "div", "sqrt", "rcp"};
  bool known = false;
  for (size_t i = 0; i < sizeof base / sizeof *base; i++)
    known |= ptx_lex_is(d->part[0], base[i]);
  return known && *last_part(d).p == 'f' &&
         (ptx_lex_is(part, "rz") || ptx_lex_is(part, "rm") || ptx_lex_is(part, "rp"));
}

static uint16_t flop_of(struct slice name) {
  return ptx_lex_is(name, "fma.f64") || ptx_lex_is(name, "mad.f64") ? 2
         : ptx_lex_is(name, "add.f64") || ptx_lex_is(name, "sub.f64") || ptx_lex_is(name, "mul.f64")
             ? 1
             : 0;
}

static uint8_t counted_as(struct slice name) {
  static const struct {
    const char *name;
    uint8_t count;
  } of[] = {{"fma.f32", COUNT_FFMA},
            {"mad.f32", COUNT_FFMA},
            {"add.f32", COUNT_FADD},
            {"sub.f32", COUNT_FADD},
            {"mul.f32", COUNT_FMUL}};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    if (ptx_lex_is(name, of[i].name))
      return of[i].count;
  return COUNT_NOTHING;
}

static bool alu(struct decoder *d) {
  char name[64];
  int n = 0;
  for (int i = 0; i < d->nparts; i++)
    if (rounds(d, d->part[i])) {
      d->out->round = (uint8_t)d->part[i].p[1];
    } else if (!dropped(d, d->part[i])) {
      int more = snprintf(name + n, sizeof name - (size_t)n, "%s%.*s", n ? "." : "", d->part[i].n,
                          d->part[i].p);
      if (more < 0 || (n += more) >= (int)sizeof name)
        return false;
    }
  const struct exec_alu_op *op = exec_alu_find((struct slice){name, n});
  if (!op || d->src->n != 1 + (int)strlen(op->sig + 2) || d->src->pair >= 0)
    return false;
  bool is_float = *last_part(d).p == 'f';
  insn_slot *to[] = {&d->out->a, &d->out->b, &d->out->c};
  d->out->kind = INSN_ALU;
  d->out->alu = op->fn;
  d->out->sig = op->sig;
  d->out->count = counted_as((struct slice){name, n});
  d->out->flop = flop_of((struct slice){name, n});
  d->out->dst_bytes = (uint8_t)(op->sig[0] - '0');
  d->out->dst = decode_dest(d, &d->src->a[0], d->out->dst_bytes);
  for (int i = 0; op->sig[2 + i]; i++) {
    const struct ptx_operand *o = &d->src->a[1 + i];
    *to[i] = is_float ? decode_float_source(d, o, op->sig[2 + i] - '0')
                      : decode_source(d, o, op->sig[2 + i] - '0');
  }
  bool single = ptx_lex_is(last_part(d), "f32");
  d->out->ftz = single && decode_has(d, "ftz");
  d->out->sat = single && decode_has(d, "sat");
  return true;
}

/* cvta: to and from generic addresses by the start of the window. */
static bool cvta(struct decoder *d) {
  bool to = decode_has(d, "to");
  int64_t window = decode_has(d, "shared")   ? MEMORY_SHARED_WINDOW
                   : decode_has(d, "local")  ? MEMORY_LOCAL_WINDOW
                   : decode_has(d, "const")  ? MEMORY_CONST_WINDOW
                   : decode_has(d, "global") ? 0
                                             : -1;
  if (window < 0 || !ptx_lex_is(last_part(d), "u64") || d->src->n != 2)
    return false;
  d->out->kind = INSN_ALU;
  d->out->alu = exec_alu_find((struct slice){"add.s64", 7})->fn;
  d->out->dst_bytes = 8;
  d->out->dst = decode_dest(d, &d->src->a[0], 8);
  d->out->a = decode_source(d, &d->src->a[1], 8);
  d->out->b = decode_const(d, (uint64_t)(to ? -window : window), 8);
  return true;
}

/* ---- predicates */

static enum insn_bool bool_of(struct slice s) {
  return ptx_lex_is(s, "and")   ? BOOL_AND
         : ptx_lex_is(s, "or")  ? BOOL_OR
         : ptx_lex_is(s, "xor") ? BOOL_XOR
         : ptx_lex_is(s, "not") ? BOOL_NOT
         : ptx_lex_is(s, "mov") ? BOOL_MOV
                                : BOOL_NONE;
}

static bool predicates(struct decoder *d) {
  int sources = d->src->n - 1;
  d->out->kind = INSN_PRED;
  d->out->sub = (uint8_t)bool_of(d->part[0]);
  if (d->nparts != 2 || d->out->sub == BOOL_NONE ||
      sources != (d->out->sub == BOOL_NOT || d->out->sub == BOOL_MOV ? 1 : 2))
    return false;
  d->out->p = decode_pred(d, &d->src->a[0]);
  d->out->pa = decode_pred(d, &d->src->a[1]);
  if (sources == 2)
    d->out->pb = decode_pred(d, &d->src->a[2]);
  return true;
}

static bool setp(struct decoder *d) {
  int bytes = 0;
  if (decode_half_is(d))
    return decode_half_setp(d);
  struct slice type = last_part(d);
  if (d->nparts < 3 || d->src->n < 3)
    return false;
  type = (struct slice){type.p - 1, type.n + 1};
  d->out->kind = INSN_SETP;
  d->out->cmp = exec_cmp_find(d->part[1], type, &bytes);
  d->out->sub = (uint8_t)bool_of(d->part[2]);
  bool is_float = type.p[1] == 'f';
  if (!d->out->cmp || d->src->n != (d->out->sub == BOOL_NONE ? 3 : 4))
    return false;
  d->out->ftz = is_float && decode_has(d, "ftz");
  d->out->p = decode_pred(d, &d->src->a[0]);
  d->out->p2 = decode_pred_reg(d, d->src->pair);
  d->out->a = is_float ? decode_float_source(d, &d->src->a[1], bytes)
                       : decode_source(d, &d->src->a[1], bytes);
  d->out->b = is_float ? decode_float_source(d, &d->src->a[2], bytes)
                       : decode_source(d, &d->src->a[2], bytes);
  if (d->out->sub != BOOL_NONE)
    d->out->pa = decode_pred(d, &d->src->a[3]);
  return true;
}

static bool selp(struct decoder *d) {
  struct ptx_type t = ptx_parse_type(last_part(d));
  if (d->src->n != 4 || t.bytes < 2)
    return false;
  bool is_float = t.cls == PTX_FLOAT;
  d->out->kind = INSN_SELP;
  d->out->dst_bytes = (uint8_t)lane_bytes(t);
  d->out->dst = decode_dest(d, &d->src->a[0], lane_bytes(t));
  d->out->a = is_float ? decode_float_source(d, &d->src->a[1], lane_bytes(t))
                       : decode_source(d, &d->src->a[1], lane_bytes(t));
  d->out->b = is_float ? decode_float_source(d, &d->src->a[2], lane_bytes(t))
                       : decode_source(d, &d->src->a[2], lane_bytes(t));
  d->out->pa = decode_pred(d, &d->src->a[3]);
  return true;
}

/* ---- moves of vectors */

/* mov.b64 d, {a, b} and mov.b64 {a, b}, d; b32 of two b16, b16 of two b8. */
static bool pack(struct decoder *d) {
  struct ptx_type t = ptx_parse_type(last_part(d));
  if (d->src->n != 2 || t.bytes < 2)
    return false;
  int lane = t.bytes < 4 ? 4 : t.bytes;
  bool into = d->src->a[1].kind == PTX_VECTOR;
  const struct ptx_operand *v = &d->src->a[into], *whole = &d->src->a[!into];
  if (v->kind != PTX_VECTOR || (v->n != 2 && v->n != 4) || t.bytes < v->n)
    return false;
  d->out->kind = into ? INSN_PACK : INSN_UNPACK;
  d->out->nvec = (uint8_t)v->n;
  d->out->width = (uint8_t)(t.bytes / v->n);
  d->out->dst_bytes = (uint8_t)lane;
  for (int i = 0; i < v->n; i++) {
    const struct ptx_operand *o = &d->func->pool[v->first + i];
    d->out->vec[i] = into ? decode_source(d, o, 4) : decode_dest(d, o, 4);
  }
  if (into)
    d->out->dst = decode_dest(d, whole, lane);
  else
    d->out->a = decode_source(d, whole, lane);
  return true;
}

/* mov.u64 d, name where the variable lies in the frame of a called function. */
static bool frame_address(struct decoder *d) {
  const struct ptx_operand *o = &d->src->a[1];
  const struct insn_symbol *s =
      d->index > 0 && d->src->n == 2 && o->kind == PTX_SYMBOL ? decode_symbol(d, o->name) : NULL;
  if (!s || !s->in_frame)
    return false;
  d->out->kind = INSN_ALU;
  d->out->alu = exec_alu_find((struct slice){"add.s64", 7})->fn;
  d->out->dst_bytes = 8;
  d->out->dst = decode_dest(d, &d->src->a[0], 8);
  d->out->a = d->program->funcs[d->index].base;
  d->out->b = decode_const(d, (uint64_t)s->at + (uint64_t)o->imm, 8);
  return true;
}

static bool mov(struct decoder *d) {
  if (frame_address(d))
    return true;
  if (ptx_lex_is(last_part(d), "pred"))
    return predicates(d);
  if (d->src->n == 2 && decode_misc_is_clock(&d->src->a[1]))
    return decode_misc_clock(d);
  if (d->src->n == 2 && (d->src->a[0].kind == PTX_VECTOR || d->src->a[1].kind == PTX_VECTOR))
    return pack(d);
  return alu(d);
}

/* ---- the rest */

static bool nothing(struct decoder *d) {
  d->out->kind = INSN_NOP;
  return true;
}
/* sub: true of an exit, which ends the thread from within a function too. */
static bool ret(struct decoder *d) {
  d->out->kind = INSN_RET;
  d->out->sub = ptx_lex_is(d->part[0], "exit");
  return d->src->n == 0;
}
static bool trap(struct decoder *d) {
  d->out->kind = INSN_TRAP;
  return true;
}
static bool fence(struct decoder *d) {
  /* Between proxies there is nothing to order: there is one memory here. */
  d->out->kind = decode_has(d, "proxy") ? INSN_NOP : INSN_FENCE;
  return d->src->n == 0;
}

static bool bfi(struct decoder *d) {
  struct ptx_type t = ptx_parse_type(last_part(d));
  if (d->src->n != 5 || d->nparts != 2 || t.cls != PTX_BITS || t.bytes < 4)
    return false;
  d->out->kind = INSN_BFI;
  d->out->dst_bytes = (uint8_t)t.bytes;
  d->out->dst = decode_dest(d, &d->src->a[0], t.bytes);
  d->out->a = decode_source(d, &d->src->a[1], t.bytes);
  d->out->b = decode_source(d, &d->src->a[2], t.bytes);
  d->out->c = decode_source(d, &d->src->a[3], 4);
  d->out->vec[0] = decode_source(d, &d->src->a[4], 4);
  return true;
}

bool decode_op(struct decoder *d) {
  static const struct {
    const char *name;
    bool (*fn)(struct decoder *d);
  } forms[] = {
      {"ld", decode_mem_load},
      {"ldu", decode_mem_load},
      {"st", decode_mem_store},
      {"atom", decode_mem_atom},
      {"red", decode_mem_atom},
      {"bar", decode_mem_barrier},
      {"barrier", decode_mem_barrier},
      {"shfl", decode_mem_shuffle},
      {"vote", decode_mem_vote},
      {"activemask", decode_mem_activemask},
      {"redux", decode_mem_redux},
      {"setp", setp},
      {"selp", selp},
      {"cvt", decode_cvt},
      {"cvta", cvta},
      {"mov", mov},
      {"call", decode_call},
      {"brx", decode_call_jump},
      {"cp", decode_async},
      {"mbarrier", decode_async_mbar},
      {"bfi", bfi},
      {"match", decode_mem_match},
      {"set", decode_half_set},
      {"mma", decode_mma},
      {"wmma", decode_mma_wmma},
      {"ldmatrix", decode_mma_ldmatrix},
      {"stmatrix", decode_mma_stmatrix},
      {"movmatrix", decode_mma_movmatrix},
      {"lop3", decode_misc_lop3},
      {"testp", decode_misc_testp},
      {"isspacep", decode_misc_isspacep},
      {"slct", decode_misc_slct},
      {"elect", decode_misc_elect},
      {"createpolicy", decode_misc_policy},
      {"ret", ret},
      {"exit", ret},
      {"trap", trap},
      {"brkpt", trap},
      {"membar", fence},
      {"fence", fence},
      {"prefetch", nothing},
      {"prefetchu", nothing},
      {"nanosleep", nothing},
      {"pmevent", nothing},
      {"discard", nothing},
      {"applypriority", nothing},
      {"griddepcontrol", nothing},
  };
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (ptx_lex_is(d->part[0], forms[i].name))
      return forms[i].fn(d);
  if (d->nparts > 1 && ptx_lex_is(last_part(d), "pred"))
    return predicates(d);
  return decode_misc_carries(d) ? decode_misc_carry(d)
         : decode_half_is(d)    ? decode_half(d)
                                : alu(d);
}
