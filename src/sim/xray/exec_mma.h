/* Tensor cores: matrices that the 32 lanes of a warp hold together, and their products. */
#ifndef MM_SIM_XRAY_EXEC_MMA_H
#define MM_SIM_XRAY_EXEC_MMA_H

#include "sim/xray/machine.h"

enum exec_mma_role { MMA_A, MMA_B, MMA_C };
enum exec_mma_format {
  MMA_F16,
  MMA_BF16,
  MMA_TF32,
  MMA_E4M3,
  MMA_E5M2,
  MMA_F32,
  MMA_F64,
  MMA_S8,
  MMA_U8,
  MMA_S4,
  MMA_U4,
  MMA_S32,
  MMA_FORMATS
};

int exec_mma_bits(enum exec_mma_format f); /* of an element in a register */

/* Registers of a lane that hold each element of the fragment once; 0: this shape has none such. A
 * wmma fragment may have more, which repeat them. */
int exec_mma_registers(const struct insn_tensor *t, const struct insn_fragment *f);

/* What fills insn_fragment.place: row and column in the matrix of element i of register r of a
 * lane: the layout that the PTX ISA documents for mma.m16n8k* and m8n8k*, block by block. wmma with
 * m = 8, n = 32 is computed transposed, as on the hardware. */
void exec_mma_place(const struct insn_tensor *t, const struct insn_fragment *f, int lane, int r,
                    int i, int *row, int *column);

/* Elements of a fragment that a register of 4 bytes holds; 1 if it takes all of it, or 8 bytes. */
int exec_mma_elements(const struct insn_fragment *f);

/* Reports if not all 32 lanes of the warp are here. */
void exec_mma_whole_warp(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask);

/* Runs an INSN_MMA. f16, bf16, tf32 and 8-bit floats: the products are exact, they and C are added
 * in double, and the sum is rounded once to the type of D (the hardware cuts its sums off, so it
 * may differ in the last bits). f64: one fma for each k, in rising order. Integers: exact, then the
 * low 32 bits, or clamped with .satfinite. False: it is no INSN_MMA. */
bool exec_mma(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask);

#endif
