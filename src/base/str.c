#include "base/str.h"

#include "base/alloc.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for n more bytes and the NUL. */
static void reserve(struct str *s, size_t n) {
  size_t need = n < SIZE_MAX - s->len - 1 ? s->len + n + 1 : SIZE_MAX;
  if (need <= s->cap)
    return;
  size_t cap = s->cap < 32 ? 32 : s->cap;
  while (cap < need)
    cap = cap > SIZE_MAX / 2 ? SIZE_MAX : cap * 2;
  s->data = alloc_grow(s->data, cap, 1);
  s->cap = cap;
}

void str_addn(struct str *s, const char *text, size_t n) {
  /* A piece of the string itself may be added: it moves when the string grows. */
  size_t own = SIZE_MAX;
  if (s->data && text >= s->data && text < s->data + s->cap)
    own = (size_t)(text - s->data);
  reserve(s, n);
  if (n)
    memmove(s->data + s->len, own != SIZE_MAX ? s->data + own : text, n);
  s->len += n;
  s->data[s->len] = '\0';
}

void str_add(struct str *s, const char *text) { str_addn(s, text, strlen(text)); }

void str_addc(struct str *s, char c) { str_addn(s, &c, 1); }

void str_addf(struct str *s, const char *fmt, ...) {
  char small[256];
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(small, sizeof small, fmt, ap);
  va_end(ap);
  assert(n >= 0);
  if (n < 0)
    return;
  if ((size_t)n < sizeof small) {
    str_addn(s, small, (size_t)n);
    return;
  }
  char *big = alloc_zero((size_t)n + 1, 1);
  va_start(ap, fmt);
  vsnprintf(big, (size_t)n + 1, fmt, ap);
  va_end(ap);
  str_addn(s, big, (size_t)n);
  free(big);
}

void str_add_num(struct str *s, double value) {
  char text[64];
  if (fabs(value) <= 0x1p53 && value == floor(value)) {
    str_addf(s, "%.0f", value == 0 ? 0.0 : value); /* never "-0" */
    return;
  }
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value)
      break;
  }
  for (char *c = text; *c; c++)
    if (*c == ',') /* a process that has set another locale */
      *c = '.';
  str_add(s, text);
}

void str_clear(struct str *s) {
  s->len = 0;
  if (s->data)
    s->data[0] = '\0';
}

void str_free(struct str *s) {
  free(s->data);
  *s = (struct str){0};
}

char *str_take(struct str *s) {
  char *data = s->data ? s->data : alloc_str("");
  *s = (struct str){0};
  return data;
}
