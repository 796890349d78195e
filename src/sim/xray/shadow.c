#include "sim/xray/shadow.h"

#include "base/alloc.h"
#include "sim/xray/clock.h"
#include "sim/xray/exec_async.h"
#include "sim/xray/lanes.h"
#include "sim/xray/report.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One unit of shared memory. Thread numbers are within the block; lines are indices. */
struct shared_unit {
  uint32_t written, read; /* epochs; 0: never */
  uint16_t writer, write_line, write_syncs;
  uint16_t reader, read_line;
  bool atomic;
};

/* One unit of global memory: block numbers + 1; 0: nobody. */
struct global_unit {
  uint32_t writer, reader; /* UINT32_MAX: several readers */
};
#define ATOMIC_WRITER 0x80000000u

enum { MANY_LINES = UINT16_MAX, GROUP = 32 };

/* The same unit within a block, and the lines; kept for arrays that are written. */
struct global_note {
  uint32_t write_epoch; /* of the block in writer */
  uint32_t read_epoch, read_block;
  uint16_t writer, write_line, reader, read_line;
};

struct shadow {
  int shift_shared, shift_global; /* log2 of the bytes of a unit */
  struct shared_unit *shared;
  int64_t nshared;
  struct global_unit **global; /* by array; NULL: not watched */
  struct global_note **notes;  /* by array; NULL: not written yet */
  uint16_t *read_line;         /* by array: of its quiet reads; MANY_LINES: several */
  bool atomics, fences;        /* the kernel has some: races between blocks may be meant */
  bool acquired;               /* this block did an atomic or volatile read of global memory */
  bool checks_races, checks_init;
  uint32_t **groups; /* by array, while nothing was written: block number + 1 that noted reads of
                        all of 32 units */
  int64_t *units;    /* of each array */
  int nglobal;
};

/* The place of unit i: with gaps, so that rows whose length is a power of two do not
 * meet in the same sets of the cache. */
static inline int64_t spread(int64_t i) { return i + (i >> 10) * 16; }

static bool has_narrow(const struct program *p, enum ptx_space space) {
  for (int i = 0; i < p->ncode; i++) {
    const struct insn *in = &p->code[i];
    if ((in->kind == INSN_LD || in->kind == INSN_ST) && in->width < 4 &&
        (in->space == space || in->space == PTX_GENERIC))
      return true;
  }
  return false;
}

struct shadow *shadow_new(const struct program *p, const struct memory *mem,
                          const struct xray_launch *launch, int checks) {
  struct shadow *s = alloc_zero(1, sizeof *s);
  s->checks_races = checks & XRAY_CHECK_RACES;
  s->checks_init = checks & XRAY_CHECK_INIT;
  s->shift_shared = has_narrow(p, PTX_SHARED) ? 0 : 2;
  s->shift_global = has_narrow(p, PTX_GLOBAL) ? 0 : 2;
  s->nshared = (memory_shared_bytes(mem) >> s->shift_shared) + 16;
  s->shared = alloc_zero((size_t)s->nshared, sizeof *s->shared);
  s->nglobal = launch->narrays;
  s->global = alloc_zero((size_t)launch->narrays + 1, sizeof *s->global);
  s->groups = alloc_zero((size_t)launch->narrays + 1, sizeof *s->groups);
  s->units = alloc_zero((size_t)launch->narrays + 1, sizeof *s->units);
  for (int i = 0; i < launch->narrays; i++)
    if (s->checks_races || (s->checks_init && !launch->arrays[i].written)) {
      s->units[i] = (memory_array(mem, i)->bytes >> s->shift_global) + 16;
      s->global[i] = alloc_zero((size_t)spread(s->units[i]), sizeof **s->global);
      s->groups[i] = alloc_zero((size_t)s->units[i] / GROUP + 1, sizeof **s->groups);
    }
  s->notes = alloc_zero((size_t)launch->narrays + 1, sizeof *s->notes);
  s->read_line = alloc_zero((size_t)launch->narrays + 1, sizeof *s->read_line);
  for (int i = 0; i < p->ncode; i++) {
    s->fences |= p->code[i].kind == INSN_FENCE;
    s->atomics |= p->code[i].kind == INSN_ATOM && p->code[i].space != PTX_SHARED;
  }
  return s;
}

void shadow_free(struct shadow *s) {
  if (!s)
    return;
  free(s->shared);
  for (int i = 0; i < s->nglobal; i++) {
    free(s->global[i]);
    free(s->notes[i]);
  }
  free(s->global);
  free(s->notes);
  free(s->read_line);
  for (int i = 0; i < s->nglobal; i++)
    free(s->groups[i]);
  free(s->groups);
  free(s->units);
  free(s);
}

void shadow_next_block(struct shadow *s) {
  memset(s->shared, 0, (size_t)s->nshared * sizeof *s->shared);
  s->acquired = false;
}

/* ---- shared memory */

/* "(3, 1, 0)" of a thread number in the block. */
static const char *thread_text(const struct machine *m, int t, char out[48]) {
  const int64_t *b = m->launch->block;
  snprintf(out, 48, "(%lld, %lld, %lld)", (long long)(t % b[0]), (long long)(t / b[0] % b[1]),
           (long long)(t / b[0] / b[1]));
  return out;
}

static void report_race(struct machine *m, const struct warp *w, const struct insn *in, int lane,
                        int64_t offset, const char *now, const char *then, int other, int line,
                        bool same_warp) {
  char a[48], b[48];
  report_problem(
      m, w, in, lane, same_warp ? XRAY_RACE_WARP : XRAY_RACE_SHARED, !same_warp,
      "Thread %s %s shared memory at byte %lld, which thread %s %s at line %d with no %s "
      "between them.",
      thread_text(m, w->index * INSN_LANES + lane, a), now, (long long)offset,
      thread_text(m, other, b), then, report_line(m->report, line),
      same_warp ? "__syncwarp" : "__syncthreads");
}

/* The last write of this unit against an access of thread t. */
static void against_writer(struct machine *m, const struct warp *w, const struct insn *in, int lane,
                           const struct shared_unit *u, int64_t at, enum shadow_access kind) {
  int t = w->index * INSN_LANES + lane;
  if (u->written != m->epoch || u->writer == t || (u->atomic && kind == SHADOW_ATOMIC))
    return;
  bool same_warp = u->writer / INSN_LANES == w->index;
  if (same_warp && (u->write_syncs == w->syncs ? kind != SHADOW_READ : true))
    return; /* ordered by __syncwarp, or a second write of the same warp */
  report_race(m, w, in, lane, at, kind == SHADOW_READ ? "reads" : "writes", "wrote", u->writer,
              u->write_line, same_warp);
}

/* The first reader is enough: until the next barrier each warp runs in one go, so that a reader of
 * this warp before others means that no other has read yet. */
static void against_reader(struct machine *m, const struct warp *w, const struct insn *in, int lane,
                           const struct shared_unit *u, int64_t at) {
  if (u->read == m->epoch && u->reader / INSN_LANES != w->index)
    report_race(m, w, in, lane, at, "writes", "read", u->reader, u->read_line, false);
}

static void note_read(const struct machine *m, struct shared_unit *u, int t, int line) {
  if (u->read == m->epoch)
    return;
  u->read = m->epoch;
  u->reader = (uint16_t)t;
  u->read_line = (uint16_t)line;
}

static void shared_touch(struct machine *m, const struct warp *w, const struct insn *in, int lane,
                         struct shared_unit *u, int64_t at, enum shadow_access kind) {
  const struct shadow *s = m->shadow;
  int t = w->index * INSN_LANES + lane;
  if (kind != SHADOW_WRITE && u->written == 0 && s->checks_init)
    report_problem(m, w, in, lane, XRAY_UNINIT_SHARED, true,
                   "Reads shared memory at byte %lld, which nobody in this block wrote before.",
                   (long long)at);
  if (s->checks_races) {
    against_writer(m, w, in, lane, u, at, kind);
    if (kind != SHADOW_READ)
      against_reader(m, w, in, lane, u, at);
  }
  if (kind == SHADOW_READ) {
    note_read(m, u, t, in->line);
    return;
  }
  u->written = m->epoch;
  u->writer = (uint16_t)t;
  u->write_line = (uint16_t)in->line;
  u->write_syncs = w->syncs;
  u->atomic = kind == SHADOW_ATOMIC;
}

/* A read of what was written before the last barrier: most are. */
static inline bool quiet(const struct machine *m, const struct warp *w, const struct insn *in,
                         int lane, int64_t i) {
  struct shared_unit *u = &m->shadow->shared[i];
  if (u->written == 0 || u->written == m->epoch)
    return false;
  note_read(m, u, w->index * INSN_LANES + lane, in->line);
  return true;
}

void shadow_shared(struct machine *m, const struct warp *w, const struct insn *in,
                   const int64_t address[32], uint32_t mask, int bytes, enum shadow_access kind) {
  struct shadow *s = m->shadow;
  if (!s->checks_races && !s->checks_init)
    return;
  if (m->copies_open)
    mask &= ~exec_async_check(m, w, in, address, mask, bytes);
  if (m->clock) {
    clock_shared(m, w, in, address, mask, bytes, kind);
    return;
  }
  int shift = s->shift_shared;
  int64_t last = -1;
  for (uint32_t left = mask; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    /* Lanes that read what the lane before read add nothing, unless they are other threads' races:
     * those are this warp's too. */
    if (kind == SHADOW_READ && address[l] == last)
      continue;
    last = address[l];
    if (kind == SHADOW_READ && bytes == 1 << shift && quiet(m, w, in, l, address[l] >> shift))
      continue;
    for (int64_t i = address[l] >> shift; i <= (address[l] + bytes - 1) >> shift; i++)
      if (kind != SHADOW_READ || !quiet(m, w, in, l, i))
        shared_touch(m, w, in, l, &s->shared[i], i << shift, kind);
  }
}

void shadow_stamp(struct machine *m, const struct warp *w, const struct insn *in,
                  const int64_t address[32], uint32_t mask, int bytes) {
  struct shadow *s = m->shadow;
  if (m->clock) {
    clock_stamp(m, w, in, address, mask, bytes);
    return;
  }
  for (uint32_t left = mask; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    for (int64_t i = address[l] >> s->shift_shared;
         i <= (address[l] + bytes - 1) >> s->shift_shared; i++) {
      struct shared_unit *u = &s->shared[i];
      u->written = m->epoch;
      u->writer = (uint16_t)(w->index * INSN_LANES + l);
      u->write_line = (uint16_t)in->line;
      u->write_syncs = w->syncs;
      u->atomic = false;
    }
  }
}

/* ---- global memory */

struct global_access {
  struct machine *m;
  const struct warp *w;
  const struct insn *in;
  const struct memory_piece *piece;
  int lane;
  int64_t unit, at; /* of the array: index, byte */
  enum shadow_access kind;
};

static const char *verb(const struct global_access *g) {
  return g->kind == SHADOW_READ ? "Reads" : "Writes";
}

/* " at line 12", or nothing where the line is not known. */
static const char *line_text(const struct machine *m, int line, char out[32]) {
  int n = line > 0 && line < MANY_LINES ? report_line(m->report, line) : 0;
  *out = '\0';
  if (n)
    snprintf(out, 32, " at line %d", n);
  return out;
}

static void race_of_blocks(const struct global_access *g, uint32_t other, const char *then,
                           int line) {
  const struct shadow *s = g->m->shadow;
  const int64_t *grid = g->m->launch->grid;
  char block[64] = "another block", at[32];
  if (s->fences && s->acquired) /* it waited for a sign of the other block, or may have */
    return;
  if (other != UINT32_MAX) {
    int64_t b = (int64_t)other - 1;
    snprintf(block, sizeof block, "block (%lld, %lld, %lld)", (long long)(b % grid[0]),
             (long long)(b / grid[0] % grid[1]), (long long)(b / grid[0] / grid[1]));
  }
  report_problem(g->m, g->w, g->in, g->lane, XRAY_RACE_GLOBAL, !s->atomics && !s->fences,
                 "%s %s at byte %lld, which %s %s%s in the same launch: the order of blocks is not "
                 "defined.",
                 verb(g), g->piece->name, (long long)g->at, block, then, line_text(g->m, line, at));
}

static void race_in_block(const struct global_access *g, int other, const char *then, int line) {
  char a[48], at[32];
  report_problem(g->m, g->w, g->in, g->lane, XRAY_RACE_GLOBAL, true,
                 "%s %s at byte %lld, which thread %s of the same block %s%s with no __syncthreads "
                 "between them.",
                 verb(g), g->piece->name, (long long)g->at, thread_text(g->m, other, a), then,
                 line_text(g->m, line, at));
}

/* Flags and locks are no races, and what they order is not known here. */
static bool checks_in_block(const struct global_access *g) {
  return !g->m->shadow->fences && !g->m->clock && !g->in->ordered;
}

static void against_global_writer(const struct global_access *g, const struct global_unit *u,
                                  const struct global_note *note) {
  uint32_t me = (uint32_t)g->m->block_number + 1, block = u->writer & ~ATOMIC_WRITER;
  bool sign = g->kind == SHADOW_ATOMIC || g->in->ordered;
  if (!u->writer || (sign && u->writer & ATOMIC_WRITER))
    return;
  if (block != me)
    race_of_blocks(g, block, "wrote", note ? note->write_line : 0);
  else if (note && note->write_epoch == g->m->epoch && note->writer / INSN_LANES != g->w->index &&
           checks_in_block(g))
    race_in_block(g, note->writer, "wrote", note->write_line);
}

static void against_global_reader(const struct global_access *g, const struct global_unit *u,
                                  const struct global_note *note) {
  uint32_t me = (uint32_t)g->m->block_number + 1;
  if (note && note->read_block == me && note->read_epoch == g->m->epoch &&
      note->reader / INSN_LANES != g->w->index && checks_in_block(g))
    race_in_block(g, note->reader, "read", note->read_line);
  if (g->kind == SHADOW_WRITE && u->reader && u->reader != me) {
    int line = note && note->read_line ? note->read_line : g->m->shadow->read_line[g->piece->array];
    race_of_blocks(g, u->reader, "read", line);
  }
}

static void note_global(const struct global_access *g, struct global_unit *u,
                        struct global_note *note) {
  uint32_t me = (uint32_t)g->m->block_number + 1;
  uint16_t t = (uint16_t)(g->w->index * INSN_LANES + g->lane), line = (uint16_t)g->in->line;
  if (g->kind == SHADOW_READ) {
    u->reader = u->reader == 0 || u->reader == me ? me : UINT32_MAX;
    if (note && (note->read_block != me || note->read_epoch != g->m->epoch)) {
      note->read_block = me;
      note->read_epoch = g->m->epoch;
      note->reader = t;
      note->read_line = line;
    }
    return;
  }
  u->writer = me | (g->kind == SHADOW_ATOMIC ? ATOMIC_WRITER : 0);
  note->write_epoch = g->m->epoch;
  note->writer = t;
  note->write_line = line;
}

static bool was_written(const struct machine *m, const struct memory_piece *p) {
  return m->launch->arrays[p->array].written;
}

static void global_touch(const struct global_access *g) {
  const struct shadow *s = g->m->shadow;
  int array = g->piece->array;
  struct global_unit *u = &s->global[array][spread(g->unit)];
  struct global_note *note = s->notes[array] ? &s->notes[array][g->unit] : NULL;
  if (!insn_stores(g->in) && s->checks_init && !was_written(g->m, g->piece) && !u->writer)
    report_problem(g->m, g->w, g->in, g->lane, XRAY_UNINIT_GLOBAL, true,
                   "Reads %s at byte %lld, which nobody wrote before.", g->piece->name,
                   (long long)g->at);
  if (s->checks_races) {
    against_global_writer(g, u, note);
    if (g->kind != SHADOW_READ)
      against_global_reader(g, u, note);
  }
  note_global(g, u, note);
}

/* What the kind of access means to other blocks: volatile ones are flags, as atomics are. */
static enum shadow_access begin_access(struct shadow *s, const struct insn *in, int array,
                                       enum shadow_access kind) {
  if (kind != SHADOW_READ && !s->notes[array])
    s->notes[array] = alloc_zero((size_t)s->units[array], sizeof **s->notes);
  return kind == SHADOW_WRITE && in->ordered ? SHADOW_ATOMIC : kind;
}

void shadow_global(struct machine *m, const struct warp *w, const struct insn *in,
                   const struct memory_piece *piece, const int64_t address[32], uint32_t mask,
                   int bytes, enum shadow_access kind) {
  struct shadow *s = m->shadow;
  if (kind == SHADOW_ATOMIC || in->ordered)
    s->acquired = true;
  if (!shadow_watches(s, false, piece))
    return;
  int shift = s->shift_global;
  enum shadow_access as = begin_access(s, in, piece->array, kind);
  int64_t last = -1;
  for (uint32_t left = mask; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    if (kind == SHADOW_READ && address[l] == last)
      continue;
    last = address[l];
    int64_t at = address[l] - piece->base;
    for (int64_t i = at >> shift; i <= (at + bytes - 1) >> shift; i++)
      global_touch(&(struct global_access){m, w, in, piece, l, i, i << shift, as});
  }
}

bool shadow_watches(const struct shadow *s, bool shared, const struct memory_piece *piece) {
  if (shared)
    return s->checks_races || s->checks_init;
  return (s->checks_races || s->checks_init) && piece->array >= 0 && s->global[piece->array];
}

static LANES_HOT bool all_quiet(const struct global_unit *u, int64_t n) {
  uint32_t written = 0;
  for (int64_t i = 0; i < n; i++)
    written |= u[i].writer;
  return !written;
}

static LANES_HOT void note_reads(struct global_unit *u, int64_t n, uint32_t me) {
  for (int64_t i = 0; i < n; i++)
    u[i].reader = u[i].reader == 0 || u[i].reader == me ? me : UINT32_MAX;
}

bool shadow_quiet_read(struct machine *m, const struct insn *in, const struct memory_piece *piece,
                       int64_t address, int64_t bytes) {
  const struct shadow *s = m->shadow;
  int64_t at = address - piece->base;
  if (s->notes[piece->array] || !was_written(m, piece))
    return false;
  int64_t first = at >> s->shift_global, n = bytes >> s->shift_global;
  struct global_unit *u = s->global[piece->array] + spread(first);
  uint16_t *line = &s->read_line[piece->array];
  uint32_t me = (uint32_t)m->block_number + 1, *group = s->groups[piece->array] + first / GROUP;
  bool whole = n == GROUP && first % GROUP == 0;
  bool line_noted = *line == in->line || *line == MANY_LINES;
  if (whole && *group == me && line_noted && !in->ordered)
    return true;
  if (in->ordered || spread(first + n - 1) - spread(first) != n - 1 || !all_quiet(u, n))
    return false;
  if (*line != in->line)
    *line = *line ? MANY_LINES : (uint16_t)in->line;
  note_reads(u, n, me);
  if (whole)
    *group = me;
  return true;
}

/* ---- several threads */

void shadow_pause(struct shadow *s) { s->checks_races = s->checks_init = false; }

static LANES_HOT bool units_meet(const struct global_unit *a, const struct global_unit *b,
                                 int64_t n) {
  uint32_t met = 0;
  for (int64_t i = 0; i < n; i++)
    met |= (a[i].writer ? b[i].writer | b[i].reader : 0) | (b[i].writer ? a[i].reader : 0);
  return met;
}

bool shadow_meet(const struct shadow *a, const struct shadow *b) {
  for (int i = 0; i < a->nglobal; i++)
    if (a->global[i] && b->global[i] && units_meet(a->global[i], b->global[i], spread(a->units[i])))
      return true;
  return false;
}
