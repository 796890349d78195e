#include "ui/simview.h"

#include "base/alloc.h"
#include "ui/simview_draw.h"
#include "ui/simview_form.h"
#include "ui/simview_internal.h"
#include "ui/strings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From JUMP steps on, sums are quicker than steps; both give the same state. */
enum { STEPS_A_SECOND = 4, JUMP = 4096 };

simview *simview_new(void) { return alloc_zero(1, sizeof(simview)); }

void simview_free(simview *s) { free(s); }

bool simview_is_open(const simview *s) { return s->open; }

const struct walk_state *simview_state(const simview *s) { return &s->now; }

bool simview_field(const simview *s) { return s->form.on; }

static bool kind_of(const char *kernel, enum walk_kind *kind, struct err *err) {
  if (strcmp(kernel, "cuda/tiled") == 0 || strcmp(kernel, "cpu/tiled") == 0)
    *kind = WALK_TILED;
  else if (strcmp(kernel, "cuda/naive") == 0)
    *kind = WALK_NAIVE;
  else
    return err_set(err, "The simulator walks cuda/naive and cuda/tiled; %s is not one of them.",
                   kernel);
  return true;
}

bool simview_open(simview *s, const char *kernel, int64_t M, int64_t N, int64_t K, int T,
                  int64_t at, struct err *err) {
  struct walk_setup w = {.M = M, .N = N, .K = K, .T = T};
  if (!kind_of(kernel, &w.kind, err) || !walk_check(&w, err))
    return false;
  /* A block in the middle has done, present and coming blocks around it. */
  w.brow = walk_block_rows(&w) / 2;
  w.bcol = walk_block_cols(&w) / 2;
  if (w.brow == walk_block_rows(&w))
    w.brow--;
  if (w.bcol == walk_block_cols(&w))
    w.bcol--;
  s->open = true;
  s->playing = false;
  s->form.on = false;
  walk_at(&w, at, &s->now);
  return true;
}

void simview_go(simview *s, int64_t step) {
  struct walk_setup w = s->now.setup;
  if (step == s->now.step + 1)
    walk_next(&s->now);
  else if (step != s->now.step)
    walk_at(&w, step, &s->now);
}

static void play(simview *s) {
  s->playing = !s->playing;
  s->last_ms = -1;
  if (s->playing && s->now.step == s->now.steps)
    simview_go(s, 0);
}

static void set_speed(simview *s, int speed) {
  s->speed = speed < 0 ? 0 : speed > SIM_SPEED_MAX ? SIM_SPEED_MAX : speed;
}

bool simview_command(simview *s, enum command cmd) {
  if (!s->open)
    return false;
  switch (cmd) {
  case CMD_PLAY:
    play(s);
    return true;
  case CMD_STEP:
    s->playing = false;
    simview_go(s, s->now.step + 1);
    return true;
  case CMD_STEP_BACK:
    s->playing = false;
    simview_go(s, s->now.step - 1);
    return true;
  case CMD_BARRIER:
    s->playing = false;
    simview_go(s, walk_barrier(&s->now.setup, s->now.step, 1));
    return true;
  case CMD_FASTER:
    set_speed(s, s->speed + 1);
    return true;
  case CMD_SLOWER:
    set_speed(s, s->speed - 1);
    return true;
  case CMD_SIM_SETTINGS:
    s->playing = false;
    simview_form_open(s);
    return true;
  default:
    return false;
  }
}

bool simview_key(simview *s, int key) { return s->form.on && simview_form_key(s, key); }

static double step_ms(const simview *s) { return 1000.0 / (STEPS_A_SECOND << s->speed); }

bool simview_tick(simview *s, double now_ms) {
  if (!s->open || !s->playing)
    return false;
  if (s->last_ms < 0)
    s->last_ms = now_ms;
  double due = floor((now_ms - s->last_ms) / step_ms(s));
  if (due < 1)
    return false;
  s->last_ms += due * step_ms(s);
  int64_t left = s->now.steps - s->now.step, n = due < (double)left ? (int64_t)due : left;
  if (n > JUMP)
    simview_go(s, s->now.step + n);
  for (int64_t to = s->now.step + (n > JUMP ? 0 : n); s->now.step < to;)
    walk_next(&s->now);
  if (s->now.step == s->now.steps)
    s->playing = false;
  return true;
}

int simview_due(const simview *s, double now_ms) {
  if (!s->open || !s->playing)
    return -1;
  double left = s->last_ms < 0 ? step_ms(s) : s->last_ms + step_ms(s) - now_ms;
  double frame = 1000.0 / 30; /* more pictures a second than this nobody sees */
  left = left < frame ? frame : left;
  return (int)(left + 1);
}

void simview_draw(const simview *s, canvas *cv, struct rect r, enum lang lang) {
  if (!s->open) {
    canvas_wrap(cv, r, 0, ROLE_DIM, 0, strings_get(lang, "sim.none"));
    return;
  }
  if (s->form.on)
    simview_form_draw(s, cv, r, lang);
  else
    simview_draw_walk(s, cv, r, lang);
}

void simview_title(const simview *s, enum lang lang, char *out, int size) {
  const struct walk_state *w = &s->now;
  if (!s->open) {
    snprintf(out, (size_t)size, "%s", "");
    return;
  }
  int n =
      snprintf(out, (size_t)size, "%s (%lld,%lld)  %s %lld/%lld", strings_get(lang, "sim.block"),
               (long long)w->setup.brow, (long long)w->setup.bcol, strings_get(lang, "sim.step"),
               (long long)w->step, (long long)w->steps);
  if (s->playing && n > 0 && n < size)
    snprintf(out + n, (size_t)(size - n), "  ▸ %d/s", STEPS_A_SECOND << s->speed);
}
