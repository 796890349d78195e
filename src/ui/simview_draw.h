/* The picture of a walk: matrices with strips and tiles, shared memory, the accumulators, the
 * timeline, and the counters beside their formulas. */
#ifndef MM_UI_SIMVIEW_DRAW_H
#define MM_UI_SIMVIEW_DRAW_H

#include "ui/simview_internal.h"

/* Draws the open walk into r; what has no room is left out, counters last. */
void simview_draw_walk(const simview *s, canvas *cv, struct rect r, enum lang lang);

/* How the matrices are scaled into w x h cells: elements a cell, columns a cell, and the cells each
 * takes. Pure. False where there is no room for a picture. */
struct simview_scale {
  int64_t step; /* matrix elements a cell stands for, along each axis */
  int cell;     /* columns a cell: 1 or 2 */
  int m, n, k;  /* cells along M, N and K */
};
bool simview_draw_scale(const struct walk_setup *s, int w, int h, struct simview_scale *out);

#endif
