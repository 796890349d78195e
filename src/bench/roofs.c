#include "bench/roofs.h"

#include "base/clock.h"
#include "base/paths.h"
#include "bench/host.h"
#include "bench/measure.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COPY_COLS = 4096, PROBES = 2 };
#define GPU_ARRAY 1073741824.0
#define CPU_ARRAY_MIN 67108864.0
#define LONG_ARRAY 536870912.0 /* a copy of more takes so long that one probe must do */
#define CACHES 2.0 /* each of the two arrays: together four times the last cache */

struct probe {
  const struct device_ops *ops;
  device *d;
  const struct kernel *kernel;
  double seconds;
  struct device_fault *fault;
};

static bool fail(struct device_fault *f, const char *what, const char *why, const char *next) {
  memset(f, 0, sizeof *f);
  snprintf(f->code, sizeof f->code, "roofs");
  snprintf(f->what, sizeof f->what, "%s", what);
  snprintf(f->why, sizeof f->why, "%s", why);
  snprintf(f->next, sizeof f->next, "%s", next);
  return false;
}

/* By kind: a caller may have wrapped the table (the worker does, to stop between launches). */
static bool is_cuda(const struct device_ops *ops) { return !strcmp(ops->kind, "cuda"); }

/* ---- probing */

/* Bytes of one array of the copy: beyond the caches, within the memory; *capped if not beyond. */
static double copy_bytes(const struct device_ops *ops, const struct device_info *info,
                         bool *capped) {
  bool cuda = is_cuda(ops);
  double cache = isfinite(info->l2_bytes) ? CACHES * info->l2_bytes : 0;
  double want = fmax(cuda ? GPU_ARRAY : CPU_ARRAY_MIN, cache);
  double room = (cuda ? info->memory_bytes : host_memory_free()) / 8;
  *capped = room < want;
  return *capped ? room : want;
}

/* Measures the probe once; false with the fault if it is wrong or fails. */
static bool probe_once(const struct probe *p, int64_t M, int64_t N, struct result *r) {
  struct device_job job = {.kernel = p->kernel, .seed = 1, .threads = 1, .isa_auto = true};
  struct measure_plan plan = {.seconds = p->seconds, .warmup_s = fmin(1, p->seconds),
                              .prediction = NAN};
  job.size = kernel_size_default(p->kernel, M, N, 1);
  if (!measure_run(p->ops, p->d, &job, &plan, NULL, r, p->fault))
    return false;
  if (r->verify.ok)
    return true;
  fail(p->fault, "A roof could not be measured.", r->verify.note,
       "Run mmtutor doctor, and send its output with a report.");
  result_done(r);
  return false;
}

/* The best of n probes at these sizes. */
static bool probe_best(const struct probe *p, int64_t (*size)[2], int n, bool compute,
                       struct roof *roof) {
  roof->value = roof->spread = NAN;
  for (int i = 0; i < n; i++) {
    struct result r;
    if (!probe_once(p, size[i][0], size[i][1], &r))
      return false;
    double value = (compute ? r.gflops : r.gbs) * 1e9;
    if (!(roof->value >= value)) {
      roof->value = value;
      roof->spread = result_spread(&r);
    }
    result_done(&r);
  }
  return true;
}

static void name_roof(struct roof *roof, const char *name, const char *label, const char *unit,
                      const struct device_info *info, double theoretical) {
  snprintf(roof->name, sizeof roof->name, "%s", name);
  snprintf(roof->unit, sizeof roof->unit, "%s", unit);
  roof->theoretical = theoretical;
  if (info->threads > 0)
    snprintf(roof->label, sizeof roof->label, "%s, %d thread%s", label, info->threads,
             info->threads == 1 ? "" : "s");
  else
    snprintf(roof->label, sizeof roof->label, "%s", label);
}

static bool probe_copy(const struct probe *p, struct roofs *out) {
  bool capped;
  double bytes = copy_bytes(p->ops, &out->device, &capped), rows = bytes / (4.0 * COPY_COLS);
  int probes = bytes > LONG_ARRAY ? 1 : PROBES;
  int64_t m = rows >= 2 ? (int64_t)rows : 2;
  int64_t size[PROBES][2] = {{m, COPY_COLS}, {m / 2 + m / 4, COPY_COLS}};
  struct roof *roof = &out->roof[out->n];
  if (!probe_best(p, size, probes, false, roof))
    return false;
  p->ops->describe(p->d, &out->device);
  name_roof(roof, "dram", capped ? "copy, partly in cache" : "DRAM copy", "B/s", &out->device,
            out->device.peak_dram);
  out->n++;
  return true;
}

static bool probe_fma(const struct probe *p, struct roofs *out) {
  const struct device_info *info = &out->device;
  bool cuda = is_cuda(p->ops);
  double resident = info->sms * info->threads_sm;
  int64_t threads = isfinite(resident) ? (int64_t)resident : 262144;
  int64_t wide[PROBES][2] = {{threads, 16384}, {4 * threads, 8192}};
  int64_t narrow[PROBES][2] = {{1, 100000}, {16, 10000}};
  struct roof *roof = &out->roof[out->n];
  if (!probe_best(p, cuda ? wide : narrow, PROBES, true, roof))
    return false;
  p->ops->describe(p->d, &out->device);
  name_roof(roof, "fma", "FP32 FMA", "FLOP/s", &out->device, out->device.peak_fp32);
  out->n++;
  return true;
}

bool roofs_measure(const struct device_ops *ops, device *d, double seconds, struct roofs *out,
                   struct device_fault *fault) {
  const char *family = is_cuda(ops) ? "cuda" : "cpu";
  char copy[16], fma[16];
  snprintf(copy, sizeof copy, "%s/copy", family);
  snprintf(fma, sizeof fma, "%s/fma", family);
  memset(out, 0, sizeof *out);
  ops->describe(d, &out->device);
  clock_iso(out->date, sizeof out->date);
  catalog *all = catalog_new();
  struct probe p = {ops, d, catalog_find(all, copy), seconds / (2 * PROBES), fault};
  bool ok;
  if (!p.kernel || !catalog_find(all, fma)) {
    ok = fail(fault, "The roofs cannot be measured.", "The copy and fma kernels are missing.",
              "Reinstall mmtutor.");
  } else {
    ok = probe_copy(&p, out);
    p.kernel = catalog_find(all, fma);
    ok = ok && probe_fma(&p, out);
  }
  catalog_free(all);
  return ok;
}

const struct roof *roofs_find(const struct roofs *r, const char *name) {
  for (int i = 0; i < r->n; i++)
    if (!strcmp(r->roof[i].name, name))
      return &r->roof[i];
  return NULL;
}

/* ---- JSON */

cJSON *roofs_to_json(const struct roofs *r) {
  cJSON *obj = cJSON_CreateObject();
  json_put_num(obj, "schema", 1);
  cJSON_AddItemToObject(obj, "device", result_device_to_json(&r->device, true));
  cJSON_AddStringToObject(obj, "date", r->date);
  if (r->recorded)
    cJSON_AddBoolToObject(obj, "recorded", true);
  cJSON *list = cJSON_AddArrayToObject(obj, "roofs");
  for (int i = 0; i < r->n; i++) {
    const struct roof *roof = &r->roof[i];
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "name", roof->name);
    cJSON_AddStringToObject(o, "label", roof->label);
    cJSON_AddStringToObject(o, "unit", roof->unit);
    json_put_num(o, "value", roof->value);
    json_put_num(o, "spread", roof->spread);
    json_put_num(o, "theoretical", roof->theoretical);
    cJSON_AddItemToArray(list, o);
  }
  return obj;
}

static bool read_roof(const cJSON *obj, struct roof *roof, struct err *err) {
  const char *name = json_str(obj, "name"), *label = json_str(obj, "label");
  const char *unit = json_str(obj, "unit");
  if (!name || !unit || !*name)
    return err_set(err, "A roof must have a name and a unit.");
  snprintf(roof->name, sizeof roof->name, "%s", name);
  snprintf(roof->label, sizeof roof->label, "%s", label ? label : name);
  snprintf(roof->unit, sizeof roof->unit, "%s", unit);
  roof->value = json_num(obj, "value", NAN);
  roof->spread = json_num(obj, "spread", NAN);
  roof->theoretical = json_num(obj, "theoretical", NAN);
  if (roof->value <= 0)
    return err_set(err, "The roof %s must be above 0.", roof->name);
  return true;
}

bool roofs_from_json(const cJSON *obj, struct roofs *r, struct err *err) {
  memset(r, 0, sizeof *r);
  result_device_init(&r->device);
  if (!cJSON_IsObject(obj) || !(fabs(json_num(obj, "schema", 0) - 1) < 0.5))
    return err_set(err, "Roofs must be an object with schema 1.");
  const char *date = json_str(obj, "date");
  snprintf(r->date, sizeof r->date, "%s", date ? date : "");
  r->recorded = json_bool(obj, "recorded", false);
  result_device_from_json(json_get(obj, "device"), &r->device);
  const cJSON *list = json_get(obj, "roofs"), *o;
  if (!cJSON_IsArray(list))
    return err_set(err, "Roofs must have a list named roofs.");
  cJSON_ArrayForEach(o, list) {
    if (r->n < ROOFS_MAX && !read_roof(o, &r->roof[r->n++], err))
      return false;
  }
  return true;
}

/* ---- the cache */

/* roofs-cuda-0.json; the caller frees. NULL if there is no home. */
static char *cache_path(const char *device_id) {
  char name[64];
  snprintf(name, sizeof name, "roofs-%.32s.json", device_id);
  for (char *c = name; *c; c++)
    if (*c == ':' || *c == '/')
      *c = '-';
  return paths_cache(name);
}

bool roofs_load(const char *device_id, struct roofs *out) {
  char *path = cache_path(device_id);
  json_doc *doc = path ? json_load(path, 1 << 16, NULL) : NULL;
  bool ok = doc && roofs_from_json(json_root(doc), out, NULL);
  json_free(doc);
  free(path);
  return ok;
}

void roofs_save(const struct roofs *r) {
  char *path = cache_path(r->device.id);
  if (!path)
    return;
  cJSON *obj = roofs_to_json(r);
  char *text = json_print(obj);
  /* A cache that cannot be written is measured again next time. */
  (void)paths_write(path, text, strlen(text), NULL);
  free(text);
  cJSON_Delete(obj);
  free(path);
}
