/* Where the panes of a lesson go: sizes in, rectangles out. Pure. */
#ifndef MM_UI_VIEWS_LESSON_LAYOUT_H
#define MM_UI_VIEWS_LESSON_LAYOUT_H

#include "ui/canvas.h"

enum pane { PANE_TEXT, PANE_SIM, PANE_LIVE, PANES };

struct lesson_panes {
  bool has[PANES]; /* what the lesson has; text always */
  enum pane focus; /* one that it has */
  enum pane other; /* beside the text where two fit: PANE_SIM or PANE_LIVE */
  bool two;        /* never three: `other` gets the room, for code and figures */
};

struct lesson_layout {
  bool shown[PANES];
  struct rect title[PANES],
      body[PANES];      /* of the panes shown; inside the canvas, never overlapping */
  int separator[PANES]; /* column left of the pane, -1 = none */
  struct rect tabs;     /* the line with all panes' names; h 0 where each has a title */
};

enum { LESSON_LAYOUT_TWO = 100, LESSON_LAYOUT_THREE = 150, LESSON_LAYOUT_TEXT = 84 };

/* Row 0 is the header, the last row the key bar; what is between is shared out. Three panes from
 * 150 columns, two from 100, one with tabs below. Any size from 1 x 1 is taken; a pane without room
 * has an empty body. Cannot fail. */
void lesson_layout(int cols, int rows, const struct lesson_panes *p, struct lesson_layout *out);

#endif
