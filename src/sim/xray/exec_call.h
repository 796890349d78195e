/* Calls of functions that were not inlined: frames of local memory, divergent returns, recursion up
 * to a limit. */
#ifndef MM_SIM_XRAY_EXEC_CALL_H
#define MM_SIM_XRAY_EXEC_CALL_H

#include "sim/xray/machine.h"

/* Runs an INSN_CALL on the top path of the warp for the lanes of mask. */
void exec_call(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask);

/* The lanes `gone` return from the function that the warp is in; false: it is in the kernel. */
bool exec_call_return(struct machine *m, struct warp *w, uint32_t gone);

/* The lanes `gone` leave every path, of all functions. */
void exec_call_leave(struct machine *m, struct warp *w, uint32_t gone);

/* The 8 bytes or fewer of argument i of a lane, from the caller's frame. */
uint64_t exec_call_arg(const struct machine *m, const struct warp *w, const struct insn_call *c,
                       int i, int lane);

/* Forgets all frames. */
void exec_call_clear(struct warp *w);

#endif
