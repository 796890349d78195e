/* `=`: the numbers of the screen one by one, each with its formula, its values and where it is
 * from. */
#ifndef MM_UI_VIEWS_EXPLAIN_H
#define MM_UI_VIEWS_EXPLAIN_H

#include "ui/canvas.h"
#include "ui/ui.h"

void explain_open(ui *u);

/* Draws the explanation over a frame that is already drawn; its numbers are those of this very
 * frame. */
void explain_draw(ui *u, canvas *cv);

/* Every key while it is open: left and right, Tab, `=` and Esc. True if the picture changed. */
bool explain_key(ui *u, int key);

#endif
