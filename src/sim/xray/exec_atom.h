/* Atomics, lane by lane in the order of the lanes. */
#ifndef MM_SIM_XRAY_EXEC_ATOM_H
#define MM_SIM_XRAY_EXEC_ATOM_H

#include "sim/xray/machine.h"

/* Runs an INSN_ATOM at checked addresses. */
void exec_atom(struct machine *m, struct warp *w, const struct insn *in, enum ptx_space space,
               const int64_t address[32], uint32_t mask);

/* What an integer operation leaves of old and operand: add, min, max, and, or, xor, exch, inc, dec.
 */
uint64_t exec_atom_value(const struct insn *in, uint64_t old, uint64_t operand);

#endif
