#include "ui/numbers.h"

#include "base/alloc.h"
#include "ui/ui_internal.h"
#include "ui/words.h"
#include <string.h>

static bool step_value(const struct step *s, const char *name, double *value) {
  int64_t size = 0;
  if (strcmp(name, "M") == 0)
    size = s->M;
  else if (strcmp(name, "N") == 0 || strcmp(name, "n") == 0)
    size = s->N;
  else if (strcmp(name, "K") == 0)
    size = s->K;
  if (size > 0) {
    *value = (double)size;
    return true;
  }
  struct expr_vars params = s->params; /* a view of it: the lookup takes no const */
  return expr_vars_lookup(&params, name, value);
}

bool numbers_lookup(void *numbers, const char *name, double *value) {
  const struct numbers *n = numbers;
  if (n->draw) {
    struct expr_vars drawn = *n->draw;
    if (expr_vars_lookup(&drawn, name, value))
      return true;
  }
  if (n->step && step_value(n->step, name, value))
    return true;
  return live_lookup(n->u->live, name, value);
}

bool numbers_recorded(void *numbers, const char *name, double *value) {
  const struct numbers *n = numbers;
  return n->u->recorded && live_lookup_recorded(n->u->live, name, value);
}

struct prose_source numbers_source(struct numbers *n) {
  return (struct prose_source){.lookup = numbers_lookup,
                               .recorded = numbers_recorded,
                               .ctx = n,
                               .recorded_ctx = n,
                               .recorded_tag = n->u->recorded_tag};
}

struct either {
  struct numbers *n;
  bool far;
};

static bool either_lookup(void *ctx, const char *name, double *value) {
  struct either *e = ctx;
  if (numbers_lookup(e->n, name, value))
    return true;
  e->far = true;
  return numbers_recorded(e->n, name, value);
}

bool numbers_value(struct numbers *n, const char *text, double *value, bool *far) {
  struct either e = {n, false};
  bool ok = expr_eval(text, either_lookup, &e, value, NULL);
  *far = e.far;
  return ok;
}

char *numbers_origin(const ui *u, const char *formula, bool far) {
  if (far && u->recorded)
    return words_fill(u->lang, "ask.recorded", recorded_card(u->recorded),
                      recorded_date(u->recorded), NULL);
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  bool bare = *formula && strspn(formula, letters) == strlen(formula);
  const char *id = bare ? "ask.size" : "ask.formula";
  if (strstr(formula, "run.") || strstr(formula, "roof."))
    id = "ask.here";
  else if (strstr(formula, "device."))
    id = "ask.device";
  return alloc_str(strings_get(u->lang, id));
}
