/* How the values of one block differ from those of another: value there = value here + the sum of
 * coefficient x (root there - root here). Roots are the block's coordinates and scalars computed
 * from them. What must hold for another block to run in step is kept as limits on such sums. */
#ifndef MM_SIM_XRAY_FORMS_H
#define MM_SIM_XRAY_FORMS_H

#include "sim/xray/insn.h"

struct forms;

enum {
  FORMS_NONE = 0,         /* the same in all blocks */
  FORMS_DATA = UINT16_MAX /* not known: it hangs on what lies in memory, or is too complicated */
};
typedef uint16_t forms_id;

/* Forms of a block at grid place `block`; free with forms_free. */
struct forms *forms_new(const int64_t block[3], const int64_t grid[3]);
void forms_free(struct forms *f); /* NULL allowed */

/* Coordinate i of the block. */
forms_id forms_coordinate(struct forms *f, int i);

/* a + factor * b. narrow: of 32-bit values, which wrap. */
forms_id forms_add(struct forms *f, forms_id a, forms_id b, int64_t factor, bool narrow);

/* True if the difference is a multiple of 2^bits for certain; and the form of the value shifted
 * right by as many. */
bool forms_divides(const struct forms *f, forms_id a, int bits);
forms_id forms_shifted(struct forms *f, forms_id a, int bits);

/* The result of an ALU instruction on scalars: a new root. */
struct forms_operand {
  uint64_t value;
  forms_id id;
  int bytes; /* 4 or 8; 0: there is no such operand */
};
forms_id forms_node(struct forms *f, const struct insn *in, const struct forms_operand with[3]);

/* The difference must lie in low .. high; must be a multiple of 2^bits. */
void forms_limit(struct forms *f, forms_id a, int64_t low, int64_t high);
void forms_multiple(struct forms *f, forms_id a, int bits);

/* same[i] = whether every limit holds for block number blocks[i]. */
void forms_match(struct forms *f, const int64_t *blocks, int64_t n, bool *same);

#endif
