/* Conversions of 32 lanes between number types. */
#ifndef MM_SIM_XRAY_EXEC_CVT_H
#define MM_SIM_XRAY_EXEC_CVT_H

#include "sim/xray/insn.h"

/* Converts all lanes of `from` by an INSN_CVT into `to`. */
void exec_cvt(const struct insn *in, void *to, const void *from);

/* Converts by an INSN_CVT_PACK (sub: exec_float of the result, width: of the sources): two floats
 * (a is the upper one) or a pair to a pair; or one float to tf32. */
void exec_cvt_pack(const struct insn *in, void *to, const void *a, const void *b);

#endif
