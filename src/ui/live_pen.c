#include "ui/live_pen.h"

#include "base/sentences.h"
#include "base/units.h"
#include "ui/strings.h"

#include <stdlib.h>

const char *live_pen_word(const struct live_pen *p, const char *id) {
  return strings_get(p->lang, id);
}

int live_pen_left(const struct live_pen *p) { return p->r.y + p->r.h - p->y; }

int live_pen_room(const struct live_pen *p, int x) { return p->r.x + p->r.w - x; }

void live_pen_wrap(struct live_pen *p, enum role role, const char *text) {
  struct rect r = {p->r.x, p->y, p->r.w, live_pen_left(p)};
  if (r.h > 0 && text[0])
    p->y += canvas_wrap(p->cv, r, 0, role, 0, text);
}

void live_pen_sentence(struct live_pen *p, enum role role, const char *english) {
  char *text = sentences_in(english, p->lang == LANG_ZH);
  live_pen_wrap(p, role, text);
  free(text);
}

void live_pen_line(struct live_pen *p, int x, enum role role, const char *text) {
  canvas_fit(p->cv, x, p->y++, live_pen_room(p, x), role, 0, text);
}

void live_pen_label(struct live_pen *p, const char *id) {
  int w = p->r.w < LIVE_PEN_LABEL - 1 ? p->r.w : LIVE_PEN_LABEL - 1;
  canvas_fit(p->cv, p->r.x, p->y, w, ROLE_DIM, 0, live_pen_word(p, id));
}

int live_pen_text(struct live_pen *p, int x, enum role role, const char *text,
                  const struct live_pen_ask *ask) {
  int room = live_pen_room(p, x);
  int w = canvas_fit(p->cv, x, p->y, room, role, 0, text);
  if (room > 0 && live_pen_left(p) > 0 && x >= p->r.x)
    canvas_ask(p->cv, (struct rect){x, p->y, w, 1}, ask->label, ask->formula, ask->filled, text,
               ask->source, "");
  return w;
}

int live_pen_figure(struct live_pen *p, int x, enum role role, double value, const char *unit,
                    const struct live_pen_ask *ask) {
  char *text = units_format(value, unit, 3);
  int w = live_pen_text(p, x, role, text, ask);
  free(text);
  return w;
}
