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

static bool known(double x, double *out) {
  *out = x;
  return isfinite(x);
}

static bool device_value(const struct device_info *d, const char *name, double *out) {
  const struct {
    const char *name;
    double value;
  } fields[] = {{"sms", d->sms},
                {"clock_hz", d->clock_hz},
                {"smem_sm", d->smem_sm},
                {"smem_block", d->smem_block},
                {"l2", d->l2_bytes},
                {"regs_sm", d->regs_sm},
                {"threads_sm", d->threads_sm},
                {"memory", d->memory_bytes},
                {"peak_fp32", d->peak_fp32},
                {"peak_dram", d->peak_dram}};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    if (strcmp(fields[i].name, name) == 0)
      return known(fields[i].value, out);
  return false;
}

static bool roof_value(const struct roofs *r, const char *name, double *out) {
  const struct roof *roof = roofs_find(r, name);
  return roof && known(roof->value, out);
}

static bool field_value(const struct values_run *r, const char *field, double *out) {
  const struct {
    const char *name;
    double value;
  } fields[] = {{"gflops", r->gflops},
                {"ms", r->ms},
                {"gbs", r->gbs},
                {"ratio", r->ratio},
                {"share", r->share}};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    if (strcmp(fields[i].name, field) == 0)
      return known(fields[i].value, out);
  return false;
}

static void take(struct values_run *to, const struct result *r) {
  to->gflops = r->gflops;
  to->ms = r->median_ms;
  to->gbs = r->gbs;
  to->ratio = r->reference.name[0] ? r->reference.ratio : NAN;
  to->share = r->roof.name[0] ? r->roof.share : NAN;
}

/* "e1.b.gflops" in its parts. */
static bool split(const char *name, char experiment[64], char as[32], const char **field) {
  const char *a = strchr(name, '.'), *b = a ? strchr(a + 1, '.') : NULL;
  if (!b || a - name >= 64 || b - a - 1 >= 32)
    return false;
  snprintf(experiment, 64, "%.*s", (int)(a - name), name);
  snprintf(as, 32, "%.*s", (int)(b - a - 1), a + 1);
  *field = b + 1;
  return true;
}

static struct values_run *find_run(struct values *v, const char *experiment, const char *as) {
  for (int i = 0; i < v->nruns; i++)
    if (strcmp(v->run[i].experiment, experiment) == 0 && strcmp(v->run[i].as, as) == 0)
      return &v->run[i];
  return NULL;
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
  char experiment[64], as[32];
  const char *field;
  if (v->step && step_value(v->step, name, out))
    return true;
  if (strncmp(name, "device.", 7) == 0)
    return v->has_roofs && device_value(&v->roofs.device, name + 7, out);
  if (strncmp(name, "roof.", 5) == 0)
    return v->has_roofs && roof_value(&v->roofs, name + 5, out);
  if (strncmp(name, "run.", 4) != 0 || !split(name + 4, experiment, as, &field))
    return false;
  const struct values_run *r = find_run(v, experiment, as);
  return r && field_value(r, field, out);
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
  char experiment[64], as[32];
  const char *field;
  if (!v->rec)
    return false;
  if (strncmp(name, "device.", 7) == 0)
    return device_value(recorded_device(v->rec), name + 7, out);
  if (strncmp(name, "roof.", 5) == 0)
    return recorded_roofs(v->rec) && roof_value(recorded_roofs(v->rec), name + 5, out);
  if (strncmp(name, "run.", 4) != 0 || !split(name + 4, experiment, as, &field))
    return false;
  const struct experiment *e = v->lesson ? lesson_experiment(v->lesson, experiment) : NULL;
  for (int i = 0; e && i < e->side[EXP_CUDA].nruns; i++) {
    const struct exp_run *run = &e->side[EXP_CUDA].runs[i];
    struct kernel_size size;
    struct values_run row;
    if (strcmp(run->as, as) != 0 || !values_run_size(v, e, run, NAN, &size, NULL))
      continue;
    const struct result *r = recorded_find(v->rec, run->kernel, size.M, size.N, size.K, &size);
    if (!r)
      return false;
    take(&row, r);
    return field_value(&row, field, out);
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

void values_keep(struct values *v, const char *experiment, const char *as, const struct result *r) {
  struct values_run *run = find_run(v, experiment, as);
  if (!run) {
    if (v->nruns == VALUES_RUNS) {
      memmove(v->run, v->run + 1, (VALUES_RUNS - 1) * sizeof *v->run);
      v->nruns--;
    }
    run = &v->run[v->nruns++];
    snprintf(run->experiment, sizeof run->experiment, "%s", experiment);
    snprintf(run->as, sizeof run->as, "%s", as);
  }
  take(run, r);
}

struct runs_of {
  struct values *v;
  const char *experiment;
};

static bool lookup_as(void *ctx, const char *name, double *out) {
  const struct runs_of *of = ctx;
  const char *dot = strchr(name, '.');
  char as[32];
  if (!dot || dot - name >= (int)sizeof as)
    return false;
  snprintf(as, sizeof as, "%.*s", (int)(dot - name), name);
  const struct values_run *r = find_run(of->v, of->experiment, as);
  return r && field_value(r, dot + 1, out);
}

bool values_of_runs(struct values *v, const char *experiment, const char *text, double *out) {
  struct runs_of of = {v, experiment};
  return expr_eval(text, lookup_as, &of, out, NULL);
}
