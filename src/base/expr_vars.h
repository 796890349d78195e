/* Variables for expressions (expr.h includes this). */
#ifndef MM_BASE_EXPR_VARS_H
#define MM_BASE_EXPR_VARS_H

#include <stdbool.h>

/* A small table of variables for lookups: names are copied (one over 63 bytes can stand in no
 * expression and is left out). */
struct expr_vars {
  struct expr_var {
    char name[64];
    double value;
  } *v;
  int n, cap;
};
void expr_vars_set(struct expr_vars *vars, const char *name, double value); /* adds or replaces */
bool expr_vars_lookup(void *vars, const char *name, double *value);         /* an expr_lookup */
void expr_vars_free(struct expr_vars *vars);

#endif
