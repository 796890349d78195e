#include "ui/simview_formula.h"

#include "base/units.h"
#include "base/utf8.h"
#include "ui/strings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LABEL_COLS = 18, VALUE_COLS = 12 };

static double min2(double a, double b) { return a < b ? a : b; }

static double inside(int64_t block, int T, int64_t size) {
  return min2(T, (double)(size - block * T));
}

/* Values that the first n threads of a T x T block load, where only `rows` x `cols` are inside. */
static double loaded(double n, double T, double rows, double cols) {
  double full = floor(n / T), rest = n - full * T;
  return min2(full, rows) * cols + (full < rows ? min2(rest, cols) : 0);
}

double simview_formula_bytes(const struct walk_state *w) {
  const struct walk_setup *s = &w->setup;
  double rows = inside(s->brow, s->T, s->M), cols = inside(s->bcol, s->T, s->N);
  if (s->kind == WALK_NAIVE)
    return 8 * rows * cols * (double)w->k;
  if (w->phase == WALK_START)
    return 0;
  double before = (double)w->k0, in_tile = min2(s->T, (double)(s->K - w->k0));
  double threads = min2(32.0 * w->warp, (double)s->T * s->T);
  return 4 * ((rows + cols) * before + loaded(threads, s->T, rows, in_tile) +
              loaded(threads, s->T, in_tile, cols));
}

double simview_formula_fma(const struct walk_state *w) {
  const struct walk_setup *s = &w->setup;
  if (s->kind == WALK_NAIVE)
    return inside(s->brow, s->T, s->M) * inside(s->bcol, s->T, s->N) * (double)w->k;
  return (double)s->T * s->T * (double)w->k;
}

double simview_formula_barriers(const struct walk_state *w) {
  const struct walk_setup *s = &w->setup;
  if (s->kind == WALK_NAIVE || w->phase == WALK_START)
    return 0;
  bool first = !(s->bugs & WALK_NO_FIRST_BARRIER), second = !(s->bugs & WALK_NO_SECOND_BARRIER);
  bool computed = w->k > w->k0, barrier = w->phase == WALK_BARRIER;
  double tiles = (double)w->tile + (w->stored ? 1 : 0);
  if (w->stored)
    return tiles * (first + second);
  return tiles * (first + second) + (first && (computed || barrier)) +
         (second && computed && barrier);
}

struct row {
  const char *id;     /* of its label in the strings */
  double value, want; /* want NAN: nothing to hold it against */
  const char *unit;
  char formula[96], filled[128];
};

static void draw_row(canvas *cv, struct rect r, int y, const struct row *row, enum lang lang) {
  char *value = units_format(row->value, row->unit, 3);
  char *exact = units_exact(row->value);
  char *want = isnan(row->want) ? NULL : units_format(row->want, row->unit, 3);
  int label = r.w < 44 ? 14 : LABEL_COLS;
  canvas_fit(cv, r.x, y, label - 1, ROLE_DIM, 0, strings_get(lang, row->id));
  int right = r.x + label + VALUE_COLS;
  int x = canvas_right(cv, right, y, ROLE_NUMBER, 0, value);
  if (x >= r.x && right <= r.x + r.w)
    canvas_ask(cv, (struct rect){x, y, right - x, 1}, strings_get(lang, row->id), row->formula,
               row->filled, exact, strings_get(lang, "sim.source"), "");
  if (want && r.w > label + VALUE_COLS + 6) {
    bool same = row->value == row->want;
    x = right + 2;
    x += canvas_text(cv, x, y, same ? ROLE_DONE : ROLE_WRONG, 0, same ? "✓ " : "✗ ");
    const char *text = same ? row->formula : want;
    char *ascii = canvas_is_ascii(cv) ? utf8_ascii(text) : NULL; /* T^2*k, not T2.k */
    canvas_fit(cv, x, y, r.x + r.w - x, ROLE_DIM, 0, ascii ? ascii : text);
    free(ascii);
  }
  free(value);
  free(exact);
  free(want);
}

static struct row row_bytes(const struct walk_state *w) {
  const struct walk_setup *s = &w->setup;
  struct row r = {.id = "sim.moved", .unit = "B"};
  bool naive = s->kind == WALK_NAIVE;
  r.value = w->block.requested_bytes;
  r.want = simview_formula_bytes(w);
  double rows = inside(s->brow, s->T, s->M), cols = inside(s->bcol, s->T, s->N);
  double k = min2((double)s->K, (double)(naive ? w->k : w->k0 + s->T));
  snprintf(r.formula, sizeof r.formula, "%s", naive ? "8·rows·cols·k" : "4(rows+cols)k");
  if (naive)
    snprintf(r.filled, sizeof r.filled, "8*%g*%g*%g", rows, cols, k);
  else
    snprintf(r.filled, sizeof r.filled, "4*(%g+%g)*%g = %.0f (tile complete)", rows, cols, k,
             4 * (rows + cols) * k);
  return r;
}

static struct row row_fma(const struct walk_state *w) {
  const struct walk_setup *s = &w->setup;
  struct row r = {.id = "sim.fma", .unit = "", .value = w->block.fma};
  r.want = simview_formula_fma(w);
  snprintf(r.formula, sizeof r.formula, "%s", s->kind == WALK_NAIVE ? "rows·cols·k" : "T²·k");
  snprintf(r.filled, sizeof r.filled, "%d*%d*%lld", s->T, s->T, (long long)w->k);
  return r;
}

/* FLOP for each byte requested so far; for whole tiles inside C it is T/4. */
static struct row row_intensity(const struct walk_state *w) {
  const struct walk_setup *s = &w->setup;
  struct row r = {.id = "sim.intensity", .unit = "FLOP/B", .want = NAN};
  double bytes = w->block.requested_bytes;
  r.value = bytes > 0 ? 2 * w->block.fma / bytes : NAN;
  bool whole = (s->brow + 1) * s->T <= s->M && (s->bcol + 1) * s->T <= s->N;
  bool at_tile = w->phase == WALK_STORE || (w->phase == WALK_BARRIER && w->k > w->k0);
  bool naive = s->kind == WALK_NAIVE;
  if (naive && bytes > 0)
    r.want = 0.25;
  else if (whole && at_tile && s->K % s->T == 0)
    r.want = s->T / 4.0;
  snprintf(r.formula, sizeof r.formula, "%s", naive ? "2/8 = 0.25" : "T/4");
  snprintf(r.filled, sizeof r.filled, "2*%.0f/%.0f", w->block.fma, bytes);
  return r;
}

static struct row row_barriers(const struct walk_state *w) {
  struct row r = {.id = "sim.barriers", .unit = "", .value = w->block.barriers};
  r.want = simview_formula_barriers(w);
  snprintf(r.formula, sizeof r.formula, "2·K/T");
  snprintf(r.filled, sizeof r.filled, "2*%lld tiles at the end", (long long)w->tiles);
  return r;
}

static struct row row_sectors(const struct walk_state *w) {
  struct row r = {.id = "sim.sectors", .unit = "", .want = NAN};
  r.value = w->block.global_sectors;
  snprintf(r.formula, sizeof r.formula, "distinct 32-byte pieces of each warp access");
  return r;
}

static struct row row_wavefronts(const struct walk_state *w) {
  struct row r = {.id = "sim.wavefronts", .unit = "", .want = NAN};
  r.value = w->block.shared_load_wavefronts + w->block.shared_store_wavefronts;
  snprintf(r.formula, sizeof r.formula, "bank rule over each warp access, loads + stores");
  snprintf(r.filled, sizeof r.filled, "%.0f + %.0f", w->block.shared_load_wavefronts,
           w->block.shared_store_wavefronts);
  return r;
}

void simview_formula_draw(const struct walk_state *w, canvas *cv, struct rect r, enum lang lang) {
  struct row rows[6];
  int n = 0;
  rows[n++] = row_bytes(w);
  rows[n++] = row_fma(w);
  rows[n++] = row_intensity(w);
  if (w->setup.kind == WALK_TILED)
    rows[n++] = row_barriers(w);
  rows[n++] = row_sectors(w);
  if (w->setup.kind == WALK_TILED)
    rows[n++] = row_wavefronts(w);
  for (int i = 0; i < n && i < r.h; i++)
    draw_row(cv, r, r.y + i, &rows[i], lang);
}
