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
    in->joined = leads ? (uint8_t)bytes : IN_GROUP;
    in->joined_back = (int8_t)(c->address.constant - from);
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

void merge_shared_loads(struct program *p) {
  struct affine *a = affine_new(p);
  struct segment s = {.list = alloc_zero(MAX_OPEN, sizeof *s.list)};
  for (int i = 0; i < p->ncode; i++) {
    const struct insn *in = &p->code[i];
    if (affine_starts_block(a, i) || separates(in) || s.n == MAX_OPEN)
      close_segment(p, &s);
    if (may_join(in)) {
      struct candidate c = {.insn = i, .address = affine_of(a, in->base, i)};
      c.address.constant += (uint32_t)in->offset;
      c.zeros = affine_zeros(a, &c.address);
      s.list[s.n++] = c;
    }
    for (int k = 0; k < s.n; k++)
      if (affine_changes(a, i, &s.list[k].address))
        close_segment(p, &s);
  }
  close_segment(p, &s);
  free(s.list);
  affine_free(a);
}
