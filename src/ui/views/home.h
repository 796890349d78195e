/* Home: the lessons, how far each is, and the machine. */
#ifndef MM_UI_VIEWS_HOME_H
#define MM_UI_VIEWS_HOME_H

#include "ui/canvas.h"
#include "ui/ui.h"

/* Chooses the lesson opened last, or the first that can be opened. */
void home_reset(ui *u);

void home_draw(ui *u, canvas *cv);

/* A command; true if it changed anything. Enter opens the lesson; a damaged or unwritten one stays
 * closed. */
bool home_command(ui *u, enum command cmd);

/* The key contexts of this view. */
unsigned home_contexts(const ui *u);

#endif
