#include "base/err.h"

#include "base/alloc.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cuts a sequence that the end of the buffer has split. */
static void trim_split_char(char *text, size_t n) {
  size_t start = n;
  while (start > 0 && n - start < 4 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
    start--;
  if (start == 0)
    return;
  unsigned char lead = (unsigned char)text[start - 1];
  size_t need = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  if (n - (start - 1) < need)
    text[start - 1] = '\0';
}

static void set(struct err *err, const char *text) {
  size_t n = strlen(text), room = sizeof err->text - 1;
  if (n <= room) {
    memcpy(err->text, text, n + 1);
    return;
  }
  memcpy(err->text, text, room);
  err->text[room] = '\0';
  trim_split_char(err->text, room);
}

/* The arguments may point into err->text itself, so the text is made elsewhere first. */
static char *make(const char *fmt, va_list ap) {
  char *text = NULL;
  if (vasprintf(&text, fmt, ap) < 0 || !text)
    return alloc_str(fmt);
  char *clean = utf8_clean(text, strlen(text)); /* what was typed or read may hold escapes */
  free(text);
  return clean;
}

_Bool err_set(struct err *err, const char *fmt, ...) {
  if (!err)
    return 0;
  va_list ap;
  va_start(ap, fmt);
  char *text = make(fmt, ap);
  va_end(ap);
  set(err, text);
  free(text);
  return 0;
}

_Bool err_prefix(struct err *err, const char *fmt, ...) {
  if (!err)
    return 0;
  va_list ap;
  va_start(ap, fmt);
  char *prefix = make(fmt, ap);
  va_end(ap);
  char *text = alloc_printf("%s: %s", prefix, err->text);
  set(err, text);
  free(text);
  free(prefix);
  return 0;
}
