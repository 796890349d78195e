/* What the x-ray counted, as figures: bars for what can be compared, numbers for the rest. */
#ifndef MM_UI_LIVE_XRAY_H
#define MM_UI_LIVE_XRAY_H

#include "ui/live_pen.h"

/* Draws the runs beside each other, as far as there is room; what matters most first. All of them
 * have been counted, n is 1 to LIVE_XRAY_SIDE. */
enum { LIVE_XRAY_SIDE = 4 };
void live_xray_draw(struct live_pen *p, const struct live_run *const *runs, int n);

/* Where a count comes from, for `=`: "counted by the x-ray from PTX; NVRTC 13.0, compute_90". */
void live_xray_source(const struct live_pen *p, const struct xray_result *x, char *out,
                      size_t size);

#endif
