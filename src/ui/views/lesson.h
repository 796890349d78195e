/* A lesson: its steps, the panes Text, Simulator and Live, and the keys that move between them. */
#ifndef MM_UI_VIEWS_LESSON_H
#define MM_UI_VIEWS_LESSON_H

#include "lesson/lesson.h"
#include "ui/canvas.h"
#include "ui/ui.h"

/* Opens a lesson at a step (NULL: where it was left, else the first). An unknown step gives the
 * first. */
void lesson_view_open(ui *u, const struct lesson *l, const char *step);

/* Frees what the open lesson holds; harmless where none is open. */
void lesson_view_close(ui *u);

void lesson_view_draw(ui *u, canvas *cv);

/* A key while a field has the focus; true if taken. */
bool lesson_view_key(ui *u, int key);

/* A command; true if it changed anything. */
bool lesson_view_command(ui *u, enum command cmd);
unsigned lesson_view_contexts(const ui *u);

/* Gives the focus to "text", "sim" or "live" if the step has that pane. */
void lesson_view_show(ui *u, const char *pane);

/* After a switch of language, after an event of the worker. */
void lesson_view_language(ui *u);
void lesson_view_event(ui *u);

/* The step in front is done (true) or still open, and progress is saved. */
void lesson_view_done(ui *u, bool done);

/* Chooses the panes of a step just entered for a screen of that many columns. */
void lesson_view_settle(ui *u, int cols);

#endif
