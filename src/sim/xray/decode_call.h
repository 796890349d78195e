/* The functions that a kernel calls: which they are, where their variables lie, and the forms of
 * call and brx.idx. */
#ifndef MM_SIM_XRAY_DECODE_CALL_H
#define MM_SIM_XRAY_DECODE_CALL_H

#include "sim/xray/decode_part.h"

/* What a pointer to function i of the module holds. */
#define DECODE_CALL_CODE(i) (((int64_t)1 << 60) + ((int64_t)(i) + 1) * 16)

/* The value of a name of the module in an initialiser or operand: a variable or, as a pointer, a
 * function. False if there is none. */
bool decode_call_symbol(const struct program *p, const struct ptx_module *module, struct slice name,
                        bool generic, int64_t *value);

/* Fills p->funcs: the kernel first, then every function that it may call. */
void decode_call_collect(struct program *p, const struct ptx_module *module,
                         const struct ptx_func *kernel);

/* Lengthens local memory by the room that the frames of called functions need, once the variables
 * of all are placed; marks the functions that may call themselves. */
void decode_call_room(struct program *p);

/* Each fills d->out; false where the form is not known. */
bool decode_call(struct decoder *d);
bool decode_call_jump(struct decoder *d);

#endif
