/* Carry flags, truth tables, tests of numbers and addresses, clocks, elections. */
#ifndef MM_SIM_XRAY_EXEC_MISC_H
#define MM_SIM_XRAY_EXEC_MISC_H

#include "sim/xray/machine.h"

/* insn.sub of an INSN_CARRY: one operation, and which side of the flag. */
enum exec_misc_carry {
  CARRY_ADD,
  CARRY_SUB,
  CARRY_MAD_LO,
  CARRY_MAD_HI,
  CARRY_OP = 3, /* mask of the operation */
  CARRY_READS = 4,
  CARRY_WRITES = 8,
  CARRY_SIGNED = 16 /* the product of mad.hi */
};

enum exec_misc_test {
  TEST_FINITE,
  TEST_INFINITE,
  TEST_NUMBER,
  TEST_NOTANUMBER,
  TEST_NORMAL,
  TEST_SUBNORMAL,
  TEST_TESTS
};

/* Runs an INSN_CARRY, LOP3, TESTP, ISSPACEP, CLOCK or ELECT. False: it is none of these. */
bool exec_misc(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask);

#endif
