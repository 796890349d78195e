#include "bench/wire.h"

#include "base/alloc.h"
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double LARGEST = 2147483647;

static bool whole(double x, double min, double max) {
  return x >= min && x <= max && floor(x) == x;
}

bool wire_want_whole(const cJSON *obj, const char *key, double min, double max, double fallback,
                     double *out, struct err *err) {
  const cJSON *v = json_get(obj, key);
  *out = fallback;
  if ((!v || cJSON_IsNull(v)) && !isnan(fallback))
    return true;
  if (!v || !cJSON_IsNumber(v) || !whole(v->valuedouble, min, max))
    return err_set(err, "\"%s\" must be a whole number from %.0f to %.0f.", key, min, max);
  *out = v->valuedouble;
  return true;
}

bool wire_want_number(const cJSON *obj, const char *key, double min, double max, double fallback,
                      double *out, struct err *err) {
  const cJSON *v = json_get(obj, key);
  *out = fallback;
  if (!v || cJSON_IsNull(v))
    return true;
  if (!cJSON_IsNumber(v) || !(v->valuedouble >= min && v->valuedouble <= max))
    return err_set(err, "\"%s\" must be a number from %g to %g.", key, min, max);
  *out = v->valuedouble;
  return true;
}

bool wire_want_bool(const cJSON *obj, const char *key, bool fallback, bool *out, struct err *err) {
  const cJSON *v = json_get(obj, key);
  *out = fallback;
  if (!v || cJSON_IsNull(v))
    return true;
  if (!cJSON_IsBool(v))
    return err_set(err, "\"%s\" must be true or false.", key);
  *out = cJSON_IsTrue(v);
  return true;
}

bool wire_want_text(const cJSON *obj, const char *key, bool needed, const char **out,
                    struct err *err) {
  const cJSON *v = json_get(obj, key);
  *out = NULL;
  if ((!v || cJSON_IsNull(v)) && !needed)
    return true;
  if (!v || !cJSON_IsString(v))
    return err_set(err, "\"%s\" must be a string.", key);
  *out = v->valuestring;
  return true;
}

bool wire_request(const cJSON *line, struct wire_request *r, struct err *err) {
  *r = (struct wire_request){0};
  if (!cJSON_IsObject(line))
    return err_set(err, "A request is a JSON object on one line.");
  double id, of, v;
  if (!wire_want_whole(line, "id", 1, LARGEST, NAN, &id, err))
    return false;
  r->id = (int)id;
  if (!wire_want_text(line, "req", true, &r->req, err) ||
      !wire_want_bool(line, "tools", false, &r->tools, err))
    return false;
  bool hello = strcmp(r->req, "hello") == 0;
  if (!wire_want_whole(line, "v", 0, LARGEST, hello ? NAN : WIRE_VERSION, &v, err))
    return false;
  if ((int)v != WIRE_VERSION)
    return err_set(err,
                   "This worker speaks version %d of the protocol, the request is of version %.0f. "
                   "Install the same mmtutor on both machines.",
                   WIRE_VERSION, v);
  bool cancel = strcmp(r->req, "cancel") == 0;
  if (!wire_want_whole(line, "of", 1, LARGEST, cancel ? NAN : 0, &of, err))
    return false;
  r->of = (int)of;
  return true;
}

static bool read_isa(const cJSON *line, struct wire_run *run, struct err *err) {
  const char *text;
  if (!wire_want_text(line, "isa", false, &text, err))
    return false;
  run->isa_auto = !text || strcmp(text, "auto") == 0;
  run->isa = ISA_PLAIN;
  if (run->isa_auto)
    return true;
  for (int i = 0; i < ISA_COUNT; i++)
    if (strcmp(text, catalog_isa_name((enum catalog_isa)i)) == 0) {
      run->isa = (enum catalog_isa)i;
      return true;
    }
  return err_set(err, "\"isa\" must be auto, plain, avx2 or avx512.");
}

static bool read_cache(const cJSON *line, struct wire_run *run, struct err *err) {
  const char *text;
  if (!wire_want_text(line, "cache", false, &text, err))
    return false;
  run->cold = text && strcmp(text, "cold") == 0;
  if (text && !run->cold && strcmp(text, "hot") != 0)
    return err_set(err, "\"cache\" must be hot or cold.");
  return true;
}

static bool read_params(const cJSON *line, struct wire_run *run, struct err *err) {
  const cJSON *p = json_get(line, "params"), *each;
  run->params = NULL;
  if (!p || cJSON_IsNull(p))
    return true;
  if (!cJSON_IsObject(p))
    return err_set(err, "\"params\" must be an object of numbers.");
  cJSON_ArrayForEach(each, p) if (!cJSON_IsNumber(each)) return err_set(
      err, "The parameter \"%s\" must be a number.", each->string);
  run->params = p;
  return true;
}

bool wire_run_read(const cJSON *line, struct wire_run *run, struct err *err) {
  *run = (struct wire_run){0};
  double m, n, k, threads, seed;
  if (!wire_want_text(line, "device", true, &run->device, err) ||
      !wire_want_text(line, "kernel", true, &run->kernel, err) ||
      !wire_want_text(line, "source", false, &run->source, err) ||
      !wire_want_text(line, "target", false, &run->target, err) || !read_params(line, run, err) ||
      !wire_want_whole(line, "M", 1, LARGEST, NAN, &m, err) ||
      !wire_want_whole(line, "N", 1, LARGEST, NAN, &n, err) ||
      !wire_want_whole(line, "K", 1, LARGEST, NAN, &k, err) ||
      !wire_want_number(line, "seconds", 0, 3600, 2, &run->seconds, err) ||
      !wire_want_number(line, "warmup", 0, 60, 0, &run->warmup_s, err) ||
      !wire_want_number(line, "prediction", -1e300, 1e300, NAN, &run->prediction, err) ||
      !wire_want_bool(line, "reference", false, &run->reference, err) ||
      !wire_want_bool(line, "counters", false, &run->counters, err) ||
      !read_cache(line, run, err) || !wire_want_whole(line, "threads", 0, 4096, 0, &threads, err) ||
      !read_isa(line, run, err) ||
      !wire_want_whole(line, "seed", 0, 9007199254740991.0, 1, &seed, err))
    return false;
  if (run->target && strcmp(run->target, "cuda") != 0 && strcmp(run->target, "cpu") != 0)
    return err_set(err, "\"target\" must be cuda or cpu.");
  run->M = (int64_t)m;
  run->N = (int64_t)n;
  run->K = (int64_t)k;
  run->threads = (int)threads;
  run->seed = (uint64_t)seed;
  return true;
}

cJSON *wire_run_make(int id, const struct client_run *run) {
  cJSON *o = cJSON_CreateObject();
  cJSON_AddNumberToObject(o, "id", id);
  cJSON_AddStringToObject(o, "req", "run");
  cJSON_AddStringToObject(o, "device", run->device);
  cJSON_AddStringToObject(o, "kernel", run->kernel);
  const struct kernel *k = run->params_of;
  if (run->source) {
    cJSON_AddStringToObject(o, "source", run->source);
    if (k)
      cJSON_AddStringToObject(o, "target", k->target == KERNEL_CUDA ? "cuda" : "cpu");
  }
  cJSON *params = cJSON_AddObjectToObject(o, "params");
  for (int i = 0; k && i < k->nparams; i++)
    cJSON_AddNumberToObject(params, k->params[i].name, run->size.param[i]);
  cJSON_AddNumberToObject(o, "M", (double)run->size.M);
  cJSON_AddNumberToObject(o, "N", (double)run->size.N);
  cJSON_AddNumberToObject(o, "K", (double)run->size.K);
  cJSON_AddNumberToObject(o, "seconds", run->seconds);
  if (run->warmup_s > 0)
    cJSON_AddNumberToObject(o, "warmup", run->warmup_s);
  json_put_num(o, "prediction", run->prediction);
  cJSON_AddBoolToObject(o, "reference", run->reference);
  cJSON_AddStringToObject(o, "cache", run->cold ? "cold" : "hot");
  cJSON_AddNumberToObject(o, "threads", run->threads);
  cJSON_AddStringToObject(o, "isa", run->isa ? run->isa : "auto");
  cJSON_AddNumberToObject(o, "seed", (double)run->seed);
  return o;
}

cJSON *wire_event(int id, const char *ev) {
  cJSON *o = cJSON_CreateObject();
  cJSON_AddNumberToObject(o, "id", id);
  cJSON_AddStringToObject(o, "ev", ev);
  return o;
}

void wire_merge(cJSON *to, cJSON *from) {
  while (from && from->child) {
    cJSON *item = cJSON_DetachItemViaPointer(from, from->child);
    char *key = alloc_str(item->string);
    cJSON_AddItemToObject(to, key, item);
    free(key);
  }
  cJSON_Delete(from);
}

/* ---- events */
void wire_built_put(cJSON *ev, const struct device_built *b) {
  json_put_num(ev, "ms", b->compile_ms);
  cJSON_AddBoolToObject(ev, "cached", b->cached);
  if (b->log && b->log[0])
    cJSON_AddStringToObject(ev, "log", b->log);
  if (b->registers >= 0)
    cJSON_AddNumberToObject(ev, "registers", b->registers);
  if (b->shared_bytes >= 0)
    cJSON_AddNumberToObject(ev, "shared", b->shared_bytes);
  if (b->spill_bytes >= 0)
    cJSON_AddNumberToObject(ev, "spills", b->spill_bytes);
  json_put_num(ev, "transfer_in_ms", b->transfer_in_ms);
}

static int small_whole(const cJSON *obj, const char *key) {
  double v = json_num(obj, key, -1);
  return whole(v, 0, LARGEST) ? (int)v : -1;
}

void wire_built_read(const cJSON *ev, struct device_built *b) {
  const char *log = json_str(ev, "log");
  *b = (struct device_built){.compile_ms = json_num(ev, "ms", NAN),
                             .cached = json_bool(ev, "cached", false),
                             .registers = small_whole(ev, "registers"),
                             .shared_bytes = small_whole(ev, "shared"),
                             .spill_bytes = small_whole(ev, "spills"),
                             .log = log ? alloc_str(log) : NULL,
                             .transfer_in_ms = json_num(ev, "transfer_in_ms", NAN)};
}

void wire_verify_put(cJSON *ev, const struct result_verify *v) {
  cJSON_AddBoolToObject(ev, "ok", v->ok);
  json_put_num(ev, "max_error", v->max_error);
  json_put_num(ev, "bound", v->bound);
  json_put_num(ev, "checked", v->checked);
  if (v->note[0])
    cJSON_AddStringToObject(ev, "note", v->note);
}

void wire_verify_read(const cJSON *ev, struct result_verify *v) {
  const char *note = json_str(ev, "note");
  *v = (struct result_verify){.ok = json_bool(ev, "ok", false),
                              .max_error = json_num(ev, "max_error", NAN),
                              .bound = json_num(ev, "bound", NAN),
                              .checked = json_num(ev, "checked", NAN)};
  snprintf(v->note, sizeof v->note, "%s", note ? note : "");
}

void wire_fault_put(cJSON *ev, const struct device_fault *f) {
  cJSON_AddStringToObject(ev, "code", f->code);
  cJSON_AddStringToObject(ev, "what", f->what);
  cJSON_AddStringToObject(ev, "why", f->why);
  cJSON_AddStringToObject(ev, "next", f->next);
}

/* Clips on a character's boundary. */
static void copy(char *out, size_t size, const char *s) {
  size_t n = s ? strlen(s) : 0;
  if (n >= size)
    for (n = size - 1; n > 0 && ((unsigned char)s[n] & 0xC0) == 0x80;)
      n--;
  memcpy(out, s ? s : "", n);
  out[n] = '\0';
}

void wire_fault_read(const cJSON *ev, struct device_fault *f) {
  wire_fault_set(f, json_str(ev, "code"), json_str(ev, "what"), json_str(ev, "why"),
                 json_str(ev, "next"));
}

void wire_fault_set(struct device_fault *f, const char *code, const char *what, const char *why,
                    const char *next) {
  copy(f->code, sizeof f->code, code);
  copy(f->what, sizeof f->what, what);
  copy(f->why, sizeof f->why, why);
  copy(f->next, sizeof f->next, next);
}
