#include "base/expr_vars.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void expr_vars_set(struct expr_vars *vars, const char *name, double value) {
  if (strlen(name) >= sizeof vars->v->name)
    return;
  int i = 0;
  while (i < vars->n && strcmp(vars->v[i].name, name) != 0)
    i++;
  if (i == vars->cap) {
    vars->cap = vars->cap ? vars->cap * 2 : 16;
    vars->v = alloc_grow(vars->v, (size_t)vars->cap, sizeof *vars->v);
  }
  if (i == vars->n) {
    strcpy(vars->v[i].name, name);
    vars->n++;
  }
  vars->v[i].value = value;
}

bool expr_vars_lookup(void *vars, const char *name, double *value) {
  const struct expr_vars *table = vars;
  for (int i = 0; i < table->n; i++)
    if (strcmp(table->v[i].name, name) == 0) {
      *value = table->v[i].value;
      return true;
    }
  return false;
}

void expr_vars_free(struct expr_vars *vars) {
  free(vars->v);
  *vars = (struct expr_vars){0};
}
