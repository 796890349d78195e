#include "app/xray_totals.h"

#include "base/alloc.h"
#include "base/sentences.h"
#include "base/units.h"
#include "base/utf8.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Adds "before" + the words, filled with one or two values. */
static void say(const struct xray_page *p, struct str *s, const char *before, enum xray_word w,
                const char *a, const char *b) {
  char *text = xray_page_say(p, w, a, b);
  str_addf(s, "%s%s", s->len ? before : "", text);
  free(text);
}

static void say_number(const struct xray_page *p, struct str *s, const char *before,
                       enum xray_word w, double v) {
  char *n = xray_page_exact(v);
  say(p, s, before, w, n, NULL);
  free(n);
}

/* The same with an ending in English where it is more than one. */
static void say_count(const struct xray_page *p, struct str *s, const char *before,
                      enum xray_word w, double v, const char *ending) {
  char *n = xray_page_exact(v);
  say(p, s, before, w, n, v == 1 ? "" : ending);
  free(n);
}

/* Prints the item and empties s; nothing where s is empty. */
static void item(struct xray_page *p, enum xray_word label, enum xray_ink ink, struct str *s) {
  if (s->len)
    xray_page_item(p, label, ink, s->data);
  str_free(s);
}

static const char *comma(const struct xray_page *p) { return p->lang == LANG_ZH ? "，" : ", "; }

static const char *semicolon(const struct xray_page *p) { return p->lang == LANG_ZH ? "；" : "; "; }

/* ---- head */

/* "(8, 8)" of {8, 8, 1}; "64" of {64, 1, 1}. */
static void extent(struct str *s, const int64_t d[3]) {
  int n = d[2] > 1 ? 3 : d[1] > 1 ? 2 : 1;
  str_addf(s, n > 1 ? "(%lld" : "%lld", (long long)d[0]);
  for (int i = 1; i < n; i++)
    str_addf(s, ", %lld", (long long)d[i]);
  str_add(s, n > 1 ? ")" : "");
}

static void put_kernel(struct xray_page *p, const struct xray_result *r) {
  struct str s = {0};
  str_addf(&s, "%s  M=%lld N=%lld K=%lld", r->head.kernel, (long long)r->head.M,
           (long long)r->head.N, (long long)r->head.K);
  for (int i = 0; i < r->head.nparams; i++)
    str_addf(&s, " %s=%g", r->head.params[i].name, r->head.params[i].value);
  if (r->dtype[0] || r->op[0])
    str_addf(&s, "  %s%s%s", r->op, r->op[0] && r->dtype[0] ? " " : "", r->dtype);
  item(p, XW_KERNEL, INK_PLAIN, &s);
}

static void put_launch(struct xray_page *p, const struct xray_result *r) {
  struct str s = {0};
  str_addf(&s, "%s<<<", r->entry);
  extent(&s, r->grid);
  str_add(&s, ", ");
  extent(&s, r->block);
  if (r->smem > 0)
    str_addf(&s, ", %lld", (long long)r->smem);
  str_add(&s, p->lang == LANG_ZH ? ">>>：" : ">>>: ");
  char *blocks = xray_page_exact((double)r->blocks);
  char *threads = xray_page_exact((double)(r->block[0] * r->block[1] * r->block[2]));
  char *run = xray_page_exact((double)r->blocks_executed);
  char *text = xray_words(XW_BLOCKS, p->lang, blocks, threads, r->blocks == 1 ? "" : "s", NULL);
  str_add(&s, text);
  say(p, &s, comma(p),
      r->sampled                       ? XW_SAMPLED
      : r->blocks_executed < r->blocks ? XW_SOME_RUN
                                       : XW_ALL_RUN,
      run, NULL);
  item(p, XW_LAUNCH, INK_PLAIN, &s);
  free(text);
  free(run);
  free(threads);
  free(blocks);
}

static void put_compiled(struct xray_page *p, const struct xray_result *r) {
  struct str s = {0};
  const char *next = comma(p);
  if (r->compiler[0] && r->arch[0])
    say(p, &s, "", XW_FOR_ARCH, r->compiler, r->arch);
  else
    str_add(&s, r->compiler);
  if (r->registers >= 0)
    say_number(p, &s, semicolon(p), XW_REGISTERS, r->registers);
  if (r->shared_bytes > 0)
    say_number(p, &s, next, XW_SHARED, r->shared_bytes);
  if (r->smem > 0)
    say_number(p, &s, next, XW_DYNAMIC, (double)r->smem);
  if (r->spill_bytes >= 0)
    say_number(p, &s, next, r->spill_bytes > 0 ? XW_SPILL : XW_NO_SPILL, r->spill_bytes);
  item(p, XW_COMPILED, INK_PLAIN, &s);
}

static void put_took(struct xray_page *p, const struct xray_result *r) {
  struct str s = {0};
  if (isnan(r->compile_ms) || isnan(r->run_ms))
    return;
  char *compile = units_format(r->compile_ms / 1e3, "s", 3);
  char *run = units_format(r->run_ms / 1e3, "s", 3);
  say(p, &s, "", XW_MS, compile, run);
  item(p, XW_TOOK, INK_PLAIN, &s);
  free(run);
  free(compile);
}

static const char *limit_name(const struct xray_page *p, const char *name) {
  static const char *const zh[][2] = {{"registers", "寄存器"},
                                      {"threads", "线程数"},
                                      {"blocks", " block 数"},
                                      {"shared memory", " shared memory"}};
  for (size_t i = 0; p->lang == LANG_ZH && i < sizeof zh / sizeof *zh; i++)
    if (strcmp(name, zh[i][0]) == 0)
      return zh[i][1];
  return name;
}

static void put_occupancy(struct xray_page *p, const struct xray_result *r) {
  struct str s = {0};
  if (isnan(r->occupancy))
    return;
  str_addf(&s, "%.3g %%", r->occupancy * 100);
  if (r->blocks_per_sm >= 0) {
    char *n = xray_page_exact(r->blocks_per_sm);
    say(p, &s, p->lang == LANG_ZH ? "：" : ": ", r->blocks_per_sm == 1 ? XW_ONE_PER_SM : XW_PER_SM,
        n, NULL);
    free(n);
  }
  if (r->occupancy_limit[0])
    say(p, &s, comma(p), XW_HELD_BY, limit_name(p, r->occupancy_limit), NULL);
  item(p, XW_OCCUPANCY, INK_PLAIN, &s);
}

void xray_totals_head(struct xray_page *p, const struct xray_result *r) {
  put_kernel(p, r);
  put_launch(p, r);
  put_compiled(p, r);
  put_occupancy(p, r);
  put_took(p, r);
}

/* ---- table */
enum { ROWS = 5, CELLS = 7, FIRST = 2 };

struct grid {
  char *cell[ROWS][CELLS]; /* "" where there is nothing */
  int width[CELLS], rows, columns;
};

static char *number(double v, bool compact) {
  return compact ? xray_page_short(v) : xray_page_exact(v);
}

static void add_row(struct grid *g, char *name, const double v[4], bool compact) {
  char **c = g->cell[g->rows++];
  c[0] = name;
  c[1] = number(v[0], compact);
  c[2] = isnan(v[1]) ? alloc_str("") : number(v[1], compact);
  c[3] = isnan(v[1]) ? alloc_str("") : xray_page_ratio(v[1], v[0]);
  c[4] = number(v[2], compact);
  c[5] = xray_page_ratio(v[2], v[0]);
  c[6] = isnan(v[3]) ? alloc_str("") : number(v[3], compact);
}

static void add_head(struct xray_page *p, struct grid *g) {
  static const enum xray_word words[CELLS] = {XW_TOTALS,  XW_T_REQUESTS, XW_T_SECTORS,  XW_T_EACH,
                                              XW_T_WAVES, XW_T_EACH,     XW_T_CONFLICTS};
  for (int i = 0; i < CELLS; i++)
    g->cell[g->rows][i] = xray_page_say(p, words[i], NULL, NULL);
  g->rows++;
}

static char *row_name(const struct xray_page *p, enum xray_word w, const struct xray_result *r) {
  char *name = xray_page_say(p, w, NULL, NULL), *mark = xray_page_say(p, XW_PTX_MARK, NULL, NULL);
  bool ptx = w == XW_LDS && xray_result_lds_differ(r);
  char *both = alloc_printf("%s%s%s", name, ptx ? ", " : "", ptx ? mark : "");
  free(mark);
  free(name);
  return both;
}

static void fill(struct xray_page *p, const struct xray_result *r, struct grid *g, bool compact) {
  const struct xray_counts *c = &r->counts;
  const struct {
    enum xray_word name;
    double v[4];
  } rows[] = {{XW_GLD, {c->gld_requests, c->gld_sectors, c->gld_wavefronts, NAN}},
              {XW_GST, {c->gst_requests, c->gst_sectors, c->gst_wavefronts, NAN}},
              {XW_LDS, {c->lds_requests, NAN, c->lds_wavefronts, c->lds_conflicts}},
              {XW_STS, {c->sts_requests, NAN, c->sts_wavefronts, c->sts_conflicts}}};
  *g = (struct grid){0};
  add_head(p, g);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].v[0] > 0)
      add_row(g, row_name(p, rows[i].name, r), rows[i].v, compact);
  bool shared = c->lds_requests + c->sts_requests > 0;
  g->columns = shared ? CELLS : CELLS - 1;
  for (int row = 0; row < g->rows; row++)
    for (int k = 0; k < g->columns; k++) {
      int w = utf8_width(g->cell[row][k]) + (k ? FIRST : 0);
      g->width[k] = w > g->width[k] ? w : g->width[k];
    }
}

static int grid_width(const struct grid *g) {
  int sum = 0;
  for (int k = 0; k < g->columns; k++)
    sum += g->width[k];
  return sum;
}

static void grid_free(struct grid *g) {
  for (int r = 0; r < g->rows; r++)
    for (int k = 0; k < CELLS; k++)
      free(g->cell[r][k]);
}

static void put_grid(struct xray_page *p, const struct grid *g) {
  for (int r = 0; r < g->rows; r++) {
    int last = g->columns;
    while (last > 1 && !*g->cell[r][last - 1])
      last--;
    for (int k = 0; k < last; k++) {
      enum xray_ink ink = r == 0 || k == 0 ? INK_DIM : INK_PLAIN;
      if (k == 0)
        xray_page_left(p, ink, g->cell[r][k], g->width[k]);
      else
        xray_page_right(p, ink, g->cell[r][k], g->width[k]);
    }
    str_addc(&p->out, '\n');
  }
}

static void put_work(struct xray_page *p, const struct xray_result *r) {
  struct str work = {0}, control = {0};
  const struct xray_counts *c = &r->counts;
  if (r->flop_executed > 0)
    say_number(p, &work, "", XW_EXECUTED, r->flop_executed);
  if (r->flop_executed > 0 && r->head.flop > 0)
    say_number(p, &work, comma(p), XW_NEEDED, r->head.flop);
  if (c->ffma > 0)
    say_number(p, &work, semicolon(p), XW_FMA, c->ffma);
  item(p, XW_WORK, INK_PLAIN, &work);
  if (c->barriers > 0)
    say_count(p, &control, "", XW_BARRIERS, c->barriers, "s");
  if (c->divergent_branches > 0)
    say_count(p, &control, semicolon(p), XW_DIVERGENT, c->divergent_branches, "es");
  item(p, XW_CONTROL, INK_PLAIN, &control);
}

void xray_totals_table(struct xray_page *p, const struct xray_result *r) {
  struct grid g;
  fill(p, r, &g, false);
  if (grid_width(&g) > p->width) {
    grid_free(&g);
    fill(p, r, &g, true);
  }
  if (g.rows > 1)
    put_grid(p, &g);
  grid_free(&g);
  put_work(p, r);
  char *counts = xray_page_say(p, XW_COUNTS, NULL, NULL);
  xray_page_text(p, 0, INK_DIM, counts);
  free(counts);
}

/* ---- foot */
static char *widths(const int n[XRAY_WIDTHS]) {
  return alloc_printf("%d %d %d", n[XRAY_4], n[XRAY_8], n[XRAY_16]);
}

static void mix_line(struct xray_page *p, struct str *s, const char *name,
                     const int here[XRAY_WIDTHS], const int there[XRAY_WIDTHS]) {
  if (memcmp(here, there, XRAY_WIDTHS * sizeof *here) == 0)
    return;
  char *a = widths(here), *b = widths(there);
  char *text = xray_words(XW_IS_PTX_MIX, p->lang, name, a, b, NULL);
  str_addf(s, "\n%s", text);
  free(text);
  free(b);
  free(a);
}

static void ffma_line(struct xray_page *p, struct str *s, int here, int there) {
  if (here == there)
    return;
  char *a = xray_page_exact(here), *b = xray_page_exact(there);
  say(p, s, "\n", XW_IS_PTX_FFMA, a, b);
  free(b);
  free(a);
}

static void put_certificate(struct xray_page *p, const struct xray_result *r) {
  struct str s = {0};
  say(p, &s, "",
      r->certificate == XRAY_EXACT       ? XW_IS_EXACT
      : r->certificate != XRAY_PTX_LEVEL ? XW_NOT_CERTIFIED
      : xray_result_lds_differ(r)        ? XW_IS_PTX
                                         : XW_IS_OTHER,
      NULL, NULL);
  if (r->certificate == XRAY_PTX_LEVEL) {
    mix_line(p, &s, "LDS", r->mix.lds, r->sass.lds);
    mix_line(p, &s, "STS", r->mix.sts, r->sass.sts);
    mix_line(p, &s, "LDG", r->mix.ldg, r->sass.ldg);
    mix_line(p, &s, "STG", r->mix.stg, r->sass.stg);
    ffma_line(p, &s, r->mix.ffma, r->sass.ffma);
  }
  item(p, XW_EXACT_LABEL, INK_PLAIN, &s);
}

/* The worker says with this why it did not verify; it stands at verify and not among the notes. */
static const char unchecked[] = "C was not checked";

static bool is_reason(const char *warning) {
  return strncmp(warning, unchecked, sizeof unchecked - 1) == 0;
}

static void put_unverified(struct xray_page *p, const struct xray_result *r) {
  const char *reason = NULL;
  for (int i = 0; i < r->head.nwarnings; i++)
    if (is_reason(r->head.warnings[i]))
      reason = r->head.warnings[i];
  bool known = r->op[0] && strcmp(r->op, "none") != 0;
  char *text = !r->finished      ? xray_page_say(p, XW_NOT_FINISHED, NULL, NULL)
               : reason && known ? sentences_in(reason, p->lang == LANG_ZH)
               : r->op[0]        ? xray_page_say(p, XW_ASKED_NONE, NULL, NULL)
                                 : xray_page_say(p, XW_NOT_CHECKED, NULL, NULL);
  xray_page_item(p, XW_VERIFY, INK_PLAIN, text);
  free(text);
}

void xray_totals_verify(struct xray_page *p, const struct xray_result *r) {
  const struct result_verify *v = &r->head.verify;
  struct str s = {0};
  if (!r->verified) {
    put_unverified(p, r);
    return;
  }
  say(p, &s, "", v->ok ? XW_RIGHT : XW_WRONG, NULL, NULL);
  if (v->note[0]) {
    char *note = sentences_in(v->note, p->lang == LANG_ZH);
    str_addf(&s, "%s%s", p->lang == LANG_ZH ? "：" : ": ", note);
    free(note);
  }
  if (!isnan(v->max_error)) {
    char *error = alloc_printf("%.2g", v->max_error), *bound = alloc_printf("%.2g", v->bound);
    say(p, &s, semicolon(p), XW_ERROR_BOUND, error, bound);
    free(bound);
    free(error);
  }
  if (v->checked > 0)
    say_number(p, &s, semicolon(p), XW_CHECKED, v->checked);
  item(p, XW_VERIFY, v->ok ? INK_GOOD : INK_BAD, &s);
}

static void put_left(struct xray_page *p, const struct xray_result *r, bool verbose) {
  struct str s = {0};
  char n[16];
  if (r->nleft == 0)
    return;
  snprintf(n, sizeof n, "%d", r->nleft);
  char *text =
      xray_words(XW_LEFT_N, p->lang, n, r->nleft == 1 ? "" : "s", r->nleft == 1 ? "s" : "", NULL);
  for (int i = 0; verbose && i < r->nleft; i++) {
    const struct xray_result_left *l = &r->left[i];
    char *why = sentences_in(l->why, p->lang == LANG_ZH);
    char *what = l->name[0] ? alloc_printf("%s, %s", l->name, why) : alloc_str(why);
    snprintf(n, sizeof n, "%d", l->line);
    say(p, &s, "\n", XW_LEFT_LIST, n, what);
    free(what);
    free(why);
  }
  if (!verbose)
    str_add(&s, text);
  item(p, XW_LEFT, INK_PLAIN, &s);
  free(text);
}

void xray_totals_foot(struct xray_page *p, const struct xray_result *r, bool verbose) {
  put_certificate(p, r);
  for (int i = 0; i < r->head.nwarnings; i++) {
    if (!r->verified && is_reason(r->head.warnings[i]))
      continue;
    char *note = sentences_in(r->head.warnings[i], p->lang == LANG_ZH);
    xray_page_item(p, XW_NOTE, INK_PLAIN, note);
    free(note);
  }
  put_left(p, r, verbose);
  if (r->print && r->print[0]) {
    char *clean = utf8_clean(r->print, strlen(r->print));
    size_t n = strlen(clean);
    while (n && clean[n - 1] == '\n')
      clean[--n] = '\0';
    xray_page_item(p, XW_PRINTED, INK_PLAIN, clean);
    free(clean);
  }
}
