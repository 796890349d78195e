/* The settings of the simulator pane: sizes, tile edge, block, bugs to switch on. */
#ifndef MM_UI_SIMVIEW_FORM_H
#define MM_UI_SIMVIEW_FORM_H

#include "ui/simview_internal.h"

/* Opens the form with the values in use. */
void simview_form_open(simview *s);

/* One key while it is open; true if taken. Enter applies (a sentence stays where a value is out of
 * range, nothing else changes), Esc closes. */
bool simview_form_key(simview *s, int key);

/* Draws it over the picture. */
void simview_form_draw(const simview *s, canvas *cv, struct rect r, enum lang lang);

#endif
