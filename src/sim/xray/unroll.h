/* Which loops ptxas unrolls, and how often: joins the shared loads of a program accordingly. */
#ifndef MM_SIM_XRAY_UNROLL_H
#define MM_SIM_XRAY_UNROLL_H

#include "sim/xray/insn.h"
#include "sim/xray/xray.h"

/* Marks the program's instructions (joined, copies, unrolled, repeated) as the machine code has
 * them and writes its mix. With sass, the mix of the cubin of the same compile, the copies of each
 * loop are chosen so that both agree; true if they do. Without it, small loops of known trips are
 * unrolled in full; true if no loop with shared loads was left that ptxas might unroll. */
bool unroll_program(struct program *p, const struct xray_mix *sass, struct xray_mix *mix);

#endif
