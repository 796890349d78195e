/* The plot of the live pane: a sweep as it runs, or the results on the roofline. */
#ifndef MM_UI_LIVE_PLOT_H
#define MM_UI_LIVE_PLOT_H

#include "ui/live_internal.h"

/* Draws what there is to plot, if r has room for it. */
void live_plot_draw(const live *l, canvas *cv, struct rect r, enum lang lang);

#endif
