/* The short way for loads and stores of whole warps: most of them have the distances between lanes
 * that they had the last time, so that checking and counting come down to the first address. */
#ifndef MM_SIM_XRAY_EXEC_FAST_H
#define MM_SIM_XRAY_EXEC_FAST_H

#include "sim/xray/machine.h"

struct fast;

struct fast *exec_fast_new(const struct program *p);
void exec_fast_free(struct fast *f); /* NULL allowed */

/* Runs one load or store of all 32 lanes. False: nothing was done, because it is no access of whole
 * words of one array, all of them inside of it and aligned. */
bool exec_fast(struct machine *m, struct warp *w, const struct insn *in);

#endif
