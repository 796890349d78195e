/* The first and the last line of every screen: where am I on which machine; the keys that work now.
 */
#ifndef MM_UI_HEADER_H
#define MM_UI_HEADER_H

#include "ui/canvas.h"
#include "ui/ui.h"

/* Draws row 0: ` mmtutor ▸ place  more` on the left, the machine (or, where `now` is not "", that
 * figure in its stead) on the right. place and more may be NULL. The machine is shortened until it
 * fits. */
void header_draw(ui *u, canvas *cv, const char *place, const char *more, const char *now);

/* Draws the last row: the keys of these contexts, by their order, as many as fit. */
void header_bar(ui *u, canvas *cv, unsigned contexts);

#endif
