/* The blocks of a launch: one after the other, or shared by threads of the host with the same
 * outcome. */
#ifndef MM_SIM_XRAY_LAUNCH_H
#define MM_SIM_XRAY_LAUNCH_H

#include "base/err.h"
#include "sim/xray/machine.h"
#include <stdatomic.h>

/* What the machines of a launch share. */
struct launch {
  const struct ptx_module *module;
  const struct program *program;
  const struct xray_launch *ask;
  int64_t blocks;
  _Atomic int64_t budget; /* warp instructions that nobody has taken yet */
  _Atomic int64_t next;   /* block that no thread has taken yet */
  atomic_bool halt;       /* every machine ends soon */
};

/* Runs a launch whose arguments are checked and fills all of out but its mix. False with a sentence
 * if nothing could be run. */
bool launch_run(const struct ptx_module *module, const struct ptx_func *f,
                const struct program *program, const struct xray_launch *ask,
                struct xray_report *out, struct err *err);

/* A machine of its own for these arrays: registers, tally, report, shadow (that looks for `checks`)
 * and patterns; its memory is the caller's. launch_machine_free leaves the memory alone. */
struct machine *launch_machine(struct launch *l, struct memory *memory, int checks);
void launch_machine_free(struct machine *m); /* NULL allowed */

/* Runs one block by its number. False: it did not end by itself, and m->halted is set. */
bool launch_block(struct machine *m, int64_t number);

/* For the loop over instructions: more of the budget (false: none is left), and whether somebody
 * wants the run to end. */
bool launch_refill(struct machine *m);
bool launch_stopped(const struct machine *m);

#endif
