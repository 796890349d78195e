/* Some blocks in place of all: blocks that provably run in step cost the same, so that one of each
 * such class is run and counted as often as the class has blocks. */
#ifndef MM_SIM_XRAY_SAMPLE_H
#define MM_SIM_XRAY_SAMPLE_H

#include "base/err.h"
#include "sim/xray/launch.h"

/* Runs one block of each class on machine m, whose tally then holds the counts of all blocks. Where
 * nothing can be said of the other blocks they are all run. *all: every block that was run ended by
 * itself (if not, the tally holds the blocks that were run). False with a sentence if all blocks
 * had to be run and the budget is too small for that. */
bool sample_run(struct launch *l, struct machine *m, bool *all, struct err *err);

#endif
