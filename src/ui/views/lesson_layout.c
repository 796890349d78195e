#include "ui/views/lesson_layout.h"

#include <string.h>

static const struct rect nowhere = {0, 0, 0, 0};

/* Below this height the line of titles goes to the text. */
enum { TITLE_ROWS = 9, HEADER_ROWS = 3 };

static struct rect rect_of(int x, int y, int w, int h) {
  if (w < 1 || h < 1)
    return nowhere;
  return (struct rect){x, y, w, h};
}

static void place(struct lesson_layout *out, enum pane pane, int x, int w, int top, int bottom,
                  bool titled) {
  int margin = w >= 30 ? 1 : 0;
  out->shown[pane] = true;
  out->title[pane] = titled ? rect_of(x + margin, top, w - 2 * margin, 1) : nowhere;
  int body = titled ? top + 2 : top;
  if (titled && bottom - body < 6)
    body = top + 1;
  out->body[pane] = rect_of(x + margin, body, w - 2 * margin, bottom - body);
}

static void one(int cols, int top, int bottom, const struct lesson_panes *p,
                struct lesson_layout *out) {
  bool tabs = p->has[PANE_SIM] || p->has[PANE_LIVE];
  int margin = cols >= 30 ? 1 : 0;
  int body = top;
  if (bottom - top >= TITLE_ROWS) {
    struct rect line = rect_of(margin, top, cols - 2 * margin, 1);
    if (tabs)
      out->tabs = line;
    else
      out->title[p->focus] = line;
    body = bottom - top >= 12 ? top + 2 : top + 1;
  }
  int w = cols - 2 * margin;
  if (p->focus == PANE_TEXT && w > LESSON_LAYOUT_TEXT)
    w = LESSON_LAYOUT_TEXT;
  out->shown[p->focus] = true;
  out->body[p->focus] = rect_of(margin, body, w, bottom - body);
}

static void side_by_side(int cols, int top, int bottom, const bool shown[PANES], int text_w,
                         struct lesson_layout *out) {
  int left = 0, others = shown[PANE_SIM] + shown[PANE_LIVE];
  place(out, PANE_TEXT, 0, text_w, top, bottom, true);
  left = text_w;
  for (int i = PANE_SIM; i < PANES; i++) {
    if (!shown[i])
      continue;
    int w = (cols - left) / others--;
    out->separator[i] = left;
    place(out, (enum pane)i, left + 1, w - 1, top, bottom, true);
    left += w;
  }
}

void lesson_layout(int cols, int rows, const struct lesson_panes *p, struct lesson_layout *out) {
  memset(out, 0, sizeof *out);
  for (int i = 0; i < PANES; i++)
    out->separator[i] = -1;
  int top = rows >= HEADER_ROWS ? 1 : 0;
  int bottom = rows >= 2 ? rows - 1 : rows;
  if (rows >= 16)
    bottom--; /* one line of air over the key bar */
  bool shown[PANES] = {[PANE_TEXT] = true};
  int others = 0;
  for (int i = PANE_SIM; i < PANES; i++) {
    bool three = cols >= LESSON_LAYOUT_THREE && !p->two;
    shown[i] = p->has[i] && (three || i == (int)p->other || !p->has[p->other]);
    others += shown[i];
  }
  if (cols < LESSON_LAYOUT_TWO || others == 0) {
    one(cols, top, bottom, p, out);
    return;
  }
  int text = others == 2 ? cols / 3 : p->two ? cols * 2 / 5 : cols / 2;
  if (text > LESSON_LAYOUT_TEXT + 2)
    text = LESSON_LAYOUT_TEXT + 2;
  side_by_side(cols, top, bottom, shown, text, out);
}
