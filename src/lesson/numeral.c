#include "lesson/numeral.h"

#include "base/alloc.h"
#include "base/expr.h"
#include "base/units.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bar that ends the expression; `||` is an operator. */
static const char *find_bar(const char *p, const char *end) {
  for (; p < end; p++) {
    if (*p != '|')
      continue;
    if (p + 1 < end && p[1] == '|')
      p++;
    else
      return p;
  }
  return NULL;
}

static bool parse_format(const char *text, struct numeral *out, struct err *err) {
  char word[2][16] = {"", ""}, rest[2];
  int n = sscanf(text, "%15s %15s %1s", word[0], word[1], rest);
  if (n == 1 && strspn(word[0], "0123456789") == strlen(word[0])) {
    snprintf(word[1], sizeof word[1], "%s", word[0]);
    word[0][0] = '\0';
    n = 2;
  }
  enum unit_class class;
  if (n > 2 ||
      (strcmp(word[0], "exact") != 0 && strcmp(word[0], "x") != 0 && !units_class(word[0], &class)))
    return err_set(err, "\"|%s\" is no unit with digits, like \"| GB/s 3\"", text);
  if (word[1][0] && (strlen(word[1]) != 1 || word[1][0] < '1' || word[1][0] > '9'))
    return err_set(err, "\"%s\" must be a number of digits from 1 to 9", word[1]);
  snprintf(out->unit, sizeof out->unit, "%s", word[0]);
  out->digits = word[1][0] ? word[1][0] - '0' : 0;
  return true;
}

bool numeral_parse(const char *text, size_t n, struct numeral *out, struct err *err) {
  const char *end = text + n, *bar = find_bar(text, end);
  const char *stop = bar ? bar : end;
  memset(out, 0, sizeof *out);
  while (text < stop && *text == ' ')
    text++;
  while (stop > text && stop[-1] == ' ')
    stop--;
  if (bar) {
    char *format = alloc_strn(bar + 1, (size_t)(end - bar - 1));
    bool ok = parse_format(format, out, err);
    free(format);
    if (!ok)
      return false;
  }
  out->expr = alloc_strn(text, (size_t)(stop - text));
  expr *e = expr_parse(out->expr, err);
  if (!e) {
    free(out->expr);
    out->expr = NULL;
    return false;
  }
  expr_free(e);
  return true;
}

char *numeral_format(const struct numeral *num, double value) {
  if (!isfinite(value))
    return alloc_str("-");
  if (strcmp(num->unit, "exact") == 0)
    return units_exact(value);
  if (strcmp(num->unit, "x") == 0) {
    char *plain = units_format(value, "", num->digits);
    char *times = alloc_printf("%sx", plain);
    free(plain);
    return times;
  }
  return units_format(value, num->unit, num->digits);
}

const char *numeral_find(const char *p, size_t *len) {
  while ((p = strstr(p, "{{"))) {
    const char *end = p + 2;
    while (*end && *end != '`' && *end != '\n' && strncmp(end, "}}", 2) != 0 &&
           strncmp(end, "{{", 2) != 0)
      end++;
    if (strncmp(end, "}}", 2) == 0) {
      *len = (size_t)(end + 2 - p);
      return p;
    }
    p = *end ? end : p + 2;
  }
  return NULL;
}
