/* The picture of the live pane. */
#ifndef MM_UI_LIVE_DRAW_H
#define MM_UI_LIVE_DRAW_H

#include "ui/live_internal.h"

/* Draws prediction, phases, figures, bars and a plot, as far as r has room: what matters most first. */
void live_draw_pane(live *l, canvas *cv, struct rect r, enum lang lang);

#endif
