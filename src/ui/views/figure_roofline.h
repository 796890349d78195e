/* Roofs and points of one machine, with a legend of what holds each point. */
#ifndef MM_UI_VIEWS_FIGURE_ROOFLINE_H
#define MM_UI_VIEWS_FIGURE_ROOFLINE_H

#include "lesson/lesson.h"
#include "ui/canvas.h"
#include "ui/ui.h"

/* The rows that it wants at that width. */
int figure_roofline_rows(const struct step *s, int cols);
void figure_roofline_draw(ui *u, canvas *cv, struct rect r, const struct step *s);

#endif
