/* The "items" of a lesson.json. */
#ifndef MM_LESSON_LOAD_ITEMS_H
#define MM_LESSON_LOAD_ITEMS_H

#include "lesson/load.h"

/* Fills l->items. On failure the sentence is in ld->err, and l holds what was read so far. */
bool load_items(const struct load *ld, const cJSON *root, struct lesson *l);

/* Frees what an item holds, not the struct itself. */
void load_items_done(struct item *item);

#endif
