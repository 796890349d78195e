/* Turns a kernel as it was read into instructions as they are run. */
#ifndef MM_SIM_XRAY_DECODE_H
#define MM_SIM_XRAY_DECODE_H

#include "sim/xray/insn.h"

/* Each array of a launch lies in the middle of a window of 2^40 addresses, so that an index below
 * its start is still told as one of this array. Window 0 holds the module's variables. */
#define DECODE_GLOBAL_BASE ((int64_t)1 << 39)
#define DECODE_ARRAY_BASE(i) (((int64_t)(i) + 1) * ((int64_t)1 << 40) + DECODE_GLOBAL_BASE)
#define DECODE_ARRAY_OF(address) (((address) >> 40) - 1)

/* The program of a kernel; what is not known became INSN_UNSUPPORTED. Cannot fail. Free with
 * decode_free. */
struct program *decode_kernel(const struct ptx_module *module, const struct ptx_func *f);
void decode_free(struct program *p); /* NULL allowed */

#endif
