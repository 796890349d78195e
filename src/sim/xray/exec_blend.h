/* Results of the active lanes only. */
#ifndef MM_SIM_XRAY_EXEC_BLEND_H
#define MM_SIM_XRAY_EXEC_BLEND_H

#include <stdint.h>

/* to[l] = from[l] in the lanes of mask; bytes of a lane: 4 or 8. */
void exec_blend(void *to, const void *from, uint32_t mask, int bytes);

#endif
