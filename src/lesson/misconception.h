/* The register of misconceptions: one sentence a tag, from assets/misconceptions.json. */
#ifndef MM_LESSON_MISCONCEPTION_H
#define MM_LESSON_MISCONCEPTION_H

#include "lesson/lesson.h"

/* What to say to somebody who holds it, NULL for an unknown tag. The text lives as long as the
 * program. The register is read once; one that is missing or damaged has no tags. Not for several
 * threads. */
const char *misconception_text(const char *tag, enum lang lang);

/* Why the register could not be read, "" if it could. */
const char *misconception_complaint(void);

#endif
