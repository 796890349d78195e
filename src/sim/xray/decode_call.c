#include "sim/xray/decode_call.h"

#include "base/alloc.h"
#include "sim/xray/decode.h"
#include "sim/xray/memory.h"
#include <stdlib.h>
#include <string.h>

/* The GPU's own limit is 1024 bytes a thread unless the host raises it. */
enum { MAX_FUNCS = 256, RECURSION_ROOM = 16 * 1024 };

static bool same(struct slice a, struct slice b) {
  return a.n == b.n && memcmp(a.p, b.p, (size_t)a.n) == 0;
}

static bool is_call(const struct ptx_insn *in) {
  return in->op.n >= 4 && memcmp(in->op.p, "call", 4) == 0 && in->n == 3;
}

static int builtin_of(struct slice name) {
  static const char *const names[] = {"vprintf", "__assertfail", "malloc", "free"};
  for (int i = 0; i < 4; i++)
    if (ptx_lex_is(name, names[i]))
      return i + 1;
  return CALL_FUNC;
}

/* Index in the module of the device function of that name; -1: none with a body. */
static int find_func(const struct ptx_module *m, struct slice name) {
  for (int i = 0; i < m->nfuncs; i++)
    if (m->funcs[i].defined && !m->funcs[i].entry && same(m->funcs[i].name, name))
      return i;
  return -1;
}

/* Index in the program; -1: not taken in. */
static int find_taken(const struct program *p, const struct ptx_func *f) {
  for (int i = 0; i < p->nfuncs; i++)
    if (p->funcs[i].f == f)
      return i;
  return -1;
}

bool decode_call_symbol(const struct program *p, const struct ptx_module *module, struct slice name,
                        bool generic, int64_t *value) {
  for (int i = 0; i < p->nsymbols; i++) {
    const struct insn_symbol *s = &p->symbols[i];
    if (s->func >= 0 || !same(s->var->name, name))
      continue;
    *value = s->at + (generic && s->var->space == PTX_CONST ? MEMORY_CONST_WINDOW : 0);
    return true;
  }
  int f = find_func(module, name);
  *value = DECODE_CALL_CODE(f);
  return f >= 0;
}

static void take(struct program *p, const struct ptx_module *module, int index) {
  if (index < 0 || find_taken(p, &module->funcs[index]) >= 0 || p->nfuncs == MAX_FUNCS)
    return;
  p->funcs = alloc_grow(p->funcs, (size_t)p->nfuncs + 1, sizeof *p->funcs);
  p->funcs[p->nfuncs++] =
      (struct insn_func){.f = &module->funcs[index], .code = DECODE_CALL_CODE(index)};
}

void decode_call_collect(struct program *p, const struct ptx_module *module,
                         const struct ptx_func *kernel) {
  p->funcs = alloc_zero(1, sizeof *p->funcs);
  p->funcs[0].f = kernel;
  p->nfuncs = 1;
  for (int k = 0; k < p->nfuncs; k++) {
    const struct ptx_func *f = p->funcs[k].f;
    for (int i = 0; i < f->ncode; i++) {
      if (!is_call(&f->code[i]))
        continue;
      if (f->code[i].a[0].kind == PTX_REG) /* any function: not known before it runs */
        for (int j = 0; j < module->nfuncs; j++)
          take(p, module, module->funcs[j].entry || !module->funcs[j].defined ? -1 : j);
      else if (builtin_of(f->code[i].a[0].name) == CALL_FUNC)
        take(p, module, find_func(module, f->code[i].a[0].name));
    }
  }
}

/* ---- the room of the frames */

/* Calls seen[] true for every function that k may call, by whatever way. */
static void mark_called(const struct program *p, int k, bool *seen) {
  for (int c = 0; c < p->ncalls; c++) {
    if (p->calls[c].caller != k || p->calls[c].what != CALL_FUNC)
      continue;
    for (int f = 1; f < p->nfuncs; f++)
      if ((p->calls[c].func == f || p->calls[c].func < 0) && !seen[f]) {
        seen[f] = true;
        mark_called(p, f, seen);
      }
  }
}

static int64_t deepest(const struct program *p, int k) {
  int64_t most = 0;
  for (int c = 0; c < p->ncalls; c++)
    if (p->calls[c].caller == k && p->calls[c].what == CALL_FUNC)
      for (int f = 1; f < p->nfuncs; f++)
        if (p->calls[c].func == f || p->calls[c].func < 0) {
          int64_t below = p->funcs[f].deepest;
          most = below > most ? below : most;
        }
  return p->funcs[k].frame + most;
}

void decode_call_room(struct program *p) {
  bool recursive = false;
  bool *seen = alloc_zero((size_t)p->nfuncs, sizeof *seen);
  for (int k = 1; k < p->nfuncs; k++) {
    memset(seen, 0, (size_t)p->nfuncs * sizeof *seen);
    mark_called(p, k, seen);
    p->funcs[k].recursive = seen[k];
    recursive |= seen[k];
  }
  free(seen);
  /* Without recursion no chain of calls is longer than the number of functions. */
  for (int round = 0; round < p->nfuncs && !recursive && p->ncalls; round++)
    for (int k = 0; k < p->nfuncs; k++)
      p->funcs[k].deepest = deepest(p, k);
  int64_t room = recursive ? p->funcs[0].frame + RECURSION_ROOM : p->funcs[0].deepest;
  p->local_bytes = room > p->funcs[0].frame ? room : p->funcs[0].frame;
}

/* ---- the forms */

/* Place and size in the caller's frame of a .param variable; false if it is something else. */
static bool frame_place(struct decoder *d, const struct ptx_operand *o, int64_t *at,
                        int64_t *bytes) {
  const struct insn_symbol *s = o->kind == PTX_SYMBOL && !o->imm ? decode_symbol(d, o->name) : NULL;
  if (!s || !s->in_frame)
    return false;
  *at = s->at;
  *bytes = s->var->bytes;
  return true;
}

bool decode_call(struct decoder *d) {
  const struct ptx_insn *src = d->src;
  struct program *p = d->program;
  if (src->n != 3 || src->a[1].n > 1 || src->a[2].n > CALL_ARGS)
    return false;
  struct insn_call c = {.what = builtin_of(src->a[0].name), .caller = d->index, .func = -1};
  if (src->a[0].kind == PTX_REG) {
    c.what = CALL_FUNC;
    c.address = decode_source(d, &src->a[0], 8);
  } else if (c.what == CALL_FUNC) {
    int f = find_func(d->module, src->a[0].name);
    c.func = f < 0 ? -1 : find_taken(p, &d->module->funcs[f]);
    if (c.func < 0)
      return false;
  }
  for (int i = 0; i < src->a[2].n; i++)
    if (!frame_place(d, &d->func->pool[src->a[2].first + i], &c.arg[i], &c.arg_bytes[i]))
      return false;
  c.nargs = src->a[2].n;
  if (src->a[1].n && !frame_place(d, &d->func->pool[src->a[1].first], &c.ret, &c.ret_bytes))
    return false;
  if (c.func >= 0 && p->funcs[c.func].f->nparams != c.nargs)
    return false;
  d->out->kind = INSN_CALL;
  d->out->target = p->ncalls;
  p->calls = alloc_grow(p->calls, (size_t)p->ncalls + 1, sizeof c);
  p->calls[p->ncalls++] = c;
  return true;
}

/* brx.idx index, table; */
bool decode_call_jump(struct decoder *d) {
  struct program *p = d->program;
  if (d->src->n != 2 || d->nparts < 2 || !decode_has(d, "idx"))
    return false;
  const struct ptx_table *t = NULL;
  for (int i = 0; i < d->func->ntables; i++)
    if (same(d->func->tables[i].name, d->src->a[1].name))
      t = &d->func->tables[i];
  if (!t || t->n < 1)
    return false;
  d->out->kind = INSN_BRX;
  d->out->a = decode_source(d, &d->src->a[0], 4);
  d->out->target = p->ntargets;
  d->out->offset = t->n;
  p->targets = alloc_grow(p->targets, (size_t)(p->ntargets + t->n), sizeof *p->targets);
  for (int i = 0; i < t->n; i++) {
    int32_t at = decode_label(d, d->func->pool[t->first + i].name, t->scope);
    if (at < 0)
      d->bad = true;
    p->targets[p->ntargets + i] = at < 0 ? 0 : at;
  }
  p->ntargets += t->n;
  return true;
}
