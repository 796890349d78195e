/* Arithmetic on 32 lanes at a time: a table from names to functions. */
#ifndef MM_SIM_XRAY_EXEC_ALU_H
#define MM_SIM_XRAY_EXEC_ALU_H

#include "sim/xray/insn.h"

struct exec_alu_op {
  const char *name; /* "fma.f32": without rounding, .ftz, .sat, .approx */
  const char *sig;  /* "4:444": bytes of a lane of the destination and of the sources */
  insn_alu *fn;
};

/* The operation of that name, NULL if there is none. */
const struct exec_alu_op *exec_alu_find(struct slice name);

/* Flushes 32 subnormal floats of `from` to zeros of their sign in `to`; saturates to [0, 1]. */
void exec_alu_flush(void *to, const void *from);
void exec_alu_saturate(void *to, const void *from);

#endif
