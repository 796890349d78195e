#include "ui/live_xray.h"

#include "base/sentences.h"
#include "base/units.h"
#include "base/utf8.h"
#include "ui/live_plan.h"
#include "ui/live_result.h"
#include "ui/plot.h"
#include "ui/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  WIDTH_MOST = 76, /* bars that are longer tell no more */
  LABEL = 19,
  NAME = 3, /* "a  " */
  VALUE = 15,
  BAR_LEAST = 6,
  COLUMN = 18, /* of a number beside others */
  PROBLEMS_MOST = 3,
  SCALE_LEAST = 28,
  WORST = 32, /* sectors of a request of 4 bytes a lane, wavefronts of a shared one */
  IDEAL = 4
};

/* One figure of one run: what it is worth, and of which two numbers it is made. */
struct figure {
  double value;
  double a, b; /* NAN: of none */
  const char *op;
};

enum bar { BAR_NONE, BAR_MOST, BAR_WORST, BAR_SHARE };
enum form { FORM_EXACT, FORM_RATIO, FORM_PERCENT, FORM_BYTES };

struct row {
  const char *label, *how; /* ids of its name, and of how it comes about */
  void (*of)(const struct xray_result *x, struct figure *f);
  enum bar bar;
  enum form form;
  bool zero; /* 0 is worth a line */
};

/* ---- figures */

static void just(struct figure *f, double value) { *f = (struct figure){value, NAN, NAN, ""}; }

static void ratio(struct figure *f, double a, double b) {
  *f = (struct figure){b > 0 ? a / b : NAN, a, b, "/"};
}

static void sum(struct figure *f, double a, double b) { *f = (struct figure){a + b, a, b, "+"}; }

static void sectors(const struct xray_result *x, struct figure *f) {
  just(f, x->counts.gld_sectors);
}

static void per_request(const struct xray_result *x, struct figure *f) {
  ratio(f, x->counts.gld_sectors, x->counts.gld_requests);
}

static void shared(const struct xray_result *x, struct figure *f) {
  sum(f, x->counts.lds_wavefronts, x->counts.sts_wavefronts);
}

static void shared_each(const struct xray_result *x, struct figure *f) {
  ratio(f, x->counts.lds_wavefronts + x->counts.sts_wavefronts,
        x->counts.lds_requests + x->counts.sts_requests);
}

/* Global and shared accesses go through the one data stage of L1. */
static void stage(const struct xray_result *x, struct figure *f) {
  const struct xray_counts *c = &x->counts;
  sum(f, c->gld_wavefronts + c->gst_wavefronts, c->lds_wavefronts + c->sts_wavefronts);
}

static void stage_share(const struct xray_result *x, struct figure *f) {
  struct figure all;
  stage(x, &all);
  ratio(f, all.b, all.value);
}

static void requests(const struct xray_result *x, struct figure *f) {
  just(f, x->counts.gld_requests);
}

static void bytes(const struct xray_result *x, struct figure *f) {
  *f = (struct figure){32 * x->counts.gld_sectors, 32, x->counts.gld_sectors, "×"};
}

static void stored(const struct xray_result *x, struct figure *f) {
  just(f, x->counts.gst_sectors);
}

static void conflicts(const struct xray_result *x, struct figure *f) {
  double used = x->counts.lds_wavefronts + x->counts.sts_wavefronts;
  sum(f, x->counts.lds_conflicts, x->counts.sts_conflicts);
  if (!(used > 0))
    f->value = NAN;
}

static void fmas(const struct xray_result *x, struct figure *f) { just(f, x->counts.ffma); }

static void other(const struct xray_result *x, struct figure *f) { just(f, x->counts.other_flop); }

static void barriers(const struct xray_result *x, struct figure *f) { just(f, x->counts.barriers); }

static void registers(const struct xray_result *x, struct figure *f) {
  just(f, x->registers > 0 ? (double)x->registers : NAN);
}

static void occupancy(const struct xray_result *x, struct figure *f) { just(f, x->occupancy); }

static const struct row rows[] = {
    {"xray.sectors", "xray.sectors.how", sectors, BAR_MOST, FORM_EXACT, false},
    {"xray.each", "xray.each.how", per_request, BAR_WORST, FORM_RATIO, false},
    {"xray.stage", "xray.stage.how", stage, BAR_MOST, FORM_EXACT, false},
    {"xray.of_shared", "xray.of_shared.how", stage_share, BAR_SHARE, FORM_PERCENT, false},
    {"xray.shared_each", "xray.shared_each.how", shared_each, BAR_WORST, FORM_RATIO, false},
    {"xray.requests", "xray.requests.how", requests, BAR_NONE, FORM_EXACT, false},
    {"xray.bytes", "xray.bytes.how", bytes, BAR_NONE, FORM_BYTES, false},
    {"xray.shared", "xray.shared.how", shared, BAR_NONE, FORM_EXACT, false},
    {"xray.conflicts", "xray.conflicts.how", conflicts, BAR_NONE, FORM_EXACT, true},
    {"xray.stored", "xray.stored.how", stored, BAR_NONE, FORM_EXACT, false},
    {"xray.ffma", "xray.ffma.how", fmas, BAR_NONE, FORM_EXACT, false},
    {"xray.other", "xray.other.how", other, BAR_NONE, FORM_EXACT, false},
    {"xray.barriers", "xray.barriers.how", barriers, BAR_NONE, FORM_EXACT, false},
    {"xray.registers", "xray.registers.how", registers, BAR_NONE, FORM_EXACT, false},
    {"xray.occupancy", "xray.occupancy.how", occupancy, BAR_NONE, FORM_PERCENT, false},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* ---- texts */

void live_xray_source(const struct live_pen *p, const struct xray_result *x, char *out,
                      size_t size) {
  char part[96];
  char *all = words_fill(p->lang, "xray.source", x->compiler, x->arch, NULL);
  part[0] = '\0';
  if (x->sampled) {
    char *ran = units_exact((double)x->blocks_executed), *of = units_exact((double)x->blocks);
    char *text = words_fill(p->lang, "xray.source_sampled", ran, of, NULL);
    snprintf(part, sizeof part, "%s", text);
    free(text);
    free(ran);
    free(of);
  }
  snprintf(out, size, "%s%s", all, part);
  free(all);
}

/* A count is exact, or has a prefix where there is no room for that. */
static char *number_text(double v, enum form form, bool exact) {
  if (form == FORM_PERCENT)
    return units_format(100 * v, "%", 3);
  if (form == FORM_BYTES)
    return units_format(v, "B", 3);
  if (form == FORM_RATIO)
    return units_format(v, "", 3);
  return exact ? units_exact(v) : units_format(v, "", 3);
}

static void filled_text(const struct figure *f, char *out, size_t size) {
  out[0] = '\0';
  if (isnan(f->a))
    return;
  char *a = units_exact(f->a), *b = units_exact(f->b);
  snprintf(out, size, "%s %s %s", a, f->op, b);
  free(a);
  free(b);
}

/* ---- rows */

struct table {
  struct live_pen *p;
  const struct live_run *const *runs;
  int n, w; /* runs; columns of the whole */
};

static bool worth(const struct row *row, const struct figure *f) {
  return !isnan(f->value) && (f->value > 0 || row->zero);
}

/* How many of the runs have this figure; *most gets the largest. */
static int present(const struct table *t, const struct row *row, double *most) {
  int have = 0;
  *most = 0;
  for (int i = 0; i < t->n; i++) {
    struct figure f;
    row->of(t->runs[i]->xray, &f);
    have += worth(row, &f);
    *most = f.value > *most ? f.value : *most;
  }
  return have;
}

/* A number ending at column `right`, with what `=` says of it. */
static void put_number(const struct table *t, const struct row *row, const struct live_run *run,
                       const struct figure *f, int right, bool exact) {
  struct live_pen *p = t->p;
  char filled[96], source[256], label[96];
  char *text = number_text(f->value, row->form, exact);
  int x = right - utf8_width(text);
  filled_text(f, filled, sizeof filled);
  live_xray_source(p, run->xray, source, sizeof source);
  snprintf(label, sizeof label, "%s  %s", live_pen_word(p, row->label), run->kernel->id);
  if (x >= p->r.x)
    live_pen_text(p, x, ROLE_NUMBER, text,
                  &(struct live_pen_ask){label, live_pen_word(p, row->how), filled, source});
  free(text);
}

static void put_label(const struct table *t, const struct row *row) {
  struct live_pen *p = t->p;
  canvas_fit(p->cv, p->r.x, p->y, LABEL - 1, ROLE_DIM, 0, live_pen_word(p, row->label));
}

static double bar_share(const struct row *row, double value, double most) {
  return row->bar == BAR_WORST ? value / WORST : row->bar == BAR_SHARE ? value : value / most;
}

/* Whether the numbers of a row, of which this is the largest, have room as they are. */
static bool exact_fits(double most, int room) {
  char *text = units_exact(most);
  bool fits = utf8_width(text) <= room;
  free(text);
  return fits;
}

/* A bar for each run that has the figure, one below the other. */
static void draw_bars(const struct table *t, const struct row *row, double most) {
  struct live_pen *p = t->p;
  int right = p->r.x + t->w, from = p->r.x + LABEL + (t->n > 1 ? NAME : 0);
  int bar = right - VALUE - 1 - from;
  put_label(t, row);
  for (int i = 0; i < t->n && live_pen_left(p) > 0; i++) {
    struct figure f;
    row->of(t->runs[i]->xray, &f);
    if (!worth(row, &f))
      continue;
    if (t->n > 1)
      canvas_fit(p->cv, p->r.x + LABEL, p->y, NAME - 1, ROLE_TEXT, 0, t->runs[i]->as);
    if (bar >= BAR_LEAST)
      plot_thin(p->cv, from, p->y, bar, bar_share(row, f.value, most), ROLE_ACC);
    put_number(t, row, t->runs[i], &f, right, exact_fits(most, VALUE));
    p->y++;
  }
}

/* The numbers of all runs on one line. */
static void draw_numbers(const struct table *t, const struct row *row, double most) {
  struct live_pen *p = t->p;
  int column = (t->w - LABEL) / t->n, right = p->r.x + t->w;
  column = column < COLUMN || t->n == 1 ? column : COLUMN;
  put_label(t, row);
  for (int i = 0; i < t->n; i++) {
    struct figure f;
    int end = right - (t->n - 1 - i) * column;
    row->of(t->runs[i]->xray, &f);
    if (!worth(row, &f))
      continue;
    if (t->n > 1)
      canvas_fit(p->cv, end - column + 2, p->y, NAME - 1, ROLE_DIM, 0, t->runs[i]->as);
    put_number(t, row, t->runs[i], &f, end, exact_fits(most, column - NAME - 1));
  }
  p->y++;
}

/* Where 4 and 32 lie under the bars of sectors a request; only where every load is one float wide.
 */
static bool has_scale(const struct table *t) {
  int bar = t->w - VALUE - 1 - LABEL - (t->n > 1 ? NAME : 0);
  for (int i = 0; i < t->n; i++) {
    const struct xray_mix *m = &t->runs[i]->xray->mix;
    if (m->ldg[XRAY_4] == 0 || m->ldg[XRAY_8] > 0 || m->ldg[XRAY_16] > 0)
      return false;
  }
  return bar >= SCALE_LEAST;
}

static void draw_scale(const struct table *t) {
  struct live_pen *p = t->p;
  int from = p->r.x + LABEL + (t->n > 1 ? NAME : 0), bar = p->r.x + t->w - VALUE - 1 - from;
  int at = from + (bar * IDEAL + WORST / 2) / WORST - 1;
  char text[64];
  snprintf(text, sizeof text, "▴ %d %s", IDEAL, live_pen_word(p, "xray.ideal"));
  canvas_text(p->cv, at, p->y, ROLE_DIM, 0, text);
  snprintf(text, sizeof text, "%d %s ▴", WORST, live_pen_word(p, "xray.worst"));
  canvas_right(p->cv, from + bar, p->y, ROLE_DIM, 0, text);
  p->y++;
}

/* One bar alone has nothing to be compared with, unless its scale is known. */
static bool has_bars(const struct row *row, int have) {
  return row->bar != BAR_NONE && (row->bar != BAR_MOST || have > 1);
}

/* Lines of all rows without any space between them; *groups: rows that are drawn as bars. */
static int height(const struct table *t, int *groups) {
  int lines = 0;
  *groups = 0;
  for (int i = 0; i < ROWS; i++) {
    double most;
    int have = present(t, &rows[i], &most);
    bool bars = has_bars(&rows[i], have);
    lines += have == 0 ? 0 : bars ? have : 1;
    *groups += have > 0 && bars;
  }
  return lines;
}

static void draw_rows(const struct table *t) {
  struct live_pen *p = t->p;
  int groups, lines = height(t, &groups), spare = live_pen_left(p) - lines - 2;
  bool scale = has_scale(t) && spare > 0, space = spare > groups + scale && t->n > 1;
  bool was_bars = false;
  for (int i = 0; i < ROWS && live_pen_left(p) > 0; i++) {
    double most;
    int have = present(t, &rows[i], &most);
    if (!have)
      continue;
    bool bars = has_bars(&rows[i], have);
    if (was_bars && !bars)
      p->y += spare > 0;
    if (bars)
      draw_bars(t, &rows[i], most);
    else
      draw_numbers(t, &rows[i], most);
    if (scale && rows[i].of == per_request && live_pen_left(p) > 0)
      draw_scale(t);
    bool gap = bars && space && have > 1;
    p->y += gap;
    was_bars = bars && !gap;
  }
}

/* ---- words around them */

/* What these figures are, said once; and how much of the launch was run for them. */
static void draw_head(const struct table *t) {
  struct live_pen *p = t->p;
  const struct xray_result *x = t->runs[0]->xray;
  for (int i = 1; i < t->n && !x->sampled; i++)
    x = t->runs[i]->xray;
  char *ran = units_exact((double)x->blocks_executed), *of = units_exact((double)x->blocks);
  char *text = words_fill(p->lang, x->sampled ? "xray.sampled" : "xray.counts", ran, of, NULL);
  live_pen_wrap(p, ROLE_DIM, text);
  free(text);
  free(ran);
  free(of);
}

static void draw_problems(const struct table *t) {
  struct live_pen *p = t->p;
  for (int i = 0; i < t->n; i++) {
    const struct xray_result *x = t->runs[i]->xray;
    for (int k = 0; k < x->nproblems && k < PROBLEMS_MOST && live_pen_left(p) > 0; k++) {
      const struct xray_problem *q = &x->problems[k];
      char text[640];
      char *detail = sentences_in(q->detail, p->lang == LANG_ZH), line[24];
      snprintf(line, sizeof line, "%d", q->line);
      char *where = q->line > 0 ? words_fill(p->lang, "xray.line", line, NULL) : NULL;
      snprintf(text, sizeof text, "%s %s%s", q->error ? "✗" : "!", where ? where : "", detail);
      live_pen_wrap(p, q->error ? ROLE_WRONG : ROLE_NOW, text);
      free(where);
      free(detail);
    }
  }
}

/* Whether machine code of the same compile was held beside it. */
static void draw_certificate(const struct table *t) {
  static const char *const id[] = {"xray.not_certified", "xray.exact", "xray.other_code"};
  struct live_pen *p = t->p;
  const struct xray_result *x = t->runs[t->n - 1]->xray;
  enum xray_certificate worst = x->certificate;
  for (int i = 0; i < t->n; i++) { /* one that is not exact speaks for all */
    enum xray_certificate c = t->runs[i]->xray->certificate;
    worst = worst == XRAY_EXACT ? c : worst;
  }
  bool loads = false;
  for (int i = 0; i < t->n; i++)
    loads = loads || xray_result_lds_differ(t->runs[i]->xray);
  const char *word = loads ? "xray.ptx_level" : id[worst];
  char *text = words_fill(p->lang, word, x->compiler, x->arch, NULL);
  live_pen_wrap(p, ROLE_DIM, text);
  free(text);
}

void live_xray_draw(struct live_pen *p, const struct live_run *const *runs, int n) {
  int w = p->r.w < WIDTH_MOST ? p->r.w : WIDTH_MOST;
  struct table t = {p, runs, n, w};
  if (live_pen_left(p) > 0)
    draw_problems(&t);
  if (live_pen_left(p) > 0)
    draw_head(&t);
  p->y += live_pen_left(p) > ROWS;
  draw_rows(&t);
  if (live_pen_left(p) > 1) {
    p->y++;
    draw_certificate(&t);
  }
}
