/* Where the next line of the live pane goes, and what every line of it is made of. */
#ifndef MM_UI_LIVE_PEN_H
#define MM_UI_LIVE_PEN_H

#include "ui/live_internal.h"

enum { LIVE_PEN_LABEL = 10 }; /* columns before the first value of a line */

struct live_pen {
  live *l;
  canvas *cv;
  struct rect r; /* the pane */
  int y;         /* of the next line; may lie below the pane */
  enum lang lang;
};

/* What `=` says of a figure beside its value; NULL is "". */
struct live_pen_ask {
  const char *label, *formula, *filled, *source;
};

/* A text of the screen in its language. */
const char *live_pen_word(const struct live_pen *p, const char *id);

/* Lines left, 0 or less if there are none; columns from x to the right edge. */
int live_pen_left(const struct live_pen *p);
int live_pen_room(const struct live_pen *p, int x);

/* Wrapped text of as many lines as there is room for. */
void live_pen_wrap(struct live_pen *p, enum role role, const char *text);

/* The same for a sentence of the layers below, in the language of the screen. */
void live_pen_sentence(struct live_pen *p, enum role role, const char *english);

/* One line, shortened where it is too long; goes to the next. */
void live_pen_line(struct live_pen *p, int x, enum role role, const char *text);

/* The dim word at the start of a line. */
void live_pen_label(struct live_pen *p, const char *id);

/* A figure on this line, and the same as a text already formatted; both can be asked about where
 * they are on the pane. Return the columns taken. */
int live_pen_figure(struct live_pen *p, int x, enum role role, double value, const char *unit,
                    const struct live_pen_ask *ask);
int live_pen_text(struct live_pen *p, int x, enum role role, const char *text,
                  const struct live_pen_ask *ask);

#endif
