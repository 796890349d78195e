/* The source lines of a result: the whole kernel, and every other line that was counted. */
#ifndef MM_BENCH_XRAY_LINES_H
#define MM_BENCH_XRAY_LINES_H

#include "bench/xray_build.h"
#include "bench/xray_result.h"

/* Fills lines and left_out of the result. Directories of file names are left away. */
void xray_lines_fill(struct xray_result *r, const struct xray_build *b,
                     const struct xray_report *report);

#endif
