/* The integer half of the table of exec_alu.h. */
#ifndef MM_SIM_XRAY_EXEC_INT_H
#define MM_SIM_XRAY_EXEC_INT_H

#include "sim/xray/exec_alu.h"

/* The integer operation of that name, NULL if there is none. */
const struct exec_alu_op *exec_int_find(struct slice name);

#endif
