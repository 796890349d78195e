#include "sim/xray/launch.h"

#include "base/alloc.h"
#include "sim/xray/clock.h"
#include "sim/xray/depend.h"
#include "sim/xray/exec_async.h"
#include "sim/xray/exec_call.h"
#include "sim/xray/exec_fast.h"
#include "sim/xray/exec_flow.h"
#include "sim/xray/exec_print.h"
#include "sim/xray/memory.h"
#include "sim/xray/report.h"
#include "sim/xray/sample.h"
#include "sim/xray/shadow.h"
#include "sim/xray/tally.h"
#include "sim/xray/trace.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_THREADS = 64,
  SLICE = 1024, /* warp instructions between two looks at the stop flag */
  CHUNKS = 16,
  MAX_CHUNK = 256
};
static const int64_t default_budget = (int64_t)1 << 33;
static const int64_t most_saved = (int64_t)1 << 30; /* bytes of arrays copied for a second run */

/* ---- one machine */

struct machine *launch_machine(struct launch *l, struct memory *memory, int checks) {
  struct machine *m = alloc_zero(1, sizeof *m);
  const int64_t *b = l->ask->block;
  m->program = l->program;
  m->launch = l->ask;
  m->shared = l;
  m->memory = memory;
  m->report = report_new(l->module, l->program);
  m->tally = tally_new(l->program);
  m->cells = tally_cell(m->tally, 0);
  m->shadow = shadow_new(l->program, memory, l->ask, checks);
  m->fast = exec_fast_new(l->program);
  m->nwarps = (int)((b[0] * b[1] * b[2] + INSN_LANES - 1) / INSN_LANES);
  m->warps = alloc_zero((size_t)m->nwarps, sizeof *m->warps);
  for (int i = 0; i < m->nwarps; i++) {
    m->warps[i].index = i;
    m->warps[i].regs = alloc_zero((size_t)m->program->units, INSN_UNIT);
    m->warps[i].preds = alloc_zero((size_t)m->program->npreds, sizeof(uint32_t));
  }
  m->scratch = alloc_zero(4, INSN_UNIT);
  m->clock = clock_new(m->program, checks, memory_shared_bytes(memory), m->nwarps);
  return m;
}

void launch_machine_free(struct machine *m) {
  if (!m)
    return;
  for (int i = 0; i < m->nwarps; i++) {
    exec_call_clear(&m->warps[i]);
    free(m->warps[i].frames);
    free(m->warps[i].regs);
    free(m->warps[i].preds);
  }
  free(m->warps);
  free(m->special_of);
  free(m->scratch);
  exec_async_free(m);
  clock_free(m->clock);
  exec_fast_free(m->fast);
  shadow_free(m->shadow);
  tally_free(m->tally);
  report_free(m->report);
  free(m);
}

bool launch_refill(struct machine *m) {
  int64_t want = m->block_left < SLICE ? m->block_left : SLICE;
  int64_t there = atomic_load(&m->shared->budget), take;
  do {
    take = there < want ? there : want;
    if (take <= 0)
      return false;
  } while (!atomic_compare_exchange_weak(&m->shared->budget, &there, there - take));
  m->block_left -= take;
  m->left += take;
  return true;
}

bool launch_stopped(const struct machine *m) {
  const struct xray_launch *l = m->launch;
  return atomic_load_explicit(&m->shared->halt, memory_order_relaxed) || (l->stop && *l->stop) ||
         (m->asks && l->stopped && l->stopped());
}

bool launch_block(struct machine *m, int64_t number) {
  const int64_t *grid = m->launch->grid;
  m->block_number = number;
  m->block[0] = number % grid[0];
  m->block[1] = number / grid[0] % grid[1];
  m->block[2] = number / grid[0] / grid[1];
  m->traces = trace_wants(m);
  memory_next_block(m->memory);
  shadow_next_block(m->shadow);
  m->left = 0;
  m->block_left = m->launch->block_budget > 0 ? m->launch->block_budget : INT64_MAX;
  m->halted = launch_stopped(m);
  launch_refill(m); /* if nothing is left, the first instruction tells */
  if (m->depend)
    depend_begin(m->depend, m);
  bool ok = !m->halted && exec_flow_block(m);
  if (m->left > 0)
    atomic_fetch_add(&m->shared->budget, m->left);
  m->executed += ok;
  return ok;
}

/* ---- all blocks, by this thread alone */

static void reset(struct launch *l) {
  l->budget = l->ask->budget > 0 ? l->ask->budget : default_budget;
  l->next = 0;
  l->halt = false;
}

/* The first n blocks with all checks, the others without. */
static int64_t first_checked(const struct launch *l) {
  int64_t n = l->ask->checked_blocks;
  return l->ask->checks && n > 0 && n < l->blocks ? n : l->blocks;
}

static bool run_range(struct machine *m, int64_t from, int64_t to) {
  for (int64_t i = from; i < to; i++)
    if (!launch_block(m, i))
      return false;
  return true;
}

static bool run_alone(struct launch *l, struct machine *m) {
  int64_t checked = first_checked(l);
  if (!run_range(m, 0, checked))
    return false;
  shadow_pause(m->shadow);
  return run_range(m, checked, l->blocks);
}

/* ---- several threads */

struct worker {
  struct machine *machine;
  int64_t chunk;
  pthread_t thread;
  pthread_mutex_t *lock;
  pthread_cond_t *change;
  int *running;
  bool started;
};

static void work(struct worker *w) {
  struct launch *l = w->machine->shared;
  for (;;) {
    int64_t from = atomic_fetch_add(&l->next, w->chunk);
    int64_t to = from + w->chunk < l->blocks ? from + w->chunk : l->blocks;
    if (from >= l->blocks)
      return;
    if (!run_range(w->machine, from, to)) {
      atomic_store(&l->halt, true);
      return;
    }
  }
}

static void *work_thread(void *p) {
  struct worker *w = p;
  work(w);
  pthread_mutex_lock(w->lock);
  --*w->running;
  pthread_cond_signal(w->change);
  pthread_mutex_unlock(w->lock);
  return NULL;
}

/* The calling thread has nothing left to run, but still asks whether the run is to end. */
static void wait_for_all(const struct machine *m, pthread_mutex_t *lock, pthread_cond_t *change,
                         const int *running) {
  pthread_mutex_lock(lock);
  while (*running > 0) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 20000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(change, lock, &until);
    if (launch_stopped(m))
      atomic_store(&m->shared->halt, true);
  }
  pthread_mutex_unlock(lock);
}

static void run_workers(struct launch *l, struct worker *workers, int n) {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t change = PTHREAD_COND_INITIALIZER;
  int running = n - 1;
  int64_t chunk = (l->blocks - l->next) / ((int64_t)n * CHUNKS);
  for (int i = 0; i < n; i++) {
    struct worker *w = &workers[i];
    w->chunk = chunk < 1 ? 1 : chunk > MAX_CHUNK ? MAX_CHUNK : chunk;
    w->lock = &lock;
    w->change = &change;
    w->running = &running;
  }
  for (int i = 1; i < n; i++) {
    workers[i].started = pthread_create(&workers[i].thread, NULL, work_thread, &workers[i]) == 0;
    if (!workers[i].started) { /* the others do its part */
      pthread_mutex_lock(&lock);
      running--;
      pthread_mutex_unlock(&lock);
    }
  }
  work(&workers[0]);
  wait_for_all(workers[0].machine, &lock, &change, &running);
  for (int i = 1; i < n; i++)
    if (workers[i].started)
      pthread_join(workers[i].thread, NULL);
}

/* True if what two machines found may hang on the order of their blocks. */
static bool entangled(struct worker *workers, int n) {
  for (int i = 0; i < n; i++) {
    if (report_depends_on_order(workers[i].machine->report))
      return true;
    for (int k = i + 1; k < n; k++)
      if (shadow_meet(workers[i].machine->shadow, workers[k].machine->shadow))
        return true;
  }
  return false;
}

/* False if the outcome is not for certain that of one thread: nothing of it may be used. Machine m
 * takes everything in. */
static bool run_shared(struct launch *l, struct machine *m, int threads) {
  struct worker workers[MAX_THREADS] = {{.machine = m}};
  struct memory *memory[MAX_THREADS] = {NULL};
  int64_t checked = first_checked(l);
  int checks = checked < l->blocks ? 0 : l->ask->checks;
  if (checked < l->blocks) {
    if (!run_range(m, 0, checked))
      return true; /* as one thread does */
    shadow_pause(m->shadow);
    l->next = checked;
  }
  for (int i = 1; i < threads; i++) {
    memory[i] = memory_fork(m->memory);
    workers[i].machine = launch_machine(l, memory[i], checks);
  }
  run_workers(l, workers, threads);
  bool good = !l->halt && !entangled(workers, threads);
  for (int i = 1; i < threads; i++) {
    if (good) {
      tally_add(m->tally, workers[i].machine->tally, 1);
      report_merge(m->report, workers[i].machine->report);
      m->executed += workers[i].machine->executed;
    }
    launch_machine_free(workers[i].machine);
    memory_free(memory[i]);
  }
  return good;
}

/* True if blocks may wait for each other or be told apart by their order: atomics, fences, volatile
 * accesses, texts, traces. */
static bool has_order(const struct launch *l) {
  if (l->ask->trace)
    return true;
  for (int i = 0; i < l->program->ncalls; i++)
    if (l->program->calls[i].what == CALL_VPRINTF || l->program->calls[i].what == CALL_MALLOC)
      return true;
  for (int i = 0; i < l->program->ncode; i++) {
    const struct insn *in = &l->program->code[i];
    bool outside = in->space == PTX_GLOBAL || in->space == PTX_GENERIC;
    if (in->kind == INSN_FENCE || (in->kind == INSN_ATOM && outside))
      return true;
    if ((in->kind == INSN_LD || in->kind == INSN_ST) && outside && in->ordered)
      return true;
  }
  return false;
}

static bool user_stops(const struct launch *l, const struct machine *m) {
  return (l->ask->stop && *l->ask->stop) || (m->asks && l->ask->stopped && l->ask->stopped());
}

/* Runs everything; *all: whether every block ended by itself. Returns the machine that holds the
 * outcome, *m or a new one in its place. */
static struct machine *run_all(struct launch *l, struct machine *m, bool *all) {
  int threads = l->ask->threads < MAX_THREADS ? l->ask->threads : MAX_THREADS;
  struct memory *memory = m->memory;
  if (threads < 2 || l->blocks < 2 || has_order(l) || memory_bytes(memory) > most_saved) {
    *all = run_alone(l, m);
    return m;
  }
  struct memory_copy *before = memory_save(memory);
  bool good = run_shared(l, m, threads);
  *all = good && !m->halted;
  if (!good && !user_stops(l, m)) {
    memory_restore(memory, before);
    launch_machine_free(m);
    reset(l);
    m = launch_machine(l, memory, l->ask->checks);
    m->asks = true;
    *all = run_alone(l, m);
  }
  memory_copy_free(before);
  return m;
}

bool launch_run(const struct ptx_module *module, const struct ptx_func *f,
                const struct program *program, const struct xray_launch *ask,
                struct xray_report *out, struct err *err) {
  struct launch l = {.module = module, .program = program, .ask = ask};
  struct memory *memory = memory_new(module, program, f, ask, err);
  if (!memory)
    return false;
  l.blocks = ask->grid[0] * ask->grid[1] * ask->grid[2];
  reset(&l);
  struct machine *m = launch_machine(&l, memory, ask->checks);
  m->asks = true;
  bool ok = true;
  if (ask->sample)
    ok = sample_run(&l, m, &out->finished, err);
  else
    m = run_all(&l, m, &out->finished);
  exec_print_flush(&m, 1);
  memory_give_back(memory, program, ask);
  if (ok) {
    tally_sum(m->tally, m->report, out);
    out->problems = report_take(m->report, &out->nproblems);
    out->blocks = l.blocks;
    out->blocks_executed = m->executed;
    out->sampled = out->finished && m->executed < l.blocks;
  }
  launch_machine_free(m);
  memory_free(memory);
  return ok;
}
