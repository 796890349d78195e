#include "bench/xray_cfind.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The body of `#define name` behind its name, or NULL. */
const char *xray_cfind_define(const struct xray_cexpr *c, const char *name,
                              char body[XRAY_CFIND_TEXT]) {
  for (int i = 0; i < c->mask->ndirectives; i++) {
    const struct cuda_mask_directive *d = &c->mask->directives[i];
    size_t at = cuda_mask_directive_name(c->source, d), n = strlen(name), k = 0;
    if (!cuda_mask_word(c->source, d->end, at, "define"))
      continue;
    for (at += 6; at < d->end && isspace((unsigned char)c->source[at]);)
      at++;
    if (!cuda_mask_word(c->source, d->end, at, name))
      continue;
    for (at += n; at < d->end && k + 1 < XRAY_CFIND_TEXT; at++) {
      if (at + 1 < d->end && c->source[at] == '/' && strchr("/*", c->source[at + 1]))
        break;
      body[k++] = strchr("\\\n", c->source[at]) ? ' ' : c->source[at];
    }
    body[k] = '\0';
    return body;
  }
  return NULL;
}

static bool word_at(const struct xray_cexpr *c, size_t at, const char *name) {
  return (at == 0 || !cuda_mask_ident(c->mask->code[at - 1])) &&
         cuda_mask_word(c->mask->code, c->mask->n, at, name);
}

/* Copies code from `at` up to a sign of `ends` outside of brackets. */
static void copy_until(const struct xray_cexpr *c, size_t at, const char *ends,
                       char out[XRAY_CFIND_TEXT]) {
  int depth = 0;
  size_t k = 0;
  for (; at < c->mask->n && k + 1 < XRAY_CFIND_TEXT; at++) {
    char ch = c->mask->code[at];
    if (depth == 0 && strchr(ends, ch))
      break;
    depth += (strchr("([{", ch) != NULL) - (strchr(")]}", ch) != NULL);
    out[k++] = ch;
  }
  out[k] = '\0';
}

/* The value or arguments that a variable is declared with, nearest before c->at: "= x" gives x,
 * "(x, y)" and "{x, y}" give "x, y". An assignment counts as well. */
bool xray_cfind_variable(const struct xray_cexpr *c, const char *name, char out[XRAY_CFIND_TEXT]) {
  const char *code = c->mask->code;
  size_t n = strlen(name), from = c->at < c->mask->n ? c->at : c->mask->n;
  for (int pass = 0; pass < 2; pass++) { /* before the launch, then behind it */
    for (size_t i = 0; i < (pass ? c->mask->n - from : from); i++) {
      size_t at = pass ? from + i : from - 1 - i, s = at + n;
      if (code[at] != name[0] || !word_at(c, at, name))
        continue;
      while (s < c->mask->n && isspace((unsigned char)code[s]))
        s++;
      size_t b = at;
      while (b > 0 && isspace((unsigned char)code[b - 1]))
        b--;
      bool declared = b > 0 && b < at && cuda_mask_ident(code[b - 1]);
      bool listed = b > 0 && code[b - 1] == ','; /* dim3 block(16), grid(4) */
      if (code[s] == '=' && code[s + 1] != '=') {
        copy_until(c, s + 1, ",;", out);
        return true;
      }
      if ((declared || listed) && (code[s] == '(' || code[s] == '{')) {
        copy_until(c, s + 1, ")}", out);
        return true;
      }
    }
  }
  return false;
}

/* A function of one statement: `int up(int a, int b) { return (a + b - 1) / b; }` gives its
 * parameter list and the expression. */
bool xray_cfind_function(const struct xray_cexpr *c, const char *name, char params[XRAY_CFIND_TEXT],
                         char body[XRAY_CFIND_TEXT]) {
  const char *code = c->mask->code;
  size_t n = strlen(name);
  for (size_t at = 0; at + n < c->mask->n; at++) {
    if (code[at] != name[0] || !word_at(c, at, name))
      continue;
    size_t s = at + n;
    while (isspace((unsigned char)code[s]))
      s++;
    if (code[s] != '(')
      continue;
    copy_until(c, s + 1, ")", params);
    s += strlen(params) + 2;
    while (s < c->mask->n && isspace((unsigned char)code[s]))
      s++;
    if (s >= c->mask->n || code[s] != '{')
      continue;
    for (s++; s < c->mask->n && isspace((unsigned char)code[s]);)
      s++;
    if (!word_at(c, s, "return"))
      continue;
    copy_until(c, s + 6, ";", body);
    return true;
  }
  return false;
}

/* The argument that stands for a value parameter of the template. */
bool xray_cfind_template(const struct xray_cexpr *c, const char *name, char out[XRAY_CFIND_TEXT]) {
  const char *open = c->entry ? strchr(c->entry, '<') : NULL, *p = c->template_params;
  if (!open || !p)
    return false;
  const char *a = open + 1;
  while (*p && *a) {
    size_t np = strcspn(p, ",="), na = strcspn(a, ",>");
    size_t end = np;
    while (end && isspace((unsigned char)p[end - 1]))
      end--;
    size_t n = strlen(name);
    if (end > n && !memcmp(p + end - n, name, n) && isspace((unsigned char)p[end - n - 1])) {
      snprintf(out, XRAY_CFIND_TEXT, "%.*s", (int)na, a);
      return true;
    }
    p += strcspn(p, ",");
    p += *p == ',';
    a += na + (a[na] == ',');
    if (*a == '>')
      return false;
  }
  return false;
}
