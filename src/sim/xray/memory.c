#include "sim/xray/memory.h"

#include "base/alloc.h"
#include "sim/xray/decode.h"
#include "sim/xray/decode_call.h"
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_SHARED = 228 * 1024,
  MAX_LOCAL = 512 * 1024, /* of a thread, as CUDA has it */
  MAX_LOCAL_BLOCK = 1 << 27,
  MAX_CONST = 64 * 1024,
  MAX_PARAMS = 32764,
  MAX_GLOBAL = 1 << 30
};

struct memory {
  struct memory_piece *arrays;
  int narrays; /* the last is the module's */
  struct memory_piece shared, local, constants, params;
  struct memory_piece of_thread; /* the last thread's part of local */
  int64_t threads;
  bool forked; /* arrays, constants and parameters are another's */
  bool *unset; /* of each symbol: a constant without a value; NULL: there is none */
};

/* The addresses in an initialiser, now that all variables have their places. */
static void fill_addresses(unsigned char *to, const struct program *p,
                           const struct ptx_module *module, const struct ptx_var *v) {
  for (int i = 0; i < v->nrelocs; i++) {
    const struct ptx_reloc *r = &v->relocs[i];
    int64_t value = 0;
    if (!decode_call_symbol(p, module, r->name, r->generic, &value))
      continue;
    value = (int64_t)(((uint64_t)value + (uint64_t)r->add) >> r->shift);
    memcpy(to + r->at, &value, (size_t)r->bytes);
  }
}

static void fill_globals(unsigned char *data, const struct program *p,
                         const struct ptx_module *module, enum ptx_space space) {
  for (int i = 0; i < p->nsymbols; i++) {
    const struct ptx_var *v = p->symbols[i].var;
    int64_t at = p->symbols[i].at;
    if (v->space != space || !v->init)
      continue;
    if (space == PTX_GLOBAL)
      at -= DECODE_GLOBAL_BASE;
    memcpy(data + at, v->init, (size_t)v->ninit);
    fill_addresses(data + at, p, module, v);
  }
}

/* The array of the launch that bears the name of a variable of the module; NULL: none. */
static const struct xray_array *named_array(const struct xray_launch *launch,
                                            const struct insn_symbol *s) {
  if (s->func >= 0 || (s->var->space != PTX_GLOBAL && s->var->space != PTX_CONST))
    return NULL;
  for (int i = 0; i < launch->narrays; i++)
    if (launch->arrays[i].name && launch->arrays[i].data &&
        ptx_lex_is(s->var->name, launch->arrays[i].name))
      return &launch->arrays[i];
  return NULL;
}

static unsigned char *place_of(const struct memory *mem, const struct insn_symbol *s) {
  if (s->var->space == PTX_CONST)
    return mem->constants.data + s->at;
  return mem->arrays[mem->narrays - 1].data + (s->at - DECODE_GLOBAL_BASE);
}

static size_t least(const struct xray_array *a, const struct ptx_var *v) {
  return a->bytes < (size_t)v->bytes ? a->bytes : (size_t)v->bytes;
}

/* What cudaMemcpyToSymbol would have done. */
static void take_named(struct memory *mem, const struct program *p,
                       const struct xray_launch *launch) {
  for (int i = 0; i < p->nsymbols; i++) {
    const struct insn_symbol *s = &p->symbols[i];
    const struct xray_array *a = named_array(launch, s);
    if (a) {
      memcpy(place_of(mem, s), a->data, least(a, s->var));
    } else if (s->func < 0 && s->var->space == PTX_CONST && !s->var->init) {
      if (!mem->unset)
        mem->unset = alloc_zero((size_t)p->nsymbols, sizeof *mem->unset);
      mem->unset[i] = true;
    }
  }
}

void memory_give_back(const struct memory *mem, const struct program *p,
                      const struct xray_launch *launch) {
  for (int i = 0; i < p->nsymbols; i++) {
    const struct insn_symbol *s = &p->symbols[i];
    const struct xray_array *a = named_array(launch, s);
    if (a && s->var->space == PTX_GLOBAL)
      memcpy(a->data, place_of(mem, s), least(a, s->var));
  }
}

const struct ptx_var *memory_unset(const struct memory *mem, const struct program *p,
                                   int64_t address) {
  for (int i = 0; mem->unset && i < p->nsymbols; i++)
    if (mem->unset[i] && address >= p->symbols[i].at &&
        address - p->symbols[i].at < p->symbols[i].var->bytes)
      return p->symbols[i].var;
  return NULL;
}

static bool fill_params(struct memory *mem, const struct program *p, const struct ptx_func *f,
                        const struct xray_launch *launch, struct err *err) {
  if (launch->nargs != f->nparams)
    return err_set(err,
                   "Kernel %.*s takes %d arguments, %d were given. Give one for each parameter.",
                   f->name.n, f->name.p, f->nparams, launch->nargs);
  for (int i = 0; i < f->nparams; i++) {
    const struct xray_arg *arg = &launch->args[i];
    int64_t bytes = f->params[i].bytes, at = 0;
    for (int s = 0; s < p->nsymbols; s++)
      if (p->symbols[s].var == &f->params[i])
        at = p->symbols[s].at;
    if (arg->array >= launch->narrays || (arg->array >= 0 && bytes != 8))
      return err_set(err, "Argument %d of kernel %.*s cannot be an array. Check the order.", i + 1,
                     f->name.n, f->name.p);
    if (arg->array >= 0) {
      memcpy(mem->params.data + at, &mem->arrays[arg->array].base, 8);
      continue;
    }
    if (arg->bytes != bytes || arg->bytes > (int)sizeof arg->value)
      return err_set(err,
                     "Argument %d of kernel %.*s has %lld bytes, %d were given. Check its type.",
                     i + 1, f->name.n, f->name.p, (long long)bytes, arg->bytes);
    memcpy(mem->params.data + at, arg->value, (size_t)bytes);
    for (int r = 0; r < arg->nrefs; r++) {
      const struct xray_ref *ref = &arg->refs[r];
      assert(ref->array < launch->narrays && ref->at + 8 <= arg->bytes);
      memcpy(mem->params.data + at + ref->at, &mem->arrays[ref->array].base, 8);
    }
  }
  return true;
}

static struct memory_piece piece(const char *name, int64_t base, int64_t bytes) {
  return (struct memory_piece){name, alloc_zero((size_t)bytes + 16, 1), base, bytes, -1};
}

/* What the kernel declares, against what there is. */
static bool sizes_fit(const struct program *p, int64_t dynamic, int64_t threads, struct err *err) {
  if (dynamic < 0 || dynamic > MAX_SHARED || p->shared_bytes + dynamic > MAX_SHARED)
    return err_set(err,
                   "The kernel wants %lld bytes of shared memory a block; no GPU has more than %d. "
                   "Make the tile smaller.",
                   (long long)(dynamic > MAX_SHARED ? dynamic : p->shared_bytes + dynamic),
                   MAX_SHARED);
  if (p->local_bytes > MAX_LOCAL)
    return err_set(err,
                   "The kernel wants %lld bytes of local memory a thread, more than %d. Make its "
                   "local arrays smaller.",
                   (long long)p->local_bytes, MAX_LOCAL);
  if (p->local_bytes * threads > MAX_LOCAL_BLOCK)
    return err_set(err,
                   "The threads of a block want %lld bytes of local memory together, more than %d. "
                   "Make the local arrays or the block smaller.",
                   (long long)(p->local_bytes * threads), MAX_LOCAL_BLOCK);
  if (p->const_bytes > MAX_CONST)
    return err_set(err,
                   "The constant variables take %lld bytes; CUDA has %d. Make them smaller, or "
                   "pass a pointer.",
                   (long long)p->const_bytes, MAX_CONST);
  if (p->param_bytes > MAX_PARAMS)
    return err_set(err,
                   "The parameters take %lld bytes; CUDA has %d. Pass a pointer to the data "
                   "instead.",
                   (long long)p->param_bytes, MAX_PARAMS);
  if (p->global_bytes > MAX_GLOBAL)
    return err_set(err,
                   "The global variables take %lld bytes, more than %d. Make them smaller, or pass "
                   "a pointer.",
                   (long long)p->global_bytes, MAX_GLOBAL);
  return true;
}

struct memory *memory_new(const struct ptx_module *module, const struct program *program,
                          const struct ptx_func *f, const struct xray_launch *launch,
                          struct err *err) {
  int64_t threads = launch->block[0] * launch->block[1] * launch->block[2];
  if (!sizes_fit(program, launch->shared_bytes, threads, err))
    return NULL;
  int64_t shared = program->shared_bytes + launch->shared_bytes;
  struct memory *mem = alloc_zero(1, sizeof *mem);
  mem->threads = threads;
  mem->narrays = launch->narrays + 1;
  mem->arrays = alloc_zero((size_t)mem->narrays, sizeof *mem->arrays);
  for (int i = 0; i < launch->narrays; i++) {
    const struct xray_array *a = &launch->arrays[i];
    mem->arrays[i] = (struct memory_piece){a->name, a->data, DECODE_ARRAY_BASE(i),
                                           a->data ? (int64_t)a->bytes : 0, i};
  }
  struct memory_piece *own = &mem->arrays[launch->narrays];
  *own = piece("a variable of the module", DECODE_GLOBAL_BASE, program->global_bytes);
  own->array = launch->narrays;
  mem->shared = piece("shared memory", 0, shared);
  mem->local = piece("local memory", 0, program->local_bytes * threads);
  mem->constants = piece("constant memory", 0, program->const_bytes);
  mem->params = piece("the parameters", 0, program->param_bytes);
  fill_globals(own->data, program, module, PTX_GLOBAL);
  fill_globals(mem->constants.data, program, module, PTX_CONST);
  take_named(mem, program, launch);
  mem->local.bytes = program->local_bytes;
  if (!fill_params(mem, program, f, launch, err)) {
    memory_free(mem);
    return NULL;
  }
  return mem;
}

void memory_free(struct memory *mem) {
  if (!mem)
    return;
  free(mem->shared.data);
  free(mem->local.data);
  if (!mem->forked) {
    free(mem->arrays[mem->narrays - 1].data);
    free(mem->arrays);
    free(mem->constants.data);
    free(mem->params.data);
    free(mem->unset);
  }
  free(mem);
}

struct memory *memory_fork(const struct memory *mem) {
  struct memory *f = alloc_zero(1, sizeof *f);
  *f = *mem;
  f->forked = true;
  f->shared.data = alloc_zero((size_t)mem->shared.bytes + 16, 1);
  f->local.data = alloc_zero((size_t)(mem->local.bytes * mem->threads) + 16, 1);
  return f;
}

/* ---- copies */

struct memory_copy {
  unsigned char **data; /* of each array */
  int n;
};

int64_t memory_bytes(const struct memory *mem) {
  int64_t bytes = 0;
  for (int i = 0; i < mem->narrays; i++)
    bytes += mem->arrays[i].bytes;
  return bytes;
}

struct memory_copy *memory_save(const struct memory *mem) {
  struct memory_copy *c = alloc_zero(1, sizeof *c);
  c->n = mem->narrays;
  c->data = alloc_zero((size_t)c->n, sizeof *c->data);
  for (int i = 0; i < c->n; i++) {
    const struct memory_piece *p = &mem->arrays[i];
    c->data[i] = alloc_zero((size_t)p->bytes, 1);
    if (p->bytes)
      memcpy(c->data[i], p->data, (size_t)p->bytes);
  }
  return c;
}

void memory_restore(struct memory *mem, const struct memory_copy *copy) {
  for (int i = 0; i < copy->n; i++)
    if (mem->arrays[i].bytes)
      memcpy(mem->arrays[i].data, copy->data[i], (size_t)mem->arrays[i].bytes);
}

void memory_copy_free(struct memory_copy *copy) {
  for (int i = 0; i < copy->n; i++)
    free(copy->data[i]);
  free(copy->data);
  free(copy);
}

int memory_arrays(const struct memory *mem) { return mem->narrays; }
const struct memory_piece *memory_array(const struct memory *mem, int i) { return &mem->arrays[i]; }

const struct memory_piece *memory_find(struct memory *mem, enum ptx_space space, int64_t address,
                                       int64_t thread) {
  switch (space) {
  case PTX_GLOBAL: {
    int64_t i = DECODE_ARRAY_OF(address);
    if (i == -1)
      i = mem->narrays - 1;
    else if (i == mem->narrays - 1)
      return NULL;
    return i >= 0 && i < mem->narrays ? &mem->arrays[i] : NULL;
  }
  case PTX_SHARED:
    return &mem->shared;
  case PTX_CONST:
    return &mem->constants;
  case PTX_PARAM:
    return &mem->params;
  case PTX_LOCAL:
    mem->of_thread = mem->local;
    mem->of_thread.data += thread * mem->local.bytes;
    return &mem->of_thread;
  default:
    return NULL;
  }
}

enum ptx_space memory_space(int64_t *address) {
  if (*address >= MEMORY_CONST_WINDOW && *address < 2 * MEMORY_CONST_WINDOW) {
    *address -= MEMORY_CONST_WINDOW;
    return PTX_CONST;
  }
  if (*address >= MEMORY_LOCAL_WINDOW && *address < 2 * MEMORY_LOCAL_WINDOW) {
    *address -= MEMORY_LOCAL_WINDOW;
    return PTX_LOCAL;
  }
  if (*address >= MEMORY_SHARED_WINDOW && *address < MEMORY_LOCAL_WINDOW) {
    *address -= MEMORY_SHARED_WINDOW;
    return PTX_SHARED;
  }
  return PTX_GLOBAL;
}

int64_t memory_shared_bytes(const struct memory *mem) { return mem->shared.bytes; }

void memory_next_block(struct memory *mem) {
  memset(mem->shared.data, 0, (size_t)mem->shared.bytes);
  memset(mem->local.data, 0, (size_t)(mem->local.bytes * mem->threads));
}
