/* How ptxas joins neighbouring shared loads: sets `joined` of the loads of a program, and `copies`
 * of those in unrolled loops. */
#ifndef MM_SIM_XRAY_MERGE_H
#define MM_SIM_XRAY_MERGE_H

#include "sim/xray/loops.h"

struct merge;

/* For one program, whose marks are taken away. Free with merge_free. */
struct merge *merge_new(struct program *p, struct affine *a);
void merge_free(struct merge *m); /* NULL allowed */

/* Joins shared loads of one basic block whose addresses differ by constants into loads of 8 and 16
 * bytes where the alignment is known: words with words, eight bytes with eight bytes, shorter loads
 * never; not across stores, barriers and ordered accesses, and no guarded ones. Every instruction
 * stands for itself. */
void merge_code(struct merge *m);

/* The same in a loop of one block and known trips, of which `peeled` stand before a loop whose body
 * holds `copies` (0: all trips are peeled). Call it behind merge_code. */
void merge_loop(struct merge *m, const struct loop *l, int peeled, int copies);

/* Takes away all marks, for another try. */
void merge_clear(struct merge *m);

#endif
