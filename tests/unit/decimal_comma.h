/* A locale with a decimal comma, made on the spot where the system has none. */
#ifndef MM_TESTS_DECIMAL_COMMA_H
#define MM_TESTS_DECIMAL_COMMA_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline bool decimal_comma_try(void) {
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
  for (size_t i = 0; i < 4; i++)
    if (setlocale(LC_NUMERIC, names[i]) && strcmp(localeconv()->decimal_point, ",") == 0)
      return true;
  return false;
}

/* True if LC_NUMERIC now has a comma; false (after a note) where that cannot be had. */
static inline bool decimal_comma(void) {
  if (decimal_comma_try())
    return true;
  char dir[] = "/tmp/mmtutor-locale-XXXXXX", command[256];
  if (!mkdtemp(dir))
    return false;
  snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1",
           dir);
  bool made = system(command) == 0;
  setenv("LOCPATH", dir, 1);
  made = made && decimal_comma_try();
  unsetenv("LOCPATH");
  snprintf(command, sizeof command, "rm -rf %s", dir);
  if (system(command) != 0 || !made)
    printf("# no locale with a decimal comma here\n");
  return made;
}

#endif
