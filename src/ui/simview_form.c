#include "ui/simview_form.h"

#include "base/expr.h"
#include "base/sentences.h"
#include "ui/strings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const field_id[SIM_FIELDS] = {"sim.M", "sim.N",   "sim.K",
                                                 "sim.T", "sim.row", "sim.col"};
static const char *const bug_id[SIM_BUGS] = {"sim.bug.barrier1", "sim.bug.barrier2", "sim.bug.zero",
                                             "sim.bug.swap"};

void simview_form_open(simview *s) {
  const struct walk_setup *w = &s->now.setup;
  const int64_t value[SIM_FIELDS] = {w->M, w->N, w->K, w->T, w->brow, w->bcol};
  for (int i = 0; i < SIM_FIELDS; i++) {
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value[i]);
    field_init(&s->form.field[i], 14);
    field_set(&s->form.field[i], text);
  }
  s->form.bugs = w->bugs;
  s->form.error.text[0] = '\0';
  s->form.at = 0;
  s->form.on = true;
}

/* A whole number, also written as an expression; the walk's own check gives the range. */
static bool read_field(struct simview *s, int i, int64_t *value) {
  double v;
  struct err why;
  const char *text = s->form.field[i].text;
  static const char *const name[SIM_FIELDS] = {"M", "N", "K", "T", "block row", "block column"};
  if (!expr_eval(text, NULL, NULL, &v, &why))
    return err_set(&s->form.error, "%s: %s", name[i], why.text);
  if (!(v == floor(v) && fabs(v) <= 1e15))
    return err_set(&s->form.error, "%s must be a whole number; %s is not one that fits.", name[i],
                   text);
  *value = (int64_t)v;
  return true;
}

static void apply(simview *s) {
  int64_t v[SIM_FIELDS];
  struct walk_setup w = s->now.setup;
  s->form.error.text[0] = '\0';
  for (int i = 0; i < SIM_FIELDS; i++)
    if (!read_field(s, i, &v[i]))
      return;
  w.M = v[SIM_M], w.N = v[SIM_N], w.K = v[SIM_K];
  w.T = v[SIM_T] < 0 ? 0 : v[SIM_T] > 1000 ? 1000 : (int)v[SIM_T];
  w.brow = v[SIM_ROW], w.bcol = v[SIM_COL];
  w.bugs = s->form.bugs;
  if (!walk_check(&w, &s->form.error))
    return;
  walk_at(&w, 0, &s->now);
  s->form.on = false;
}

static void move(simview *s, int by) {
  int rows = SIM_FIELDS + (s->now.setup.kind == WALK_TILED ? SIM_BUGS : 0);
  s->form.at = (s->form.at + by + rows) % rows;
}

bool simview_form_key(simview *s, int key) {
  switch (key) {
  case KEYS_ESC:
    s->form.on = false;
    return true;
  case KEYS_ENTER:
    apply(s);
    return true;
  case KEYS_UP:
  case KEYS_SHIFT_TAB:
    move(s, -1);
    return true;
  case KEYS_DOWN:
  case KEYS_TAB:
    move(s, 1);
    return true;
  default:
    break;
  }
  if (s->form.at < SIM_FIELDS)
    return field_key(&s->form.field[s->form.at], key);
  if (key == ' ')
    s->form.bugs ^= 1u << (s->form.at - SIM_FIELDS);
  return key == ' ';
}

static void draw_bug(const simview *s, canvas *cv, struct rect r, int y, int i, enum lang lang) {
  bool on = s->form.bugs & (1u << i), here = s->form.at == SIM_FIELDS + i;
  int x = r.x + canvas_text(cv, r.x, y, ROLE_FOCUS, 0, here ? "▸ " : "  ");
  x += canvas_text(cv, x, y, on ? ROLE_WRONG : ROLE_TODO, 0, on ? "[x] " : "[ ] ");
  canvas_text(cv, x, y, here ? ROLE_FOCUS : ROLE_TEXT, 0, strings_get(lang, bug_id[i]));
}

static void draw_error(canvas *cv, struct rect r, const char *english, enum lang lang) {
  char *text = sentences_in(english, lang == LANG_ZH);
  canvas_wrap(cv, r, 0, ROLE_WRONG, 0, text);
  free(text);
}

void simview_form_draw(const simview *s, canvas *cv, struct rect r, enum lang lang) {
  struct rect old = canvas_clip(cv, r);
  int y = r.y;
  canvas_text(cv, r.x, y, ROLE_TITLE, MARK_BOLD, strings_get(lang, "sim.settings"));
  y += 2;
  for (int i = 0; i < SIM_FIELDS; i++, y++) {
    bool here = s->form.at == i;
    canvas_text(cv, r.x, y, ROLE_FOCUS, 0, here ? "▸ " : "  ");
    canvas_fit(cv, r.x + 2, y, 18, here ? ROLE_FOCUS : ROLE_TEXT, 0,
               strings_get(lang, field_id[i]));
    field_draw(&s->form.field[i], cv, r.x + 22, y, 14, here);
  }
  if (s->now.setup.kind == WALK_TILED) {
    canvas_text(cv, r.x, ++y, ROLE_DIM, 0, strings_get(lang, "sim.bugs"));
    y++;
    for (int i = 0; i < SIM_BUGS; i++, y++)
      draw_bug(s, cv, r, y, i, lang);
  }
  y++;
  struct rect below = {r.x, y, r.w, r.y + r.h - y};
  if (s->form.error.text[0])
    draw_error(cv, below, s->form.error.text, lang);
  else
    canvas_wrap(cv, below, 0, ROLE_DIM, 0, strings_get(lang, "sim.form.keys"));
  canvas_clip(cv, old);
}
