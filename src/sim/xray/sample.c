#include "sim/xray/sample.h"

#include "base/alloc.h"
#include "sim/xray/depend.h"
#include "sim/xray/report.h"
#include "sim/xray/shadow.h"
#include "sim/xray/tally.h"
#include <stdlib.h>

enum { MOST_BLOCKS = 1 << 23 }; /* whose classes are told apart */

struct sample {
  struct launch *launch;
  struct machine *machine;
  int64_t *left; /* blocks that no class has taken */
  int64_t nleft;
  struct tally *scaled, *run; /* of all blocks of the classes; of the blocks that were run */
  struct tally *proof;        /* of one block of the largest class */
  int64_t proof_block, largest;
  int64_t *done; /* blocks that were run */
  int64_t ndone;
};

static struct tally *copy(const struct program *p, const struct tally *t) {
  struct tally *c = tally_new(p);
  tally_add(c, t, 1);
  return c;
}

/* Runs one block; its counts stay in the machine's tally. */
static bool run_one(struct sample *s, int64_t block) {
  bool ok = launch_block(s->machine, block);
  tally_add(s->run, s->machine->tally, 1);
  s->done = alloc_grow(s->done, (size_t)s->ndone + 1, sizeof *s->done);
  s->done[s->ndone++] = block;
  return ok;
}

/* Takes the blocks in step with the one that was just run, s->left[0], off the list. */
static int64_t take_class(struct sample *s, struct depend *d) {
  bool *same = alloc_zero((size_t)s->nleft, 1);
  int64_t kept = 0, n = s->nleft, last = s->left[0];
  depend_match(d, s->left, n, same);
  same[0] = true;
  for (int64_t i = 0; i < n; i++)
    if (same[i])
      last = s->left[i];
    else
      s->left[kept++] = s->left[i];
  s->nleft = kept;
  free(same);
  int64_t size = n - kept;
  if (size > s->largest) {
    s->largest = size;
    s->proof_block = last;
    tally_free(s->proof);
    s->proof = copy(s->machine->program, s->machine->tally);
  }
  return size;
}

/* One block of each class. *failed: the instruction that shows that there are no classes. */
static bool run_classes(struct sample *s, const struct insn **failed) {
  struct machine *m = s->machine;
  struct depend *d = depend_new(m->program);
  bool ok = true;
  *failed = NULL;
  while (s->nleft > 0 && ok && !*failed) {
    m->depend = d;
    ok = run_one(s, s->left[0]);
    m->depend = NULL;
    *failed = depend_failed(d);
    if (ok && !*failed)
      tally_add(s->scaled, m->tally, take_class(s, d));
    tally_clear(m->tally);
  }
  depend_free(d);
  return ok;
}

/* The last block of the largest class must cost what the first did: else the proof has a hole, and
 * every block is run. */
static bool check_proof(struct sample *s, bool *holds) {
  *holds = true;
  if (s->largest < 2)
    return true;
  if (s->launch->ask->checked_blocks == 1)
    shadow_pause(s->machine->shadow);
  bool ok = run_one(s, s->proof_block);
  *holds = !ok || tally_same(s->proof, s->machine->tally);
  tally_clear(s->machine->tally);
  return ok;
}

static int by_number(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* All blocks that were not run yet. */
static bool run_others(struct sample *s) {
  int64_t checked = s->launch->ask->checked_blocks, at = 0, n = s->ndone;
  int64_t *done = alloc_zero((size_t)n, sizeof *done);
  bool ok = true;
  for (int64_t i = 0; i < n; i++)
    done[i] = s->done[i];
  qsort(done, (size_t)n, sizeof *done, by_number);
  for (int64_t b = 0; b < s->launch->blocks && ok; b++) {
    if (at < n && done[at] == b) {
      at++;
      continue;
    }
    if (checked > 0 && s->machine->executed >= checked)
      shadow_pause(s->machine->shadow);
    ok = launch_block(s->machine, b);
  }
  free(done);
  tally_add(s->run, s->machine->tally, 1);
  tally_clear(s->machine->tally);
  return ok;
}

static bool affordable(struct sample *s, const struct insn *failed, struct err *err) {
  double each = (double)tally_runs(s->run) / (double)(s->ndone ? s->ndone : 1);
  double need = each * (double)(s->launch->blocks - s->ndone);
  if (need <= (double)s->launch->budget)
    return true;
  if (!failed)
    return err_set(err,
                   "The launch has %lld blocks, more than can be sorted into classes, and all of "
                   "them are about %.3g warp instructions, more than the budget of %.3g. Choose a "
                   "smaller size.",
                   (long long)s->launch->blocks, need, (double)s->launch->budget);
  int line = report_line(s->machine->report, failed->line);
  return err_set(err,
                 "What line %d does may differ from block to block, so that all %lld blocks have "
                 "to be run: about %.3g warp instructions, more than the budget of %.3g. Choose a "
                 "smaller size.",
                 line, (long long)s->launch->blocks, need, (double)s->launch->budget);
}

static bool run(struct sample *s, bool *all, struct err *err) {
  const struct insn *failed = NULL;
  bool holds = true;
  *all = s->launch->blocks <= MOST_BLOCKS ? run_classes(s, &failed) : run_one(s, 0);
  if (*all && !failed && s->launch->blocks <= MOST_BLOCKS)
    *all = check_proof(s, &holds);
  tally_clear(s->machine->tally);
  if (*all && !failed && holds && s->launch->blocks <= MOST_BLOCKS) {
    tally_add(s->machine->tally, s->scaled, 1);
    return true;
  }
  if (*all) {
    if (!affordable(s, failed, err))
      return false;
    *all = run_others(s);
  }
  tally_add(s->machine->tally, s->run, 1);
  return true;
}

bool sample_run(struct launch *l, struct machine *m, bool *all, struct err *err) {
  struct sample s = {.launch = l, .machine = m};
  s.nleft = l->blocks <= MOST_BLOCKS ? l->blocks : 0;
  s.left = alloc_zero((size_t)s.nleft, sizeof *s.left);
  /* The block whose events are wanted stands for its class. */
  const int64_t *grid = l->ask->grid, *t = l->ask->trace_block;
  int64_t first = l->ask->trace ? (t[2] * grid[1] + t[1]) * grid[0] + t[0] : 0, at = 1;
  for (int64_t i = 0; i < s.nleft; i++)
    if (i != first && at < s.nleft)
      s.left[at++] = i;
  if (s.nleft)
    s.left[0] = first >= 0 && first < s.nleft ? first : 0;
  s.scaled = tally_new(m->program);
  s.run = tally_new(m->program);
  bool ok = run(&s, all, err);
  tally_free(s.scaled);
  tally_free(s.run);
  tally_free(s.proof);
  free(s.left);
  free(s.done);
  return ok;
}
