#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void log_line(const char *fmt, ...) {
  static FILE *file;
  static int tried;
  if (!tried) {
    const char *path = getenv("MMTUTOR_LOG");
    tried = 1;
    if (path && *path)
      file = fopen(path, "a");
  }
  if (!file)
    return;
  va_list ap;
  va_start(ap, fmt);
  vfprintf(file, fmt, ap);
  va_end(ap);
  fputc('\n', file);
  fflush(file);
}
