/* The state of one run, shared by the parts that execute instructions. Plain data. */
#ifndef MM_SIM_XRAY_MACHINE_H
#define MM_SIM_XRAY_MACHINE_H

#include "sim/xray/insn.h"
#include "sim/xray/xray.h"

struct memory;
struct shadow;
struct tally;
struct tally_cell;
struct report;
struct fast;
struct print_log;
struct call_frame;
struct launch;
struct async_state;
struct clock;
struct depend;

enum { MACHINE_STACK = 400, MACHINE_BARRIERS = 16 };

struct path { /* lanes that go on at pc until they reach reconverge */
  int32_t pc, reconverge;
  uint32_t mask;
  bool blocked; /* at a barrier, for lanes that may still leave */
};

/* WARP_YIELDS: it goes on when the other warps had their turn */
enum warp_state { WARP_RUNS, WARP_WAITS, WARP_YIELDS, WARP_ENDED };

struct warp {
  int index; /* in the block; its lane l is thread index * 32 + l */
  enum warp_state state;
  int barrier; /* that it waits at */
  uint32_t alive, started; /* lanes: now; at first */
  unsigned char *regs;
  uint32_t *preds;
  uint32_t carry; /* lanes whose carry flag (add.cc) is set */
  struct path stack[MACHINE_STACK];
  int depth;
  uint16_t syncs;            /* __syncwarp so far */
  struct call_frame *frames; /* of functions it is in; NULL before the first call */
  int nframes;
  const struct insn *polls; /* the mbarrier test that failed last, and its barrier */
  int64_t polled;
  int looks; /* at the stop flag, in this turn */
};

struct barrier {
  int threads;  /* arrived, whole warps */
  int alive;    /* those of them that have not ended */
  int expected; /* 0: all that are alive */
  int yes;      /* threads whose predicate was true, of a reducing barrier */
};

struct machine {
  const struct program *program;
  const struct xray_launch *launch;
  struct launch *shared; /* by the machines of all threads */
  struct memory *memory;
  struct shadow *shadow;
  struct tally *tally;
  struct tally_cell *cells; /* its counters, by instruction */
  int *special_of;          /* what each special register of the program is; made by exec_flow */
  struct report *report;
  struct fast *fast; /* what loads and stores looked like so far */
  int64_t block[3];
  int64_t block_number;
  struct warp *warps;
  int nwarps;
  struct barrier barriers[MACHINE_BARRIERS];
  uint32_t epoch;            /* of the block: 1 at first, one more at each barrier */
  int64_t left;              /* of the part of the budget that was taken */
  int64_t block_left;        /* of the budget of this block, not taken yet */
  int64_t executed;          /* blocks that ended */
  bool asks;                 /* runs on the thread that may ask whether to stop */
  bool traces;               /* the events of this block are wanted */
  struct depend *depend;     /* NULL, or follows what hangs on the block */
  bool halted;               /* nothing more can be run */
  struct print_log *print;   /* NULL: nothing was printed */
  struct async_state *async; /* NULL: no cp.async yet */
  int64_t copies_open;       /* of lanes, that nobody waited for yet */
  struct clock *clock;       /* NULL: __syncthreads alone orders the warps */
  int64_t events;            /* arrivals at mbarriers: a sign that the block gets on */
  unsigned char *scratch;    /* 4 units */
};

/* The 32 lanes of a slot. */
static inline unsigned char *machine_lanes(const struct machine *m, const struct warp *w,
                                           insn_slot s) {
  return s >= 0 ? w->regs + (int64_t)s * INSN_UNIT : m->program->consts + (int64_t)~s * INSN_UNIT;
}

static inline uint32_t machine_pred(const struct warp *w, struct insn_pred p) {
  uint32_t v = w->preds[p.index];
  return p.neg ? ~v : v;
}

static inline void machine_set_pred(struct warp *w, struct insn_pred p, uint32_t mask, uint32_t v) {
  if (p.index > 0)
    w->preds[p.index] = (w->preds[p.index] & ~mask) | (v & mask);
}

#endif
