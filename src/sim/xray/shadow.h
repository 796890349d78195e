/* Who wrote and read what since the last barrier: races and reads of what nobody wrote. */
#ifndef MM_SIM_XRAY_SHADOW_H
#define MM_SIM_XRAY_SHADOW_H

#include "sim/xray/machine.h"
#include "sim/xray/memory.h"

struct shadow *shadow_new(const struct program *p, const struct memory *mem,
                          const struct xray_launch *launch);
void shadow_free(struct shadow *s); /* NULL allowed */

/* Shared memory belongs to a new block. */
void shadow_next_block(struct shadow *s);

enum shadow_access { SHADOW_READ, SHADOW_WRITE, SHADOW_ATOMIC };

/* Notes one access of `bytes` a lane at checked addresses and reports what is wrong with it. */
void shadow_shared(struct machine *m, const struct warp *w, const struct insn *in,
                   const int64_t address[32], uint32_t mask, int bytes, enum shadow_access kind);
void shadow_global(struct machine *m, const struct warp *w, const struct insn *in,
                   const struct memory_piece *piece, const int64_t address[32], uint32_t mask,
                   int bytes, enum shadow_access kind);

#endif
