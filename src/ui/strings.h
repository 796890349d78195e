/* Every word of the screens in both languages, from assets/strings.json. */
#ifndef MM_UI_STRINGS_H
#define MM_UI_STRINGS_H

#include "lesson/lesson.h"

/* The text of an id ("live.verify"); a text that is missing is the id itself (and a test fails).
 * The pointer lives as long as the program. */
const char *strings_get(enum lang lang, const char *id);

/* auto: LC_ALL > LC_MESSAGES > LANG, zh* gives Chinese if the locale is UTF-8. */
enum lang strings_lang(const char *option);

#endif
