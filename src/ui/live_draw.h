/* The picture of the live pane. */
#ifndef MM_UI_LIVE_DRAW_H
#define MM_UI_LIVE_DRAW_H

#include "ui/live_internal.h"

/* Draws prediction, phases, figures, bars and a plot, as far as r has room: what matters most
 * first. */
void live_draw_pane(live *l, canvas *cv, struct rect r, enum lang lang);

/* "cuda/tiled  T 32  4096³"; "" if nothing is planned. */
void live_draw_title(const live *l, char *out, int size);

/* "● 8.95 TFLOP/s  n 12" while a measurement runs, else "". */
void live_draw_headline(const live *l, char *out, int size);

#endif
