#include "base/alloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void out_of_memory(void) {
  fputs("mmtutor: out of memory; close other programs or choose smaller sizes and start again.\n",
        stderr);
  exit(71); /* EX_OSERR, so that atexit handlers put the terminal back */
}

void *alloc_zero(size_t n, size_t size) {
  if (n == 0 || size == 0)
    n = size = 1;
  void *p = calloc(n, size); /* calloc refuses an overflowing product */
  if (!p)
    out_of_memory();
  return p;
}

void *alloc_grow(void *p, size_t n, size_t size) {
  if (n == 0 || size == 0)
    n = size = 1;
  void *q = reallocarray(p, n, size);
  if (!q)
    out_of_memory();
  return q;
}

char *alloc_strn(const char *s, size_t n) {
  if (n == SIZE_MAX)
    out_of_memory();
  char *copy = alloc_zero(n + 1, 1);
  if (n)
    memcpy(copy, s, n);
  return copy;
}

char *alloc_str(const char *s) { return s ? alloc_strn(s, strlen(s)) : alloc_strn("", 0); }

char *alloc_printf(const char *fmt, ...) {
  char *out = NULL;
  va_list ap;
  va_start(ap, fmt);
  int n = vasprintf(&out, fmt, ap);
  va_end(ap);
  if (n < 0 || !out)
    out_of_memory();
  return out;
}
