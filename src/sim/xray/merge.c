#include "sim/xray/merge.h"

#include "base/alloc.h"
#include "sim/xray/walk.h"
#include <stdlib.h>
#include <string.h>

enum { IN_GROUP = 255, MAX_OPEN = 2048 };

struct candidate { /* a load that may be joined with others of its segment */
  int insn;
  struct affine_sum address;
  int zeros; /* of the terms */
  int bytes, element;
  int copy; /* of an unrolled loop, -1: the load as it stands */
  bool done;
};

struct merge {
  struct program *program;
  struct affine *affine;
  struct candidate *open; /* loads of the segment in hand: nothing is joined beyond it */
  int n;
};

struct merge *merge_new(struct program *p, struct affine *a) {
  struct merge *m = alloc_zero(1, sizeof *m);
  m->program = p;
  m->affine = a;
  m->open = alloc_zero(MAX_OPEN, sizeof *m->open);
  merge_clear(m);
  return m;
}

void merge_free(struct merge *m) {
  if (!m)
    return;
  free(m->open);
  free(m);
}

void merge_clear(struct merge *m) {
  for (int i = 0; i < m->program->ncode; i++) {
    struct insn *in = &m->program->code[i];
    free(in->copies);
    in->copies = NULL;
    in->ncopies = in->npeeled = 0;
    in->joined = 0;
    in->joined_back = 0;
    in->unrolled = in->repeated = 0;
  }
}

/* Words join words (also words of several short elements), eight-byte elements their like. */
static bool may_join(const struct insn *in) {
  int bytes = in->width * in->nvec;
  return in->kind == INSN_LD && in->space == PTX_SHARED && bytes >= 4 && bytes <= 16 &&
         !in->has_guard && !in->ordered;
}

static bool same_terms(const struct affine_sum *x, const struct affine_sum *y) {
  if (x->n != y->n)
    return false;
  for (int i = 0; i < x->n; i++)
    if (x->term[i].root != y->term[i].root || x->term[i].factor != y->term[i].factor)
      return false;
  return true;
}

/* Where in the `bytes` from `from` on the candidate's load is; -1: not all of it, or of another
 * kind than the first. */
static int place_in(const struct candidate *c, const struct candidate *first, uint32_t from,
                    int bytes) {
  uint32_t at = c->address.constant - from;
  if (c->done || c->element != first->element || at + (uint32_t)c->bytes > (uint32_t)bytes ||
      at >= (uint32_t)bytes || !same_terms(&c->address, &first->address))
    return -1;
  return (int)at;
}

/* Joins the loads of one piece of `bytes` that begins at constant `from`. */
static void join(struct merge *m, const struct candidate *first, uint32_t from, int bytes) {
  bool leads = true;
  const struct candidate like = *first;
  for (int i = 0; i < m->n; i++) {
    struct candidate *c = &m->open[i];
    int at = place_in(c, &like, from, bytes);
    if (at < 0)
      continue;
    struct insn *in = &m->program->code[c->insn];
    struct insn_copy how = {leads ? (uint8_t)bytes : IN_GROUP, (int8_t)at};
    c->done = true;
    leads = false;
    if (c->copy >= 0) {
      in->copies[c->copy] = how;
    } else {
      in->joined = how.joined;
      in->joined_back = how.back;
    }
  }
}

/* Which of the four words from `from` on are loaded: a bit each. */
static unsigned words_at(const struct merge *m, const struct candidate *first, uint32_t from,
                         int bytes) {
  unsigned words = 0;
  for (int i = 0; i < m->n; i++) {
    int at = place_in(&m->open[i], first, from, bytes);
    if (at >= 0)
      words |= ((1u << m->open[i].bytes / 4) - 1) << at / 4;
  }
  return words;
}

/* True if another load reads some of the same bytes and nothing else. */
static bool is_repeated(const struct merge *m, int i) {
  const struct candidate *c = &m->open[i];
  for (int k = i + 1; k < m->n; k++)
    if (place_in(&m->open[k], c, c->address.constant, c->bytes) >= 0)
      return true;
  return false;
}

/* Three of four words are enough for a load of 16 bytes. A load that is in another one, or the same
 * again, is none. */
static void close_segment(struct merge *m) {
  for (int i = 0; i < m->n; i++) {
    const struct candidate *c = &m->open[i];
    uint32_t at = c->address.constant, low = at & ~15u;
    if (!c->done && (c->zeros >= 4 || (c->bytes == 16 && (low = at, true))) &&
        __builtin_popcount(words_at(m, c, low, 16)) >= 3)
      join(m, c, low, 16);
  }
  for (int i = 0; i < m->n; i++) {
    const struct candidate *c = &m->open[i];
    uint32_t at = c->address.constant, low = at & ~7u;
    if (!c->done && (c->zeros >= 3 || (c->bytes == 8 && (low = at, true))) &&
        words_at(m, c, low, 8) == 3)
      join(m, c, low, 8);
  }
  for (int i = 0; i < m->n; i++)
    if (!m->open[i].done && is_repeated(m, i))
      join(m, &m->open[i], m->open[i].address.constant, m->open[i].bytes);
  m->n = 0;
}

static void open_load(struct merge *m, int i, int copy, struct affine_sum address) {
  const struct insn *in = &m->program->code[i];
  if (m->n == MAX_OPEN)
    close_segment(m);
  address.constant += (uint32_t)in->offset;
  m->open[m->n++] = (struct candidate){.insn = i,
                                       .copy = copy,
                                       .address = address,
                                       .zeros = affine_zeros(m->affine, &address),
                                       .bytes = in->width * in->nvec,
                                       .element = in->width == 8 ? 8 : 4};
}

void merge_code(struct merge *m) {
  const struct program *p = m->program;
  for (int i = 0; i < p->ncode; i++) {
    const struct insn *in = &p->code[i];
    if (affine_starts_block(m->affine, i) || loops_separates(in))
      close_segment(m);
    if (may_join(in))
      open_load(m, i, -1, affine_of(m->affine, in->base, i));
    for (int k = 0; k < m->n; k++)
      if (affine_changes(m->affine, i, &m->open[k].address))
        close_segment(m);
  }
  close_segment(m);
}

/* ---- unrolled loops */

static void start_copies(struct merge *m, const struct loop *l, int peeled, int copies) {
  for (int i = l->first; i <= l->last; i++) {
    struct insn *in = &m->program->code[i];
    in->unrolled = peeled + copies;
    if (!may_join(in))
      continue;
    in->copies = alloc_zero((size_t)(peeled + copies), sizeof *in->copies);
    in->ncopies = peeled + copies;
    in->npeeled = peeled;
    in->counter = l->counter;
    in->counter_start = l->start + (i > l->at ? l->step : 0);
    in->counter_step = l->step;
  }
}

static void walk_copy(struct merge *m, struct walk *w, const struct loop *l, int copy) {
  for (int i = l->first; i <= l->last; i++) {
    const struct insn *in = &m->program->code[i];
    if (loops_separates(in))
      close_segment(m);
    if (may_join(in))
      open_load(m, i, copy, walk_value(w, in->base));
    walk_past(w, i);
  }
}

void merge_loop(struct merge *m, const struct loop *l, int peeled, int copies) {
  struct walk *w = walk_new(m->affine, m->program, l->first, l->last);
  start_copies(m, l, peeled, copies);
  for (int c = 0; c < peeled; c++)
    walk_copy(m, w, l, c);
  close_segment(m);
  if (copies > 0) {
    walk_enter(w, copies);
    for (int c = 0; c < copies; c++)
      walk_copy(m, w, l, peeled + c);
    close_segment(m);
  }
  walk_free(w);
}
