#include "sim/xray/exec_call.h"

#include "base/alloc.h"
#include "sim/xray/exec_print.h"
#include "sim/xray/lanes.h"
#include "sim/xray/memory.h"
#include "sim/xray/report.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_FRAMES = 256 };

struct call_frame {
  int depth;    /* paths below those of the function */
  int64_t base; /* of its part of local memory */
  uint32_t mask;
  const struct insn_call *call;
  int func;
  unsigned char *saved; /* registers and predicates of an outer call of the same function; NULL */
};

static const struct call_frame *top_frame(const struct warp *w) {
  return w->nframes ? &w->frames[w->nframes - 1] : NULL;
}

static int64_t frame_base(const struct warp *w) {
  return w->nframes ? w->frames[w->nframes - 1].base : 0;
}

/* A thread's local memory from byte `at`. */
static unsigned char *local(const struct machine *m, const struct warp *w, int lane, int64_t at) {
  const struct memory_piece *p =
      memory_find(m->memory, PTX_LOCAL, at, (int64_t)w->index * INSN_LANES + lane);
  return p->data + at;
}

uint64_t exec_call_arg(const struct machine *m, const struct warp *w, const struct insn_call *c,
                       int i, int lane) {
  uint64_t v = 0;
  if (i < c->nargs)
    memcpy(&v, local(m, w, lane, frame_base(w) + c->arg[i]),
           c->arg_bytes[i] < 8 ? (size_t)c->arg_bytes[i] : 8);
  return v;
}

/* ---- entering */

/* Registers of a function that may be running already in this warp. */
static unsigned char *save(const struct machine *m, const struct warp *w,
                           const struct insn_func *f) {
  (void)m;
  if (!f->recursive)
    return NULL;
  size_t units = (size_t)(f->unit1 - f->unit0) * INSN_UNIT;
  size_t preds = (size_t)(f->pred1 - f->pred0) * sizeof *w->preds;
  unsigned char *to = alloc_zero(units + preds + 1, 1);
  memcpy(to, w->regs + (size_t)f->unit0 * INSN_UNIT, units);
  memcpy(to + units, w->preds + f->pred0, preds);
  return to;
}

/* No other lanes ran since: those that wait here have what was saved. */
static void restore(struct warp *w, const struct insn_func *f, unsigned char *from) {
  if (!from)
    return;
  size_t units = (size_t)(f->unit1 - f->unit0) * INSN_UNIT;
  size_t preds = (size_t)(f->pred1 - f->pred0) * sizeof *w->preds;
  memcpy(w->regs + (size_t)f->unit0 * INSN_UNIT, from, units);
  memcpy(w->preds + f->pred0, from + units, preds);
  free(from);
}

static bool too_deep(struct machine *m, struct warp *w, const struct insn *in, int lane,
                     int64_t end) {
  if (w->nframes < MAX_FRAMES && w->depth + 4 < MACHINE_STACK && end <= m->program->local_bytes)
    return false;
  report_problem(m, w, in, lane, XRAY_UNSUPPORTED, true,
                 "Calls are nested %d deep here: the x-ray follows no deeper recursion. Check that "
                 "it ends, or write it as a loop.",
                 w->nframes + 1);
  m->halted = true;
  return true;
}

static void enter(struct machine *m, struct warp *w, const struct insn *in,
                  const struct insn_call *c, int func, uint32_t mask) {
  const struct program *p = m->program;
  const struct insn_func *f = &p->funcs[func];
  int64_t from = frame_base(w), base = from + p->funcs[c->caller].frame;
  if (too_deep(m, w, in, __builtin_ctz(mask), base + f->frame))
    return;
  if (!w->frames)
    w->frames = alloc_zero(MAX_FRAMES, sizeof *w->frames);
  const struct insn_symbol *formal = &p->symbols[f->first_symbol + f->f->nrets];
  unsigned char *saved = save(m, w, f);
  lane_u64 *base_of = (lane_u64 *)machine_lanes(m, w, f->base);
  for (uint32_t left = mask; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    base_of[l] = (uint64_t)base;
    for (int i = 0; i < c->nargs && i < f->f->nparams; i++) {
      int64_t n = formal[i].var->bytes < c->arg_bytes[i] ? formal[i].var->bytes : c->arg_bytes[i];
      memcpy(local(m, w, l, base + formal[i].at), local(m, w, l, from + c->arg[i]), (size_t)n);
    }
  }
  w->frames[w->nframes++] = (struct call_frame){w->depth, base, mask, c, func, saved};
  w->stack[w->depth++] = (struct path){f->entry, -1, mask, false};
}

/* The function whose address a lane holds; -1: none. */
static int pointed_at(const struct machine *m, uint64_t address) {
  for (int i = 1; i < m->program->nfuncs; i++)
    if ((uint64_t)m->program->funcs[i].code == address)
      return i;
  return -1;
}

/* Lanes that call another function than the first lane's do the call again by themselves. */
static void enter_pointed(struct machine *m, struct warp *w, const struct insn *in,
                          const struct insn_call *c, uint32_t mask) {
  const lane_u64 *address = (const lane_u64 *)machine_lanes(m, w, c->address);
  int first = __builtin_ctz(mask), func = pointed_at(m, address[first]);
  uint32_t same = 0;
  for (int l = 0; l < INSN_LANES; l++)
    same |= (uint32_t)(mask >> l & 1 && address[l] == address[first]) << l;
  if (func < 0 || m->program->funcs[func].f->nparams != c->nargs) {
    report_problem(
        m, w, in, first, XRAY_NULL, true,
        "Calls a function by the pointer %#llx, which is no function of these arguments.",
        (unsigned long long)address[first]);
    m->halted = true;
    return;
  }
  if (too_deep(m, w, in, first, 0))
    return;
  int32_t at = (int32_t)(in - m->program->code);
  if (mask & ~same)
    w->stack[w->depth++] = (struct path){at, at + 1, mask & ~same, false};
  enter(m, w, in, c, func, same);
}

void exec_call(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  const struct insn_call *c = &m->program->calls[in->target];
  w->stack[w->depth - 1].pc++;
  if (!mask)
    return;
  switch ((enum insn_builtin)c->what) {
  case CALL_VPRINTF:
    exec_print(m, w, c, mask);
    break;
  case CALL_ASSERTFAIL:
    exec_print_assert(m, w, in, c, mask);
    break;
  case CALL_MALLOC:
  case CALL_FREE:
    report_problem(m, w, in, __builtin_ctz(mask), XRAY_UNSUPPORTED, true,
                   "malloc and free in a kernel are not supported. Give the kernel an array of the "
                   "host instead.");
    m->halted = true;
    break;
  case CALL_FUNC:
    if (c->func < 0)
      enter_pointed(m, w, in, c, mask);
    else
      enter(m, w, in, c, c->func, mask);
    break;
  }
}

/* ---- leaving */

static void pop_frame(struct machine *m, struct warp *w) {
  struct call_frame *top = &w->frames[--w->nframes];
  const struct insn_func *f = &m->program->funcs[top->func];
  const struct insn_symbol *ret = &m->program->symbols[f->first_symbol];
  int64_t n = f->f->nrets ? ret->var->bytes : 0;
  n = n < top->call->ret_bytes ? n : top->call->ret_bytes;
  for (uint32_t left = n ? top->mask : 0; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    memcpy(local(m, w, l, frame_base(w) + top->call->ret), local(m, w, l, top->base + ret->at),
           (size_t)n);
  }
  restore(w, f, top->saved);
}

/* Takes lanes out of the paths from index `from` on. */
static void leave_paths(struct machine *m, struct warp *w, int from, uint32_t gone) {
  int kept = from, frame = 0;
  while (frame < w->nframes && w->frames[frame].depth <= from)
    frame++;
  for (int i = from; i < w->depth; i++) {
    for (; frame < w->nframes && w->frames[frame].depth == i; frame++)
      w->frames[frame].depth = kept;
    struct path p = w->stack[i];
    p.mask &= ~gone;
    if (p.mask)
      w->stack[kept++] = p;
  }
  w->depth = kept;
  while (w->nframes && top_frame(w)->depth >= w->depth)
    pop_frame(m, w);
}

bool exec_call_return(struct machine *m, struct warp *w, uint32_t gone) {
  if (!w->nframes)
    return false;
  leave_paths(m, w, top_frame(w)->depth, gone);
  return true;
}

void exec_call_leave(struct machine *m, struct warp *w, uint32_t gone) {
  leave_paths(m, w, 0, gone);
}

void exec_call_clear(struct warp *w) {
  for (int i = 0; i < w->nframes; i++)
    free(w->frames[i].saved);
  w->nframes = 0;
}
