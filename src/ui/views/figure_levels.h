/* The levels of memory of two machines side by side, nearest on top, with what sits in each. */
#ifndef MM_UI_VIEWS_FIGURE_LEVELS_H
#define MM_UI_VIEWS_FIGURE_LEVELS_H

#include "lesson/lesson.h"
#include "ui/canvas.h"
#include "ui/ui.h"

/* The rows that it wants at that width. */
int figure_levels_rows(const struct step *s, int cols);
void figure_levels_draw(ui *u, canvas *cv, struct rect r, const struct step *s);

#endif
