/* What one cp.async of a warp costs (LDGSTS): data goes from global to shared memory in one
 * instruction. Rules found on an H200 (docs/counting.md). */
#ifndef MM_SIM_WARP_ASYNC_H
#define MM_SIM_WARP_ASYNC_H

#include <stdbool.h>
#include <stdint.h>

/* Wavefronts of the data stage. from[l], to[l]: byte addresses of lane l in global and shared
 * memory, -1 in from for an inactive lane; width 4, 8 or 16 bytes, aligned to it. bypass: .cg,
 * which goes past L1: at least so many. */
int warp_async_wavefronts(const int64_t from[32], const int64_t to[32], int width, bool bypass);

#endif
