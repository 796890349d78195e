/* What the steps of a walk cost: counters by the addresses of each warp access. */
#ifndef MM_SIM_WALK_COUNT_H
#define MM_SIM_WALK_COUNT_H

#include "sim/walk/walk.h"

/* Where a warp is: the block, the first k of its tile (naive: k), and the k inside the tile. */
struct count_place {
  int64_t brow, bcol, k0;
  int k;
};

/* The 32 byte addresses of one access (walk_addresses says of what), -1 for an inactive lane. */
void count_addresses(const struct walk_setup *s, const struct count_place *at,
                     enum walk_access access, int warp, int64_t address[32]);

/* Width in bytes of the load that reads As: the compiler joins four (or two) k of one row where the
 * row is aligned. A sub-step at which no such load is issued costs nothing. */
int count_as_width(const struct walk_setup *s);

/* Each adds what the step costs to c. */
void count_load(const struct walk_setup *s, const struct count_place *at, int warp,
                struct walk_counters *c);
void count_compute(const struct walk_setup *s, const struct count_place *at,
                   struct walk_counters *c);
void count_store(const struct walk_setup *s, const struct count_place *at, struct walk_counters *c);

/* Adds all that the watched block did in its first n steps' whole units: n k-tiles (tiled: loads,
 * barriers and products) or n values of k (naive). */
void count_units(const struct walk_setup *s, int64_t n, struct walk_counters *c);

#endif
