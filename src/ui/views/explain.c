#include "ui/views/explain.h"

#include "base/sentences.h"
#include "base/utf8.h"
#include "ui/page.h"
#include "ui/ui_internal.h"
#include "ui/words.h"
#include <stdlib.h>
#include <string.h>

enum { LABEL_COLS = 12, SHEET_COLS = 96 };

void explain_open(ui *u) {
  u->explain = true;
  u->explain_at = 0;
}

static void put_text(const ui *u, page *p, const char *id, enum role role, const char *text) {
  const char *label = strings_get(u->lang, id);
  struct page_run name = {.role = ROLE_DIM, .text = label};
  struct page_run value = {.role = role, .text = text};
  int x = page_cols(p) >= 40 ? LABEL_COLS : 0;
  if (x == 0) {
    page_put(p, 0, NULL, ROLE_TEXT, &value, 1);
    return;
  }
  struct page_cell cells[2] = {{0, x - 1, false, &name, 1},
                               {x, page_cols(p) - x, false, &value, 1}};
  page_row(p, cells, 2);
}

/* Formulas and what stands in them may hold words; numbers have no template and stay. */
static void put_row(const ui *u, page *p, const char *id, enum role role, const char *english) {
  if (!*english)
    return;
  char *text = sentences_in(english, u->lang == LANG_ZH);
  put_text(u, p, id, role, text);
  free(text);
}

static page *build(const ui *u, const struct ask *a, int cols) {
  page *p = page_new(cols);
  page_set_ascii(p, u->ascii);
  put_row(u, p, "explain.value", ROLE_TITLE, a->value);
  put_row(u, p, "explain.formula", ROLE_CODE, a->formula);
  if (strcmp(a->filled, a->formula) != 0)
    put_row(u, p, "explain.filled", ROLE_CODE, a->filled);
  put_row(u, p, "explain.source", ROLE_TEXT, a->source);
  put_row(u, p, "explain.holds", ROLE_TEXT, a->holds);
  return p;
}

/* The sheet lies at the foot of the screen, or at its head where it would hide the number. */
static struct rect sheet(const canvas *cv, const struct rect *number, int lines) {
  int rows = canvas_rows(cv), cols = canvas_cols(cv), h = lines + 3;
  if (h > rows - 2)
    h = rows - 2;
  struct rect r = {0, rows - 1 - h, cols, h};
  if (number && number->y >= r.y)
    r.y = 1;
  return r;
}

static void draw_head(const ui *u, canvas *cv, struct rect r, const char *label) {
  char a[16], b[16];
  int x = r.x + 2;
  bool top = r.y <= 1;
  canvas_fill(cv, r, ROLE_TEXT, " ");
  canvas_hline(cv, r.x, top ? r.y + r.h - 1 : r.y, r.w, ROLE_DIM);
  int y = top ? r.y : r.y + 1;
  x += canvas_fit(cv, x, y, r.w - 16 > 4 ? r.w - 16 : r.w - 2, ROLE_FOCUS, 0, label) + 2;
  if (u->asks == 0)
    return;
  char *count = words_fill(u->lang, "explain.count", words_int(a, u->explain_at + 1),
                           words_int(b, u->asks), NULL);
  if (x + utf8_width(count) < r.x + r.w)
    canvas_text(cv, x, y, ROLE_DIM, 0, count);
  free(count);
}

static void draw_bar(const ui *u, canvas *cv) {
  int y = canvas_rows(cv) - 1;
  canvas_fill(cv, (struct rect){0, y, canvas_cols(cv), 1}, ROLE_TEXT, " ");
  canvas_fit(cv, 1, y, canvas_cols(cv) - 1, ROLE_DIM, 0,
             strings_get(u->lang, u->asks > 0 ? "explain.keys" : "explain.close"));
}

void explain_draw(ui *u, canvas *cv) {
  u->asks = canvas_asks(cv);
  if (u->explain_at >= u->asks)
    u->explain_at = u->asks > 0 ? u->asks - 1 : 0;
  const struct ask *a = u->asks > 0 ? canvas_ask_at(cv, u->explain_at) : NULL;
  int cols = canvas_cols(cv) - 4;
  if (cols > SHEET_COLS)
    cols = SHEET_COLS;
  if (cols < 2)
    return;
  page *p = a ? build(u, a, cols) : page_new(cols);
  if (!a)
    page_say(p, 0, ROLE_TEXT, 0, strings_get(u->lang, "explain.none"));
  struct rect r = sheet(cv, a ? &a->at : NULL, page_lines(p));
  if (a)
    canvas_paint(cv, a->at, ROLE_NOW, MARK_REVERSE);
  draw_head(u, cv, r, a ? a->label : strings_get(u->lang, "explain.title"));
  bool top = r.y <= 1;
  page_draw(p, cv, (struct rect){2, r.y + (top ? 1 : 2), cols, r.h - 2}, 0, NULL);
  page_free(p);
  draw_bar(u, cv);
}

bool explain_key(ui *u, int key) {
  switch (key) {
  case KEYS_ESC:
  case '=':
  case 'q':
    u->explain = false;
    return true;
  case KEYS_LEFT:
  case KEYS_UP:
  case KEYS_SHIFT_TAB:
  case 'h':
  case 'k':
    if (u->asks > 0)
      u->explain_at = (u->explain_at + u->asks - 1) % u->asks;
    return true;
  case KEYS_RIGHT:
  case KEYS_DOWN:
  case KEYS_TAB:
  case 'l':
  case 'j':
    if (u->asks > 0)
      u->explain_at = (u->explain_at + 1) % u->asks;
    return true;
  default:
    return false;
  }
}
