/* Products that ptxas puts into the sum behind them: one FFMA in the machine code for a mul and an
 * add of the PTX. */
#ifndef MM_SIM_XRAY_FUSE_H
#define MM_SIM_XRAY_FUSE_H

#include "sim/xray/affine.h"

/* Counts such an addition as an FFMA and its product not at all: where both say nothing of their
 * rounding, stand in one basic block, and nothing but such additions uses the product. Results stay
 * those of the two instructions. */
void fuse_products(struct program *p, const struct affine *a);

#endif
