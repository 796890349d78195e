#include "ui/simview_draw.h"

#include "base/units.h"
#include "ui/plot.h"
#include "ui/simview_formula.h"
#include "ui/strings.h"

#include <stdio.h>
#include <stdlib.h>

enum { LABEL_ROWS = 2, GAP = 3, COUNTER_ROWS = 5 };

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* The next scale: divisors of T, then its multiples by powers of two, so that no cell holds a part
 * of a tile. */
static int64_t next_step(int64_t step, int T) {
  if (step >= T)
    return step * 2;
  do
    step++;
  while (T % step);
  return step;
}

bool simview_draw_scale(const struct walk_setup *s, int w, int h, struct simview_scale *out) {
  if (w < 12 || h < 6)
    return false;
  for (int64_t step = 1; step < 2 * (int64_t)WALK_SIZE_MAX; step = next_step(step, s->T)) {
    int64_t m = ceil_div(s->M, step), n = ceil_div(s->N, step), k = ceil_div(s->K, step);
    if (m + k > h - LABEL_ROWS || n + k > w - GAP)
      continue;
    *out = (struct simview_scale){.step = step, .cell = 2 * (n + k) <= w - GAP ? 2 : 1};
    out->m = (int)m, out->n = (int)n, out->k = (int)k;
    return true;
  }
  return false;
}

/* Whether cell i of an axis meets [from, to). */
static bool meets(const struct simview_scale *z, int i, int64_t from, int64_t to) {
  int64_t a = i * z->step, b = a + z->step;
  return a < to && from < b;
}

struct picture {
  const struct walk_state *w;
  struct simview_scale z;
  struct rect a, b, c;            /* cells of each matrix */
  int64_t r0, r1, c0, c1, k0, k1; /* the watched block and the k-tile in work */
};

static void put(canvas *cv, const struct picture *p, struct rect m, int i, int j, enum role role,
                const char *glyph) {
  for (int x = 0; x < p->z.cell; x++)
    canvas_text(cv, m.x + j * p->z.cell + x, m.y + i, role, 0, glyph);
}

static bool tile_lit(const struct picture *p) {
  return p->w->phase != WALK_START && p->w->phase != WALK_STORE && p->w->phase != WALK_END;
}

static void draw_a(canvas *cv, const struct picture *p) {
  for (int i = 0; i < p->z.m; i++)
    for (int j = 0; j < p->z.k; j++) {
      bool strip = meets(&p->z, i, p->r0, p->r1);
      bool now = strip && tile_lit(p) && meets(&p->z, j, p->k0, p->k1);
      put(cv, p, p->a, i, j,
          now     ? ROLE_NOW
          : strip ? ROLE_A
                  : ROLE_TODO,
          now     ? "█"
          : strip ? "▒"
                  : "░");
    }
}

static void draw_b(canvas *cv, const struct picture *p) {
  for (int i = 0; i < p->z.k; i++)
    for (int j = 0; j < p->z.n; j++) {
      bool strip = meets(&p->z, j, p->c0, p->c1);
      bool now = strip && tile_lit(p) && meets(&p->z, i, p->k0, p->k1);
      put(cv, p, p->b, i, j,
          now     ? ROLE_NOW
          : strip ? ROLE_B
                  : ROLE_TODO,
          now     ? "█"
          : strip ? "▒"
                  : "░");
    }
}

static void draw_c(canvas *cv, const struct picture *p) {
  for (int i = 0; i < p->z.m; i++)
    for (int j = 0; j < p->z.n; j++) {
      bool block = meets(&p->z, i, p->r0, p->r1) && meets(&p->z, j, p->c0, p->c1);
      enum walk_progress c = walk_c_at(p->w, i * p->z.step, j * p->z.step);
      if (block && !p->w->stored)
        put(cv, p, p->c, i, j, ROLE_ACC, "▓");
      else if (block || c == WALK_DONE)
        put(cv, p, p->c, i, j, ROLE_DONE, "✓");
      else
        put(cv, p, p->c, i, j, ROLE_TODO, "·");
    }
}

/* ---- shared memory and accumulators, word by word where there is room */

static void draw_word(canvas *cv, int x, int y, int word, enum role role) {
  static const char *const glyph[] = {"·", "█", "0", "▒"};
  canvas_text(cv, x, y,
              word == WORD_FRESH  ? role
              : word == WORD_ZERO ? ROLE_TEXT
                                  : ROLE_TODO,
              0, glyph[word]);
}

static void draw_words(canvas *cv, int x, int y, const unsigned char words[32][32], int T,
                       enum role role, const char *name) {
  canvas_text(cv, x, y, role, 0, name);
  for (int i = 0; i < T; i++)
    for (int j = 0; j < T; j++)
      draw_word(cv, x + j, y + 1 + i, words[i][j], role);
}

static void draw_acc(canvas *cv, int x, int y, const struct walk_state *w) {
  static const char *const level[] = {"·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  int T = w->setup.T;
  int64_t whole = w->setup.kind == WALK_TILED ? w->tiles * T : w->setup.K;
  canvas_text(cv, x, y, ROLE_ACC, 0, "acc");
  for (int i = 0; i < T; i++)
    for (int j = 0; j < T; j++) {
      int64_t k = w->acc_k[i][j];
      int n = k == 0 ? 0 : (int)(1 + 7 * k / whole);
      canvas_text(cv, x + j, y + 1 + i, w->stored ? ROLE_DONE : ROLE_ACC, 0, level[n]);
    }
}

static double filled(const unsigned char words[32][32], int T) {
  int n = 0;
  for (int i = 0; i < T; i++)
    for (int j = 0; j < T; j++)
      n += words[i][j] == WORD_FRESH || words[i][j] == WORD_ZERO;
  return (double)n / (T * T);
}

static void draw_level(canvas *cv, int x, int y, int w, const char *name, double share,
                       enum role role) {
  canvas_text(cv, x, y, role, 0, name);
  if (w > 6)
    plot_bar(cv, x + 4, y, w - 4, share, role);
}

static double acc_share(const struct walk_state *w) {
  double whole = w->setup.kind == WALK_TILED ? (double)(w->tiles * w->setup.T) : (double)w->setup.K;
  return (double)w->acc_k[0][0] / whole;
}

/* As, Bs and acc word by word, beside or below each other; false where T is too large for r. */
static bool draw_grids(canvas *cv, const struct walk_state *w, struct rect r) {
  int T = w->setup.T;
  bool beside = 3 * T + 4 <= r.w && T + 1 <= r.h;
  bool below = 2 * T + 2 <= r.w && 2 * T + 3 <= r.h;
  if (w->setup.kind != WALK_TILED || T < 2 || !(beside || below))
    return false;
  draw_words(cv, r.x, r.y, w->as, T, ROLE_A, "As");
  draw_words(cv, r.x + T + 2, r.y, w->bs, T, ROLE_B, "Bs");
  draw_acc(cv, beside ? r.x + 2 * T + 4 : r.x, beside ? r.y : r.y + T + 2, w);
  return true;
}

/* The corner above A and left of B: As, Bs and acc. */
static void draw_corner(canvas *cv, const struct picture *p, struct rect r) {
  const struct walk_state *w = p->w;
  int T = w->setup.T, y = r.y;
  if (draw_grids(cv, w, r))
    return;
  if (w->setup.kind == WALK_TILED && r.h >= 3) {
    draw_level(cv, r.x, y++, r.w, "As", filled(w->as, T), ROLE_A);
    draw_level(cv, r.x, y++, r.w, "Bs", filled(w->bs, T), ROLE_B);
  }
  draw_level(cv, r.x, y, r.w, "acc", acc_share(w), w->stored ? ROLE_DONE : ROLE_ACC);
}

static void place_matrices(struct picture *p, struct rect r) {
  int aw = p->z.k * p->z.cell;
  p->b = (struct rect){r.x + aw + GAP, r.y + 1, p->z.n * p->z.cell, p->z.k};
  p->a = (struct rect){r.x, r.y + p->z.k + LABEL_ROWS, aw, p->z.m};
  p->c = (struct rect){p->b.x, p->a.y, p->b.w, p->z.m};
}

static void place_block(struct picture *p) {
  const struct walk_setup *s = &p->w->setup;
  p->r0 = s->brow * s->T, p->r1 = p->r0 + s->T;
  p->c0 = s->bcol * s->T, p->c1 = p->c0 + s->T;
  p->k0 = p->w->k0, p->k1 = p->k0 + (s->kind == WALK_TILED ? s->T : 1);
}

static int draw_matrices(const simview *s, canvas *cv, struct rect r) {
  struct picture p = {.w = &s->now};
  if (!simview_draw_scale(&s->now.setup, r.w, r.h, &p.z))
    return 0;
  place_matrices(&p, r);
  place_block(&p);
  canvas_text(cv, p.b.x, r.y, ROLE_B, 0, "B");
  canvas_text(cv, p.b.x + 3, r.y, ROLE_DIM, 0, "k ↓");
  canvas_text(cv, p.a.x, p.a.y - 1, ROLE_A, 0, "A");
  canvas_text(cv, p.a.x + 3, p.a.y - 1, ROLE_DIM, 0, "k →");
  canvas_text(cv, p.c.x, p.a.y - 1, ROLE_ACC, 0, "C");
  if (p.z.step > 1)
    canvas_textf(cv, p.c.x + 3, p.a.y - 1, ROLE_DIM, 0, "1:%lld", (long long)p.z.step);
  draw_a(cv, &p);
  draw_b(cv, &p);
  draw_c(cv, &p);
  struct rect corner = {r.x, r.y + 1, p.b.x - r.x - GAP, p.z.k};
  struct rect old = canvas_clip(cv, (struct rect){r.x, r.y, p.b.x - r.x - 1, p.z.k + 1});
  draw_corner(cv, &p, corner);
  canvas_clip(cv, old);
  return p.z.k + p.z.m + LABEL_ROWS;
}

/* ---- the timeline of the k-tile in work */

static void draw_phase(canvas *cv, int *x, int y, const char *name, double share, bool now,
                       int width) {
  *x += canvas_text(cv, *x, y, now ? ROLE_NOW : ROLE_DIM, 0, name) + 1;
  plot_bar(cv, *x, y, width, share, now ? ROLE_NOW : share >= 1 ? ROLE_DONE : ROLE_TODO);
  *x += width + 1;
}

static void draw_barrier(canvas *cv, int *x, int y, bool passed, bool now, bool missing) {
  enum role role = missing ? ROLE_WRONG : now ? ROLE_NOW : passed ? ROLE_DONE : ROLE_TODO;
  *x += canvas_text(cv, *x, y, role, MARK_BOLD, missing ? "✗" : "┃") + 1;
}

static void draw_timeline(const simview *s, canvas *cv, struct rect r, int y, enum lang lang) {
  const struct walk_state *w = &s->now;
  unsigned bugs = w->setup.bugs;
  int x = r.x, width = r.w > 70 ? 16 : r.w > 46 ? 10 : 4;
  double k = (double)(w->k - w->k0) / w->setup.T;
  bool second = w->phase == WALK_BARRIER && k > 0, first = w->phase == WALK_BARRIER && !second;
  bool computing = w->phase == WALK_COMPUTE, stored = w->stored;
  if (w->setup.kind == WALK_NAIVE) {
    draw_phase(cv, &x, y, strings_get(lang, "sim.compute"), acc_share(w), computing, width * 2);
  } else {
    draw_phase(cv, &x, y, strings_get(lang, "sim.load"), (double)w->warp / w->warps,
               w->phase == WALK_LOAD, width);
    draw_barrier(cv, &x, y, k > 0 || first || stored, first, bugs & WALK_NO_FIRST_BARRIER);
    draw_phase(cv, &x, y, strings_get(lang, "sim.compute"), k, computing, width);
    draw_barrier(cv, &x, y, second || stored, second, bugs & WALK_NO_SECOND_BARRIER);
  }
  canvas_text(cv, x, y, w->phase == WALK_STORE ? ROLE_NOW : ROLE_TODO, 0,
              strings_get(lang, "sim.store"));
}

/* What the step just done was, in words; races in the role of what is wrong. */
static void draw_what(const simview *s, canvas *cv, struct rect r, int y, enum lang lang) {
  static const char *const id[] = {"sim.at.start",   "sim.at.load",  "sim.at.barrier",
                                   "sim.at.compute", "sim.at.store", "sim.at.store"};
  const struct walk_state *w = &s->now;
  char at[64] = "";
  if (w->phase == WALK_LOAD)
    snprintf(at, sizeof at, " %d/%d  k0 = %lld", w->warp, w->warps, (long long)w->k0);
  else if (w->phase == WALK_COMPUTE)
    snprintf(at, sizeof at, "  k = %lld / %lld", (long long)(w->k - 1), (long long)w->setup.K);
  int x = r.x + canvas_text(cv, r.x, y, ROLE_NOW, 0, w->phase == WALK_START ? "  " : "● ");
  x += canvas_text(cv, x, y, ROLE_TEXT, 0, strings_get(lang, id[w->phase]));
  x += canvas_text(cv, x, y, ROLE_DIM, 0, at);
  if (w->race)
    canvas_text(cv, x + 2, y, ROLE_WRONG, 0, strings_get(lang, "sim.race"));
}

void simview_draw_walk(const simview *s, canvas *cv, struct rect r, enum lang lang) {
  struct rect old = canvas_clip(cv, r);
  int below = r.h >= 26 ? COUNTER_ROWS + 4 : r.h >= 14 ? 5 : r.h >= 9 ? 2 : 0;
  struct rect top = {r.x, r.y, r.w, r.h - below};
  int used = draw_matrices(s, cv, top);
  int y = r.y + used + (used + below < r.h ? 1 : 0);
  if (below)
    draw_what(s, cv, r, y++, lang);
  if (below)
    draw_timeline(s, cv, r, y++, lang);
  y += y + COUNTER_ROWS + 1 < r.y + r.h;
  if (below > 2)
    simview_formula_draw(&s->now, cv, (struct rect){r.x, y, r.w, r.y + r.h - y}, lang);
  canvas_clip(cv, old);
}
