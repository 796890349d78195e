/* The question of an item step: its state, its keys, and its part of the text pane. */
#ifndef MM_UI_VIEWS_LESSON_ITEM_H
#define MM_UI_VIEWS_LESSON_ITEM_H

#include "lesson/lesson.h"
#include "ui/canvas.h"
#include "ui/page.h"
#include "ui/ui.h"

/* Puts the question into the lesson's state: as it was left if it was answered, else drawn anew. it
 * NULL: the step has none. */
void lesson_item_open(ui *u, const struct item *it);
void lesson_item_close(ui *u);

/* Grades the last answer again, in the language of now. */
void lesson_item_language(ui *u);

/* Keys while it is typed into (numeric) or put in order; true if taken. */
bool lesson_item_key(ui *u, int key);

/* Letters, Enter and hints; true if taken. */
bool lesson_item_command(ui *u, enum command cmd);

/* Leaves the field; true if it had the focus. */
bool lesson_item_leave(ui *u);

/* KEYS_CHOICE, KEYS_FIELD or 0. */
unsigned lesson_item_contexts(const ui *u);

/* Adds the question, its options, the verdict, hints and solution. Returns the line of the field,
 * -1 if there is none. */
int lesson_item_page(ui *u, page *p);

/* Draws the field at its line. */
void lesson_item_field(ui *u, canvas *cv, struct rect line);

#endif
