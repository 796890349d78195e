/* The forms of single instructions. */
#ifndef MM_SIM_XRAY_DECODE_OP_H
#define MM_SIM_XRAY_DECODE_OP_H

#include "sim/xray/decode_part.h"

/* Fills d->out from d->src. False, or d->bad set, where the instruction is not known. */
bool decode_op(struct decoder *d);

#endif
