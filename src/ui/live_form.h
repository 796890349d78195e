/* The settings of the live pane: device, kernel, M N K and parameters. */
#ifndef MM_UI_LIVE_FORM_H
#define MM_UI_LIVE_FORM_H

#include "ui/live_internal.h"

/* Opens it with what is planned. */
void live_form_open(live *l);

/* One key while it is open; true if taken. Enter applies: other kernels or sizes become a plan of
 * the learner's own, another device alone re-plans the experiment for it. Where a value is not
 * allowed a sentence says so and nothing else changes. Esc closes. */
bool live_form_key(live *l, int key);

/* Draws it over the pane. */
void live_form_draw(const live *l, canvas *cv, struct rect r, enum lang lang);

#endif
