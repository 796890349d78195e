/* What `mmtutor run` prints for people: one result in full, or a row of a sweep. */
#ifndef MM_APP_RUN_PRINT_H
#define MM_APP_RUN_PRINT_H

#include "bench/result.h"
#include <stdio.h>

/* A block of lines; `built` may be NULL. */
void run_print_result(FILE *f, const struct result *r, const struct device_built *built);

/* The head of a sweep's table, and a row of it. `k` names the parameters. */
void run_print_head(FILE *f, const struct kernel *k);
void run_print_row(FILE *f, const struct result *r);

#endif
