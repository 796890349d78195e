/* The events of one block, for who asked for them. */
#ifndef MM_SIM_XRAY_TRACE_H
#define MM_SIM_XRAY_TRACE_H

#include "sim/xray/machine.h"

/* True if the events of the block that m runs are wanted. */
bool trace_wants(const struct machine *m);

/* Tells of a memory instruction of the lanes of mask, whose addresses were checked: an event for
 * each array that they touch. Shared loads stand as in the PTX, before they are joined. */
void trace_access(const struct machine *m, const struct warp *w, const struct insn *in,
                  enum ptx_space space, const int64_t address[32], uint32_t mask, int bytes);

/* Tells that the lanes of mask came to a barrier. */
void trace_barrier(const struct machine *m, const struct warp *w, const struct insn *in,
                   uint32_t mask);

#endif
