/* What stands between {{ and }}: an expression, and how its value is shown. */
#ifndef MM_LESSON_NUMERAL_H
#define MM_LESSON_NUMERAL_H

#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>

struct numeral {
  char *expr;    /* as written */
  char unit[16]; /* of base/units.h, or "exact", or "x" */
  int digits;    /* 0: three */
};

/* Reads `expr | unit digits` (n bytes). False with a sentence if the expression does not parse or
 * the unit is unknown; out->expr is then NULL. Free out->expr. */
bool numeral_parse(const char *text, size_t n, struct numeral *out, struct err *err);

/* The value as text, "-" for NAN. The caller frees. */
char *numeral_format(const struct numeral *num, double value);

/* Finds the next {{...}} on one line from p on: *len gets its bytes with the braces. NULL if there
 * is none. Backticks and line ends cannot stand inside. */
const char *numeral_find(const char *p, size_t *len);

#endif
