/* C = A B with one row of A, one column of B and the element where they meet. */
#ifndef MM_UI_VIEWS_FIGURE_DOT_H
#define MM_UI_VIEWS_FIGURE_DOT_H

#include "lesson/lesson.h"
#include "ui/canvas.h"
#include "ui/ui.h"

/* The rows that it wants at that width. */
int figure_dot_rows(const struct step *s, int cols);
void figure_dot_draw(ui *u, canvas *cv, struct rect r, const struct step *s);

#endif
