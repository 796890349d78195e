#include "sim/xray/depend.h"

#include "base/alloc.h"
#include "sim/xray/depend_alu.h"
#include "sim/xray/exec_mma.h"
#include "sim/xray/forms.h"
#include "sim/xray/memory.h"
#include <stdlib.h>
#include <string.h>

struct depend *depend_new(const struct program *p) {
  struct depend *d = alloc_zero(1, sizeof *d);
  d->program = p;
  d->how = alloc_zero((size_t)p->ncode, sizeof *d->how);
  depend_alu_begin(d);
  return d;
}

void depend_free(struct depend *d) {
  if (!d)
    return;
  forms_free(d->forms);
  free(d->how);
  free(d->tags);
  free(d->data);
  free(d);
}

void depend_begin(struct depend *d, const struct machine *m) {
  forms_free(d->forms);
  d->forms = forms_new(m->block, m->launch->grid);
  d->failed = NULL;
  if (!d->tags) {
    d->nwarps = m->nwarps;
    d->tags = alloc_zero((size_t)m->nwarps * (size_t)d->program->units, sizeof *d->tags);
    d->data = alloc_zero((size_t)m->nwarps * (size_t)d->program->npreds, sizeof *d->data);
  }
}

void depend_warp(const struct machine *m, const struct warp *w) {
  struct depend *d = m->depend;
  const struct program *p = d->program;
  struct tag *tags = d->tags + (int64_t)w->index * p->units;
  memset(tags, 0, (size_t)p->units * sizeof *tags);
  memset(d->data + (int64_t)w->index * p->npreds, 0, (size_t)p->npreds * sizeof *d->data);
  static const char *const names[] = {"%ctaid.x", "%ctaid.y", "%ctaid.z"};
  for (int i = 0; i < p->nspecials; i++)
    for (int k = 0; k < 3; k++)
      if (ptx_lex_is(p->specials[i].name, names[k])) {
        forms_id id = forms_coordinate(d->forms, k);
        tags[p->specials[i].slot] = (struct tag){id, id, UINT32_MAX};
      }
}

const struct insn *depend_failed(const struct depend *d) { return d->failed; }

void depend_match(struct depend *d, const int64_t *blocks, int64_t n, bool *same) {
  forms_match(d->forms, blocks, n, same);
}

static void fail(const struct step *s) {
  if (!s->d->failed)
    s->d->failed = s->in;
}

/* ---- memory */

/* Accesses of `bytes` at the addresses of a range stay inside of the piece that they hit here, and
 * in the same place of a line of 128 bytes. */
static bool inside(const struct step *s, forms_id id, enum ptx_space space, struct depend_range r,
                   int bytes) {
  if (space == PTX_LOCAL)
    return depend_fixed(s, id);
  const struct memory_piece *p = memory_find(s->m->memory, space, r.low, 0);
  if (!p || r.low < p->base || r.high - p->base > p->bytes - bytes)
    return depend_fixed(s, id);
  forms_limit(s->d->forms, id, p->base - r.low, p->base + p->bytes - bytes - r.high);
  /* One address costs the same wherever it is. */
  forms_multiple(s->d->forms, id, r.low == r.high ? __builtin_ctz((unsigned)bytes) : 7);
  return true;
}

/* The addresses that the lanes of an access compute; false if they hang on data. */
static bool address(const struct step *s, insn_slot base, bool wide, int64_t offset,
                    enum ptx_space space, int bytes) {
  forms_id id = depend_get(s, base);
  struct depend_range r = {INT64_MAX, INT64_MIN};
  enum ptx_space in_space = space;
  if (space == PTX_LOCAL) /* one thread's, and not counted */
    return true;
  if (id == FORMS_DATA)
    return false;
  if (id == FORMS_NONE)
    return true;
  for (uint32_t left = s->mask; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    uint64_t v = depend_lane(s, base, wide ? 8 : 4, l);
    int64_t at = wide ? (int64_t)(v + (uint64_t)offset) : (uint32_t)(v + (uint64_t)offset);
    if (space == PTX_GENERIC) {
      enum ptx_space now = memory_space(&at);
      if (in_space != PTX_GENERIC && in_space != now)
        return depend_fixed(s, id);
      in_space = now;
    }
    r.low = at < r.low ? at : r.low;
    r.high = at > r.high ? at : r.high;
  }
  return inside(s, id, in_space, r, bytes);
}

static void memory(const struct step *s) {
  const struct insn *in = s->in;
  enum ptx_space space = (enum ptx_space)in->space;
  if (!address(s, in->base, in->base_wide, in->offset, space, in->width * in->nvec))
    fail(s);
  if (in->copies && !depend_fixed(s, depend_get(s, in->counter)))
    fail(s);
  bool constant =
      (space == PTX_PARAM || space == PTX_CONST) && depend_get(s, in->base) == FORMS_NONE;
  if (in->kind == INSN_LD)
    for (int i = 0; i < in->nvec; i++)
      depend_put(s, in->vec[i], constant ? FORMS_NONE : FORMS_DATA);
  else if (in->kind == INSN_ATOM)
    depend_put(s, in->dst, FORMS_DATA);
}

/* ---- the rest */

static void all_fixed(const struct step *s, forms_id a, forms_id b, forms_id c) {
  if (!depend_fixed(s, a) || !depend_fixed(s, b) || !depend_fixed(s, c))
    fail(s);
}

static void shuffle(const struct step *s) {
  const struct insn *in = s->in;
  forms_id a = depend_get(s, in->a), b = depend_get(s, in->b), c = depend_get(s, in->c);
  /* Lanes out of mask may be read: they count too. */
  const struct step whole = {s->d, s->m, s->w, in, s->tags, s->data, UINT32_MAX};
  if (s->mask != UINT32_MAX && in->a >= 0)
    a = depend_get(&whole, in->a);
  bool lost = !depend_fixed(s, b) || !depend_fixed(s, c);
  depend_put(s, in->dst, lost ? FORMS_DATA : a);
  depend_put_pred(s, in->p, lost);
}

/* What only needs its operands to be the same there. */
static void plain(const struct step *s) {
  const struct insn *in = s->in;
  forms_id ids[5] = {FORMS_NONE, FORMS_NONE, FORMS_NONE, FORMS_NONE, FORMS_NONE};
  bool data = false;
  switch ((enum insn_kind)in->kind) {
  case INSN_PACK:
    for (int i = 0; i < in->nvec; i++)
      ids[i] = depend_get(s, in->vec[i]);
    break;
  case INSN_BFI:
    ids[0] = depend_get(s, in->a), ids[1] = depend_get(s, in->b), ids[2] = depend_get(s, in->c);
    ids[3] = depend_get(s, in->vec[0]);
    break;
  default:
    ids[0] = depend_get(s, in->a);
    break;
  }
  for (int i = 0; i < 5; i++)
    data |= ids[i] == FORMS_DATA;
  for (int i = 0; i < 5 && !data; i++)
    depend_fixed(s, ids[i]);
  if (in->kind == INSN_UNPACK)
    for (int i = 0; i < in->nvec; i++)
      depend_put(s, in->vec[i], data ? FORMS_DATA : FORMS_NONE);
  else
    depend_put(s, in->dst, data ? FORMS_DATA : FORMS_NONE);
}

static void vote(const struct step *s) {
  bool data = depend_pred_data(s, s->in->pa);
  if (s->in->sub == VOTE_BALLOT)
    depend_put(s, s->in->dst, data ? FORMS_DATA : FORMS_NONE);
  else
    depend_put_pred(s, s->in->p, data);
}

/* What only needs its operands to be the same there: results in dst and p. */
static void same_operands(const struct step *s) {
  const struct insn *in = s->in;
  const insn_slot from[4] = {in->a, in->b, in->c, in->kind == INSN_ELECT ? in->vec[0] : 0};
  bool data = in->pa.index > 0 && depend_pred_data(s, in->pa);
  for (int i = 0; i < 4; i++)
    data |= depend_get(s, from[i]) == FORMS_DATA;
  for (int i = 0; i < 4 && !data; i++)
    depend_fixed(s, depend_get(s, from[i]));
  if (data && in->kind == INSN_CARRY) /* the flag is not followed */
    fail(s);
  if (in->kind != INSN_TESTP && in->kind != INSN_ISSPACEP)
    depend_put(s, in->dst, data || in->kind == INSN_CLOCK ? FORMS_DATA : FORMS_NONE);
  depend_put_pred(s, in->p, data);
  depend_put_pred(s, in->p2, data);
}

static void asynchronous(const struct step *s) {
  const struct insn *in = s->in;
  enum ptx_space to = in->base_wide ? PTX_GENERIC : PTX_SHARED;
  if (in->sub == ASYNC_COPY) {
    if (!address(s, in->base, in->base_wide, in->offset, to, in->width) ||
        !address(s, in->a, true, in->target, PTX_GLOBAL, in->width) ||
        !depend_fixed(s, depend_get(s, in->b)) || depend_pred_data(s, in->pa))
      fail(s);
  } else if (in->sub == ASYNC_ARRIVE && !depend_fixed(s, depend_get(s, in->base))) {
    fail(s);
  }
}

/* Arrivals and tests come out the same where the warps run in step. */
static void mbarrier(const struct step *s) {
  const struct insn *in = s->in;
  if (!depend_fixed(s, depend_get(s, in->base)) || !depend_fixed(s, depend_get(s, in->a)))
    fail(s);
  depend_put(s, in->dst, FORMS_NONE);
  depend_put_pred(s, in->p, false);
}

/* wmma.load and wmma.store: lane 0 has the start of the matrix. */
static bool fragment(const struct step *s) {
  const struct insn *in = s->in;
  const struct insn_tensor *t = in->tensor;
  const struct insn_fragment *f = &t->d;
  int64_t columns = f->role == MMA_A ? t->k : t->n, rows = f->role == MMA_B ? t->k : t->m;
  int64_t outer = f->column ? columns : rows, inner = f->column ? rows : columns;
  int64_t stride = inner, bits = exec_mma_bits((enum exec_mma_format)f->format);
  forms_id id = depend_get(s, in->base);
  if (id == FORMS_DATA)
    return false;
  if (t->stride != INSN_NO_SLOT) {
    if (!depend_fixed(s, depend_get(s, t->stride)))
      return false;
    stride = (int32_t)depend_lane(s, t->stride, 4, 0);
  }
  if (id == FORMS_NONE)
    return true;
  int wide = in->base_wide ? 8 : 4;
  uint64_t v = depend_lane(s, in->base, wide, 0) + (uint64_t)in->offset;
  int64_t at = wide == 8 ? (int64_t)v : (int64_t)(uint32_t)v;
  enum ptx_space space = (enum ptx_space)in->space;
  if (space == PTX_GENERIC)
    space = memory_space(&at);
  if (stride < 0 || s->mask != UINT32_MAX)
    return depend_fixed(s, id);
  const struct depend_range r = {at, at + ((outer - 1) * stride + inner) * bits / 8 - 1};
  return inside(s, id, space, r, 1);
}

static void tensor(const struct step *s) {
  const struct insn *in = s->in;
  if ((in->kind == INSN_FRAG_LD || in->kind == INSN_FRAG_ST) && !fragment(s))
    fail(s);
  if (in->kind == INSN_FRAG_LD)
    for (int i = 0; i < in->tensor->d.n; i++)
      depend_put(s, in->tensor->d.reg[i], FORMS_DATA);
  if (in->kind == INSN_MATRIX_LD || in->kind == INSN_MATRIX_ST)
    if (!address(s, in->base, in->base_wide, in->offset, (enum ptx_space)in->space, 16))
      fail(s);
  if (in->kind == INSN_MATRIX_LD)
    for (int i = 0; i < in->nvec; i++)
      depend_put(s, in->vec[i], FORMS_DATA);
  if (in->kind == INSN_MMA)
    for (int i = 0; i < in->tensor->d.n; i++)
      depend_put(s, in->tensor->d.reg[i], FORMS_DATA);
  if (in->kind == INSN_MOVMATRIX)
    depend_put(s, in->dst, FORMS_DATA);
}

/* A call that only writes text; what others are given is not followed. */
static void call(const struct step *s) {
  if (s->d->program->calls[s->in->target].what != CALL_VPRINTF)
    fail(s);
}

static void rare(const struct step *s) {
  switch ((enum insn_kind)s->in->kind) {
  case INSN_HALF:
  case INSN_SET:
  case INSN_CVT_PACK:
  case INSN_CARRY:
  case INSN_LOP3:
  case INSN_TESTP:
  case INSN_ISSPACEP:
  case INSN_CLOCK:
  case INSN_ELECT:
    same_operands(s);
    return;
  case INSN_ASYNC:
    asynchronous(s);
    return;
  case INSN_MBAR:
    mbarrier(s);
    return;
  case INSN_MMA:
  case INSN_FRAG_LD:
  case INSN_FRAG_ST:
  case INSN_MATRIX_LD:
  case INSN_MATRIX_ST:
  case INSN_MOVMATRIX:
    tensor(s);
    return;
  case INSN_CALL:
    call(s);
    return;
  case INSN_BRX:
    all_fixed(s, depend_get(s, s->in->a), FORMS_NONE, FORMS_NONE);
    return;
  default:
    fail(s);
    return;
  }
}

static void step(const struct step *s) {
  const struct insn *in = s->in;
  switch ((enum insn_kind)in->kind) {
  case INSN_ALU:
    depend_alu(s);
    return;
  case INSN_SETP:
    depend_alu_setp(s);
    return;
  case INSN_PRED:
    depend_put_pred(s, in->p,
                    depend_pred_data(s, in->pa) ||
                        ((in->sub == BOOL_AND || in->sub == BOOL_OR || in->sub == BOOL_XOR) &&
                         depend_pred_data(s, in->pb)));
    return;
  case INSN_SELP:
    depend_alu_selp(s);
    return;
  case INSN_CVT:
    depend_alu_cvt(s);
    return;
  case INSN_LD:
  case INSN_ST:
  case INSN_ATOM:
    memory(s);
    return;
  case INSN_BAR:
  case INSN_BAR_ARRIVE:
    all_fixed(s, depend_get(s, in->a), depend_get(s, in->b), FORMS_NONE);
    return;
  case INSN_BAR_RED:
    all_fixed(s, depend_get(s, in->a), depend_get(s, in->b), FORMS_NONE);
    vote(s);
    return;
  case INSN_SHFL:
    shuffle(s);
    return;
  case INSN_VOTE:
    vote(s);
    return;
  case INSN_ACTIVEMASK:
    depend_put(s, in->dst, FORMS_NONE);
    return;
  case INSN_PACK:
  case INSN_UNPACK:
  case INSN_BFI:
  case INSN_REDUX:
  case INSN_MATCH:
    plain(s);
    return;
  case INSN_BRA:
  case INSN_RET:
  case INSN_WARP_SYNC:
  case INSN_FENCE:
  case INSN_NOP:
    return;
  default:
    rare(s);
    return;
  }
}

/* Most arithmetic: data on data gives data again. */
static inline bool stays_data(const struct step *s) {
  const struct insn *in = s->in;
  if (!in->plain || in->has_guard || in->a < NAMED || in->dst < NAMED)
    return false;
  const struct tag *a = &s->tags[in->a], *to = &s->tags[in->dst];
  return a->id == FORMS_DATA && a->rest == FORMS_DATA && to->id == FORMS_DATA &&
         to->rest == FORMS_DATA;
}

void depend_step(const struct machine *m, const struct warp *w, const struct insn *in,
                 uint32_t mask) {
  struct depend *d = m->depend;
  struct step s = {d,
                   m,
                   w,
                   in,
                   d->tags + (int64_t)w->index * d->program->units,
                   d->data + (int64_t)w->index * d->program->npreds,
                   mask};
  if (d->failed || stays_data(&s))
    return;
  if (in->has_guard) {
    s.mask = w->stack[w->depth - 1].mask;
    if (depend_pred_data(&s, in->guard))
      fail(&s);
    s.mask = mask;
  }
  if (mask)
    step(&s);
}
