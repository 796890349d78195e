/* Addresses as sums: coefficient x root + constant, modulo 2^32, and the zero bits they end in. */
#ifndef MM_SIM_XRAY_AFFINE_H
#define MM_SIM_XRAY_AFFINE_H

#include "sim/xray/insn.h"

enum { AFFINE_TERMS = 8, AFFINE_ALL_ZERO = 32, AFFINE_WRITTEN = INSN_FRAGMENT };

struct affine_term {
  insn_slot root;
  uint32_t factor;
};

struct affine_sum { /* terms by rising root */
  struct affine_term term[AFFINE_TERMS];
  int n;
  uint32_t constant;
};

struct affine;

/* Reads the definitions of all registers of a program. Free with affine_free. */
struct affine *affine_new(const struct program *p);
void affine_free(struct affine *a); /* NULL allowed */

/* The value of a slot where instruction `at` reads it. */
struct affine_sum affine_of(struct affine *a, insn_slot slot, int at);

/* Zero bits that the terms (without the constant) end in for certain, at most AFFINE_ALL_ZERO. */
int affine_zeros(const struct affine *a, const struct affine_sum *s);

/* The same with the constant: of the whole sum. */
int affine_zeros_whole(const struct affine *a, const struct affine_sum *s);

/* A new root that no register is, for a value of which no more than its zero bits are known. */
insn_slot affine_root(struct affine *a, int zeros);
void affine_set_zeros(struct affine *a, insn_slot root, int zeros);

/* The value of a slot before instructions first .. last are reached from outside of them. */
struct affine_sum affine_before(struct affine *a, insn_slot slot, int first, int last);

/* The operands of instruction i that decide what it makes, and how many: 0 if it makes no sum and
 * no zero bits are known of it. */
int affine_operands(const struct affine *a, int i, insn_slot out[3]);

/* What instruction i makes of these values of its operands; a new root if it is no sum of them. */
struct affine_sum affine_made(struct affine *a, int i, const struct affine_sum values[3]);

/* The slots that instruction i writes, and how many. */
int affine_written(const struct affine *a, int i, insn_slot out[AFFINE_WRITTEN]);

/* A register that a loop of one block (instructions first .. last) moves by a constant each trip.
 */
struct affine_step {
  struct affine_sum start; /* its value before the loop */
  uint32_t step;
  int at; /* the instruction that moves it */
};

/* False if the loop does not move the slot, or not so. */
bool affine_step_of(struct affine *a, insn_slot slot, int first, int last, struct affine_step *out);

/* to += factor * s; false if there are too many terms. */
bool affine_add(struct affine_sum *to, const struct affine_sum *s, uint32_t factor);

/* True if instruction i begins a basic block. */
bool affine_starts_block(const struct affine *a, int i);

/* True if instruction i writes a root of the sum: the same sum means another address behind it. */
bool affine_changes(const struct affine *a, int i, const struct affine_sum *s);

#endif
