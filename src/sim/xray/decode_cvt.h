/* The forms of cvt. */
#ifndef MM_SIM_XRAY_DECODE_CVT_H
#define MM_SIM_XRAY_DECODE_CVT_H

#include "sim/xray/decode_part.h"

/* Fills d->out; false where the form is not known. */
bool decode_cvt(struct decoder *d);

#endif
