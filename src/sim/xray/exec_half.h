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

/* 32 halves (brain: bf16) that lie `shift` bits up in lanes of 4 bytes, to floats: exact, a NaN of
 * f16 becomes the canonical one. Back: rounded to the nearest even. */
void exec_half_widen(bool brain, float *out, const void *lanes, int shift);
void exec_half_narrow(bool brain, void *lanes, const float *v);

/* Runs an INSN_HALF or INSN_SET; each operation rounds once, to the nearest even. False: it is
 * neither. */
bool exec_half(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask);

#endif
