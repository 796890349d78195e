#include "ui/live.h"

#include "base/alloc.h"
#include "base/units.h"
#include "ui/live_draw.h"
#include "ui/live_form.h"
#include "ui/live_plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUN_SECONDS_10 = 10, LONG_RUN_S = 5, GUESS_COLS = 24 };

live *live_new(const struct live_world *world) {
  live *l = alloc_zero(1, sizeof *l);
  l->w = *world;
  l->prediction = l->quantity = NAN;
  field_init(&l->guess, GUESS_COLS);
  return l;
}

static void drop_results(live *l) {
  for (int i = 0; i < l->nruns; i++)
    if (l->run[i].done)
      result_done(&l->run[i].result);
  l->nruns = 0;
}

void live_free(live *l) {
  if (!l)
    return;
  drop_results(l);
  free(l);
}

static void forget_fault(live *l) { memset(&l->fault, 0, sizeof l->fault); }

static void fail(live *l, const char *code, const char *what) {
  forget_fault(l);
  snprintf(l->fault.code, sizeof l->fault.code, "%s", code);
  snprintf(l->fault.what, sizeof l->fault.what, "%s", what);
  l->phase = LIVE_FAILED;
}

/* Experiments are named within their lesson; what is known of kernels stays. */
static void forget_kept(live *l) {
  int n = 0;
  for (int i = 0; i < l->nkept; i++)
    if (!l->kept[i].as[0])
      l->kept[n++] = l->kept[i];
  l->nkept = n;
}

void live_set_experiment(live *l, const struct lesson *lesson, const struct experiment *e,
                         const char *step, bool locked) {
  if (live_running(l))
    live_command(l, CMD_CANCEL);
  drop_results(l);
  if (l->lesson != lesson)
    forget_kept(l);
  l->lesson = lesson;
  l->experiment = e;
  snprintf(l->step, sizeof l->step, "%s", step);
  l->locked = locked;
  l->guessing = l->custom = l->form.on = false;
  l->phase = LIVE_IDLE;
  l->note = NULL;
  l->prediction = l->quantity = NAN;
  l->predicted = lesson && l->w.progress &&
                 progress_prediction(l->w.progress, lesson->id, step, &l->prediction);
  field_init(&l->guess, GUESS_COLS);
  forget_fault(l);
  struct err ignored;
  if (e)
    live_plan(l, &ignored);
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
  const char *unit = l->experiment->unit ? l->experiment->unit : "";
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
    snprintf(l->fault.what, sizeof l->fault.what, "This asks for %s.",
             unit[0] ? unit : "a plain number");
    return false;
  }
  *value = v.unit == UNIT_NONE ? v.value : v.value / scale;
  return true;
}

static void commit_guess(live *l) {
  double value;
  forget_fault(l);
  if (!read_guess(l, &value))
    return;
  l->prediction = value;
  l->predicted = true;
  l->guessing = l->locked = false;
  if (l->w.progress && l->lesson)
    progress_predict(l->w.progress, l->lesson->id, l->step, value);
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

bool live_running(const live *l) {
  return l->phase == LIVE_RUNNING || l->phase == LIVE_CANCELLING;
}

const char *live_device_for(const live *l, const struct kernel *k) {
  const char *prefix = k->target == KERNEL_CUDA ? "cuda" : "cpu";
  if (l->at < l->ndevices && strncmp(l->device[l->at].id, prefix, strlen(prefix)) == 0)
    return l->device[l->at].id;
  for (int i = 0; i < l->ndevices; i++)
    if (strncmp(l->device[i].id, prefix, strlen(prefix)) == 0)
      return l->device[i].id;
  return k->target == KERNEL_CPU ? "cpu" : "";
}

bool live_start(live *l) {
  struct live_run *r = &l->run[l->now];
  const char *where = live_device_for(l, r->kernel);
  struct err err = {""};
  memset(&l->cur, 0, sizeof l->cur);
  if (!where[0]) {
    fail(l, "no_device", l->no_cuda[0] ? l->no_cuda : "There is no GPU on this machine.");
    return false;
  }
  struct client_run run = {.device = where,
                           .kernel = r->kernel->id,
                           .source = r->kernel->builtin ? NULL : r->kernel->source,
                           .size = r->size,
                           .params_of = r->kernel,
                           .seconds = RUN_SECONDS_10 / 10.0,
                           .reference = !(l->experiment && l->experiment->sweep_var && !l->custom),
                           .isa = "auto",
                           .seed = 1,
                           .prediction = l->custom ? NAN : l->prediction};
  if (!kernel_accepts(r->kernel, &r->size, &err)) {
    fail(l, "size", err.text);
    return false;
  }
  l->request = client_run(l->w.client, &run, &err);
  if (!l->request) {
    fail(l, "worker", err.text);
    return false;
  }
  l->phase = LIVE_RUNNING;
  return true;
}

static void begin(live *l) {
  struct err err;
  forget_fault(l);
  l->quantity = NAN;
  l->note = NULL;
  if (!live_plan(l, &err)) {
    fail(l, "plan", err.text);
    return;
  }
  l->now = 0;
  live_start(l);
}

static void want_run(live *l) {
  struct err err;
  if (live_running(l))
    return;
  if (l->locked && !l->custom && !l->predicted) {
    forget_fault(l);
    l->guessing = true;
    return;
  }
  if (!l->w.client) {
    fail(l, "worker", "This view has no worker; start mmtutor to run kernels.");
    return;
  }
  if (l->nruns == 0 && !live_plan(l, &err)) {
    fail(l, "plan", err.text);
    return;
  }
  double longest;
  l->expected_s = live_expect(l, &longest);
  if (longest > LONG_RUN_S && l->phase != LIVE_ASKING) {
    l->phase = LIVE_ASKING;
    return;
  }
  begin(l);
}

static void cancel(live *l) {
  if (l->phase != LIVE_RUNNING)
    return;
  client_cancel(l->w.client, l->request);
  l->phase = LIVE_CANCELLING;
}

bool live_command(live *l, enum command cmd) {
  switch (cmd) {
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

static void take_hello(live *l, const struct client_event *ev) {
  l->greeted = true;
  l->ndevices = ev->ndevices > LIVE_DEVICES ? LIVE_DEVICES : ev->ndevices;
  for (int i = 0; i < l->ndevices; i++)
    l->device[i] = ev->devices[i];
  snprintf(l->no_cuda, sizeof l->no_cuda, "%s", ev->no_cuda ? ev->no_cuda : "");
  if (l->at >= l->ndevices)
    l->at = 0;
  for (int i = l->ndevices - 1; i >= 0; i--)
    if (strncmp(l->device[i].id, "cuda", 4) == 0)
      l->at = i;
  struct err ignored;
  if (l->experiment && !l->custom && l->phase == LIVE_IDLE)
    live_plan(l, &ignored);
}

static int device_index(const live *l, const char *id) {
  for (int i = 0; i < l->ndevices; i++)
    if (strcmp(l->device[i].id, id) == 0)
      return i;
  return -1;
}

static void take_roofs(live *l, const struct roofs *r) {
  int i = device_index(l, r->device.id);
  if (i < 0)
    return;
  l->roofs[i] = *r;
  l->has_roofs[i] = true;
}

static void take_result(live *l, const struct result *r) {
  struct live_run *run = &l->run[l->now];
  result_copy(&run->result, r);
  run->done = true;
  l->request = 0;
  if (!r->verify.ok) {
    l->phase = LIVE_DONE;
  } else if (l->now + 1 < l->nruns && l->phase == LIVE_RUNNING) {
    l->now++;
    live_start(l);
  } else {
    l->phase = LIVE_DONE;
  }
  if (l->phase == LIVE_DONE)
    live_conclude(l);
}

static void take_samples(live *l, const struct client_event *ev) {
  for (int i = 0; i < ev->nsamples && l->cur.nsamples < LIVE_SAMPLES; i++)
    l->cur.samples[l->cur.nsamples++] = ev->samples_ms[i];
}

static bool take_run_event(live *l, const struct client_event *ev) {
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
    snprintf(l->cur.print, sizeof l->cur.print, "%s", ev->text);
    return true;
  default:
    return live_running(l) && (ev->id == l->request || ev->kind == CLIENT_GONE) &&
           take_run_event(l, ev);
  }
}

void live_show(live *l, const struct result *r) {
  const struct kernel *k = catalog_find(l->w.catalog, r->kernel);
  if (!k)
    return;
  if (l->ndevices == 0) {
    l->device[l->ndevices++] = r->device;
    l->greeted = true;
  }
  drop_results(l);
  memset(&l->run[0], 0, sizeof l->run[0]);
  l->run[0].kernel = k;
  l->run[0].size = kernel_size_default(k, r->M, r->N, r->K);
  for (int i = 0; i < r->nparams; i++)
    kernel_set_param(k, &l->run[0].size, r->params[i].name, r->params[i].value, NULL);
  l->run[0].sweep = NAN;
  l->nruns = 1;
  l->now = 0;
  l->custom = true;
  l->phase = LIVE_RUNNING;
  take_result(l, r);
}

/* ---- what others ask */

const struct roofs *live_roofs(const live *l) {
  return l->at < l->ndevices && l->has_roofs[l->at] ? &l->roofs[l->at] : NULL;
}

const struct device_info *live_device(const live *l) {
  return l->at < l->ndevices ? &l->device[l->at] : NULL;
}

const char *live_note(const live *l) { return l->phase == LIVE_DONE ? l->note : NULL; }

static bool device_value(const struct device_info *d, const char *name, double *value) {
  const struct {
    const char *name;
    double v;
  } field[] = {{"sms", d->sms},           {"clock_hz", d->clock_hz},
               {"smem_sm", d->smem_sm},   {"smem_block", d->smem_block},
               {"l2", d->l2_bytes},       {"regs_sm", d->regs_sm},
               {"threads_sm", d->threads_sm}, {"memory", d->memory_bytes},
               {"peak_fp32", d->peak_fp32},   {"peak_dram", d->peak_dram}};
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
static bool run_name(const char *name, char experiment[32], char as[16], const char **field) {
  const char *a = strchr(name, '.'), *b = a ? strchr(a + 1, '.') : NULL;
  if (!b || a - name >= 32 || b - a - 1 >= 16)
    return false;
  snprintf(experiment, 32, "%.*s", (int)(a - name), name);
  snprintf(as, 16, "%.*s", (int)(b - a - 1), a + 1);
  *field = b + 1;
  return true;
}

static bool kept_value(const live *l, const char *name, double *value) {
  char experiment[32], as[16];
  const char *field;
  if (!run_name(name, experiment, as, &field))
    return false;
  for (int i = 0; i < l->nkept; i++) {
    const struct live_kept *k = &l->kept[i];
    if (strcmp(k->experiment, experiment) != 0 || strcmp(k->as, as) != 0)
      continue;
    *value = strcmp(field, "gflops") == 0 ? k->gflops
             : strcmp(field, "ms") == 0   ? k->ms
             : strcmp(field, "gbs") == 0  ? k->gbs
             : strcmp(field, "ratio") == 0 ? k->ratio
             : strcmp(field, "share") == 0 ? k->share
                                           : NAN;
    return !isnan(*value);
  }
  return false;
}

bool live_lookup(void *live_ptr, const char *name, double *value) {
  const live *l = live_ptr;
  const struct device_info *d = live_device(l);
  if (strncmp(name, "device.", 7) == 0)
    return d && device_value(d, name + 7, value);
  if (strncmp(name, "roof.", 5) == 0)
    return roof_value(live_roofs(l), name + 5, value);
  return strncmp(name, "run.", 4) == 0 && kept_value(l, name + 4, value);
}

/* The recorded run of an experiment's CUDA side. */
static const struct result *recorded_run(const live *l, const char *experiment, const char *as) {
  const struct experiment *e = l->lesson ? lesson_experiment(l->lesson, experiment) : NULL;
  for (int i = 0; e && i < e->side[EXP_CUDA].nruns; i++) {
    const struct exp_run *x = &e->side[EXP_CUDA].runs[i];
    const struct kernel *k = catalog_find(l->w.catalog, x->kernel);
    double s[3];
    const char *text[3] = {x->M, x->N, x->K};
    bool ok = k && strcmp(x->as, as) == 0;
    for (int j = 0; j < 3 && ok; j++)
      ok = text[j] && expr_eval(text[j], NULL, NULL, &s[j], NULL);
    if (!ok)
      continue;
    struct kernel_size size = kernel_size_default(k, (int64_t)s[0], (int64_t)s[1], (int64_t)s[2]);
    for (int j = 0; j < x->params.n; j++)
      kernel_set_param(k, &size, x->params.v[j].name, x->params.v[j].value, NULL);
    return recorded_find(l->w.recorded, x->kernel, size.M, size.N, size.K, &size);
  }
  return NULL;
}

bool live_lookup_recorded(void *live_ptr, const char *name, double *value) {
  const live *l = live_ptr;
  char experiment[32], as[16];
  const char *field;
  if (!l->w.recorded)
    return false;
  if (strncmp(name, "device.", 7) == 0)
    return device_value(recorded_device(l->w.recorded), name + 7, value);
  if (strncmp(name, "roof.", 5) == 0)
    return roof_value(recorded_roofs(l->w.recorded), name + 5, value);
  if (strncmp(name, "run.", 4) != 0 || !run_name(name + 4, experiment, as, &field))
    return false;
  const struct result *r = recorded_run(l, experiment, as);
  return r && live_result_field(r, field, value);
}

void live_draw(live *l, canvas *cv, struct rect r, enum lang lang) {
  if (l->form.on)
    live_form_draw(l, cv, r, lang);
  else
    live_draw_pane(l, cv, r, lang);
}
