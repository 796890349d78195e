#include "kernels/front_read.h"

#include "base/alloc.h"
#include "base/expr.h"
#include "base/str.h"
#include <ctype.h>
#include <math.h>
#include <string.h>

bool front_read_is_name(const char *s, size_t max, const char *extra) {
  size_t n = strlen(s);
  if (n == 0 || n > max || isdigit((unsigned char)s[0]))
    return false;
  for (; *s; s++)
    if (!isalnum((unsigned char)*s) && *s != '_' && !strchr(extra, *s))
      return false;
  return true;
}

bool front_read_in_list(const char *s, const char *const *list) {
  for (; *list; list++)
    if (!strcmp(s, *list))
      return true;
  return false;
}

bool front_read_only(const struct front_reader *r, const cJSON *obj, const char *what,
                     const char *const *keys) {
  if (!cJSON_IsObject(obj))
    return json_fail(r->doc, obj, r->err, "%s must be a JSON object", what);
  for (const cJSON *m = obj->child; m; m = m->next)
    if (!front_read_in_list(m->string, keys)) {
      struct str all = {0};
      for (int i = 0; keys[i]; i++)
        str_addf(&all, "%s%s", i ? ", " : "", keys[i]);
      json_fail(r->doc, m, r->err, "unknown key \"%s\" in %s; known are %s", m->string, what,
                all.data);
      str_free(&all);
      return false;
    }
  return true;
}

const char *front_read_string(const struct front_reader *r, const cJSON *obj, const char *key) {
  const char *s = json_str(obj, key);
  const cJSON *node = json_get(obj, key);
  if (!s)
    json_fail(r->doc, node ? node : obj, r->err,
              node ? "\"%s\" must be a string" : "\"%s\" is missing", key);
  return s;
}

/* ---- expressions */

struct check {
  struct kernel_scope scope;
  char unknown[64];
};

static bool check_lookup(void *ctx, const char *name, double *value) {
  struct check *c = ctx;
  if (kernel_lookup(&c->scope, name, value))
    return true;
  if (!c->unknown[0])
    strncpy(c->unknown, name, sizeof c->unknown - 1);
  return false;
}

bool front_read_expr(const struct front_reader *r, const cJSON *node, const char *what,
                     char **out) {
  if (cJSON_IsNumber(node))
    *out = alloc_printf("%.17g", node->valuedouble);
  else if (cJSON_IsString(node))
    *out = alloc_str(node->valuestring);
  else
    return json_fail(r->doc, node, r->err, "%s must be an expression (a string) or a number", what);
  struct err inner = {0};
  expr *e = expr_parse(*out, &inner);
  if (!e)
    return json_fail(r->doc, node, r->err, "%s: %s", what, inner.text);
  struct kernel_size size = kernel_size_default(r->k, 64, 64, 64);
  struct check c = {.scope = {r->k, &size, 1, 1}};
  double value;
  bool fine = expr_value(e, check_lookup, &c, &value, &inner) || !c.unknown[0];
  expr_free(e);
  if (!fine)
    return json_fail(r->doc, node, r->err,
                     "%s uses '%s', which is not known here. There are M, N, K, sms, smem_sm and "
                     "the parameters",
                     what, c.unknown);
  return true;
}

bool front_read_strings(const struct front_reader *r, const cJSON *node, const char *what,
                        char ***list, int *n) {
  if (!node)
    return true;
  if (!cJSON_IsArray(node))
    return json_fail(r->doc, node, r->err, "\"%s\" must be an array of strings", what);
  *list = alloc_zero((size_t)cJSON_GetArraySize(node) + 1, sizeof **list);
  for (const cJSON *m = node->child; m; m = m->next) {
    if (!cJSON_IsString(m))
      return json_fail(r->doc, m, r->err, "\"%s\" must hold strings only", what);
    (*list)[(*n)++] = alloc_str(m->valuestring);
  }
  return true;
}

bool front_read_whole(const cJSON *node, double lo, double hi) {
  return cJSON_IsNumber(node) && node->valuedouble >= lo && node->valuedouble <= hi &&
         floor(node->valuedouble) == node->valuedouble;
}
