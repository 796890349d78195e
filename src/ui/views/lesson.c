#include "ui/views/lesson.h"

#include "base/sentences.h"
#include "base/utf8.h"
#include "ui/header.h"
#include "ui/ui_internal.h"
#include "ui/views/figure.h"
#include "ui/views/lesson_item.h"
#include "ui/views/lesson_text.h"
#include "ui/words.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NARROW_DEFAULT = 80 };

static const struct step *step_of(const ui *u) { return &u->lesson.lesson->steps[u->lesson.step]; }

static int columns(const ui *u) { return u->cols > 0 ? u->cols : NARROW_DEFAULT; }

/* ---- which panes */

static bool has_sim(const struct lesson *l) {
  for (int i = 0; i < l->nsteps; i++)
    if (l->steps[i].kind == STEP_SIM)
      return true;
  return false;
}

/* Where a pane fits beside the text it shows the step's figure or code; else the simulator is a tab
 * and these stand in the text. */
static enum picture picture(const ui *u, int cols) {
  enum step_kind kind = step_of(u)->kind;
  if (cols >= LESSON_LAYOUT_TWO && kind == STEP_FIGURE)
    return PICTURE_FIGURE;
  if (cols >= LESSON_LAYOUT_TWO && kind == STEP_CODE)
    return PICTURE_CODE;
  return has_sim(u->lesson.lesson) ? PICTURE_SIM : PICTURE_NONE;
}

static struct lesson_panes panes(const ui *u, int cols) {
  const struct lesson_state *l = &u->lesson;
  struct lesson_panes p = {.focus = l->focus, .other = l->other};
  p.has[PANE_TEXT] = true;
  p.has[PANE_SIM] = picture(u, cols) != PICTURE_NONE;
  p.has[PANE_LIVE] = l->lesson->nexperiments > 0;
  p.two = picture(u, cols) == PICTURE_CODE || picture(u, cols) == PICTURE_FIGURE;
  if (!p.has[p.focus])
    p.focus = PANE_TEXT;
  return p;
}

static void layout(const ui *u, int cols, int rows, struct lesson_layout *out) {
  struct lesson_panes p = panes(u, cols);
  lesson_layout(cols, rows, &p, out);
}

static bool shown(const ui *u, enum pane pane) {
  struct lesson_layout at;
  layout(u, columns(u), u->rows > 0 ? u->rows : 24, &at);
  return at.shown[pane];
}

static bool has_prose(const ui *u) {
  const char *prose = step_of(u)->prose[u->lang];
  return prose && *prose;
}

void lesson_view_settle(ui *u, int cols) {
  struct lesson_state *l = &u->lesson;
  if (!l->entering)
    return;
  l->entering = false;
  enum step_kind kind = step_of(u)->kind;
  bool run = kind == STEP_PREDICT || kind == STEP_RUN, narrow = cols < LESSON_LAYOUT_TWO;
  struct lesson_panes p = panes(u, cols);
  l->other = run && p.has[PANE_LIVE] ? PANE_LIVE : PANE_SIM;
  if (!p.has[l->other])
    l->other = l->other == PANE_SIM ? PANE_LIVE : PANE_SIM;
  l->focus = PANE_TEXT;
  if (run && p.has[PANE_LIVE] && !(narrow && has_prose(u)))
    l->focus = PANE_LIVE;
  if (kind == STEP_PREDICT && l->focus == PANE_LIVE)
    live_focus_prediction(u->live);
}

/* The predict step of an experiment keeps the prediction; where there is none the run itself does.
 */
static const struct step *predicted_at(const struct lesson *l, const struct step *run) {
  for (int i = 0; i < l->nsteps; i++)
    if (l->steps[i].kind == STEP_PREDICT && strcmp(l->steps[i].experiment, run->experiment) == 0)
      return &l->steps[i];
  return run;
}

static bool locked(const ui *u, const struct step *s) {
  const struct lesson *l = u->lesson.lesson;
  double value;
  char key[LESSON_KEY];
  live_prediction_key(u->live, lesson_experiment(l, s->experiment), predicted_at(l, s)->id, key);
  return !progress_prediction(u->progress, l->id, key, &value);
}

static void focus(ui *u, enum pane pane) {
  struct lesson_state *l = &u->lesson;
  if (!panes(u, columns(u)).has[pane])
    return;
  l->focus = pane;
  if (pane != PANE_TEXT)
    l->other = pane;
  if (pane == PANE_LIVE && step_of(u)->kind == STEP_PREDICT && locked(u, step_of(u)))
    live_focus_prediction(u->live);
}

static void turn(ui *u, int dir) {
  struct lesson_panes p = panes(u, columns(u));
  int pane = p.focus;
  do
    pane = (pane + dir + PANES) % PANES;
  while (!p.has[pane]);
  focus(u, (enum pane)pane);
}

void lesson_view_show(ui *u, const char *pane) {
  static const char *const names[PANES] = {"text", "sim", "live"};
  lesson_view_settle(u, columns(u));
  for (int i = 0; i < PANES; i++)
    if (strcmp(pane, names[i]) == 0)
      focus(u, (enum pane)i);
}

/* ---- entering a step */

static bool same_experiment(const struct lesson *l, int a, int b) {
  return strcmp(l->steps[a].experiment, l->steps[b].experiment) == 0 &&
         predicted_at(l, &l->steps[a]) == predicted_at(l, &l->steps[b]);
}

/* The live pane has the experiment of the last predict or run step up to here. */
static void set_experiment(ui *u) {
  struct lesson_state *l = &u->lesson;
  int at = -1;
  for (int i = 0; i <= l->step; i++)
    if (l->lesson->steps[i].experiment)
      at = i;
  if (at >= 0 && l->live_step >= 0 && same_experiment(l->lesson, at, l->live_step))
    return; /* what was run on the predict step still stands on the run step */
  l->live_step = at;
  if (at < 0) {
    live_set_experiment(u->live, l->lesson, NULL, "", false);
    return;
  }
  const struct step *s = &l->lesson->steps[at];
  live_set_experiment(u->live, l->lesson, lesson_experiment(l->lesson, s->experiment),
                      predicted_at(l->lesson, s)->id, locked(u, s));
}

/* The simulator has the walk of this step, else of the last sim step before it, else of the first.
 */
static void set_sim(ui *u) {
  struct lesson_state *l = &u->lesson;
  int at = -1;
  for (int i = 0; i < l->lesson->nsteps; i++)
    if (l->lesson->steps[i].kind == STEP_SIM && (i <= l->step || at < 0))
      at = i;
  if (at < 0 || at == l->sim_step)
    return;
  const struct step *s = &l->lesson->steps[at];
  double edge = 1;
  struct expr_vars params = s->params;
  if (!expr_vars_lookup(&params, "T", &edge))
    edge = 4;
  l->sim_step = at;
  l->sim_error.text[0] = 0;
  simview_open(u->sim, s->kernel, s->M, s->N, s->K, (int)edge, s->at, &l->sim_error);
}

static void enter(ui *u, int step) {
  struct lesson_state *l = &u->lesson;
  l->step = step;
  l->entering = true;
  l->scroll = 0;
  l->follow = false;
  l->code_scroll = -1;
  l->searching = false;
  l->needle[0] = 0;
  l->find = l->hit = -1;
  const struct step *s = step_of(u);
  lesson_item_open(u, s->item ? lesson_item(l->lesson, s->item) : NULL);
  set_experiment(u);
  set_sim(u);
  progress_set_at(u->progress, l->lesson->id, s->id);
  if (s->kind == STEP_SUMMARY)
    lesson_view_done(u, true);
}

void lesson_view_open(ui *u, const struct lesson *l, const char *step) {
  lesson_view_close(u);
  u->lesson.lesson = l;
  u->lesson.sim_step = u->lesson.live_step = -1;
  u->view = VIEW_LESSON;
  if (!step)
    step = progress_at(u->progress, l->id);
  int at = step ? lesson_step(l, step) : 0;
  enter(u, at < 0 ? 0 : at);
}

void lesson_view_close(ui *u) {
  if (!u->lesson.lesson)
    return;
  lesson_item_close(u);
  memset(&u->lesson, 0, sizeof u->lesson);
}

void lesson_view_done(ui *u, bool done) {
  if (done)
    progress_step_done(u->progress, u->lesson.lesson->id, step_of(u)->id);
  progress_save(u->progress, NULL);
}

static void next(ui *u) {
  struct lesson_state *l = &u->lesson;
  const struct step *s = step_of(u);
  bool experiment = s->kind == STEP_PREDICT || s->kind == STEP_RUN;
  if (s->kind != STEP_ITEM && !(experiment && locked(u, s)))
    lesson_view_done(u, true);
  if (l->step + 1 < l->lesson->nsteps)
    enter(u, l->step + 1);
}

/* ---- drawing */

/* The heading of the step's prose; a step without says what it is. */
static const char *text_title(const ui *u) {
  const char *title = step_of(u)->title.in[u->lang];
  if (title && *title)
    return title;
  switch (step_of(u)->kind) {
  case STEP_ITEM:
    return strings_get(u->lang, "pane.question");
  case STEP_PREDICT:
    return strings_get(u->lang, "pane.predict");
  case STEP_RUN:
    return strings_get(u->lang, "pane.run");
  default:
    return strings_get(u->lang, "pane.text");
  }
}

static const char *pane_title(ui *u, enum pane pane, char *out, size_t size, int cols) {
  static const char *const id[PANES] = {"pane.text", "pane.sim", "pane.live"};
  out[0] = 0;
  if (pane == PANE_TEXT)
    return text_title(u);
  enum picture pic = picture(u, cols);
  if (pane == PANE_SIM && pic == PICTURE_FIGURE)
    return strings_get(u->lang, "pane.figure");
  if (pane == PANE_SIM && pic == PICTURE_CODE) {
    snprintf(out, size, "%s", step_of(u)->kernel);
    return out;
  }
  if (pane == PANE_SIM)
    simview_title(u->sim, u->lang, out, (int)size);
  else if (pane == PANE_LIVE)
    live_title(u->live, u->lang, out, (int)size);
  return out[0] ? out : strings_get(u->lang, id[pane]);
}

static void draw_titles(ui *u, canvas *cv, const struct lesson_layout *at) {
  char text[160];
  for (int i = 0; i < PANES; i++) {
    if (!at->shown[i] || at->title[i].w < 1)
      continue;
    const char *title = pane_title(u, (enum pane)i, text, sizeof text, canvas_cols(cv));
    bool lit = (int)u->lesson.focus == i;
    canvas_fit(cv, at->title[i].x, at->title[i].y, at->title[i].w, lit ? ROLE_FOCUS : ROLE_DIM, 0,
               title);
  }
}

/* `F2 text  F3 simulator  F4 live`; the title of what is shown follows where there is room. */
static void draw_tabs(ui *u, canvas *cv, const struct lesson_layout *at) {
  static const char *const key[PANES] = {"F2", "F3", "F4"};
  static const char *const id[PANES] = {"pane.text", "pane.sim", "pane.live"};
  struct lesson_panes p = panes(u, canvas_cols(cv));
  struct rect old = canvas_clip(cv, at->tabs);
  int x = at->tabs.x, y = at->tabs.y;
  for (int i = 0; i < PANES; i++) {
    if (!p.has[i])
      continue;
    bool lit = (int)p.focus == i;
    const char *name = strings_get(u->lang, id[i]);
    x += canvas_essential(cv, x, y, lit ? ROLE_KEY : ROLE_DIM, 0, key[i]) + 1;
    x += canvas_essential(cv, x, y, lit ? ROLE_FOCUS : ROLE_DIM, 0, name) + 3;
  }
  char text[160];
  const char *title = pane_title(u, p.focus, text, sizeof text, canvas_cols(cv));
  int room = at->tabs.x + at->tabs.w - x;
  if (utf8_width(title) <= room)
    canvas_right(cv, at->tabs.x + at->tabs.w, y, ROLE_TITLE, 0, title);
  else if (room >= 12)
    canvas_fit(cv, x, y, room, ROLE_TITLE, 0, title);
  canvas_clip(cv, old);
}

static void draw_sim_error(ui *u, canvas *cv, struct rect r) {
  char *text = sentences_in(u->lesson.sim_error.text, u->lang == LANG_ZH);
  canvas_wrap(cv, r, 0, ROLE_DIM, 0, text);
  free(text);
}

static void draw_picture(ui *u, canvas *cv, struct rect r) {
  switch (picture(u, canvas_cols(cv))) {
  case PICTURE_FIGURE:
    figure_draw(u, cv, r, step_of(u));
    break;
  case PICTURE_CODE:
    lesson_text_code(u, cv, r);
    break;
  case PICTURE_SIM:
    if (u->lesson.sim_error.text[0])
      draw_sim_error(u, cv, r);
    else
      simview_draw(u->sim, cv, r, u->lang);
    break;
  case PICTURE_NONE:
    break;
  }
}

static void draw_pane(ui *u, canvas *cv, const struct lesson_layout *at, enum pane pane) {
  struct rect r = at->body[pane];
  if (!at->shown[pane] || r.w < 1 || r.h < 1)
    return;
  struct rect old = canvas_clip(cv, r);
  enum picture pic = picture(u, canvas_cols(cv));
  if (pane == PANE_TEXT)
    lesson_text_draw(u, cv, r, pic == PICTURE_SIM || pic == PICTURE_NONE);
  else if (pane == PANE_SIM)
    draw_picture(u, cv, r);
  else
    live_draw(u->live, cv, r, u->lang);
  canvas_clip(cv, old);
}

static void draw_search(ui *u, canvas *cv) {
  int y = canvas_rows(cv) - 1, cols = canvas_cols(cv);
  canvas_text(cv, 1, y, ROLE_KEY, 0, "/");
  if (cols > 6)
    field_draw(&u->lesson.search, cv, 3, y, cols - 4 < 40 ? cols - 4 : 40, true);
}

void lesson_view_draw(ui *u, canvas *cv) {
  struct lesson_state *l = &u->lesson;
  struct lesson_layout at;
  int cols = canvas_cols(cv), rows = canvas_rows(cv);
  char a[16], b[16], now[96] = "";
  lesson_view_settle(u, cols);
  l->focus = panes(u, cols).focus;
  layout(u, cols, rows, &at);
  if (!at.shown[PANE_LIVE])
    live_headline(u->live, now, sizeof now);
  char *where = words_fill(u->lang, "lesson.step", words_int(a, l->step + 1),
                           words_int(b, l->lesson->nsteps), NULL);
  if (rows >= 3)
    header_draw(u, cv, l->lesson->title.in[u->lang], where, now);
  free(where);
  for (int i = 0; i < PANES; i++)
    if (at.shown[i] && at.separator[i] >= 0)
      canvas_vline(cv, at.separator[i], 1, rows - 2, ROLE_DIM);
  if (at.tabs.h > 0)
    draw_tabs(u, cv, &at);
  else
    draw_titles(u, cv, &at);
  for (int i = 0; i < PANES; i++)
    draw_pane(u, cv, &at, (enum pane)i);
  if (rows < 2)
    return;
  if (l->searching)
    draw_search(u, cv);
  else
    header_bar(u, cv, lesson_view_contexts(u));
}

/* ---- keys */

unsigned lesson_view_contexts(const ui *u) {
  const struct lesson_state *l = &u->lesson;
  unsigned on = KEYS_ANY | KEYS_LESSON_VIEW;
  if (l->searching || (l->focus == PANE_LIVE && live_field(u->live)) ||
      (l->focus == PANE_SIM && simview_field(u->sim)))
    return KEYS_ANY | KEYS_LESSON_VIEW | KEYS_FIELD;
  if (l->focus == PANE_TEXT)
    on |= lesson_item_contexts(u);
  if (shown(u, PANE_SIM) && picture(u, columns(u)) == PICTURE_SIM && simview_is_open(u->sim))
    on |= KEYS_SIM;
  if (l->lesson->nexperiments > 0)
    on |= KEYS_LIVE;
  if (live_running(u->live))
    on |= KEYS_RUNNING;
  if (l->needle[0] && l->hit >= 0)
    on |= KEYS_SEARCH;
  return on;
}

static bool search_key(ui *u, int key) {
  struct lesson_state *l = &u->lesson;
  if (key == KEYS_ENTER) {
    l->searching = false;
    memcpy(l->needle, l->search.text, sizeof l->needle);
    l->find = l->needle[0] ? l->scroll : -1;
    return true;
  }
  return field_key(&l->search, key);
}

bool lesson_view_key(ui *u, int key) {
  struct lesson_state *l = &u->lesson;
  lesson_view_settle(u, columns(u));
  if (l->searching)
    return search_key(u, key);
  switch (l->focus) {
  case PANE_LIVE:
    return live_field(u->live) && live_key(u->live, key);
  case PANE_SIM:
    return simview_field(u->sim) && simview_key(u->sim, key);
  case PANE_TEXT:
  case PANES:
    break;
  }
  return lesson_item_key(u, key);
}

static bool scroll(int *at, int lines, int rows, enum command cmd) {
  int screen = rows > 2 ? rows - 1 : 1;
  switch (cmd) {
  case CMD_UP:
    *at -= 1;
    break;
  case CMD_DOWN:
    *at += 1;
    break;
  case CMD_PGUP:
    *at -= screen;
    break;
  case CMD_PGDN:
    *at += screen;
    break;
  case CMD_TOP:
    *at = 0;
    break;
  case CMD_BOTTOM:
    *at = lines;
    break;
  default:
    return false;
  }
  if (*at > lines - rows)
    *at = lines - rows;
  if (*at < 0)
    *at = 0;
  return true;
}

/* Esc undoes one thing: the search field, a search, a question's field; else it goes home. */
static bool back(ui *u) {
  struct lesson_state *l = &u->lesson;
  if (l->searching || l->needle[0]) {
    l->searching = false;
    l->needle[0] = 0;
    l->hit = -1;
    return true;
  }
  if (l->focus == PANE_TEXT && lesson_item_leave(u))
    return true;
  if (l->focus == PANE_LIVE && live_command(u->live, CMD_BACK))
    return true;
  if (l->focus != PANE_TEXT) {
    focus(u, PANE_TEXT);
    return true;
  }
  return false;
}

/* Enter in the text of a predict or run step leads to the live pane. */
static bool to_live(ui *u) {
  const struct step *s = step_of(u);
  if (u->lesson.focus != PANE_TEXT || !s->experiment || !panes(u, columns(u)).has[PANE_LIVE])
    return false;
  focus(u, PANE_LIVE);
  if (locked(u, s))
    live_focus_prediction(u->live);
  return true;
}

static bool run_or_set(ui *u, enum command cmd) {
  if (u->lesson.lesson->nexperiments == 0)
    return false;
  if (cmd != CMD_CANCEL)
    focus(u, PANE_LIVE);
  return live_command(u->live, cmd);
}

static bool pane_command(ui *u, enum command cmd) {
  struct lesson_state *l = &u->lesson;
  bool pic_sim = picture(u, columns(u)) == PICTURE_SIM;
  if (l->focus == PANE_LIVE)
    return live_command(u->live, cmd);
  if (l->focus == PANE_SIM && picture(u, columns(u)) == PICTURE_CODE)
    return scroll(&l->code_scroll, l->code_lines, l->code_rows, cmd);
  if (l->focus == PANE_SIM && pic_sim && simview_command(u->sim, cmd))
    return true;
  if (l->focus == PANE_TEXT && scroll(&l->scroll, l->lines, l->rows, cmd))
    return true;
  return pic_sim && shown(u, PANE_SIM) && simview_command(u->sim, cmd);
}

static bool sim_settings(ui *u) {
  focus(u, PANE_SIM);
  return u->lesson.focus == PANE_SIM && simview_command(u->sim, CMD_SIM_SETTINGS);
}

bool lesson_view_command(ui *u, enum command cmd) {
  struct lesson_state *l = &u->lesson;
  lesson_view_settle(u, columns(u));
  if (l->focus == PANE_TEXT && lesson_item_command(u, cmd))
    return true;
  switch (cmd) {
  case CMD_NEXT_STEP:
    next(u);
    return true;
  case CMD_PREV_STEP:
    if (l->step > 0)
      enter(u, l->step - 1);
    return true;
  case CMD_NEXT_PANE:
  case CMD_PREV_PANE:
    turn(u, cmd == CMD_NEXT_PANE ? 1 : -1);
    return true;
  case CMD_PANE_TEXT:
  case CMD_PANE_SIM:
  case CMD_PANE_LIVE:
    focus(u, (enum pane)((int)cmd - CMD_PANE_TEXT));
    return true;
  case CMD_SEARCH:
    focus(u, PANE_TEXT);
    field_init(&l->search, 60);
    l->searching = true;
    return true;
  case CMD_NEXT_HIT:
    l->find = l->hit + 1;
    return true;
  case CMD_BACK:
    return back(u);
  case CMD_RUN:
  case CMD_CANCEL:
  case CMD_SETTINGS:
    return run_or_set(u, cmd);
  case CMD_SIM_SETTINGS:
    return sim_settings(u);
  case CMD_ENTER:
    return to_live(u) || pane_command(u, cmd);
  default:
    return pane_command(u, cmd);
  }
}

void lesson_view_language(ui *u) {
  if (u->lesson.lesson)
    lesson_item_language(u);
}

void lesson_view_event(ui *u) {
  if (!u->lesson.lesson)
    return;
  const struct step *s = step_of(u);
  if (s->kind == STEP_PREDICT && !locked(u, s) &&
      !progress_step_is_done(u->progress, u->lesson.lesson->id, s->id))
    lesson_view_done(u, true);
}
