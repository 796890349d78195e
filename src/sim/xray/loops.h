/* The loops of a program, and which of them have a trip count that is known before it runs. */
#ifndef MM_SIM_XRAY_LOOPS_H
#define MM_SIM_XRAY_LOOPS_H

#include "sim/xray/affine.h"

enum { LOOPS_TRIPS = 4096 }; /* more are not counted */

struct loop {
  int first, last; /* the last instruction branches to the first */
  int parent;      /* index of the loop around it, -1: none */
  bool one_block;  /* nothing else branches in it */
  bool separated;  /* loads of one trip are never joined with those of another: a barrier, a store
                      to shared memory ... */
  bool nounroll;   /* its source forbids to unroll it */
  int trips;       /* 0: not known */
  insn_slot
      counter; /* where trips are known: it holds start + trip * step, before instruction at */
  uint32_t start, step;
  int at;
};

struct loops {
  struct loop *all; /* inner ones before those around them */
  int n;
};

void loops_find(struct loops *l, struct affine *a, const struct program *p);
void loops_done(struct loops *l);

/* True if no two loads on both sides of the instruction are joined. */
bool loops_separates(const struct insn *in);

#endif
