#include "lesson/fillin.h"

#include "base/alloc.h"
#include "base/units.h"
#include "lesson/load.h"
#include "lesson/numeral.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* {name} at p: *len gets its bytes with the braces. */
static bool is_name(const char *p, char name[32], size_t *len) {
  size_t n = *p == '{' ? strcspn(p + 1, "{}\n ") : 0;
  if (n == 0 || n >= 32 || p[1 + n] != '}')
    return false;
  memcpy(name, p + 1, n);
  name[n] = '\0';
  *len = n + 2;
  return load_is_name(name);
}

static char *drawn(const struct answer_draw *d, const char *name) {
  double value;
  for (int i = 0; i < d->item->ndraw; i++) {
    const struct item_draw *draw = &d->item->draw[i];
    if (draw->labels && strcmp(draw->name, name) == 0)
      return alloc_str(draw->labels[d->pick[i]]);
  }
  for (int i = 0; i < d->vars.n; i++)
    if (strcmp(d->vars.v[i].name, name) == 0) {
      value = d->vars.v[i].value;
      bool whole = fabs(value) < 1e15 && value == trunc(value);
      return whole ? units_exact(value) : alloc_printf("%.6g", value);
    }
  return NULL;
}

static char *evaluated(const struct answer_draw *d, const char *p, size_t len, struct err *err) {
  struct numeral num;
  struct expr_vars vars = d->vars;
  double value;
  char *out = NULL;
  if (!numeral_parse(p + 2, len - 4, &num, err))
    return NULL;
  if (expr_eval(num.expr, expr_vars_lookup, &vars, &value, err))
    out = numeral_format(&num, value);
  free(num.expr);
  return out;
}

/* Both functions walk alike: out NULL only checks. */
static bool walk(const struct answer_draw *d, const char *text, struct str *out, struct err *err) {
  char name[32];
  size_t len = 0;
  const char *next = numeral_find(text, &len);
  for (const char *p = text; *p;) {
    size_t n = 1;
    char *in = NULL;
    if (p == next) {
      n = len;
      in = evaluated(d, p, n, err);
      if (!in && !out)
        return err_prefix(err, "%.*s", (int)n, p);
      next = numeral_find(p + n, &len);
      if (!in)
        in = alloc_str("-");
    } else if (is_name(p, name, &n)) {
      in = drawn(d, name);
      if (!in && !out)
        return err_set(err, "{%s} is not drawn in this item", name);
    }
    if (!in)
      n = 1;
    if (out && in)
      str_add(out, in);
    else if (out)
      str_addc(out, *p);
    free(in);
    p += n;
  }
  return true;
}

char *fillin_text(const struct answer_draw *d, const char *text) {
  struct str s = {0};
  walk(d, text, &s, NULL);
  return str_take(&s);
}

bool fillin_check(const struct answer_draw *d, const char *text, struct err *err) {
  return walk(d, text, NULL, err);
}
