/* What the decoders of single instructions share. */
#ifndef MM_SIM_XRAY_DECODE_PART_H
#define MM_SIM_XRAY_DECODE_PART_H

#include "sim/xray/insn.h"

enum { DECODE_PARTS = 16 };

struct decoder {
  const struct ptx_module *module;
  const struct ptx_func *func;
  struct program *program;
  int index; /* of the function among those of the program */
  int32_t first; /* its first instruction there */
  insn_slot *slot_of; /* registers; INSN_NO_SLOT: not used yet */
  int32_t *pred_of;   /* registers; 0: not used yet */
  insn_slot sink;
  const struct ptx_insn *src;
  struct slice part[DECODE_PARTS]; /* of the name: "ld", "global", "f32" */
  int nparts;
  struct insn *out;
  bool bad; /* the instruction is not supported in this form */
};

/* Units of a constant or address symbol; slots are units. All set bad where the form is unknown. */
insn_slot decode_source(struct decoder *d, const struct ptx_operand *o, int bytes);
insn_slot decode_float_source(struct decoder *d, const struct ptx_operand *o, int bytes);
insn_slot decode_dest(struct decoder *d, const struct ptx_operand *o, int bytes);
insn_slot decode_const(struct decoder *d, uint64_t bits, int bytes);
struct insn_pred decode_pred(struct decoder *d, const struct ptx_operand *o);
struct insn_pred decode_pred_reg(struct decoder *d, int reg); /* -1: none */

/* Bytes of a lane of an operand that is a register; 0: it is none, or a predicate. */
int decode_lane_bytes(const struct decoder *d, const struct ptx_operand *o);

/* Address operand: base, base_wide and offset of out. */
void decode_address(struct decoder *d, const struct ptx_operand *o);

/* The variable that a name means to this instruction, NULL: none. */
const struct insn_symbol *decode_symbol(const struct decoder *d, struct slice name);
/* Instruction behind a label seen from a scope; -1: none. */
int32_t decode_label(const struct decoder *d, struct slice name, int scope);

/* True if the name has this part. */
bool decode_has(const struct decoder *d, const char *part);
/* The operand of that index, or NULL with bad set. */
const struct ptx_operand *decode_operand(struct decoder *d, int i);

#endif
