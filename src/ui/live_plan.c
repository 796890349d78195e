#include "ui/live_plan.h"

#include "base/alloc.h"
#include "base/str.h"
#include "base/units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_gpu(const live *l) {
  for (int i = 0; i < l->ndevices; i++)
    if (strncmp(l->device[i].id, "cuda", 4) == 0)
      return true;
  return false;
}

int live_plan_place(const live *l) { return live_plan_place_of(l, l->experiment); }

int live_plan_place_of(const live *l, const struct experiment *e) {
  bool gpu = l->ndevices > l->at && strncmp(l->device[l->at].id, "cuda", 4) == 0;
  bool xray = l->choice == LIVE_XRAY || (l->choice == LIVE_AUTO && l->greeted && !has_gpu(l));
  if (!e)
    return EXP_CPU;
  if (xray && e->side[EXP_XRAY].nruns)
    return EXP_XRAY;
  if ((gpu || l->choice == LIVE_XRAY) && e->side[EXP_CUDA].nruns)
    return EXP_CUDA;
  if (e->side[EXP_CPU].nruns)
    return EXP_CPU;
  return e->side[EXP_XRAY].nruns ? EXP_XRAY : EXP_CUDA;
}

bool live_plan_counts(const live *l, const struct kernel *k) {
  if (k->target != KERNEL_CUDA)
    return false;
  bool experiment = l->experiment && !l->custom && live_plan_place(l) == EXP_XRAY;
  return experiment || l->choice == LIVE_XRAY || (l->greeted && !has_gpu(l));
}

void live_plan_question(live *l) {
  char key[LESSON_KEY];
  if (!l->w.progress || !l->lesson || !l->experiment)
    return;
  live_prediction_key(l, l->experiment, l->step, key);
  l->prediction = NAN;
  l->predicted = progress_prediction(l->w.progress, l->lesson->id, key, &l->prediction);
  l->locked = l->asks && !l->predicted;
}

bool live_plan_good(const struct live_run *r) {
  return r->result.verify.ok || (r->xray && !r->xray->verified);
}

/* A size: the number or expression of the experiment, else the sweep variable n, else 1024. */
static bool size_of(const char *text, struct expr_vars *vars, int64_t *out, struct err *err) {
  double v = 1024;
  if (text) {
    if (!expr_eval(text, expr_vars_lookup, vars, &v, err))
      return false;
  } else {
    expr_vars_lookup(vars, "n", &v);
  }
  if (!(v >= 1 && v <= 2147483647.0))
    return err_set(err, "A size of %g is not from 1 to 2147483647.", v);
  *out = (int64_t)v;
  return true;
}

bool live_plan_run(const live *l, const struct experiment *e, const struct exp_run *x, double sweep,
                   struct live_run *out, struct err *err) {
  const char *var = e->sweep_var;
  struct expr_vars vars = {0};
  const struct kernel *k = catalog_find(l->w.catalog, x->kernel);
  int64_t s[3] = {0};
  if (!k) {
    catalog_unknown(l->w.catalog, x->kernel, err);
    return false;
  }
  if (var)
    expr_vars_set(&vars, var, sweep);
  const char *text[3] = {x->M, x->N, x->K};
  bool ok = true;
  for (int i = 0; i < 3 && ok; i++)
    ok = size_of(text[i], &vars, &s[i], err);
  expr_vars_free(&vars);
  if (!ok)
    return false;
  *out = (struct live_run){.kernel = k, .sweep = var ? sweep : NAN};
  snprintf(out->as, sizeof out->as, "%s", x->as);
  out->size = kernel_size_default(k, s[0], s[1], s[2]);
  for (int i = 0; i < x->params.n && ok; i++)
    ok = kernel_set_param(k, &out->size, x->params.v[i].name, x->params.v[i].value, err);
  for (int i = 0; i < k->nparams && ok && var; i++)
    if (strcmp(k->params[i].name, var) == 0)
      ok = kernel_set_param(k, &out->size, var, sweep, err);
  return ok;
}

static bool add_run(live *l, const struct exp_run *x, double sweep, struct err *err) {
  if (l->nruns == LIVE_RUNS)
    return err_set(err, "The experiment has more than %d runs.", LIVE_RUNS);
  bool ok = live_plan_run(l, l->experiment, x, sweep, &l->run[l->nruns], err);
  l->nruns += ok;
  return ok;
}

/* Its result, if it has one, goes. */
static void clear_run(struct live_run *r) {
  if (r->done)
    result_done(&r->result);
  if (r->xray)
    xray_result_done(r->xray);
  free(r->xray);
  r->xray = NULL;
  r->done = false;
}

void live_plan_drop(live *l) {
  for (int i = 0; i < l->nruns; i++)
    clear_run(&l->run[i]);
  l->nruns = l->now = 0;
  l->picked = -1;
}

void live_plan_custom(live *l, const struct kernel *k, const struct kernel_size *size) {
  live_plan_drop(l);
  l->run[0] = (struct live_run){.kernel = k, .size = *size, .sweep = NAN};
  l->nruns = 1;
  l->custom = true;
}

bool live_plan_sweeps(const live *l) {
  return l->experiment && l->experiment->sweep_var && !l->custom;
}

bool live_plan_make(live *l, struct err *err) {
  const struct experiment *e = l->experiment;
  if (l->custom || !e) {
    for (int i = 0; i < l->nruns; i++)
      clear_run(&l->run[i]);
    l->now = 0;
    l->picked = -1;
    return l->nruns > 0 || err_set(err, "Nothing is chosen to run.");
  }
  live_plan_drop(l);
  const struct exp_side *side = &e->side[live_plan_place(l)];
  int points = e->sweep_var ? e->nsweep : 1;
  for (int p = 0; p < points; p++)
    for (int i = 0; i < side->nruns; i++)
      if (!add_run(l, &side->runs[i], e->sweep_var ? e->sweep[p] : NAN, err))
        return false;
  return l->nruns > 0 || err_set(err, "The experiment has no runs for this machine.");
}

/* What a kernel that has not run yet is taken to reach, in FLOP/s: loops that walk down columns
 * crawl, the others keep SIMD units fed at least in part. Only the question "this may take long"
 * hangs on it. */
enum { GUESS_CUDA_G = 200, GUESS_CPU_G = 5, GUESS_STRIDED_10M = 50 };

static double known_rate(const live *l, const struct kernel *k) {
  for (int i = 0; i < l->nkept; i++)
    if (strcmp(l->kept[i].experiment, k->id) == 0 && l->kept[i].rates.gflops > 0)
      return l->kept[i].rates.gflops * 1e9;
  if (k->target == KERNEL_CUDA)
    return GUESS_CUDA_G * 1e9;
  return strcmp(k->id, "cpu/ijk") == 0 ? GUESS_STRIDED_10M * 1e7 : GUESS_CPU_G * 1e9;
}

double live_plan_expect(const live *l, double *longest) {
  double sum = 0;
  *longest = 0;
  for (int i = 0; i < l->nruns; i++) {
    const struct kernel *k = l->run[i].kernel;
    if (live_plan_counts(l, k))
      continue; /* what is large is sampled */
    double one = kernel_flop(k, &l->run[i].size) / known_rate(l, k);
    /* Warm-up and samples fill two seconds; a launch that is long itself is made five times. */
    double s = k->op == OP_GEMM && one > 0.4 ? 5 * one : 2;
    sum += s;
    *longest = s > *longest ? s : *longest;
  }
  return sum;
}

/* A number of a finished run by its name: a rate, or a count of the x-ray. */
static bool field_of(const struct live_run *r, const char *name, double *value) {
  if (r->xray) {
    struct fields_counts counts = fields_counts_of(r->xray);
    return fields_count(&counts, name, value);
  }
  struct fields_rates rates = fields_of(&r->result);
  return fields_rate(&rates, name, value);
}

/* The runs that an expression of the experiment sees: all, or those at one value of the sweep. */
struct seen {
  const live *l;
  double sweep; /* NAN: all */
};

/* Variables of the experiment's expressions: AS.FIELD of the last run of that name, and the
 * sweep's. */
static bool lookup_as(void *seen_ptr, const char *name, double *value) {
  const struct seen *seen = seen_ptr;
  const live *l = seen->l;
  const char *dot = strchr(name, '.');
  for (int i = l->nruns - 1; i >= 0; i--) {
    const struct live_run *r = &l->run[i];
    size_t n = strlen(r->as);
    if (!r->done || (!isnan(seen->sweep) && r->sweep != seen->sweep))
      continue;
    if (dot && (size_t)(dot - name) == n && strncmp(r->as, name, n) == 0)
      return field_of(r, dot + 1, value);
    if (!dot && l->experiment && l->experiment->sweep_var &&
        strcmp(name, l->experiment->sweep_var) == 0) {
      *value = r->sweep;
      return true;
    }
  }
  return false;
}

bool live_plan_quantity_at(const live *l, double sweep, double *value) {
  struct seen seen = {l, sweep};
  if (!l->experiment || l->custom)
    return false;
  return expr_eval(lesson_quantity(l->experiment, live_plan_place(l)), lookup_as, &seen, value,
                   NULL);
}

void live_plan_filled(const live *l, char *out, size_t size) {
  struct seen all = {l, NAN};
  struct str s = {0};
  out[0] = '\0';
  if (!l->experiment || l->custom)
    return;
  for (const char *t = lesson_quantity(l->experiment, live_plan_place(l)); *t;) {
    size_t n = strcspn(t, "+-*/%^()<>=!&|?:, ");
    char *name = alloc_strn(t, n);
    double v;
    bool known = isalpha((unsigned char)*t) && lookup_as(&all, name, &v);
    char *text = !known ? NULL : v == floor(v) ? units_exact(v) : units_format(v, "", 4);
    str_add(&s, known ? text : name);
    free(text);
    free(name);
    for (t += n; *t && strchr("+-*/%^()<>=!&|?:, ", *t); t++)
      str_addc(&s, *t);
  }
  snprintf(out, size, "%s", s.data ? s.data : "");
  str_free(&s);
}

static void keep_as(live *l, const char *experiment, const char *as, const struct live_run *r) {
  int i = 0;
  while (i < l->nkept &&
         (strcmp(l->kept[i].experiment, experiment) != 0 || strcmp(l->kept[i].as, as) != 0))
    i++;
  if (i == LIVE_KEPT) {
    memmove(l->kept, l->kept + 1, (LIVE_KEPT - 1) * sizeof *l->kept);
    i--;
  } else if (i == l->nkept) {
    l->nkept++;
  }
  struct live_kept *k = &l->kept[i];
  memset(k, 0, sizeof *k);
  snprintf(k->experiment, sizeof k->experiment, "%s", experiment);
  snprintf(k->as, sizeof k->as, "%s", as);
  k->rates = fields_of(&r->result);
  k->counted = r->xray != NULL;
  if (r->xray)
    k->counts = fields_counts_of(r->xray);
}

static void find_note(live *l) {
  const struct experiment *e = l->experiment;
  l->note = NULL;
  struct seen all = {l, NAN};
  for (int i = 0; i < e->nnot_visible && !l->note; i++) {
    double yes = 0;
    if (expr_eval(e->not_visible[i].cond, lookup_as, &all, &yes, NULL) && yes != 0)
      l->note = e->not_visible[i].step;
  }
}

void live_plan_conclude(live *l) {
  l->quantity = NAN;
  l->note = NULL;
  for (int i = 0; i < l->nruns; i++) {
    const struct live_run *r = &l->run[i];
    if (!r->done || !live_plan_good(r))
      continue;
    if (l->experiment && !l->custom)
      keep_as(l, l->experiment->id, r->as, r);
    keep_as(l, r->kernel->id, "", r);
  }
  if (!live_plan_quantity_at(l, NAN, &l->quantity))
    l->quantity = NAN;
  else if (!l->experiment->side[live_plan_place(l)].quantity)
    find_note(l);
}

bool live_plan_band(live *l, double *low, double *high) {
  const struct experiment *e = l->experiment;
  if (!e || l->custom)
    return false;
  struct seen all = {l, NAN};
  int p = live_plan_place(l);
  return e->band_low[p] && e->band_high[p] &&
         expr_eval(e->band_low[p], lookup_as, &all, low, NULL) &&
         expr_eval(e->band_high[p], lookup_as, &all, high, NULL);
}
