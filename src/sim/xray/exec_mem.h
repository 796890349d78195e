/* Loads, stores and atomics: checked, counted, done. */
#ifndef MM_SIM_XRAY_EXEC_MEM_H
#define MM_SIM_XRAY_EXEC_MEM_H

#include "sim/xray/machine.h"

/* Runs an INSN_LD, INSN_ST or INSN_ATOM for the lanes of mask. A wrong address is reported, reads 0
 * and writes nothing. */
void exec_mem(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask);

/* How the load is joined in the trip of its unrolled loop that the warp is in. */
struct insn_copy exec_mem_joined(const struct machine *m, const struct warp *w,
                                 const struct insn *in, uint32_t mask);

#endif
