/* Conversions of 32 lanes between number types. */
#ifndef MM_SIM_XRAY_EXEC_CVT_H
#define MM_SIM_XRAY_EXEC_CVT_H

#include "sim/xray/insn.h"

/* Converts all lanes of `from` by an INSN_CVT into `to`. */
void exec_cvt(const struct insn *in, void *to, const void *from);

#endif
