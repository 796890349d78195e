#include "ui/views/figure_roofline.h"

#include "base/units.h"
#include "base/utf8.h"
#include "ui/numbers.h"
#include "ui/plot.h"
#include "ui/ui_internal.h"
#include "ui/views/figure.h"
#include "ui/words.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOFS = 4, POINTS = 12, PLOT_ROWS = 14, PLOT_LEAST = 8 };

struct value { /* a number with the expression it comes from */
  double v;    /* NAN if it is not known */
  const char *formula;
  bool far; /* of the recorded card */
};
struct flat {
  const char *id, *label;
  struct value value;
};
struct dot {
  const char *label;
  struct value intensity, flops;
  int roof;      /* index into compute, -1 = the highest */
  bool measured; /* flops were measured; else they are the bound */
};
struct chart {
  const char *card;
  struct flat bandwidth[ROOFS], compute[ROOFS];
  struct dot dot[POINTS];
  int nbandwidth, ncompute, ndots;
};

static int count(const cJSON *list, int most) {
  int n = list ? cJSON_GetArraySize(list) : 0;
  return n < most ? n : most;
}

int figure_roofline_rows(const struct step *s, int cols) {
  int legend = count(json_get(s->figure_data, "bandwidth"), ROOFS) +
               count(json_get(s->figure_data, "compute"), ROOFS) +
               count(json_get(s->figure_data, "points"), POINTS);
  return (cols < 40 ? PLOT_LEAST : PLOT_ROWS) + 1 + legend;
}

/* ---- reading */

static struct value read_value(struct numbers *n, const cJSON *obj, const char *key) {
  struct value out = {NAN, "", false};
  const char *text = json_str(obj, key);
  if (!text) {
    out.v = json_num(obj, key, NAN);
    return out;
  }
  out.formula = text;
  if (!numbers_value(n, text, &out.v, &out.far))
    return (struct value){NAN, text, false};
  return out;
}

static const char *label_of(const cJSON *obj, enum lang lang) {
  const cJSON *label = json_get(obj, "label");
  const char *plain = json_str(obj, "label"), *t = json_str(label, lang ? "zh" : "en");
  return t ? t : plain ? plain : "";
}

static int read_flats(ui *u, struct numbers *n, const cJSON *list, struct flat out[ROOFS]) {
  int c = count(list, ROOFS);
  for (int i = 0; i < c; i++) {
    const cJSON *obj = cJSON_GetArrayItem(list, i);
    const char *id = json_str(obj, "id");
    out[i] = (struct flat){id ? id : "", label_of(obj, u->lang), read_value(n, obj, "value")};
  }
  return c;
}

static double slope(const struct chart *c) {
  double best = NAN;
  for (int i = 0; i < c->nbandwidth; i++)
    best = fmax(best, c->bandwidth[i].value.v); /* fmax passes over NAN */
  return best;
}

static double peak(const struct chart *c, int roof) {
  if (roof >= 0)
    return c->compute[roof].value.v;
  double best = NAN;
  for (int i = 0; i < c->ncompute; i++)
    best = fmax(best, c->compute[i].value.v);
  return best;
}

static double bound(const struct chart *c, const struct dot *d) {
  double flat = peak(c, d->roof), rise = d->intensity.v * slope(c);
  return isnan(flat) || isnan(rise) ? NAN : fmin(flat, rise);
}

static void read_dots(ui *u, struct numbers *n, const cJSON *list, struct chart *c) {
  c->ndots = count(list, POINTS);
  for (int i = 0; i < c->ndots; i++) {
    const cJSON *obj = cJSON_GetArrayItem(list, i);
    const char *roof = json_str(obj, "roof");
    struct dot *d = &c->dot[i];
    *d = (struct dot){label_of(obj, u->lang), read_value(n, obj, "intensity"),
                      read_value(n, obj, "flops"), -1, json_get(obj, "flops") != NULL};
    for (int k = 0; roof && k < c->ncompute; k++)
      if (strcmp(c->compute[k].id, roof) == 0)
        d->roof = k;
    if (!d->measured)
      d->flops.v = bound(c, d);
  }
}

static void read_chart(ui *u, struct numbers *n, const struct step *s, struct chart *c) {
  memset(c, 0, sizeof *c);
  c->card = json_str(s->figure_data, "card");
  c->nbandwidth = read_flats(u, n, json_get(s->figure_data, "bandwidth"), c->bandwidth);
  c->ncompute = read_flats(u, n, json_get(s->figure_data, "compute"), c->compute);
  read_dots(u, n, json_get(s->figure_data, "points"), c);
}

/* ---- the plot */

static void window(const struct chart *c, struct plot *p) {
  double bw = slope(c), x0 = INFINITY, x1 = 0, y0 = INFINITY, y1 = 0;
  for (int i = 0; i < c->ncompute; i++) {
    double flat = c->compute[i].value.v;
    if (isnan(flat) || isnan(bw))
      continue;
    x0 = fmin(x0, flat / bw / 4);
    x1 = fmax(x1, flat / bw * 8);
    y0 = fmin(y0, flat / 8);
    y1 = fmax(y1, flat * 2);
  }
  for (int i = 0; i < c->ndots; i++) {
    const struct dot *d = &c->dot[i];
    if (!(d->intensity.v > 0))
      continue;
    x0 = fmin(x0, d->intensity.v / 2);
    x1 = fmax(x1, d->intensity.v * 2);
    y0 = fmin(y0, x0 * bw);
    if (!(d->flops.v > 0))
      continue;
    y0 = fmin(y0, d->flops.v / 2);
    y1 = fmax(y1, d->flops.v * 2);
  }
  *p = (struct plot){.x0 = x0, .x1 = x1, .y0 = y0, .y1 = y1, .log_x = true, .log_y = true};
  p->x_unit = "FLOP/B";
  p->y_unit = "FLOP/s";
}

static bool draw_plot(canvas *cv, struct rect r, const struct chart *c) {
  struct plot plot;
  struct plot_point end[2 * ROOFS][2], points[POINTS];
  struct plot_line lines[2 * ROOFS];
  double bw = slope(c), top = peak(c, -1);
  if (isnan(bw) || isnan(top))
    return false;
  window(c, &plot);
  int n = 0;
  for (int i = 0; i < c->nbandwidth; i++) {
    double b = c->bandwidth[i].value.v;
    if (isnan(b))
      continue;
    end[n][0] = (struct plot_point){.x = plot.x0, .y = plot.x0 * b, .role = ROLE_ROOF};
    end[n][1] = (struct plot_point){.x = top / b, .y = top, .role = ROLE_ROOF};
    lines[n] = (struct plot_line){end[n], 2, ROLE_ROOF};
    n++;
  }
  for (int i = 0; i < c->ncompute; i++) {
    double flat = c->compute[i].value.v;
    if (isnan(flat))
      continue;
    end[n][0] = (struct plot_point){.x = flat / bw, .y = flat, .role = ROLE_ROOF};
    end[n][1] = (struct plot_point){.x = plot.x1, .y = flat, .role = ROLE_ROOF};
    lines[n] = (struct plot_line){end[n], 2, ROLE_ROOF};
    n++;
  }
  plot.lines = lines;
  plot.nlines = n;
  plot.points = points;
  for (int i = 0; i < c->ndots; i++) {
    const struct dot *d = &c->dot[i];
    if (d->intensity.v > 0 && d->flops.v > 0)
      points[plot.npoints++] = (struct plot_point){d->intensity.v, d->flops.v, d->label,
                                                   d->flops.far ? ROLE_RECORDED : ROLE_NOW};
  }
  return plot_draw(cv, r, &plot);
}

/* ---- the legend */

struct legend {
  ui *u;
  struct numbers *n;
  canvas *cv;
  int x, y, w, name_cols;
};

/* A number in the legend, flush right at column `right`; "-" where it is not known. */
static void put_value(const struct legend *g, const struct value *v, const char *unit, int right,
                      const char *label, const char *holds) {
  char *text = units_format(v->v, unit, 3);
  int x = right - utf8_width(text);
  canvas_text(g->cv, x, g->y, v->far ? ROLE_RECORDED : ROLE_NUMBER, 0, text);
  struct rect at = {x, g->y, right - x, 1};
  if (!isnan(v->v) && figure_seen(g->cv, at)) {
    char *filled = expr_filled(v->formula, numbers_lookup, g->n);
    char *source = numbers_origin(g->u, v->formula, v->far);
    canvas_ask(g->cv, at, label, v->formula, filled, text, source, holds);
    free(filled);
    free(source);
  }
  free(text);
}

/* The name, with the recorded card's tag where the value is not this machine's. */
static void put_name(const struct legend *g, const char *sign, enum role role, const char *name,
                     bool far) {
  int x = g->x + 2, room = g->name_cols - 2;
  canvas_text(g->cv, g->x, g->y, role, 0, sign);
  x += canvas_fit(g->cv, x, g->y, room, ROLE_TEXT, 0, name) + 1;
  if (far)
    canvas_fit(g->cv, x, g->y, g->x + g->name_cols - x, ROLE_RECORDED, 0, g->u->recorded_tag);
}

enum { VALUE_COLS = 14 };

static void put_roof(struct legend *g, const struct chart *c, const struct flat *f, bool flat) {
  int right = g->x + g->name_cols + VALUE_COLS;
  put_name(g, flat ? "─" : "╱", ROLE_ROOF, f->label, f->value.far);
  put_value(g, &f->value, flat ? "FLOP/s" : "B/s", right, f->label, "");
  double ridge = f->value.v / slope(c);
  int room = g->x + g->w - right - VALUE_COLS - 1;
  if (flat && !isnan(ridge) && room >= 0) {
    char *value = units_format(ridge, "FLOP/B", 3);
    canvas_right(g->cv, right + VALUE_COLS + 1, g->y, ROLE_DIM, 0, value);
    if (room >= 9)
      canvas_text(g->cv, right + VALUE_COLS + 4, g->y, ROLE_DIM, 0,
                  strings_get(g->u->lang, "figure.ridge"));
    free(value);
  }
  g->y++;
}

static const char *holder(const struct chart *c, const struct dot *d) {
  double flat = peak(c, d->roof), rise = d->intensity.v * slope(c);
  if (isnan(flat) || isnan(rise))
    return "";
  if (rise < flat)
    return c->bandwidth[0].label;
  return d->roof >= 0 ? c->compute[d->roof].label : c->compute[0].label;
}

static void put_dot(struct legend *g, const struct chart *c, const struct dot *d) {
  int right = g->x + g->name_cols + VALUE_COLS, room = g->x + g->w;
  const char *by = holder(c, d);
  put_name(g, "●", d->flops.far ? ROLE_RECORDED : ROLE_NOW, d->label, d->flops.far);
  put_value(g, &d->flops, "FLOP/s", right, d->label, by);
  if (room - right >= VALUE_COLS + 1) {
    put_value(g, &d->intensity, "FLOP/B", right + VALUE_COLS + 1, d->label, "");
    right += VALUE_COLS + 1;
  }
  double share = d->flops.v / bound(c, d);
  if (room - right >= 12 && *by && !isnan(share)) {
    char percent[16];
    snprintf(percent, sizeof percent, "%.0f %%", 100 * share);
    char *text = d->measured ? words_fill(g->u->lang, "figure.share", percent, by, NULL)
                             : words_fill(g->u->lang, "figure.held", by, NULL);
    if (utf8_width(text) <= room - right - 3)
      canvas_text(g->cv, right + 3, g->y, ROLE_DIM, 0, text);
    free(text);
  }
  g->y++;
}

static int name_cols(const ui *u, const char *label, const struct value *v) {
  return utf8_width(label) + (v->far ? 1 + utf8_width(u->recorded_tag) : 0);
}

static int longest_name(const ui *u, const struct chart *c) {
  int w = 4;
  for (int i = 0; i < c->nbandwidth + c->ncompute + c->ndots; i++) {
    int k = i - c->nbandwidth, m = k - c->ncompute;
    int cols = k < 0   ? name_cols(u, c->bandwidth[i].label, &c->bandwidth[i].value)
               : m < 0 ? name_cols(u, c->compute[k].label, &c->compute[k].value)
                       : name_cols(u, c->dot[m].label, &c->dot[m].flops);
    w = cols > w ? cols : w;
  }
  return w + 2;
}

static void draw_legend(ui *u, struct numbers *n, canvas *cv, struct rect r,
                        const struct chart *c) {
  struct legend g = {u, n, cv, r.x, r.y, r.w, longest_name(u, c)};
  if (g.name_cols > r.w - VALUE_COLS)
    g.name_cols = r.w > VALUE_COLS + 6 ? r.w - VALUE_COLS : 6;
  for (int i = 0; i < c->ncompute; i++)
    put_roof(&g, c, &c->compute[i], true);
  for (int i = 0; i < c->nbandwidth; i++)
    put_roof(&g, c, &c->bandwidth[i], false);
  for (int i = 0; i < c->ndots; i++)
    put_dot(&g, c, &c->dot[i]);
}

void figure_roofline_draw(ui *u, canvas *cv, struct rect r, const struct step *s) {
  struct numbers n = {u, s, NULL};
  struct chart c;
  read_chart(u, &n, s, &c);
  int legend = c.ncompute + c.nbandwidth + c.ndots, plot = r.h - legend - 1;
  if (plot > 24)
    plot = 24;
  bool drawn = plot >= PLOT_LEAST && draw_plot(cv, (struct rect){r.x, r.y, r.w, plot}, &c);
  if (!drawn) {
    const char *id = isnan(slope(&c)) || isnan(peak(&c, -1)) ? "figure.no_roofs" : "figure.small";
    canvas_fit(cv, r.x, r.y, r.w, ROLE_DIM, 0, strings_get(u->lang, id));
    plot = 1;
  }
  draw_legend(u, &n, cv, (struct rect){r.x, r.y + plot + 1, r.w, legend}, &c);
}
