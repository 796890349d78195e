/* The figures of lessons: each is drawn from its data, the step's sizes and the machine. */
#ifndef MM_UI_VIEWS_FIGURE_H
#define MM_UI_VIEWS_FIGURE_H

#include "lesson/lesson.h"
#include "ui/canvas.h"
#include "ui/ui.h"

/* Rows that the step's figure wants in a pane of that size (at most rows). */
int figure_rows(const struct step *s, int cols, int rows);

/* Draws the step's figure into r. A name that is not known says so in one line. */
void figure_draw(ui *u, canvas *cv, struct rect r, const struct step *s);

/* Whether all of it lies in the clip: a number that is scrolled out of sight is not asked about. */
bool figure_seen(canvas *cv, struct rect at);

#endif
