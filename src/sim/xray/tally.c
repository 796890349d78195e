#include "sim/xray/tally.h"

#include "base/alloc.h"
#include "sim/warp.h"
#include "sim/xray/lanes.h"
#include "sim/xray/report.h"
#include <stdlib.h>
#include <string.h>

enum { CACHE = 2048, PERIOD = 128 };

/* What an access costs depends on the distances between lanes and on the place in a line of 128
 * bytes only, so that one pattern is counted once. */
struct cached {
  int32_t delta[INSN_LANES];
  uint32_t mask;
  int32_t insn, rest, bytes;
  bool used, shared;
  struct tally_cost cost;
};

struct tally {
  const struct program *program;
  struct tally_cell *cells;
  struct cached *cache;
};

struct tally *tally_new(const struct program *p) {
  struct tally *t = alloc_zero(1, sizeof *t);
  t->program = p;
  t->cells = alloc_zero((size_t)p->ncode, sizeof *t->cells);
  t->cache = alloc_zero(CACHE, sizeof *t->cache);
  return t;
}

void tally_free(struct tally *t) {
  if (!t)
    return;
  free(t->cells);
  free(t->cache);
  free(t);
}

struct tally_cell *tally_cell(struct tally *t, int i) {
  return &t->cells[i];
}

static bool lanes_pair(const int64_t a[32], int bit) {
  for (int l = 0; l < INSN_LANES; l++)
    if (a[l] >= 0 && a[l ^ bit] >= 0 && a[l] != a[l ^ bit])
      return false;
  return true;
}

/* The passes that the width needs by itself; one without an active lane costs nothing. */
static int own_passes(const int64_t a[32], int width, bool store) {
  int passes = width / 4, own = 0;
  if (passes > 1 && !store && (lanes_pair(a, 1) || lanes_pair(a, 2)))
    passes /= 2;
  for (int p = 0, lanes = INSN_LANES / passes; p < passes; p++) {
    bool active = false;
    for (int l = p * lanes; l < (p + 1) * lanes; l++)
      active |= a[l] >= 0;
    own += active;
  }
  return own;
}

struct tally_cost tally_measure(bool shared, const int64_t address[32], uint32_t mask, int bytes,
                                bool store) {
  int64_t a[INSN_LANES];
  int width = bytes < 4 ? 4 : bytes;
  struct tally_cost c = {0};
  for (int l = 0; l < INSN_LANES; l++)
    a[l] = mask >> l & 1 ? address[l] & ~(int64_t)3 : -1;
  if (shared) {
    c.wavefronts = warp_shared_wavefronts(a, width, store);
    c.conflicts = c.wavefronts - own_passes(a, width, store);
  } else {
    c.sectors = warp_sectors(a, width);
    c.wavefronts = warp_global_wavefronts(a, width, store);
  }
  return c;
}

/* Distances from the first active lane; false if one does not fit. */
static LANES_HOT bool distances(int32_t *delta, const int64_t *address, uint32_t mask,
                                int64_t first) {
  int64_t wrong = 0;
  if (mask == UINT32_MAX)
    for (int l = 0; l < INSN_LANES; l++) {
      int64_t d = address[l] - first;
      delta[l] = (int32_t)d;
      wrong |= d ^ (int32_t)d;
    }
  else
    for (int l = 0; l < INSN_LANES; l++) {
      int64_t d = mask >> l & 1 ? address[l] - first : 0;
      delta[l] = (int32_t)d;
      wrong |= d ^ (int32_t)d;
    }
  return wrong == 0;
}

static const struct cached *lookup(struct tally *t, int i, bool shared, const int64_t address[32],
                                   uint32_t mask, int bytes, bool store, struct cached *own) {
  int64_t first = address[__builtin_ctz(mask)];
  int32_t rest = (int32_t)(first & (PERIOD - 1));
  uint32_t hash = (uint32_t)i * 32u + (uint32_t)rest / 4u + (mask * 2654435761u >> 20);
  struct cached *c = &t->cache[hash % CACHE];
  bool keep = distances(own->delta, address, mask, first);
  if (keep && c->used && c->insn == i && c->mask == mask && c->rest == rest && c->bytes == bytes &&
      c->shared == shared && memcmp(c->delta, own->delta, sizeof c->delta) == 0)
    return c;
  own->mask = mask;
  own->insn = i;
  own->rest = rest;
  own->bytes = bytes;
  own->used = true;
  own->shared = shared;
  own->cost = tally_measure(shared, address, mask, bytes, store);
  if (!keep)
    return own;
  *c = *own;
  return c;
}

void tally_access(struct tally *t, int i, enum ptx_space space, const int64_t address[32],
                  uint32_t mask, int bytes, bool store) {
  if (!mask || (space != PTX_GLOBAL && space != PTX_SHARED))
    return;
  struct cached own;
  const struct cached *c = lookup(t, i, space == PTX_SHARED, address, mask, bytes, store, &own);
  struct tally_cell *cell = &t->cells[i];
  if (space == PTX_SHARED) {
    cell->shared_requests++;
    cell->shared_wavefronts += c->cost.wavefronts;
    cell->shared_conflicts += c->cost.conflicts;
  } else {
    cell->global_requests++;
    cell->global_sectors += c->cost.sectors;
    cell->global_wavefronts += c->cost.wavefronts;
  }
}

/* ---- sums */

void tally_add(struct tally *to, const struct tally *from, int64_t times) {
  for (int i = 0; i < to->program->ncode; i++) {
    struct tally_cell *a = &to->cells[i];
    const struct tally_cell *b = &from->cells[i];
    a->runs += times * b->runs;
    a->threads += times * b->threads;
    a->global_requests += times * b->global_requests;
    a->global_sectors += times * b->global_sectors;
    a->global_wavefronts += times * b->global_wavefronts;
    a->shared_requests += times * b->shared_requests;
    a->shared_wavefronts += times * b->shared_wavefronts;
    a->shared_conflicts += times * b->shared_conflicts;
    a->divergent += times * b->divergent;
  }
}

int64_t tally_runs(const struct tally *t) {
  int64_t n = 0;
  for (int i = 0; i < t->program->ncode; i++)
    n += t->cells[i].runs;
  return n;
}

bool tally_same(const struct tally *a, const struct tally *b) {
  return memcmp(a->cells, b->cells, (size_t)a->program->ncode * sizeof *a->cells) == 0;
}

void tally_clear(struct tally *t) {
  memset(t->cells, 0, (size_t)t->program->ncode * sizeof *t->cells);
}

static void add_cell(struct xray_counts *to, const struct insn *in, const struct tally_cell *c) {
  double threads = (double)c->threads;
  to->warp_instructions += (double)c->runs;
  to->divergent_branches += (double)c->divergent;
  to->ffma += in->count == COUNT_FFMA ? threads : 0;
  to->fadd += in->count == COUNT_FADD ? threads : 0;
  to->fmul += in->count == COUNT_FMUL ? threads : 0;
  to->other_flop += in->flop * threads;
  to->barriers += in->kind == INSN_BAR || in->kind == INSN_BAR_RED ? (double)c->runs : 0;
  if (insn_loads(in) || in->kind == INSN_ASYNC) {
    to->gld_requests += (double)c->global_requests;
    to->gld_sectors += (double)c->global_sectors;
    to->gld_wavefronts += (double)c->global_wavefronts;
    to->lds_requests += (double)c->shared_requests;
    to->lds_wavefronts += (double)c->shared_wavefronts;
    to->lds_conflicts += (double)c->shared_conflicts;
  } else if (insn_stores(in)) {
    to->gst_requests += (double)c->global_requests;
    to->gst_sectors += (double)c->global_sectors;
    to->gst_wavefronts += (double)c->global_wavefronts;
    to->sts_requests += (double)c->shared_requests;
    to->sts_wavefronts += (double)c->shared_wavefronts;
    to->sts_conflicts += (double)c->shared_conflicts;
  }
}

static int by_place(const void *a, const void *b) {
  const struct xray_line *x = a, *y = b;
  int c = strcmp(x->file, y->file);
  return c ? c : (x->line > y->line) - (x->line < y->line);
}

void tally_sum(const struct tally *t, const struct report *r, struct xray_report *out) {
  const struct program *p = t->program;
  struct xray_line *lines = alloc_zero((size_t)p->nlines, sizeof *lines);
  bool *seen = alloc_zero((size_t)p->nlines, sizeof *seen);
  for (int i = 0; i < p->ncode; i++) {
    const struct insn *in = &p->code[i];
    if (!t->cells[i].runs)
      continue;
    add_cell(&out->counts, in, &t->cells[i]);
    add_cell(&lines[in->line].counts, in, &t->cells[i]);
    seen[in->line] = true;
  }
  int n = 0;
  for (int i = 0; i < p->nlines; i++) {
    if (!seen[i] || report_line(r, i) == 0)
      continue;
    lines[i].line = report_line(r, i);
    report_file(r, i, lines[i].file, sizeof lines[i].file);
    lines[n++] = lines[i];
  }
  qsort(lines, (size_t)n, sizeof *lines, by_place);
  free(seen);
  out->lines = lines;
  out->nlines = n;
}
