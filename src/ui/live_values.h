/* The live pane's numbers by name, for prose: device.* roof.* run.EXPERIMENT.AS.FIELD. */
#ifndef MM_UI_LIVE_VALUES_H
#define MM_UI_LIVE_VALUES_H

#include "ui/live_internal.h"

/* A number of this machine; false where it is not known. */
bool live_values_here(const live *l, const char *name, double *value);

/* The same of the recorded card. */
bool live_values_recorded(const live *l, const char *name, double *value);

/* The recorded run that stands for run `as` of the CUDA side of an experiment, at a value of its
 * sweep variable (NAN where it has none); NULL if there is none. Borrowed from the record. */
const struct result *live_values_recorded_run(const live *l, const struct experiment *e,
                                              const char *as, double sweep);

#endif
