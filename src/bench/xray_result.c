#include "bench/xray_result.h"

#include "base/alloc.h"
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 20000 }; /* of what another machine sends */

static const struct {
  const char *key;
  size_t at;
} counters[] = {
    {"gld_requests", offsetof(struct xray_counts, gld_requests)},
    {"gld_sectors", offsetof(struct xray_counts, gld_sectors)},
    {"gld_wavefronts", offsetof(struct xray_counts, gld_wavefronts)},
    {"gst_requests", offsetof(struct xray_counts, gst_requests)},
    {"gst_sectors", offsetof(struct xray_counts, gst_sectors)},
    {"gst_wavefronts", offsetof(struct xray_counts, gst_wavefronts)},
    {"lds_requests", offsetof(struct xray_counts, lds_requests)},
    {"lds_wavefronts", offsetof(struct xray_counts, lds_wavefronts)},
    {"lds_conflicts", offsetof(struct xray_counts, lds_conflicts)},
    {"sts_requests", offsetof(struct xray_counts, sts_requests)},
    {"sts_wavefronts", offsetof(struct xray_counts, sts_wavefronts)},
    {"sts_conflicts", offsetof(struct xray_counts, sts_conflicts)},
    {"ffma", offsetof(struct xray_counts, ffma)},
    {"fadd", offsetof(struct xray_counts, fadd)},
    {"fmul", offsetof(struct xray_counts, fmul)},
    {"other_flop", offsetof(struct xray_counts, other_flop)},
    {"warp_instructions", offsetof(struct xray_counts, warp_instructions)},
    {"barriers", offsetof(struct xray_counts, barriers)},
    {"divergent_branches", offsetof(struct xray_counts, divergent_branches)},
};
enum { COUNTERS = sizeof counters / sizeof *counters };

bool xray_result_lds_differ(const struct xray_result *r) {
  return r->certificate == XRAY_PTX_LEVEL &&
         memcmp(r->mix.lds, r->sass.lds, sizeof r->mix.lds) != 0;
}

const char *xray_result_count_name(int i) {
  return i >= 0 && i < COUNTERS ? counters[i].key : NULL;
}

double xray_result_count(const struct xray_counts *c, int i) {
  double v;
  memcpy(&v, (const char *)c + counters[i].at, sizeof v);
  return v;
}

static const char *const certificates[] = {"", "exact", "ptx_level"};

const char *xray_result_certificate_name(enum xray_certificate c) { return certificates[c]; }

/* ---- lifetime */

void xray_result_init(struct xray_result *r) {
  memset(r, 0, sizeof *r);
  result_init(&r->head);
  r->registers = r->shared_bytes = r->spill_bytes = r->blocks_per_sm = -1;
  r->occupancy = r->compile_ms = r->run_ms = r->flop_executed = NAN;
}

void xray_result_done(struct xray_result *r) {
  for (int i = 0; i < r->nlines; i++) {
    free(r->lines[i].file);
    free(r->lines[i].text);
  }
  for (int i = 0; i < r->nleft; i++) {
    free(r->left[i].name);
    free(r->left[i].why);
  }
  free(r->lines);
  free(r->left);
  free(r->problems);
  free(r->print);
  result_done(&r->head);
  xray_result_init(r);
}

void xray_result_copy(struct xray_result *to, const struct xray_result *from) {
  *to = *from;
  result_copy(&to->head, &from->head);
  to->print = from->print ? alloc_str(from->print) : NULL;
  to->problems = alloc_zero((size_t)from->nproblems, sizeof *to->problems);
  if (from->nproblems > 0)
    memcpy(to->problems, from->problems, (size_t)from->nproblems * sizeof *to->problems);
  to->lines = alloc_zero((size_t)from->nlines, sizeof *to->lines);
  for (int i = 0; i < from->nlines; i++) {
    to->lines[i] = from->lines[i];
    to->lines[i].file = alloc_str(from->lines[i].file);
    to->lines[i].text = alloc_str(from->lines[i].text);
  }
  to->left = alloc_zero((size_t)from->nleft, sizeof *to->left);
  for (int i = 0; i < from->nleft; i++) {
    to->left[i].line = from->left[i].line;
    to->left[i].name = alloc_str(from->left[i].name);
    to->left[i].why = alloc_str(from->left[i].why);
  }
}

/* ---- JSON out */

static void put_text(cJSON *o, const char *key, const char *text) {
  if (text && text[0])
    cJSON_AddStringToObject(o, key, text);
}

static void put_known(cJSON *o, const char *key, int value) {
  if (value >= 0)
    cJSON_AddNumberToObject(o, key, value);
}

static void put_three(cJSON *o, const char *key, const int64_t v[3]) {
  cJSON *list = cJSON_AddArrayToObject(o, key);
  for (int i = 0; i < 3; i++)
    cJSON_AddItemToArray(list, cJSON_CreateNumber((double)v[i]));
}

/* All of them for the launch; for a line those that are not 0. */
static void put_counts(cJSON *o, const struct xray_counts *c, bool all) {
  for (int i = 0; i < COUNTERS; i++) {
    double v = xray_result_count(c, i);
    if (all || v > 0)
      json_put_num(o, counters[i].key, v);
  }
}

static const struct {
  const char *key;
  size_t at;
} mix_rows[] = {
    {"lds", offsetof(struct xray_mix, lds)},
    {"sts", offsetof(struct xray_mix, sts)},
    {"ldg", offsetof(struct xray_mix, ldg)},
    {"stg", offsetof(struct xray_mix, stg)},
};
enum { MIX_ROWS = sizeof mix_rows / sizeof *mix_rows };

static void put_mix(cJSON *o, const char *key, const struct xray_mix *m) {
  cJSON *mix = cJSON_AddObjectToObject(o, key);
  for (int i = 0; i < MIX_ROWS; i++) {
    int v[XRAY_WIDTHS];
    memcpy(v, (const char *)m + mix_rows[i].at, sizeof v);
    cJSON_AddItemToObject(mix, mix_rows[i].key, cJSON_CreateIntArray(v, XRAY_WIDTHS));
  }
  cJSON_AddNumberToObject(mix, "ffma", m->ffma);
}

static void put_problem(cJSON *list, const struct xray_problem *p) {
  cJSON *o = cJSON_CreateObject();
  cJSON_AddStringToObject(o, "kind", xray_kind_name(p->kind));
  cJSON_AddStringToObject(o, "severity", p->error ? "error" : "warning");
  put_text(o, "file", p->file);
  if (p->line > 0)
    cJSON_AddNumberToObject(o, "line", p->line);
  put_three(o, "block", p->block);
  put_three(o, "thread", p->thread);
  cJSON_AddStringToObject(o, "detail", p->detail);
  cJSON_AddNumberToObject(o, "times", (double)p->times);
  cJSON_AddItemToArray(list, o);
}

static void put_line(cJSON *list, const struct xray_result_line *l) {
  cJSON *o = cJSON_CreateObject();
  put_text(o, "file", l->file);
  cJSON_AddNumberToObject(o, "line", l->line);
  put_text(o, "text", l->text);
  if (l->counted)
    cJSON_AddTrueToObject(o, "counted");
  put_counts(o, &l->counts, false);
  cJSON_AddItemToArray(list, o);
}

static void put_left(cJSON *list, const struct xray_result_left *l) {
  cJSON *o = cJSON_CreateObject();
  cJSON_AddNumberToObject(o, "line", l->line);
  put_text(o, "name", l->name);
  cJSON_AddStringToObject(o, "why", l->why);
  cJSON_AddItemToArray(list, o);
}

static void put_launch(cJSON *o, const struct xray_result *r) {
  put_text(o, "entry", r->entry);
  put_text(o, "op", r->op);
  put_text(o, "dtype", r->dtype);
  put_text(o, "args", r->args);
  if (r->args_guessed)
    cJSON_AddTrueToObject(o, "args_guessed");
  put_text(o, "arch", r->arch);
  put_text(o, "compiler", r->compiler);
  put_three(o, "grid", r->grid);
  put_three(o, "block", r->block);
  cJSON_AddNumberToObject(o, "smem", (double)r->smem);
  cJSON_AddBoolToObject(o, "finished", r->finished);
  cJSON_AddBoolToObject(o, "sampled", r->sampled);
  cJSON_AddNumberToObject(o, "blocks", (double)r->blocks);
  cJSON_AddNumberToObject(o, "blocks_executed", (double)r->blocks_executed);
}

static void put_resources(cJSON *o, const struct xray_result *r) {
  put_known(o, "registers", r->registers);
  put_known(o, "shared_bytes", r->shared_bytes);
  put_known(o, "spill_bytes", r->spill_bytes);
  json_put_num(o, "occupancy", r->occupancy);
  put_known(o, "blocks_per_sm", r->blocks_per_sm);
  put_text(o, "occupancy_limit", r->occupancy_limit);
  json_put_num(o, "compile_ms", r->compile_ms);
  json_put_num(o, "run_ms", r->run_ms);
  if (r->certificate == XRAY_NOT_CERTIFIED)
    return;
  cJSON *c = cJSON_AddObjectToObject(o, "certificate");
  cJSON_AddStringToObject(c, "level", certificates[r->certificate]);
  put_mix(c, "machine", &r->mix);
  put_mix(c, "sass", &r->sass);
}

cJSON *xray_result_to_json(const struct xray_result *r) {
  cJSON *o = result_to_json(&r->head);
  if (!r->verified)
    cJSON_DeleteItemFromObject(o, "verify");
  put_launch(o, r);
  put_counts(o, &r->counts, true);
  json_put_num(o, "flop_executed", r->flop_executed);
  put_resources(o, r);
  cJSON *problems = cJSON_AddArrayToObject(o, "problems");
  for (int i = 0; i < r->nproblems; i++)
    put_problem(problems, &r->problems[i]);
  cJSON *lines = cJSON_AddArrayToObject(o, "lines");
  for (int i = 0; i < r->nlines; i++)
    put_line(lines, &r->lines[i]);
  cJSON *left = cJSON_AddArrayToObject(o, "left_out");
  for (int i = 0; i < r->nleft; i++)
    put_left(left, &r->left[i]);
  put_text(o, "print", r->print);
  return o;
}

/* ---- JSON in */

static void get_text(const cJSON *o, const char *key, char *out, size_t size) {
  const char *s = json_str(o, key);
  snprintf(out, size, "%s", s ? s : "");
}

static int get_known(const cJSON *o, const char *key) {
  double v = json_num(o, key, -1);
  return v >= 0 && v <= 2147483647.0 ? (int)v : -1;
}

static int64_t get_large(const cJSON *o, const char *key) {
  double v = json_num(o, key, 0);
  return v >= 0 && v <= 9007199254740992.0 ? (int64_t)v : 0;
}

static void get_three(const cJSON *o, const char *key, int64_t v[3]) {
  const cJSON *list = json_get(o, key), *each;
  int n = 0;
  cJSON_ArrayForEach(each, list) if (n < 3 && cJSON_IsNumber(each) &&
                                     fabs(each->valuedouble) <= 9007199254740992.0) v[n++] =
      (int64_t)each->valuedouble;
}

static void get_counts(const cJSON *o, struct xray_counts *c) {
  for (int i = 0; i < COUNTERS; i++) {
    double v = json_num(o, counters[i].key, 0);
    memcpy((char *)c + counters[i].at, &v, sizeof v);
  }
}

static void get_mix(const cJSON *o, struct xray_mix *m) {
  for (int i = 0; i < MIX_ROWS; i++) {
    int v[XRAY_WIDTHS] = {0}, n = 0;
    const cJSON *each;
    cJSON_ArrayForEach(each, json_get(o, mix_rows[i].key)) if (n < XRAY_WIDTHS) v[n++] =
        each->valueint;
    memcpy((char *)m + mix_rows[i].at, v, sizeof v);
  }
  m->ffma = get_known(o, "ffma");
}

static void get_certificate(const cJSON *o, struct xray_result *r) {
  const cJSON *c = json_get(o, "certificate");
  const char *level = json_str(c, "level");
  for (int i = 1; level && i < (int)(sizeof certificates / sizeof *certificates); i++)
    if (strcmp(level, certificates[i]) == 0)
      r->certificate = (enum xray_certificate)i;
  get_mix(json_get(c, "machine"), &r->mix);
  get_mix(json_get(c, "sass"), &r->sass);
}

/* False for a kind that this version does not know. */
static bool get_problem(const cJSON *o, struct xray_problem *p) {
  const char *kind = json_str(o, "kind"), *severity = json_str(o, "severity");
  int k = 0;
  while (k < XRAY_KINDS && (!kind || strcmp(kind, xray_kind_name((enum xray_kind)k)) != 0))
    k++;
  if (k == XRAY_KINDS)
    return false;
  *p = (struct xray_problem){.kind = (enum xray_kind)k,
                             .error = !severity || strcmp(severity, "warning") != 0,
                             .line = get_known(o, "line") > 0 ? get_known(o, "line") : 0,
                             .times = get_large(o, "times")};
  get_text(o, "file", p->file, sizeof p->file);
  get_text(o, "detail", p->detail, sizeof p->detail);
  get_three(o, "block", p->block);
  get_three(o, "thread", p->thread);
  return true;
}

static int list_size(const cJSON *list) {
  int n = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
  return n > LIST_MAX ? LIST_MAX : n;
}

static bool get_problems(const cJSON *o, struct xray_result *r, struct err *err) {
  const cJSON *list = json_get(o, "problems"), *each;
  int n = list_size(list);
  r->problems = alloc_zero((size_t)n, sizeof *r->problems);
  cJSON_ArrayForEach(each, list) {
    if (r->nproblems == n)
      break;
    if (!get_problem(each, &r->problems[r->nproblems++]))
      return err_set(err, "A problem is of a kind that this version does not know. Install the "
                          "same mmtutor on both machines.");
  }
  return true;
}

static void get_lines(const cJSON *o, struct xray_result *r) {
  const cJSON *list = json_get(o, "lines"), *each;
  int n = list_size(list);
  r->lines = alloc_zero((size_t)n, sizeof *r->lines);
  cJSON_ArrayForEach(each, list) {
    if (r->nlines == n)
      break;
    struct xray_result_line *l = &r->lines[r->nlines++];
    l->file = alloc_str(json_str(each, "file"));
    l->text = alloc_str(json_str(each, "text"));
    l->line = get_known(each, "line") > 0 ? get_known(each, "line") : 0;
    l->counted = json_bool(each, "counted", false);
    get_counts(each, &l->counts);
  }
}

static void get_left(const cJSON *o, struct xray_result *r) {
  const cJSON *list = json_get(o, "left_out"), *each;
  int n = list_size(list);
  r->left = alloc_zero((size_t)n, sizeof *r->left);
  cJSON_ArrayForEach(each, list) {
    if (r->nleft == n)
      break;
    struct xray_result_left *l = &r->left[r->nleft++];
    l->line = get_known(each, "line") > 0 ? get_known(each, "line") : 0;
    l->name = alloc_str(json_str(each, "name"));
    l->why = alloc_str(json_str(each, "why"));
  }
}

static void get_launch(const cJSON *o, struct xray_result *r) {
  get_text(o, "entry", r->entry, sizeof r->entry);
  get_text(o, "op", r->op, sizeof r->op);
  get_text(o, "dtype", r->dtype, sizeof r->dtype);
  get_text(o, "args", r->args, sizeof r->args);
  r->args_guessed = json_bool(o, "args_guessed", false);
  get_text(o, "arch", r->arch, sizeof r->arch);
  get_text(o, "compiler", r->compiler, sizeof r->compiler);
  get_three(o, "grid", r->grid);
  get_three(o, "block", r->block);
  r->smem = get_large(o, "smem");
  r->finished = json_bool(o, "finished", false);
  r->sampled = json_bool(o, "sampled", false);
  r->blocks = get_large(o, "blocks");
  r->blocks_executed = get_large(o, "blocks_executed");
  r->flop_executed = json_num(o, "flop_executed", NAN);
  r->registers = get_known(o, "registers");
  r->shared_bytes = get_known(o, "shared_bytes");
  r->spill_bytes = get_known(o, "spill_bytes");
  r->occupancy = json_num(o, "occupancy", NAN);
  r->blocks_per_sm = get_known(o, "blocks_per_sm");
  get_text(o, "occupancy_limit", r->occupancy_limit, sizeof r->occupancy_limit);
  r->compile_ms = json_num(o, "compile_ms", NAN);
  r->run_ms = json_num(o, "run_ms", NAN);
}

bool xray_result_from_json(const cJSON *obj, struct xray_result *r, struct err *err) {
  xray_result_init(r);
  if (!result_from_json(obj, &r->head, err) || !get_problems(obj, r, err)) {
    xray_result_done(r);
    return false;
  }
  r->verified = cJSON_IsObject(json_get(obj, "verify"));
  get_launch(obj, r);
  get_counts(obj, &r->counts);
  get_certificate(obj, r);
  get_lines(obj, r);
  get_left(obj, r);
  const char *print = json_str(obj, "print");
  r->print = print ? alloc_str(print) : NULL;
  return true;
}
