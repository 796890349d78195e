/* The one expression language of mmtutor: prose, items, kernel geometry and answers.
 * + - * / % ^ ( ), comparisons, && || !, ?:, min max ceil floor round abs sqrt log2 gcd, doubles
 * with '.' in any locale, names with dots (roof.dram). `^` binds tighter than unary minus and to
 * the right. */
#ifndef MM_BASE_EXPR_H
#define MM_BASE_EXPR_H

#include "base/err.h"
#include "base/expr_vars.h"
#include <stdbool.h>

/* Gives a variable's value: true and *value, or false if the name is not known. */
typedef bool (*expr_lookup)(void *ctx, const char *name, double *value);

typedef struct expr expr;

/* Parses text; NULL with a sentence that names the column (from 1) in err. Depth and length are
 * limited (64, 4096), so hostile text is an error and never a crash. Free with expr_free. */
expr *expr_parse(const char *text, struct err *err);
void expr_free(expr *e);

/* Evaluates; false with a sentence for an unknown name, a division by zero or a result that is not
 * finite. lookup may be NULL where no names occur. */
bool expr_value(const expr *e, expr_lookup lookup, void *ctx, double *out, struct err *err);

/* Parse and evaluate at once. */
bool expr_eval(const char *text, expr_lookup lookup, void *ctx, double *out, struct err *err);

/* The text with every name replaced by its value (unknown ones stay): "2*4096*4096*4096". The
 * caller frees. */
char *expr_filled(const char *text, expr_lookup lookup, void *ctx);

#endif
