/* Matrices between memory and the registers of a warp: ldmatrix, stmatrix, movmatrix, wmma.load and
 * wmma.store. */
#ifndef MM_SIM_XRAY_EXEC_MATRIX_H
#define MM_SIM_XRAY_EXEC_MATRIX_H

#include "sim/xray/machine.h"

/* Runs an INSN_MATRIX_LD, MATRIX_ST, MOVMATRIX, FRAG_LD or FRAG_ST. False: it is none of these.
 *
 * ldmatrix is one shared request; each of its 8x8 matrices is 8 rows of 16 bytes, and its
 * wavefronts are the most different words of these rows in one bank.
 *
 * wmma.load and wmma.store are counted as ptxas lowers them for compute_90 (seen in its machine
 * code):
 * - A and B of 16 bits: one 4-byte access a register, of two neighbours in memory, in either layout
 *   (what lies across is transposed in registers); with .shared as ldmatrix of up to 4 matrices.
 * - A and B of 8 bits: 4-byte accesses where k runs along memory (with .shared as ldmatrix of up to
 * 2 matrices), else single bytes. tf32: 4 bytes, f64: 8 bytes.
 * - C and D of 32 and 64 bits: two neighbours at once where they are neighbours in memory, else one
 * by one; of 16 bits: 4 bytes. */
bool exec_matrix(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask);

/* The accesses that a wmma.load or wmma.store of a stated space is made of, and the bytes of a lane
 * in each; 0 where it becomes matrices that are loaded whole. */
int exec_matrix_accesses(const struct insn *in, int *bytes);

#endif
