/* One question put to a learner: the draw, the shuffled options, the grading and what to say. */
#ifndef MM_LESSON_ANSWER_H
#define MM_LESSON_ANSWER_H

#include "lesson/lesson.h"

/* A drawn instance of an item; plain data, freed with answer_done. The same (item, seed) gives the
 * same draw and shuffle. */
enum { ANSWER_DRAWS = 8 };
struct answer_draw {
  const struct item *item;
  uint64_t seed;
  int pick[ANSWER_DRAWS]; /* which value of each item->draw */
  struct expr_vars vars;  /* the drawn parameters */
  int option[8];          /* shown position -> index in item->options (or order_steps) */
  int noptions;
  double key; /* numeric: in the base unit of item->unit; NAN if it cannot be computed */
};

void answer_draw(struct answer_draw *d, const struct item *item, uint64_t seed);

/* The same with given picks instead of drawn ones; pick has item->ndraw entries. */
void answer_draw_at(struct answer_draw *d, const struct item *item, uint64_t seed, const int *pick);
void answer_done(struct answer_draw *d);

/* The stem (hint i, solution, why) with the drawn numbers put in. The caller frees. */
char *answer_stem(const struct answer_draw *d, enum lang lang);
char *answer_text(const struct answer_draw *d, const struct text2 *t, enum lang lang);

enum answer_verdict {
  ANSWER_RIGHT,
  ANSWER_RIGHT_NOTE, /* another accepted key: right, with a remark */
  ANSWER_WRONG,
  ANSWER_UNREAD /* it could not be read: nothing is counted, the sentence says why */
};

struct answer_graded {
  enum answer_verdict verdict;
  char *say;    /* the sentence for this very answer; the caller frees */
  char tag[32]; /* the misconception, or "" */
  double value; /* numeric: what was understood */
};

/* Grades a numeric answer. Order: unreadable; unit class wrong; within tolerance; accepted keys;
 * unit-scale slip (10^3 10^6 10^9 1024^k 8); malrules in order (one that meets the key for this
 * draw is dropped); within 25 %: right method, slip in arithmetic; plain wrong. Where a malrule and
 * a unit slip give the same number, the malrule speaks: its sentence is the more specific. */
void answer_numeric(const struct answer_draw *d, const char *text, enum lang lang,
                    struct answer_graded *out);

/* Grades the choice of shown option i (0 = a). */
void answer_choice(const struct answer_draw *d, int i, enum lang lang, struct answer_graded *out);

/* Grades an order: perm[j] = shown position put in place j. Partial credit 0..1 in value. */
void answer_order(const struct answer_draw *d, const int *perm, enum lang lang,
                  struct answer_graded *out);
void answer_graded_done(struct answer_graded *g);

/* A key expression (key, accept, mal) for this draw in the base unit; false if it has no value. */
bool answer_value(const struct answer_draw *d, const char *key, double *value);

/* How far a value may be from the key (base unit), times `factor`. */
double answer_tolerance(const struct answer_draw *d, double key, double factor);

/* The right answer as text ("131 KB", "B"); for order the texts in their order. The caller frees.
 */
char *answer_right(const struct answer_draw *d, enum lang lang);

#endif
