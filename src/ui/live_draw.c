#include "ui/live_draw.h"

#include "base/str.h"
#include "base/units.h"
#include "ui/live_plan.h"
#include "ui/live_plot.h"
#include "ui/plot.h"
#include "ui/strings.h"
#include "ui/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL = 10 };

/* Where the next line goes. */
struct pen {
  live *l;
  canvas *cv;
  struct rect r;
  int y;
  enum lang lang;
};

static const char *word(const struct pen *p, const char *id) { return strings_get(p->lang, id); }

static int left(const struct pen *p) { return p->r.y + p->r.h - p->y; }

static void wrapped(struct pen *p, enum role role, const char *text) {
  struct rect r = {p->r.x, p->y, p->r.w, left(p)};
  if (r.h > 0)
    p->y += canvas_wrap(p->cv, r, 0, role, 0, text);
}

/* A figure with what `=` says of it; returns the columns taken. */
static int figure(struct pen *p, int x, double value, const char *unit, const char *label,
                  const char *formula, const char *filled, enum role role, const char *source) {
  char *text = units_format(value, unit, 3);
  int w = canvas_text(p->cv, x, p->y, role, 0, text);
  canvas_ask(p->cv, (struct rect){x, p->y, w, 1}, label, formula, filled, text, source, "");
  free(text);
  return w;
}

/* Provenance: card, compiler or instruction set, driver, date. */
static void source_of(const struct result *r, char *out, size_t size) {
  const struct device_info *d = &r->device;
  snprintf(out, size, "%s%s%s%s%s%s%s, n %d, %s", d->name, d->isa[0] ? ", " : "", d->isa,
           d->driver[0] ? ", driver " : "", d->driver, d->compiler[0] ? ", " : "", d->compiler,
           r->nsamples, r->date);
}

static void label(struct pen *p, const char *id) {
  canvas_fit(p->cv, p->r.x, p->y, LABEL - 1, ROLE_DIM, 0, word(p, id));
}

/* ---- prediction */

static void draw_prediction(struct pen *p) {
  live *l = p->l;
  int x = p->r.x + LABEL;
  if (!l->experiment || l->custom)
    return;
  wrapped(p, ROLE_TEXT, l->experiment->ask.in[p->lang] ? l->experiment->ask.in[p->lang] : "");
  if (left(p) < 1)
    return;
  label(p, "live.predict");
  if (l->guessing || !l->predicted) {
    int w = p->r.w - LABEL > 14 ? 14 : p->r.w - LABEL;
    if (w > 0)
      field_draw(&l->guess, p->cv, x, p->y, w, l->guessing);
    canvas_fit(p->cv, x + w + 1, p->y, p->r.w - LABEL - w - 1, l->guessing ? ROLE_NOW : ROLE_DIM, 0,
               word(p, l->guessing ? "live.no_idea_key" : "live.predict_first"));
  } else if (isnan(l->prediction)) {
    canvas_text(p->cv, x, p->y, ROLE_DIM, 0, word(p, "live.no_idea"));
  } else {
    char text[64];
    snprintf(text, sizeof text, "%.6g%s%s", l->prediction, l->experiment->unit[0] ? " " : "",
             l->experiment->unit);
    x += canvas_text(p->cv, x, p->y, ROLE_TEXT, 0, text) + 2;
    canvas_fit(p->cv, x, p->y, p->r.x + p->r.w - x, ROLE_DIM, 0, word(p, "live.yours"));
  }
  p->y += 2;
}

/* ---- one run in work */

static void draw_compile(struct pen *p) {
  const struct device_built *b = &p->l->cur.built;
  char text[96];
  int n = snprintf(text, sizeof text, "%.3g ms%s", b->compile_ms, b->cached ? " " : "");
  if (b->cached)
    n += snprintf(text + n, sizeof text - (size_t)n, "%s", word(p, "live.cached"));
  if (b->registers > 0)
    n += snprintf(text + n, sizeof text - (size_t)n, "  %d %s", b->registers,
                  word(p, "live.registers"));
  if (b->shared_bytes > 0)
    snprintf(text + n, sizeof text - (size_t)n, "  %.3g KB shared", b->shared_bytes / 1024.0);
  label(p, "live.compile");
  canvas_fit(p->cv, p->r.x + LABEL, p->y++, p->r.w - LABEL, ROLE_TEXT, 0, text);
}

static void draw_verify(struct pen *p, const struct result_verify *v) {
  char text[320];
  int x = p->r.x + LABEL;
  label(p, "live.verify");
  x += canvas_text(p->cv, x, p->y, v->ok ? ROLE_DONE : ROLE_WRONG, 0, v->ok ? "✓ " : "✗ ");
  if (!v->ok && v->note[0])
    snprintf(text, sizeof text, "%s", v->note);
  else if (v->bound > 0)
    snprintf(text, sizeof text, "%s %.2g  %s %.2g", word(p, "live.max_error"), v->max_error,
             word(p, "live.bound"), v->bound);
  else
    snprintf(text, sizeof text, "%s", word(p, "live.equal"));
  int w = canvas_fit(p->cv, x, p->y, p->r.x + p->r.w - x, v->ok ? ROLE_TEXT : ROLE_WRONG, 0, text);
  char filled[96];
  snprintf(filled, sizeof filled, "%.3g <= %.3g, %.0f elements", v->max_error, v->bound, v->checked);
  canvas_ask(p->cv, (struct rect){x, p->y, w, 1}, word(p, "live.verify"),
             "max(|c - ref| / sum|a||b|) <= 8 sqrt(K) u", filled, text, word(p, "live.fp64"), "");
  p->y++;
}

static double median_of(const double *s, int n) {
  static double sorted[LIVE_SAMPLES];
  memcpy(sorted, s, (size_t)n * sizeof *s);
  for (int i = 1; i < n; i++) {
    double v = sorted[i];
    int j = i;
    for (; j > 0 && sorted[j - 1] > v; j--)
      sorted[j] = sorted[j - 1];
    sorted[j] = v;
  }
  return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/* While samples come: the figure so far, in the role of what is happening. */
static void draw_sampling(struct pen *p) {
  const live *l = p->l;
  const struct live_run *r = &l->run[l->now];
  int n = l->cur.nsamples > 255 ? 255 : l->cur.nsamples;
  double ms = median_of(l->cur.samples + l->cur.nsamples - n, n);
  double flop = kernel_flop(r->kernel, &r->size);
  char text[48];
  label(p, "live.time");
  snprintf(text, sizeof text, "%.4g ms  n %d", ms, l->cur.nsamples);
  canvas_text(p->cv, p->r.x + LABEL, p->y++, ROLE_NOW, 0, text);
  if (flop > 0 && left(p) > 0)
    figure(p, p->r.x, flop / (ms / 1000), "FLOP/s", word(p, "live.so_far"), "2*M*N*K / t", "",
           ROLE_NOW, "");
  p->y++;
}

static void draw_running(struct pen *p) {
  const live *l = p->l;
  char text[160];
  const struct live_run *r = &l->run[l->now];
  const char *id = l->phase == LIVE_CANCELLING ? "live.cancelling"
                   : l->cur.nsamples           ? "live.measuring"
                   : l->cur.verified           ? "live.warming"
                   : l->cur.compiled           ? "live.verifying"
                                               : "live.compiling";
  snprintf(text, sizeof text, "● %s  %s", r->kernel->id, word(p, id));
  canvas_fit(p->cv, p->r.x, p->y++, p->r.w, ROLE_NOW, 0, text);
  if (l->cur.compiled && left(p) > 0)
    draw_compile(p);
  if (l->cur.verified && left(p) > 0)
    draw_verify(p, &l->cur.verify);
  if (l->cur.nsamples && left(p) > 1)
    draw_sampling(p);
}

/* ---- results */

static void draw_time(struct pen *p, const struct result *r) {
  char text[128];
  int n = snprintf(text, sizeof text, "%.4g ms  p10 %.4g  p90 %.4g  n %d", r->median_ms, r->p10_ms,
                   r->p90_ms, r->nsamples);
  label(p, "live.time");
  int x = p->r.x + LABEL;
  x += canvas_fit(p->cv, x, p->y, p->r.w - LABEL, ROLE_TEXT, 0, text);
  if (result_spread(r) > 0.05 && n > 0)
    canvas_fit(p->cv, x + 1, p->y, p->r.x + p->r.w - x - 1, ROLE_NOW, 0, word(p, "live.spread"));
  p->y++;
  if (!isnan(r->transfer_in_ms) && left(p) > 0) {
    label(p, "live.copies");
    snprintf(text, sizeof text, isnan(r->transfer_out_ms) ? "%s %.3g ms" : "%s %.3g ms  %s %.3g ms",
             word(p, "live.in"), r->transfer_in_ms, word(p, "live.out"), r->transfer_out_ms);
    canvas_fit(p->cv, p->r.x + LABEL, p->y++, p->r.w - LABEL, ROLE_TEXT, 0, text);
  }
}

static bool by_bandwidth(const struct result *r) { return strcmp(r->roof.unit, "B/s") == 0; }

static void draw_rate(struct pen *p, const struct result *r) {
  char source[400], filled[128];
  source_of(r, source, sizeof source);
  int x = p->r.x;
  if (!by_bandwidth(r) && !isnan(r->gflops)) {
    snprintf(filled, sizeof filled, "%.17g FLOP / %.6g ms", r->flop, r->median_ms);
    x += figure(p, x, r->gflops * 1e9, "FLOP/s", word(p, "live.rate"), "2*M*N*K / median", filled,
                ROLE_NUMBER, source) + 2;
  }
  if (by_bandwidth(r) && !isnan(r->gbs)) {
    snprintf(filled, sizeof filled, "%.17g B / %.6g ms", r->dram_min, r->median_ms);
    x += figure(p, x, r->gbs * 1e9, "B/s", word(p, "live.rate"), "bytes / median", filled,
                ROLE_NUMBER, source) + 2;
  }
  canvas_paint(p->cv, (struct rect){p->r.x, p->y, x - p->r.x, 1}, ROLE_NUMBER, MARK_BOLD);
  p->y++;
}

static void draw_share(struct pen *p, double share, const char *of, const char *filled,
                       enum role role, const char *source) {
  int w = p->r.w > 70 ? 36 : p->r.w / 2;
  plot_bar(p->cv, p->r.x, p->y, w, share, role);
  int x = p->r.x + w + 1;
  x += figure(p, x, 100 * share, "%", of, "measured / reference", filled, ROLE_NUMBER, source) + 1;
  canvas_fit(p->cv, x, p->y, p->r.x + p->r.w - x, ROLE_DIM, 0, of);
  p->y++;
}

static void draw_shares(struct pen *p, const struct result *r) {
  char of[160], filled[128], source[400];
  if (r->reference.name[0] && left(p) > 0) {
    snprintf(of, sizeof of, "%s %s %s", word(p, "live.of"), r->reference.name,
             r->reference.version);
    snprintf(filled, sizeof filled, "%.4g / %.4g GFLOP/s", r->gflops, r->reference.gflops);
    draw_share(p, r->reference.ratio, of, filled, ROLE_ACC, of);
  }
  if (r->roof.name[0] && left(p) > 0) {
    char *roof = units_format(r->roof.value, r->roof.unit, 3);
    snprintf(of, sizeof of, "%s %s", word(p, "live.of_roof"), roof);
    snprintf(filled, sizeof filled, "%.4g / %s", by_bandwidth(r) ? r->gbs : r->gflops, roof);
    snprintf(source, sizeof source, "%s: %s", r->roof.name, word(p, "live.roof_source"));
    draw_share(p, r->roof.share, of, filled, ROLE_ACC, source);
    free(roof);
  }
}

static void draw_result(struct pen *p, const struct result *r) {
  if (left(p) > 0)
    draw_verify(p, &r->verify);
  if (!r->verify.ok || isnan(r->median_ms)) {
    if (left(p) > 0)
      wrapped(p, ROLE_WRONG, word(p, "live.withheld"));
    return;
  }
  if (left(p) > 0)
    draw_time(p, r);
  if (left(p) > 1) {
    p->y += left(p) > 8;
    draw_rate(p, r);
  }
  draw_shares(p, r);
  for (int i = 0; i < r->nwarnings && left(p) > 0; i++)
    wrapped(p, ROLE_DIM, r->warnings[i]);
}

/* One line a finished run of a plan of several. */
static void draw_line(struct pen *p, const struct live_run *r) {
  const struct result *s = &r->result;
  char text[96];
  int right = p->r.x + p->r.w > p->r.x + 60 ? p->r.x + 60 : p->r.x + p->r.w;
  if (isnan(r->sweep))
    snprintf(text, sizeof text, "%s  %s", r->as, r->kernel->id);
  else
    snprintf(text, sizeof text, "%s  %s %g", r->kernel->id, p->l->experiment->sweep_var, r->sweep);
  bool ok = s->verify.ok && !isnan(s->median_ms);
  canvas_text(p->cv, p->r.x, p->y, ok ? ROLE_DONE : ROLE_WRONG, 0, ok ? "✓ " : "✗ ");
  canvas_fit(p->cv, p->r.x + 2, p->y, p->r.w - 16, ROLE_TEXT, 0, text);
  if (ok) {
    char source[400];
    source_of(s, source, sizeof source);
    bool gbs = by_bandwidth(s);
    double v = gbs ? s->gbs * 1e9 : s->gflops * 1e9;
    char *value = units_format(v, gbs ? "B/s" : "FLOP/s", 3);
    int x = canvas_right(p->cv, right, p->y, ROLE_NUMBER, 0, value);
    canvas_ask(p->cv, (struct rect){x, p->y, right - x, 1}, text, gbs ? "bytes / median" : "2*M*N*K / median",
               "", value, source, "");
    free(value);
  }
  p->y++;
}

/* Measured against what was predicted and what the lesson expects. */
static void draw_conclusion(struct pen *p) {
  live *l = p->l;
  double low, high;
  if (isnan(l->quantity) || left(p) < 2)
    return;
  p->y++;
  const char *unit = l->experiment->unit;
  label(p, "live.measured");
  int x = p->r.x + LABEL;
  x += figure(p, x, l->quantity, unit, word(p, "live.measured"), l->experiment->quantity, "",
              ROLE_NUMBER, word(p, "live.this_machine")) + 2;
  canvas_paint(p->cv, (struct rect){p->r.x + LABEL, p->y, x - p->r.x - LABEL, 1}, ROLE_NUMBER, MARK_BOLD);
  if (!isnan(l->prediction) && l->prediction > 0) {
    double off = l->quantity > l->prediction ? l->quantity / l->prediction
                                             : l->prediction / l->quantity;
    char text[64];
    snprintf(text, sizeof text, "×%.2g", off);
    char *say = words_fill(p->lang, "live.off", text, NULL);
    canvas_fit(p->cv, x, p->y, p->r.x + p->r.w - x, ROLE_DIM, 0, say);
    free(say);
  }
  p->y++;
  if (live_band(l, &low, &high) && left(p) > 0) {
    char text[64];
    bool in = l->quantity >= low && l->quantity <= high;
    snprintf(text, sizeof text, "%.4g – %.4g %s", low, high, unit);
    label(p, "live.expected");
    x = p->r.x + LABEL;
    x += canvas_text(p->cv, x, p->y, in ? ROLE_DONE : ROLE_NOW, 0, in ? "✓ " : "≠ ");
    canvas_fit(p->cv, x, p->y++, p->r.x + p->r.w - x, ROLE_DIM, 0, text);
  }
}

static void draw_results(struct pen *p) {
  live *l = p->l;
  int done = 0, last = -1;
  for (int i = 0; i < l->nruns; i++)
    if (l->run[i].done)
      done++, last = i;
  if (!done)
    return;
  if (l->nruns > 1)
    for (int i = 0; i < l->nruns && left(p) > 0; i++)
      if (l->run[i].done)
        draw_line(p, &l->run[i]);
  if (live_running(l) || last < 0)
    return;
  draw_conclusion(p);
  bool sweep = l->experiment && l->experiment->sweep_var && !l->custom;
  if (!sweep && left(p) > 3) {
    p->y += l->nruns > 1;
    draw_result(p, &l->run[last].result);
  }
  const struct lesson *lesson = l->lesson;
  for (int i = 0; l->note && lesson && i < lesson->nnotes && left(p) > 1; i++)
    if (strcmp(lesson->notes[i].id, l->note) == 0) {
      p->y++;
      canvas_fit(p->cv, p->r.x, p->y++, p->r.w, ROLE_NOW, 0, lesson->notes[i].title.in[p->lang]);
    }
}

/* ---- what is not this machine's */

static void draw_recorded(struct pen *p) {
  const live *l = p->l;
  const struct experiment *e = l->experiment;
  if (!e || !l->w.recorded || l->custom || live_place(l) == EXP_CUDA || !e->side[EXP_CUDA].nruns ||
      e->sweep_var)
    return;
  bool head = false;
  for (int i = 0; i < e->side[EXP_CUDA].nruns && left(p) > 1; i++) {
    const struct exp_run *x = &e->side[EXP_CUDA].runs[i];
    char name[64];
    double gflops;
    snprintf(name, sizeof name, "run.%s.%s.gflops", e->id, x->as);
    if (strncmp(x->kernel, "cuda", 4) != 0 || !live_lookup_recorded(p->l, name, &gflops))
      continue;
    if (!head) {
      char text[160];
      snprintf(text, sizeof text, "%s %s, %.10s", word(p, "live.recorded"),
               recorded_card(l->w.recorded), recorded_date(l->w.recorded));
      p->y++;
      canvas_fit(p->cv, p->r.x, p->y++, p->r.w, ROLE_RECORDED, 0, text);
      head = true;
    }
    char *value = units_format(gflops * 1e9, "FLOP/s", 3);
    int right = p->r.w > 60 ? p->r.x + 60 : p->r.x + p->r.w;
    canvas_fit(p->cv, p->r.x + 2, p->y, p->r.w - 16, ROLE_RECORDED, 0, x->kernel);
    int at = canvas_right(p->cv, right, p->y, ROLE_RECORDED, 0, value);
    canvas_ask(p->cv, (struct rect){at, p->y++, right - at, 1}, x->kernel, "2*M*N*K / median", "",
               value, recorded_card(l->w.recorded), "");
    free(value);
  }
}

static void draw_no_gpu(struct pen *p) {
  const live *l = p->l;
  if (!l->no_cuda[0] || live_running(l) || left(p) < 2)
    return;
  wrapped(p, ROLE_DIM, l->no_cuda);
  if (left(p) > 0)
    wrapped(p, ROLE_DIM, word(p, "live.cpu_instead"));
  p->y++;
}

static void draw_fault(struct pen *p) {
  const struct device_fault *f = &p->l->fault;
  if (!f->what[0] || left(p) < 1)
    return;
  char head[560];
  snprintf(head, sizeof head, "✗ %s", f->what);
  wrapped(p, ROLE_WRONG, head);
  if (f->why[0])
    wrapped(p, ROLE_TEXT, f->why);
  if (f->next[0])
    wrapped(p, ROLE_DIM, f->next);
  p->y++;
}

static void draw_plan(struct pen *p) {
  const live *l = p->l;
  if (l->phase == LIVE_RUNNING || l->phase == LIVE_CANCELLING || l->phase == LIVE_DONE)
    return;
  if (l->nruns == 0) {
    wrapped(p, ROLE_DIM, word(p, "live.nothing"));
    return;
  }
  bool sweep = l->experiment && l->experiment->sweep_var && !l->custom;
  int shown = sweep && l->nruns > 1 ? 1 : l->nruns;
  for (int i = 0; i < shown && left(p) > 0; i++) {
    const struct live_run *r = &l->run[i];
    char text[128], size[64];
    if (sweep)
      snprintf(size, sizeof size, "%s = %g … %g", l->experiment->sweep_var, l->run[0].sweep,
               l->run[l->nruns - 1].sweep);
    else
      snprintf(size, sizeof size, "%lld × %lld × %lld", (long long)r->size.M, (long long)r->size.N,
               (long long)r->size.K);
    snprintf(text, sizeof text, "· %-16s %s", r->kernel->id, size);
    canvas_fit(p->cv, p->r.x, p->y++, p->r.w, ROLE_TODO, 0, text);
  }
  if (left(p) < 1)
    return;
  p->y++;
  if (l->phase == LIVE_ASKING) {
    char seconds[16];
    snprintf(seconds, sizeof seconds, "%.0f", l->expected_s);
    char *say = words_fill(p->lang, "live.long", seconds, NULL);
    wrapped(p, ROLE_NOW, say);
    free(say);
  } else if (!l->guessing && (l->predicted || !l->locked || l->custom)) {
    wrapped(p, ROLE_DIM, word(p, "live.press_r"));
  }
  p->y++;
}

void live_draw_pane(live *l, canvas *cv, struct rect r, enum lang lang) {
  struct rect old = canvas_clip(cv, r);
  struct pen p = {.l = l, .cv = cv, .r = r, .y = r.y, .lang = lang};
  draw_prediction(&p);
  draw_fault(&p);
  if (live_running(l) && left(&p) > 0)
    draw_running(&p);
  draw_plan(&p);
  draw_results(&p);
  draw_recorded(&p);
  p.y++;
  if (l->phase != LIVE_RUNNING || l->nruns == 1)
    draw_no_gpu(&p);
  struct rect rest = {r.x, p.y, r.w, r.y + r.h - p.y};
  live_plot_draw(l, cv, rest, lang);
  canvas_clip(cv, old);
}

void live_title(const live *l, enum lang lang, char *out, int size) {
  const struct live_run *r = l->nruns ? &l->run[l->now < l->nruns ? l->now : 0] : NULL;
  (void)lang;
  if (!r) {
    snprintf(out, (size_t)size, "%s", "");
    return;
  }
  struct str s = {0};
  str_addf(&s, "%s", r->kernel->id);
  for (int i = 0; i < r->kernel->nparams; i++)
    str_addf(&s, "  %s %g", r->kernel->params[i].name, r->size.param[i]);
  if (r->size.M == r->size.N && r->size.N == r->size.K)
    str_addf(&s, "  %lld³", (long long)r->size.M);
  else
    str_addf(&s, "  %lld×%lld×%lld", (long long)r->size.M, (long long)r->size.N, (long long)r->size.K);
  snprintf(out, (size_t)size, "%s", s.data);
  str_free(&s);
}

void live_headline(const live *l, char *out, int size) {
  snprintf(out, (size_t)size, "%s", "");
  if (!live_running(l))
    return;
  const struct live_run *r = &l->run[l->now];
  double flop = kernel_flop(r->kernel, &r->size);
  if (l->cur.nsamples == 0 || !(flop > 0)) {
    snprintf(out, (size_t)size, "● %s", r->kernel->id);
    return;
  }
  int n = l->cur.nsamples > 255 ? 255 : l->cur.nsamples;
  double ms = median_of(l->cur.samples + l->cur.nsamples - n, n);
  char *value = units_format(flop / (ms / 1000), "FLOP/s", 3);
  snprintf(out, (size_t)size, "● %s  n %d", value, l->cur.nsamples);
  free(value);
}
