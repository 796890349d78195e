/* From an experiment to the runs of this machine, and from their results to what they say. The functions
 * are declared in live_internal.h, which the parts of the live pane share. */
#ifndef MM_UI_LIVE_PLAN_H
#define MM_UI_LIVE_PLAN_H

#include "ui/live_internal.h"

#endif
