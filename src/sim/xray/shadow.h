/* Who wrote and read what since the last barrier: races and reads of what nobody wrote. */
#ifndef MM_SIM_XRAY_SHADOW_H
#define MM_SIM_XRAY_SHADOW_H

#include "sim/xray/machine.h"
#include "sim/xray/memory.h"

/* checks: XRAY_CHECK_ bits. */
struct shadow *shadow_new(const struct program *p, const struct memory *mem,
                          const struct xray_launch *launch, int checks);

/* Nothing is looked at or noted from now on. */
void shadow_pause(struct shadow *s);

/* True if blocks of one wrote what blocks of the other touched. */
bool shadow_meet(const struct shadow *a, const struct shadow *b);

void shadow_free(struct shadow *s); /* NULL allowed */

/* Shared memory belongs to a new block. */
void shadow_next_block(struct shadow *s);

enum shadow_access { SHADOW_READ, SHADOW_WRITE, SHADOW_ATOMIC };

/* Notes one access of `bytes` a lane at checked addresses and reports what is wrong with it. */
void shadow_shared(struct machine *m, const struct warp *w, const struct insn *in,
                   const int64_t address[32], uint32_t mask, int bytes, enum shadow_access kind);

/* Notes that the data of a cp.async arrive now, as a write of its line. */
void shadow_stamp(struct machine *m, const struct warp *w, const struct insn *in,
                  const int64_t address[32], uint32_t mask, int bytes);

/* True if accesses of this piece are looked at: of shared memory, or of this array. */
bool shadow_watches(const struct shadow *s, bool shared, const struct memory_piece *piece);

/* Notes a read of the bytes [address, address + bytes) of an array if nothing can be wrong with it:
 * most reads are so. False: nothing was noted, ask shadow_global. */
bool shadow_quiet_read(struct machine *m, const struct insn *in, const struct memory_piece *piece,
                       int64_t address, int64_t bytes);
void shadow_global(struct machine *m, const struct warp *w, const struct insn *in,
                   const struct memory_piece *piece, const int64_t address[32], uint32_t mask,
                   int bytes, enum shadow_access kind);

#endif
