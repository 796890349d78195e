/* Front matter: "maps" and "launches". */
#ifndef MM_KERNELS_FRONT_LAUNCH_H
#define MM_KERNELS_FRONT_LAUNCH_H

#include "kernels/front_read.h"

/* Fills maps and launches of a CUDA kernel whose parameters are read; nothing to do for a CPU
 * kernel. False with "path:line: what". */
bool front_launch_read(const struct front_reader *r, const cJSON *root);

#endif
