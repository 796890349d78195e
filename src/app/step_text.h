/* A step of a lesson as lines of text, for `read` and the plain tutor. */
#ifndef MM_APP_STEP_TEXT_H
#define MM_APP_STEP_TEXT_H

#include "app/paper.h"
#include "app/sayings.h"
#include "app/values.h"
#include "lesson/answer.h"

struct step_text {
  struct paper *paper;
  struct values *values;
  const struct lesson *lesson;
  enum lang lang;
  bool no_gpu; /* known to be so here: the x-ray or the CPU stands in */
};

/* The side of an experiment that is shown, and run (EXP_CUDA ...). */
int step_text_place(const struct step_text *t, const struct experiment *e);

/* Title, prose, and what the step shows besides (simulator, figure, code, question of a prediction,
 * runs). Items are left out. */
void step_text_put(const struct step_text *t, int index);

/* The prose of any section by its id; nothing if there is none. */
void step_text_section(const struct step_text *t, const char *id);

/* The question with its options or steps. */
void step_text_item(const struct step_text *t, const struct answer_draw *d);

/* The right answer, why, and the way to it. */
void step_text_answer(const struct step_text *t, const struct answer_draw *d);

/* One filled sentence as a paragraph. */
void step_text_say(const struct step_text *t, enum saying s, const char *a, const char *b,
                   const char *c);

/* A sentence of the layers below, in English, as a paragraph in the language of t; the second says
 * with it that a run did not come about. */
void step_text_sentence(const struct step_text *t, const char *english);
void step_text_failed(const struct step_text *t, const char *english);

/* "M = 4096, N = 4096, K = 4096, T = 32" of a run of the kernel. The caller frees. */
char *step_text_size(const struct kernel *k, const struct kernel_size *size);

#endif
