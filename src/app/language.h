/* The language of the commands that print text. */
#ifndef MM_APP_LANGUAGE_H
#define MM_APP_LANGUAGE_H

#include "lesson/lesson.h"

/* "en", "zh", "auto" or NULL (auto: Chinese in a Chinese locale). False for another word. */
bool language_pick(const char *option, enum lang *out);

#endif
