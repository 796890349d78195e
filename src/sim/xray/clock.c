#include "sim/xray/clock.h"

#include "base/alloc.h"
#include "sim/xray/report.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_MBARS = 4096 };

struct unit { /* of shared memory; counts of the warps: 0 is never */
  uint32_t written;
  uint16_t writer, write_line, write_syncs;
  bool atomic;
};

struct unit_read {
  uint32_t at;
  uint16_t line;
  uint16_t lane;
};

struct mbar_clock {
  int64_t at;
  uint32_t *phase, *ended; /* what was seen by those who arrived in this phase; in earlier ones */
};

struct clock {
  int nwarps, shift;
  bool races, init;
  bool flags;     /* fences and shared atomics or volatiles: these order too */
  uint32_t *seen; /* [warp][of warp]; its own count on the diagonal */
  uint32_t *bars; /* [barrier][of warp] */
  uint32_t *flag;
  struct mbar_clock *mbars;
  int nmbars;
  struct unit *units;
  struct unit_read *reads; /* [unit][warp] */
  int64_t nunits;
};

/* ---- which kernels */

static bool is_shared(const struct insn *in) {
  return in->space == PTX_SHARED || in->space == PTX_GENERIC;
}

/* An access that a flag is made of. */
static bool is_flag(const struct insn *in) { return in->kind == INSN_ATOM || in->ordered; }

/* A constant that is not 0, or a register. */
static bool not_zero(const struct program *p, insn_slot s) {
  uint32_t v = 1;
  if (s < 0)
    memcpy(&v, p->consts + (size_t)~s * INSN_UNIT, sizeof v);
  return v != 0;
}

static bool named(const struct program *p, const struct insn *in) {
  bool bar = in->kind == INSN_BAR || in->kind == INSN_BAR_RED || in->kind == INSN_BAR_ARRIVE;
  return bar && (not_zero(p, in->a) || not_zero(p, in->b));
}

struct clock *clock_new(const struct program *p, int checks, int64_t shared_bytes, int nwarps) {
  bool barriers = false, fences = false, flags = false, narrow = false;
  for (int i = 0; i < p->ncode; i++) {
    const struct insn *in = &p->code[i];
    bool mbar = in->kind == INSN_MBAR || (in->kind == INSN_ASYNC && in->sub == ASYNC_ARRIVE);
    barriers |= mbar || named(p, in);
    fences |= in->kind == INSN_FENCE;
    flags |= is_flag(in) && is_shared(in);
    narrow |= (in->kind == INSN_LD || in->kind == INSN_ST) && in->width < 4 && is_shared(in);
  }
  if (!barriers && !(fences && flags))
    return NULL;
  struct clock *c = alloc_zero(1, sizeof *c);
  size_t n = (size_t)nwarps;
  c->nwarps = nwarps;
  c->races = checks & XRAY_CHECK_RACES;
  c->init = checks & XRAY_CHECK_INIT;
  c->flags = fences && flags;
  c->shift = narrow ? 0 : 2;
  c->seen = alloc_zero(n * n, sizeof *c->seen);
  c->bars = alloc_zero(n * MACHINE_BARRIERS, sizeof *c->bars);
  c->flag = alloc_zero(n, sizeof *c->flag);
  c->nunits = (shared_bytes >> c->shift) + 16;
  c->units = alloc_zero((size_t)c->nunits, sizeof *c->units);
  c->reads = alloc_zero((size_t)c->nunits * n, sizeof *c->reads);
  clock_next_block(c);
  return c;
}

static void free_mbars(struct clock *c) {
  for (int i = 0; i < c->nmbars; i++) {
    free(c->mbars[i].phase);
    free(c->mbars[i].ended);
  }
  free(c->mbars);
  c->mbars = NULL;
  c->nmbars = 0;
}

void clock_free(struct clock *c) {
  if (!c)
    return;
  free_mbars(c);
  free(c->seen);
  free(c->bars);
  free(c->flag);
  free(c->units);
  free(c->reads);
  free(c);
}

void clock_next_block(struct clock *c) {
  if (!c)
    return;
  size_t n = (size_t)c->nwarps;
  memset(c->seen, 0, n * n * sizeof *c->seen);
  for (size_t i = 0; i < n; i++)
    c->seen[i * n + i] = 1;
  memset(c->bars, 0, n * MACHINE_BARRIERS * sizeof *c->bars);
  memset(c->flag, 0, n * sizeof *c->flag);
  memset(c->units, 0, (size_t)c->nunits * sizeof *c->units);
  memset(c->reads, 0, (size_t)c->nunits * n * sizeof *c->reads);
  free_mbars(c);
}

/* ---- what travels */

static uint32_t *seen_by(const struct clock *c, const struct warp *w) {
  return c->seen + (size_t)w->index * (size_t)c->nwarps;
}

static void join(const struct clock *c, uint32_t *to, const uint32_t *from) {
  for (int i = 0; i < c->nwarps; i++)
    to[i] = to[i] > from[i] ? to[i] : from[i];
}

/* All that w did so far goes to `to`; what it does from now on does not. */
static void give(struct clock *c, const struct warp *w, uint32_t *to) {
  join(c, to, seen_by(c, w));
  seen_by(c, w)[w->index]++;
}

void clock_bar_arrive(struct machine *m, const struct warp *w, int id) {
  struct clock *c = m->clock;
  if (c)
    give(c, w, c->bars + (size_t)id * (size_t)c->nwarps);
}

void clock_bar_pass(struct machine *m, const struct warp *w, int id) {
  struct clock *c = m->clock;
  if (c)
    join(c, seen_by(c, w), c->bars + (size_t)id * (size_t)c->nwarps);
}

void clock_bar_clear(struct machine *m, int id) {
  struct clock *c = m->clock;
  size_t n = c ? (size_t)c->nwarps : 0;
  if (c)
    memset(c->bars + (size_t)id * n, 0, n * sizeof *c->bars);
}

static struct mbar_clock *mbar_at(struct clock *c, int64_t at) {
  for (int i = 0; i < c->nmbars; i++)
    if (c->mbars[i].at == at)
      return &c->mbars[i];
  if (c->nmbars == MAX_MBARS)
    return &c->mbars[0];
  c->mbars = alloc_grow(c->mbars, (size_t)c->nmbars + 1, sizeof *c->mbars);
  size_t n = (size_t)c->nwarps;
  c->mbars[c->nmbars++] =
      (struct mbar_clock){at, alloc_zero(n, sizeof(uint32_t)), alloc_zero(n, sizeof(uint32_t))};
  return &c->mbars[c->nmbars - 1];
}

void clock_mbar_init(struct machine *m, int64_t at) {
  struct clock *c = m->clock;
  if (!c)
    return;
  struct mbar_clock *b = mbar_at(c, at);
  memset(b->phase, 0, (size_t)c->nwarps * sizeof *b->phase);
  memset(b->ended, 0, (size_t)c->nwarps * sizeof *b->ended);
}

void clock_mbar_arrive(struct machine *m, const struct warp *w, int64_t at) {
  if (m->clock)
    give(m->clock, w, mbar_at(m->clock, at)->phase);
}

void clock_mbar_phase(struct machine *m, int64_t at) {
  struct clock *c = m->clock;
  if (!c)
    return;
  struct mbar_clock *b = mbar_at(c, at);
  join(c, b->ended, b->phase);
  memset(b->phase, 0, (size_t)c->nwarps * sizeof *b->phase);
}

void clock_mbar_wait(struct machine *m, const struct warp *w, int64_t at) {
  if (m->clock)
    join(m->clock, seen_by(m->clock, w), mbar_at(m->clock, at)->ended);
}

/* ---- accesses */

static void race(struct machine *m, const struct warp *w, const struct insn *in, int lane,
                 int64_t at, const char *now, const char *then, int other, int line) {
  const int64_t *b = m->launch->block;
  bool same = other / INSN_LANES == w->index;
  report_problem(m, w, in, lane, same ? XRAY_RACE_WARP : XRAY_RACE_SHARED, !same,
                 "%s shared memory at byte %lld, which thread (%lld, %lld, %lld) %s at line %d: no "
                 "%s orders the two.",
                 now, (long long)at, (long long)(other % b[0]), (long long)(other / b[0] % b[1]),
                 (long long)(other / b[0] / b[1]), then, report_line(m->report, line),
                 same ? "__syncwarp" : "barrier");
}

static void against_writer(struct machine *m, const struct warp *w, const struct insn *in, int lane,
                           const struct unit *u, int64_t at, enum shadow_access kind) {
  const uint32_t *seen = seen_by(m->clock, w);
  int t = w->index * INSN_LANES + lane, of = u->writer / INSN_LANES;
  if (!u->written || u->writer == t || (u->atomic && kind == SHADOW_ATOMIC))
    return;
  bool unordered = of == w->index
                       ? u->written == seen[of] && u->write_syncs == w->syncs && kind == SHADOW_READ
                       : u->written > seen[of];
  if (unordered)
    race(m, w, in, lane, at, kind == SHADOW_READ ? "Reads" : "Writes", "wrote", u->writer,
         u->write_line);
}

static void against_readers(struct machine *m, const struct warp *w, const struct insn *in,
                            int lane, const struct unit_read *reads, int64_t at) {
  const struct clock *c = m->clock;
  const uint32_t *seen = seen_by(c, w);
  for (int i = 0; i < c->nwarps; i++)
    if (i != w->index && reads[i].at > seen[i]) {
      race(m, w, in, lane, at, "Writes", "read", i * INSN_LANES + reads[i].lane, reads[i].line);
      return;
    }
}

static void stamp(struct clock *c, const struct warp *w, const struct insn *in, int lane,
                  struct unit *u, bool atomic) {
  *u = (struct unit){.written = seen_by(c, w)[w->index],
                     .writer = (uint16_t)(w->index * INSN_LANES + lane),
                     .write_line = (uint16_t)in->line,
                     .write_syncs = w->syncs,
                     .atomic = atomic};
}

static void touch(struct machine *m, const struct warp *w, const struct insn *in, int lane,
                  int64_t i, enum shadow_access kind) {
  struct clock *c = m->clock;
  struct unit *u = &c->units[i];
  struct unit_read *reads = &c->reads[(size_t)i * (size_t)c->nwarps];
  if (kind != SHADOW_WRITE && !u->written && c->init)
    report_problem(m, w, in, lane, XRAY_UNINIT_SHARED, true,
                   "Reads shared memory at byte %lld, which nobody in this block wrote before.",
                   (long long)(i << c->shift));
  if (c->races && !(c->flags && is_flag(in))) {
    against_writer(m, w, in, lane, u, i << c->shift, kind);
    if (kind != SHADOW_READ)
      against_readers(m, w, in, lane, reads, i << c->shift);
  }
  if (kind == SHADOW_READ)
    reads[w->index] =
        (struct unit_read){seen_by(c, w)[w->index], (uint16_t)in->line, (uint16_t)lane};
  else
    stamp(c, w, in, lane, u, kind == SHADOW_ATOMIC);
}

void clock_shared(struct machine *m, const struct warp *w, const struct insn *in,
                  const int64_t address[32], uint32_t mask, int bytes, enum shadow_access kind) {
  struct clock *c = m->clock;
  if (c->flags && is_flag(in))
    join(c, seen_by(c, w), c->flag);
  for (uint32_t left = mask; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    for (int64_t i = address[l] >> c->shift; i <= (address[l] + bytes - 1) >> c->shift; i++)
      touch(m, w, in, l, i, kind);
  }
  if (c->flags && is_flag(in))
    give(c, w, c->flag);
}

void clock_stamp(struct machine *m, const struct warp *w, const struct insn *in,
                 const int64_t address[32], uint32_t mask, int bytes) {
  struct clock *c = m->clock;
  for (uint32_t left = mask; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    for (int64_t i = address[l] >> c->shift; i <= (address[l] + bytes - 1) >> c->shift; i++)
      stamp(c, w, in, l, &c->units[i], false);
  }
}
