/* What a run shows: its phases while it is in work, and its figures when it has ended. */
#ifndef MM_UI_LIVE_RESULT_H
#define MM_UI_LIVE_RESULT_H

#include "ui/live_pen.h"

/* The rate a kernel is spoken of in: FLOP/s of what computes, B/s of what moves. Base units; NAN
 * where it is not known. *unit gets "FLOP/s" or "B/s". */
double live_result_rate(const struct kernel *k, const struct result *r, const char **unit);

/* The same of the run in work, from the samples so far; *ms gets their median. NAN before the
 * first. */
double live_result_so_far(const live *l, double *ms, const char **unit);

/* The run in work: phase, compiler, verification, samples so far. */
void live_result_running(struct live_pen *p);

/* The line of a verification. */
void live_result_verify(struct live_pen *p, const struct result_verify *v);

/* A finished run: verification, time, rate, shares, where it comes from, warnings. Without a
 * verified result no figure is shown. */
void live_result_details(struct live_pen *p, const struct live_run *run);

/* The same in one line, for a plan of several; `here`: its details are shown. */
void live_result_line(struct live_pen *p, const struct live_run *run, bool here);

#endif
