/* The forms of cp.async and mbarrier. */
#ifndef MM_SIM_XRAY_DECODE_ASYNC_H
#define MM_SIM_XRAY_DECODE_ASYNC_H

#include "sim/xray/decode_part.h"

/* Each fills d->out; false where the form is not known. */
bool decode_async(struct decoder *d);
bool decode_async_mbar(struct decoder *d);

#endif
