#include "sim/xray/exec_mbar.h"

#include "sim/xray/clock.h"
#include "sim/xray/exec_mem.h"
#include "sim/xray/lanes.h"
#include "sim/xray/memory.h"
#include "sim/xray/report.h"
#include "sim/xray/shadow.h"
#include <stdio.h>
#include <string.h>

/* The 64 bits of an mbarrier as this machine keeps them; programs may not look into them. */
struct mbar {
  uint32_t pending, expected; /* arrivals of this phase; of each */
  int32_t tx;                 /* bytes still expected */
  bool phase, valid;
};

enum { COUNT_BITS = 20, TX_BITS = 22, PHASE_BIT = 62, VALID_BIT = 63, BYTES = 8 };
enum { MOST = (1 << COUNT_BITS) - 1 };

static struct mbar unpack(uint64_t v) {
  struct mbar b = {.pending = (uint32_t)v & MOST,
                   .expected = (uint32_t)(v >> COUNT_BITS) & MOST,
                   .phase = v >> PHASE_BIT & 1,
                   .valid = v >> VALID_BIT & 1};
  uint32_t tx = (uint32_t)(v >> 2 * COUNT_BITS) & ((1u << TX_BITS) - 1);
  b.tx = (int32_t)(tx << (32 - TX_BITS)) >> (32 - TX_BITS);
  return b;
}

static uint64_t pack(struct mbar b) {
  uint64_t tx = (uint32_t)b.tx & ((1u << TX_BITS) - 1);
  return b.pending | (uint64_t)b.expected << COUNT_BITS | tx << 2 * COUNT_BITS |
         (uint64_t)b.phase << PHASE_BIT | (uint64_t)b.valid << VALID_BIT;
}

/* True if that ended the phase. */
static bool turn(struct mbar *b) {
  if (b->pending || b->tx)
    return false;
  b->phase = !b->phase;
  b->pending = b->expected;
  return true;
}

/* ---- what a lane does with one */

struct operand {
  uint32_t count; /* arrivals, bytes or parity */
  uint64_t state;
};

static bool too_many(struct machine *m, const struct warp *w, const struct insn *in, int lane,
                     const struct mbar *b, uint32_t count) {
  if (count >= 1 && count <= b->pending)
    return false;
  report_problem(m, w, in, lane, XRAY_DEADLOCK, true,
                 "%u arrivals at an mbarrier whose phase lacks %u of %u: the count that it was "
                 "initialised with does not fit the threads that arrive.",
                 count, b->pending, b->expected);
  m->halted = true;
  return true;
}

static bool arrives(const struct insn *in) {
  return in->kind == INSN_ASYNC || in->sub == MBAR_ARRIVE || in->sub == MBAR_DROP;
}

/* Changes the barrier; true if the phase ended. */
static bool change(struct machine *m, const struct warp *w, const struct insn *in, int lane,
                   struct mbar *b, uint32_t count) {
  bool expects = in->kind == INSN_MBAR && (in->sub == MBAR_EXPECT_TX || in->nvec == 1);
  if (in->kind == INSN_ASYNC && !in->nvec) /* it adds an arrival before it takes one away */
    return false;
  if (expects)
    b->tx += (int32_t)count;
  if (in->kind == INSN_MBAR && in->sub == MBAR_COMPLETE_TX)
    b->tx -= (int32_t)count;
  if (arrives(in)) {
    uint32_t n = expects || in->kind == INSN_ASYNC ? 1 : count;
    if (too_many(m, w, in, lane, b, n))
      return false;
    b->pending -= n;
    if (in->kind == INSN_MBAR && in->sub == MBAR_DROP)
      b->expected -= n < b->expected ? n : b->expected;
  } else if (in->sub != MBAR_COMPLETE_TX) {
    return false;
  }
  return turn(b);
}

static bool test(const struct insn *in, const struct mbar *b, const struct operand *o) {
  bool of = in->sub == MBAR_TEST_PARITY ? o->count & 1 : unpack(o->state).phase;
  return b->phase != of;
}

static bool not_valid(struct machine *m, const struct warp *w, const struct insn *in, int lane,
                      const struct mbar *b, int64_t at) {
  if (b->valid)
    return false;
  report_problem(m, w, in, lane, XRAY_UNINIT_SHARED, true,
                 "Uses an mbarrier at byte %lld of shared memory that nobody initialised before.",
                 (long long)at);
  m->halted = true;
  return true;
}

static struct operand operand_of(const struct machine *m, const struct warp *w,
                                 const struct insn *in, int lane) {
  struct operand o = {.count = 1};
  if (in->kind == INSN_ASYNC)
    return o;
  const unsigned char *a = machine_lanes(m, w, in->a);
  if (in->sub == MBAR_TEST_STATE || in->sub == MBAR_PENDING)
    memcpy(&o.state, a + lane * 8, 8);
  else
    memcpy(&o.count, a + lane * 4, 4);
  return o;
}

/* One lane; false where a test was not true. */
static bool one(struct machine *m, struct warp *w, const struct insn *in, int lane, int64_t at) {
  struct operand o = operand_of(m, w, in, lane);
  unsigned char *place = memory_find(m->memory, PTX_SHARED, at, 0)->data + at;
  uint64_t word = 0;
  memcpy(&word, place, BYTES);
  struct mbar b = unpack(word);
  bool init = in->kind == INSN_MBAR && (in->sub == MBAR_INIT || in->sub == MBAR_INVAL);
  if (init) {
    b = (struct mbar){.pending = o.count & MOST, .expected = o.count & MOST, .valid = true};
    b.valid = in->sub == MBAR_INIT;
    m->events++;
    clock_mbar_init(m, at);
  } else if (not_valid(m, w, in, lane, &b, at)) {
    return true;
  } else if (in->kind == INSN_MBAR && (in->sub == MBAR_TEST_STATE || in->sub == MBAR_TEST_PARITY)) {
    if (!test(in, &b, &o))
      return false;
    clock_mbar_wait(m, w, at);
    return true;
  } else {
    clock_mbar_arrive(m, w, at);
    if (change(m, w, in, lane, &b, o.count))
      clock_mbar_phase(m, at);
    m->events++;
  }
  uint64_t now = pack(b);
  memcpy(place, &now, BYTES);
  if (arrives(in) && in->kind == INSN_MBAR) /* the state before; the sink has room for it */
    memcpy(w->regs + (int64_t)in->dst * INSN_UNIT + lane * 8, &word, 8);
  return true;
}

static void pending_count(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  const lane_u64 *state = (const lane_u64 *)machine_lanes(m, w, in->a);
  lane_u32 *out = (lane_u32 *)machine_lanes(m, w, in->dst);
  for (int l = 0; l < INSN_LANES; l++)
    out[l] = mask >> l & 1 ? unpack(state[l]).pending : out[l];
}

void exec_mbar(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  int64_t address[INSN_LANES];
  if (in->kind == INSN_MBAR && in->sub == MBAR_PENDING) {
    pending_count(m, w, in, mask);
    return;
  }
  exec_mem_addresses(address, machine_lanes(m, w, in->base), in->base_wide, in->offset);
  for (int l = 0; l < INSN_LANES && in->base_wide; l++)
    memory_space(&address[l]);
  mask = exec_mem_checked(m, w, in, PTX_SHARED, address, mask, BYTES);
  bool init = in->kind == INSN_MBAR && (in->sub == MBAR_INIT || in->sub == MBAR_INVAL);
  if (mask)
    shadow_shared(m, w, in, address, mask, BYTES, init ? SHADOW_WRITE : SHADOW_ATOMIC);
  uint32_t yes = 0;
  for (uint32_t left = mask; left && !m->halted; left &= left - 1) {
    int l = __builtin_ctz(left);
    yes |= (uint32_t)one(m, w, in, l, address[l]) << l;
    if (!(yes >> l & 1)) {
      w->polls = in;
      w->polled = address[l];
    }
  }
  if (in->kind != INSN_MBAR || (in->sub != MBAR_TEST_STATE && in->sub != MBAR_TEST_PARITY))
    return;
  machine_set_pred(w, in->p, mask, yes);
  if (mask & ~yes)
    w->state = WARP_YIELDS;
}

void exec_mbar_deadlock(struct machine *m, const struct warp *w) {
  uint64_t word = 0;
  memcpy(&word, memory_find(m->memory, PTX_SHARED, w->polled, 0)->data + w->polled, BYTES);
  struct mbar b = unpack(word);
  char bytes[60] = "";
  if (b.tx)
    snprintf(bytes, sizeof bytes, " and %d bytes", b.tx);
  report_problem(m, w, w->polls, __builtin_ctz(w->alive), XRAY_DEADLOCK, true,
                 "Waits for ever at the mbarrier at byte %lld of shared memory: its phase lacks %u "
                 "of %u arrivals%s, and no other warp can run.",
                 (long long)w->polled, b.pending, b.expected, bytes);
}
