/* Sentences with values in them, in the language of the screen. */
#ifndef MM_UI_WORDS_H
#define MM_UI_WORDS_H

#include "ui/strings.h"

/* The text of an id with {0} {1} ... replaced by the arguments (strings, closed by NULL). A place
 * without an argument stays as it is. The caller frees. Cannot fail. */
char *words_fill(enum lang lang, const char *id, ...) __attribute__((sentinel));

/* A whole number as text, for words_fill; in buf, which is returned. */
const char *words_int(char buf[16], int value);

#endif
