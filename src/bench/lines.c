#include "bench/lines.h"

#include <string.h>

static void drop_read(struct lines *l) {
  if (l->pos == 0)
    return;
  l->buf.len -= l->pos;
  if (l->buf.data)
    memmove(l->buf.data, l->buf.data + l->pos, l->buf.len + 1);
  l->pos = 0;
}

void lines_feed(struct lines *l, const char *data, size_t n) {
  drop_read(l);
  str_addn(&l->buf, data, n);
}

/* The '\n' that ends the line at pos, or NULL. */
static char *line_end(struct lines *l) {
  size_t from = l->pos + l->seen;
  char *end = from < l->buf.len ? memchr(l->buf.data + from, '\n', l->buf.len - from) : NULL;
  l->seen = end ? 0 : l->buf.len - l->pos;
  return end;
}

enum lines_got lines_next(struct lines *l, char **line, size_t *n) {
  for (;;) {
    char *end = line_end(l);
    size_t len = end ? (size_t)(end - l->buf.data) - l->pos : l->seen;
    if (len > LINES_MAX || (l->skipping && !end)) {
      bool told = l->skipping;
      l->skipping = !end;
      l->pos = end ? l->pos + len + 1 : l->buf.len;
      l->seen = 0;
      if (!told)
        return LINES_TOO_LONG;
      if (!end)
        return LINES_NONE;
      continue;
    }
    if (!end)
      return LINES_NONE;
    size_t start = l->pos;
    l->pos += len + 1;
    if (l->skipping) {
      l->skipping = false;
      continue;
    }
    *end = '\0';
    *line = l->buf.data + start;
    *n = len;
    return LINES_ONE;
  }
}

void lines_free(struct lines *l) {
  str_free(&l->buf);
  *l = (struct lines){0};
}
