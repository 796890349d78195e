#include "ui/words.h"

#include "base/str.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WORDS_ARGS = 8 };

char *words_fill(enum lang lang, const char *id, ...) {
  const char *arg[WORDS_ARGS];
  int n = 0;
  va_list ap;
  va_start(ap, id);
  for (const char *a; n < WORDS_ARGS && (a = va_arg(ap, const char *)) != NULL;)
    arg[n++] = a;
  va_end(ap);
  struct str out = {0};
  for (const char *p = strings_get(lang, id); *p; p++) {
    int i = p[0] == '{' && p[1] >= '0' && p[1] <= '9' && p[2] == '}' ? p[1] - '0' : n;
    if (i < n) {
      str_add(&out, arg[i]);
      p += 2;
    } else {
      str_addc(&out, *p);
    }
  }
  return str_take(&out);
}

const char *words_int(char buf[16], int value) {
  snprintf(buf, 16, "%d", value);
  return buf;
}
