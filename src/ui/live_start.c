#include "ui/live_start.h"

#include "bench/xray_rung.h"
#include "ui/live_plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double RUN_SECONDS = 1;

void live_start_clear(live *l) {
  memset(&l->fault, 0, sizeof l->fault);
  l->say = NULL;
}

void live_start_fail(live *l, const char *code, const char *what) {
  live_start_clear(l);
  snprintf(l->fault.code, sizeof l->fault.code, "%s", code);
  snprintf(l->fault.what, sizeof l->fault.what, "%s", what);
  l->phase = LIVE_FAILED;
}

void live_start_say(live *l, const char *id, const char *what) {
  live_start_clear(l);
  l->say = id;
  snprintf(l->say_what, sizeof l->say_what, "%s", what);
}

bool live_start_matches(const struct live_run *run, const struct result *r) {
  if (strcmp(run->kernel->id, r->kernel) != 0 || run->size.M != r->M || run->size.N != r->N ||
      run->size.K != r->K)
    return false;
  for (int i = 0; i < r->nparams; i++)
    for (int j = 0; j < run->kernel->nparams; j++)
      if (strcmp(run->kernel->params[j].name, r->params[i].name) == 0 &&
          run->size.param[j] != r->params[i].value)
        return false;
  return true;
}

static const char *device_for(const live *l, const struct kernel *k) {
  const char *prefix = k->target == KERNEL_CUDA ? "cuda" : "cpu";
  if (l->at < l->ndevices && strncmp(l->device[l->at].id, prefix, strlen(prefix)) == 0)
    return l->device[l->at].id;
  for (int i = 0; i < l->ndevices; i++)
    if (strncmp(l->device[i].id, prefix, strlen(prefix)) == 0)
      return l->device[i].id;
  return k->target == KERNEL_CPU ? "cpu" : "";
}

static int ask_device(live *l, const struct live_run *r, const char *where, struct err *err) {
  struct client_run run = {.device = where,
                           .kernel = r->kernel->id,
                           .source = r->kernel->builtin ? NULL : r->kernel->source,
                           .size = r->size,
                           .params_of = r->kernel,
                           .seconds = RUN_SECONDS,
                           .reference = !live_plan_sweeps(l),
                           .isa = "auto",
                           .seed = 1,
                           .prediction = l->custom ? NAN : l->prediction};
  return client_run(l->w.client, &run, err);
}

bool live_start(live *l) {
  const struct live_run *r = &l->run[l->now];
  bool counts = live_plan_counts(l, r->kernel);
  const char *where = counts ? "" : device_for(l, r->kernel);
  struct err err = {""};
  memset(&l->cur, 0, sizeof l->cur);
  if (!counts && !where[0]) {
    live_start_fail(l, "no_device", l->no_cuda);
    if (!l->no_cuda[0])
      live_start_say(l, "live.no_gpu", "");
    return false;
  }
  if (!kernel_accepts(r->kernel, &r->size, &err)) {
    live_start_fail(l, "size", err.text);
    return false;
  }
  if (counts && !xray_rung_runs(r->kernel, &err)) {
    live_start_fail(l, "unsupported", err.text);
    return false;
  }
  l->request = counts ? xray_rung_ask(l->w.client, r->kernel, &r->size, &err)
                      : ask_device(l, r, where, &err);
  if (!l->request) {
    live_start_fail(l, "worker", err.text);
    return false;
  }
  l->phase = LIVE_RUNNING;
  return true;
}
