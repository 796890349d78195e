#include "app/values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void values_open(struct values *v, const catalog *kernels) {
  memset(v, 0, sizeof *v);
  v->kernels = kernels;
  v->rec = recorded_load("h200", NULL);
  if (v->rec) {
    const char *card = recorded_card(v->rec), *last = strrchr(card, ' ');
    snprintf(v->tag, sizeof v->tag, "(%s)", last ? last + 1 : card);
  }
  v->has_roofs = roofs_load("cuda:0", &v->roofs) || roofs_load("cpu", &v->roofs);
}

void values_close(struct values *v) {
  recorded_free(v->rec);
  v->rec = NULL;
}

static struct values_run *find_run(struct values *v, const char *experiment, const char *as) {
  for (int i = 0; i < v->nruns; i++)
    if (strcmp(v->run[i].experiment, experiment) == 0 && strcmp(v->run[i].as, as) == 0)
      return &v->run[i];
  return NULL;
}

static bool run_value(const struct values_run *r, const char *field, double *out) {
  return r->counted ? fields_count(&r->counts, field, out) : fields_rate(&r->rates, field, out);
}

static bool step_value(const struct step *s, const char *name, double *out) {
  struct expr_vars params = s->params;
  int64_t size = 0;
  if (strcmp(name, "M") == 0)
    size = s->M;
  else if (strcmp(name, "N") == 0 || strcmp(name, "n") == 0)
    size = s->N;
  else if (strcmp(name, "K") == 0)
    size = s->K;
  *out = (double)size;
  return size > 0 || expr_vars_lookup(&params, name, out);
}

static bool lookup(void *ctx, const char *name, double *out) {
  struct values *v = ctx;
  char experiment[FIELDS_EXPERIMENT], as[FIELDS_AS];
  const char *field;
  if (v->step && step_value(v->step, name, out))
    return true;
  if (strncmp(name, "device.", 7) == 0)
    return v->has_roofs && fields_device(&v->roofs.device, name + 7, out);
  if (strncmp(name, "roof.", 5) == 0)
    return v->has_roofs && fields_roof(&v->roofs, name + 5, out);
  if (strncmp(name, "run.", 4) != 0 || !fields_run_name(name + 4, experiment, as, &field))
    return false;
  const struct values_run *r = find_run(v, experiment, as);
  return r && run_value(r, field, out);
}

bool values_run_size(const struct values *v, const struct experiment *e, const struct exp_run *run,
                     double at, struct kernel_size *out, struct err *err) {
  const char *text[3] = {run->M, run->N, run->K}, *names[3] = {"M", "N", "K"};
  const struct kernel *k = catalog_find(v->kernels, run->kernel);
  struct expr_vars vars = {0};
  double size[3];
  bool ok = true, swept = e->sweep_var && isfinite(at);
  if (!k) {
    catalog_unknown(v->kernels, run->kernel, err);
    return false;
  }
  if (swept)
    expr_vars_set(&vars, e->sweep_var, at);
  for (int i = 0; i < 3 && ok; i++) {
    bool own = swept && (strcmp(e->sweep_var, names[i]) == 0 ||
                         (!text[i] && strcmp(e->sweep_var, "n") == 0));
    size[i] = at;
    if (!own)
      ok = text[i] ? expr_eval(text[i], expr_vars_lookup, &vars, &size[i], err)
                   : err_set(err, "%s of run %s has no value.", names[i], run->as);
    ok = ok && ((size[i] >= 1 && size[i] <= 2147483647) ||
                err_set(err, "%s of run %s is out of range.", names[i], run->as));
  }
  expr_vars_free(&vars);
  if (!ok)
    return false;
  *out = kernel_size_default(k, (int64_t)size[0], (int64_t)size[1], (int64_t)size[2]);
  for (int i = 0; i < run->params.n && ok; i++)
    ok = kernel_set_param(k, out, run->params.v[i].name, run->params.v[i].value, err);
  if (ok && swept && !strchr("nMNK", e->sweep_var[0]))
    ok = kernel_set_param(k, out, e->sweep_var, at, err);
  return ok && kernel_accepts(k, out, err);
}

static bool lookup_recorded(void *ctx, const char *name, double *out) {
  struct values *v = ctx;
  char experiment[FIELDS_EXPERIMENT], as[FIELDS_AS];
  const char *field;
  if (!v->rec)
    return false;
  if (strncmp(name, "device.", 7) == 0)
    return fields_device(recorded_device(v->rec), name + 7, out);
  if (strncmp(name, "roof.", 5) == 0)
    return fields_roof(recorded_roofs(v->rec), name + 5, out);
  if (strncmp(name, "run.", 4) != 0 || !fields_run_name(name + 4, experiment, as, &field))
    return false;
  const struct experiment *e = v->lesson ? lesson_experiment(v->lesson, experiment) : NULL;
  for (int i = 0; e && i < e->side[EXP_CUDA].nruns; i++) {
    const struct exp_run *run = &e->side[EXP_CUDA].runs[i];
    struct kernel_size size;
    if (strcmp(run->as, as) != 0 || !values_run_size(v, e, run, NAN, &size, NULL))
      continue;
    const struct result *r = recorded_find(v->rec, run->kernel, size.M, size.N, size.K, &size);
    if (!r)
      return false;
    struct fields_rates rates = fields_of(r);
    return fields_rate(&rates, field, out);
  }
  return false;
}

struct prose_source values_source(struct values *v) {
  return (struct prose_source){.lookup = lookup,
                               .recorded = v->rec ? lookup_recorded : NULL,
                               .ctx = v,
                               .recorded_ctx = v,
                               .recorded_tag = v->tag};
}

/* The place of a run; a new one is empty but for its names. */
static struct values_run *take_run(struct values *v, const char *experiment, const char *as) {
  struct values_run *run = find_run(v, experiment, as);
  if (!run) {
    if (v->nruns == VALUES_RUNS) {
      memmove(v->run, v->run + 1, (VALUES_RUNS - 1) * sizeof *v->run);
      v->nruns--;
    }
    run = &v->run[v->nruns++];
    memset(run, 0, sizeof *run);
    snprintf(run->experiment, sizeof run->experiment, "%s", experiment);
    snprintf(run->as, sizeof run->as, "%s", as);
  }
  return run;
}

void values_keep(struct values *v, const char *experiment, const char *as, const struct result *r) {
  struct values_run *run = take_run(v, experiment, as);
  run->rates = fields_of(r);
  run->counted = false;
}

void values_keep_counts(struct values *v, const char *experiment, const char *as,
                        const struct xray_result *x) {
  struct values_run *run = take_run(v, experiment, as);
  run->counts = fields_counts_of(x);
  run->counted = true;
}

struct runs_of {
  struct values *v;
  const char *experiment;
};

static bool lookup_as(void *ctx, const char *name, double *out) {
  const struct runs_of *of = ctx;
  const char *dot = strchr(name, '.');
  char as[FIELDS_AS];
  if (!dot || dot - name >= (int)sizeof as)
    return false;
  snprintf(as, sizeof as, "%.*s", (int)(dot - name), name);
  const struct values_run *r = find_run(of->v, of->experiment, as);
  return r && run_value(r, dot + 1, out);
}

bool values_of_runs(struct values *v, const char *experiment, const char *text, double *out) {
  struct runs_of of = {v, experiment};
  return expr_eval(text, lookup_as, &of, out, NULL);
}
