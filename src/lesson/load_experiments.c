#include "lesson/load_experiments.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

static const char *const place_key[EXP_PLACES] = {"cuda", "cpu", "xray"};

static bool load_run(const struct load *ld, const cJSON *obj, struct exp_run *run) {
  if (!cJSON_IsObject(obj))
    return json_fail(ld->doc, obj, ld->err, "each of \"runs\" must be an object {...}");
  if (!load_string(ld, obj, "as", true, &run->as) ||
      !load_string(ld, obj, "kernel", true, &run->kernel) ||
      !load_expr(ld, obj, "M", false, &run->M) || !load_expr(ld, obj, "N", false, &run->N) ||
      !load_expr(ld, obj, "K", false, &run->K))
    return false;
  if (!load_is_name(run->as))
    return json_fail(ld->doc, json_get(obj, "as"), ld->err, "\"%s\" cannot be the name of a run",
                     run->as);
  return load_vars(ld, obj, "params", &run->params);
}

static bool load_band(const struct load *ld, const cJSON *obj, char **low, char **high) {
  const cJSON *node;
  int n;
  if (!load_array(ld, obj, "band", 2, &node, &n))
    return false;
  if (n == 0)
    return true;
  if (n != 2)
    return json_fail(ld->doc, json_get(obj, "band"), ld->err,
                     "\"band\" must be [\"low\", \"high\"]");
  return load_expr_node(ld, node, "band", low) && load_expr_node(ld, node->next, "band", high);
}

static bool load_unit(const struct load *ld, const cJSON *obj, char **out) {
  const cJSON *unit = json_get(obj, "unit");
  if (unit && !cJSON_IsString(unit))
    return json_fail(ld->doc, unit, ld->err, "\"unit\" must be a text in quotes");
  *out = unit ? alloc_str(unit->valuestring) : NULL;
  return true;
}

/* What a place asks instead of the experiment. A quantity of its own has a unit of its own. */
static bool load_own(const struct load *ld, const cJSON *side, struct exp_side *s) {
  if (!load_text2(ld, side, "ask", false, &s->ask) ||
      !load_expr(ld, side, "quantity", false, &s->quantity) || !load_unit(ld, side, &s->unit))
    return false;
  if (s->quantity && !s->unit)
    s->unit = alloc_str("");
  return true;
}

static bool load_place(const struct load *ld, const cJSON *obj, struct experiment *e, int place) {
  const cJSON *side = json_get(obj, place_key[place]), *node;
  int n;
  if (!side)
    return true;
  if (!cJSON_IsObject(side))
    return json_fail(ld->doc, side, ld->err, "\"%s\" must be {\"runs\":[...]}", place_key[place]);
  struct exp_side *s = &e->side[place];
  if (!load_array(ld, side, "runs", 8, &node, &n))
    return false;
  if (n == 0)
    return json_fail(ld->doc, side, ld->err, "\"%s\" has no \"runs\"", place_key[place]);
  s->runs = alloc_zero((size_t)n, sizeof *s->runs);
  for (; node; node = node->next) {
    struct exp_run *run = &s->runs[s->nruns++];
    if (!load_run(ld, node, run))
      return false;
    for (int i = 0; i < s->nruns - 1; i++)
      if (strcmp(s->runs[i].as, run->as) == 0)
        return json_fail(ld->doc, node, ld->err, "a second run \"%s\"", run->as);
    if (!e->sweep_var && (!run->M || !run->N || !run->K))
      return json_fail(ld->doc, node, ld->err, "a run without sweep needs \"M\", \"N\" and \"K\"");
  }
  return load_own(ld, side, s) && load_band(ld, side, &e->band_low[place], &e->band_high[place]) &&
         (e->band_low[place] || load_band(ld, obj, &e->band_low[place], &e->band_high[place]));
}

static bool load_sweep(const struct load *ld, const cJSON *obj, struct experiment *e) {
  const cJSON *sweep = json_get(obj, "sweep"), *node;
  int n;
  if (!sweep)
    return true;
  if (!cJSON_IsObject(sweep))
    return json_fail(ld->doc, sweep, ld->err, "\"sweep\" must be {\"var\":\"n\",\"values\":[...]}");
  if (!load_string(ld, sweep, "var", true, &e->sweep_var) ||
      !load_array(ld, sweep, "values", LOAD_LIST, &node, &n))
    return false;
  if (n < 2)
    return json_fail(ld->doc, sweep, ld->err, "\"sweep\" needs at least 2 \"values\"");
  e->sweep = alloc_zero((size_t)n, sizeof *e->sweep);
  for (; node; node = node->next) {
    if (!cJSON_IsNumber(node) || !(node->valuedouble > 0))
      return json_fail(ld->doc, node, ld->err, "a value of a sweep must be a number above 0");
    e->sweep[e->nsweep++] = node->valuedouble;
  }
  return true;
}

static bool load_not_visible(const struct load *ld, const cJSON *obj, struct experiment *e) {
  const cJSON *node;
  int n;
  if (!load_array(ld, obj, "not_visible", 8, &node, &n))
    return false;
  e->not_visible = alloc_zero((size_t)n, sizeof *e->not_visible);
  for (; node; node = node->next) {
    int i = e->nnot_visible++;
    if (!load_expr(ld, node, "if", true, &e->not_visible[i].cond) ||
        !load_id(ld, node, "text", false, &e->not_visible[i].step))
      return false;
  }
  return true;
}

static bool load_experiment(const struct load *ld, const cJSON *obj, struct experiment *e) {
  if (!cJSON_IsObject(obj))
    return json_fail(ld->doc, obj, ld->err, "each of \"experiments\" must be an object {...}");
  if (!load_unit(ld, obj, &e->unit))
    return false;
  if (!e->unit)
    e->unit = alloc_str("");
  if (!load_id(ld, obj, "id", false, &e->id) || !load_text2(ld, obj, "ask", false, &e->ask) ||
      !load_sweep(ld, obj, e) || !load_expr(ld, obj, "quantity", true, &e->quantity))
    return false;
  for (int p = 0; p < EXP_PLACES; p++)
    if (!load_place(ld, obj, e, p))
      return false;
  if (!e->side[EXP_CUDA].nruns && !e->side[EXP_CPU].nruns && !e->side[EXP_XRAY].nruns)
    return json_fail(ld->doc, obj, ld->err, "experiment \"%s\" has no cuda, cpu or xray", e->id);
  return load_not_visible(ld, obj, e);
}

bool load_experiments(const struct load *ld, const cJSON *root, struct lesson *l) {
  const cJSON *node;
  int count;
  if (!load_array(ld, root, "experiments", LOAD_LIST, &node, &count))
    return false;
  l->experiments = alloc_zero((size_t)count, sizeof *l->experiments);
  for (; node; node = node->next) {
    struct experiment *e = &l->experiments[l->nexperiments++];
    if (!load_experiment(ld, node, e))
      return false;
    if (lesson_experiment(l, e->id) != e)
      return json_fail(ld->doc, node, ld->err, "a second experiment \"%s\"", e->id);
  }
  return true;
}

static void free_side(struct exp_side *s) {
  for (int i = 0; i < s->nruns; i++) {
    struct exp_run *r = &s->runs[i];
    free(r->as);
    free(r->kernel);
    free(r->M);
    free(r->N);
    free(r->K);
    expr_vars_free(&r->params);
  }
  free(s->runs);
  load_text2_free(&s->ask);
  free(s->quantity);
  free(s->unit);
}

void load_experiments_done(struct experiment *e) {
  free(e->id);
  load_text2_free(&e->ask);
  for (int p = 0; p < EXP_PLACES; p++) {
    free_side(&e->side[p]);
    free(e->band_low[p]);
    free(e->band_high[p]);
  }
  free(e->sweep_var);
  free(e->sweep);
  free(e->quantity);
  free(e->unit);
  for (int i = 0; i < e->nnot_visible; i++) {
    free(e->not_visible[i].cond);
    free(e->not_visible[i].step);
  }
  free(e->not_visible);
}
