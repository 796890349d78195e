/* Help: every key, those of the view below first. */
#ifndef MM_UI_VIEWS_HELP_H
#define MM_UI_VIEWS_HELP_H

#include "ui/canvas.h"
#include "ui/ui.h"

void help_open(ui *u);
void help_draw(ui *u, canvas *cv);

/* Scrolling; true if it was one of its commands. */
bool help_command(ui *u, enum command cmd);
unsigned help_contexts(const ui *u);

#endif
