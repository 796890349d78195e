/* Float operations that compilers seldom write. */
#ifndef MM_SIM_XRAY_EXEC_RARE_H
#define MM_SIM_XRAY_EXEC_RARE_H

#include "sim/xray/exec_alu.h"

/* The operation of that name, NULL if there is none. */
const struct exec_alu_op *exec_rare_find(struct slice name);

#endif
