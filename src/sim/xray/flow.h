/* Control flow of a kernel: where lanes that part at a branch meet again. */
#ifndef MM_SIM_XRAY_FLOW_H
#define MM_SIM_XRAY_FLOW_H

#include "sim/xray/insn.h"

/* Sets the reconvergence of every branch: the first instruction of its immediate post-dominator.
 * Where that is the end because one side may leave, it is the first one that the lanes which
 * stay have in common; -1 where there is none. Targets are resolved before. */
void flow_resolve(struct program *p);

/* Marks in starts (n entries) the first instruction of every basic block. */
void flow_starts(const struct program *p, bool *starts);

#endif
