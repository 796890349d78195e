/* Integer operations beyond the plain ones: dot products, bit fields, 24 bits, pairs of 16 bits. */
#ifndef MM_SIM_XRAY_EXEC_BITS_H
#define MM_SIM_XRAY_EXEC_BITS_H

#include "sim/xray/exec_alu.h"

/* The operation of that name, NULL if there is none. */
const struct exec_alu_op *exec_bits_find(struct slice name);

/* slct: a where c is at least 0, else b; wide: 8 bytes; of_float: c is one. */
insn_alu *exec_bits_slct(bool wide, bool of_float);

#endif
