/* Who has seen what of whom, in kernels that order their warps by more than __syncthreads: named
 * barriers, mbarriers, flags behind fences. Each warp counts its own releases; what it has seen of
 * every other warp's count travels with barriers. An access is ordered behind another if its warp
 * has seen the other's count of then. Order is kept by warp, not by thread: what one lane waited
 * for counts for its whole warp, so that some races are not seen and none is invented. */
#ifndef MM_SIM_XRAY_CLOCK_H
#define MM_SIM_XRAY_CLOCK_H

#include "sim/xray/machine.h"
#include "sim/xray/shadow.h"

struct clock;

/* checks: XRAY_CHECK_ bits. NULL for a kernel that __syncthreads alone orders; everything below
 * does nothing then. */
struct clock *clock_new(const struct program *p, int checks, int64_t shared_bytes, int nwarps);
void clock_free(struct clock *c); /* NULL allowed */
void clock_next_block(struct clock *c);

/* Barriers 0 to 15: a warp comes; a warp that waited goes on; all have gone. */
void clock_bar_arrive(struct machine *m, const struct warp *w, int id);
void clock_bar_pass(struct machine *m, const struct warp *w, int id);
void clock_bar_clear(struct machine *m, int id);

/* The mbarrier at a byte of shared memory: begins anew; a warp arrives; its phase ends; a test was
 * true. */
void clock_mbar_init(struct machine *m, int64_t at);
void clock_mbar_arrive(struct machine *m, const struct warp *w, int64_t at);
void clock_mbar_phase(struct machine *m, int64_t at);
void clock_mbar_wait(struct machine *m, const struct warp *w, int64_t at);

/* What shadow_shared and shadow_stamp do in such a kernel. */
void clock_shared(struct machine *m, const struct warp *w, const struct insn *in,
                  const int64_t address[32], uint32_t mask, int bytes, enum shadow_access kind);
void clock_stamp(struct machine *m, const struct warp *w, const struct insn *in,
                 const int64_t address[32], uint32_t mask, int bytes);

#endif
