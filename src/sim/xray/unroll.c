#include "sim/xray/unroll.h"

#include "sim/xray/fuse.h"
#include "sim/xray/loops.h"
#include "sim/xray/merge.h"
#include "sim/xray/mix.h"
#include "sim/xray/sass.h"
#include <string.h>

enum {
  FULL_INSNS = 320, /* instructions x trips that ptxas unrolls in full of its own accord */
  MAX_LOOPS = 24,
  MAX_COPIES = 16,     /* of a body, unless it is unrolled in full */
  MAX_INSNS = 1 << 14, /* of an unrolled loop: ptxas makes none larger */
  MAX_NODES = 20000,
  MAX_WORK = 1 << 18 /* instructions gone through for all plans */
};

struct unroll {
  struct program *program;
  struct affine *affine;
  struct merge *merge;
  struct loops loops;
  struct xray_mix own[MAX_LOOPS + 1]; /* of each loop without inner ones; the last: of no loop */
  int copies[MAX_LOOPS];
  const struct xray_mix *sass;
  bool ffma_only; /* the other counts need not agree */
  int nodes, work;
};

/* ---- one loop */

/* A loop in `copies` pieces: so many trips stand before it, so many are in its body. */
static bool split(int trips, int copies, int *peeled, int *body) {
  *peeled = copies;
  *body = 0;
  if (copies == trips)
    return true;
  for (*body = copies; *body > 1; --*body) {
    *peeled = trips % *body;
    if (*peeled + *body == copies && *body < trips)
      return true;
  }
  return false;
}

static int default_copies(const struct loop *l) {
  int n = l->last - l->first + 1;
  bool full = l->trips > 1 && !l->nounroll && !l->separated && l->trips * n <= FULL_INSNS;
  return full ? l->trips : 1;
}

static bool may_have(const struct loop *l, int copies) {
  int peeled, body;
  if (copies == 1)
    return true;
  if (l->nounroll || copies * (l->last - l->first + 1) > MAX_INSNS)
    return false;
  return l->trips ? split(l->trips, copies, &peeled, &body) : copies <= MAX_COPIES;
}

/* ---- a whole plan */

static void repeat(struct program *p, const struct loop *l, int copies) {
  for (int i = l->first; i <= l->last; i++)
    p->code[i].repeated = (p->code[i].repeated ? p->code[i].repeated : 1) * copies;
}

static void apply(struct unroll *u, struct xray_mix *mix) {
  u->work += u->program->ncode;
  merge_clear(u->merge);
  merge_code(u->merge);
  for (int i = 0; i < u->loops.n && i < MAX_LOOPS; i++) {
    const struct loop *l = &u->loops.all[i];
    int peeled, body;
    if (u->copies[i] == 1)
      continue;
    u->work += u->copies[i] * (l->last - l->first + 1);
    if (l->trips && split(l->trips, u->copies[i], &peeled, &body))
      merge_loop(u->merge, l, peeled, body);
    else
      repeat(u->program, l, u->copies[i]);
  }
  mix_of(u->program, mix);
}

/* ---- which plan gives the counts of the machine code */

static int times_of(const struct unroll *u, int loop) {
  int times = 1;
  for (; loop >= 0 && times < 1 << 16; loop = u->loops.all[loop].parent)
    times *= u->copies[loop];
  return times;
}

/* Counts that joining does not change, with the copies chosen so far. */
static void total(const struct unroll *u, struct xray_mix *out) {
  *out = (struct xray_mix){.ffma = 0};
  for (int i = 0; i <= u->loops.n; i++) {
    const struct xray_mix *own = &u->own[i < u->loops.n ? i : MAX_LOOPS];
    int times = i < u->loops.n ? times_of(u, i) : 1;
    out->ffma += times * own->ffma;
    for (int w = 0; w < XRAY_WIDTHS; w++) {
      out->sts[w] += times * own->sts[w];
      out->ldg[w] += times * own->ldg[w];
      out->stg[w] += times * own->stg[w];
    }
  }
}

/* How the total stands to the machine code: -1 some count is too large already, 1 all agree. */
static int against_sass(const struct unroll *u) {
  struct xray_mix t;
  total(u, &t);
  int over = t.ffma > u->sass->ffma, under = t.ffma < u->sass->ffma;
  for (int w = 0; w < XRAY_WIDTHS && !u->ffma_only; w++) {
    const int of[3][2] = {
        {t.sts[w], u->sass->sts[w]}, {t.ldg[w], u->sass->ldg[w]}, {t.stg[w], u->sass->stg[w]}};
    for (int i = 0; i < 3; i++) {
      over += of[i][0] > of[i][1];
      under += of[i][0] < of[i][1];
    }
  }
  return over ? -1 : !under;
}

static bool is_empty(const struct xray_mix *m, bool ffma_only) {
  int sum = m->ffma;
  for (int w = 0; w < XRAY_WIDTHS && !ffma_only; w++)
    sum += m->lds[w] + m->sts[w] + m->ldg[w] + m->stg[w];
  return sum == 0;
}

static bool choose(struct unroll *u, int loop, struct xray_mix *mix);

static bool choose_with(struct unroll *u, int loop, int copies, struct xray_mix *mix) {
  u->copies[loop] = copies;
  return choose(u, loop + 1, mix);
}

/* Tries the copies of this loop and those behind it; true if a plan was found and applied. */
static bool choose(struct unroll *u, int loop, struct xray_mix *mix) {
  if (++u->nodes > MAX_NODES || u->work >= MAX_WORK)
    return false;
  int stands = against_sass(u);
  if (stands < 0)
    return false;
  if (loop == u->loops.n) {
    if (stands == 0)
      return false;
    apply(u, mix);
    return u->ffma_only || sass_mix_equal(mix, u->sass);
  }
  const struct loop *l = &u->loops.all[loop];
  int usual = default_copies(l);
  if (choose_with(u, loop, usual, mix))
    return true;
  for (int n = 1; n <= MAX_COPIES && !is_empty(&u->own[loop], u->ffma_only); n++)
    if (n != usual && n != l->trips && may_have(l, n) && choose_with(u, loop, n, mix))
      return true;
  if (l->trips && usual != l->trips && may_have(l, l->trips) && choose_with(u, loop, l->trips, mix))
    return true;
  u->copies[loop] = 1;
  return false;
}

static bool search(struct unroll *u, bool ffma_only, struct xray_mix *mix) {
  u->ffma_only = ffma_only;
  u->nodes = u->work = 0;
  for (int i = 0; i < u->loops.n; i++)
    u->copies[i] = 1;
  return choose(u, 0, mix);
}

/* ---- the program */

static void find_own(struct unroll *u) {
  for (int i = 0; i < u->program->ncode; i++) {
    int loop = 0;
    while (loop < u->loops.n && (i < u->loops.all[loop].first || i > u->loops.all[loop].last))
      loop++;
    mix_add(&u->program->code[i], &u->own[loop < u->loops.n ? loop : MAX_LOOPS]);
  }
}

/* True if a loop with shared loads is counted as it stands, and its trips are not kept apart. */
static bool leaves_loops(const struct unroll *u) {
  for (int i = 0; i < u->loops.n; i++) {
    const struct xray_mix *own = &u->own[i < MAX_LOOPS ? i : MAX_LOOPS];
    const struct loop *l = &u->loops.all[i];
    if (own->lds[XRAY_4] + own->lds[XRAY_8] > 0 && !l->separated && !l->nounroll &&
        default_copies(l) == 1)
      return true;
  }
  return false;
}

bool unroll_program(struct program *p, const struct xray_mix *sass, struct xray_mix *mix) {
  struct unroll u = {.program = p, .affine = affine_new(p), .sass = sass};
  bool exact = false;
  fuse_products(p, u.affine);
  loops_find(&u.loops, u.affine, p);
  u.merge = merge_new(p, u.affine);
  bool few = u.loops.n <= MAX_LOOPS;
  if (few)
    find_own(&u);
  exact = sass && few && search(&u, false, mix);
  if (!exact && !(sass && few && search(&u, true, mix))) {
    for (int i = 0; i < u.loops.n && i < MAX_LOOPS; i++)
      u.copies[i] = default_copies(&u.loops.all[i]);
    apply(&u, mix);
    exact = sass ? sass_mix_equal(mix, sass) : few && !leaves_loops(&u);
  }
  merge_free(u.merge);
  loops_done(&u.loops);
  affine_free(u.affine);
  return exact;
}
