#include "bench/result.h"

#include "base/alloc.h"
#include "base/str.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_INTEGER 9007199254740992.0 /* 2^53 */

static void device_unknown(struct device_info *d) {
  memset(d, 0, sizeof *d);
  d->sms = d->clock_hz = d->smem_sm = d->smem_block = d->l2_bytes = NAN;
  d->regs_sm = d->threads_sm = d->memory_bytes = NAN;
  d->peak_fp32 = d->peak_dram = d->bus_bits = d->mem_clock_hz = NAN;
}

void result_device_init(struct device_info *d) { device_unknown(d); }

void result_init(struct result *r) {
  memset(r, 0, sizeof *r);
  device_unknown(&r->device);
  r->flop = r->requested = r->dram_min = NAN;
  r->verify.max_error = r->verify.bound = r->verify.checked = NAN;
  r->transfer_in_ms = r->transfer_out_ms = NAN;
  r->median_ms = r->p10_ms = r->p90_ms = r->overhead_ms = NAN;
  r->gflops = r->gbs = NAN;
  r->roof.value = r->roof.share = NAN;
  r->reference.median_ms = r->reference.gflops = r->reference.ratio = NAN;
  r->prediction = r->clock_mhz = r->power_w = NAN;
  r->throttled = -1;
}

void result_done(struct result *r) {
  free(r->samples_ms);
  for (int i = 0; i < r->nwarnings; i++)
    free(r->warnings[i]);
  free(r->warnings);
  result_init(r);
}

void result_copy(struct result *to, const struct result *from) {
  *to = *from;
  to->samples_ms = NULL;
  if (from->nsamples > 0) {
    to->samples_ms = alloc_zero((size_t)from->nsamples, sizeof *to->samples_ms);
    memcpy(to->samples_ms, from->samples_ms, (size_t)from->nsamples * sizeof *to->samples_ms);
  }
  to->warnings = NULL;
  if (from->nwarnings > 0)
    to->warnings = alloc_zero((size_t)from->nwarnings, sizeof *to->warnings);
  for (int i = 0; i < from->nwarnings; i++)
    to->warnings[i] = alloc_str(from->warnings[i]);
}

static void add_warning(struct result *r, char *text) {
  r->warnings = alloc_grow(r->warnings, (size_t)r->nwarnings + 1, sizeof *r->warnings);
  r->warnings[r->nwarnings++] = text;
}

void result_warn(struct result *r, const char *fmt, ...) {
  char text[1024];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  add_warning(r, alloc_str(text));
}

/* ---- statistics */

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double result_quantile(const double *v, int n, double q) {
  if (n < 1)
    return NAN;
  double *s = alloc_zero((size_t)n, sizeof *s);
  memcpy(s, v, (size_t)n * sizeof *s);
  qsort(s, (size_t)n, sizeof *s, ascending);
  double at = q * (n - 1);
  int i = (int)at;
  double value = i + 1 < n ? s[i] + (at - i) * (s[i + 1] - s[i]) : s[n - 1];
  free(s);
  return value;
}

void result_statistics(struct result *r) {
  r->median_ms = result_quantile(r->samples_ms, r->nsamples, 0.5);
  r->p10_ms = result_quantile(r->samples_ms, r->nsamples, 0.1);
  r->p90_ms = result_quantile(r->samples_ms, r->nsamples, 0.9);
  r->gflops = r->gbs = NAN;
  if (r->median_ms > 0) {
    r->gflops = r->flop > 0 ? r->flop / r->median_ms / 1e6 : NAN; /* a copy computes nothing */
    r->gbs = r->dram_min / r->median_ms / 1e6;
  }
}

double result_spread(const struct result *r) {
  return r->median_ms > 0 ? (r->p90_ms - r->p10_ms) / r->median_ms : NAN;
}

/* ---- JSON out */

static void put_text(cJSON *obj, const char *key, const char *text) {
  if (text[0])
    cJSON_AddStringToObject(obj, key, text);
}

/* The numbers of a device in the order of the struct; one table for both directions. */
static const struct {
  const char *key;
  size_t at;
} device_numbers[] = {
    {"sms", offsetof(struct device_info, sms)},
    {"clock_hz", offsetof(struct device_info, clock_hz)},
    {"smem_sm", offsetof(struct device_info, smem_sm)},
    {"smem_block", offsetof(struct device_info, smem_block)},
    {"l2_bytes", offsetof(struct device_info, l2_bytes)},
    {"regs_sm", offsetof(struct device_info, regs_sm)},
    {"threads_sm", offsetof(struct device_info, threads_sm)},
    {"memory_bytes", offsetof(struct device_info, memory_bytes)},
    {"peak_fp32", offsetof(struct device_info, peak_fp32)},
    {"peak_dram", offsetof(struct device_info, peak_dram)},
    {"bus_bits", offsetof(struct device_info, bus_bits)},
    {"mem_clock_hz", offsetof(struct device_info, mem_clock_hz)},
};
enum { DEVICE_NUMBERS = sizeof device_numbers / sizeof *device_numbers };

cJSON *result_device_to_json(const struct device_info *d, bool full) {
  cJSON *obj = cJSON_CreateObject();
  put_text(obj, "id", d->id);
  put_text(obj, "name", d->name);
  put_text(obj, "cc", d->cc);
  put_text(obj, "driver", d->driver);
  put_text(obj, "compiler", d->compiler);
  if (d->threads > 0)
    json_put_num(obj, "threads", d->threads);
  put_text(obj, "isa", d->isa);
  for (int i = 0; full && i < DEVICE_NUMBERS; i++) {
    double v;
    memcpy(&v, (const char *)d + device_numbers[i].at, sizeof v);
    json_put_num(obj, device_numbers[i].key, v);
  }
  return obj;
}

static void put_verify(cJSON *obj, const struct result_verify *v) {
  cJSON *o = cJSON_AddObjectToObject(obj, "verify");
  cJSON_AddBoolToObject(o, "ok", v->ok);
  json_put_num(o, "max_error", v->max_error);
  json_put_num(o, "bound", v->bound);
  json_put_num(o, "checked", v->checked);
  put_text(o, "note", v->note);
}

static void put_head(cJSON *obj, const struct result *r) {
  json_put_num(obj, "schema", 1);
  cJSON_AddStringToObject(obj, "kernel", r->kernel);
  cJSON *params = cJSON_AddObjectToObject(obj, "params");
  for (int i = 0; i < r->nparams; i++)
    json_put_num(params, r->params[i].name, r->params[i].value);
  cJSON_AddItemToObject(obj, "device", result_device_to_json(&r->device, false));
  json_put_num(obj, "M", (double)r->M);
  json_put_num(obj, "N", (double)r->N);
  json_put_num(obj, "K", (double)r->K);
  json_put_num(obj, "flop", r->flop);
  cJSON *bytes = cJSON_AddObjectToObject(obj, "bytes");
  json_put_num(bytes, "requested", r->requested);
  json_put_num(bytes, "dram_min", r->dram_min);
  put_verify(obj, &r->verify);
}

static void put_times(cJSON *obj, const struct result *r) {
  if (r->nsamples > 0) {
    cJSON_AddItemToObject(obj, "samples_ms", cJSON_CreateDoubleArray(r->samples_ms, r->nsamples));
    json_put_num(obj, "launches_per_sample", r->launches_per_sample);
  }
  if (isfinite(r->transfer_in_ms) || isfinite(r->transfer_out_ms)) {
    cJSON *t = cJSON_AddObjectToObject(obj, "transfer_ms");
    json_put_num(t, "in", r->transfer_in_ms);
    json_put_num(t, "out", r->transfer_out_ms);
  }
  json_put_num(obj, "median_ms", r->median_ms);
  json_put_num(obj, "p10_ms", r->p10_ms);
  json_put_num(obj, "p90_ms", r->p90_ms);
  json_put_num(obj, "overhead_ms", r->overhead_ms);
  json_put_num(obj, "gflops", r->gflops);
  json_put_num(obj, "gbs", r->gbs);
}

static void put_roof_and_reference(cJSON *obj, const struct result *r) {
  if (r->roof.name[0]) {
    cJSON *o = cJSON_AddObjectToObject(obj, "roof");
    cJSON_AddStringToObject(o, "name", r->roof.name);
    json_put_num(o, "value", r->roof.value);
    put_text(o, "unit", r->roof.unit);
    json_put_num(o, "share", r->roof.share);
  }
  if (r->reference.name[0]) {
    cJSON *o = cJSON_AddObjectToObject(obj, "reference");
    cJSON_AddStringToObject(o, "name", r->reference.name);
    put_text(o, "version", r->reference.version);
    json_put_num(o, "median_ms", r->reference.median_ms);
    json_put_num(o, "gflops", r->reference.gflops);
    json_put_num(o, "ratio", r->reference.ratio);
  }
}

/* A seed above 2^53 would lose bits as a JSON number. */
static void put_seed(cJSON *obj, uint64_t seed) {
  char text[24];
  snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
  if ((double)seed <= EXACT_INTEGER)
    json_put_num(obj, "seed", (double)seed);
  else
    cJSON_AddStringToObject(obj, "seed", text);
}

cJSON *result_to_json(const struct result *r) {
  cJSON *obj = cJSON_CreateObject();
  put_head(obj, r);
  put_times(obj, r);
  put_roof_and_reference(obj, r);
  json_put_num(obj, "prediction", r->prediction);
  json_put_num(obj, "clock_mhz", r->clock_mhz);
  json_put_num(obj, "power_w", r->power_w);
  if (r->throttled >= 0)
    cJSON_AddBoolToObject(obj, "throttled", r->throttled);
  put_text(obj, "cache", r->cache);
  put_text(obj, "date", r->date);
  put_text(obj, "version", r->version);
  put_text(obj, "kernel_sha256", r->kernel_sha256);
  put_seed(obj, r->seed);
  cJSON *w = cJSON_AddArrayToObject(obj, "warnings");
  for (int i = 0; i < r->nwarnings; i++)
    cJSON_AddItemToArray(w, cJSON_CreateString(r->warnings[i]));
  return obj;
}

/* ---- JSON in */

static void get_text(const cJSON *obj, const char *key, char *out, size_t size) {
  const char *s = json_str(obj, key);
  snprintf(out, size, "%s", s ? s : "");
}

static int get_int(const cJSON *obj, const char *key, double limit) {
  double v = json_num(obj, key, 0);
  return v >= 0 && v <= limit ? (int)v : 0;
}

void result_device_from_json(const cJSON *obj, struct device_info *d) {
  device_unknown(d);
  get_text(obj, "id", d->id, sizeof d->id);
  get_text(obj, "name", d->name, sizeof d->name);
  get_text(obj, "cc", d->cc, sizeof d->cc);
  get_text(obj, "driver", d->driver, sizeof d->driver);
  get_text(obj, "compiler", d->compiler, sizeof d->compiler);
  get_text(obj, "isa", d->isa, sizeof d->isa);
  d->threads = get_int(obj, "threads", 1e6);
  for (int i = 0; i < DEVICE_NUMBERS; i++) {
    double v = json_num(obj, device_numbers[i].key, NAN);
    memcpy((char *)d + device_numbers[i].at, &v, sizeof v);
  }
}

static bool get_size(const cJSON *obj, const char *key, int64_t *out, struct err *err) {
  double v = json_num(obj, key, NAN);
  if (!(v >= 1 && v <= 2147483647.0 && v == floor(v)))
    return err_set(err, "A result's %s must be a whole number from 1 to 2147483647.", key);
  *out = (int64_t)v;
  return true;
}

static bool get_head(const cJSON *obj, struct result *r, struct err *err) {
  if (!cJSON_IsObject(obj))
    return err_set(err, "A result must be a JSON object.");
  if (!(fabs(json_num(obj, "schema", 0) - 1) < 0.5))
    return err_set(err, "This result has another schema than 1; a newer mmtutor may read it.");
  const char *kernel = json_str(obj, "kernel");
  if (!kernel || !*kernel)
    return err_set(err, "A result must name its kernel.");
  get_text(obj, "kernel", r->kernel, sizeof r->kernel);
  return get_size(obj, "M", &r->M, err) && get_size(obj, "N", &r->N, err) &&
         get_size(obj, "K", &r->K, err);
}

static void get_params(const cJSON *obj, struct result *r) {
  const cJSON *params = json_get(obj, "params"), *p;
  cJSON_ArrayForEach(p, params) {
    if (r->nparams == MM_PARAMS || !cJSON_IsNumber(p) || !p->string)
      continue;
    snprintf(r->params[r->nparams].name, sizeof r->params->name, "%s", p->string);
    r->params[r->nparams++].value = p->valuedouble;
  }
}

static bool get_samples(const cJSON *obj, struct result *r, struct err *err) {
  const cJSON *list = json_get(obj, "samples_ms"), *s;
  if (!list)
    return true;
  if (!cJSON_IsArray(list))
    return err_set(err, "samples_ms must be a list of numbers.");
  r->samples_ms = alloc_zero((size_t)cJSON_GetArraySize(list) + 1, sizeof *r->samples_ms);
  cJSON_ArrayForEach(s, list) {
    if (!cJSON_IsNumber(s) || !(s->valuedouble >= 0))
      return err_set(err, "samples_ms must be a list of numbers that are not negative.");
    r->samples_ms[r->nsamples++] = s->valuedouble;
  }
  r->launches_per_sample = get_int(obj, "launches_per_sample", 1e9);
  return true;
}

static void get_verify(const cJSON *obj, struct result_verify *v) {
  const cJSON *o = json_get(obj, "verify");
  v->ok = json_bool(o, "ok", false);
  v->max_error = json_num(o, "max_error", NAN);
  v->bound = json_num(o, "bound", NAN);
  v->checked = json_num(o, "checked", NAN);
  get_text(o, "note", v->note, sizeof v->note);
}

static void get_numbers(const cJSON *obj, struct result *r) {
  const cJSON *bytes = json_get(obj, "bytes"), *t = json_get(obj, "transfer_ms");
  r->flop = json_num(obj, "flop", NAN);
  r->requested = json_num(bytes, "requested", NAN);
  r->dram_min = json_num(bytes, "dram_min", NAN);
  r->transfer_in_ms = json_num(t, "in", NAN);
  r->transfer_out_ms = json_num(t, "out", NAN);
  r->median_ms = json_num(obj, "median_ms", NAN);
  r->p10_ms = json_num(obj, "p10_ms", NAN);
  r->p90_ms = json_num(obj, "p90_ms", NAN);
  r->overhead_ms = json_num(obj, "overhead_ms", NAN);
  r->gflops = json_num(obj, "gflops", NAN);
  r->gbs = json_num(obj, "gbs", NAN);
  r->prediction = json_num(obj, "prediction", NAN);
  r->clock_mhz = json_num(obj, "clock_mhz", NAN);
  r->power_w = json_num(obj, "power_w", NAN);
  const cJSON *throttled = json_get(obj, "throttled");
  r->throttled = cJSON_IsBool(throttled) ? cJSON_IsTrue(throttled) : -1;
}

static void get_roof_and_reference(const cJSON *obj, struct result *r) {
  const cJSON *roof = json_get(obj, "roof"), *ref = json_get(obj, "reference");
  get_text(roof, "name", r->roof.name, sizeof r->roof.name);
  get_text(roof, "unit", r->roof.unit, sizeof r->roof.unit);
  r->roof.value = json_num(roof, "value", NAN);
  r->roof.share = json_num(roof, "share", NAN);
  get_text(ref, "name", r->reference.name, sizeof r->reference.name);
  get_text(ref, "version", r->reference.version, sizeof r->reference.version);
  r->reference.median_ms = json_num(ref, "median_ms", NAN);
  r->reference.gflops = json_num(ref, "gflops", NAN);
  r->reference.ratio = json_num(ref, "ratio", NAN);
}

static uint64_t get_seed(const cJSON *obj) {
  const char *text = json_str(obj, "seed");
  if (text)
    return strtoull(text, NULL, 10);
  double v = json_num(obj, "seed", 0);
  return v >= 0 && v <= EXACT_INTEGER ? (uint64_t)v : 0;
}

bool result_from_json(const cJSON *obj, struct result *r, struct err *err) {
  result_init(r);
  if (!get_head(obj, r, err) || !get_samples(obj, r, err)) {
    result_done(r);
    return false;
  }
  get_params(obj, r);
  result_device_from_json(json_get(obj, "device"), &r->device);
  get_verify(obj, &r->verify);
  get_numbers(obj, r);
  get_roof_and_reference(obj, r);
  get_text(obj, "cache", r->cache, sizeof r->cache);
  get_text(obj, "date", r->date, sizeof r->date);
  get_text(obj, "version", r->version, sizeof r->version);
  get_text(obj, "kernel_sha256", r->kernel_sha256, sizeof r->kernel_sha256);
  r->seed = get_seed(obj);
  const cJSON *warnings = json_get(obj, "warnings"), *w;
  cJSON_ArrayForEach(w, warnings) {
    if (cJSON_IsString(w))
      add_warning(r, alloc_str(w->valuestring));
  }
  return true;
}
