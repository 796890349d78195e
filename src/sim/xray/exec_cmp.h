/* Comparisons of 32 lanes: masks. */
#ifndef MM_SIM_XRAY_EXEC_CMP_H
#define MM_SIM_XRAY_EXEC_CMP_H

#include "sim/xray/insn.h"

/* The comparison cmp ("lt", "neu", ...) of that type (".s32"), NULL if there is none; *bytes: of a
 * lane of its sources. */
insn_cmp *exec_cmp_find(struct slice cmp, struct slice type, int *bytes);

#endif
