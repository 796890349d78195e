#include "sim/xray/exec_flow.h"

#include "base/alloc.h"
#include "sim/xray/clock.h"
#include "sim/xray/depend.h"
#include "sim/xray/exec_async.h"
#include "sim/xray/exec_call.h"
#include "sim/xray/exec_mbar.h"
#include "sim/xray/exec_mem.h"
#include "sim/xray/exec_refuse.h"
#include "sim/xray/exec_warp.h"
#include "sim/xray/lanes.h"
#include "sim/xray/launch.h"
#include "sim/xray/report.h"
#include "sim/xray/tally.h"
#include "sim/xray/trace.h"
#include <string.h>

enum {
  TURN = 64,        /* looks before other warps have a turn */
  IDLE_TURNS = 1000 /* of all warps, polling mbarriers, before nothing more is hoped for */
};

/* ---- special registers */

static const char *const specials[] = {
    "%tid.x",       "%tid.y",           "%tid.z",
    "%ntid.x",      "%ntid.y",          "%ntid.z",
    "%ctaid.x",     "%ctaid.y",         "%ctaid.z",
    "%nctaid.x",    "%nctaid.y",        "%nctaid.z",
    "%laneid",      "%warpid",          "%nwarpid",
    "%lanemask_eq", "%lanemask_lt",     "%lanemask_le",
    "%lanemask_gt", "%lanemask_ge",     "%dynamic_smem_size",
    "%nsmid",       "%total_smem_size",
};
enum { SPECIALS = sizeof specials / sizeof *specials };

static int special_of(struct slice name) {
  for (int i = 0; i < SPECIALS; i++)
    if (ptx_lex_is(name, specials[i]))
      return i;
  return -1; /* the number of the SM is 0: all blocks run on one */
}

/* Values in the order of the names. */
static void special_values(const struct machine *m, const struct warp *w, int lane,
                           int64_t out[SPECIALS]) {
  const int64_t *block = m->launch->block, *grid = m->launch->grid;
  int64_t t = (int64_t)w->index * INSN_LANES + lane;
  uint32_t bit = 1u << lane;
  const int64_t of[] = {
      t % block[0],
      t / block[0] % block[1],
      t / block[0] / block[1],
      block[0],
      block[1],
      block[2],
      m->block[0],
      m->block[1],
      m->block[2],
      grid[0],
      grid[1],
      grid[2],
      lane,
      w->index,
      m->nwarps,
      bit,
      bit - 1,
      bit | (bit - 1),
      ~(bit | (bit - 1)),
      ~(bit - 1),
      m->launch->shared_bytes,
      1,
      (m->program->shared_bytes + m->launch->shared_bytes + 127) / 128 * 128, /* its granules */
  };
  memcpy(out, of, sizeof of);
}

static void start_warp(struct machine *m, struct warp *w) {
  const struct program *p = m->program;
  int64_t threads = m->launch->block[0] * m->launch->block[1] * m->launch->block[2];
  int64_t here = threads - (int64_t)w->index * INSN_LANES;
  /* A register that nobody wrote holds anything on a GPU. All ones are a NaN, an index below the
   * start and an address where nothing is: what is made of them is seen to be wrong. */
  memset(w->regs, 0xff, (size_t)p->units * INSN_UNIT);
  memset(w->preds, 0, (size_t)p->npreds * sizeof *w->preds);
  w->preds[0] = UINT32_MAX;
  w->alive = w->started = here >= INSN_LANES ? UINT32_MAX : (1u << here) - 1;
  w->state = WARP_RUNS;
  w->syncs = 0;
  w->looks = 0;
  w->polls = NULL;
  w->carry = 0;
  exec_call_clear(w);
  w->depth = 1;
  w->stack[0] = (struct path){0, -1, w->alive, false};
  if (m->depend)
    depend_warp(m, w);
  for (int l = 0; l < INSN_LANES && p->nspecials; l++) {
    int64_t value[SPECIALS];
    special_values(m, w, l, value);
    for (int i = 0; i < p->nspecials; i++) {
      const struct insn_special *s = &p->specials[i];
      int64_t v = m->special_of[i] >= 0 ? value[m->special_of[i]] : 0;
      memcpy(machine_lanes(m, w, s->slot) + l * s->bytes, &v, (size_t)s->bytes);
    }
  }
}

/* ---- branches and ends */

static void push(struct warp *w, int32_t pc, int32_t reconverge, uint32_t mask) {
  if (mask && pc != reconverge)
    w->stack[w->depth++] = (struct path){pc, reconverge, mask, false};
}

static void too_nested(struct machine *m, const struct warp *w, const struct insn *in,
                       uint32_t mask) {
  report_problem(m, w, in, __builtin_ctz(mask), XRAY_UNSUPPORTED, true,
                 "Branches are nested deeper than the x-ray can follow. Make the control flow "
                 "simpler.");
  m->halted = true;
}

/* A switch by a table: one path for each place that lanes jump to. */
static void jump(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  struct path *top = &w->stack[w->depth - 1];
  const lane_u32 *index = (const lane_u32 *)machine_lanes(m, w, in->a);
  int32_t meet = in->reconverge >= 0 ? in->reconverge : top->reconverge, behind = top->pc + 1;
  uint32_t others = top->mask & ~mask;
  if (!mask) {
    top->pc++;
    return;
  }
  int32_t pc = top->pc;
  int ways = 0;
  if (meet != top->reconverge)
    top->pc = meet;
  else
    w->depth--;
  push(w, behind, meet, others);
  for (uint32_t left = mask; left; ways++) {
    uint32_t i = index[__builtin_ctz(left)], same = 0;
    for (int l = 0; l < INSN_LANES; l++)
      same |= (uint32_t)(left >> l & 1 && index[l] == i) << l;
    left &= ~same;
    int32_t to = i < (uint64_t)in->offset ? m->program->targets[in->target + (int32_t)i] : behind;
    if (w->depth + 2 > MACHINE_STACK) {
      too_nested(m, w, in, mask);
      return;
    }
    push(w, to, meet, same);
  }
  if (ways + (others != 0) > 1)
    tally_cell(m->tally, pc)->divergent++;
}

/* Lanes that have ended leave every path. */
static void end_lanes(struct machine *m, struct warp *w, uint32_t gone) {
  w->alive &= ~gone;
  exec_call_leave(m, w, gone);
  if (!w->depth)
    w->state = WARP_ENDED;
}

/* Lanes leave the function that the warp is in, or end. */
static void leave(struct machine *m, struct warp *w, uint32_t gone) {
  if (!exec_call_return(m, w, gone))
    end_lanes(m, w, gone);
}

static bool only_leaves(const struct machine *m, int32_t pc) {
  const struct insn *in = &m->program->code[pc];
  return in->kind == INSN_RET && !in->has_guard && !in->sub;
}

/* Lanes `taken` of the top path jump, the others go on behind the branch. */
static void branch(struct machine *m, struct warp *w, const struct insn *in, uint32_t taken) {
  struct path *top = &w->stack[w->depth - 1];
  int32_t behind = top->pc + 1;
  uint32_t others = top->mask & ~taken;
  if (!others || !taken) {
    top->pc = others ? behind : in->target;
    return;
  }
  tally_cell(m->tally, top->pc)->divergent++;
  if (w->depth + 2 > MACHINE_STACK) {
    too_nested(m, w, in, taken);
    return;
  }
  if (in->reconverge < 0 && only_leaves(m, in->target)) {
    top->pc = behind;
    leave(m, w, taken);
    return;
  }
  int32_t meet = in->reconverge >= 0 ? in->reconverge : top->reconverge;
  if (meet != top->reconverge)
    top->pc = meet; /* all of them go on there, once both sides have come */
  else
    w->depth--;
  if (!in->sub)
    push(w, in->target, meet, taken);
  push(w, behind, meet, others);
  if (in->sub)
    push(w, in->target, meet, taken);
}

/* ---- barriers */

static uint32_t barrier_id(struct machine *m, const struct warp *w, insn_slot s, uint32_t mask) {
  const lane_u32 *v = (const lane_u32 *)machine_lanes(m, w, s);
  return v[__builtin_ctz(mask)];
}

/* Lanes that parted for good may still leave before the barrier: they get a turn first. False if
 * there are none. */
static bool other_path(struct warp *w) {
  struct path top = w->stack[w->depth - 1];
  for (int i = w->nframes ? -1 : w->depth - 2; i >= 0; i--) {
    struct path p = w->stack[i];
    if (p.mask & top.mask || p.reconverge != top.reconverge)
      return false;
    if (p.blocked)
      continue;
    memmove(&w->stack[i], &w->stack[i + 1], (size_t)(w->depth - 1 - i) * sizeof p);
    w->stack[w->depth - 2].blocked = true;
    w->stack[w->depth - 1] = p;
    return true;
  }
  return false;
}

/* True if the warp goes on behind the barrier, now or once it is released. */
static bool arrive(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask,
                   bool wait) {
  uint32_t id = barrier_id(m, w, in->a, mask), expected = barrier_id(m, w, in->b, mask);
  if (id >= MACHINE_BARRIERS || expected % INSN_LANES) {
    report_problem(m, w, in, __builtin_ctz(mask), XRAY_DEADLOCK, true,
                   "Barrier %u for %u threads: there are barriers 0 to 15, and the threads are a "
                   "multiple of 32.",
                   id, expected);
    m->halted = true;
    return true;
  }
  if (mask != w->alive && other_path(w))
    return false;
  if (mask != w->alive) {
    report_problem(m, w, in, __builtin_ctz(mask), XRAY_BARRIER_DIVERGENCE, true,
                   "Only lanes %#010x of warp %d reach this barrier together; %#010x are alive.",
                   mask, w->index, w->alive);
    m->halted = true;
    return true;
  }
  w->stack[w->depth - 1].blocked = false;
  if (w->alive != w->started)
    report_problem(m, w, in, __builtin_ctz(mask), XRAY_BARRIER_DIVERGENCE, true,
                   "Only lanes %#010x of warp %d come to this barrier: lanes %#010x have left the "
                   "kernel before it. CUDA leaves undefined what happens then; GPUs since Volta "
                   "let the others pass.",
                   mask, w->index, w->started & ~w->alive);
  if (m->traces)
    trace_barrier(m, w, in, mask);
  struct barrier *b = &m->barriers[id];
  b->threads += INSN_LANES;
  b->alive += __builtin_popcount(mask);
  if (in->kind == INSN_BAR_RED)
    b->yes += __builtin_popcount(machine_pred(w, in->pa) & mask);
  if (expected)
    b->expected = (int)expected;
  clock_bar_arrive(m, w, (int)id);
  if (wait) {
    w->state = WARP_WAITS;
    w->barrier = (int)id;
  }
  return true;
}

/* What a reducing barrier found goes to a warp that waited at it. */
static void give_result(struct machine *m, struct warp *w, const struct barrier *b) {
  const struct insn *in = &m->program->code[w->stack[w->depth - 1].pc - 1];
  if (in->kind != INSN_BAR_RED)
    return;
  if (in->sub != VOTE_BALLOT) {
    bool v = in->sub == VOTE_ALL ? b->yes == b->alive : b->yes > 0;
    machine_set_pred(w, in->p, w->alive, v ? UINT32_MAX : 0);
    return;
  }
  lane_u32 *out = (lane_u32 *)machine_lanes(m, w, in->dst);
  for (int l = 0; l < INSN_LANES; l++)
    out[l] = (uint32_t)b->yes;
}

/* Lets the warps go whose barriers are complete. True if one was. */
static bool release(struct machine *m) {
  bool any = false;
  int alive = 0;
  for (int i = 0; i < m->nwarps; i++)
    alive += m->warps[i].state != WARP_ENDED;
  for (int id = 0; id < MACHINE_BARRIERS; id++) {
    struct barrier *b = &m->barriers[id];
    int want = b->expected ? b->expected : alive * INSN_LANES;
    if (!b->threads || b->threads < want)
      continue;
    any = true;
    m->epoch++;
    for (int i = 0; i < m->nwarps; i++)
      if (m->warps[i].state == WARP_WAITS && m->warps[i].barrier == id) {
        give_result(m, &m->warps[i], b);
        clock_bar_pass(m, &m->warps[i], id);
        m->warps[i].state = WARP_RUNS;
      }
    clock_bar_clear(m, id);
    *b = (struct barrier){0};
  }
  return any;
}

/* ---- the loop */

/* Lanes of one warp may hold what others of it wait for. */
static void lanes_wait(struct machine *m, const struct warp *w, const struct insn *in,
                       uint32_t mask) {
  report_problem(m, w, in, __builtin_ctz(mask), XRAY_BUDGET, true,
                 "Stopped here after the budget of warp instructions: lanes %#010x of the warp go "
                 "round and lanes %#010x wait for them to come out. If those hold what this loop "
                 "waits for (a lock), it never ends.",
                 mask, w->alive & ~mask);
  m->halted = true;
}

static void out_of_budget(struct machine *m, const struct warp *w, const struct insn *in,
                          uint32_t mask) {
  for (int i = 0; i < m->nwarps; i++) { /* other warps may wait for such a one */
    const struct warp *v = &m->warps[i];
    const struct path *top = v->depth ? &v->stack[v->depth - 1] : NULL;
    bool turned = v == w || (v->state == WARP_YIELDS && !v->polls);
    if (turned && top && top->mask != v->alive) {
      lanes_wait(m, v, &m->program->code[top->pc], top->mask);
      return;
    }
  }
  report_problem(
      m, w, in, __builtin_ctz(mask), XRAY_BUDGET, true,
      "Stopped here after the budget of warp instructions: this loop does not end, or the "
      "launch is too large.");
  m->halted = true;
}

/* An instruction that is done again later counts once. */
static void uncount(struct machine *m, const struct insn *in, uint32_t mask) {
  struct tally_cell *cell = tally_cell(m->tally, (int)(in - m->program->code));
  cell->runs--;
  cell->threads -= __builtin_popcount(mask);
}

static void control(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  struct path *top = &w->stack[w->depth - 1];
  switch ((enum insn_kind)in->kind) {
  case INSN_BRA:
    branch(m, w, in, mask);
    return;
  case INSN_RET:
    top->pc++;
    if (in->sub)
      end_lanes(m, w, mask);
    else
      leave(m, w, mask);
    return;
  case INSN_CALL:
    exec_call(m, w, in, mask);
    return;
  case INSN_ASYNC:
    if (mask)
      exec_async(m, w, in, mask);
    break;
  case INSN_MBAR:
    if (mask)
      exec_mbar(m, w, in, mask);
    break;
  case INSN_BRX:
    jump(m, w, in, mask);
    return;
  case INSN_BAR:
  case INSN_BAR_RED:
  case INSN_BAR_ARRIVE:
    if (mask && !arrive(m, w, in, mask, in->kind != INSN_BAR_ARRIVE)) {
      uncount(m, in, mask);
      return;
    }
    break;
  case INSN_TRAP:
    if (!mask)
      break;
    report_problem(m, w, in, __builtin_ctz(mask), XRAY_TRAP, true,
                   "The kernel stops itself here (trap or a failed assert).");
    m->halted = true;
    break;
  default:
    if (mask)
      exec_refuse(m, w, in, __builtin_ctz(mask));
    break;
  }
  top->pc++;
}

/* Now and then: true if the warp is not to go on. One that runs for long lets the others have a
 * turn: it may wait for what they write. */
static bool look_up(struct machine *m, struct warp *w) {
  if (launch_stopped(m)) {
    m->halted = true;
    return true;
  }
  if (m->nwarps == 1 || ++w->looks < TURN)
    return false;
  w->looks = 0;
  w->polls = NULL;
  w->state = WARP_YIELDS;
  m->events++;
  return true;
}

/* Runs a warp until it waits, yields, ends, or the launch is halted. */
static void run_warp(struct machine *m, struct warp *w) {
  const struct insn *code = m->program->code;
  while (w->state == WARP_RUNS && !m->halted) {
    struct path *top = &w->stack[w->depth - 1];
    if (top->pc == top->reconverge) {
      w->depth--;
      continue;
    }
    const struct insn *in = &code[top->pc];
    if (--m->left < 0) {
      if (!launch_refill(m)) {
        out_of_budget(m, w, in, top->mask);
        return;
      }
      if (look_up(m, w)) {
        m->left++;
        return;
      }
    }
    uint32_t mask = in->has_guard ? top->mask & machine_pred(w, in->guard) : top->mask;
    if (m->depend)
      depend_step(m, w, in, mask);
    struct tally_cell *cell = &m->cells[top->pc];
    cell->runs++;
    cell->threads += mask == UINT32_MAX ? INSN_LANES : __builtin_popcount(mask);
    if (in->plain && mask == UINT32_MAX) {
      in->alu(machine_lanes(m, w, in->dst), machine_lanes(m, w, in->a), machine_lanes(m, w, in->b),
              machine_lanes(m, w, in->c));
      top->pc++;
    } else if (in->kind == INSN_LD || in->kind == INSN_ST || in->kind == INSN_ATOM) {
      if (mask)
        exec_mem(m, w, in, mask);
      top->pc++;
    } else if (in->kind <= INSN_UNPACK || in->kind >= INSN_WARP_SYNC) {
      if (!mask || exec_warp(m, w, in, mask, top->mask))
        top->pc++;
      else
        control(m, w, in, mask);
    } else {
      control(m, w, in, mask);
    }
  }
}

static void deadlock(struct machine *m) {
  for (int i = 0; i < m->nwarps; i++) {
    struct warp *w = &m->warps[i];
    if (w->state == WARP_YIELDS && w->polls)
      exec_mbar_deadlock(m, w);
    if (w->state != WARP_WAITS)
      continue;
    const struct insn *in = &m->program->code[w->stack[w->depth - 1].pc - 1];
    const struct barrier *b = &m->barriers[w->barrier];
    report_problem(m, w, in, __builtin_ctz(w->alive), XRAY_DEADLOCK, true,
                   "Waits at barrier %d for ever: %d threads have come, and no warp can run.",
                   w->barrier, b->threads);
  }
  m->halted = true;
}

/* One turn of every warp that can run. */
static void run_warps(struct machine *m, bool *waits, bool *yields) {
  *waits = *yields = false;
  for (int i = 0; i < m->nwarps && !m->halted; i++) {
    struct warp *w = &m->warps[i];
    if (w->state == WARP_YIELDS)
      w->state = WARP_RUNS;
    run_warp(m, w);
    *waits |= w->state == WARP_WAITS;
    *yields |= w->state == WARP_YIELDS;
  }
}

bool exec_flow_block(struct machine *m) {
  int idle = 0; /* turns without a sign of progress */
  memset(m->barriers, 0, sizeof m->barriers);
  m->epoch = 1;
  exec_async_clear(m);
  clock_next_block(m->clock);
  if (!m->special_of) {
    m->special_of = alloc_zero((size_t)m->program->nspecials, sizeof *m->special_of);
    for (int i = 0; i < m->program->nspecials; i++)
      m->special_of[i] = special_of(m->program->specials[i].name);
  }
  for (int i = 0; i < m->nwarps; i++)
    start_warp(m, &m->warps[i]);
  for (;;) {
    bool waits, yields;
    int64_t before = m->events;
    run_warps(m, &waits, &yields);
    if (m->halted)
      return false;
    if (!waits && !yields)
      return true;
    if (release(m))
      continue;
    idle = m->events == before ? idle + 1 : 0;
    if (!yields || idle == IDLE_TURNS) {
      deadlock(m);
      return false;
    }
  }
}
