#include "lesson/tolerance.h"

#include "base/expr.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

bool tolerance_parse(const char *text, struct tolerance *out) {
  struct tolerance t = {0};
  char number[32];
  size_t n = strlen(text);
  if (strcmp(text, "exact") == 0) {
    t.exact = true;
    *out = t;
    return true;
  }
  if (n >= sizeof number)
    return false;
  t.relative = n > 1 && text[n - 1] == '%';
  if (!t.relative && strncmp(text, "abs", 3) != 0)
    return false;
  snprintf(number, sizeof number, "%.*s", (int)(t.relative ? n - 1 : n - 3),
           t.relative ? text : text + 3);
  if (number[strspn(number, "0123456789.")] || !expr_eval(number, NULL, NULL, &t.size, NULL))
    return false;
  if (t.relative)
    t.size /= 100;
  if (t.relative && t.size > 0.25)
    return false; /* nearer than that is what "right method, slip in arithmetic" means */
  *out = t;
  return true;
}

double tolerance_reach(const struct tolerance *t, double key, double scale) {
  double last_bits = 1e-9 * fabs(key) + 1e-300;
  if (t->exact)
    return last_bits;
  return (t->relative ? t->size * fabs(key) : t->size * scale) + last_bits;
}
