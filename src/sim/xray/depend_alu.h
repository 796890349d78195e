/* What results of arithmetic and comparisons owe to the block's place. */
#ifndef MM_SIM_XRAY_DEPEND_ALU_H
#define MM_SIM_XRAY_DEPEND_ALU_H

#include "sim/xray/depend_part.h"

/* Finds the rule of every instruction of the program: d->how. */
void depend_alu_begin(struct depend *d);

/* One INSN_ALU, INSN_SETP, INSN_SELP or INSN_CVT that is about to run. */
void depend_alu(const struct step *s);
void depend_alu_setp(const struct step *s);
void depend_alu_selp(const struct step *s);
void depend_alu_cvt(const struct step *s);

#endif
