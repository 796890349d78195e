#include "sim/xray/merge.h"

#include "base/alloc.h"
#include "sim/xray/affine.h"
#include <stdlib.h>
#include <string.h>

enum { IN_GROUP = 255, MAX_OPEN = 1024 };

struct candidate { /* a load that may be joined with others of its segment */
  int insn;
  struct affine_sum address;
  int zeros; /* of the terms */
  int copy;  /* trip of an unrolled loop, -1: the load as it stands */
  bool done;
};

struct segment { /* loads between two points that nothing is joined across */
  struct candidate *list;
  int n;
};

static bool is_volatile(const struct insn *in) { return in->op.n > 11 && in->op.p[3] == 'v'; }

static bool may_join(const struct insn *in) {
  return in->kind == INSN_LD && in->space == PTX_SHARED && in->width == 4 && in->nvec == 1 &&
         !in->has_guard && !is_volatile(in);
}

static bool separates(const struct insn *in) {
  switch ((enum insn_kind)in->kind) {
  case INSN_ST:
    return in->space == PTX_SHARED || in->space == PTX_GENERIC;
  case INSN_LD:
    return in->space == PTX_SHARED && is_volatile(in);
  case INSN_ATOM:
  case INSN_BAR:
  case INSN_BAR_RED:
  case INSN_BAR_ARRIVE:
  case INSN_WARP_SYNC:
  case INSN_FENCE:
  case INSN_UNSUPPORTED:
    return true;
  default:
    return false;
  }
}

static bool same_terms(const struct affine_sum *x, const struct affine_sum *y) {
  if (x->n != y->n)
    return false;
  for (int i = 0; i < x->n; i++)
    if (x->term[i].root != y->term[i].root || x->term[i].factor != y->term[i].factor)
      return false;
  return true;
}

/* Joins the loads of one aligned piece of `bytes` that begins at constant `from`. */
static void join(struct program *p, struct segment *s, const struct candidate *first, uint32_t from,
                 int bytes) {
  bool leads = true;
  for (int i = 0; i < s->n; i++) {
    struct candidate *c = &s->list[i];
    if (c->done || c->address.constant - from >= (uint32_t)bytes ||
        !same_terms(&c->address, &first->address))
      continue;
    struct insn *in = &p->code[c->insn];
    c->done = true;
    struct insn_copy how = {leads ? (uint8_t)bytes : IN_GROUP,
                            (int8_t)(c->address.constant - from)};
    if (c->copy >= 0) {
      in->copies[c->copy] = how;
    } else {
      in->joined = how.joined;
      in->joined_back = how.back;
    }
    leads = false;
  }
}

/* Which of the four words from `from` on are loaded: a bit each. */
static unsigned words_at(const struct segment *s, const struct candidate *first, uint32_t from) {
  unsigned words = 0;
  for (int i = 0; i < s->n; i++) {
    const struct candidate *c = &s->list[i];
    if (!c->done && c->address.constant - from < 16 && same_terms(&c->address, &first->address))
      words |= 1u << ((c->address.constant - from) / 4);
  }
  return words;
}

/* Three of four words are enough for a load of 16 bytes. */
static void close_segment(struct program *p, struct segment *s) {
  for (int i = 0; i < s->n; i++) {
    struct candidate *c = &s->list[i];
    if (c->done || c->zeros < 3)
      continue;
    uint32_t from = c->address.constant & (c->zeros >= 4 ? ~15u : ~7u);
    unsigned words = words_at(s, c, from);
    if (c->zeros >= 4 && __builtin_popcount(words) >= 3) {
      join(p, s, c, from, 16);
      continue;
    }
    from = c->address.constant & ~7u;
    if ((words_at(s, c, from) & 3) == 3)
      join(p, s, c, from, 8);
  }
  s->n = 0;
}

/* ---- loops that ptxas unrolls in full */

enum { UNROLLED_INSNS = 320 };

struct loop {
  int first, last;
  insn_slot counter;
  struct affine_step step; /* of the counter */
  int trips;
};

/* A block that branches to itself on a comparison of a counter with a constant. */
static bool find_loop(struct affine *a, const struct program *p, int last, struct loop *out) {
  const struct insn *branch = &p->code[last], *setp = NULL;
  *out = (struct loop){.first = branch->target, .last = last};
  if (branch->kind != INSN_BRA || !branch->has_guard || branch->guard.neg || out->first > last)
    return false;
  for (int i = out->first; i < last; i++) {
    const struct insn *in = &p->code[i];
    if ((i > out->first && affine_starts_block(a, i)) || in->nounroll || separates(in))
      return false;
    if (in->kind == INSN_SETP && in->p.index == branch->guard.index)
      setp = in;
  }
  if (!setp || setp->b >= 0 || setp->sub != BOOL_NONE ||
      !affine_step_of(a, setp->a, out->first, last, &out->step) || out->step.start.n != 0 ||
      &p->code[out->step.at] > setp || !out->step.step)
    return false;
  out->counter = setp->a;
  uint32_t value[INSN_LANES] = {out->step.start.constant};
  int n = last - out->first + 1;
  if (!ptx_lex_is(setp->op, "setp.ne.s32") && !ptx_lex_is(setp->op, "setp.lt.s32") &&
      !ptx_lex_is(setp->op, "setp.lt.u32"))
    return false;
  do {
    value[0] += out->step.step;
    out->trips++;
  } while (out->trips * n <= UNROLLED_INSNS &&
           setp->cmp(value, p->consts + (size_t)~setp->b * INSN_UNIT) & 1);
  return out->trips > 1 && out->trips * n <= UNROLLED_INSNS;
}

/* The address of a load in the first trip and how far a trip moves it; false if it is not known. */
static bool address_of_trip(struct affine *a, const struct loop *l, insn_slot base, int i,
                            struct affine_sum *sum, uint32_t *move) {
  const struct affine_sum as = affine_of(a, base, i);
  *sum = (struct affine_sum){.constant = as.constant};
  *move = 0;
  for (int k = 0; k < as.n; k++) {
    struct affine_step step;
    struct affine_sum root = {.term = {{as.term[k].root, 1}}, .n = 1};
    if (affine_step_of(a, as.term[k].root, l->first, l->last, &step)) {
      if (step.at < i) /* moved before it is read */
        return false;
      root = step.start;
      *move += as.term[k].factor * step.step;
    } else if (affine_written_in(a, as.term[k].root, l->first, l->last)) {
      return false; /* another value in each trip */
    }
    if (!affine_add(sum, &root, as.term[k].factor))
      return false;
  }
  return true;
}

static void unroll(struct program *p, struct affine *a, const struct loop *l, struct segment *s) {
  for (int i = l->first; i <= l->last; i++) {
    struct insn *in = &p->code[i];
    in->unrolled = l->trips;
    struct candidate c = {.insn = i};
    uint32_t move = 0;
    if (!may_join(in) || i > l->step.at || s->n + l->trips > MAX_OPEN ||
        !address_of_trip(a, l, in->base, i, &c.address, &move))
      continue;
    in->copies = alloc_zero((size_t)l->trips, sizeof *in->copies);
    in->ncopies = l->trips;
    in->counter = l->counter;
    in->counter_start = l->step.start.constant;
    in->counter_step = l->step.step;
    c.address.constant += (uint32_t)in->offset;
    c.zeros = affine_zeros(a, &c.address);
    for (c.copy = 0; c.copy < l->trips; c.copy++) {
      s->list[s->n++] = c;
      c.address.constant += move;
    }
  }
  close_segment(p, s);
}

void merge_shared_loads(struct program *p) {
  struct affine *a = affine_new(p);
  struct segment s = {.list = alloc_zero(MAX_OPEN, sizeof *s.list)};
  for (int i = 0; i < p->ncode; i++) {
    const struct insn *in = &p->code[i];
    if (affine_starts_block(a, i) || separates(in) || s.n == MAX_OPEN)
      close_segment(p, &s);
    if (may_join(in)) {
      struct candidate c = {.insn = i, .copy = -1, .address = affine_of(a, in->base, i)};
      c.address.constant += (uint32_t)in->offset;
      c.zeros = affine_zeros(a, &c.address);
      s.list[s.n++] = c;
    }
    for (int k = 0; k < s.n; k++)
      if (affine_changes(a, i, &s.list[k].address))
        close_segment(p, &s);
  }
  close_segment(p, &s);
  for (int i = 0; i < p->ncode; i++) {
    struct loop l;
    if (p->code[i].kind == INSN_BRA && find_loop(a, p, i, &l))
      unroll(p, a, &l, &s);
  }
  free(s.list);
  affine_free(a);
}
