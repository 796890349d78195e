#include "sim/xray/exec_async.h"

#include "base/alloc.h"
#include "sim/warp.h"
#include "sim/warp_async.h"
#include "sim/xray/exec_mbar.h"
#include "sim/xray/exec_mem.h"
#include "sim/xray/lanes.h"
#include "sim/xray/memory.h"
#include "sim/xray/report.h"
#include "sim/xray/shadow.h"
#include "sim/xray/tally.h"
#include <stdlib.h>
#include <string.h>

enum { WIDEST = 16, WORD = 4, LINE_SHIFT = 11 };

struct copy { /* of one warp instruction: what was read, and where it goes */
  const struct insn *insn;
  uint32_t mask; /* lanes that have not waited for it */
  int64_t to[INSN_LANES];
  uint32_t group[INSN_LANES]; /* commits of the lane before it */
  unsigned char data[INSN_LANES][WIDEST];
};

struct warp_copies {
  struct copy *list;
  int n, room;
  uint32_t commits[INSN_LANES];
};

struct async_state {
  struct warp_copies *warps;
  int nwarps;
  uint32_t *owner; /* of each word of shared memory: line << 11 | thread + 1; 0: no copy */
  int64_t nwords;
};

static struct async_state *state_of(struct machine *m) {
  if (m->async)
    return m->async;
  struct async_state *s = alloc_zero(1, sizeof *s);
  s->nwarps = m->nwarps;
  s->warps = alloc_zero((size_t)m->nwarps, sizeof *s->warps);
  s->nwords = memory_shared_bytes(m->memory) / WORD + 1;
  s->owner = alloc_zero((size_t)s->nwords, sizeof *s->owner);
  m->async = s;
  return s;
}

void exec_async_clear(struct machine *m) {
  struct async_state *s = m->async;
  if (!s)
    return;
  for (int i = 0; i < s->nwarps; i++) {
    s->warps[i].n = 0;
    memset(s->warps[i].commits, 0, sizeof s->warps[i].commits);
  }
  memset(s->owner, 0, (size_t)s->nwords * sizeof *s->owner);
  m->copies_open = 0;
}

void exec_async_free(struct machine *m) {
  struct async_state *s = m->async;
  if (!s)
    return;
  for (int i = 0; i < s->nwarps; i++)
    free(s->warps[i].list);
  free(s->warps);
  free(s->owner);
  free(s);
  m->async = NULL;
}

/* ---- a copy */

/* Bytes that each lane reads; 0 where it ignores its source. */
static void source_bytes(const struct machine *m, const struct warp *w, const struct insn *in,
                         uint32_t mask, int out[INSN_LANES]) {
  const lane_u32 *size = (const lane_u32 *)machine_lanes(m, w, in->b);
  uint32_t reads = machine_pred(w, in->pa);
  for (int l = 0; l < INSN_LANES; l++)
    out[l] = !(mask & reads & (1u << l)) ? 0 : size[l] < in->width ? (int)size[l] : in->width;
}

/* Lanes of mask whose source is all right. Those that read less than the whole are looked at by
 * the first and last byte. */
static uint32_t checked_source(struct machine *m, const struct warp *w, const struct insn *in,
                               const int64_t address[INSN_LANES], const int bytes[INSN_LANES],
                               uint32_t mask) {
  uint32_t whole = 0, part = 0;
  int64_t last[INSN_LANES];
  for (int l = 0; l < INSN_LANES; l++) {
    bool in_mask = mask >> l & 1 && bytes[l] > 0;
    whole |= (uint32_t)(in_mask && bytes[l] == in->width) << l;
    part |= (uint32_t)(in_mask && bytes[l] < in->width) << l;
    last[l] = address[l] + bytes[l] - 1;
  }
  uint32_t good = whole ? exec_mem_checked(m, w, in, PTX_GLOBAL, address, whole, in->width) : 0;
  if (part)
    part = exec_mem_checked(m, w, in, PTX_GLOBAL, address, part, 1);
  if (part)
    part = exec_mem_checked(m, w, in, PTX_GLOBAL, last, part, 1);
  return good | part;
}

static struct copy *new_copy(struct warp_copies *c) {
  if (c->n == c->room) {
    c->room = c->room ? c->room * 2 : 8;
    c->list = alloc_grow(c->list, (size_t)c->room, sizeof *c->list);
  }
  memset(&c->list[c->n], 0, sizeof *c->list);
  return &c->list[c->n++];
}

static int pieces(const int64_t address[INSN_LANES], const int64_t active[INSN_LANES], int bytes) {
  int64_t a[INSN_LANES];
  for (int l = 0; l < INSN_LANES; l++)
    a[l] = active[l] >= 0 ? address[l] : -1;
  return warp_sectors(a, bytes);
}

/* Copies past L1 (.cg) cost a sector for each 32 bytes of shared memory that they fill, where these
 * are more than those they read: measured, docs/counting.md. */
static void count_copy(struct machine *m, const struct insn *in, const int64_t from[INSN_LANES],
                       const int64_t to[INSN_LANES], uint32_t mask) {
  struct tally_cell *cell = tally_cell(m->tally, (int)(in - m->program->code));
  bool bypass = in->round == 'g';
  int64_t active[INSN_LANES];
  for (int l = 0; l < INSN_LANES; l++)
    active[l] = mask >> l & 1 ? from[l] : -1;
  int read = pieces(from, active, in->width), filled = pieces(to, active, in->width);
  cell->global_requests++;
  cell->global_sectors += bypass && filled > read ? filled : read;
  cell->global_wavefronts += warp_async_wavefronts(active, to, in->width, bypass);
}

static void copy(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  int64_t to[INSN_LANES], from[INSN_LANES];
  int bytes[INSN_LANES];
  exec_mem_addresses(to, machine_lanes(m, w, in->base), in->base_wide, in->offset);
  exec_mem_addresses(from, machine_lanes(m, w, in->a), true, in->target);
  for (int l = 0; l < INSN_LANES; l++)
    if (in->base_wide)
      memory_space(&to[l]);
  mask = exec_mem_checked(m, w, in, PTX_SHARED, to, mask, in->width);
  source_bytes(m, w, in, mask, bytes);
  uint32_t reads = checked_source(m, w, in, from, bytes, mask);
  if (!mask)
    return;
  if (reads) {
    count_copy(m, in, from, to, reads);
    exec_mem_shadow_global(m, w, in, from, reads, in->width, SHADOW_READ);
  }
  shadow_shared(m, w, in, to, mask, in->width, SHADOW_WRITE);
  struct async_state *s = state_of(m);
  struct warp_copies *c = &s->warps[w->index];
  struct copy *now = new_copy(c);
  now->insn = in;
  now->mask = mask;
  for (uint32_t left = mask; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    now->to[l] = to[l];
    now->group[l] = c->commits[l];
    if (reads >> l & 1) {
      const struct memory_piece *p = memory_find(m->memory, PTX_GLOBAL, from[l], 0);
      memcpy(now->data[l], p->data + (from[l] - p->base), (size_t)bytes[l]);
    }
    uint32_t owner = (uint32_t)in->line << LINE_SHIFT | (uint32_t)(w->index * INSN_LANES + l + 1);
    for (int64_t i = to[l] / WORD; i < (to[l] + in->width) / WORD; i++)
      s->owner[i] = owner;
  }
  m->copies_open += __builtin_popcount(mask);
}

/* ---- waiting */

/* The data of these lanes arrives. */
static void complete(struct machine *m, struct warp *w, struct copy *c, uint32_t mask) {
  struct async_state *s = m->async;
  int width = c->insn->width;
  const struct memory_piece *shared = memory_find(m->memory, PTX_SHARED, 0, 0);
  shadow_stamp(m, w, c->insn, c->to, mask, width);
  for (uint32_t left = mask; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    memcpy(shared->data + c->to[l], c->data[l], (size_t)width);
    for (int64_t i = c->to[l] / WORD; i < (c->to[l] + width) / WORD; i++)
      if ((s->owner[i] & ((1u << LINE_SHIFT) - 1)) == (uint32_t)(w->index * INSN_LANES + l + 1))
        s->owner[i] = 0;
  }
  c->mask &= ~mask;
  m->copies_open -= __builtin_popcount(mask);
}

/* Waits for all but the last `keep` groups; keep < 0: for everything, committed or not. */
static void wait_for(struct machine *m, struct warp *w, uint32_t mask, int64_t keep) {
  if (!m->async)
    return;
  struct warp_copies *c = &m->async->warps[w->index];
  int kept = 0;
  for (int i = 0; i < c->n; i++) {
    struct copy *now = &c->list[i];
    uint32_t done = 0;
    for (uint32_t left = mask & now->mask; left; left &= left - 1) {
      int l = __builtin_ctz(left);
      bool due = keep < 0 || (int64_t)now->group[l] + keep < (int64_t)c->commits[l];
      done |= (uint32_t)due << l;
    }
    if (done)
      complete(m, w, now, done);
    if (now->mask)
      c->list[kept++] = *now;
  }
  c->n = kept;
}

void exec_async(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  switch ((enum insn_async)in->sub) {
  case ASYNC_COPY:
    copy(m, w, in, mask);
    break;
  case ASYNC_COMMIT: {
    struct warp_copies *c = &state_of(m)->warps[w->index];
    for (int l = 0; l < INSN_LANES; l++)
      c->commits[l] += mask >> l & 1;
    break;
  }
  case ASYNC_WAIT:
    wait_for(m, w, mask, in->offset);
    break;
  case ASYNC_WAIT_ALL:
    wait_for(m, w, mask, -1);
    break;
  case ASYNC_ARRIVE: /* the copies could end now at the earliest, so they do */
    wait_for(m, w, mask, -1);
    exec_mbar(m, w, in, mask);
    break;
  }
}

/* ---- use before the wait */

static void unwaited(struct machine *m, const struct warp *w, const struct insn *in, int lane,
                     int64_t at, uint32_t owner) {
  int t = (int)(owner & ((1u << LINE_SHIFT) - 1)) - 1;
  const int64_t *b = m->launch->block;
  report_problem(
      m, w, in, lane, XRAY_CP_ASYNC_UNWAITED, true,
      "%s shared memory at byte %lld, where the cp.async of thread (%lld, %lld, %lld) at "
      "line %d still copies to: no cp.async.wait of that thread came between.",
      in->kind == INSN_LD ? "Reads" : "Writes", (long long)at, (long long)(t % b[0]),
      (long long)(t / b[0] % b[1]), (long long)(t / b[0] / b[1]),
      report_line(m->report, (int)(owner >> LINE_SHIFT)));
}

uint32_t exec_async_check(struct machine *m, const struct warp *w, const struct insn *in,
                          const int64_t address[32], uint32_t mask, int bytes) {
  const struct async_state *s = m->async;
  uint32_t bad = 0;
  for (uint32_t left = mask; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    for (int64_t i = address[l] / WORD; i <= (address[l] + bytes - 1) / WORD; i++)
      if (s->owner[i]) {
        if (!(bad >> l & 1))
          unwaited(m, w, in, l, i * WORD, s->owner[i]);
        bad |= 1u << l;
      }
  }
  return bad;
}
