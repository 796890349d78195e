/* What a program's code holds: loads, stores and FFMA as the machine code is expected to have them,
 * after joining and unrolling. */
#ifndef MM_SIM_XRAY_MIX_H
#define MM_SIM_XRAY_MIX_H

#include "sim/xray/insn.h"
#include "sim/xray/xray.h"

/* Call it behind merge_shared_loads. Code that no branch leads to is not counted. */
void mix_of(const struct program *p, struct xray_mix *out);

#endif
