#include "ui/plot.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- bars */

void plot_bar(canvas *cv, int x, int y, int w, double share, enum role role) {
  static const char *const eighth[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  if (w <= 0)
    return;
  double s = isfinite(share) && share > 0 ? fmin(share, 1) : 0;
  bool ascii = canvas_is_ascii(cv);
  int per_cell = ascii ? 1 : 8, units = (int)lround(s * w * per_cell);
  if (s > 0 && units == 0)
    units = 1; /* something is not nothing */
  int full = units / per_cell, rest = units % per_cell;
  canvas_fill(cv, (struct rect){x, y, w, 1}, ROLE_DIM, ascii ? "-" : "░");
  canvas_fill(cv, (struct rect){x, y, full, 1}, role, ascii ? "#" : "█");
  if (rest)
    canvas_text(cv, x + full, y, role, 0, eighth[rest]);
}

void plot_thin(canvas *cv, int x, int y, int w, double share, enum role role) {
  if (w <= 0)
    return;
  double s = isfinite(share) && share > 0 ? fmin(share, 1) : 0;
  bool ascii = canvas_is_ascii(cv);
  int halves = (int)lround(2 * s * w);
  if (s > 0 && halves == 0)
    halves = 1; /* something is not nothing */
  canvas_fill(cv, (struct rect){x, y, w, 1}, ROLE_DIM, ascii ? "-" : "─");
  canvas_fill(cv, (struct rect){x, y, halves / 2, 1}, role, ascii ? "#" : "━");
  if (halves % 2)
    canvas_text(cv, x + halves / 2, y, role, 0, ascii ? "#" : "╸");
}

/* ---- axes */

enum { TICKS = 24, LABEL = 16 };

struct axis {
  double lo, hi;
  bool log;
};

struct ticks {
  double at[TICKS];
  char label[TICKS][LABEL];
  int n;
};

/* Where a value lies on the axis, 0..1 inside the window; NAN where it has no place. */
static double share_of(const struct axis *a, double v) {
  if (!isfinite(v) || (a->log && v <= 0))
    return NAN;
  if (a->log)
    return (log(v) - log(a->lo)) / (log(a->hi) - log(a->lo));
  return (v - a->lo) / (a->hi - a->lo);
}

static void tick_label(double v, char *out) {
  static const struct {
    double from;
    const char *suffix;
  } si[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (size_t i = 0; i < sizeof si / sizeof si[0]; i++)
    if (fabs(v) >= si[i].from * (1 - 1e-12)) {
      snprintf(out, LABEL, "%.4g%s", v / si[i].from, si[i].suffix);
      return;
    }
  snprintf(out, LABEL, "%.4g", fabs(v) < 1e-300 ? 0 : v);
}

static bool add_tick(struct ticks *t, const struct axis *a, double v) {
  double s = share_of(a, v);
  if (!(s >= -1e-9 && s <= 1 + 1e-9))
    return true;
  if (t->n == TICKS)
    return false;
  t->at[t->n] = s;
  tick_label(v, t->label[t->n++]);
  return true;
}

/* Ticks of a logarithmic axis: 1, 2 and 5 of every decade, or 1, or every second, third ... decade.
 */
static bool log_ticks(struct ticks *t, const struct axis *a, int density) {
  static const double in_decade[] = {1, 2, 5};
  int every = density == 0 ? 1 : density, first = (int)floor(log10(a->lo) + 1e-9),
      last = (int)ceil(log10(a->hi) - 1e-9);
  t->n = 0;
  for (int d = first; d <= last; d++)
    for (int i = 0; i < (density == 0 ? 3 : 1); i++)
      if (((d % every) + every) % every == 0 && !add_tick(t, a, in_decade[i] * pow(10, d)))
        return false;
  return true;
}

/* Ticks of a linear axis: steps of 1, 2 or 5 times a power of ten, wider as density grows. */
static bool linear_ticks(struct ticks *t, const struct axis *a, int density) {
  static const double nice[] = {1, 2, 5};
  int e = (int)floor(log10((a->hi - a->lo) / TICKS));
  double step = nice[density % 3] * pow(10, e + density / 3);
  t->n = 0;
  for (double i = ceil(a->lo / step - 1e-9); i * step <= a->hi + step * 1e-9; i++)
    if (!add_tick(t, a, i * step))
      return false;
  return true;
}

/* The first cell of a label that stands centred under its tick, kept inside w cells. */
static int label_x(const struct ticks *t, int i, int w) {
  int len = (int)strlen(t->label[i]), x = (int)lround(t->at[i] * (w - 1)) - len / 2;
  if (x + len > w)
    x = w - len;
  return x < 0 ? 0 : x;
}

static bool ticks_fit(const struct ticks *t, int cells, bool horizontal) {
  for (int i = 1; i < t->n; i++) {
    int gap;
    if (horizontal)
      gap = label_x(t, i, cells) - label_x(t, i - 1, cells) - (int)strlen(t->label[i - 1]);
    else
      gap = (int)lround(t->at[i] * (cells - 1)) - (int)lround(t->at[i - 1] * (cells - 1));
    if (gap < (horizontal ? 2 : 1) + (!horizontal && cells > 8))
      return false;
  }
  return true;
}

/* The densest ticks whose labels do not touch. */
static void choose_ticks(struct ticks *t, const struct axis *a, int cells, bool horizontal) {
  for (int density = 0; density < 40; density++)
    if ((a->log ? log_ticks(t, a, density) : linear_ticks(t, a, density)) &&
        ticks_fit(t, cells, horizontal))
      return;
  t->n = 0;
}

/* ---- the picture */

struct picture {
  canvas *cv;
  struct rect in; /* the cells inside the axes */
  struct axis x, y;
  unsigned char *dots, *role; /* braille bits and role of each cell */
  unsigned char *taken;       /* 1: a point or a label is there */
};

static void dot(struct picture *p, int px, int py, enum role role) {
  static const unsigned char bit[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  if (px < 0 || py < 0 || px >= p->in.w * 2 || py >= p->in.h * 4)
    return;
  int i = py / 4 * p->in.w + px / 2;
  p->dots[i] |= bit[py % 4][px % 2];
  p->role[i] = (unsigned char)role;
}

/* Clips t0..t1 of a segment to 0 <= from + t*by <= 1 (Liang and Barsky's parameter form). */
static bool clip_range(double from, double by, double *t0, double *t1) {
  if (fabs(by) < 1e-15)
    return from >= -1e-9 && from <= 1 + 1e-9;
  double a = -from / by, b = (1 - from) / by;
  *t0 = fmax(*t0, fmin(a, b));
  *t1 = fmin(*t1, fmax(a, b));
  return *t0 <= *t1;
}

static void draw_segment(struct picture *p, const struct plot_point *a, const struct plot_point *b,
                         enum role role) {
  double ax = share_of(&p->x, a->x), ay = share_of(&p->y, a->y);
  double bx = share_of(&p->x, b->x), by = share_of(&p->y, b->y), t0 = 0, t1 = 1;
  if (isnan(ax) || isnan(ay) || isnan(bx) || isnan(by))
    return;
  if (!clip_range(ax, bx - ax, &t0, &t1) || !clip_range(ay, by - ay, &t0, &t1))
    return;
  double w = p->in.w * 2 - 1, h = p->in.h * 4 - 1;
  double x0 = (ax + t0 * (bx - ax)) * w, y0 = (1 - (ay + t0 * (by - ay))) * h;
  double x1 = (ax + t1 * (bx - ax)) * w, y1 = (1 - (ay + t1 * (by - ay))) * h;
  int n = (int)ceil(fmax(fabs(x1 - x0), fabs(y1 - y0)));
  for (int i = 0; i <= n; i++) {
    double t = n ? (double)i / n : 0;
    dot(p, (int)lround(x0 + t * (x1 - x0)), (int)lround(y0 + t * (y1 - y0)), role);
  }
}

/* A letter for the dots of one cell, by where its left and right halves lie. */
static const char *ascii_dots(unsigned bits) {
  static const unsigned char side[2][4] = {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}};
  int sum[2] = {0, 0}, n[2] = {0, 0};
  for (int s = 0; s < 2; s++)
    for (int i = 0; i < 4; i++)
      if (bits & side[s][i])
        sum[s] += i, n[s]++;
  if (n[0] + n[1] == 0)
    return NULL;
  if (n[0] >= 3 || n[1] >= 3)
    return "|";
  if (n[0] && n[1] && abs(sum[0] * n[1] - sum[1] * n[0]) >= 2 * n[0] * n[1])
    return sum[0] * n[1] > sum[1] * n[0] ? "/" : "\\";
  int row = (sum[0] + sum[1]) / (n[0] + n[1]);
  return row == 0 ? "'" : row == 3 ? "." : "-";
}

static void draw_dots(struct picture *p) {
  bool ascii = canvas_is_ascii(p->cv);
  for (int i = 0; i < p->in.w * p->in.h; i++) {
    unsigned bits = p->dots[i];
    if (!bits)
      continue;
    char braille[4] = {(char)0xE2, (char)(0xA0 + (bits >> 6)), (char)(0x80 + (bits & 0x3F)), 0};
    canvas_text(p->cv, p->in.x + i % p->in.w, p->in.y + i / p->in.w, p->role[i], 0,
                ascii ? ascii_dots(bits) : braille);
  }
}

/* ---- points and labels */

static bool cell_of(const struct picture *p, const struct plot_point *q, int *x, int *y) {
  double sx = share_of(&p->x, q->x), sy = share_of(&p->y, q->y);
  if (!(sx >= -1e-9 && sx <= 1 + 1e-9 && sy >= -1e-9 && sy <= 1 + 1e-9))
    return false;
  *x = (int)lround(sx * (p->in.w * 2 - 1)) / 2;
  *y = (int)lround((1 - sy) * (p->in.h * 4 - 1)) / 4;
  return true;
}

static const char *point_glyph(enum role role, bool ascii) {
  if (role == ROLE_WRONG)
    return ascii ? "x" : "✗";
  if (role == ROLE_RECORDED)
    return ascii ? "o" : "○";
  return ascii ? "*" : "●";
}

static bool room(const struct picture *p, int x, int y, int w, bool over_lines) {
  if (x < 0 || y < 0 || x + w > p->in.w || y >= p->in.h)
    return false;
  for (int i = y * p->in.w + x; i < y * p->in.w + x + w; i++)
    if (p->taken[i] || (!over_lines && p->dots[i]))
      return false;
  return true;
}

/* Beside, above or below its point, first where it hides no line; left out if there is no room. */
static void put_label(struct picture *p, const struct plot_point *q) {
  int x, y;
  if (!q->label || !*q->label || !cell_of(p, q, &x, &y))
    return;
  int w = utf8_width(q->label);
  int inside = x + 1 + w > p->in.w ? p->in.w - w : x + 1; /* beside the right edge: pushed in */
  const int at[][2] = {{x + 2, y},      {x - w - 1, y}, {inside, y - 1},    {x - w, y - 1},
                       {inside, y + 1}, {x - w, y + 1}, {x - w / 2, y - 1}, {x - w / 2, y + 1}};
  for (int over = 0; over < 2; over++)
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++)
      if (room(p, at[i][0], at[i][1], w, over)) {
        canvas_text(p->cv, p->in.x + at[i][0], p->in.y + at[i][1], q->role, 0, q->label);
        memset(p->taken + at[i][1] * p->in.w + at[i][0], 1, (size_t)w);
        return;
      }
}

static void draw_points(struct picture *p, const struct plot *plot) {
  int x, y;
  for (int i = 0; i < plot->npoints; i++)
    if (cell_of(p, &plot->points[i], &x, &y)) {
      enum role role = plot->points[i].role;
      canvas_text(p->cv, p->in.x + x, p->in.y + y, role, 0,
                  point_glyph(role, canvas_is_ascii(p->cv)));
      p->taken[y * p->in.w + x] = 1;
    }
  for (int i = 0; i < plot->npoints; i++)
    put_label(p, &plot->points[i]);
  for (int i = 0; i < plot->nlines; i++)
    for (int k = 0; k < plot->lines[i].n; k++)
      put_label(p, &plot->lines[i].p[k]);
}

/* ---- the frame of the plot */

static void draw_axes(const struct picture *p, const struct ticks *tx, const struct ticks *ty,
                      const struct plot *plot) {
  canvas *cv = p->cv;
  int left = p->in.x - 1, bottom = p->in.y + p->in.h;
  canvas_vline(cv, left, p->in.y, p->in.h, ROLE_ROOF);
  canvas_text(cv, left, bottom, ROLE_ROOF, 0, "└");
  canvas_hline(cv, p->in.x, bottom, p->in.w, ROLE_ROOF);
  for (int i = 0; i < ty->n; i++) {
    int y = p->in.y + p->in.h - 1 - (int)lround(ty->at[i] * (p->in.h - 1));
    canvas_text(cv, left, y, ROLE_ROOF, 0, "┤");
    canvas_right(cv, left, y, ROLE_DIM, 0, ty->label[i]);
  }
  int end = 0;
  for (int i = 0; i < tx->n; i++) {
    int x = label_x(tx, i, p->in.w);
    canvas_text(cv, p->in.x + (int)lround(tx->at[i] * (p->in.w - 1)), bottom, ROLE_ROOF, 0, "┴");
    end = x + canvas_text(cv, p->in.x + x, bottom + 1, ROLE_DIM, 0, tx->label[i]);
  }
  int unit = plot->x_unit ? utf8_width(plot->x_unit) : 0;
  if (unit && end + 1 + unit <= p->in.w)
    canvas_right(cv, p->in.x + p->in.w, bottom + 1, ROLE_DIM, 0, plot->x_unit);
}

/* The top line: unit of y at the left, the title, and the unit of x where the labels leave no room.
 */
static void draw_head(canvas *cv, struct rect r, int left, const struct ticks *tx, int w,
                      const struct plot *p) {
  int x = r.x + left - 1, used = 0;
  if (p->y_unit)
    used = canvas_fit(cv, r.x, r.y, r.w, ROLE_DIM, 0, p->y_unit) + 2;
  if (r.x + used < x)
    used = x - r.x;
  if (p->title)
    used += 2 + canvas_fit(cv, r.x + used, r.y, r.w - used, ROLE_TITLE, 0, p->title);
  int unit = p->x_unit ? utf8_width(p->x_unit) : 0, end = 0;
  if (tx->n)
    end = label_x(tx, tx->n - 1, w) + (int)strlen(tx->label[tx->n - 1]);
  if (unit && end + 1 + unit > w && used + unit <= r.w)
    canvas_right(cv, r.x + r.w, r.y, ROLE_DIM, 0, p->x_unit);
}

static bool window_ok(const struct plot *p) {
  if (!(isfinite(p->x0) && isfinite(p->x1) && isfinite(p->y0) && isfinite(p->y1)))
    return false;
  return p->x0 < p->x1 && p->y0 < p->y1 && (!p->log_x || p->x0 > 0) && (!p->log_y || p->y0 > 0);
}

bool plot_draw(canvas *cv, struct rect r, const struct plot *plot) {
  if (r.w < 16 || r.h < 5 || !window_ok(plot))
    return false;
  struct picture p = {
      .cv = cv, .x = {plot->x0, plot->x1, plot->log_x}, .y = {plot->y0, plot->y1, plot->log_y}};
  struct ticks tx, ty;
  int left = 1;
  choose_ticks(&ty, &p.y, r.h - 3, false);
  for (int i = 0; i < ty.n; i++)
    if ((int)strlen(ty.label[i]) + 1 > left)
      left = (int)strlen(ty.label[i]) + 1;
  p.in = (struct rect){r.x + left, r.y + 1, r.w - left, r.h - 3};
  choose_ticks(&tx, &p.x, p.in.w, true);
  size_t n = (size_t)p.in.w * (size_t)p.in.h;
  p.dots = alloc_zero(n, 3);
  p.role = p.dots + n;
  p.taken = p.dots + 2 * n;
  draw_head(cv, r, left, &tx, p.in.w, plot);
  draw_axes(&p, &tx, &ty, plot);
  for (int i = 0; i < plot->nlines; i++)
    for (int k = 1; k < plot->lines[i].n; k++)
      draw_segment(&p, &plot->lines[i].p[k - 1], &plot->lines[i].p[k], plot->lines[i].role);
  draw_dots(&p);
  draw_points(&p, plot);
  free(p.dots);
  return true;
}
