/* Where the numbers of a lesson's prose come from: the step's sizes, a question's draw, the
 * machine, the runs, and the recorded card. */
#ifndef MM_UI_NUMBERS_H
#define MM_UI_NUMBERS_H

#include "lesson/lesson.h"
#include "lesson/prose.h"
#include "ui/page.h"
#include "ui/ui.h"

struct numbers {
  const ui *u;
  const struct step *step;      /* M N K, n = N and its parameters; may be NULL */
  const struct expr_vars *draw; /* of a question; may be NULL */
};

/* expr_lookups; ctx is a struct numbers. The first knows this machine, the second the recorded
 * card. */
bool numbers_lookup(void *numbers, const char *name, double *value);
bool numbers_recorded(void *numbers, const char *name, double *value);

/* Both as a source for prose; borrowed from n and its ui. */
struct prose_source numbers_source(struct numbers *n);

/* Evaluates an expression with the first lookup, else with both; *far says that the second was
 * needed. False if it has no value. */
bool numbers_value(struct numbers *n, const char *text, double *value, bool *far);

/* One sentence on where a formula's value comes from. The caller frees. */
char *numbers_origin(const ui *u, const char *formula, bool far);

#endif
