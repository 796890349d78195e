/* cp.async: copies from global to shared memory that are done when they are waited for. */
#ifndef MM_SIM_XRAY_EXEC_ASYNC_H
#define MM_SIM_XRAY_EXEC_ASYNC_H

#include "sim/xray/machine.h"

/* Runs an INSN_ASYNC for the lanes of mask: takes a copy down, commits, or waits. */
void exec_async(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask);

/* Reports lanes of mask that touch shared memory where a copy was not waited for; those lanes. */
uint32_t exec_async_check(struct machine *m, const struct warp *w, const struct insn *in,
                          const int64_t address[32], uint32_t mask, int bytes);

/* Before a block: no copies. At the end: frees them. */
void exec_async_clear(struct machine *m);
void exec_async_free(struct machine *m);

#endif
