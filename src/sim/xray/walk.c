#include "sim/xray/walk.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

struct walk {
  struct affine *affine;
  int first, last;
  insn_slot *slots; /* that the loop writes, each once */
  struct affine_sum *values;
  int n;
};

static int find(const struct walk *w, insn_slot slot) {
  for (int i = 0; i < w->n; i++)
    if (w->slots[i] == slot)
      return i;
  return -1;
}

struct walk *walk_new(struct affine *a, const struct program *p, int first, int last) {
  struct walk *w = alloc_zero(1, sizeof *w);
  w->affine = a;
  w->first = first;
  w->last = last;
  size_t most = 4 * (size_t)(last - first + 1);
  w->slots = alloc_zero(most, sizeof *w->slots);
  w->values = alloc_zero(most, sizeof *w->values);
  for (int i = first; i <= last; i++) {
    insn_slot out[4];
    int n = affine_written(a, i, out);
    for (int k = 0; k < n; k++)
      if (out[k] >= 0 && out[k] < p->units && find(w, out[k]) < 0)
        w->slots[w->n++] = out[k];
  }
  for (int i = 0; i < w->n; i++)
    w->values[i] = affine_before(a, w->slots[i], first, last);
  return w;
}

void walk_free(struct walk *w) {
  if (!w)
    return;
  free(w->slots);
  free(w->values);
  free(w);
}

struct affine_sum walk_value(struct walk *w, insn_slot slot) {
  int i = slot < 0 ? -1 : find(w, slot);
  return i >= 0 ? w->values[i] : affine_of(w->affine, slot, w->first);
}

static struct affine_sum value_of(void *ctx, insn_slot slot) { return walk_value(ctx, slot); }

void walk_past(struct walk *w, int i) {
  insn_slot out[4];
  int n = affine_written(w->affine, i, out);
  struct affine_sum made = {.n = 0};
  if (n == 1)
    made = affine_made(w->affine, i, value_of, w);
  for (int k = 0; k < n; k++) {
    int at = out[k] < 0 ? -1 : find(w, out[k]);
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
  free(start);
  free(roots);
}
