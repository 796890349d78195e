/* Plots and bars in cells: braille where it is allowed, ASCII otherwise. */
#ifndef MM_UI_PLOT_H
#define MM_UI_PLOT_H

#include "ui/canvas.h"

/* A horizontal bar of w cells, filled to share (0..1) in eighths; the rest is a light track. */
void plot_bar(canvas *cv, int x, int y, int w, double share, enum role role);

/* The same as a thin line, to half a cell: for bars that stand close below each other. */
void plot_thin(canvas *cv, int x, int y, int w, double share, enum role role);

struct plot_point {
  double x, y;
  const char *label; /* short text beside the point, or NULL */
  enum role role;
};
struct plot_line { /* a polyline */
  const struct plot_point *p;
  int n;
  enum role role;
};
struct plot {
  double x0, x1, y0, y1; /* the window; all > 0 where the axis is logarithmic */
  bool log_x, log_y;
  const char *x_unit, *y_unit, *title;
  const struct plot_line *lines;
  int nlines;
  const struct plot_point *points;
  int npoints;
};

/* Draws axes with round ticks, lines in braille and points as glyphs; labels never overlap (one
 * that has no room is left out). At least 16 x 5 cells, else nothing is drawn and false comes back.
 */
bool plot_draw(canvas *cv, struct rect r, const struct plot *p);

#endif
