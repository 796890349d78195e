/* Instructions of one warp that look at other lanes, and the arithmetic with its masks. */
#ifndef MM_SIM_XRAY_EXEC_WARP_H
#define MM_SIM_XRAY_EXEC_WARP_H

#include "sim/xray/machine.h"

/* Runs one instruction that neither branches nor waits nor touches memory, for the lanes of mask;
 * active: the lanes that are here, without the guard. False: it is none of these. */
bool exec_warp(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask,
               uint32_t active);

/* Reports lanes of mask that are not in their own member mask (vec[0]) and members that are not
 * here. */
void exec_warp_members(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask);

#endif
