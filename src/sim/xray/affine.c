#include "sim/xray/affine.h"

#include "base/alloc.h"
#include "sim/xray/flow.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 24, MAX_WORK = 500, MAX_ROUNDS = 40 };

enum form {
  FORM_ROOT,
  FORM_COPY,
  FORM_ADD,
  FORM_SUB,
  FORM_OR,
  FORM_MUL,
  FORM_MAD,
  FORM_SHL,
  FORM_AND,
  FORM_SELECT
};

struct affine {
  const struct program *program;
  int *defs;  /* of each slot: how many instructions write it */
  int *def;   /* one of them */
  int *block; /* of each instruction */
  bool *starts;
  uint8_t *zeros; /* of each slot, then of each root made by affine_root */
  int nroots, rootcap;
  int work; /* left for the sum in hand: chains of x + x would never end */
};

/* ---- which instructions are sums */

static enum form form_of(const struct insn *in) {
  static const struct {
    const char *name;
    enum form form;
  } forms[] = {
      {"mov.u32", FORM_COPY},     {"mov.b32", FORM_COPY},        {"mov.s32", FORM_COPY},
      {"mov.u64", FORM_COPY},     {"mov.b64", FORM_COPY},        {"add.s32", FORM_ADD},
      {"add.u32", FORM_ADD},      {"add.s64", FORM_ADD},         {"add.u64", FORM_ADD},
      {"sub.s32", FORM_SUB},      {"sub.s64", FORM_SUB},         {"or.b32", FORM_OR},
      {"or.b64", FORM_OR},        {"mul.lo.s32", FORM_MUL},      {"mul.lo.u32", FORM_MUL},
      {"mul.lo.s64", FORM_MUL},   {"mul.lo.u64", FORM_MUL},      {"mad.lo.s32", FORM_MAD},
      {"mad.lo.u32", FORM_MAD},   {"mad.lo.s64", FORM_MAD},      {"shl.b32", FORM_SHL},
      {"shl.b64", FORM_SHL},      {"and.b32", FORM_AND},         {"and.b64", FORM_AND},
      {"cvt.u32.u64", FORM_COPY}, {"cvta.shared.u64", FORM_ADD}, {"cvta.to.shared.u64", FORM_ADD},
  };
  if (in->kind == INSN_SELP)
    return FORM_SELECT;
  if (in->kind != INSN_ALU && in->kind != INSN_CVT)
    return FORM_ROOT;
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (ptx_lex_is(in->op, forms[i].name))
      return forms[i].form;
  return FORM_ROOT;
}

/* A widened value is a root of its own: its sum may have wrapped. But it keeps its zero bits. So do
 * some others that are no sums. */
static enum form zeros_form_of(const struct insn *in) {
  static const struct {
    const char *name;
    enum form form;
  } forms[] = {
      {"mul.wide.u32", FORM_MUL}, {"mul.wide.s32", FORM_MUL}, {"mul.wide.u16", FORM_MUL},
      {"mul.wide.s16", FORM_MUL}, {"mad.wide.u32", FORM_MAD}, {"mad.wide.s32", FORM_MAD},
      {"cvt.u64.u32", FORM_COPY}, {"cvt.s64.s32", FORM_COPY}, {"cvt.u32.u16", FORM_COPY},
      {"cvt.s32.s16", FORM_COPY}, {"cvt.u64.u16", FORM_COPY}, {"xor.b32", FORM_SELECT},
      {"xor.b64", FORM_SELECT},   {"min.s32", FORM_SELECT},   {"min.u32", FORM_SELECT},
      {"max.s32", FORM_SELECT},   {"max.u32", FORM_SELECT},   {"add.s16", FORM_SELECT},
      {"or.b16", FORM_SELECT},    {"and.b16", FORM_AND},      {"shl.b16", FORM_SHL},
  };
  if (in->kind == INSN_ALU || in->kind == INSN_CVT)
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
      if (ptx_lex_is(in->op, forms[i].name))
        return forms[i].form;
  return form_of(in);
}

/* ---- definitions */

static void note_def(struct affine *a, insn_slot slot, int i) {
  if (slot < 0 || slot >= a->program->units)
    return;
  a->defs[slot]++;
  a->def[slot] = i;
}

static int written(const struct insn *in, insn_slot out[AFFINE_WRITTEN]) {
  int n = 0;
  switch ((enum insn_kind)in->kind) {
  case INSN_MMA:
  case INSN_FRAG_LD:
    for (; n < in->tensor->d.n; n++)
      out[n] = in->tensor->d.reg[n];
    return n;
  case INSN_LD:
  case INSN_MATRIX_LD:
  case INSN_UNPACK:
    for (; n < in->nvec; n++)
      out[n] = in->vec[n];
    return n;
  case INSN_ALU:
  case INSN_SELP:
  case INSN_CVT:
  case INSN_PACK:
  case INSN_ATOM:
  case INSN_SHFL:
  case INSN_VOTE:
  case INSN_ACTIVEMASK:
  case INSN_REDUX:
  case INSN_MATCH:
  case INSN_BFI:
  case INSN_MOVMATRIX:
  case INSN_HALF:
  case INSN_SET:
  case INSN_CVT_PACK:
  case INSN_CARRY:
  case INSN_LOP3:
  case INSN_CLOCK:
  case INSN_ELECT:
  case INSN_BAR_RED:
  case INSN_MBAR:
    out[0] = in->dst;
    return 1;
  default:
    return 0;
  }
}

static bool is_constant(insn_slot s) { return s < 0; }

static uint32_t constant_of(const struct affine *a, insn_slot s) {
  uint32_t v;
  memcpy(&v, a->program->consts + (size_t)~s * INSN_UNIT, sizeof v);
  return v;
}

/* ---- zero bits at the end, downwards from "all" to a fixed point */

static int zeros_of(const struct affine *a, insn_slot s) {
  if (!is_constant(s))
    return a->zeros[s];
  uint32_t v = constant_of(a, s);
  return v ? __builtin_ctz(v) : AFFINE_ALL_ZERO;
}

static int least(int x, int y) { return x < y ? x : y; }

/* The zero bits of the result where the operands have z[0], z[1] and z[2]. */
static int zeros_by(const struct affine *a, const struct insn *in, const int z[3]) {
  switch (zeros_form_of(in)) {
  case FORM_COPY:
    return z[0];
  case FORM_ADD:
  case FORM_SUB:
  case FORM_OR:
  case FORM_SELECT:
    return least(z[0], z[1]);
  case FORM_MUL:
    return least(z[0] + z[1], AFFINE_ALL_ZERO);
  case FORM_MAD:
    return least(z[0] + z[1], z[2]);
  case FORM_SHL:
    return least(z[0] + (is_constant(in->b) ? (int)(constant_of(a, in->b) & 63) : 0),
                 AFFINE_ALL_ZERO);
  case FORM_AND:
    return z[0] > z[1] ? z[0] : z[1];
  case FORM_ROOT:
    break;
  }
  return 0;
}

static int zeros_made(const struct affine *a, const struct insn *in) {
  enum form form = zeros_form_of(in);
  if (form == FORM_ROOT)
    return 0;
  int z[3] = {zeros_of(a, in->a), 0, 0};
  if (form != FORM_COPY && form != FORM_SHL)
    z[1] = zeros_of(a, in->b);
  if (form == FORM_MAD)
    z[2] = zeros_of(a, in->c);
  return zeros_by(a, in, z);
}

static void find_zeros(struct affine *a) {
  const struct program *p = a->program;
  for (int s = 0; s < p->units; s++)
    a->zeros[s] = a->defs[s] ? AFFINE_ALL_ZERO : 0;
  bool changed = true;
  for (int round = 0; changed && round < MAX_ROUNDS; round++) {
    changed = false;
    for (int i = 0; i < p->ncode; i++) {
      insn_slot out[AFFINE_WRITTEN];
      int n = written(&p->code[i], out), z = n ? zeros_made(a, &p->code[i]) : 0;
      for (int k = 0; k < n; k++)
        if (out[k] >= 0 && out[k] < p->units && z < a->zeros[out[k]]) {
          a->zeros[out[k]] = (uint8_t)z;
          changed = true;
        }
    }
  }
  if (changed) /* no fixed point in time: nothing is known */
    memset(a->zeros, 0, (size_t)p->units);
}

struct affine *affine_new(const struct program *p) {
  struct affine *a = alloc_zero(1, sizeof *a);
  a->program = p;
  a->defs = alloc_zero((size_t)p->units, sizeof *a->defs);
  a->def = alloc_zero((size_t)p->units, sizeof *a->def);
  a->zeros = alloc_zero((size_t)p->units, 1);
  a->block = alloc_zero((size_t)p->ncode, sizeof *a->block);
  a->starts = alloc_zero((size_t)p->ncode, sizeof *a->starts);
  flow_starts(p, a->starts);
  for (int i = 0, block = 0; i < p->ncode; i++) {
    insn_slot out[AFFINE_WRITTEN];
    int n = written(&p->code[i], out);
    for (int k = 0; k < n; k++)
      note_def(a, out[k], i);
    a->block[i] = block += a->starts[i];
  }
  find_zeros(a);
  return a;
}

void affine_free(struct affine *a) {
  if (!a)
    return;
  free(a->defs);
  free(a->def);
  free(a->zeros);
  free(a->block);
  free(a->starts);
  free(a);
}

/* ---- sums */

bool affine_add(struct affine_sum *to, const struct affine_sum *s, uint32_t factor) {
  to->constant += factor * s->constant;
  for (int i = 0; i < s->n; i++) {
    int k = 0;
    while (k < to->n && to->term[k].root < s->term[i].root)
      k++;
    if (k < to->n && to->term[k].root == s->term[i].root) {
      to->term[k].factor += factor * s->term[i].factor;
      continue;
    }
    if (to->n == AFFINE_TERMS)
      return false;
    memmove(&to->term[k + 1], &to->term[k], (size_t)(to->n - k) * sizeof *to->term);
    to->term[k] = (struct affine_term){s->term[i].root, factor * s->term[i].factor};
    to->n++;
  }
  return true;
}

static struct affine_sum root_sum(insn_slot s) {
  return (struct affine_sum){.term = {{s, 1}}, .n = 1};
}

static struct affine_sum expand(struct affine *a, insn_slot s, int block, int depth);
static bool writes(const struct affine *a, int i, insn_slot slot);

/* How many operands a form has. */
static int operands_of(enum form form) {
  return form == FORM_ROOT ? 0 : form == FORM_COPY ? 1 : form == FORM_MAD ? 3 : 2;
}

static bool product(struct affine_sum *out, const struct affine_sum *x,
                    const struct affine_sum *y) {
  if (x->n && y->n)
    return false;
  return affine_add(out, x->n ? x : y, x->n ? y->constant : x->constant);
}

/* An addition where the bits cannot meet. */
static bool either(const struct affine *a, struct affine_sum *out, const struct affine_sum *x,
                   const struct affine_sum *y) {
  return y->n == 0 && y->constant && x->constant == 0 &&
         32 - __builtin_clz(y->constant) <= affine_zeros(a, x) && affine_add(out, x, 1) &&
         affine_add(out, y, 1);
}

/* A widened product or copy is a sum where what is widened is a constant. */
static enum form sum_form_of(const struct insn *in, const struct affine_sum v[3]) {
  enum form form = form_of(in), wide = zeros_form_of(in);
  bool widened = wide == FORM_COPY || wide == FORM_MUL || wide == FORM_MAD;
  return form == FORM_ROOT && widened && !v[0].n && !v[1].n ? wide : form;
}

static bool apply(const struct affine *a, const struct insn *in, const struct affine_sum v[3],
                  struct affine_sum *out) {
  *out = (struct affine_sum){0};
  if (in->has_guard)
    return false;
  switch (sum_form_of(in, v)) {
  case FORM_COPY:
    return affine_add(out, &v[0], 1);
  case FORM_ADD:
    return affine_add(out, &v[0], 1) && affine_add(out, &v[1], 1);
  case FORM_SUB:
    return affine_add(out, &v[0], 1) && affine_add(out, &v[1], UINT32_MAX);
  case FORM_OR:
    return either(a, out, &v[0], &v[1]);
  case FORM_SHL:
    return !v[1].n && v[1].constant < 32 && affine_add(out, &v[0], 1u << v[1].constant);
  case FORM_MUL:
    return product(out, &v[0], &v[1]);
  case FORM_MAD:
    return product(out, &v[0], &v[1]) && affine_add(out, &v[2], 1);
  case FORM_ROOT:
  case FORM_AND:
  case FORM_SELECT:
    break;
  }
  return false;
}

/* The sum that instruction in makes; false if it is none. */
static bool sum_by(struct affine *a, const struct insn *in, int block, int depth,
                   struct affine_sum *out) {
  const insn_slot from[3] = {in->a, in->b, in->c};
  struct affine_sum v[3] = {{.n = 0}};
  int n = operands_of(zeros_form_of(in));
  for (int i = 0; i < n; i++)
    v[i] = expand(a, from[i], block, depth + 1);
  return n && apply(a, in, v, out);
}

static bool has_rewritten(const struct affine *a, const struct affine_sum *s) {
  for (int i = 0; i < s->n; i++)
    if (a->defs[s->term[i].root] > 1)
      return true;
  return false;
}

/* A register with one definition is looked through. What it is made of must be the same here as
 * there: a register with several definitions is so only within the block. */
static struct affine_sum expand(struct affine *a, insn_slot s, int block, int depth) {
  struct affine_sum out = {0};
  if (is_constant(s)) {
    out.constant = constant_of(a, s);
    return out;
  }
  if (a->defs[s] != 1 || depth > MAX_DEPTH || --a->work < 0)
    return root_sum(s);
  int at = a->def[s];
  if (!sum_by(a, &a->program->code[at], a->block[at], depth, &out) ||
      (a->block[at] != block && has_rewritten(a, &out)))
    return root_sum(s);
  return out;
}

struct affine_sum affine_of(struct affine *a, insn_slot slot, int at) {
  a->work = MAX_WORK;
  return expand(a, slot, a->block[at], 0);
}

struct affine_sum affine_before(struct affine *a, insn_slot slot, int first, int last) {
  const struct program *p = a->program;
  int before = -1;
  struct affine_sum out;
  for (int i = 0; i < p->ncode; i++) {
    if ((i >= first && i <= last) || !writes(a, i, slot))
      continue;
    if (before >= 0)
      return root_sum(affine_root(a, a->zeros[slot]));
    before = i;
  }
  a->work = MAX_WORK;
  if (before < 0 || !sum_by(a, &p->code[before], a->block[before], 0, &out))
    return root_sum(affine_root(a, a->zeros[slot]));
  return out;
}

insn_slot affine_root(struct affine *a, int zeros) {
  int n = a->program->units + a->nroots;
  if (a->nroots == a->rootcap) {
    a->rootcap = a->rootcap ? 2 * a->rootcap : 64;
    a->zeros = alloc_grow(a->zeros, (size_t)(a->program->units + a->rootcap), 1);
  }
  a->zeros[n] = (uint8_t)zeros;
  a->nroots++;
  return n;
}

void affine_set_zeros(struct affine *a, insn_slot root, int zeros) {
  a->zeros[root] = (uint8_t)zeros;
}

int affine_written(const struct affine *a, int i, insn_slot out[AFFINE_WRITTEN]) {
  return written(&a->program->code[i], out);
}

int affine_operands(const struct affine *a, int i, insn_slot out[3]) {
  const struct insn *in = &a->program->code[i];
  out[0] = in->a;
  out[1] = in->b;
  out[2] = in->c;
  return operands_of(zeros_form_of(in));
}

struct affine_sum affine_made(struct affine *a, int i, const struct affine_sum v[3]) {
  const struct insn *in = &a->program->code[i];
  int z[3] = {0, 0, 0}, n = operands_of(zeros_form_of(in));
  struct affine_sum out;
  for (int k = 0; k < n; k++)
    z[k] = affine_zeros_whole(a, &v[k]);
  if (n && apply(a, in, v, &out))
    return out;
  return root_sum(affine_root(a, n && !in->has_guard ? zeros_by(a, in, z) : 0));
}

static bool writes(const struct affine *a, int i, insn_slot slot) {
  insn_slot out[AFFINE_WRITTEN];
  int n = written(&a->program->code[i], out);
  for (int k = 0; k < n; k++)
    if (out[k] == slot)
      return true;
  return false;
}

bool affine_step_of(struct affine *a, insn_slot slot, int first, int last,
                    struct affine_step *out) {
  const struct program *p = a->program;
  int before = -1, inside = -1;
  if (is_constant(slot) || a->defs[slot] != 2)
    return false;
  for (int i = 0; i < p->ncode; i++)
    if (writes(a, i, slot))
      *(i >= first && i <= last ? &inside : &before) = i;
  if (before < 0 || inside < 0)
    return false;
  const struct insn *in = &p->code[inside], *init = &p->code[before];
  if (in->has_guard || init->has_guard || form_of(in) != FORM_ADD || in->a != slot ||
      !is_constant(in->b))
    return false;
  a->work = MAX_WORK;
  if (!sum_by(a, init, a->block[before], 0, &out->start))
    out->start = root_sum(slot);
  out->step = constant_of(a, in->b);
  out->at = inside;
  return true;
}

int affine_zeros_whole(const struct affine *a, const struct affine_sum *s) {
  return least(affine_zeros(a, s), s->constant ? __builtin_ctz(s->constant) : AFFINE_ALL_ZERO);
}

int affine_zeros(const struct affine *a, const struct affine_sum *s) {
  int zeros = AFFINE_ALL_ZERO;
  for (int i = 0; i < s->n; i++)
    if (s->term[i].factor)
      zeros = least(zeros, __builtin_ctz(s->term[i].factor) + a->zeros[s->term[i].root]);
  return zeros;
}

bool affine_starts_block(const struct affine *a, int i) { return a->starts[i]; }

bool affine_changes(const struct affine *a, int i, const struct affine_sum *s) {
  insn_slot out[AFFINE_WRITTEN];
  int n = written(&a->program->code[i], out);
  for (int k = 0; k < n; k++)
    for (int t = 0; t < s->n; t++)
      if (out[k] == s->term[t].root)
        return true;
  return false;
}
