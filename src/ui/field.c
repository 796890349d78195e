#include "ui/field.h"

#include "base/utf8.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

void field_init(struct field *f, int max_cols) {
  memset(f, 0, sizeof *f);
  f->max_cols = max_cols;
}

/* Bytes of the grapheme that ends at byte `at`. */
static size_t before(const struct field *f, size_t at) {
  size_t i = 0, n = 0;
  while (i < at) {
    n = utf8_grapheme(f->text + i, NULL);
    if (n == 0)
      break;
    i += n;
  }
  return n < at ? n : at;
}

static int encode(int key, char out[5]) {
  unsigned c = (unsigned)key;
  int n = 0;
  if (c < 0x80) {
    out[n++] = (char)c;
  } else if (c < 0x800) {
    out[n++] = (char)(0xC0 | c >> 6);
    out[n++] = (char)(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out[n++] = (char)(0xE0 | c >> 12);
    out[n++] = (char)(0x80 | (c >> 6 & 0x3F));
    out[n++] = (char)(0x80 | (c & 0x3F));
  } else {
    out[n++] = (char)(0xF0 | c >> 18);
    out[n++] = (char)(0x80 | (c >> 12 & 0x3F));
    out[n++] = (char)(0x80 | (c >> 6 & 0x3F));
    out[n++] = (char)(0x80 | (c & 0x3F));
  }
  out[n] = 0;
  return n;
}

static void insert(struct field *f, const char *s, size_t n) {
  size_t len = strlen(f->text);
  if (len + n >= sizeof f->text)
    return;
  struct field old = *f;
  memmove(f->text + f->at + n, f->text + f->at, len - f->at + 1);
  memcpy(f->text + f->at, s, n);
  f->at += n;
  if (f->max_cols > 0 && utf8_width(f->text) > f->max_cols)
    *f = old;
}

static void erase(struct field *f, size_t at, size_t n) {
  size_t len = strlen(f->text);
  memmove(f->text + at, f->text + at + n, len - at - n + 1);
}

void field_set(struct field *f, const char *text) {
  char *clean = utf8_clean(text, strlen(text));
  f->text[0] = 0;
  f->at = 0;
  for (const char *p = clean; *p && *p != '\n';) {
    size_t n = utf8_grapheme(p, NULL), was = f->at;
    insert(f, p, n);
    if (f->at == was)
      break;
    p += n;
  }
  free(clean);
}

/* A combining mark typed behind a letter joins its grapheme; the cursor then must not stand inside
 * it. */
static void settle(struct field *f) {
  size_t i = 0;
  while (i < f->at) {
    size_t n = utf8_grapheme(f->text + i, NULL);
    if (n == 0)
      break;
    i += n;
  }
  f->at = i;
}

static bool is_text(int key) {
  return key >= 0x20 && key != KEYS_BACKSPACE && key < 0x110000 && !(key >= 0x80 && key < 0xA0) &&
         !(key >= 0xD800 && key < 0xE000);
}

static void type(struct field *f, int key) {
  char raw[5];
  size_t n = (size_t)encode(key, raw);
  char *clean = utf8_clean(raw, n); /* bidi controls and the like stay out */
  if (strcmp(clean, raw) == 0) {
    insert(f, raw, n);
    settle(f);
  }
  free(clean);
}

bool field_key(struct field *f, int key) {
  size_t len = strlen(f->text);
  assert(f->at <= len);
  switch (key) {
  case KEYS_LEFT:
    f->at -= before(f, f->at);
    return true;
  case KEYS_RIGHT:
    f->at += utf8_grapheme(f->text + f->at, NULL);
    return true;
  case KEYS_HOME:
    f->at = 0;
    return true;
  case KEYS_END:
    f->at = len;
    return true;
  case KEYS_BACKSPACE:
  case 8: {
    size_t n = before(f, f->at);
    f->at -= n;
    erase(f, f->at, n);
    settle(f);
    return true;
  }
  case KEYS_DELETE:
    erase(f, f->at, utf8_grapheme(f->text + f->at, NULL));
    settle(f);
    return true;
  default:
    if (!is_text(key))
      return false;
    type(f, key);
    return true;
  }
}

void field_view(const struct field *f, int cols, size_t *start, size_t *len, int *cursor) {
  assert(cols >= 1);
  size_t from = 0;
  /* One column more than the text, for the cursor behind the last character. */
  while (from < f->at && utf8_width_n(f->text + from, f->at - from) >= cols)
    from += utf8_grapheme(f->text + from, NULL);
  *start = from;
  *len = utf8_clip(f->text + from, cols, NULL);
  *cursor = utf8_width_n(f->text + from, f->at - from);
}

void field_draw(const struct field *f, canvas *cv, int x, int y, int cols, bool focus) {
  if (cols < 1)
    return;
  size_t start, len;
  int cursor;
  char shown[FIELD_BYTES];
  field_view(f, cols, &start, &len, &cursor);
  memcpy(shown, f->text + start, len);
  shown[len] = 0;
  canvas_fill(cv, (struct rect){x, y, cols, 1}, ROLE_TEXT, " ");
  canvas_text(cv, x, y, focus ? ROLE_FOCUS : ROLE_TEXT, 0, shown);
  canvas_paint(cv, (struct rect){x, y, cols, 1}, focus ? ROLE_FOCUS : ROLE_DIM, MARK_UNDERLINE);
  if (!focus)
    return;
  canvas_paint(cv, (struct rect){x + cursor, y, 1, 1}, ROLE_FOCUS, MARK_REVERSE);
  canvas_cursor(cv, x + cursor, y);
}
