/* Several launches of one kernel file, counted as one. */
#ifndef MM_BENCH_XRAY_SUM_H
#define MM_BENCH_XRAY_SUM_H

#include "sim/xray/xray.h"

/* Adds counts, lines, mix and problems of `from` to `to`, whose numbers of blocks stay. Both remain
 * the caller's to free. */
void xray_sum_add(struct xray_report *to, const struct xray_report *from);

void xray_sum_mix(struct xray_mix *to, const struct xray_mix *from);

#endif
