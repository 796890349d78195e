/* Texts of items with the drawn numbers put in: {name} and {{expr|unit digits}}. */
#ifndef MM_LESSON_FILLIN_H
#define MM_LESSON_FILLIN_H

#include "lesson/answer.h"

/* The text for this draw; {x} of an unknown x stays as it is, an expression without value is "-".
 * The caller frees. */
char *fillin_text(const struct answer_draw *d, const char *text);

/* False with a sentence for a {name} that is not drawn or an expression that has no value here. */
bool fillin_check(const struct answer_draw *d, const char *text, struct err *err);

#endif
