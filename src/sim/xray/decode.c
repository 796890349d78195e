#include "sim/xray/decode.h"

#include "base/alloc.h"
#include "sim/xray/decode_call.h"
#include "sim/xray/decode_misc.h"
#include "sim/xray/decode_op.h"
#include "sim/xray/decode_part.h"
#include "sim/xray/flow.h"
#include "sim/xray/ptx_body.h"
#include <stdlib.h>
#include <string.h>

/* ---- places of variables */

static int64_t round_up(int64_t v, int64_t to) { return (v + to - 1) / to * to; }

/* Where the next variable of its space ends so far. */
static int64_t *end_of(struct program *p, const struct ptx_var *v, int func) {
  if (v->space == PTX_LOCAL || (v->space == PTX_PARAM && (func > 0 || v->scope >= 0)))
    return &p->funcs[func].frame;
  return v->space == PTX_SHARED  ? &p->shared_bytes
         : v->space == PTX_CONST ? &p->const_bytes
         : v->space == PTX_PARAM ? &p->param_bytes
                                 : &p->global_bytes;
}

static void place(struct program *p, const struct ptx_var *vars, int n, int func) {
  p->symbols = alloc_grow(p->symbols, (size_t)(p->nsymbols + n) + 1, sizeof *p->symbols);
  for (int i = 0; i < n; i++) {
    const struct ptx_var *v = &vars[i];
    int64_t *end = end_of(p, v, func);
    /* ptxas lays shared arrays out on 16 bytes, so that it can join loads. */
    int64_t align = v->space == PTX_SHARED && v->align < 16 ? 16 : v->align;
    int64_t at = round_up(*end, align);
    *end = at + v->bytes;
    if (v->space == PTX_GLOBAL)
      at += DECODE_GLOBAL_BASE;
    bool framed = func >= 0 && end == &p->funcs[func].frame;
    p->symbols[p->nsymbols++] = (struct insn_symbol){v, at, func, framed};
  }
}

static void place_all(struct program *p, const struct ptx_module *module) {
  for (int k = 0; k < p->nfuncs; k++) {
    const struct ptx_func *f = p->funcs[k].f;
    p->funcs[k].first_symbol = p->nsymbols;
    place(p, f->rets, f->nrets, k);
    place(p, f->params, f->nparams, k);
    place(p, f->vars, f->nvars, k);
    p->funcs[k].frame = round_up(p->funcs[k].frame, 16);
  }
  place(p, module->vars, module->nvars, -1);
}

/* Dynamic shared memory begins behind the static arrays of this kernel. */
static void place_dynamic(struct program *p) {
  p->shared_bytes = round_up(p->shared_bytes, 16);
  for (int i = 0; i < p->nsymbols; i++)
    if (p->symbols[i].var->space == PTX_SHARED && p->symbols[i].var->dynamic)
      p->symbols[i].at = p->shared_bytes;
}

/* ---- operands */

bool decode_has(const struct decoder *d, const char *part) {
  for (int i = 1; i < d->nparts; i++)
    if (ptx_lex_is(d->part[i], part))
      return true;
  return false;
}

const struct ptx_operand *decode_operand(struct decoder *d, int i) {
  static const struct ptx_operand none = {.kind = PTX_SINK, .reg = -1};
  if (i < d->src->n)
    return &d->src->a[i];
  d->bad = true;
  return &none;
}

static int type_lane_bytes(struct ptx_type t) { return t.bytes == 0 ? 0 : t.bytes <= 4 ? 4 : 8; }

int decode_lane_bytes(const struct decoder *d, const struct ptx_operand *o) {
  return o->kind == PTX_REG ? type_lane_bytes(d->func->regs[o->reg]) : 0;
}

insn_slot decode_const(struct decoder *d, uint64_t bits, int bytes) {
  struct program *p = d->program;
  int units = bytes / 4;
  unsigned char lanes[2 * INSN_UNIT];
  for (int l = 0; l < INSN_LANES; l++)
    memcpy(lanes + l * bytes, &bits, (size_t)bytes);
  for (int i = 0; i + units <= p->nconsts && i < 256; i++)
    if (memcmp(p->consts + (size_t)i * INSN_UNIT, lanes, (size_t)(units * INSN_UNIT)) == 0)
      return ~i;
  p->consts = alloc_grow(p->consts, (size_t)(p->nconsts + units), INSN_UNIT);
  memcpy(p->consts + (size_t)p->nconsts * INSN_UNIT, lanes, (size_t)(units * INSN_UNIT));
  p->nconsts += units;
  return ~(p->nconsts - units);
}

static insn_slot register_slot(struct decoder *d, int reg, int bytes) {
  int lane = type_lane_bytes(d->func->regs[reg]);
  if (lane != bytes) {
    d->bad = true;
    return 0;
  }
  if (d->slot_of[reg] == INSN_NO_SLOT) {
    d->slot_of[reg] = d->program->units;
    d->program->units += lane / 4;
  }
  return d->slot_of[reg];
}

static insn_slot special_slot(struct decoder *d, struct slice name, int bytes) {
  struct program *p = d->program;
  static const char *const known[] = {
      "%tid.x",
      "%tid.y",
      "%tid.z",
      "%ntid.x",
      "%ntid.y",
      "%ntid.z",
      "%ctaid.x",
      "%ctaid.y",
      "%ctaid.z",
      "%nctaid.x",
      "%nctaid.y",
      "%nctaid.z",
      "%laneid",
      "%warpid",
      "%nwarpid",
      "%lanemask_eq",
      "%lanemask_lt",
      "%lanemask_le",
      "%lanemask_gt",
      "%lanemask_ge",
      "%smid",
      "%nsmid",
      "%dynamic_smem_size",
      "%total_smem_size",
  };
  if (ptx_lex_is(name, "WARP_SZ"))
    return decode_const(d, INSN_LANES, bytes);
  int cluster = decode_misc_cluster(d, name);
  if (cluster == 0 || cluster == 1)
    return decode_const(d, (uint64_t)cluster, bytes);
  bool found = false;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    found |= ptx_lex_is(name, known[i]);
  if (!found || bytes != 4) {
    d->bad = true;
    return 0;
  }
  for (int i = 0; i < p->nspecials; i++)
    if (p->specials[i].name.n == name.n &&
        memcmp(p->specials[i].name.p, name.p, (size_t)name.n) == 0)
      return p->specials[i].slot;
  p->specials = alloc_grow(p->specials, (size_t)p->nspecials + 1, sizeof *p->specials);
  p->specials[p->nspecials++] = (struct insn_special){name, p->units, bytes};
  p->units += bytes / 4;
  return p->specials[p->nspecials - 1].slot;
}

static bool same(struct slice a, struct slice b) {
  return a.n == b.n && memcmp(a.p, b.p, (size_t)a.n) == 0;
}

/* True if a variable of scope `inner` can be seen from the scope of this instruction. */
static bool in_sight(const struct decoder *d, int inner) {
  for (int s = d->src->scope; s >= 0; s = d->func->scope_parent[s])
    if (s == inner)
      return true;
  return inner < 0;
}

const struct insn_symbol *decode_symbol(const struct decoder *d, struct slice name) {
  const struct insn_symbol *best = NULL;
  for (int i = 0; i < d->program->nsymbols; i++) {
    const struct insn_symbol *s = &d->program->symbols[i];
    if ((s->func != d->index && s->func >= 0) || !same(s->var->name, name))
      continue;
    if (s->func < 0) /* the function's own come first */
      return best ? best : s;
    if (in_sight(d, s->var->scope) && (!best || s->var->scope > best->var->scope))
      best = s;
  }
  return best;
}

/* The address of a name as it is: of a variable in its window, or of a function. */
static bool symbol_at(const struct decoder *d, struct slice name, int64_t *at, bool *in_frame) {
  const struct insn_symbol *s = decode_symbol(d, name);
  *in_frame = s && s->in_frame && d->index > 0;
  *at = s ? s->at : 0;
  return s || decode_call_symbol(d->program, d->module, name, false, at);
}

static insn_slot any_source(struct decoder *d, const struct ptx_operand *o, int bytes,
                            bool is_float) {
  int64_t at = 0;
  bool in_frame = false;
  if (o->neg || (bytes != 4 && bytes != 8)) {
    d->bad = true;
    return 0;
  }
  switch (o->kind) {
  case PTX_REG:
    return register_slot(d, o->reg, bytes);
  case PTX_SPECIAL:
    return special_slot(d, o->name, bytes);
  case PTX_SYMBOL:
    if (symbol_at(d, o->name, &at, &in_frame) && !in_frame)
      return decode_const(d, (uint64_t)at + (uint64_t)o->imm, bytes);
    break;
  case PTX_IMM:
    if (is_float && o->imm_float == 8 && bytes == 4) { /* "1.5" without 0f */
      double v;
      memcpy(&v, &o->imm, sizeof v);
      float f = (float)v;
      uint32_t bits;
      memcpy(&bits, &f, sizeof bits);
      return decode_const(d, bits, 4);
    }
    return decode_const(d, (uint64_t)o->imm, bytes);
  default:
    break;
  }
  d->bad = true;
  return 0;
}

insn_slot decode_source(struct decoder *d, const struct ptx_operand *o, int bytes) {
  return any_source(d, o, bytes, false);
}
insn_slot decode_float_source(struct decoder *d, const struct ptx_operand *o, int bytes) {
  return any_source(d, o, bytes, true);
}

insn_slot decode_dest(struct decoder *d, const struct ptx_operand *o, int bytes) {
  if (o->kind == PTX_SINK && !d->bad)
    return d->sink;
  if (o->kind == PTX_REG && (bytes == 4 || bytes == 8))
    return register_slot(d, o->reg, bytes);
  d->bad = true;
  return 0;
}

struct insn_pred decode_pred_reg(struct decoder *d, int reg) {
  if (reg < 0)
    return (struct insn_pred){-1, false};
  if (d->func->regs[reg].cls != PTX_PRED) {
    d->bad = true;
    return (struct insn_pred){-1, false};
  }
  if (!d->pred_of[reg])
    d->pred_of[reg] = d->program->npreds++;
  return (struct insn_pred){d->pred_of[reg], false};
}

struct insn_pred decode_pred(struct decoder *d, const struct ptx_operand *o) {
  struct insn_pred p = {0, false};
  if (o->kind == PTX_REG) {
    p = decode_pred_reg(d, o->reg);
    p.neg = o->neg;
  } else if (o->kind == PTX_IMM) {
    p.neg = !o->imm;
  } else if (o->kind == PTX_SINK) {
    p.index = -1;
  } else {
    d->bad = true;
  }
  return p;
}

static void address_of_name(struct decoder *d, const struct ptx_operand *o) {
  int64_t at = 0;
  bool in_frame = false;
  d->out->base = decode_const(d, 0, 8);
  if (o->name.n) {
    const struct insn_symbol *s = decode_symbol(d, o->name);
    if (!symbol_at(d, o->name, &at, &in_frame))
      d->bad = true;
    if (in_frame)
      d->out->base = d->program->funcs[d->index].base;
    if (s && s->in_frame && d->out->space == PTX_PARAM)
      d->out->space = PTX_LOCAL;
  }
  d->out->base_wide = true;
  d->out->offset = (int64_t)((uint64_t)at + (uint64_t)o->imm);
}

void decode_address(struct decoder *d, const struct ptx_operand *o) {
  if (o->kind != PTX_ADDRESS) {
    d->bad = true;
  } else if (o->reg >= 0) {
    int bytes = decode_lane_bytes(d, &(struct ptx_operand){.kind = PTX_REG, .reg = o->reg});
    if (bytes == 0)
      d->bad = true;
    else
      d->out->base = register_slot(d, o->reg, bytes);
    d->out->base_wide = bytes == 8;
    d->out->offset = o->imm;
    if (d->index > 0 && d->out->space == PTX_PARAM) /* those of a function lie in its frame */
      d->out->space = PTX_LOCAL;
  } else {
    address_of_name(d, o);
  }
}

/* ---- one instruction */

static void split(struct decoder *d) {
  struct slice s = d->src->op;
  d->nparts = 0;
  int from = 0;
  for (int i = 0; i <= s.n && d->nparts < DECODE_PARTS; i++)
    if (i == s.n || s.p[i] == '.') {
      d->part[d->nparts++] = (struct slice){s.p + from, i - from};
      from = i + 1;
    }
}

static int32_t line_index(struct program *p, int file, int line) {
  for (int i = p->nlines - 1; i >= 0; i--)
    if (p->lines[i].file == file && p->lines[i].line == line)
      return i;
  if (p->nlines >= 0x7fff)
    return 0;
  p->lines = alloc_grow(p->lines, (size_t)p->nlines + 1, sizeof *p->lines);
  p->lines[p->nlines] = (struct insn_line){file, line};
  return p->nlines++;
}

int32_t decode_label(const struct decoder *d, struct slice name, int scope) {
  const struct ptx_func *f = d->func;
  for (; scope >= 0; scope = f->scope_parent[scope]) {
    int from = 0, to = f->nlabels; /* the first that is not below lies in [from, to] */
    while (from < to) {
      int mid = from + (to - from) / 2;
      if (ptx_body_label_order(&f->labels[mid], scope, name) < 0)
        from = mid + 1;
      else
        to = mid;
    }
    if (to < f->nlabels && ptx_body_label_order(&f->labels[to], scope, name) == 0)
      return d->first + f->labels[to].at;
  }
  return -1;
}

static void decode_one(struct decoder *d, const struct ptx_insn *src, struct insn *out) {
  d->src = src;
  d->out = out;
  d->bad = src->too_long;
  *out = (struct insn){.op = src->op, .text_line = src->text_line, .reconverge = -1};
  out->nounroll = src->nounroll;
  out->line = line_index(d->program, src->file, src->line);
  out->p = out->p2 = (struct insn_pred){-1, false};
  split(d);
  if (src->guard >= 0) {
    out->has_guard = true;
    out->guard = decode_pred_reg(d, src->guard);
    out->guard.neg = src->guard_neg;
  }
  struct insn before = *out;
  if (ptx_lex_is(d->part[0], "bra")) {
    out->kind = INSN_BRA;
    out->target = src->n == 1 ? decode_label(d, src->a[0].name, src->scope) : -1;
    d->bad |= out->target < 0;
  } else if (!decode_op(d)) {
    d->bad = true;
  }
  if (d->bad || out->pa.index < 0 || out->pb.index < 0) {
    free(out->tensor);
    *out = before;
    out->kind = INSN_UNSUPPORTED;
  }
}

/* The instructions of function k, behind those that are there. */
static void decode_func(struct decoder *d, int k) {
  struct program *p = d->program;
  struct insn_func *of = &p->funcs[k];
  const struct ptx_func *f = of->f;
  d->func = f;
  d->index = k;
  d->first = of->entry = p->ncode;
  of->unit0 = p->units;
  of->pred0 = p->npreds;
  of->base = p->units;
  p->units += k > 0 ? 2 : 0;
  d->slot_of = alloc_zero((size_t)f->nregs, sizeof *d->slot_of);
  d->pred_of = alloc_zero((size_t)f->nregs, sizeof *d->pred_of);
  for (int i = 0; i < f->nregs; i++)
    d->slot_of[i] = INSN_NO_SLOT;
  for (int i = 0; i < f->ncode; i++)
    decode_one(d, &f->code[i], &p->code[p->ncode + i]);
  p->ncode += f->ncode;
  p->code[p->ncode++] = (struct insn){.kind = INSN_RET, .reconverge = -1, .op = {"ret", 3}};
  of->unit1 = p->units;
  of->pred1 = p->npreds;
  free(d->slot_of);
  free(d->pred_of);
}

struct program *decode_kernel(const struct ptx_module *module, const struct ptx_func *f) {
  struct program *p = alloc_zero(1, sizeof *p);
  struct decoder d = {.module = module, .program = p};
  p->npreds = 1;
  decode_call_collect(p, module, f);
  place_all(p, module);
  place_dynamic(p);
  p->lines = alloc_zero(1, sizeof *p->lines);
  p->nlines = 1;
  d.sink = 0;
  p->units = 2;
  int total = 0;
  for (int k = 0; k < p->nfuncs; k++)
    total += p->funcs[k].f->ncode + 1;
  p->code = alloc_zero((size_t)total, sizeof *p->code);
  for (int k = 0; k < p->nfuncs; k++)
    decode_func(&d, k);
  decode_const(&d, 0, 4); /* so that there is a table */
  decode_call_room(p);
  flow_resolve(p);
  for (int i = 0; i < p->ncode; i++)
    p->code[i].plain =
        p->code[i].kind == INSN_ALU && !p->code[i].ftz && !p->code[i].sat && !p->code[i].round;
  return p;
}

void decode_free(struct program *p) {
  if (!p)
    return;
  for (int i = 0; i < p->ncode; i++) {
    free(p->code[i].copies);
    free(p->code[i].tensor);
  }
  free(p->code);
  free(p->consts);
  free(p->specials);
  free(p->lines);
  free(p->symbols);
  free(p->funcs);
  free(p->calls);
  free(p->targets);
  free(p);
}
