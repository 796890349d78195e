/* The "steps" of a lesson.json, before their prose is joined. */
#ifndef MM_LESSON_LOAD_STEPS_H
#define MM_LESSON_LOAD_STEPS_H

#include "lesson/load.h"

/* Fills l->steps; items and experiments must be there already, so that references can be resolved.
 * On failure the sentence is in ld->err, and l holds what was read so far. */
bool load_steps(const struct load *ld, const cJSON *root, struct lesson *l);

/* Frees what a step holds, not the struct itself. */
void load_steps_done(struct step *s);

/* The kind as it is written in lesson.json. */
const char *load_steps_kind(enum step_kind kind);

#endif
