#include "app/plain_run.h"

#include "app/session.h"
#include "base/alloc.h"
#include "base/sentences.h"
#include "base/str.h"
#include "base/units.h"
#include "bench/wire.h"
#include "bench/xray_rung.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the worker said of one request. */
struct heard {
  bool cuda, has_result, has_counts;
  struct result result;
  struct xray_result counts;
  struct device_fault fault;
};

static void hear(void *ctx, const struct client_event *ev) {
  struct heard *h = ctx;
  if (ev->kind == CLIENT_HELLO) {
    for (int i = 0; i < ev->ndevices; i++)
      h->cuda = h->cuda || strncmp(ev->devices[i].id, "cuda:", 5) == 0;
  } else if (ev->kind == CLIENT_RESULT && !h->has_result) {
    result_copy(&h->result, ev->result);
    h->has_result = true;
  } else if (ev->kind == CLIENT_XRAY && !h->has_counts) {
    xray_result_copy(&h->counts, ev->xray);
    h->has_counts = true;
  } else if (ev->kind == CLIENT_ERROR || ev->kind == CLIENT_GONE) {
    h->fault = ev->fault;
  }
}

static void print(const struct plain_run *r) {
  paper_print(r->text->paper, stdout);
  fflush(stdout);
}

static void say(const struct plain_run *r, enum saying s, const char *a, const char *b,
                const char *c) {
  step_text_say(r->text, s, a, b, c);
}

static void say_result(const struct plain_run *r, const char *name, const struct result *res) {
  char *speed = isfinite(res->gflops) && res->gflops > 0
                    ? units_format(res->gflops * 1e9, "FLOP/s", 3)
                    : units_format(res->gbs * 1e9, "B/s", 3);
  char *time = units_format(res->median_ms / 1e3, "s", 3);
  say(r, SAY_RAN, name, speed, time);
  if (res->roof.name[0] && isfinite(res->roof.share)) {
    char *share = units_format(res->roof.share * 100, "%", 2);
    say(r, SAY_RAN_ROOF, share, res->roof.name, NULL);
    free(share);
  }
  for (int i = 0; i < res->nwarnings; i++)
    step_text_sentence(r->text, res->warnings[i]);
  free(speed);
  free(time);
}

/* What, why and next are translated one by one: not each ends as a sentence does. */
static void say_fault(const struct plain_run *r, const struct device_fault *f) {
  const char *part[3] = {f->what, f->why, f->next};
  struct str all = {0};
  for (int i = 0; i < 3; i++) {
    char *text = sentences_in(part[i], r->text->lang == LANG_ZH);
    bool chinese = strcmp(text, part[i]) != 0;
    if (*text && all.len && !chinese)
      str_addc(&all, ' ');
    str_add(&all, text);
    free(text);
  }
  say(r, SAY_RUN_FAILED, all.data, NULL, NULL);
  str_free(&all);
}

/* Tells how a request ended; true if there is a verified result. */
static bool say_end(const struct plain_run *r, const char *name, enum client_kind end,
                    const struct heard *h) {
  if (end == CLIENT_CANCELLED)
    say(r, SAY_CANCELLED, NULL, NULL, NULL);
  else if (end != CLIENT_RESULT || !h->has_result)
    say_fault(r, &h->fault);
  else if (!h->result.verify.ok)
    say(r, SAY_RUN_WRONG, h->result.verify.note, NULL, NULL);
  else {
    say_result(r, name, &h->result);
    return true;
  }
  return false;
}

/* A problem as the x-ray says it, in the language of the text. */
static void say_problems(const struct plain_run *r, const struct xray_result *x) {
  for (int i = 0; i < x->nproblems; i++)
    step_text_sentence(r->text, x->problems[i].detail);
}

static void say_counts(const struct plain_run *r, const char *name, const struct xray_result *x) {
  const struct xray_counts *c = &x->counts;
  char *sectors = units_exact(c->gld_sectors);
  char *each = units_format(c->gld_sectors / c->gld_requests, "", 3);
  say(r, SAY_COUNTED, name, sectors, c->gld_requests > 0 ? each : "-");
  if (x->sampled) {
    char *ran = units_exact((double)x->blocks_executed), *of = units_exact((double)x->blocks);
    say(r, SAY_SAMPLED, ran, of, NULL);
    free(ran);
    free(of);
  }
  say_problems(r, x);
  free(sectors);
  free(each);
}

/* Tells how a request to the x-ray ended; true if there are counts of a right result. */
static bool say_counted_end(const struct plain_run *r, const char *name, enum client_kind end,
                            const struct heard *h) {
  if (end == CLIENT_CANCELLED)
    say(r, SAY_CANCELLED, NULL, NULL, NULL);
  else if (end != CLIENT_XRAY || !h->has_counts)
    say_fault(r, &h->fault);
  else if (h->counts.verified && !h->counts.head.verify.ok) {
    say(r, SAY_RUN_WRONG, h->counts.head.verify.note, NULL, NULL);
    say_problems(r, &h->counts);
  } else {
    say_counts(r, name, &h->counts);
    return true;
  }
  return false;
}

static int ask_device(const struct plain_run *r, const struct kernel *k,
                      const struct kernel_size *size, const char *where, int place,
                      struct err *err) {
  const char *quantity = lesson_quantity(r->experiment, place);
  struct client_run request = {.device = where,
                               .kernel = k->id,
                               .size = *size,
                               .params_of = k,
                               .seconds = 1,
                               .reference = strstr(quantity, ".ratio") != NULL,
                               .isa = "auto",
                               .seed = 1,
                               .prediction = NAN};
  return client_run(r->client, &request, err);
}

static bool one(const struct plain_run *r, const struct exp_run *run, int place, double at) {
  struct kernel_size size;
  struct err err = {""};
  struct values *v = r->text->values;
  if (!values_run_size(v, r->experiment, run, at, &size, &err)) {
    step_text_failed(r->text, err.text);
    return false;
  }
  const struct kernel *k = catalog_find(v->kernels, run->kernel);
  bool counts = k->target == KERNEL_CUDA && r->text->no_gpu;
  char *numbers = step_text_size(k, &size), *name = alloc_printf("%s, %s", k->id, numbers);
  struct heard *h = alloc_zero(1, sizeof *h);
  say(r, SAY_RUNNING, name, NULL, NULL);
  print(r);
  int id = counts
               ? xray_rung_ask(r->client, k, &size, &err)
               : ask_device(r, k, &size, k->target == KERNEL_CUDA ? "cuda:0" : "cpu", place, &err);
  enum client_kind end = id ? session_wait(r->client, id, hear, h) : CLIENT_ERROR;
  if (!id)
    wire_fault_set(&h->fault, "request", err.text, "", "");
  bool ok = counts ? say_counted_end(r, name, end, h) : say_end(r, name, end, h);
  if (ok && counts)
    values_keep_counts(v, r->experiment->id, run->as, &h->counts);
  else if (ok)
    values_keep(v, r->experiment->id, run->as, &h->result);
  if (h->has_result)
    result_done(&h->result);
  if (h->has_counts)
    xray_result_done(&h->counts);
  print(r);
  free(h);
  free(name);
  free(numbers);
  return ok;
}

/* The prediction against what was measured, and the band that was expected. */
static void conclude(const struct plain_run *r, int place) {
  const struct experiment *e = r->experiment;
  struct values *v = r->text->values;
  double got, low, high, yes;
  if (!values_of_runs(v, e->id, lesson_quantity(e, place), &got))
    return;
  char *value = units_format(got, "", 3);
  const char *unit = lesson_unit(e, place);
  char *measured = alloc_printf("%s%s%s", value, *unit ? " " : "", unit);
  say(r, place == EXP_XRAY ? SAY_COUNTED_ALL : SAY_MEASURED, measured, NULL, NULL);
  if (isfinite(r->prediction) && r->prediction != 0) {
    char *was = units_format(r->prediction, "", 3);
    char *factor = units_format(got / r->prediction, "", 3);
    char *times = alloc_printf("%sx", factor);
    say(r, place == EXP_XRAY ? SAY_AGAINST_COUNT : SAY_AGAINST, was, times, NULL);
    free(was);
    free(factor);
    free(times);
  }
  if (e->band_low[place] && values_of_runs(v, e->id, e->band_low[place], &low) &&
      values_of_runs(v, e->id, e->band_high[place], &high)) {
    char *a = units_format(low, "", 3), *b = units_format(high, "", 3);
    say(r, got >= low && got <= high ? SAY_IN_BAND : SAY_OUT_OF_BAND, a, b, NULL);
    free(a);
    free(b);
  }
  for (int i = 0; i < e->nnot_visible && !e->side[place].quantity; i++)
    if (values_of_runs(v, e->id, e->not_visible[i].cond, &yes) && yes != 0) {
      step_text_section(r->text, e->not_visible[i].step);
      break;
    }
  free(value);
  free(measured);
}

bool plain_run_gpu(client *c) {
  struct heard *h = alloc_zero(1, sizeof *h);
  struct err err = {""};
  int id = client_hello(c, &err);
  if (id)
    session_wait(c, id, hear, h);
  bool cuda = h->cuda;
  free(h);
  return cuda;
}

bool plain_run(const struct plain_run *r) {
  const struct experiment *e = r->experiment;
  int place = step_text_place(r->text, e);
  const struct exp_side *side = &e->side[place];
  for (int s = 0; s < (e->sweep_var ? e->nsweep : 1); s++)
    for (int i = 0; i < side->nruns; i++)
      if (session_stopped() || !one(r, &side->runs[i], place, e->sweep_var ? e->sweep[s] : NAN))
        return false;
  if (!e->sweep_var)
    conclude(r, place);
  return true;
}
