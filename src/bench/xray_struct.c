#include "bench/xray_struct.h"

#include "base/alloc.h"
#include "base/str.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_ident(char c) { return isalnum((unsigned char)c) || c == '_'; }

static size_t ident(const char *p) {
  size_t n = 0;
  while (is_ident(p[n]))
    n++;
  return n;
}

static const char *skip_space(const char *p) {
  while (isspace((unsigned char)*p))
    p++;
  return p;
}

static bool is_word(const char *p, size_t n, const char *word) {
  return n == strlen(word) && memcmp(p, word, n) == 0;
}

/* A copy in which comments are spaces. */
static char *without_comments(const char *source) {
  char *text = alloc_str(source);
  for (char *p = text; *p; p++) {
    if (p[0] != '/' || (p[1] != '/' && p[1] != '*'))
      continue;
    const char *end = p[1] == '/' ? strchr(p, '\n') : strstr(p + 2, "*/");
    end = !end ? p + strlen(p) : *end == '\n' ? end : end + 2;
    memset(p, ' ', (size_t)(end - p));
    p = p + (end - p) - 1;
  }
  return text;
}

/* ---- the declaration */

/* The name of the type in "const struct Matrix &A"; n = 0 for what is no plain name. */
static const char *type_name(const char *param, size_t *n) {
  static const char *const skipped[] = {"const", "volatile", "struct", "__grid_constant__"};
  *n = 0;
  if (strpbrk(param, "<*&["))
    return param;
  for (const char *p = skip_space(param); (*n = ident(p)) > 0; p = skip_space(p + *n)) {
    bool skip = false;
    for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++)
      skip = skip || is_word(p, *n, skipped[i]);
    if (!skip)
      return p;
  }
  return param;
}

/* The next "struct [tag] {" of text; *body is behind the brace. NULL where there is none. */
static const char *next_struct(const char *text, const char **tag, size_t *tag_n,
                               const char **body) {
  for (const char *p = text; (p = strstr(p, "struct")) != NULL;) {
    const char *begin = p;
    p += strlen("struct");
    if ((begin > text && is_ident(begin[-1])) || is_ident(*p))
      continue;
    *tag = skip_space(p);
    *tag_n = ident(*tag);
    const char *brace = skip_space(*tag + *tag_n);
    if (*brace != '{')
      continue;
    *body = brace + 1;
    return begin;
  }
  return NULL;
}

/* The body of the structure called so, NUL-terminated in place; NULL if there is none, or it holds
 * more than fields. */
static char *find_body(char *text, const char *name, size_t n) {
  const char *tag, *body;
  size_t tag_n;
  for (const char *p = text; next_struct(p, &tag, &tag_n, &body); p = body) {
    size_t len = strcspn(body, "{}");
    const char *alias = skip_space(body + len + (body[len] == '}'));
    size_t alias_n = body[len] == '}' ? ident(alias) : 0;
    if (!(tag_n == n && memcmp(tag, name, n) == 0) &&
        !(alias_n == n && memcmp(alias, name, n) == 0))
      continue;
    char *out = text + (body - text);
    bool plain = out[len] == '}' && strcspn(out, "([:<#&") >= len;
    out[len] = '\0';
    return plain ? out : NULL;
  }
  return NULL;
}

/* "const float *a, *b; int m, n = 1;" -> "const float *a,const float *b,int m,int n" */
static void flatten(const char *body, struct str *out) {
  for (const char *p = skip_space(body); *p; p = skip_space(p)) {
    size_t len = strcspn(p, ";"), first = strcspn(p, ",;="), base = first;
    while (base > 0 && isspace((unsigned char)p[base - 1]))
      base--;
    while (base > 0 && is_ident(p[base - 1])) /* the name */
      base--;
    while (base > 0 && (p[base - 1] == '*' || isspace((unsigned char)p[base - 1])))
      base--;
    for (size_t i = base; i < len;) {
      i = (size_t)(skip_space(p + i) - p);
      size_t piece = strcspn(p + i, ",;"), declarator = strcspn(p + i, ",;=");
      str_addf(out, "%s%.*s %.*s", out->len ? "," : "", (int)base, p, (int)declarator, p + i);
      i += piece + 1;
    }
    p += len + (p[len] == ';');
  }
}

/* ---- the layout */

/* Bytes of a field; 0 for a type that is not known here. */
static int64_t bytes_of(const struct xray_params_one *one) {
  static const struct {
    const char *word;
    int bytes;
  } known[] = {{"char", 1},     {"int8_t", 1},   {"uint8_t", 1},       {"bool", 1},
               {"short", 2},    {"int16_t", 2},  {"uint16_t", 2},      {"half", 2},
               {"__half", 2},   {"ushort", 2},   {"__nv_bfloat16", 2}, {"nv_bfloat16", 2},
               {"double", 8},   {"long", 8},     {"size_t", 8},        {"int64_t", 8},
               {"ulong", 8},    {"uint64_t", 8}, {"ptrdiff_t", 8},     {"ssize_t", 8},
               {"float", 4},    {"int", 4},      {"unsigned", 4},      {"int32_t", 4},
               {"uint32_t", 4}, {"uint", 4}};
  if (one->pointer)
    return 8;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) /* "short int": the first decides */
    for (const char *p = one->text; *p; p += ident(p) + (ident(p) == 0))
      if (is_word(p, ident(p), known[i].word))
        return known[i].bytes;
  return 0;
}

static bool lay_out(struct xray_struct *s, int64_t bytes) {
  int64_t end = 0, align = 1;
  if (s->fields.n == 0 || s->fields.n > XRAY_PARAMS_MAX)
    return false;
  for (int i = 0; i < s->fields.n; i++) {
    int64_t n = bytes_of(&s->fields.all[i]);
    if (n == 0)
      return false;
    s->bytes[i] = n;
    s->at[i] = (end + n - 1) / n * n;
    end = s->at[i] + n;
    align = n > align ? n : align;
  }
  return (end + align - 1) / align * align == bytes;
}

bool xray_struct_find(struct xray_struct *s, const char *source, const char *param, int64_t bytes) {
  size_t n;
  const char *name = type_name(param, &n);
  if (n == 0 || !source)
    return false;
  char *text = without_comments(source), *body = find_body(text, name, n);
  struct str list = {0};
  if (body)
    flatten(body, &list);
  xray_params_read(&s->fields, list.data ? list.data : "", NULL, "");
  str_free(&list);
  free(text);
  return body && lay_out(s, bytes);
}
