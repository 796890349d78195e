#include "ui/live_values.h"

#include "ui/live_plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool device_value(const struct device_info *d, const char *name, double *value) {
  const struct {
    const char *name;
    double v;
  } field[] = {{"sms", d->sms},
               {"clock_hz", d->clock_hz},
               {"smem_sm", d->smem_sm},
               {"smem_block", d->smem_block},
               {"l2", d->l2_bytes},
               {"regs_sm", d->regs_sm},
               {"threads_sm", d->threads_sm},
               {"memory", d->memory_bytes},
               {"peak_fp32", d->peak_fp32},
               {"peak_dram", d->peak_dram}};
  for (size_t i = 0; i < sizeof field / sizeof *field; i++)
    if (strcmp(field[i].name, name) == 0) {
      *value = field[i].v;
      return !isnan(field[i].v);
    }
  return false;
}

static bool roof_value(const struct roofs *r, const char *name, double *value) {
  const struct roof *roof = r ? roofs_find(r, name) : NULL;
  if (!roof || isnan(roof->value))
    return false;
  *value = roof->value;
  return true;
}

/* Splits "run.e1.b.gflops" into its parts; false if it has another form. */
static bool run_name(const char *name, char experiment[96], char as[16], const char **field) {
  const char *a = strchr(name, '.'), *b = a ? strchr(a + 1, '.') : NULL;
  if (!b || a - name >= 96 || b - a - 1 >= 16)
    return false;
  snprintf(experiment, 96, "%.*s", (int)(a - name), name);
  snprintf(as, 16, "%.*s", (int)(b - a - 1), a + 1);
  *field = b + 1;
  return true;
}

static bool kept_value(const live *l, const char *name, double *value) {
  char experiment[96], as[16];
  const char *field;
  if (!run_name(name, experiment, as, &field))
    return false;
  for (int i = 0; i < l->nkept; i++) {
    const struct live_kept *k = &l->kept[i];
    if (strcmp(k->experiment, experiment) != 0 || strcmp(k->as, as) != 0)
      continue;
    *value = strcmp(field, "gflops") == 0  ? k->gflops
             : strcmp(field, "ms") == 0    ? k->ms
             : strcmp(field, "gbs") == 0   ? k->gbs
             : strcmp(field, "ratio") == 0 ? k->ratio
             : strcmp(field, "share") == 0 ? k->share
                                           : NAN;
    return !isnan(*value);
  }
  return false;
}

bool live_values_here(const live *l, const char *name, double *value) {
  const struct device_info *d = live_device(l);
  if (strncmp(name, "device.", 7) == 0)
    return d && device_value(d, name + 7, value);
  if (strncmp(name, "roof.", 5) == 0)
    return roof_value(live_roofs(l), name + 5, value);
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
  char experiment[96], as[16];
  const char *field;
  if (!l->w.recorded)
    return false;
  if (strncmp(name, "device.", 7) == 0)
    return device_value(recorded_device(l->w.recorded), name + 7, value);
  if (strncmp(name, "roof.", 5) == 0)
    return roof_value(recorded_roofs(l->w.recorded), name + 5, value);
  if (strncmp(name, "run.", 4) != 0 || !run_name(name + 4, experiment, as, &field))
    return false;
  const struct experiment *e = l->lesson ? lesson_experiment(l->lesson, experiment) : NULL;
  if (!e)
    return false;
  /* As here, the last run of a sweep stands for it. */
  double sweep = e->nsweep ? e->sweep[e->nsweep - 1] : NAN;
  const struct result *r = live_values_recorded_run(l, e, as, sweep);
  return r && live_plan_field(r, field, value);
}
