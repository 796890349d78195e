#include "ui/live_plot.h"

#include "ui/live_plan.h"
#include "ui/live_result.h"
#include "ui/plot.h"
#include "ui/strings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS_LEAST = 8, ROWS_MOST = 18 };

static void widen(double v, double *low, double *high) {
  *low = v < *low ? v : *low;
  *high = v > *high ? v : *high;
}

/* Whether each point of the sweep has more than one run: one line through all would mix them. */
static bool several(const live *l) { return l->nruns > 1 && l->run[0].sweep == l->run[1].sweep; }

/* The rate of a run; of one that was counted the quantity of the experiment. */
static double rate_of(const live *l, const struct live_run *run, const char **unit) {
  double v = NAN;
  if (!run->xray)
    return live_result_rate(run->kernel, &run->result, unit);
  *unit = lesson_unit(l->experiment, live_plan_place(l));
  return live_plan_quantity_at(l, run->sweep, &v) ? v : NAN;
}

/* x: the sweep variable; y: the rate that the swept kernel is spoken of in. */
static void plot_sweep(const live *l, canvas *cv, struct rect r) {
  struct plot_point p[LIVE_RUNS];
  double x0 = INFINITY, x1 = 0, y0 = INFINITY, y1 = 0;
  const char *unit = "FLOP/s", *first = NULL;
  int n = 0;
  for (int i = 0; i < l->nruns; i++) {
    const struct live_run *run = &l->run[i];
    widen(run->sweep, &x0, &x1);
    if (!run->done || !live_plan_good(run))
      continue;
    double rate = rate_of(l, run, &unit);
    if (!(rate > 0) || (first && strcmp(first, unit) != 0))
      continue;
    first = unit;
    p[n++] = (struct plot_point){run->sweep, rate, NULL, ROLE_ACC};
    widen(rate, &y0, &y1);
  }
  if (!n || !(x0 > 0))
    return;
  struct plot_line line = {p, n, ROLE_ACC};
  struct plot plot = {.x0 = x0 / 1.2,
                      .x1 = x1 * 1.2,
                      .y0 = y0 / 2,
                      .y1 = y1 * 2,
                      .log_x = true,
                      .log_y = true,
                      .x_unit = l->experiment->sweep_var,
                      .y_unit = first,
                      .lines = &line,
                      .nlines = n > 1 && !several(l),
                      .points = p,
                      .npoints = n};
  plot_draw(cv, r, &plot);
}

static double intensity(const struct result *r) {
  return r->flop > 0 && r->dram_min > 0 ? r->flop / r->dram_min : NAN;
}

/* The runs of the plan that the roofs of the device in use say something about. */
static int points_under(const live *l, struct plot_point *p, char names[][8]) {
  int n = 0;
  for (int i = 0; i < l->nruns; i++) {
    const struct result *s = &l->run[i].result;
    if (!l->run[i].done || isnan(s->gflops) || isnan(intensity(s)) ||
        strcmp(s->device.id, l->device[l->at].id) != 0)
      continue;
    snprintf(names[n], sizeof names[n], "%.7s", l->run[i].as);
    p[n] = (struct plot_point){intensity(s), s->gflops * 1e9, names[n], ROLE_NOW};
    n++;
  }
  return n;
}

/* The results of the plan on the measured roofs, by compulsory bytes. */
static void plot_roofline(const live *l, canvas *cv, struct rect r, enum lang lang) {
  const struct roofs *roofs = live_roofs(l);
  const struct roof *fma = roofs ? roofs_find(roofs, "fma") : NULL;
  const struct roof *dram = roofs ? roofs_find(roofs, "dram") : NULL;
  struct plot_point p[LIVE_RUNS], flat[2], slope[2];
  char names[LIVE_RUNS][8];
  if (!fma || !dram || !(fma->value > 0) || !(dram->value > 0))
    return;
  int n = points_under(l, p, names);
  if (!n)
    return;
  double ridge = fma->value / dram->value;
  double x0 = ridge / 100, x1 = ridge * 100, y0 = fma->value / 1000, y1 = fma->value * 3;
  for (int i = 0; i < n; i++) {
    widen(p[i].x, &x0, &x1);
    widen(p[i].y, &y0, &y1);
  }
  flat[0] = slope[1] = (struct plot_point){ridge, fma->value, NULL, ROLE_ROOF};
  flat[1] = (struct plot_point){x1, fma->value, NULL, ROLE_ROOF};
  slope[0] = (struct plot_point){y0 / dram->value, y0, NULL, ROLE_ROOF};
  struct plot_line lines[2] = {{flat, 2, ROLE_ROOF}, {slope, 2, ROLE_ROOF}};
  struct plot plot = {
      x0,    x1, y0, y1, true, true, "FLOP/B", "FLOP/s", strings_get(lang, "live.roofline"),
      lines, 2,  p,  n};
  plot_draw(cv, r, &plot);
}

void live_plot_draw(const live *l, canvas *cv, struct rect r, enum lang lang) {
  if (r.h < ROWS_LEAST || r.w < 24)
    return;
  if (r.h > ROWS_MOST)
    r.h = ROWS_MOST;
  if (live_plan_sweeps(l))
    plot_sweep(l, cv, r);
  else if (l->phase == LIVE_DONE)
    plot_roofline(l, cv, r, lang);
}
