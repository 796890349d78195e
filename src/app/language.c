#include "app/language.h"

#include <stdlib.h>
#include <string.h>

/* The names and not setlocale's answer: `read` writes UTF-8 even where the locale is not installed.
 */
static const char *locale_name(void) {
  static const char *const names[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *value = getenv(names[i]);
    if (value && *value)
      return value;
  }
  return "";
}

bool language_pick(const char *option, enum lang *out) {
  *out = LANG_EN;
  if (!option || strcmp(option, "auto") == 0)
    *out = strncmp(locale_name(), "zh", 2) == 0 ? LANG_ZH : LANG_EN;
  else if (strcmp(option, "zh") == 0)
    *out = LANG_ZH;
  else
    return strcmp(option, "en") == 0;
  return true;
}
