#include "lesson/answer.h"

#include "base/alloc.h"
#include "base/rand.h"
#include "base/sentences.h"
#include "base/units.h"
#include "lesson/fillin.h"
#include "lesson/misconception.h"
#include "lesson/phrases.h"
#include "lesson/tolerance.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the draw */

/* Items that share a seed must not draw alike. */
static uint64_t mix(const char *id, uint64_t seed) {
  uint64_t h = 1469598103934665603u ^ seed;
  for (; *id; id++)
    h = (h ^ (unsigned char)*id) * 1099511628211u;
  return h;
}

static double unit_scale(const struct item *item) {
  struct units_value v;
  char one[64];
  if (!item->unit || !*item->unit || strcmp(item->unit, "%") == 0)
    return 1;
  snprintf(one, sizeof one, "1 %s", item->unit);
  return units_parse(one, &v, NULL) ? v.value : 1;
}

static enum unit_class unit_of(const struct item *item) {
  enum unit_class class = UNIT_NONE;
  units_class(item->unit, &class);
  return class;
}

static void set_vars(struct answer_draw *d) {
  for (int i = 0; i < d->item->ndraw; i++) {
    const struct item_draw *draw = &d->item->draw[i];
    if (!draw->rows) {
      expr_vars_set(&d->vars, draw->name, draw->values[d->pick[i]]);
      continue;
    }
    const struct expr_vars *row = &draw->rows[d->pick[i]];
    for (int j = 0; j < row->n; j++)
      expr_vars_set(&d->vars, row->v[j].name, row->v[j].value);
  }
}

static void shuffle(struct answer_draw *d, struct rand *r) {
  bool order = d->item->kind == ITEM_ORDER;
  d->noptions = order ? d->item->norder : d->item->noptions;
  for (int i = 0; i < d->noptions; i++)
    d->option[i] = i;
  if (!order && !d->item->shuffle)
    return;
  bool sorted = true;
  while (sorted) { /* an order that is shown solved would be no question */
    for (int i = d->noptions - 1; i > 0; i--) {
      int j = (int)rand_below(r, (uint64_t)i + 1), t = d->option[i];
      d->option[i] = d->option[j];
      d->option[j] = t;
    }
    sorted = order;
    for (int i = 0; i < d->noptions; i++)
      sorted = sorted && d->option[i] == i;
  }
}

void answer_draw_at(struct answer_draw *d, const struct item *item, uint64_t seed,
                    const int *pick) {
  struct rand r;
  memset(d, 0, sizeof *d);
  d->item = item;
  d->seed = seed;
  memcpy(d->pick, pick, (size_t)item->ndraw * sizeof *pick);
  set_vars(d);
  rand_seed(&r, mix(item->id, ~seed));
  shuffle(d, &r);
  d->key = NAN;
  if (item->kind == ITEM_NUMERIC)
    answer_value(d, item->key, &d->key);
}

void answer_draw(struct answer_draw *d, const struct item *item, uint64_t seed) {
  struct rand r;
  int pick[ANSWER_DRAWS] = {0};
  assert(item->ndraw <= ANSWER_DRAWS);
  rand_seed(&r, mix(item->id, seed));
  for (int i = 0; i < item->ndraw; i++)
    pick[i] = (int)rand_below(&r, (uint64_t)item->draw[i].n);
  answer_draw_at(d, item, seed, pick);
}

void answer_done(struct answer_draw *d) { expr_vars_free(&d->vars); }

bool answer_value(const struct answer_draw *d, const char *key, double *value) {
  struct expr_vars vars = d->vars;
  if (!expr_eval(key, expr_vars_lookup, &vars, value, NULL))
    return false;
  *value *= unit_scale(d->item);
  return isfinite(*value);
}

double answer_tolerance(const struct answer_draw *d, double key, double factor) {
  struct tolerance tol = {.exact = true};
  tolerance_parse(d->item->tol, &tol);
  double reach = tolerance_reach(&tol, key, unit_scale(d->item));
  return tol.exact ? reach : reach * factor;
}

/* ---- texts */

char *answer_text(const struct answer_draw *d, const struct text2 *t, enum lang lang) {
  return fillin_text(d, t->in[lang] ? t->in[lang] : "");
}

char *answer_stem(const struct answer_draw *d, enum lang lang) {
  return answer_text(d, &d->item->stem, lang);
}

char *answer_right(const struct answer_draw *d, enum lang lang) {
  const struct item *item = d->item;
  struct str s = {0};
  if (item->kind == ITEM_NUMERIC)
    return units_format(d->key, units_name(unit_of(item)), 4);
  for (int i = 0; i < item->norder; i++) {
    char *text = answer_text(d, &item->order_steps[i], lang);
    str_addf(&s, "%s%d. %s", i ? "\n" : "", i + 1, text);
    free(text);
  }
  for (int i = 0; i < d->noptions && item->noptions; i++)
    if (item->options[d->option[i]].right) {
      char *text = answer_text(d, &item->options[d->option[i]].text, lang);
      str_addf(&s, "%c) %s", 'a' + i, text);
      free(text);
    }
  return str_take(&s);
}

/* ---- grading */

struct grader {
  const struct answer_draw *d;
  enum lang lang;
  struct answer_graded *out;
};

static void verdict(struct grader *g, enum answer_verdict v, char *say, const char *tag) {
  g->out->verdict = v;
  g->out->say = say;
  snprintf(g->out->tag, sizeof g->out->tag, "%s", tag ? tag : "");
}

static void phrase(struct grader *g, enum answer_verdict v, enum phrase p, const char *a,
                   const char *b) {
  verdict(g, v, phrases_fill(p, g->lang, a, b), "");
}

/* The author's own sentence, else the register's for the tag; NULL if neither is there. */
static char *said(struct grader *g, const struct text2 *say, const char *tag) {
  if (say->in[g->lang])
    return answer_text(g->d, say, g->lang);
  const char *text = tag ? misconception_text(tag, g->lang) : NULL;
  return text ? alloc_str(text) : NULL;
}

static bool near(double a, double b, double reach) { return fabs(a - b) <= reach; }

/* The typed value in the base unit of the item; false if the verdict is there already. */
static bool understand(struct grader *g, const struct units_value *v) {
  const struct item *item = g->d->item;
  enum unit_class asked = unit_of(item);
  double *value = &g->out->value;
  *value = v->value;
  if (v->unit == UNIT_NONE && !v->prefixed)
    *value *= unit_scale(item);
  if (v->unit == UNIT_PERCENT && asked == UNIT_NONE)
    *value /= 100;
  else if (v->unit != UNIT_NONE && v->unit != asked) {
    const char *given = units_name(v->unit), *want = asked ? units_name(asked) : "1";
    bool rate = (v->unit == UNIT_FLOPS && asked == UNIT_FLOP) ||
                (v->unit == UNIT_BYTES && asked == UNIT_BYTE);
    bool amount = (v->unit == UNIT_FLOP && asked == UNIT_FLOPS) ||
                  (v->unit == UNIT_BYTE && asked == UNIT_BYTES);
    if (rate || amount) {
      phrase(g, ANSWER_WRONG, rate ? PHRASE_RATE_FOR_AMOUNT : PHRASE_AMOUNT_FOR_RATE, given, want);
      snprintf(g->out->tag, sizeof g->out->tag, "rate");
    } else {
      phrase(g, ANSWER_WRONG, PHRASE_UNIT_WRONG, given, want);
    }
    return false;
  }
  bool fraction = asked == UNIT_PERCENT && v->unit == UNIT_NONE && fabs(*value) <= 1;
  if (fraction && fabs(g->d->key) > 1) {
    phrase(g, ANSWER_UNREAD, PHRASE_PERCENT, "", "");
    return false;
  }
  return true;
}

/* Another accepted key; one that lies within tolerance of the key itself only if that is what was
 * meant. */
static bool try_accepted(struct grader *g) {
  const struct answer_draw *d = g->d;
  for (int i = 0; i < d->item->naccept; i++) {
    const struct item_mal *a = &d->item->accept[i];
    double other, reach;
    if (!answer_value(d, a->key, &other))
      continue;
    reach = answer_tolerance(d, other, 1);
    if (near(other, d->key, answer_tolerance(d, d->key, 1)))
      reach = fabs(other - d->key) / 10;
    if (near(g->out->value, other, reach)) {
      verdict(g, ANSWER_RIGHT_NOTE, said(g, &a->say, a->tag), a->tag);
      return true;
    }
  }
  return false;
}

static bool try_mal(struct grader *g) {
  const struct answer_draw *d = g->d;
  for (int i = 0; i < d->item->nmal; i++) {
    const struct item_mal *m = &d->item->mal[i];
    double wrong;
    if (!answer_value(d, m->key, &wrong) || near(wrong, d->key, answer_tolerance(d, d->key, 1)))
      continue;
    if (near(g->out->value, wrong, answer_tolerance(d, wrong, 1))) {
      verdict(g, ANSWER_WRONG, said(g, &m->say, m->tag), m->tag);
      return true;
    }
  }
  return false;
}

/* Factors that a wrong prefix makes. Plain numbers and percents have none. */
static bool try_slip(struct grader *g) {
  static const struct {
    double factor;
    const char *text;
    enum phrase phrase;
  } slips[] = {
      {1e3, "10^3", PHRASE_SLIP_THOUSANDS},
      {1e6, "10^6", PHRASE_SLIP_THOUSANDS},
      {1e9, "10^9", PHRASE_SLIP_THOUSANDS},
      {1e12, "10^12", PHRASE_SLIP_THOUSANDS},
      {1024.0, "", PHRASE_SLIP_BINARY},
      {1048576.0, "", PHRASE_SLIP_BINARY},
      {1073741824.0, "", PHRASE_SLIP_BINARY},
      {1.024, "", PHRASE_SLIP_BINARY},
      {1.048576, "", PHRASE_SLIP_BINARY},
      {1.073741824, "", PHRASE_SLIP_BINARY},
      {8, "", PHRASE_SLIP_BITS},
  };
  enum unit_class class = unit_of(g->d->item);
  double key = g->d->key, value = g->out->value;
  if (class == UNIT_NONE || class == UNIT_PERCENT || key == 0)
    return false;
  for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
    double f = slips[i].factor;
    bool bytes = class == UNIT_BYTE || class == UNIT_BYTES;
    bool tight = f < 2; /* 1.024 is near 1: only an exact hit says that it was this */
    if ((slips[i].phrase == PHRASE_SLIP_BITS || tight) && !bytes)
      continue;
    double reach = tight ? 1e-3 : 0;
    double up = reach > 0 ? reach * fabs(key * f) : answer_tolerance(g->d, key * f, 1);
    double down = reach > 0 ? reach * fabs(key / f) : answer_tolerance(g->d, key / f, 1);
    if (near(value, key * f, up) || near(value, key / f, down)) {
      phrase(g, ANSWER_WRONG, slips[i].phrase, slips[i].text, "");
      return true;
    }
  }
  return false;
}

static bool is_exact(const struct item *item) {
  struct tolerance tol = {0};
  return tolerance_parse(item->tol, &tol) && tol.exact;
}

void answer_numeric(const struct answer_draw *d, const char *text, enum lang lang,
                    struct answer_graded *out) {
  struct grader g = {d, lang, out};
  struct units_value v;
  struct err why = {""};
  memset(out, 0, sizeof *out);
  out->value = NAN;
  if (!isfinite(d->key)) {
    phrase(&g, ANSWER_UNREAD, PHRASE_NO_KEY, "", "");
    return;
  }
  if (!units_parse(text, &v, &why) || !isfinite(v.value)) {
    verdict(&g, ANSWER_UNREAD, sentences_in(why.text, lang == LANG_ZH), "");
    return;
  }
  if (!understand(&g, &v) || try_accepted(&g))
    return;
  if (near(out->value, d->key, answer_tolerance(d, d->key, 1))) {
    char *why_text = answer_text(d, &d->item->why, lang);
    verdict(&g, ANSWER_RIGHT, *why_text ? why_text : phrases_fill(PHRASE_RIGHT, lang, "", ""), "");
    if (out->say != why_text)
      free(why_text);
    return;
  }
  if (try_mal(&g) || try_slip(&g))
    return;
  bool close = near(out->value, d->key, 0.25 * fabs(d->key)) && !is_exact(d->item);
  phrase(&g, ANSWER_WRONG, close ? PHRASE_NEAR : PHRASE_PLAIN_WRONG, "", "");
}

void answer_choice(const struct answer_draw *d, int i, enum lang lang, struct answer_graded *out) {
  struct grader g = {d, lang, out};
  memset(out, 0, sizeof *out);
  out->value = i;
  if (i < 0 || i >= d->noptions || !d->item->noptions) {
    char last[2] = {(char)('a' + (d->noptions ? d->noptions - 1 : 0)), '\0'};
    phrase(&g, ANSWER_UNREAD, PHRASE_NO_OPTION, last, "");
    return;
  }
  const struct item_option *o = &d->item->options[d->option[i]];
  char *say = said(&g, &o->say, o->right ? NULL : o->tag);
  if (!say && o->right && d->item->why.in[lang])
    say = answer_text(d, &d->item->why, lang);
  if (!say)
    say = phrases_fill(o->right ? PHRASE_RIGHT : PHRASE_PLAIN_WRONG, lang, "", "");
  verdict(&g, o->right ? ANSWER_RIGHT : ANSWER_WRONG, say, o->right ? "" : o->tag);
}

/* ---- order: steps with equal texts may change places, so places are compared by text */

static int class_of(const struct item *item, int step) {
  for (int i = 0; i < step; i++)
    if (strcmp(item->order_steps[i].in[LANG_EN], item->order_steps[step].in[LANG_EN]) == 0)
      return i;
  return step;
}

/* Longest common subsequence with the right order, over the length. */
static double credit(const int *given, const int *right, int n) {
  int best[9][9] = {{0}};
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= n; j++) {
      int skip = best[i - 1][j] > best[i][j - 1] ? best[i - 1][j] : best[i][j - 1];
      best[i][j] = given[i - 1] == right[j - 1] ? best[i - 1][j - 1] + 1 : skip;
    }
  return n ? (double)best[n][n] / n : 0;
}

void answer_order(const struct answer_draw *d, const int *perm, enum lang lang,
                  struct answer_graded *out) {
  struct grader g = {d, lang, out};
  const struct item *item = d->item;
  int given[8], right[8], first = -1;
  assert(d->noptions <= 8);
  memset(out, 0, sizeof *out);
  for (int j = 0; j < d->noptions; j++) {
    assert(perm[j] >= 0 && perm[j] < d->noptions);
    given[j] = class_of(item, d->option[perm[j]]);
    right[j] = class_of(item, j);
    if (first < 0 && given[j] != right[j])
      first = j;
  }
  out->value = credit(given, right, d->noptions);
  if (first < 0) {
    char *why = answer_text(d, &item->why, lang);
    verdict(&g, ANSWER_RIGHT, *why ? why : phrases_fill(PHRASE_RIGHT, lang, "", ""), "");
    if (out->say != why)
      free(why);
    return;
  }
  char *a = answer_text(d, &item->order_steps[right[first]], lang);
  char *b = answer_text(d, &item->order_steps[given[first]], lang);
  phrase(&g, ANSWER_WRONG, PHRASE_ORDER, a, b);
  free(a);
  free(b);
}

void answer_graded_done(struct answer_graded *g) {
  free(g->say);
  g->say = NULL;
}
