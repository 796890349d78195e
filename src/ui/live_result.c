#include "ui/live_result.h"

#include "base/alloc.h"
#include "base/sentences.h"
#include "base/units.h"
#include "base/utf8.h"
#include "ui/live_plan.h"
#include "ui/live_xray.h"
#include "ui/plot.h"
#include "ui/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  LINE_COLS = 60,
  LINE_VALUE = 14,
  BAR_MOST = 36,
  BAR_LEAST = 8,
  SHARE_COLS = 7,
  PROVENANCE_ROWS = 3
};
static const double SPREAD_MARKED = 0.05;

static bool computes(const struct kernel *k) { return k->op == OP_GEMM || k->op == OP_FMA; }

double live_result_rate(const struct kernel *k, const struct result *r, const char **unit) {
  bool flops = computes(k) || isnan(r->gbs);
  *unit = flops ? "FLOP/s" : "B/s";
  return (flops ? r->gflops : r->gbs) * 1e9;
}

double live_result_so_far(const live *l, double *ms, const char **unit) {
  const struct live_run *r = &l->run[l->now];
  *ms = result_quantile(l->cur.samples, l->cur.nsamples, 0.5);
  *unit = "FLOP/s";
  if (l->now >= l->nruns || !(*ms > 0))
    return NAN;
  if (!computes(r->kernel))
    *unit = "B/s";
  double work =
      computes(r->kernel) ? kernel_flop(r->kernel, &r->size) : kernel_dram_min(r->kernel, &r->size);
  return work > 0 ? work / (*ms / 1000) : NAN;
}

/* Provenance: card or processor, instruction set, driver, compiler. */
static void source_of(const struct result *r, char *out, size_t size) {
  const struct device_info *d = &r->device;
  char threads[24] = "";
  if (d->threads > 0)
    snprintf(threads, sizeof threads, "%d thread%s", d->threads, d->threads == 1 ? "" : "s");
  snprintf(out, size, "%s%s%s%s%s%s%s%s%s", d->name, threads[0] ? ", " : "", threads,
           d->isa[0] ? ", " : "", d->isa, d->driver[0] ? ", driver " : "", d->driver,
           d->compiler[0] ? ", " : "", d->compiler);
}

/* The same with samples, date and kernel, for `=`. */
static void source_long(const struct result *r, char *out, size_t size) {
  char head[320];
  source_of(r, head, sizeof head);
  snprintf(out, size, "%s, n %d, %s, kernel %.8s", head, r->nsamples, r->date, r->kernel_sha256);
}

/* ---- one run in work */

static void draw_compile(struct live_pen *p) {
  const struct device_built *b = &p->l->cur.built;
  char text[96];
  int n = snprintf(text, sizeof text, "%.3g ms", b->compile_ms);
  if (b->cached)
    n += snprintf(text + n, sizeof text - (size_t)n, " %s", live_pen_word(p, "live.cached"));
  if (b->registers > 0)
    n += snprintf(text + n, sizeof text - (size_t)n, "  %d %s", b->registers,
                  live_pen_word(p, "live.registers"));
  if (b->shared_bytes > 0)
    n += snprintf(text + n, sizeof text - (size_t)n, "  %.3g KiB shared", b->shared_bytes / 1024.0);
  if (b->spill_bytes > 0)
    snprintf(text + n, sizeof text - (size_t)n, "  %d B spilled", b->spill_bytes);
  live_pen_label(p, "live.compile");
  live_pen_text(p, p->r.x + LIVE_PEN_LABEL, ROLE_TEXT, text,
                &(struct live_pen_ask){.label = live_pen_word(p, "live.compile"),
                                       .source = live_pen_word(p, "live.this_machine")});
  p->y++;
}

void live_result_verify(struct live_pen *p, const struct result_verify *v) {
  char text[320], filled[96];
  int x = p->r.x + LIVE_PEN_LABEL;
  live_pen_label(p, "live.verify");
  x += canvas_text(p->cv, x, p->y, v->ok ? ROLE_DONE : ROLE_WRONG, 0, v->ok ? "✓ " : "✗ ");
  char *note = v->ok ? NULL : sentences_in(v->note, p->lang == LANG_ZH);
  if (v->bound > 0)
    snprintf(text, sizeof text, "%s %.2g  %s %.2g", live_pen_word(p, "live.max_error"),
             v->max_error, live_pen_word(p, "live.bound"), v->bound);
  else
    snprintf(text, sizeof text, "%s", live_pen_word(p, v->ok ? "live.equal" : "live.not_equal"));
  snprintf(filled, sizeof filled, "%.3g %s %.3g, %.0f elements", v->max_error,
           v->max_error <= v->bound ? "<=" : ">", v->bound, v->checked);
  live_pen_text(p, x, v->ok ? ROLE_TEXT : ROLE_WRONG, note && note[0] ? note : text,
                &(struct live_pen_ask){live_pen_word(p, "live.verify"),
                                       "max(|c - ref| / sum|a||b|) <= 8 sqrt(K) u", filled,
                                       live_pen_word(p, "live.fp64")});
  free(note);
  p->y++;
}

static const char *formula_of(const struct kernel *k, const char *unit, char *out, size_t size) {
  bool flops = strcmp(unit, "FLOP/s") == 0;
  const char *work = flops ? k->flop : k->dram_min;
  snprintf(out, size, "%s / t", work ? work : flops ? "FLOP" : "bytes");
  return out;
}

/* While samples come: the figure so far, in the role of what is happening. */
static void draw_sampling(struct live_pen *p) {
  const live *l = p->l;
  const char *unit;
  double ms, rate = live_result_so_far(l, &ms, &unit);
  char text[64], formula[160];
  snprintf(text, sizeof text, "%.4g ms  n %d", ms, l->cur.nsamples);
  live_pen_label(p, "live.time");
  live_pen_text(p, p->r.x + LIVE_PEN_LABEL, ROLE_NOW, text,
                &(struct live_pen_ask){live_pen_word(p, "live.time"),
                                       "median of the samples so far", "",
                                       live_pen_word(p, "live.this_machine")});
  p->y++;
  if (isnan(rate) || live_pen_left(p) < 1)
    return;
  formula_of(l->run[l->now].kernel, unit, formula, sizeof formula);
  live_pen_figure(p, p->r.x, ROLE_NOW, rate, unit,
                  &(struct live_pen_ask){live_pen_word(p, "live.so_far"), formula, text,
                                         live_pen_word(p, "live.this_machine")});
  p->y += 2;
}

void live_result_running(struct live_pen *p) {
  const live *l = p->l;
  char text[160];
  bool named = l->now < l->nruns && !l->dropped;
  bool counts = named && live_plan_counts(l, l->run[l->now].kernel);
  const char *id = l->phase == LIVE_CANCELLING ? "live.cancelling"
                   : l->cur.nsamples           ? "live.measuring"
                   : l->cur.verified           ? "live.warming"
                   : !l->cur.compiled          ? "live.compiling"
                   : counts                    ? "live.counting"
                                               : "live.verifying";
  snprintf(text, sizeof text, "● %s%s%s", named ? l->run[l->now].kernel->id : "", named ? "  " : "",
           live_pen_word(p, id));
  live_pen_line(p, p->r.x, ROLE_NOW, text);
  if (l->dropped)
    return;
  if (l->cur.compiled && live_pen_left(p) > 0)
    draw_compile(p);
  if (l->cur.verified && live_pen_left(p) > 0)
    live_result_verify(p, &l->cur.verify);
  if (l->cur.nsamples && live_pen_left(p) > 0)
    draw_sampling(p);
  if (l->cur.print[0] && live_pen_left(p) > 0)
    live_pen_line(p, p->r.x, ROLE_DIM, l->cur.print);
}

/* ---- results */

/* "105 ms  spread 6 %  p10 102.8  p90 108.9  n 8", p10 and p90 only where all of it fits. */
static void draw_time(struct live_pen *p, const struct result *r) {
  char text[64], spread[32] = "", ends[64], n[24], filled[128], source[400];
  int x = p->r.x + LIVE_PEN_LABEL, room = live_pen_room(p, x);
  source_long(r, source, sizeof source);
  snprintf(text, sizeof text, "%.4g ms", r->median_ms);
  snprintf(ends, sizeof ends, "  p10 %.4g  p90 %.4g", r->p10_ms, r->p90_ms);
  snprintf(n, sizeof n, "  n %d", r->nsamples);
  snprintf(filled, sizeof filled, "p10 %.6g ms, p90 %.6g ms, n %d x %d launches", r->p10_ms,
           r->p90_ms, r->nsamples, r->launches_per_sample);
  if (result_spread(r) > SPREAD_MARKED)
    snprintf(spread, sizeof spread, "  %s %.2g %%", live_pen_word(p, "live.spread"),
             100 * result_spread(r));
  live_pen_label(p, "live.time");
  int used = utf8_width(text) + utf8_width(spread) + utf8_width(n);
  x += live_pen_text(p, x, ROLE_TEXT, text,
                     &(struct live_pen_ask){live_pen_word(p, "live.time"), "median of the samples",
                                            filled, source});
  x += canvas_fit(p->cv, x, p->y, live_pen_room(p, x), ROLE_NOW, 0, spread);
  if (used + utf8_width(ends) <= room)
    x += canvas_text(p->cv, x, p->y, ROLE_TEXT, 0, ends);
  if (utf8_width(n) <= live_pen_room(p, x))
    canvas_text(p->cv, x, p->y, ROLE_DIM, 0, n);
  p->y++;
}

static void draw_copies(struct live_pen *p, const struct result *r) {
  char text[96];
  int n = snprintf(text, sizeof text, "%s %.3g ms", live_pen_word(p, "live.in"), r->transfer_in_ms);
  if (!isnan(r->transfer_out_ms))
    snprintf(text + n, sizeof text - (size_t)n, "  %s %.3g ms", live_pen_word(p, "live.out"),
             r->transfer_out_ms);
  live_pen_label(p, "live.copies");
  live_pen_text(p, p->r.x + LIVE_PEN_LABEL, ROLE_TEXT, text,
                &(struct live_pen_ask){.label = live_pen_word(p, "live.copies"),
                                       .source = live_pen_word(p, "live.this_machine")});
  p->y++;
}

static bool under_dram(const struct result *r) { return strcmp(r->roof.unit, "B/s") == 0; }

static int draw_one_rate(struct live_pen *p, int x, const struct live_run *run, bool flops) {
  const struct result *r = &run->result;
  const char *unit = flops ? "FLOP/s" : "B/s";
  char source[400], formula[160], filled[128];
  source_long(r, source, sizeof source);
  formula_of(run->kernel, unit, formula, sizeof formula);
  snprintf(filled, sizeof filled, "%.17g %s / %.6g ms", flops ? r->flop : r->dram_min,
           flops ? "FLOP" : "B", r->median_ms);
  return live_pen_figure(
      p, x, ROLE_NUMBER, (flops ? r->gflops : r->gbs) * 1e9, unit,
      &(struct live_pen_ask){live_pen_word(p, "live.rate"), formula, filled, source});
}

static void draw_rate(struct live_pen *p, const struct live_run *run) {
  const struct result *r = &run->result;
  const char *unit;
  int x = p->r.x;
  double rate = live_result_rate(run->kernel, r, &unit);
  bool flops = strcmp(unit, "FLOP/s") == 0;
  if (!isnan(rate))
    x += draw_one_rate(p, x, run, flops);
  if (flops && under_dram(r) && !isnan(r->gbs))
    x += 2 + draw_one_rate(p, x + 2, run, false);
  canvas_paint(p->cv, (struct rect){p->r.x, p->y, x - p->r.x, 1}, ROLE_NUMBER, MARK_BOLD);
  p->y++;
}

/* A line of a bar, "14.8 %" and of what. */
struct share {
  double share;
  char of[160], filled[128], source[192];
  const char *formula;
};

/* Whether a text leaves a bar its least room. */
static bool beside_bar(const struct live_pen *p, const char *of) {
  return utf8_width(of) + SHARE_COLS + 1 + BAR_LEAST <= p->r.w;
}

/* Of the reference: its version is shortened to its number, then left out. */
static void share_of_reference(const struct live_pen *p, const struct result *r, struct share *s) {
  const char *version = r->reference.version, *word = live_pen_word(p, "live.of");
  char *ours = units_format(r->gflops * 1e9, "FLOP/s", 4);
  char *theirs = units_format(r->reference.gflops * 1e9, "FLOP/s", 4);
  int most[] = {(int)strlen(version), (int)strcspn(version, " ,("), 0};
  for (int i = 0; i < 3; i++) {
    snprintf(s->of, sizeof s->of, "%s %s%s%.*s", word, r->reference.name, most[i] ? " " : "",
             most[i], version);
    if (beside_bar(p, s->of))
      break;
  }
  s->share = r->reference.ratio;
  s->formula = "ours / reference";
  snprintf(s->filled, sizeof s->filled, "%s / %s", ours, theirs);
  snprintf(s->source, sizeof s->source, "%s %s, %s", r->reference.name, version,
           live_pen_word(p, "live.paired"));
  free(ours);
  free(theirs);
}

static void share_of_roof(const struct live_pen *p, const struct result *r, struct share *s) {
  char *roof = units_format(r->roof.value, r->roof.unit, 3);
  char *ours = units_format((under_dram(r) ? r->gbs : r->gflops) * 1e9, r->roof.unit, 4);
  snprintf(s->of, sizeof s->of, "%s",
           live_pen_word(p, under_dram(r) ? "live.of_dram" : "live.of_fma"));
  s->share = r->roof.share;
  s->formula = "measured / roof";
  snprintf(s->filled, sizeof s->filled, "%s / %s", ours, roof);
  snprintf(s->source, sizeof s->source, "%s: %s", r->roof.name,
           live_pen_word(p, "live.roof_source"));
  free(roof);
  free(ours);
}

/* One bar is as long as the other, so that they can be compared. */
static void draw_shares(struct live_pen *p, const struct result *r) {
  struct share share[2];
  int n = 0, bar = p->r.w > 2 * BAR_MOST ? BAR_MOST : p->r.w / 2;
  if (r->reference.name[0] && !isnan(r->reference.ratio))
    share_of_reference(p, r, &share[n++]);
  if (r->roof.name[0] && !isnan(r->roof.share))
    share_of_roof(p, r, &share[n++]);
  for (int i = 0; i < n; i++) {
    int rest = p->r.w - SHARE_COLS - 1 - utf8_width(share[i].of);
    bar = rest < bar ? rest : bar;
  }
  if (bar < BAR_LEAST)
    bar = p->r.w / 2 < BAR_LEAST ? p->r.w / 2 : BAR_LEAST;
  for (int i = 0; i < n && live_pen_left(p) > 0; i++) {
    const struct share *s = &share[i];
    plot_bar(p->cv, p->r.x, p->y, bar, s->share, ROLE_ACC);
    int x = p->r.x + bar + 1;
    x += live_pen_figure(p, x, ROLE_NUMBER, 100 * s->share, "%",
                         &(struct live_pen_ask){s->of, s->formula, s->filled, s->source});
    live_pen_line(p, x + 1, ROLE_DIM, s->of);
    p->y += i + 1 < n && live_pen_left(p) > 8; /* two bars side by side would run together */
  }
}

/* Where the figures come from: all of it where there is room, else on one line with the device
 * shortened before date and kernel. */
static void draw_provenance(struct live_pen *p, const struct result *r) {
  char head[320], tail[64], whole[400];
  source_of(r, head, sizeof head);
  snprintf(tail, sizeof tail, "  %.10s  %s\xc2\xa0%.8s", r->date, live_pen_word(p, "live.kernel"),
           r->kernel_sha256);
  snprintf(whole, sizeof whole, "%s%s", head, tail);
  if (utf8_width(whole) > p->r.w && live_pen_left(p) > PROVENANCE_ROWS) {
    live_pen_wrap(p, ROLE_DIM, whole);
    return;
  }
  int w = p->r.w - utf8_width(tail), x = p->r.x;
  x += canvas_fit(p->cv, x, p->y, w > 12 ? w : p->r.w, ROLE_DIM, 0, head);
  live_pen_line(p, x, ROLE_DIM, tail);
}

void live_result_details(struct live_pen *p, const struct live_run *run) {
  const struct result *r = &run->result;
  if (live_pen_left(p) > 0)
    live_result_verify(p, &r->verify);
  if (!r->verify.ok || isnan(r->median_ms)) {
    if (!r->verify.ok)
      live_pen_wrap(p, ROLE_WRONG, live_pen_word(p, "live.withheld"));
    for (int i = 0; i < r->nwarnings && live_pen_left(p) > 0; i++)
      live_pen_sentence(p, ROLE_DIM, r->warnings[i]);
    return;
  }
  if (live_pen_left(p) > 0)
    draw_time(p, r);
  if (!isnan(r->transfer_in_ms) && live_pen_left(p) > 0)
    draw_copies(p, r);
  p->y += live_pen_left(p) > 8;
  if (live_pen_left(p) > 0)
    draw_rate(p, run);
  draw_shares(p, r);
  p->y += live_pen_left(p) > 4;
  for (int i = 0; i < r->nwarnings && live_pen_left(p) > 0; i++)
    live_pen_sentence(p, ROLE_DIM, r->warnings[i]);
  if (live_pen_left(p) > 0)
    draw_provenance(p, r);
}

/* What a run is worth in one line: its rate; of a counted one the quantity at this point of a
 * sweep, else how far its result is from the reference. NULL where nothing is. */
static char *line_value(struct live_pen *p, const struct live_run *run, const char **formula,
                        char *source, size_t size) {
  const live *l = p->l;
  double v;
  if (!run->xray) {
    const char *unit;
    double rate = live_result_rate(run->kernel, &run->result, &unit);
    source_long(&run->result, source, size);
    *formula = strcmp(unit, "FLOP/s") == 0 ? run->kernel->flop : run->kernel->dram_min;
    return isnan(rate) ? NULL : units_format(rate, unit, 3);
  }
  live_xray_source(p, run->xray, source, size);
  if (!live_plan_sweeps(l)) {
    *formula = live_pen_word(p, "live.error.how");
    v = run->result.verify.max_error;
    return run->xray->verified && run->result.verify.bound > 0
               ? alloc_printf("%s %.2g", live_pen_word(p, "live.error"), v)
               : NULL;
  }
  int place = live_plan_place(l);
  *formula = lesson_quantity(l->experiment, place);
  return live_plan_quantity_at(l, run->sweep, &v)
             ? units_format(v, lesson_unit(l->experiment, place), 3)
             : NULL;
}

void live_result_line(struct live_pen *p, const struct live_run *run, bool here) {
  const struct result *r = &run->result;
  char text[160], source[400], formula[160];
  bool ok = live_plan_good(run) && (run->xray || !isnan(r->median_ms));
  int right = p->r.x + (p->r.w > LINE_COLS ? LINE_COLS : p->r.w);
  if (!live_plan_sweeps(p->l))
    snprintf(text, sizeof text, "%s  %s", run->as, run->kernel->id);
  else
    snprintf(text, sizeof text, "%s  %s %g", run->kernel->id, p->l->experiment->sweep_var,
             run->sweep);
  int x = p->r.x + canvas_text(p->cv, p->r.x, p->y, ROLE_FOCUS, 0, here ? "▸" : " ");
  x += canvas_text(p->cv, x, p->y, ok ? ROLE_DONE : ROLE_WRONG, 0, ok ? "✓ " : "✗ ");
  canvas_fit(p->cv, x, p->y, right - LINE_VALUE - x, here ? ROLE_FOCUS : ROLE_TEXT, 0, text);
  const char *work = NULL;
  char *value = ok ? line_value(p, run, &work, source, sizeof source) : NULL;
  if (value) {
    snprintf(formula, sizeof formula, run->xray ? "%s" : "%s / t", work ? work : "");
    int at = right - utf8_width(value);
    if (at >= p->r.x)
      live_pen_text(p, at, ROLE_NUMBER, value, &(struct live_pen_ask){text, formula, "", source});
    free(value);
  }
  p->y++;
}
