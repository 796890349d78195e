/* Arithmetic and comparisons of f16, bf16 and pairs of them. */
#ifndef MM_SIM_XRAY_EXEC_HALF_H
#define MM_SIM_XRAY_EXEC_HALF_H

#include "sim/xray/machine.h"

enum exec_half_op {
  HALF_ADD,
  HALF_SUB,
  HALF_MUL,
  HALF_FMA,
  HALF_NEG,
  HALF_ABS,
  HALF_MIN,
  HALF_MAX,
  HALF_EX2,
  HALF_TANH,
  HALF_OPS
};

/* Bits of insn.half. */
enum {
  HALF_BRAIN = 1, /* bf16, else f16 */
  HALF_PAIR = 2,
  HALF_RELU = 4,
  HALF_NAN = 8, /* of min and max: a NaN wins */
  HALF_XORSIGN = 16
};

/* Runs an INSN_HALF or INSN_SET; each operation rounds once, to the nearest even. False: it is
 * neither. */
bool exec_half(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask);

#endif
