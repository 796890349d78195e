/* How a run begins: on a device of the worker, or in the x-ray; and what is said where it does not.
 */
#ifndef MM_UI_LIVE_START_H
#define MM_UI_LIVE_START_H

#include "ui/live_internal.h"

/* Asks the worker for run[now]; false with a fault, which the pane shows. */
bool live_start(live *l);

/* Whether the run is of this result's kernel, sizes and parameters. */
bool live_start_matches(const struct live_run *run, const struct result *r);

/* Forgets the fault; makes one from a sentence of the layers below (the phase becomes
 * LIVE_FAILED); shows a sentence of the screen by its id, with `what` in it. */
void live_start_clear(live *l);
void live_start_fail(live *l, const char *code, const char *what);
void live_start_say(live *l, const char *id, const char *what);

#endif
