#include "kernels/front.h"

#include "base/alloc.h"
#include "base/str.h"
#include "kernels/front_launch.h"
#include "kernels/front_read.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool front_find(const char *source, size_t n, struct front_span *span) {
  static const char opening[] = "/* mmtutor";
  size_t at = 0;
  while (at < n && isspace((unsigned char)source[at]))
    at++;
  if (n - at < sizeof opening || memcmp(source + at, opening, sizeof opening - 1) != 0)
    return false;
  at += sizeof opening - 1;
  span->json = at;
  for (; at + 1 < n; at++)
    if (source[at] == '*' && source[at + 1] == '/') {
      span->json_end = at;
      span->end = at + 2;
      return true;
    }
  return false;
}

json_doc *front_json(const char *source, size_t n, const char *path, struct err *err) {
  struct front_span span;
  if (!front_find(source, n, &span)) {
    err_set(err,
            "%s:1: the file does not begin with front matter. Its first comment must be "
            "'/* mmtutor { ... } */'; docs/contracts.md, section 1, has an example",
            path);
    return NULL;
  }
  char *text = alloc_strn(source, span.json_end);
  for (size_t i = 0; i < span.json; i++) // blanks instead of a line offset
    if (text[i] != '\n')
      text[i] = ' ';
  json_doc *doc = json_parse(text, span.json_end, path, 0, err);
  free(text);
  if (doc && !cJSON_IsObject(json_root(doc))) {
    json_fail(doc, json_root(doc), err, "the front matter must be a JSON object");
    json_free(doc);
    return NULL;
  }
  return doc;
}

/* ---- the parts */

static bool read_id(const struct front_reader *r, const cJSON *root) {
  const char *id = front_read_string(r, root, "id");
  if (!id)
    return false;
  const char *target = r->k->target == KERNEL_CUDA ? "cuda/" : "cpu/";
  size_t n = strlen(target);
  if (strncmp(id, target, n) != 0 || !front_read_is_name(id + n, 48, ""))
    return json_fail(r->doc, json_get(root, "id"), r->err,
                     "\"id\" must be %s and a name of letters, digits and _, at most 48", target);
  r->k->id = alloc_str(id);
  if (r->k->target == KERNEL_CPU)
    r->k->entry = alloc_printf("cpu_%s", id + n);
  return true;
}

static bool read_op(const struct front_reader *r, const cJSON *root) {
  const char *op = front_read_string(r, root, "op");
  if (!op)
    return false;
  for (int i = 0; i < OP_COUNT; i++)
    if (!strcmp(op, kernel_op_name((enum kernel_op)i))) {
      r->k->op = (enum kernel_op)i;
      return true;
    }
  return json_fail(r->doc, json_get(root, "op"), r->err,
                   "unknown op \"%s\"; known are gemm, gemv, add, copy, reduce, transpose, fma, "
                   "chase and other",
                   op);
}

static bool read_dtype(const struct front_reader *r, const cJSON *root) {
  static const char *const keys[] = {"A", "B", "C", "acc", NULL};
  enum kernel_dtype *const to[] = {&r->k->a, &r->k->b, &r->k->c, &r->k->acc};
  const cJSON *obj = json_get(root, "dtype");
  if (!obj)
    return json_fail(r->doc, root, r->err, "\"dtype\" is missing");
  if (!front_read_only(r, obj, "\"dtype\"", keys))
    return false;
  for (int i = 0; keys[i]; i++) {
    const cJSON *node = json_get(obj, keys[i]);
    int t = 0;
    if (node && !cJSON_IsString(node))
      return json_fail(r->doc, node, r->err, "\"%s\" must be a type's name", keys[i]);
    while (node && t < DT_COUNT &&
           strcmp(node->valuestring, kernel_dtype_name((enum kernel_dtype)t)))
      t++;
    if (t == DT_COUNT)
      return json_fail(r->doc, node, r->err, "unknown type \"%s\"; known are f32, bf16, f16, f64",
                       node->valuestring);
    *to[i] = (enum kernel_dtype)t;
  }
  return true;
}

static bool read_layout(const struct front_reader *r, const cJSON *root) {
  static const char *const keys[] = {"A", "B", "C", NULL};
  bool *const to[] = {&r->k->a_col, &r->k->b_col, &r->k->c_col};
  const cJSON *obj = json_get(root, "layout");
  if (!obj)
    return true;
  if (!front_read_only(r, obj, "\"layout\"", keys))
    return false;
  for (int i = 0; keys[i]; i++) {
    const cJSON *node = json_get(obj, keys[i]);
    if (node && (!cJSON_IsString(node) ||
                 (strcmp(node->valuestring, "row") && strcmp(node->valuestring, "col"))))
      return json_fail(r->doc, node, r->err, "a layout is \"row\" or \"col\"");
    *to[i] = node && !strcmp(node->valuestring, "col");
  }
  return true;
}

static bool read_param(const struct front_reader *r, const cJSON *node) {
  static const char *const keys[] = {"values", "default", NULL};
  static const char *const taken[] = {"M", "N", "K", "A", "B", "C", "W", "sms", "smem_sm", NULL};
  struct kernel *k = r->k;
  if (k->nparams == MM_PARAMS)
    return json_fail(r->doc, node, r->err, "more than %d parameters", MM_PARAMS);
  struct kernel_param *p = &k->params[k->nparams];
  if (!front_read_is_name(node->string, sizeof p->name - 1, "") ||
      front_read_in_list(node->string, taken))
    return json_fail(r->doc, node, r->err, "\"%s\" cannot be a parameter's name", node->string);
  if (!front_read_only(r, node, "a parameter", keys))
    return false;
  strcpy(p->name, node->string);
  const cJSON *values = json_get(node, "values");
  const int max = (int)(sizeof p->values / sizeof *p->values);
  int n = cJSON_IsArray(values) ? cJSON_GetArraySize(values) : 0;
  if (n < 1 || n > max)
    return json_fail(r->doc, values ? values : node, r->err,
                     "\"values\" must be an array of 1 to %d numbers", max);
  for (const cJSON *v = values->child; v; v = v->next) {
    if (!front_read_whole(v, 0, 2147483647))
      return json_fail(r->doc, v, r->err, "a parameter's value is a whole number from 0");
    p->values[p->nvalues++] = v->valuedouble;
  }
  p->fallback = json_num(node, "default", NAN);
  bool found = false;
  for (int i = 0; i < p->nvalues; i++)
    found = found || p->values[i] == p->fallback;
  if (!found)
    return json_fail(r->doc, node, r->err, "the \"default\" of %s must be one of its values",
                     p->name);
  k->nparams++;
  return true;
}

static bool read_params(const struct front_reader *r, const cJSON *root) {
  const cJSON *obj = json_get(root, "params");
  if (!obj)
    return true;
  if (!cJSON_IsObject(obj))
    return json_fail(r->doc, obj, r->err, "\"params\" must be a JSON object");
  for (const cJSON *m = obj->child; m; m = m->next)
    if (!read_param(r, m))
      return false;
  return true;
}

static bool apply_variant(const struct front_reader *r, const cJSON *node, bool chosen) {
  static const char *const keys[] = {"flags", "define", NULL};
  struct kernel *k = r->k;
  if (!front_read_is_name(node->string, 24, ""))
    return json_fail(r->doc, node, r->err, "\"%s\" cannot be a variant's name", node->string);
  if (!front_read_only(r, node, "a variant", keys))
    return false;
  char **flags = NULL;
  int nflags = 0;
  bool ok = front_read_strings(r, json_get(node, "flags"), "flags", &flags, &nflags);
  const cJSON *define = json_get(node, "define");
  if (ok && define && !cJSON_IsObject(define))
    ok = json_fail(r->doc, define, r->err, "\"define\" must be a JSON object");
  for (const cJSON *m = ok && define ? define->child : NULL; ok && m; m = m->next)
    if (!cJSON_IsString(m) || !front_read_is_name(m->string, 32, ""))
      ok = json_fail(r->doc, m, r->err, "\"define\" maps a name to a string");
  if (ok && chosen) {
    k->flags = flags;
    k->nflags = nflags;
    k->defines = alloc_zero((size_t)cJSON_GetArraySize(define) + 1, sizeof *k->defines);
    for (const cJSON *m = define ? define->child : NULL; m; m = m->next)
      k->defines[k->ndefines++] = alloc_printf("%s=%s", m->string, m->valuestring);
    return true;
  }
  for (int i = 0; i < nflags; i++)
    free(flags[i]);
  free(flags);
  return ok;
}

static bool read_variants(const struct front_reader *r, const cJSON *root, const char *variant) {
  const cJSON *obj = json_get(root, "variants");
  bool found = !variant || !*variant;
  struct str all = {0};
  bool ok = !obj || cJSON_IsObject(obj) ||
            json_fail(r->doc, obj, r->err, "\"variants\" must be a JSON object");
  for (const cJSON *m = ok && obj ? obj->child : NULL; ok && m; m = m->next) {
    bool chosen = !found && !strcmp(m->string, variant);
    ok = apply_variant(r, m, chosen);
    found = found || chosen;
    str_addf(&all, "%s%s", all.len ? ", " : "", m->string);
  }
  if (ok && !found)
    ok = json_fail(r->doc, obj ? obj : root, r->err, "there is no variant '%s'; the file has %s",
                   variant, all.len ? all.data : "none");
  str_free(&all);
  if (ok && variant && *variant) {
    struct kernel *k = r->k;
    char *id = alloc_printf("%s@%s", k->id, variant);
    free(k->id);
    k->id = id;
    k->variant = alloc_str(variant);
  }
  return ok;
}

static bool read_requires(const struct front_reader *r, const cJSON *root) {
  struct kernel *k = r->k;
  const cJSON *list = json_get(root, "requires");
  if (!list)
    return true;
  if (!cJSON_IsArray(list))
    return json_fail(r->doc, list, r->err, "\"requires\" must be an array of expressions");
  k->requires = alloc_zero((size_t)cJSON_GetArraySize(list) + 1, sizeof *k->requires);
  for (const cJSON *m = list->child; m; m = m->next) {
    k->nrequires++;
    if (!front_read_expr(r, m, "requires", &k->requires[k->nrequires - 1]))
      return false;
  }
  return true;
}

/* "7.5" -> 7.5; null or absent -> 0. */
static bool read_capability(const struct front_reader *r, const cJSON *obj, const char *key,
                            double *out) {
  const cJSON *node = json_get(obj, key);
  if (!node || cJSON_IsNull(node))
    return true;
  const char *s = cJSON_IsString(node) ? node->valuestring : "";
  size_t major = strspn(s, "0123456789");
  if (major < 1 || major > 2 || s[major] != '.' || !isdigit((unsigned char)s[major + 1]) ||
      s[major + 2])
    return json_fail(r->doc, node, r->err, "\"%s\" must be a compute capability such as \"7.5\"",
                     key);
  int whole_part = 0;
  for (size_t i = 0; i < major; i++)
    whole_part = whole_part * 10 + (s[i] - '0');
  *out = whole_part + (s[major + 1] - '0') / 10.0;
  return true;
}

static bool read_cc(const struct front_reader *r, const cJSON *root) {
  static const char *const keys[] = {"min", "max", "suffix", NULL};
  const cJSON *obj = json_get(root, "cc");
  if (!obj)
    return true;
  if (!front_read_only(r, obj, "\"cc\"", keys) || !read_capability(r, obj, "min", &r->k->cc_min) ||
      !read_capability(r, obj, "max", &r->k->cc_max))
    return false;
  const cJSON *suffix = json_get(obj, "suffix");
  if (!suffix)
    return true;
  if (!cJSON_IsString(suffix) || (*suffix->valuestring && strcmp(suffix->valuestring, "a") &&
                                  strcmp(suffix->valuestring, "f")))
    return json_fail(r->doc, suffix, r->err, "\"suffix\" is \"\", \"a\" or \"f\"");
  strcpy(r->k->cc_suffix, suffix->valuestring);
  return true;
}

/* ---- the rest */

static bool read_expr_key(const struct front_reader *r, const cJSON *obj, const char *key,
                          char **out) {
  const cJSON *node = json_get(obj, key);
  return !node || front_read_expr(r, node, key, out);
}

static bool read_tile(const struct front_reader *r, const cJSON *root) {
  static const char *const keys[] = {"BM", "BN", "BK", "TM", "TN", "stages", NULL};
  static const char *const numbers[] = {"TM", "TN", "stages"};
  struct kernel *k = r->k;
  int *const to[] = {&k->tile_tm, &k->tile_tn, &k->tile_stages};
  const cJSON *obj = json_get(root, "tile");
  if (!obj)
    return true;
  if (!front_read_only(r, obj, "\"tile\"", keys) || !read_expr_key(r, obj, "BM", &k->tile_bm) ||
      !read_expr_key(r, obj, "BN", &k->tile_bn) || !read_expr_key(r, obj, "BK", &k->tile_bk))
    return false;
  if (!k->tile_bm || !k->tile_bn || !k->tile_bk)
    return json_fail(r->doc, obj, r->err, "\"tile\" needs BM, BN and BK");
  for (int i = 0; i < 3; i++) {
    const cJSON *node = json_get(obj, numbers[i]);
    if (node && !front_read_whole(node, 1, 1024))
      return json_fail(r->doc, node, r->err, "\"%s\" must be a whole number from 1", numbers[i]);
    *to[i] = node ? (int)node->valuedouble : 1;
  }
  return true;
}

static bool read_traffic(const struct front_reader *r, const cJSON *root) {
  static const char *const keys[] = {"requested", "dram_min", "wavefronts", NULL};
  const cJSON *obj = json_get(root, "traffic");
  return read_expr_key(r, root, "flop", &r->k->flop) &&
         read_expr_key(r, root, "workspace", &r->k->workspace) &&
         (!obj || (front_read_only(r, obj, "\"traffic\"", keys) &&
                   read_expr_key(r, obj, "requested", &r->k->requested) &&
                   read_expr_key(r, obj, "dram_min", &r->k->dram_min) &&
                   read_expr_key(r, obj, "wavefronts", &r->k->wavefronts)));
}

static bool read_flag(const struct front_reader *r, const cJSON *root, const char *key,
                      bool fallback, bool *out) {
  const cJSON *node = json_get(root, key);
  *out = node ? cJSON_IsTrue(node) : fallback;
  return !node || cJSON_IsBool(node) ||
         json_fail(r->doc, node, r->err, "\"%s\" must be true or false", key);
}

static bool read_text(const struct front_reader *r, const cJSON *root, const char *key,
                      char *out[2]) {
  static const char *const keys[] = {"en", "zh", NULL};
  const cJSON *obj = json_get(root, key);
  if (!obj)
    return true;
  if (!front_read_only(r, obj, key, keys))
    return false;
  for (int i = 0; keys[i]; i++) {
    const char *s = front_read_string(r, obj, keys[i]);
    if (!s)
      return false;
    out[i] = alloc_str(s);
  }
  return true;
}

static bool check_top(const struct front_reader *r, const cJSON *root) {
  static const char *const cuda[] = {"schema", "id",       "op",        "dtype", "layout",
                                     "params", "variants", "requires",  "cc",    "launches",
                                     "maps",   "tile",     "traffic",   "flop",  "deterministic",
                                     "idea",   "limit",    "workspace", NULL};
  static const char *const cpu[] = {"schema", "id",        "op",       "dtype",         "layout",
                                    "params", "variants",  "requires", "isa",           "parallel",
                                    "tile",   "traffic",   "flop",     "deterministic", "idea",
                                    "limit",  "workspace", NULL};
  bool on_cpu = r->k->target == KERNEL_CPU;
  const char *what = on_cpu ? "the front matter of a CPU kernel" : "the front matter";
  if (!front_read_only(r, root, what, on_cpu ? cpu : cuda))
    return false;
  const cJSON *schema = json_get(root, "schema");
  if (!schema || !cJSON_IsNumber(schema) || schema->valuedouble != 1)
    return json_fail(r->doc, schema ? schema : root, r->err,
                     "\"schema\" must be 1, the version that this program reads");
  return true;
}

bool front_fill(struct kernel *k, const json_doc *doc, const char *variant, struct err *err) {
  struct front_reader reader = {k, doc, err};
  const struct front_reader *r = &reader;
  const cJSON *root = json_root(doc);
  return check_top(r, root) && read_id(r, root) && read_op(r, root) && read_dtype(r, root) &&
         read_layout(r, root) && read_params(r, root) && read_variants(r, root, variant) &&
         read_requires(r, root) && read_cc(r, root) && front_launch_read(r, root) &&
         read_tile(r, root) && read_traffic(r, root) &&
         front_read_strings(r, json_get(root, "isa"), "isa", &k->isa, &k->nisa) &&
         read_flag(r, root, "parallel", false, &k->parallel) &&
         read_flag(r, root, "deterministic", true, &k->deterministic) &&
         read_text(r, root, "idea", k->idea) && read_text(r, root, "limit", k->limit);
}
