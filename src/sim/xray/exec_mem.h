/* Loads, stores and atomics: checked, counted, done. */
#ifndef MM_SIM_XRAY_EXEC_MEM_H
#define MM_SIM_XRAY_EXEC_MEM_H

#include "sim/xray/shadow.h"

/* Runs an INSN_LD, INSN_ST or INSN_ATOM for the lanes of mask. A wrong address is reported, reads 0
 * and writes nothing. */
void exec_mem(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask);

/* Lanes of mask whose address is a multiple of bytes and lies in one of the space's pieces; the
 * others are reported. */
uint32_t exec_mem_checked(struct machine *m, const struct warp *w, const struct insn *in,
                          enum ptx_space space, const int64_t address[32], uint32_t mask,
                          int bytes);

/* shadow_global of lanes whose checked addresses may lie in several arrays. */
void exec_mem_shadow_global(struct machine *m, const struct warp *w, const struct insn *in,
                            const int64_t address[32], uint32_t mask, int bytes,
                            enum shadow_access kind);

/* The addresses of 32 lanes of a register of 64 or 32 bits. */
void exec_mem_addresses(int64_t *out, const void *base, bool wide, int64_t offset);

/* How the load is joined in the trip of its unrolled loop that the warp is in. */
struct insn_copy exec_mem_joined(const struct machine *m, const struct warp *w,
                                 const struct insn *in, uint32_t mask);

#endif
