/* What a learner has done: steps seen, answers, predictions, where to resume. XDG state,
 * progress.json (schema 1). */
#ifndef MM_LESSON_PROGRESS_H
#define MM_LESSON_PROGRESS_H

#include "lesson/lesson.h"

typedef struct progress progress;

/* Opens the store. Never fails: `notice` (may be NULL) gets one sentence where nothing will be
 * saved (no home, read-only, another instance) or a damaged file was set aside. In-memory only if
 * memory_only. */
progress *progress_open(bool memory_only, struct err *notice);
void progress_close(progress *p); /* saves first */
bool progress_save(progress *p, struct err *err);

void progress_step_done(progress *p, const char *lesson, const char *step);
bool progress_step_is_done(const progress *p, const char *lesson, const char *step);
int progress_steps_done(const progress *p, const struct lesson *l);
void progress_set_at(progress *p, const char *lesson, const char *step); /* resume here */
const char *progress_at(const progress *p, const char *lesson);          /* NULL if never opened */
const char *progress_last_lesson(const progress *p);

struct progress_answer {
  char text[64]; /* as typed, or the option letter's index in the file */
  uint64_t seed;
  bool right;
  char tag[32], date[24];
};
void progress_answer(progress *p, const char *item, const struct progress_answer *a); /* appends */
int progress_answers(const progress *p, const char *item);                            /* how many */
bool progress_last_answer(const progress *p, const char *item, struct progress_answer *out);

/* A committed prediction of a step: NAN = 'no idea'. */
void progress_predict(progress *p, const char *lesson, const char *step, double value);
bool progress_prediction(const progress *p, const char *lesson, const char *step, double *value);

char *progress_get_setting(const progress *p,
                           const char *name); /* "lang" "theme"; NULL; caller frees */
void progress_set_setting(progress *p, const char *name, const char *value);

#endif
