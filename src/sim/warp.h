/* What the memory system does with the 32 addresses of one warp access: sectors and wavefronts. The
 * counting rules hold on an H200 to the last digit (docs/counting.md). */
#ifndef MM_SIM_WARP_H
#define MM_SIM_WARP_H

#include <stdbool.h>
#include <stdint.h>

/* address[l] is a byte address, -1 for an inactive lane; width 4, 8 or 16 bytes, aligned to it. */
int warp_sectors(const int64_t address[32], int width);            /* distinct 32-byte pieces */
int warp_shared_wavefronts(const int64_t address[32], int width, bool store);
int warp_global_wavefronts(const int64_t address[32], int width, bool store);

#endif
