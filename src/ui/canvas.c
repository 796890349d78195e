#include "ui/canvas.h"

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "base/utf8.h"
#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct canvas {
  int cols, rows;
  struct cell *cells;
  struct rect clip;
  bool ascii;
  int cursor_x, cursor_y;
  struct ask *asks;
  int nasks, cap_asks;
  char **clipped;
  int nclipped, cap_clipped;
};

static const struct cell blank = {.glyph = " ", .width = 1, .role = ROLE_TEXT, .mark = 0};

static void forget_lists(canvas *cv) {
  for (int i = 0; i < cv->nasks; i++) {
    struct ask *a = &cv->asks[i];
    free(a->label);
    free(a->formula);
    free(a->filled);
    free(a->value);
    free(a->source);
    free(a->holds);
  }
  for (int i = 0; i < cv->nclipped; i++)
    free(cv->clipped[i]);
  cv->nasks = cv->nclipped = 0;
}

canvas *canvas_new(int cols, int rows) {
  canvas *cv = alloc_zero(1, sizeof *cv);
  canvas_resize(cv, cols, rows);
  return cv;
}

void canvas_free(canvas *cv) {
  if (!cv)
    return;
  forget_lists(cv);
  free(cv->asks);
  free(cv->clipped);
  free(cv->cells);
  free(cv);
}

void canvas_resize(canvas *cv, int cols, int rows) {
  assert(cols >= 1 && rows >= 1);
  if (cols != cv->cols || rows != cv->rows) {
    free(cv->cells);
    cv->cells = alloc_zero((size_t)cols * (size_t)rows, sizeof *cv->cells);
    cv->cols = cols;
    cv->rows = rows;
  }
  canvas_clear(cv);
}

void canvas_clear(canvas *cv) {
  size_t n = (size_t)cv->cols * (size_t)cv->rows;
  cv->cells[0] = blank;
  /* Doubling copies: a frame of 250 x 70 is cleared in microseconds. */
  for (size_t done = 1; done < n; done *= 2)
    memcpy(cv->cells + done, cv->cells, (done * 2 <= n ? done : n - done) * sizeof *cv->cells);
  cv->clip = (struct rect){0, 0, cv->cols, cv->rows};
  cv->cursor_x = cv->cursor_y = -1;
  forget_lists(cv);
}

int canvas_cols(const canvas *cv) { return cv->cols; }
int canvas_rows(const canvas *cv) { return cv->rows; }

static struct cell *cell_at(const canvas *cv, int x, int y) {
  return &cv->cells[(size_t)y * (size_t)cv->cols + (size_t)x];
}

const struct cell *canvas_at(const canvas *cv, int x, int y) {
  if (x < 0 || y < 0 || x >= cv->cols || y >= cv->rows)
    return NULL;
  return cell_at(cv, x, y);
}

void canvas_set_ascii(canvas *cv, bool ascii) { cv->ascii = ascii; }
bool canvas_is_ascii(const canvas *cv) { return cv->ascii; }

static struct rect within(struct rect a, struct rect b) {
  int64_t x0 = a.x > b.x ? a.x : b.x, y0 = a.y > b.y ? a.y : b.y;
  int64_t ax = (int64_t)a.x + a.w, bx = (int64_t)b.x + b.w;
  int64_t ay = (int64_t)a.y + a.h, by = (int64_t)b.y + b.h;
  int64_t x1 = ax < bx ? ax : bx, y1 = ay < by ? ay : by;
  return (struct rect){(int)x0, (int)y0, x1 > x0 ? (int)(x1 - x0) : 0,
                       y1 > y0 ? (int)(y1 - y0) : 0};
}

struct rect canvas_clip(canvas *cv, struct rect r) {
  struct rect old = cv->clip;
  cv->clip = within(r, (struct rect){0, 0, cv->cols, cv->rows});
  return old;
}

static bool in_clip(const canvas *cv, int x, int y) {
  const struct rect *c = &cv->clip;
  return x >= c->x && x < c->x + c->w && y >= c->y && y < c->y + c->h;
}

/* ---- single cells */

/* Makes (x, y) free to write: the half of a wide character that stays beside it becomes a space. */
static void release(canvas *cv, int x, int y) {
  struct cell *c = cell_at(cv, x, y);
  if (c->width == 2 && x + 1 < cv->cols)
    memcpy(c[1].glyph, " ", 2), c[1].width = 1;
  else if (c->width == 0 && x > 0)
    memcpy(c[-1].glyph, " ", 2), c[-1].width = 1;
}

static void put_narrow(canvas *cv, int x, int y, enum role role, unsigned mark, const char *g,
                       size_t n) {
  release(cv, x, y);
  struct cell *c = cell_at(cv, x, y);
  memcpy(c->glyph, g, n);
  c->glyph[n] = '\0';
  c->width = 1;
  c->role = (unsigned char)role;
  c->mark = (unsigned char)mark;
}

static void put_wide(canvas *cv, int x, int y, enum role role, unsigned mark, const char *g,
                     size_t n) {
  bool left = in_clip(cv, x, y), right = in_clip(cv, x + 1, y);
  if (!left || !right) {
    if (left)
      put_narrow(cv, x, y, role, mark, " ", 1);
    if (right)
      put_narrow(cv, x + 1, y, role, mark, " ", 1);
    return;
  }
  put_narrow(cv, x, y, role, mark, g, n);
  put_narrow(cv, x + 1, y, role, mark, "", 0);
  cell_at(cv, x, y)->width = 2;
  cell_at(cv, x + 1, y)->width = 0;
}

/* A grapheme is stored whole up to 23 bytes; a longer one loses marks behind its base. */
static size_t storable(const char *g, size_t n, int *width) {
  if (n <= sizeof((struct cell *)0)->glyph - 1)
    return n;
  size_t keep = sizeof((struct cell *)0)->glyph - 1;
  while (keep > 0 && ((unsigned char)g[keep] & 0xC0) == 0x80)
    keep--;
  *width = utf8_width_n(g, keep);
  return keep;
}

static void put_grapheme(canvas *cv, int x, int y, enum role role, unsigned mark, const char *g,
                         size_t n, int width) {
  if (width == 2)
    put_wide(cv, x, y, role, mark, g, n);
  else if (in_clip(cv, x, y))
    put_narrow(cv, x, y, role, mark, g, n);
}

/* The same in ASCII mode. A form narrower than its sign is followed by a space. */
static void put_ascii(canvas *cv, int x, int y, enum role role, unsigned mark, const char *g,
                      size_t n, int width) {
  char one[sizeof((struct cell *)0)->glyph];
  memcpy(one, g, n);
  one[n] = '\0';
  const char *form = utf8_ascii_cell(one, width);
  size_t len = strlen(form);
  int form_width = utf8_width(form);
  if (len >= sizeof one || form_width < 1 || form_width > width) {
    form = "?";
    len = 1;
    form_width = 1;
  }
  put_grapheme(cv, x, y, role, mark, form, len, form_width);
  if (form_width < width && in_clip(cv, x + 1, y))
    put_narrow(cv, x + 1, y, role, mark, " ", 1);
}

static bool is_control(const char *s) {
  unsigned char c = (unsigned char)s[0];
  return c < 0x20 || c == 0x7F || (c == 0xC2 && (unsigned char)s[1] < 0xA0);
}

/* Bytes of the next thing to draw of s, and its columns; ASCII takes the short way. */
static size_t next_grapheme(const char *s, int *width) {
  unsigned char c = (unsigned char)s[0];
  if (c >= 0x20 && c < 0x7F && (unsigned char)s[1] < 0x80) {
    *width = 1;
    return 1;
  }
  size_t n = utf8_grapheme(s, width);
  if (is_control(s))
    *width = 0;
  return n;
}

static int draw(canvas *cv, int x, int y, enum role role, unsigned mark, const char *s, size_t n) {
  assert(role < ROLE_COUNT);
  int64_t at = x;
  for (size_t i = 0; i < n && s[i];) {
    int width;
    size_t len = next_grapheme(s + i, &width);
    if (len == 0)
      break;
    const char *g = s + i;
    i += len;
    if (width < 1)
      continue;
    bool invalid = len == 1 && (unsigned char)g[0] >= 0x80;
    if (invalid)
      g = "\xEF\xBF\xBD", len = 3;
    len = storable(g, len, &width);
    if (at > -2 && at < cv->cols && width >= 1) {
      if (cv->ascii && (unsigned char)g[0] >= 0x80)
        put_ascii(cv, (int)at, y, role, mark, g, len, width);
      else
        put_grapheme(cv, (int)at, y, role, mark, g, len, width);
    }
    at += width;
  }
  return (int)(at - x);
}

/* ---- text */

int canvas_text(canvas *cv, int x, int y, enum role role, unsigned mark, const char *text) {
  return draw(cv, x, y, role, mark, text, SIZE_MAX);
}

int canvas_textf(canvas *cv, int x, int y, enum role role, unsigned mark, const char *fmt, ...) {
  char small[512];
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(small, sizeof small, fmt, ap);
  va_end(ap);
  if (n < 0)
    return 0;
  if ((size_t)n < sizeof small)
    return canvas_text(cv, x, y, role, mark, small);
  char *big = alloc_zero((size_t)n + 1, 1);
  va_start(ap, fmt);
  vsnprintf(big, (size_t)n + 1, fmt, ap);
  va_end(ap);
  int taken = canvas_text(cv, x, y, role, mark, big);
  free(big);
  return taken;
}

int canvas_right(canvas *cv, int right, int y, enum role role, unsigned mark, const char *text) {
  int x = right - utf8_width(text);
  canvas_text(cv, x, y, role, mark, text);
  return x;
}

int canvas_fit(canvas *cv, int x, int y, int w, enum role role, unsigned mark, const char *text) {
  if (w <= 0)
    return 0;
  int width = utf8_width(text);
  if (width <= w)
    return canvas_text(cv, x, y, role, mark, text);
  int used = 0;
  size_t n = utf8_clip(text, w - 1, &used);
  draw(cv, x, y, role, mark, text, n);
  canvas_text(cv, x + used, y, role, mark, "\xE2\x80\xA6");
  return used + 1;
}

int canvas_wrap(canvas *cv, struct rect r, int skip, enum role role, unsigned mark,
                const char *text) {
  struct utf8_line *lines;
  int n = (int)utf8_wrap(text, r.w > 2 ? r.w : 2, &lines);
  struct rect old = cv->clip;
  cv->clip = within(r, old);
  for (int i = skip > 0 ? skip : 0; i < n && i - skip < r.h; i++)
    draw(cv, r.x, r.y + i - skip, role, mark, text + lines[i].start, lines[i].len);
  cv->clip = old;
  free(lines);
  return n;
}

/* ---- areas */

void canvas_fill(canvas *cv, struct rect r, enum role role, const char *glyph) {
  struct rect in = within(r, cv->clip);
  int width;
  size_t len = next_grapheme(glyph, &width);
  if (len == 0 || width < 1)
    return;
  for (int y = in.y; y < in.y + in.h; y++)
    for (int x = in.x; x + width <= in.x + in.w; x += width)
      draw(cv, x, y, role, 0, glyph, len);
}

void canvas_hline(canvas *cv, int x, int y, int w, enum role role) {
  canvas_fill(cv, (struct rect){x, y, w, 1}, role, "\xE2\x94\x80");
}

void canvas_vline(canvas *cv, int x, int y, int h, enum role role) {
  canvas_fill(cv, (struct rect){x, y, 1, h}, role, "\xE2\x94\x82");
}

void canvas_paint(canvas *cv, struct rect r, enum role role, unsigned mark) {
  assert(role < ROLE_COUNT);
  struct rect in = within(r, cv->clip);
  for (int y = in.y; y < in.y + in.h; y++)
    for (int x = in.x; x < in.x + in.w; x++) {
      struct cell *c = cell_at(cv, x, y);
      c->role = (unsigned char)role;
      c->mark = (unsigned char)mark;
      /* Both halves of a wide character look the same. */
      if (c->width == 2 && x + 1 < cv->cols)
        c[1].role = c->role, c[1].mark = c->mark;
      else if (c->width == 0 && x > 0)
        c[-1].role = c->role, c[-1].mark = c->mark;
    }
}

/* ---- what must be seen, what can be asked */

int canvas_essential(canvas *cv, int x, int y, enum role role, unsigned mark, const char *text) {
  int w = canvas_text(cv, x, y, role, mark, text);
  if (w > 0 && (!in_clip(cv, x, y) || !in_clip(cv, x + w - 1, y))) {
    if (cv->nclipped == cv->cap_clipped) {
      cv->cap_clipped = cv->cap_clipped ? cv->cap_clipped * 2 : 8;
      cv->clipped = alloc_grow(cv->clipped, (size_t)cv->cap_clipped, sizeof *cv->clipped);
    }
    cv->clipped[cv->nclipped++] = alloc_str(text);
  }
  return w;
}

int canvas_clipped(const canvas *cv) { return cv->nclipped; }

const char *canvas_clipped_text(const canvas *cv, int i) {
  assert(i >= 0 && i < cv->nclipped);
  return cv->clipped[i];
}

void canvas_ask(canvas *cv, struct rect at, const char *label, const char *formula,
                const char *filled, const char *value, const char *source, const char *holds) {
  if (cv->nasks == cv->cap_asks) {
    cv->cap_asks = cv->cap_asks ? cv->cap_asks * 2 : 16;
    cv->asks = alloc_grow(cv->asks, (size_t)cv->cap_asks, sizeof *cv->asks);
  }
  cv->asks[cv->nasks++] = (struct ask){
      .at = at,
      .label = alloc_str(label),
      .formula = alloc_str(formula),
      .filled = alloc_str(filled),
      .value = alloc_str(value),
      .source = alloc_str(source),
      .holds = alloc_str(holds),
  };
}

int canvas_asks(const canvas *cv) { return cv->nasks; }

const struct ask *canvas_ask_at(const canvas *cv, int i) {
  return i >= 0 && i < cv->nasks ? &cv->asks[i] : NULL;
}

void canvas_cursor(canvas *cv, int x, int y) {
  cv->cursor_x = x;
  cv->cursor_y = y;
}

void canvas_cursor_get(const canvas *cv, int *x, int *y) {
  *x = cv->cursor_x;
  *y = cv->cursor_y;
}

/* ---- output */

char *canvas_to_text(const canvas *cv) {
  struct str out = {0};
  for (int y = 0; y < cv->rows; y++) {
    for (int x = 0; x < cv->cols; x++)
      str_add(&out, cell_at(cv, x, y)->glyph);
    str_addc(&out, '\n');
  }
  return str_take(&out);
}

bool canvas_check(const canvas *cv, struct err *err) {
  for (int y = 0; y < cv->rows; y++) {
    int cols = 0;
    for (int x = 0; x < cv->cols; x++) {
      const struct cell *c = cell_at(cv, x, y);
      bool half = x > 0 && c[-1].width == 2;
      if (half != (c->width == 0) || (c->width == 2 && x + 1 == cv->cols))
        return err_set(err, "A wide character is cut at column %d of row %d.", x, y);
      if (utf8_width(c->glyph) != c->width || is_control(c->glyph) != (c->width == 0))
        return err_set(err, "The cell at column %d of row %d is not %d wide.", x, y, c->width);
      if (c->role >= ROLE_COUNT)
        return err_set(err, "The cell at column %d of row %d has no role.", x, y);
      cols += c->width;
    }
    if (cols != cv->cols)
      return err_set(err, "Row %d is %d columns wide, not %d.", y, cols, cv->cols);
  }
  return true;
}
