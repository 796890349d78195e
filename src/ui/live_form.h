/* The settings of the live pane: device, kernel, M N K and parameters. The functions are declared in
 * live_internal.h, which the parts of the live pane share. */
#ifndef MM_UI_LIVE_FORM_H
#define MM_UI_LIVE_FORM_H

#include "ui/live_internal.h"

#endif
