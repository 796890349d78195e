#include "app/roofline.h"

#include "app/options.h"
#include "app/session.h"
#include "base/units.h"
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "mmtutor roofline [options]: measure the roofs of a device\n"
    "\n"
    "  --device D           cuda:0, cuda:1 or cpu; default: the first GPU, else cpu\n"
    "  --seconds S          time for all probes (3)\n"
    "  --json               one JSON object\n"
    "  --worker COMMAND     measure elsewhere: \"ssh gpubox mmtutor worker\"\n"
    "\n"
    "Exit codes: 0 all right, 1 failure, 2 usage.\n";

struct args {
  const char *device, *worker;
  double seconds;
  bool json, help;
};

enum { OPT_DEVICE = 256, OPT_SECONDS, OPT_JSON, OPT_WORKER };

/* 0, or 2 after the sentence was printed. */
static int read_args(int argc, char **argv, struct args *a) {
  static const struct option longs[] = {{"device", required_argument, NULL, OPT_DEVICE},
                                        {"seconds", required_argument, NULL, OPT_SECONDS},
                                        {"json", no_argument, NULL, OPT_JSON},
                                        {"worker", required_argument, NULL, OPT_WORKER},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
  *a = (struct args){.seconds = 3};
  struct err err;
  int c, index;
  optind = 0;
  opterr = 0;
  while ((c = getopt_long(argc, argv, ":h", longs, NULL)) != -1) {
    if (c == '?' || c == ':')
      return options_wrong("roofline", argv, c);
    if (c == OPT_DEVICE)
      a->device = optarg;
    else if (c == OPT_WORKER)
      a->worker = optarg;
    else if (c == OPT_JSON)
      a->json = true;
    else if (c == 'h')
      a->help = true;
    else if (!options_number("--seconds", optarg, 0.01, 600, &a->seconds, &err))
      return options_fail("roofline", 2, err.text);
  }
  if (optind < argc) {
    err_set(&err, "'%.60s' is one word too many. `mmtutor roofline --help` shows the use.",
            argv[optind]);
    return options_fail("roofline", 2, err.text);
  }
  if (a->device && !device_by_id(a->device, &index, &err))
    return options_fail("roofline", 2, err.text);
  return 0;
}

struct watch {
  char device[32];
  struct roofs roofs;
  struct device_fault fault;
};

static void on_event(void *ctx, const struct client_event *ev) {
  struct watch *w = ctx;
  if (ev->kind == CLIENT_HELLO && ev->ndevices > 0)
    snprintf(w->device, sizeof w->device, "%s", ev->devices[0].id);
  else if (ev->kind == CLIENT_ROOFS)
    w->roofs = *ev->roofs;
  else if (ev->kind == CLIENT_ERROR || ev->kind == CLIENT_GONE)
    w->fault = ev->fault;
  else if (ev->kind == CLIENT_PRINT)
    fprintf(stderr, "%s\n", ev->text);
}

/* docs/contracts.md 5: bandwidths and compute roofs apart, in GB/s and GFLOP/s. */
static cJSON *as_json(const struct roofs *r) {
  cJSON *o = cJSON_CreateObject();
  cJSON_AddNumberToObject(o, "schema", 1);
  cJSON_AddItemToObject(o, "device", result_device_to_json(&r->device, true));
  cJSON_AddStringToObject(o, "date", r->date);
  cJSON *bandwidth = cJSON_AddArrayToObject(o, "bandwidth");
  cJSON *compute = cJSON_AddArrayToObject(o, "compute");
  cJSON_AddArrayToObject(o, "points");
  for (int i = 0; i < r->n; i++) {
    const struct roof *f = &r->roof[i];
    bool flops = strcmp(f->unit, "FLOP/s") == 0;
    cJSON *one = cJSON_CreateObject();
    cJSON_AddStringToObject(one, flops ? "unit" : "level", f->name);
    cJSON_AddStringToObject(one, "label", f->label);
    json_put_num(one, flops ? "gflops" : "gbs", f->value / 1e9);
    json_put_num(one, "spread", f->spread);
    json_put_num(one, "theoretical", f->theoretical / 1e9);
    cJSON_AddItemToArray(flops ? compute : bandwidth, one);
  }
  return o;
}

static void print_json(const struct roofs *r) {
  cJSON *o = as_json(r);
  char *text = json_print(o);
  puts(text);
  free(text);
  cJSON_Delete(o);
}

static void print_table(const struct roofs *r) {
  printf("%s (%s), %s\n", r->device.name[0] ? r->device.name : r->device.id, r->device.id, r->date);
  printf("%-22s %14s %8s %14s %9s\n", "roof", "measured", "spread", "theoretical", "share");
  for (int i = 0; i < r->n; i++) {
    const struct roof *f = &r->roof[i];
    char *value = units_format(f->value, f->unit, 3);
    char *theory = units_format(f->theoretical, f->unit, 3);
    printf("%-22s %14s", f->label, value);
    if (isnan(f->spread))
      printf(" %8s", "-");
    else
      printf(" %6.1f %%", f->spread * 100);
    printf(" %14s", theory);
    if (isnan(f->theoretical))
      printf(" %9s\n", "-");
    else
      printf(" %7.1f %%\n", f->value / f->theoretical * 100);
    free(value);
    free(theory);
  }
}

/* Ends with the exit code; false if the request did not end as it should. */
static bool ended_well(enum client_kind got, enum client_kind want, const struct watch *w) {
  if (got == want)
    return true;
  if (got == CLIENT_CANCELLED)
    options_fail("roofline", 1, "Cancelled; nothing was kept.");
  else
    options_fault("roofline", 1, &w->fault);
  return false;
}

static int measure(client *c, const struct args *a) {
  struct watch w;
  memset(&w, 0, sizeof w);
  struct err err;
  int id;
  if (!a->device) {
    id = client_hello(c, &err);
    if (id == 0)
      return options_fail("roofline", 1, err.text);
    if (!ended_well(session_wait(c, id, on_event, &w), CLIENT_HELLO, &w))
      return 1;
  } else
    snprintf(w.device, sizeof w.device, "%s", a->device);
  id = client_roofs(c, w.device, a->seconds, &err);
  if (id == 0)
    return options_fail("roofline", 1, err.text);
  if (!ended_well(session_wait(c, id, on_event, &w), CLIENT_ROOFS, &w))
    return 1;
  if (a->json)
    print_json(&w.roofs);
  else
    print_table(&w.roofs);
  return 0;
}

int roofline_main(int argc, char **argv) {
  struct args a;
  int code = read_args(argc, argv, &a);
  if (code != 0)
    return code;
  if (a.help)
    return fputs(help, stdout) < 0;
  session_signals();
  client *c = client_new(a.worker);
  code = measure(c, &a);
  client_free(c);
  return code;
}
