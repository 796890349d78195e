/* The fixed sentences of grading, in both languages. */
#ifndef MM_LESSON_PHRASES_H
#define MM_LESSON_PHRASES_H

#include "lesson/lesson.h"

enum phrase {
  PHRASE_RIGHT,
  PHRASE_RATE_FOR_AMOUNT,
  PHRASE_AMOUNT_FOR_RATE,
  PHRASE_UNIT_WRONG, /* given, asked */
  PHRASE_PERCENT,
  PHRASE_SLIP_THOUSANDS, /* times: "1000" */
  PHRASE_SLIP_BINARY,
  PHRASE_SLIP_BITS,
  PHRASE_NEAR,
  PHRASE_PLAIN_WRONG,
  PHRASE_NO_OPTION, /* last letter */
  PHRASE_ORDER,     /* first text, second text */
  PHRASE_NO_KEY,
  PHRASES
};

/* The sentence; the comments above name the strings that it takes. Static text. */
const char *phrases_text(enum phrase p, enum lang lang);

/* The sentence with its first and second string put in ("" where it takes none). The caller frees.
 */
char *phrases_fill(enum phrase p, enum lang lang, const char *a, const char *b);

#endif
