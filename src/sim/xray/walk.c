#include "sim/xray/walk.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

struct made { /* the same of the same: what does not move stays one value in all trips */
  bool known;
  struct affine_sum from[3], to;
};

struct walk {
  struct affine *affine;
  int first, last, units;
  insn_slot *slots; /* that the loop writes, each once */
  int *place;       /* of each slot of the program in them, from 1; 0: not written */
  struct affine_sum *values;
  int n;
  struct made *made; /* of each instruction */
};

struct walk *walk_new(struct affine *a, const struct program *p, int first, int last) {
  struct walk *w = alloc_zero(1, sizeof *w);
  w->affine = a;
  w->first = first;
  w->last = last;
  size_t most = 4 * (size_t)(last - first + 1);
  w->units = p->units;
  w->place = alloc_zero((size_t)p->units + 1, sizeof *w->place);
  w->slots = alloc_zero(most, sizeof *w->slots);
  w->values = alloc_zero(most, sizeof *w->values);
  w->made = alloc_zero((size_t)(last - first + 1), sizeof *w->made);
  for (int i = first; i <= last; i++) {
    insn_slot out[AFFINE_WRITTEN];
    int n = affine_written(a, i, out);
    for (int k = 0; k < n; k++)
      if (out[k] >= 0 && out[k] < p->units && !w->place[out[k]]) {
        w->slots[w->n++] = out[k];
        w->place[out[k]] = w->n;
      }
  }
  for (int i = 0; i < w->n; i++)
    w->values[i] = affine_before(a, w->slots[i], first, last);
  return w;
}

void walk_free(struct walk *w) {
  if (!w)
    return;
  free(w->slots);
  free(w->place);
  free(w->values);
  free(w->made);
  free(w);
}

/* -1: the loop does not write it. */
static int find(const struct walk *w, insn_slot slot) {
  return slot < 0 || slot >= w->units ? -1 : w->place[slot] - 1;
}

struct affine_sum walk_value(struct walk *w, insn_slot slot) {
  int i = find(w, slot);
  return i >= 0 ? w->values[i] : affine_of(w->affine, slot, w->first);
}

static bool same(const struct affine_sum *x, const struct affine_sum *y) {
  if (x->n != y->n || x->constant != y->constant)
    return false;
  for (int i = 0; i < x->n; i++)
    if (x->term[i].root != y->term[i].root || x->term[i].factor != y->term[i].factor)
      return false;
  return true;
}

/* What instruction i makes here. */
static struct affine_sum make(struct walk *w, int i) {
  struct made *made = &w->made[i - w->first];
  struct affine_sum from[3] = {{.n = 0}};
  insn_slot slots[3];
  int n = affine_operands(w->affine, i, slots);
  bool again = made->known && n > 0;
  for (int k = 0; k < n; k++) {
    from[k] = walk_value(w, slots[k]);
    again = again && same(&from[k], &made->from[k]);
  }
  if (!again) {
    made->to = affine_made(w->affine, i, from);
    memcpy(made->from, from, sizeof from);
    made->known = true;
  }
  return made->to;
}

void walk_past(struct walk *w, int i) {
  insn_slot out[AFFINE_WRITTEN];
  int n = affine_written(w->affine, i, out);
  struct affine_sum made = {.n = 0};
  if (n == 1)
    made = make(w, i);
  for (int k = 0; k < n; k++) {
    int at = find(w, out[k]);
    if (at < 0)
      continue;
    if (n > 1)
      made = (struct affine_sum){.term = {{affine_root(w->affine, 0), 1}}, .n = 1};
    w->values[at] = made;
  }
}

void walk_enter(struct walk *w, int copies) {
  struct affine_sum *start = alloc_zero((size_t)w->n + 1, sizeof *start);
  struct affine_sum *roots = alloc_zero((size_t)w->n + 1, sizeof *roots);
  memcpy(start, w->values, (size_t)w->n * sizeof *start);
  for (int i = 0; i < w->n; i++) {
    roots[i] = (struct affine_sum){.term = {{affine_root(w->affine, 0), 1}}, .n = 1};
    w->values[i] = roots[i];
  }
  for (int i = w->first; i <= w->last; i++)
    walk_past(w, i);
  for (int i = 0; i < w->n; i++) {
    const struct affine_sum *v = &w->values[i];
    insn_slot root = roots[i].term[0].root;
    if (v->n != 1 || v->term[0].root != root || v->term[0].factor != 1)
      continue; /* not moved by a constant */
    uint32_t step = v->constant * (uint32_t)copies;
    int zeros = affine_zeros_whole(w->affine, &start[i]);
    if (step && __builtin_ctz(step) < zeros)
      zeros = __builtin_ctz(step);
    affine_set_zeros(w->affine, root, zeros);
  }
  memcpy(w->values, roots, (size_t)w->n * sizeof *roots);
  for (int i = 0; i <= w->last - w->first; i++)
    w->made[i].known = false; /* made when less was known of the roots */
  free(start);
  free(roots);
}
