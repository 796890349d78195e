/* The forms of instructions that touch memory or other lanes. */
#ifndef MM_SIM_XRAY_DECODE_MEM_H
#define MM_SIM_XRAY_DECODE_MEM_H

#include "sim/xray/decode_part.h"

/* Each fills d->out; false where the form is not known. */
bool decode_mem_load(struct decoder *d);
bool decode_mem_store(struct decoder *d);
bool decode_mem_atom(struct decoder *d);
bool decode_mem_barrier(struct decoder *d);
bool decode_mem_shuffle(struct decoder *d);
bool decode_mem_vote(struct decoder *d);
bool decode_mem_activemask(struct decoder *d);
bool decode_mem_match(struct decoder *d);
bool decode_mem_redux(struct decoder *d);

#endif
