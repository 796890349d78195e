#include "bench/xray_request.h"

#include "bench/wire.h"
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const double LARGEST = 2147483647;
static const char *const layout_keys[3] = {"A", "B", "C"};

/* The texts, in the order of the struct; one table for both directions. */
static const struct {
  const char *key;
  size_t at;
} texts[] = {
    {"kernel", offsetof(struct xray_request, kernel)},
    {"source", offsetof(struct xray_request, source)},
    {"dir", offsetof(struct xray_request, dir)},
    {"entry", offsetof(struct xray_request, entry)},
    {"grid", offsetof(struct xray_request, grid)},
    {"block", offsetof(struct xray_request, block)},
    {"smem", offsetof(struct xray_request, smem)},
    {"args", offsetof(struct xray_request, args)},
    {"dtype", offsetof(struct xray_request, dtype)},
    {"op", offsetof(struct xray_request, op)},
    {"arch", offsetof(struct xray_request, arch)},
};
enum { TEXTS = sizeof texts / sizeof *texts };

static bool one_of(const char *key, const char *text, const char *const *list, struct err *err) {
  char all[96] = "";
  for (int i = 0; list[i]; i++) {
    if (!text || strcmp(text, list[i]) == 0)
      return true;
    size_t n = strlen(all);
    snprintf(all + n, sizeof all - n, "%s%s", i ? ", " : "", list[i]);
  }
  return err_set(err, "\"%s\" must be one of %s.", key, all);
}

static bool read_texts(const cJSON *line, struct xray_request *q, struct err *err) {
  for (int i = 0; i < TEXTS; i++) {
    const char *text;
    if (!wire_want_text(line, texts[i].key, i == 0, &text, err))
      return false;
    memcpy((char *)q + texts[i].at, &text, sizeof text);
  }
  static const char *const ops[] = {"gemm",   "gemv",      "add",  "copy",
                                    "reduce", "transpose", "none", NULL};
  static const char *const dtypes[] = {"f32", "f64", "f16", "bf16", NULL};
  return one_of("op", q->op, ops, err) && one_of("dtype", q->dtype, dtypes, err);
}

static bool read_layout(const cJSON *line, struct xray_request *q, struct err *err) {
  static const char *const orders[] = {"row", "col", NULL};
  const cJSON *o = json_get(line, "layout");
  if (o && !cJSON_IsObject(o))
    return err_set(err, "\"layout\" must be an object such as {\"A\":\"col\"}.");
  for (int i = 0; i < 3; i++)
    if (!wire_want_text(o, layout_keys[i], false, &q->layout[i], err) ||
        !one_of(layout_keys[i], q->layout[i], orders, err))
      return false;
  return true;
}

static bool read_defines(const cJSON *line, struct xray_request *q, struct err *err) {
  const cJSON *list = json_get(line, "defines"), *d;
  if (list && !cJSON_IsArray(list))
    return err_set(err, "\"defines\" must be a list of texts such as \"T=16\".");
  cJSON_ArrayForEach(d, list) {
    if (!cJSON_IsString(d))
      return err_set(err, "\"defines\" must be a list of texts such as \"T=16\".");
    if (q->ndefines == XRAY_REQUEST_DEFINES)
      return err_set(err, "At most %d defines can be given.", XRAY_REQUEST_DEFINES);
    q->defines[q->ndefines++] = d->valuestring;
  }
  return true;
}

static bool read_trace(const cJSON *line, struct xray_request *q, struct err *err) {
  const cJSON *list = json_get(line, "trace"), *v;
  if (!list)
    return true;
  int n = 0;
  q->trace = true;
  if (cJSON_IsArray(list) && cJSON_GetArraySize(list) <= 3)
    cJSON_ArrayForEach(v, list) {
      if (!cJSON_IsNumber(v) || !(v->valuedouble >= 0 && v->valuedouble <= LARGEST))
        break;
      q->trace_block[n++] = (int64_t)v->valuedouble;
    }
  return n == 3 || err_set(err, "\"trace\" must be the three indices of a block.");
}

bool xray_request_read(const cJSON *line, struct xray_request *q, struct err *err) {
  *q = (struct xray_request){0};
  double m, n, k, seed;
  if (!read_texts(line, q, err) || !read_layout(line, q, err) || !read_defines(line, q, err) ||
      !read_trace(line, q, err) || !wire_want_whole(line, "M", 1, LARGEST, 0, &m, err) ||
      !wire_want_whole(line, "N", 1, LARGEST, 0, &n, err) ||
      !wire_want_whole(line, "K", 1, LARGEST, 0, &k, err) ||
      !wire_want_bool(line, "sample", false, &q->sample, err) ||
      !wire_want_bool(line, "no_checks", false, &q->no_checks, err) ||
      !wire_want_number(line, "seconds", 0, 3600, 0, &q->seconds, err) ||
      !wire_want_whole(line, "seed", 0, 9007199254740991.0, 1, &seed, err))
    return false;
  q->M = (int64_t)m;
  q->N = (int64_t)n;
  q->K = (int64_t)k;
  q->seed = (uint64_t)seed;
  return true;
}

static void put_size(cJSON *o, const char *key, int64_t value) {
  if (value != 0)
    cJSON_AddNumberToObject(o, key, (double)value);
}

static void put_flag(cJSON *o, const char *key, bool value) {
  if (value)
    cJSON_AddTrueToObject(o, key);
}

static void put_lists(cJSON *o, const struct xray_request *q) {
  cJSON *layout = NULL;
  for (int i = 0; i < 3; i++)
    if (q->layout[i]) {
      layout = layout ? layout : cJSON_AddObjectToObject(o, "layout");
      cJSON_AddStringToObject(layout, layout_keys[i], q->layout[i]);
    }
  if (q->ndefines > 0)
    cJSON_AddItemToObject(o, "defines", cJSON_CreateStringArray(q->defines, q->ndefines));
  if (!q->trace)
    return;
  cJSON *block = cJSON_AddArrayToObject(o, "trace");
  for (int i = 0; i < 3; i++)
    cJSON_AddItemToArray(block, cJSON_CreateNumber((double)q->trace_block[i]));
}

cJSON *xray_request_make(int id, const struct xray_request *q) {
  cJSON *o = cJSON_CreateObject();
  cJSON_AddNumberToObject(o, "id", id);
  cJSON_AddStringToObject(o, "req", "xray");
  for (int i = 0; i < TEXTS; i++) {
    const char *text;
    memcpy(&text, (const char *)q + texts[i].at, sizeof text);
    if (text)
      cJSON_AddStringToObject(o, texts[i].key, text);
  }
  put_size(o, "M", q->M);
  put_size(o, "N", q->N);
  put_size(o, "K", q->K);
  put_lists(o, q);
  put_flag(o, "sample", q->sample);
  put_flag(o, "no_checks", q->no_checks);
  put_size(o, "seed", (int64_t)q->seed);
  if (q->seconds > 0)
    cJSON_AddNumberToObject(o, "seconds", q->seconds);
  return o;
}
