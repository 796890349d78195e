#include "lesson/load.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const lang_key[LANGS] = {"en", "zh"};

bool load_array(const struct load *ld, const cJSON *obj, const char *key, int max,
                const cJSON **out, int *n) {
  const cJSON *a = json_get(obj, key);
  *out = NULL;
  *n = 0;
  if (!a)
    return true;
  if (!cJSON_IsArray(a))
    return json_fail(ld->doc, a, ld->err, "\"%s\" must be a list [...]", key);
  int count = cJSON_GetArraySize(a);
  if (count > max)
    return json_fail(ld->doc, a, ld->err, "\"%s\" has %d entries, the limit is %d", key, count,
                     max);
  *out = a->child;
  *n = count;
  return true;
}

/* Blank text would be an empty line on the screen, so it counts as missing. */
static bool blank(const char *s) { return s[strspn(s, " \t\r\n")] == '\0'; }

static bool string_node(const struct load *ld, const cJSON *node, const char *what, char **out) {
  if (!cJSON_IsString(node))
    return json_fail(ld->doc, node, ld->err, "\"%s\" must be a text in quotes", what);
  if (blank(node->valuestring))
    return json_fail(ld->doc, node, ld->err, "\"%s\" is empty", what);
  *out = utf8_clean(node->valuestring, strlen(node->valuestring));
  return true;
}

bool load_string(const struct load *ld, const cJSON *obj, const char *key, bool required,
                 char **out) {
  const cJSON *node = json_get(obj, key);
  if (!node)
    return required ? json_fail(ld->doc, obj, ld->err, "\"%s\" is missing", key) : true;
  return string_node(ld, node, key, out);
}

bool load_id(const struct load *ld, const cJSON *obj, const char *key, bool dots, char **out) {
  if (!load_string(ld, obj, key, true, out))
    return false;
  const char *s = *out;
  size_t ok = strspn(s, dots ? "abcdefghijklmnopqrstuvwxyz0123456789-."
                             : "abcdefghijklmnopqrstuvwxyz0123456789-");
  if (s[ok] || ok > 63 || strspn(s, "0123456789") == ok)
    return json_fail(ld->doc, json_get(obj, key), ld->err,
                     "\"%s\" is no id: use a-z, 0-9 and -%s, at most 63, not only digits", s,
                     dots ? " and ." : "");
  return true;
}

bool load_text2_node(const struct load *ld, const cJSON *node, const char *what,
                     struct text2 *out) {
  if (!cJSON_IsObject(node))
    return json_fail(ld->doc, node, ld->err, "\"%s\" must be {\"en\":..., \"zh\":...}", what);
  for (int i = 0; i < LANGS; i++) {
    const cJSON *t = json_get(node, lang_key[i]);
    if (!t)
      return json_fail(ld->doc, node, ld->err, "\"%s\" has no \"%s\"", what, lang_key[i]);
    if (!string_node(ld, t, lang_key[i], &out->in[i]))
      return false;
  }
  return true;
}

bool load_text2(const struct load *ld, const cJSON *obj, const char *key, bool required,
                struct text2 *out) {
  const cJSON *node = json_get(obj, key);
  if (!node)
    return required ? json_fail(ld->doc, obj, ld->err, "\"%s\" is missing", key) : true;
  return load_text2_node(ld, node, key, out);
}

void load_text2_free(struct text2 *t) {
  for (int i = 0; i < LANGS; i++) {
    free(t->in[i]);
    t->in[i] = NULL;
  }
}

bool load_expr_node(const struct load *ld, const cJSON *node, const char *what, char **out) {
  if (cJSON_IsNumber(node))
    *out = alloc_printf("%.17g", node->valuedouble);
  else if (!string_node(ld, node, what, out))
    return false;
  struct err why = {""};
  expr *e = expr_parse(*out, &why);
  if (!e)
    return json_fail(ld->doc, node, ld->err, "\"%s\": %s", what, why.text);
  expr_free(e);
  return true;
}

bool load_expr(const struct load *ld, const cJSON *obj, const char *key, bool required,
               char **out) {
  const cJSON *node = json_get(obj, key);
  if (!node)
    return required ? json_fail(ld->doc, obj, ld->err, "\"%s\" is missing", key) : true;
  return load_expr_node(ld, node, key, out);
}

bool load_strings(const struct load *ld, const cJSON *obj, const char *key, char ***out, int *n) {
  const cJSON *node;
  int count;
  *n = 0;
  if (!load_array(ld, obj, key, LOAD_LIST, &node, &count))
    return false;
  *out = alloc_zero((size_t)count, sizeof **out);
  for (; node; node = node->next, ++*n)
    if (!string_node(ld, node, key, &(*out)[*n]))
      return false;
  return true;
}

void load_strings_free(char **s, int n) {
  for (int i = 0; i < n; i++)
    free(s[i]);
  free(s);
}

bool load_number(const struct load *ld, const cJSON *obj, const char *key, double low, double high,
                 double *out) {
  const cJSON *node = json_get(obj, key);
  if (!node)
    return true;
  if (!cJSON_IsNumber(node))
    return json_fail(ld->doc, node, ld->err, "\"%s\" must be a number", key);
  if (!(node->valuedouble >= low && node->valuedouble <= high))
    return json_fail(ld->doc, node, ld->err, "\"%s\" must be between %.15g and %.15g", key, low,
                     high);
  *out = node->valuedouble;
  return true;
}

bool load_is_name(const char *text) {
  if (!isalpha((unsigned char)*text) && *text != '_')
    return false;
  size_t n = 1;
  while (isalnum((unsigned char)text[n]) || text[n] == '_')
    n++;
  return text[n] == '\0' && n < 32;
}

bool load_vars(const struct load *ld, const cJSON *obj, const char *key, struct expr_vars *out) {
  const cJSON *vars = json_get(obj, key);
  if (!vars)
    return true;
  if (!cJSON_IsObject(vars))
    return json_fail(ld->doc, vars, ld->err, "\"%s\" must be {name: number, ...}", key);
  if (cJSON_GetArraySize(vars) > LOAD_LIST)
    return json_fail(ld->doc, vars, ld->err, "\"%s\" has over %d names", key, LOAD_LIST);
  for (const cJSON *v = vars->child; v; v = v->next) {
    if (!load_is_name(v->string))
      return json_fail(ld->doc, v, ld->err, "\"%s\" cannot be the name of a parameter", v->string);
    if (!cJSON_IsNumber(v))
      return json_fail(ld->doc, v, ld->err, "\"%s\" must be a number", v->string);
    expr_vars_set(out, v->string, v->valuedouble);
  }
  return true;
}
