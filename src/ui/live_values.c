#include "ui/live_values.h"

#include "ui/live_plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool kept_value(const live *l, const char *name, double *value) {
  char experiment[FIELDS_EXPERIMENT], as[FIELDS_AS];
  const char *field;
  if (!fields_run_name(name, experiment, as, &field))
    return false;
  for (int i = 0; i < l->nkept; i++) {
    const struct live_kept *k = &l->kept[i];
    if (strcmp(k->experiment, experiment) != 0 || strcmp(k->as, as) != 0)
      continue;
    return k->counted ? fields_count(&k->counts, field, value)
                      : fields_rate(&k->rates, field, value);
  }
  return false;
}

bool live_values_here(const live *l, const char *name, double *value) {
  const struct device_info *d = live_device(l);
  if (strncmp(name, "device.", 7) == 0)
    return fields_device(d, name + 7, value);
  if (strncmp(name, "roof.", 5) == 0)
    return fields_roof(live_roofs(l), name + 5, value);
  return strncmp(name, "run.", 4) == 0 && kept_value(l, name + 4, value);
}

const struct result *live_values_recorded_run(const live *l, const struct experiment *e,
                                              const char *as, double sweep) {
  struct live_run run;
  for (int i = 0; l->w.recorded && i < e->side[EXP_CUDA].nruns; i++) {
    const struct exp_run *x = &e->side[EXP_CUDA].runs[i];
    if (strcmp(x->as, as) != 0 || !live_plan_run(l, e, x, sweep, &run, NULL))
      continue;
    return recorded_find(l->w.recorded, x->kernel, run.size.M, run.size.N, run.size.K, &run.size);
  }
  return NULL;
}

bool live_values_recorded(const live *l, const char *name, double *value) {
  char experiment[FIELDS_EXPERIMENT], as[FIELDS_AS];
  const char *field;
  if (!l->w.recorded)
    return false;
  if (strncmp(name, "device.", 7) == 0)
    return fields_device(recorded_device(l->w.recorded), name + 7, value);
  if (strncmp(name, "roof.", 5) == 0)
    return fields_roof(recorded_roofs(l->w.recorded), name + 5, value);
  if (strncmp(name, "run.", 4) != 0 || !fields_run_name(name + 4, experiment, as, &field))
    return false;
  const struct experiment *e = l->lesson ? lesson_experiment(l->lesson, experiment) : NULL;
  if (!e)
    return false;
  /* As here, the last run of a sweep stands for it. */
  double sweep = e->nsweep ? e->sweep[e->nsweep - 1] : NAN;
  const struct result *r = live_values_recorded_run(l, e, as, sweep);
  if (!r)
    return false;
  struct fields_rates rates = fields_of(r);
  return fields_rate(&rates, field, value);
}
