#include "ui/live_draw.h"

#include "base/alloc.h"
#include "base/sentences.h"
#include "base/str.h"
#include "base/units.h"
#include "base/utf8.h"
#include "ui/live_pen.h"
#include "ui/live_plan.h"
#include "ui/live_plot.h"
#include "ui/live_result.h"
#include "ui/live_values.h"
#include "ui/live_xray.h"
#include "ui/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUESS_COLS = 14, LINE_COLS = 60, LINE_VALUE = 14 };

/* ---- prediction */

static void draw_guess(struct live_pen *p) {
  const live *l = p->l;
  int x = p->r.x + LIVE_PEN_LABEL, room = live_pen_room(p, x);
  int w = room > GUESS_COLS ? GUESS_COLS : room;
  if (!l->guessing) {
    canvas_fit(p->cv, x, p->y, room, ROLE_DIM, 0, live_pen_word(p, "live.predict_first"));
    return;
  }
  if (w > 0)
    field_draw(&l->guess, p->cv, x, p->y, w, true);
  x += w + 1;
  const char *unit = lesson_unit(l->experiment, live_plan_place(l));
  if (unit[0])
    x += canvas_fit(p->cv, x, p->y, live_pen_room(p, x), ROLE_TEXT, 0, unit) + 2;
  canvas_fit(p->cv, x, p->y, live_pen_room(p, x), ROLE_NOW, 0,
             live_pen_word(p, "live.no_idea_key"));
}

static void draw_prediction(struct live_pen *p) {
  live *l = p->l;
  bool owed = l->locked && !l->predicted;
  if (!l->experiment || (l->custom && !owed))
    return;
  const char *ask = lesson_ask(l->experiment, live_plan_place(l))->in[p->lang];
  int bottom = p->r.h;
  p->r.h -= p->r.h > 1; /* a long question leaves the field its line */
  live_pen_wrap(p, ROLE_TEXT, ask ? ask : "");
  p->r.h = bottom;
  if (p->y >= p->r.y + p->r.h)
    p->y = p->r.y + p->r.h - 1;
  live_pen_label(p, "live.predict");
  if (l->guessing || !l->predicted) {
    draw_guess(p);
  } else if (isnan(l->prediction)) {
    canvas_fit(p->cv, p->r.x + LIVE_PEN_LABEL, p->y, p->r.w - LIVE_PEN_LABEL, ROLE_DIM, 0,
               live_pen_word(p, "live.no_idea"));
  } else {
    char text[96];
    int x = p->r.x + LIVE_PEN_LABEL;
    const char *unit = lesson_unit(l->experiment, live_plan_place(l));
    snprintf(text, sizeof text, "%.6g%s%s", l->prediction, unit[0] ? " " : "", unit);
    x += canvas_fit(p->cv, x, p->y, live_pen_room(p, x), ROLE_TEXT, 0, text) + 2;
    canvas_fit(p->cv, x, p->y, live_pen_room(p, x), ROLE_DIM, 0, live_pen_word(p, "live.yours"));
  }
  p->y += 2;
}

/* ---- results */

static void draw_off(struct live_pen *p, int x) {
  const live *l = p->l;
  if (!(l->prediction > 0) || !(l->quantity > 0))
    return;
  double off =
      l->quantity > l->prediction ? l->quantity / l->prediction : l->prediction / l->quantity;
  char text[64];
  snprintf(text, sizeof text, "×%.2g", off);
  char *say = words_fill(p->lang, "live.off", text, NULL);
  canvas_fit(p->cv, x, p->y, live_pen_room(p, x), ROLE_DIM, 0, say);
  free(say);
}

/* Whether the x-ray runs what is planned. */
static bool counts(const live *l) {
  for (int i = 0; i < l->nruns; i++)
    if (live_plan_counts(l, l->run[i].kernel))
      return true;
  return false;
}

/* An experiment without a question for the x-ray, which ran it all the same. */
static bool asks_time(const live *l) {
  return l->experiment && !l->custom && counts(l) && live_plan_place(l) == EXP_CUDA;
}

/* Measured against what was predicted and what the lesson expects. */
static void draw_conclusion(struct live_pen *p) {
  live *l = p->l;
  double low, high;
  if (isnan(l->quantity) && l->phase == LIVE_DONE && asks_time(l))
    live_pen_wrap(p, ROLE_NOW, live_pen_word(p, "live.asks_time"));
  if (isnan(l->quantity) || live_pen_left(p) < 2)
    return;
  p->y++;
  int place = live_plan_place(l);
  bool counted = place == EXP_XRAY;
  const char *unit = lesson_unit(l->experiment, place);
  const char *word = counted ? "live.counted" : "live.measured";
  char source[256], filled[256];
  int from = p->r.x + LIVE_PEN_LABEL;
  snprintf(source, sizeof source, "%s", live_pen_word(p, "live.this_machine"));
  if (counted && l->run[l->nruns - 1].xray)
    live_xray_source(p, l->run[l->nruns - 1].xray, source, sizeof source);
  live_plan_filled(l, filled, sizeof filled);
  live_pen_label(p, word);
  int x = from + live_pen_figure(p, from, ROLE_NUMBER, l->quantity, unit,
                                 &(struct live_pen_ask){live_pen_word(p, word),
                                                        lesson_quantity(l->experiment, place),
                                                        filled, source});
  canvas_paint(p->cv, (struct rect){from, p->y, x - from, 1}, ROLE_NUMBER, MARK_BOLD);
  draw_off(p, x + 2);
  p->y++;
  if (live_plan_band(l, &low, &high) && live_pen_left(p) > 0) {
    char text[96];
    bool in = l->quantity >= low && l->quantity <= high;
    snprintf(text, sizeof text, "%.4g – %.4g %s", low, high, unit);
    live_pen_label(p, "live.expected");
    x = from + canvas_text(p->cv, from, p->y, in ? ROLE_DONE : ROLE_NOW, 0, in ? "✓ " : "≠ ");
    live_pen_line(p, x, ROLE_DIM, text);
  }
}

static void draw_note(struct live_pen *p) {
  const live *l = p->l;
  const struct note *n = l->note && l->lesson ? lesson_note(l->lesson, l->note) : NULL;
  if (!n || live_pen_left(p) < 2)
    return;
  p->y++;
  live_pen_line(p, p->r.x, ROLE_NOW, n->title.in[p->lang]);
}

/* The runs that the x-ray counted stand beside each other, but for those of a sweep. */
static void draw_counted(struct live_pen *p, int shown) {
  const live *l = p->l;
  const struct live_run *side[LIVE_XRAY_SIDE] = {&l->run[shown]};
  int n = 0;
  for (int i = 0; i < l->nruns && !live_plan_sweeps(l); i++)
    if (l->run[i].done && l->run[i].xray && n < LIVE_XRAY_SIDE)
      side[n++] = &l->run[i];
  if (n < 2) {
    side[0] = &l->run[shown];
    if (!side[0]->xray->verified && live_pen_left(p) > 0)
      live_pen_wrap(p, ROLE_DIM, live_pen_word(p, "xray.not_verified"));
    else if (live_pen_left(p) > 0)
      live_result_verify(p, &side[0]->result.verify);
  }
  live_xray_draw(p, side, n < 2 ? 1 : n);
}

static void draw_results(struct live_pen *p) {
  live *l = p->l;
  int last = -1;
  for (int i = 0; i < l->nruns; i++)
    if (l->run[i].done)
      last = i;
  if (last < 0)
    return;
  bool still = !live_running(l);
  int shown = l->picked >= 0 && l->picked < l->nruns && l->run[l->picked].done ? l->picked : last;
  bool details =
      still && (!live_plan_sweeps(l) || l->picked >= 0 || !live_plan_good(&l->run[last]));
  for (int i = 0; l->nruns > 1 && i < l->nruns && live_pen_left(p) > 0; i++)
    if (l->run[i].done)
      live_result_line(p, &l->run[i], details && i == shown);
  if (still)
    draw_conclusion(p);
  if (details) {
    p->y += l->nruns > 1;
    if (l->run[shown].xray)
      draw_counted(p, shown);
    else
      live_result_details(p, &l->run[shown]);
  }
  if (still)
    draw_note(p);
}

/* ---- what is not this machine's */

static void draw_recorded_line(struct live_pen *p, const struct result *r, double sweep) {
  const live *l = p->l;
  const struct kernel *k = catalog_find(l->w.catalog, r->kernel);
  const char *unit;
  char text[128], source[160];
  double rate = live_result_rate(k, r, &unit);
  char *value = units_format(rate, unit, 3);
  int right = p->r.x + (p->r.w > LINE_COLS ? LINE_COLS : p->r.w), at = right - utf8_width(value);
  snprintf(text, sizeof text, "%s", k->id);
  if (!isnan(sweep))
    snprintf(text, sizeof text, "%s  %s %g", k->id, l->experiment->sweep_var, sweep);
  snprintf(source, sizeof source, "%s %s, %.10s", live_pen_word(p, "live.recorded"),
           recorded_card(l->w.recorded), recorded_date(l->w.recorded));
  canvas_fit(p->cv, p->r.x + 2, p->y, right - LINE_VALUE - p->r.x - 2, ROLE_RECORDED, 0, text);
  if (at >= p->r.x)
    live_pen_text(p, at, ROLE_RECORDED, value,
                  &(struct live_pen_ask){text, "work / median", "", source});
  free(value);
  p->y++;
}

static void draw_recorded_head(struct live_pen *p) {
  const recorded *rec = p->l->w.recorded;
  char text[160];
  snprintf(text, sizeof text, "%s %s, %.10s", live_pen_word(p, "live.recorded"), recorded_card(rec),
           recorded_date(rec));
  p->y++;
  live_pen_line(p, p->r.x, ROLE_RECORDED, text);
}

/* Without a GPU: what the experiment's kernels reached on the recorded card. Not before the
 * prediction, which it would answer. */
static void draw_recorded(struct live_pen *p) {
  const live *l = p->l;
  const struct experiment *e = l->experiment;
  bool here = live_plan_place(l) == EXP_CUDA && !(l->nruns && counts(l));
  if (!e || !l->w.recorded || l->custom || here || (l->locked && !l->predicted))
    return;
  const struct exp_side *side = &e->side[EXP_CUDA];
  int points = e->nsweep ? e->nsweep : 1;
  bool head = false;
  for (int i = 0; i < points * side->nruns && live_pen_left(p) > (head ? 0 : 2); i++) {
    double sweep = e->nsweep ? e->sweep[i / side->nruns] : NAN;
    const char *as = side->runs[i % side->nruns].as;
    const struct result *r = live_values_recorded_run(l, e, as, sweep);
    if (!r || !r->verify.ok || (isnan(r->gflops) && isnan(r->gbs)))
      continue;
    if (!head)
      draw_recorded_head(p);
    head = true;
    draw_recorded_line(p, r, sweep);
  }
}

static void draw_no_gpu(struct live_pen *p) {
  const live *l = p->l;
  bool details = !live_plan_sweeps(l) || l->picked >= 0; /* which say it themselves */
  bool said = l->phase == LIVE_DONE && counts(l) && details;
  if (!l->no_cuda[0] || live_running(l) || said || live_pen_left(p) < 2)
    return;
  live_pen_sentence(p, ROLE_DIM, l->no_cuda);
  if (live_pen_left(p) > 0)
    live_pen_wrap(p, ROLE_DIM,
                  live_pen_word(p, counts(l) ? "live.xray_instead" : "live.cpu_instead"));
  p->y++;
}

static void draw_fault(struct live_pen *p) {
  const live *l = p->l;
  const struct device_fault *f = &l->fault;
  if ((!f->what[0] && !l->say) || live_pen_left(p) < 1)
    return;
  char *what = l->say ? words_fill(p->lang, l->say, l->say_what, NULL)
                      : sentences_in(f->what, p->lang == LANG_ZH);
  char *head = alloc_printf("✗ %s", what);
  live_pen_wrap(p, ROLE_WRONG, head);
  live_pen_sentence(p, ROLE_TEXT, f->why);
  live_pen_sentence(p, ROLE_DIM, f->next);
  free(head);
  free(what);
  p->y++;
}

static void draw_planned(struct live_pen *p, const struct live_run *r) {
  const live *l = p->l;
  char text[192], size[80];
  if (live_plan_sweeps(l))
    snprintf(size, sizeof size, "%s = %g … %g", l->experiment->sweep_var, l->run[0].sweep,
             l->run[l->nruns - 1].sweep);
  else
    snprintf(size, sizeof size, "%lld × %lld × %lld", (long long)r->size.M, (long long)r->size.N,
             (long long)r->size.K);
  snprintf(text, sizeof text, "· %-16s %s", r->kernel->id, size);
  live_pen_line(p, p->r.x, ROLE_TODO, text);
}

static void draw_question(struct live_pen *p) {
  char seconds[32];
  double s = p->l->expected_s;
  snprintf(seconds, sizeof seconds, s < 1e6 ? "%.0f" : "%.1e", s);
  char *say = words_fill(p->lang, "live.long", seconds, NULL);
  live_pen_wrap(p, ROLE_NOW, say);
  free(say);
}

/* What r will run, until there is a result of it. */
static void draw_plan(struct live_pen *p) {
  const live *l = p->l;
  if (live_running(l) || l->phase == LIVE_DONE)
    return;
  if (l->nruns == 0) {
    live_pen_wrap(p, ROLE_DIM, live_pen_word(p, "live.nothing"));
    return;
  }
  if (l->phase == LIVE_ASKING)
    draw_question(p);
  int shown = live_plan_sweeps(l) ? 1 : l->nruns;
  for (int i = 0; i < shown && live_pen_left(p) > 0; i++)
    draw_planned(p, &l->run[i]);
  if (live_pen_left(p) < 1)
    return;
  p->y++;
  if (l->phase != LIVE_ASKING && !l->guessing && (l->predicted || !l->locked))
    live_pen_wrap(p, ROLE_DIM, live_pen_word(p, "live.press_r"));
  p->y++;
}

void live_draw_pane(live *l, canvas *cv, struct rect r, enum lang lang) {
  struct rect old = canvas_clip(cv, r);
  struct live_pen p = {.l = l, .cv = cv, .r = r, .y = r.y, .lang = lang};
  draw_prediction(&p);
  draw_fault(&p);
  if (live_running(l) && live_pen_left(&p) > 0)
    live_result_running(&p);
  draw_plan(&p);
  draw_results(&p);
  draw_recorded(&p);
  p.y++;
  draw_no_gpu(&p);
  live_plot_draw(l, cv, (struct rect){r.x, p.y, r.w, live_pen_left(&p)}, lang);
  canvas_clip(cv, old);
}

void live_draw_title(const live *l, char *out, int size) {
  const struct live_run *r = l->nruns ? &l->run[l->now < l->nruns ? l->now : 0] : NULL;
  struct str s = {0};
  out[0] = '\0';
  if (!r)
    return;
  str_addf(&s, "%s", r->kernel->id);
  for (int i = 0; i < r->kernel->nparams; i++)
    str_addf(&s, "  %s %g", r->kernel->params[i].name, r->size.param[i]);
  if (r->size.M == r->size.N && r->size.N == r->size.K)
    str_addf(&s, "  %lld³", (long long)r->size.M);
  else
    str_addf(&s, "  %lld×%lld×%lld", (long long)r->size.M, (long long)r->size.N,
             (long long)r->size.K);
  snprintf(out, (size_t)size, "%s", s.data);
  str_free(&s);
}

void live_draw_headline(const live *l, char *out, int size) {
  const char *unit;
  double ms;
  out[0] = '\0';
  if (!live_running(l) || l->dropped || l->now >= l->nruns)
    return;
  double rate = live_result_so_far(l, &ms, &unit);
  if (isnan(rate)) {
    snprintf(out, (size_t)size, "● %s", l->run[l->now].kernel->id);
    return;
  }
  char *value = units_format(rate, unit, 3);
  snprintf(out, (size_t)size, "● %s  n %d", value, l->cur.nsamples);
  free(value);
}
