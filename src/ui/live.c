#include "ui/live.h"

#include "base/alloc.h"
#include "base/units.h"
#include "ui/live_draw.h"
#include "ui/live_form.h"
#include "ui/live_plan.h"
#include "ui/live_start.h"
#include "ui/live_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG_RUN_S = 5, GUESS_COLS = 24 };

live *live_new(const struct live_world *world) {
  live *l = alloc_zero(1, sizeof *l);
  l->w = *world;
  l->prediction = l->quantity = NAN;
  l->picked = -1;
  field_init(&l->guess, GUESS_COLS);
  return l;
}

void live_free(live *l) {
  if (!l)
    return;
  live_plan_drop(l);
  free(l);
}

/* Experiments are named within their lesson; what is known of kernels stays. */
static void forget_kept(live *l) {
  int n = 0;
  for (int i = 0; i < l->nkept; i++)
    if (!l->kept[i].as[0])
      l->kept[n++] = l->kept[i];
  l->nkept = n;
}

static void cancel(live *l) {
  if (l->phase != LIVE_RUNNING)
    return;
  client_cancel(l->w.client, l->request);
  l->phase = LIVE_CANCELLING;
}

/* Without an experiment the kernel used last can still be run. */
static void keep_last_run(live *l) {
  struct live_run last = l->nruns ? l->run[l->nruns - 1] : (struct live_run){0};
  live_plan_drop(l);
  l->custom = false;
  if (last.kernel)
    live_plan_custom(l, last.kernel, &last.size);
}

void live_prediction_key(const live *l, const struct experiment *e, const char *step,
                         char key[LESSON_KEY]) {
  lesson_prediction_key(e, live_plan_place_of(l, e), step, key);
}

void live_set_experiment(live *l, const struct lesson *lesson, const struct experiment *e,
                         const char *step, bool locked) {
  cancel(l);
  l->dropped = l->phase == LIVE_CANCELLING;
  if (e)
    live_plan_drop(l);
  else
    keep_last_run(l);
  if (l->lesson != lesson)
    forget_kept(l);
  l->lesson = lesson;
  l->experiment = e;
  snprintf(l->step, sizeof l->step, "%s", step);
  l->guessing = l->form.on = false;
  if (!l->dropped)
    l->phase = LIVE_IDLE;
  l->note = NULL;
  l->prediction = l->quantity = NAN;
  l->predicted = false;
  l->locked = l->asks = locked;
  live_plan_question(l);
  field_init(&l->guess, GUESS_COLS);
  live_start_clear(l);
  struct err ignored;
  if (e) {
    l->custom = false;
    live_plan_make(l, &ignored);
  }
}

/* ---- the prediction */

bool live_field(const live *l) { return l->form.on || l->guessing; }

void live_focus_prediction(live *l) {
  if (l->experiment && !l->predicted)
    l->guessing = true;
}

/* A number in the unit of the experiment, or nothing for 'no idea'. */
static bool read_guess(live *l, double *value) {
  struct units_value v;
  struct err err;
  *value = NAN;
  if (!l->guess.text[strspn(l->guess.text, " ")])
    return true;
  const char *unit = lesson_unit(l->experiment, live_plan_place(l));
  enum unit_class want = UNIT_NONE;
  double scale = 1;
  if (!units_parse(l->guess.text, &v, &err)) {
    snprintf(l->fault.what, sizeof l->fault.what, "%.500s", err.text);
    return false;
  }
  units_class(unit, &want);
  struct units_value one;
  char text[32];
  snprintf(text, sizeof text, "1 %s", unit);
  if (unit[0] && units_parse(text, &one, NULL))
    scale = one.value;
  if (v.unit != UNIT_NONE && v.unit != want) {
    live_start_say(l, unit[0] ? "live.asks_for" : "live.asks_plain", unit);
    return false;
  }
  *value = v.unit == UNIT_NONE ? v.value : v.value / scale;
  return true;
}

static void commit_guess(live *l) {
  double value;
  live_start_clear(l);
  if (!read_guess(l, &value))
    return;
  l->prediction = value;
  l->predicted = true;
  l->guessing = l->locked = false;
  if (!l->w.progress || !l->lesson)
    return;
  char key[LESSON_KEY];
  live_prediction_key(l, l->experiment, l->step, key);
  progress_predict(l->w.progress, l->lesson->id, key, value);
}

bool live_key(live *l, int key) {
  if (l->form.on)
    return live_form_key(l, key);
  if (!l->guessing)
    return false;
  if (key == KEYS_ENTER) {
    commit_guess(l);
    return true;
  }
  if (key == KEYS_ESC) {
    l->guessing = false;
    return true;
  }
  return field_key(&l->guess, key);
}

/* ---- running */

bool live_running(const live *l) { return l->phase == LIVE_RUNNING || l->phase == LIVE_CANCELLING; }

static void begin(live *l) {
  struct err err;
  live_start_clear(l);
  l->quantity = NAN;
  l->note = NULL;
  if (!live_plan_make(l, &err)) {
    live_start_fail(l, "plan", err.text);
    return;
  }
  l->now = 0;
  live_start(l);
}

static void want_run(live *l) {
  struct err err;
  if (live_running(l))
    return;
  if (l->locked && !l->predicted) {
    live_start_clear(l);
    l->guessing = true;
    return;
  }
  if (!l->w.client) {
    live_start_fail(l, "worker", "");
    live_start_say(l, "live.no_worker", "");
    return;
  }
  if (l->nruns == 0 && !live_plan_make(l, &err)) {
    live_start_fail(l, "plan", err.text);
    return;
  }
  double longest;
  l->expected_s = live_plan_expect(l, &longest);
  if (longest > LONG_RUN_S) {
    l->phase = LIVE_ASKING;
    return;
  }
  begin(l);
}

/* Which finished run's details are shown. */
static bool pick(live *l, int by) {
  int first = -1, last = -1;
  for (int i = 0; i < l->nruns; i++)
    if (l->run[i].done)
      first = first < 0 ? i : first, last = i;
  if (live_running(l) || last < 0 || first == last)
    return false;
  int at = (l->picked < 0 ? last : l->picked) + by;
  while (at > first && at < last && !l->run[at].done)
    at += by;
  l->picked = at < first ? first : at > last ? last : at;
  return true;
}

bool live_command(live *l, enum command cmd) {
  switch (cmd) {
  case CMD_UP:
  case CMD_DOWN:
    return pick(l, cmd == CMD_UP ? -1 : 1);
  case CMD_RUN:
    want_run(l);
    return true;
  case CMD_CANCEL:
    cancel(l);
    return true;
  case CMD_SETTINGS:
    if (!live_running(l) && catalog_count(l->w.catalog) > 0)
      live_form_open(l);
    return true;
  case CMD_ENTER:
    if (l->phase == LIVE_ASKING)
      begin(l);
    else if (l->locked && !l->predicted)
      l->guessing = true;
    return true;
  case CMD_BACK:
    if (l->phase == LIVE_ASKING) {
      l->phase = LIVE_IDLE;
      return true;
    }
    return false;
  default:
    return false;
  }
}

/* ---- events */

static bool is_cuda(const struct device_info *d) { return strncmp(d->id, "cuda", 4) == 0; }

static int device_index(const live *l, const char *id) {
  for (int i = 0; i < l->ndevices; i++)
    if (strcmp(l->device[i].id, id) == 0)
      return i;
  return -1;
}

/* The device in use and the roofs stay with their ids; at first a GPU is taken before the CPU. */
static void take_hello(live *l, const struct client_event *ev) {
  struct roofs roofs[LIVE_DEVICES];
  bool has[LIVE_DEVICES] = {false};
  char used[32] = "";
  int n = ev->ndevices > LIVE_DEVICES ? LIVE_DEVICES : ev->ndevices, at = -1;
  if (l->greeted && l->at < l->ndevices)
    snprintf(used, sizeof used, "%s", l->device[l->at].id);
  for (int i = 0; i < n; i++) {
    int old = device_index(l, ev->devices[i].id);
    has[i] = old >= 0 && l->has_roofs[old];
    if (has[i])
      roofs[i] = l->roofs[old];
    if (used[0] ? strcmp(ev->devices[i].id, used) == 0 : is_cuda(&ev->devices[i]) && at < 0)
      at = i;
  }
  for (int i = 0; i < n; i++) {
    l->device[i] = ev->devices[i];
    l->has_roofs[i] = has[i];
    if (has[i])
      l->roofs[i] = roofs[i];
  }
  l->greeted = true;
  l->ndevices = n;
  l->at = at < 0 ? 0 : at;
  snprintf(l->no_cuda, sizeof l->no_cuda, "%s", ev->no_cuda ? ev->no_cuda : "");
  struct err ignored;
  if (l->phase == LIVE_IDLE)
    live_plan_question(l);
  if (l->experiment && !l->custom && l->phase == LIVE_IDLE && !l->form.on)
    live_plan_make(l, &ignored);
}

static void take_roofs(live *l, const struct roofs *r) {
  int i = device_index(l, r->device.id);
  if (i < 0)
    return;
  l->roofs[i] = *r;
  l->has_roofs[i] = true;
}

/* A run that ended with a result: the next one, if this one was right. */
static void take_end(live *l) {
  struct live_run *run = &l->run[l->now];
  run->done = true;
  l->request = 0;
  if (!live_plan_good(run)) {
    l->phase = LIVE_DONE;
  } else if (l->now + 1 < l->nruns && l->phase == LIVE_RUNNING) {
    l->now++;
    live_start(l);
  } else {
    l->phase = LIVE_DONE;
  }
  if (l->phase == LIVE_DONE)
    live_plan_conclude(l);
}

static void take_result(live *l, const struct result *r) {
  result_copy(&l->run[l->now].result, r);
  take_end(l);
}

static void take_xray(live *l, const struct xray_result *x) {
  struct live_run *run = &l->run[l->now];
  run->xray = alloc_zero(1, sizeof *run->xray);
  xray_result_copy(run->xray, x);
  result_copy(&run->result, &x->head);
  take_end(l);
}

static void take_samples(live *l, const struct client_event *ev) {
  for (int i = 0; i < ev->nsamples && l->cur.nsamples < LIVE_SAMPLES; i++)
    l->cur.samples[l->cur.nsamples++] = ev->samples_ms[i];
}

/* Of a request whose plan is gone only its end is news. */
static bool take_dropped(live *l, const struct client_event *ev) {
  if (ev->kind == CLIENT_COMPILE || ev->kind == CLIENT_VERIFY || ev->kind == CLIENT_SAMPLE)
    return false;
  l->phase = LIVE_IDLE;
  l->request = 0;
  l->dropped = false;
  return true;
}

static bool take_run_event(live *l, const struct client_event *ev) {
  if (l->dropped)
    return take_dropped(l, ev);
  switch (ev->kind) {
  case CLIENT_COMPILE:
    l->cur.compiled = true;
    l->cur.built = ev->built;
    l->cur.built.log = NULL;
    return true;
  case CLIENT_VERIFY:
    l->cur.verified = true;
    l->cur.verify = ev->verify;
    return true;
  case CLIENT_SAMPLE:
    take_samples(l, ev);
    return true;
  case CLIENT_RESULT:
    take_result(l, ev->result);
    return true;
  case CLIENT_XRAY:
    take_xray(l, ev->xray);
    return true;
  case CLIENT_CANCELLED:
    l->phase = LIVE_IDLE;
    l->request = 0;
    return true;
  case CLIENT_ERROR:
  case CLIENT_GONE:
    l->request = 0;
    l->phase = l->phase == LIVE_CANCELLING ? LIVE_IDLE : LIVE_FAILED;
    if (l->phase == LIVE_FAILED)
      l->fault = ev->fault;
    return true;
  default:
    return false;
  }
}

bool live_event(live *l, const struct client_event *ev) {
  switch (ev->kind) {
  case CLIENT_HELLO:
    take_hello(l, ev);
    return true;
  case CLIENT_ROOFS:
    take_roofs(l, ev->roofs);
    return true;
  case CLIENT_PRINT:
    if (!live_running(l) || l->dropped || ev->id != l->request)
      return false;
    snprintf(l->cur.print, sizeof l->cur.print, "%s", ev->text);
    return true;
  default:
    return live_running(l) && ev->id == l->request && take_run_event(l, ev);
  }
}

/* Plans the run of a result that came from elsewhere; false if its kernel is not known here. */
static bool plan_shown(live *l, const struct result *r) {
  const struct kernel *k = catalog_find(l->w.catalog, r->kernel);
  if (!k)
    return false;
  struct kernel_size size = kernel_size_default(k, r->M, r->N, r->K);
  for (int i = 0; i < r->nparams; i++)
    kernel_set_param(k, &size, r->params[i].name, r->params[i].value, NULL);
  if (!l->predicted) /* no result without a prediction, or without none on purpose */
    l->prediction = r->prediction;
  l->predicted = true;
  l->locked = l->guessing = false;
  live_plan_custom(l, k, &size);
  l->phase = LIVE_RUNNING;
  return true;
}

void live_show(live *l, const struct result *r) {
  if (l->ndevices == 0 && catalog_find(l->w.catalog, r->kernel)) {
    l->device[l->ndevices++] = r->device;
    l->greeted = true;
  }
  if (plan_shown(l, r))
    take_result(l, r);
}

/* The runs of the experiment are filled in by their sizes; any other result is a run of its own. */
void live_show_xray(live *l, const struct xray_result *x) {
  struct err ignored;
  l->choice = LIVE_XRAY;
  l->greeted = true;
  if (!l->custom && l->phase != LIVE_RUNNING && l->phase != LIVE_DONE)
    live_plan_make(l, &ignored);
  for (int i = 0; i < l->nruns && !l->custom; i++)
    if (live_start_matches(&l->run[i], &x->head) && !l->run[i].done) {
      l->predicted = true;
      l->locked = l->guessing = false;
      l->now = i;
      l->phase = LIVE_CANCELLING; /* nothing is started behind it */
      take_xray(l, x);
      return;
    }
  if (plan_shown(l, &x->head))
    take_xray(l, x);
}

/* ---- what others ask */

const struct roofs *live_roofs(const live *l) {
  return l->at < l->ndevices && l->has_roofs[l->at] ? &l->roofs[l->at] : NULL;
}

const struct device_info *live_device(const live *l) {
  return l->at < l->ndevices ? &l->device[l->at] : NULL;
}

const char *live_note(const live *l) { return l->phase == LIVE_DONE ? l->note : NULL; }

bool live_lookup(void *live_ptr, const char *name, double *value) {
  return live_values_here(live_ptr, name, value);
}

bool live_lookup_recorded(void *live_ptr, const char *name, double *value) {
  return live_values_recorded(live_ptr, name, value);
}

/* ---- the picture */

void live_title(const live *l, enum lang lang, char *out, int size) {
  (void)lang;
  live_draw_title(l, out, size);
}

void live_headline(const live *l, char *out, int size) { live_draw_headline(l, out, size); }

void live_draw(live *l, canvas *cv, struct rect r, enum lang lang) {
  if (l->form.on)
    live_form_draw(l, cv, r, lang);
  else
    live_draw_pane(l, cv, r, lang);
}
