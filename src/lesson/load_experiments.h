/* The "experiments" of a lesson.json. */
#ifndef MM_LESSON_LOAD_EXPERIMENTS_H
#define MM_LESSON_LOAD_EXPERIMENTS_H

#include "lesson/load.h"

/* Fills l->experiments. On failure the sentence is in ld->err, and l holds what was read so far. */
bool load_experiments(const struct load *ld, const cJSON *root, struct lesson *l);

/* Frees what an experiment holds, not the struct itself. */
void load_experiments_done(struct experiment *e);

#endif
