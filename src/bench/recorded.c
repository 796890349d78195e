#include "bench/recorded.h"

#include "base/alloc.h"
#include "base/json.h"
#include "base/paths.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct recorded {
  struct device_info device;
  struct roofs roofs;
  char date[24];
  struct result *run;
  int n;
};

static bool read_head(const json_doc *doc, const cJSON *root, recorded *rec, struct err *err) {
  struct err why = {""};
  if (!cJSON_IsObject(root) || !(fabs(json_num(root, "schema", 0) - 1) < 0.5))
    return json_fail(doc, root, err, "a record must be an object with schema 1");
  result_device_from_json(json_get(root, "device"), &rec->device);
  if (!rec->device.name[0])
    return json_fail(doc, root, err, "a record must name its device");
  const char *date = json_str(root, "date");
  snprintf(rec->date, sizeof rec->date, "%s", date ? date : "");
  const cJSON *roofs = json_get(root, "roofs");
  result_device_init(&rec->roofs.device);
  if (roofs && !roofs_from_json(roofs, &rec->roofs, &why))
    return json_fail(doc, roofs, err, "%s", why.text);
  rec->roofs.recorded = true;
  if (!rec->roofs.device.name[0])
    rec->roofs.device = rec->device;
  return true;
}

static bool read_runs(const json_doc *doc, const cJSON *root, recorded *rec, struct err *err) {
  struct err why = {""};
  const cJSON *runs = json_get(root, "runs"), *o;
  if (!cJSON_IsArray(runs))
    return json_fail(doc, root, err, "a record must have a list named runs");
  rec->run = alloc_zero((size_t)cJSON_GetArraySize(runs) + 1, sizeof *rec->run);
  cJSON_ArrayForEach(o, runs) {
    if (!result_from_json(o, &rec->run[rec->n], &why))
      return json_fail(doc, o, err, "%s", why.text);
    rec->n++;
  }
  return true;
}

recorded *recorded_load(const char *name, struct err *err) {
  char path[96];
  size_t n;
  snprintf(path, sizeof path, "assets/recorded/%.60s.json", name);
  char *text = paths_asset(path, &n, err);
  if (!text)
    return NULL;
  json_doc *doc = json_parse(text, n, path, 0, err);
  free(text);
  if (!doc)
    return NULL;
  recorded *rec = alloc_zero(1, sizeof *rec);
  const cJSON *root = json_root(doc);
  if (!read_head(doc, root, rec, err) || !read_runs(doc, root, rec, err)) {
    recorded_free(rec);
    rec = NULL;
  }
  json_free(doc);
  return rec;
}

void recorded_free(recorded *rec) {
  for (int i = 0; rec && i < rec->n; i++)
    result_done(&rec->run[i]);
  if (rec)
    free(rec->run);
  free(rec);
}

const char *recorded_card(const recorded *rec) { return rec->device.name; }
const char *recorded_date(const recorded *rec) { return rec->date; }
const struct device_info *recorded_device(const recorded *rec) { return &rec->device; }
const struct roofs *recorded_roofs(const recorded *rec) { return &rec->roofs; }
int recorded_count(const recorded *rec) { return rec->n; }

const struct result *recorded_at(const recorded *rec, int i) {
  return i >= 0 && i < rec->n ? &rec->run[i] : NULL;
}

/* Results name their parameters; the sizes asked for give them in front-matter order. */
static bool same_params(const struct result *r, const struct kernel_size *params) {
  for (int i = 0; i < r->nparams; i++)
    if (fabs(r->params[i].value - params->param[i]) > 0)
      return false;
  return true;
}

const struct result *recorded_find(const recorded *rec, const char *kernel, int64_t M, int64_t N,
                                   int64_t K, const struct kernel_size *params) {
  for (int i = 0; i < rec->n; i++) {
    const struct result *r = &rec->run[i];
    if (r->M == M && r->N == N && r->K == K && !strcmp(r->kernel, kernel) &&
        (!params || same_params(r, params)))
      return r;
  }
  return NULL;
}
