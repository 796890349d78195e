/* Follows one block while it runs and finds which other blocks run exactly in step with it: the
 * same instructions with the same lanes, addresses as far apart and in the same place of a line. */
#ifndef MM_SIM_XRAY_DEPEND_H
#define MM_SIM_XRAY_DEPEND_H

#include "sim/xray/machine.h"

struct depend;

struct depend *depend_new(const struct program *p);
void depend_free(struct depend *d); /* NULL allowed */

/* To be called before the block that m is about to run; then m->depend is set, and exec_flow calls
 * depend_warp as a warp starts and depend_step before each instruction. */
void depend_begin(struct depend *d, const struct machine *m);
void depend_warp(const struct machine *m, const struct warp *w);
void depend_step(const struct machine *m, const struct warp *w, const struct insn *in,
                 uint32_t mask);

/* The instruction for which nothing can be said of other blocks, because what it does hangs on the
 * contents of memory; NULL: everything is known. */
const struct insn *depend_failed(const struct depend *d);

/* same[i] = whether block number blocks[i] runs in step with the block that was run. */
void depend_match(struct depend *d, const int64_t *blocks, int64_t n, bool *same);

#endif
