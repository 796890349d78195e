/* Instructions that the machine does not run: one sentence with what they are. */
#ifndef MM_SIM_XRAY_EXEC_REFUSE_H
#define MM_SIM_XRAY_EXEC_REFUSE_H

#include "sim/xray/machine.h"

/* Reports an INSN_UNSUPPORTED that lane `lane` reached, and halts the machine. */
void exec_refuse(struct machine *m, const struct warp *w, const struct insn *in, int lane);

#endif
