/* Events of the PTX machine as lines of JSON (docs/contracts.md 4, "trace"). */
#ifndef MM_BENCH_XRAY_TRACE_H
#define MM_BENCH_XRAY_TRACE_H

#include "base/str.h"
#include "sim/xray/xray.h"

/* Adds one event as a line: {"op":..,"warp":..,"file":..,"line":..,"mask":..,"array":..,"bytes":..,
 * "offsets":[32 numbers, null for lanes that are not active]}. Cannot fail. */
void xray_trace_add(struct str *out, const struct xray_event *e);

#endif
