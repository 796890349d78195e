#include "sim/xray/loops.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

static bool is_shared(const struct insn *in) {
  return in->space == PTX_SHARED || in->space == PTX_GENERIC;
}

bool loops_separates(const struct insn *in) {
  switch ((enum insn_kind)in->kind) {
  case INSN_ST:
  case INSN_ATOM:
  case INSN_MATRIX_ST:
  case INSN_FRAG_ST:
    return is_shared(in);
  case INSN_LD:
    return in->space == PTX_SHARED && in->ordered;
  case INSN_BAR:
  case INSN_BAR_RED:
  case INSN_BAR_ARRIVE:
  case INSN_WARP_SYNC:
  case INSN_FENCE:
  case INSN_CALL:
  case INSN_ASYNC:
  case INSN_MBAR:
  case INSN_UNSUPPORTED:
    return true;
  default:
    return false;
  }
}

/* The comparison in the loop that decides its branch, NULL if there are several or none. */
static const struct insn *comparison(const struct program *p, const struct loop *l) {
  const struct insn *found = NULL;
  for (int i = l->first; i < l->last; i++) {
    const struct insn *in = &p->code[i];
    if (in->kind != INSN_SETP || in->p.index != p->code[l->last].guard.index)
      continue;
    if (found)
      return NULL;
    found = in;
  }
  return found;
}

/* Lets the counter run as the comparison says. */
static int count_trips(const struct program *p, const struct loop *l, const struct insn *setp,
                       bool until) {
  uint32_t value[INSN_LANES] = {l->start};
  const void *limit = p->consts + (size_t)~setp->b * INSN_UNIT;
  int trips = 0;
  do {
    value[0] += l->step;
    trips++;
  } while (trips <= LOOPS_TRIPS && (setp->cmp(value, limit) & 1) != until);
  return trips <= LOOPS_TRIPS ? trips : 0;
}

static bool compares_words(const struct insn *in) {
  return in->op.n > 8 && (memcmp(in->op.p + in->op.n - 4, ".s32", 4) == 0 ||
                          memcmp(in->op.p + in->op.n - 4, ".u32", 4) == 0);
}

static void find_trips(struct loop *l, struct affine *a, const struct program *p) {
  const struct insn *branch = &p->code[l->last], *setp = comparison(p, l);
  struct affine_step step;
  if (!l->one_block || !branch->has_guard || !setp || setp->b >= 0 || setp->sub != BOOL_NONE ||
      setp->has_guard || !compares_words(setp) ||
      !affine_step_of(a, setp->a, l->first, l->last, &step) || step.start.n || !step.step ||
      &p->code[step.at] > setp)
    return;
  l->counter = setp->a;
  l->start = step.start.constant;
  l->step = step.step;
  l->at = step.at;
  l->trips = count_trips(p, l, setp, branch->guard.neg);
}

static void look_inside(struct loop *l, struct affine *a, const struct program *p) {
  l->one_block = true;
  for (int i = l->first; i <= l->last; i++) {
    l->one_block = l->one_block && (i == l->first || !affine_starts_block(a, i));
    l->separated = l->separated || loops_separates(&p->code[i]);
  }
  l->nounroll = p->code[l->first].nounroll;
}

static int by_length(const void *a, const void *b) {
  const struct loop *x = a, *y = b;
  int d = (x->last - x->first) - (y->last - y->first);
  return d ? d : x->first - y->first;
}

void loops_find(struct loops *l, struct affine *a, const struct program *p) {
  *l = (struct loops){0};
  for (int i = 0; i < p->ncode; i++)
    l->n += p->code[i].kind == INSN_BRA && p->code[i].target <= i;
  l->all = alloc_zero((size_t)l->n + 1, sizeof *l->all);
  int n = 0;
  for (int i = 0; i < p->ncode; i++)
    if (p->code[i].kind == INSN_BRA && p->code[i].target <= i)
      l->all[n++] = (struct loop){.first = p->code[i].target, .last = i, .parent = -1};
  qsort(l->all, (size_t)n, sizeof *l->all, by_length);
  for (int i = 0; i < n; i++) {
    look_inside(&l->all[i], a, p);
    find_trips(&l->all[i], a, p);
    for (int k = n - 1; k > i; k--)
      if (l->all[k].first <= l->all[i].first && l->all[k].last >= l->all[i].last)
        l->all[i].parent = k;
  }
}

void loops_done(struct loops *l) {
  free(l->all);
  *l = (struct loops){0};
}
