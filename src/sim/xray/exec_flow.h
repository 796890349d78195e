/* Runs the warps of a block: branches, reconvergence, barriers, the end. */
#ifndef MM_SIM_XRAY_EXEC_FLOW_H
#define MM_SIM_XRAY_EXEC_FLOW_H

#include "sim/xray/machine.h"

/* Runs the block m->block to its end. False if a problem ended the launch (m->halted) or it was
 * stopped. The warps, their registers and predicates are the caller's. */
bool exec_flow_block(struct machine *m);

#endif
