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

struct shadow {
  int shift_shared, shift_global; /* log2 of the bytes of a unit */
  struct shared_unit *shared;
  int64_t nshared;
  struct global_unit **global; /* by array; NULL: not watched */
  bool orders_blocks; /* the kernel has fences or atomics: races between blocks may be meant */
  bool checks_races, checks_init;
  int64_t *units; /* of each array */
  int nglobal;
};

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
  s->units = alloc_zero((size_t)launch->narrays + 1, sizeof *s->units);
  for (int i = 0; i < launch->narrays; i++)
    if (s->checks_races || (s->checks_init && !launch->arrays[i].written)) {
      s->units[i] = (memory_array(mem, i)->bytes >> s->shift_global) + 16;
      s->global[i] = alloc_zero((size_t)s->units[i], sizeof **s->global);
    }
  for (int i = 0; i < p->ncode; i++)
    s->orders_blocks |= p->code[i].kind == INSN_FENCE || p->code[i].kind == INSN_ATOM;
  return s;
}

void shadow_free(struct shadow *s) {
  if (!s)
    return;
  free(s->shared);
  for (int i = 0; i < s->nglobal; i++)
    free(s->global[i]);
  free(s->global);
  free(s->units);
  free(s);
}

void shadow_next_block(struct shadow *s) {
  memset(s->shared, 0, (size_t)s->nshared * sizeof *s->shared);
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
    for (int64_t i = address[l] >> shift; i <= (address[l] + bytes - 1) >> shift; i++)
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

static void global_race(struct machine *m, const struct warp *w, const struct insn *in, int lane,
                        const struct memory_piece *p, int64_t at, const char *what) {
  report_problem(
      m, w, in, lane, XRAY_RACE_GLOBAL, !m->shadow->orders_blocks,
      "%s %s at byte %lld, which another block %s in the same launch: the order of blocks "
      "is not defined.",
      *what == 'r' ? "Reads" : "Writes", p->name, (long long)at, what + 2);
}

static void global_touch(struct machine *m, const struct warp *w, const struct insn *in, int lane,
                         const struct memory_piece *p, struct global_unit *u, int64_t at,
                         enum shadow_access kind) {
  const struct shadow *s = m->shadow;
  uint32_t me = (uint32_t)m->block_number + 1;
  bool before = m->launch->arrays[p->array].written;
  if (kind != SHADOW_WRITE && s->checks_init && !before && u->writer == 0)
    report_problem(m, w, in, lane, XRAY_UNINIT_GLOBAL, true,
                   "Reads %s at byte %lld, which nobody wrote before.", p->name, (long long)at);
  if (s->checks_races && u->writer && (u->writer & ~ATOMIC_WRITER) != me &&
      !(kind == SHADOW_ATOMIC && u->writer & ATOMIC_WRITER))
    global_race(m, w, in, lane, p, at, kind == SHADOW_READ ? "r wrote" : "w wrote");
  if (kind == SHADOW_READ) {
    u->reader = u->reader == 0 || u->reader == me ? me : UINT32_MAX;
    return;
  }
  if (s->checks_races && kind == SHADOW_WRITE && u->reader && u->reader != me)
    global_race(m, w, in, lane, p, at, "w read");
  u->writer = me | (kind == SHADOW_ATOMIC ? ATOMIC_WRITER : 0);
}

/* A read that nothing can be wrong with: most of them are. */
static inline bool quiet_read(struct global_unit *u, uint32_t me, bool before) {
  if (!((before && u->writer == 0) || u->writer == me))
    return false;
  if (u->reader != me)
    u->reader = u->reader ? UINT32_MAX : me;
  return true;
}

void shadow_global(struct machine *m, const struct warp *w, const struct insn *in,
                   const struct memory_piece *piece, const int64_t address[32], uint32_t mask,
                   int bytes, enum shadow_access kind) {
  struct shadow *s = m->shadow;
  if (!shadow_watches(s, false, piece))
    return;
  struct global_unit *units = s->global[piece->array];
  int shift = s->shift_global;
  uint32_t me = (uint32_t)m->block_number + 1;
  bool before = m->launch->arrays[piece->array].written;
  int64_t last = -1;
  for (uint32_t left = mask; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    if (kind == SHADOW_READ && address[l] == last)
      continue;
    last = address[l];
    int64_t at = address[l] - piece->base;
    if (kind == SHADOW_READ && bytes == 1 << shift && quiet_read(&units[at >> shift], me, before))
      continue;
    for (int64_t i = at >> shift; i <= (at + bytes - 1) >> shift; i++)
      global_touch(m, w, in, l, piece, &units[i], i << shift, kind);
  }
}

bool shadow_watches(const struct shadow *s, bool shared, const struct memory_piece *piece) {
  if (shared)
    return s->checks_races || s->checks_init;
  return (s->checks_races || s->checks_init) && piece->array >= 0 && s->global[piece->array];
}

static LANES_HOT bool all_quiet(const struct global_unit *u, int64_t n, uint32_t me, bool before) {
  uint32_t bad = 0, also = before ? 0 : me; /* who may have written it */
  for (int64_t i = 0; i < n; i++)
    bad |= (uint32_t)(u[i].writer != me) & (uint32_t)(u[i].writer != also);
  return !bad;
}

static LANES_HOT void note_reads(struct global_unit *u, int64_t n, uint32_t me) {
  for (int64_t i = 0; i < n; i++)
    u[i].reader = u[i].reader == 0 || u[i].reader == me ? me : UINT32_MAX;
}

bool shadow_quiet_read(struct machine *m, const struct memory_piece *piece, int64_t address,
                       int64_t bytes) {
  const struct shadow *s = m->shadow;
  int64_t at = address - piece->base;
  struct global_unit *u = s->global[piece->array] + (at >> s->shift_global);
  int64_t n = bytes >> s->shift_global;
  uint32_t me = (uint32_t)m->block_number + 1;
  if (!all_quiet(u, n, me, m->launch->arrays[piece->array].written))
    return false;
  note_reads(u, n, me);
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
    if (a->global[i] && b->global[i] && units_meet(a->global[i], b->global[i], a->units[i]))
      return true;
  return false;
}
