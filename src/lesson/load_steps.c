#include "lesson/load_steps.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

static const char *const kind_name[] = {"text", "figure", "sim",       "code",   "predict",
                                        "run",  "item",   "interview", "summary"};
enum { KINDS = sizeof kind_name / sizeof *kind_name };

const char *load_steps_kind(enum step_kind kind) { return kind_name[kind]; }

static bool load_kind(const struct load *ld, const cJSON *obj, struct step *s) {
  const char *kind = json_str(obj, "kind");
  for (int i = 0; kind && i < KINDS; i++)
    if (strcmp(kind, kind_name[i]) == 0) {
      s->kind = (enum step_kind)i;
      return true;
    }
  const cJSON *at = json_get(obj, "kind");
  return json_fail(ld->doc, at ? at : obj, ld->err,
                   "\"kind\" of a step must be text, figure, sim, code, predict, run, item, "
                   "interview or summary");
}

static bool load_size(const struct load *ld, const cJSON *obj, const char *key, int64_t *out) {
  double v = 0;
  if (!load_number(ld, obj, key, 1, 2147483647, &v))
    return false;
  *out = (int64_t)v;
  return true;
}

static bool load_experiment_of(const struct load *ld, const cJSON *obj, const struct lesson *l,
                               struct step *s) {
  if (!load_string(ld, obj, "experiment", true, &s->experiment))
    return false;
  const struct experiment *e = lesson_experiment(l, s->experiment);
  if (!e)
    return json_fail(ld->doc, json_get(obj, "experiment"), ld->err,
                     "there is no experiment \"%s\" in this lesson", s->experiment);
  if (s->kind == STEP_PREDICT && !e->ask.in[LANG_EN])
    return json_fail(ld->doc, obj, ld->err,
                     "experiment \"%s\" needs \"ask\", because a predict step names it", e->id);
  return true;
}

static bool load_detail(const struct load *ld, const cJSON *obj, const struct lesson *l,
                        struct step *s) {
  double at = 0;
  switch (s->kind) {
  case STEP_FIGURE:
    s->figure_data = json_get(obj, "data");
    return load_string(ld, obj, "figure", true, &s->figure);
  case STEP_SIM:
    if (!load_number(ld, obj, "at", 0, 1e9, &at) ||
        !load_string(ld, obj, "kernel", true, &s->kernel))
      return false;
    s->at = (int)at;
    if (!s->M || !s->N || !s->K)
      return json_fail(ld->doc, obj, ld->err, "a sim step needs \"M\", \"N\" and \"K\"");
    return true;
  case STEP_CODE:
    return load_string(ld, obj, "kernel", true, &s->kernel) &&
           load_strings(ld, obj, "marks", &s->marks, &s->nmarks);
  case STEP_PREDICT:
  case STEP_RUN:
    return load_experiment_of(ld, obj, l, s);
  case STEP_ITEM:
    if (!load_string(ld, obj, "item", true, &s->item))
      return false;
    return lesson_item(l, s->item) || json_fail(ld->doc, json_get(obj, "item"), ld->err,
                                                "there is no item \"%s\" in this lesson", s->item);
  case STEP_TEXT:
  case STEP_INTERVIEW:
  case STEP_SUMMARY:
    break;
  }
  return true;
}

static bool load_step(const struct load *ld, const cJSON *obj, const struct lesson *l,
                      struct step *s) {
  if (!cJSON_IsObject(obj))
    return json_fail(ld->doc, obj, ld->err, "each of \"steps\" must be an object {...}");
  return load_id(ld, obj, "id", false, &s->id) && load_kind(ld, obj, s) &&
         load_size(ld, obj, "M", &s->M) && load_size(ld, obj, "N", &s->N) &&
         load_size(ld, obj, "K", &s->K) && load_vars(ld, obj, "params", &s->params) &&
         load_detail(ld, obj, l, s);
}

bool load_steps(const struct load *ld, const cJSON *root, struct lesson *l) {
  const cJSON *node;
  int count;
  if (!load_array(ld, root, "steps", LOAD_STEPS, &node, &count))
    return false;
  if (count == 0)
    return json_fail(ld->doc, root, ld->err, "a lesson needs at least one of \"steps\"");
  l->steps = alloc_zero((size_t)count, sizeof *l->steps);
  for (; node; node = node->next) {
    struct step *s = &l->steps[l->nsteps++];
    if (!load_step(ld, node, l, s))
      return false;
    if (lesson_step(l, s->id) != l->nsteps - 1)
      return json_fail(ld->doc, node, ld->err, "a second step \"%s\"", s->id);
  }
  return true;
}

void load_steps_done(struct step *s) {
  free(s->id);
  load_text2_free(&s->title);
  for (int i = 0; i < LANGS; i++)
    free(s->prose[i]);
  free(s->figure);
  free(s->kernel);
  expr_vars_free(&s->params);
  load_strings_free(s->marks, s->nmarks);
  free(s->experiment);
  free(s->item);
}
