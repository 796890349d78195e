/* The forms of exec_misc.h and of what does nothing here. */
#ifndef MM_SIM_XRAY_DECODE_MISC_H
#define MM_SIM_XRAY_DECODE_MISC_H

#include "sim/xray/decode_part.h"

/* Each fills d->out; false where the form is not known. */
bool decode_misc_carry(struct decoder *d); /* where decode_misc_carries */
bool decode_misc_carries(const struct decoder *d);
bool decode_misc_lop3(struct decoder *d);
bool decode_misc_testp(struct decoder *d);
bool decode_misc_isspacep(struct decoder *d);
bool decode_misc_slct(struct decoder *d);
bool decode_misc_elect(struct decoder *d);
bool decode_misc_policy(struct decoder *d); /* createpolicy: a hint without effect */

/* mov of a clock; decode_misc_is_clock: the operand names one. */
bool decode_misc_clock(struct decoder *d);
bool decode_misc_is_clock(const struct ptx_operand *o);

/* The value of a register of a cluster, where the module has none: each block is one of its own.
 * -1: no such register, or it is no constant. */
int decode_misc_cluster(const struct decoder *d, struct slice name);

#endif
