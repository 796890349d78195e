/* A loop of one block gone through trip by trip, with registers as sums: what an unrolled copy of
 * it knows of its addresses. */
#ifndef MM_SIM_XRAY_WALK_H
#define MM_SIM_XRAY_WALK_H

#include "sim/xray/affine.h"

struct walk;

/* At the start of the first trip of the loop of instructions first .. last. Free with walk_free. */
struct walk *walk_new(struct affine *a, const struct program *p, int first, int last);
void walk_free(struct walk *w); /* NULL allowed */

/* Goes past instruction i of the loop. */
void walk_past(struct walk *w, int i);

/* The value of a slot at this point. */
struct affine_sum walk_value(struct walk *w, insn_slot slot);

/* Enters, at the start of a trip, a loop whose body holds `copies` trips: a register is then known
 * by the zero bits of its start and of its step only. */
void walk_enter(struct walk *w, int copies);

#endif
