/* The forms of f16, bf16 and their pairs; comparisons that leave numbers. */
#ifndef MM_SIM_XRAY_DECODE_HALF_H
#define MM_SIM_XRAY_DECODE_HALF_H

#include "sim/xray/decode_part.h"

/* Each fills d->out; false where the form is not known. decode_half: arithmetic whose last part is
 * a half type, decode_half_is. */
bool decode_half_shape(struct slice type, uint8_t *half); /* HALF_BRAIN and HALF_PAIR of "bf16x2" */
bool decode_half_is(const struct decoder *d);
bool decode_half(struct decoder *d);
bool decode_half_setp(struct decoder *d);
bool decode_half_set(struct decoder *d);

#endif
