/* The forms of the instructions of tensor cores. */
#ifndef MM_SIM_XRAY_DECODE_MMA_H
#define MM_SIM_XRAY_DECODE_MMA_H

#include "sim/xray/decode_part.h"

/* Each fills d->out; false where the form is not known. */
bool decode_mma(struct decoder *d);
bool decode_mma_wmma(struct decoder *d); /* load, store and mma */
bool decode_mma_ldmatrix(struct decoder *d);
bool decode_mma_stmatrix(struct decoder *d);
bool decode_mma_movmatrix(struct decoder *d);

#endif
