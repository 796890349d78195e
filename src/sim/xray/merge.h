/* How ptxas joins neighbouring shared loads: sets `joined` of the loads of a program. */
#ifndef MM_SIM_XRAY_MERGE_H
#define MM_SIM_XRAY_MERGE_H

#include "sim/xray/insn.h"

/* Joins 4-byte shared loads of one basic block whose addresses differ by constants into loads of 8
 * and 16 bytes where the alignment is known; not across stores, barriers and volatile accesses.
 * Small loops of constant trip count are unrolled for it in full; others are counted as they stand.
 */
void merge_shared_loads(struct program *p);

#endif
