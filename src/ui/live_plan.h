/* From an experiment to the runs of this machine, and from their results to what they say. */
#ifndef MM_UI_LIVE_PLAN_H
#define MM_UI_LIVE_PLAN_H

#include "ui/live_internal.h"

/* Fills run[] from the experiment; a plan of the learner's own stays, without its results. False
 * with a sentence; run[] then holds what came before the fault. */
bool live_plan_make(live *l, struct err *err);

/* One run of an experiment as it is done here, at a value of the sweep variable (NAN where there is
 * none). False with a sentence: a kernel, size or parameter that cannot be. */
bool live_plan_run(const live *l, const struct experiment *e, const struct exp_run *x, double sweep,
                   struct live_run *out, struct err *err);

/* Makes run[] one run of the learner's own. */
void live_plan_custom(live *l, const struct kernel *k, const struct kernel_size *size);

/* The quantity's formula with the numbers of the runs in place of their names: "2,621,440/131,072".
 * A name without a number stays. */
void live_plan_filled(const live *l, char *out, size_t size);

/* Frees the results and empties run[]. */
void live_plan_drop(live *l);

/* The side of an experiment that is used here (EXP_CUDA, EXP_CPU or EXP_XRAY), and of the one in
 * work. */
int live_plan_place_of(const live *l, const struct experiment *e);
int live_plan_place(const live *l);

/* Whether the x-ray is what a kernel runs in here: it is a CUDA kernel, and there is no GPU or the
 * x-ray was chosen. */
bool live_plan_counts(const live *l, const struct kernel *k);

/* Takes the learner's prediction for what is asked here, which hangs on the place. */
void live_plan_question(live *l);

/* Whether a finished run may be spoken of: its result was right, or nobody can know. */
bool live_plan_good(const struct live_run *r);

/* The quantity of the experiment from the runs at one value of its sweep variable; false if it has
 * no value there. */
bool live_plan_quantity_at(const live *l, double sweep, double *value);

/* True while the plan is a sweep of the experiment. */
bool live_plan_sweeps(const live *l);

/* Seconds that all runs may take, and the longest of them. */
double live_plan_expect(const live *l, double *longest);

/* Quantity, note and kept results, after the last run. */
void live_plan_conclude(live *l);

/* The band that the lesson expects here; false where it gives none or a run it needs is missing. */
bool live_plan_band(live *l, double *low, double *high);

#endif
