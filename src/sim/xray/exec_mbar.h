/* mbarrier: the barriers that lie in shared memory. */
#ifndef MM_SIM_XRAY_EXEC_MBAR_H
#define MM_SIM_XRAY_EXEC_MBAR_H

#include "sim/xray/machine.h"

/* Runs an INSN_MBAR, or the arrival of an INSN_ASYNC, for the lanes of mask. A test that fails for
 * one of them lets the other warps run: the warp's state becomes WARP_YIELDS. */
void exec_mbar(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask);

/* Why the warp's last test cannot come true: the problem of a warp that waits for ever. */
void exec_mbar_deadlock(struct machine *m, const struct warp *w);

#endif
