/* Counters of every instruction, added up by source line at the end. */
#ifndef MM_SIM_XRAY_TALLY_H
#define MM_SIM_XRAY_TALLY_H

#include "sim/xray/machine.h"

struct tally_cell {
  int64_t runs, threads; /* warp instructions; active lanes of all of them */
  int64_t global_requests, global_sectors, global_wavefronts;
  int64_t shared_requests, shared_wavefronts, shared_conflicts;
  int64_t divergent;
};

struct tally *tally_new(const struct program *p);
void tally_free(struct tally *t); /* NULL allowed */

/* The counters of instruction i. */
struct tally_cell *tally_cell(struct tally *t, int i);

/* Counts one access: checked addresses (any value in lanes out of mask) of `bytes` a lane. */
void tally_access(struct tally *t, int i, enum ptx_space space, const int64_t address[32],
                  uint32_t mask, int bytes, bool store);

/* What one access costs, by itself; conflicts of shared memory, sectors of global. */
struct tally_cost {
  int sectors, wavefronts, conflicts;
};
struct tally_cost tally_measure(bool shared, const int64_t address[32], uint32_t mask, int bytes,
                                bool store);

/* to += times * from; and all counters 0 again. */
void tally_add(struct tally *to, const struct tally *from, int64_t times);
void tally_clear(struct tally *t);

/* Warp instructions in all; and whether all counters are the same. */
int64_t tally_runs(const struct tally *t);
bool tally_same(const struct tally *a, const struct tally *b);

/* Sums into the report: out->counts and the lines (allocated here). */
void tally_sum(const struct tally *t, const struct report *r, struct xray_report *out);

#endif
