/* The counters of a walk beside the closed formulas they must equal. */
#ifndef MM_UI_SIMVIEW_FORMULA_H
#define MM_UI_SIMVIEW_FORMULA_H

#include "sim/walk/walk.h"
#include "ui/canvas.h"
#include "ui/keys.h"

/* What the watched block has done so far by formulas over its progress alone, no step taken: bytes
 * it requested, FMAs, barriers. */
double simview_formula_bytes(const struct walk_state *w);
double simview_formula_fma(const struct walk_state *w);
double simview_formula_barriers(const struct walk_state *w);

/* Draws one row a counter: label, value, formula and its value, as many rows as r has. Each number
 * can be asked about. */
void simview_formula_draw(const struct walk_state *w, canvas *cv, struct rect r, enum lang lang);

#endif
