/* What stands around the source of an x-ray: the launch, the sums, and how far they hold. */
#ifndef MM_APP_XRAY_TOTALS_H
#define MM_APP_XRAY_TOTALS_H

#include "app/xray_page.h"
#include "bench/xray_result.h"

/* Kernel, sizes, launch, compiler, registers, occupancy, and what the x-ray took. */
void xray_totals_head(struct xray_page *p, const struct xray_result *r);

/* The table of requests, sectors and wavefronts, then FLOP, barriers and branches. */
void xray_totals_table(struct xray_page *p, const struct xray_result *r);

/* Certificate, warnings, what the file's scan left out (all of it if verbose), and what the kernel
 * printed. */
void xray_totals_foot(struct xray_page *p, const struct xray_result *r, bool verbose);

/* Whether the result is right; why that is not known. */
void xray_totals_verify(struct xray_page *p, const struct xray_result *r);

#endif
