/* What a program's code holds: loads, stores and FFMA as the machine code is expected to have them,
 * after joining and unrolling. */
#ifndef MM_SIM_XRAY_MIX_H
#define MM_SIM_XRAY_MIX_H

#include "sim/xray/insn.h"
#include "sim/xray/xray.h"

/* The whole program, with the marks that unroll_program sets. */
void mix_of(const struct program *p, struct xray_mix *out);

/* Adds one instruction as it stands in the PTX. */
void mix_add(const struct insn *in, struct xray_mix *to);

#endif
