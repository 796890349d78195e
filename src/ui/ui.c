#include "ui/ui.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "ui/header.h"
#include "ui/ui_internal.h"
#include "ui/views/explain.h"
#include "ui/views/help.h"
#include "ui/views/home.h"
#include "ui/views/lesson.h"
#include "ui/words.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_COLS = 40, LEAST_ROWS = 10 };
static const double ROOFS_SECONDS = 2; /* with warm-up and checks about twice that */
enum { EVENTS_A_TICK = 64 }; /* a worker that never stops talking leaves the keys their turn */

/* ---- life */

static void load_settings(ui *u) {
  char *lang = progress_get_setting(u->progress, "lang");
  char *theme = progress_get_setting(u->progress, "theme");
  if (lang && !u->o.lang_given)
    u->lang = strcmp(lang, "zh") == 0 ? LANG_ZH : LANG_EN;
  if (theme && !u->o.theme_given && theme_find(theme))
    u->theme = theme_find(theme);
  free(lang);
  free(theme);
}

/* "NVIDIA H200" -> "(H200)": the tag of its numbers in the prose. */
static void set_recorded_tag(ui *u) {
  if (!u->recorded)
    return;
  const char *card = recorded_card(u->recorded);
  if (strncmp(card, "NVIDIA ", 7) == 0)
    card += 7;
  snprintf(u->recorded_tag, sizeof u->recorded_tag, "(%s)", card);
}

ui *ui_new(const struct ui_options *o) {
  ui *u = alloc_zero(1, sizeof *u);
  struct err notice = {{0}};
  u->o = *o;
  u->o.worker_command = NULL;
  u->lang = o->lang;
  u->theme = o->theme ? o->theme : theme_at(0);
  u->ascii = o->ascii;
  u->catalog = catalog_new();
  u->course = course_load();
  u->recorded = recorded_load("h200", NULL);
  u->progress = progress_open(o->memory_only, &notice);
  u->notice = alloc_str(notice.text);
  if (o->worker_command)
    u->worker_command = alloc_str(o->worker_command);
  if (o->worker)
    u->client = client_new(u->worker_command);
  set_recorded_tag(u);
  load_settings(u);
  u->sim = simview_new();
  struct live_world world = {u->catalog, u->client, u->recorded, u->progress};
  u->live = live_new(&world);
  home_reset(u);
  return u;
}

void ui_free(ui *u) {
  if (!u)
    return;
  if (live_running(u->live))
    live_command(u->live, CMD_CANCEL);
  lesson_view_close(u);
  live_free(u->live);
  simview_free(u->sim);
  client_free(u->client);
  progress_close(u->progress);
  recorded_free(u->recorded);
  course_free(u->course);
  catalog_free(u->catalog);
  free(u->worker_command);
  free(u->notice);
  free(u);
}

/* ---- opening */

static bool open_lesson(ui *u, const char *name, struct err *err) {
  const char *colon = strchr(name, ':');
  char *id = colon ? alloc_strn(name, (size_t)(colon - name)) : alloc_str(name);
  const struct course_entry *e = course_find(u->course, id);
  bool ok = false;
  if (!e)
    err_set(err, "There is no lesson '%s'. `mmtutor read` lists the lessons.", id);
  else if (e->broken)
    err_set(err, "%s", e->broken);
  else if (!e->lesson)
    err_set(err, "The lesson '%s' is not written yet. `mmtutor read` lists those that are.", id);
  else if (colon && lesson_step(e->lesson, colon + 1) < 0)
    err_set(err, "The lesson '%s' has no step '%s'; its steps are numbered 1 to %d.", id, colon + 1,
            e->lesson->nsteps);
  else
    ok = true;
  if (ok)
    lesson_view_open(u, e->lesson, colon ? colon + 1 : NULL);
  free(id);
  return ok;
}

/* "cuda/tiled:12": a small problem of the kernel at that step. */
static bool open_sim(ui *u, const char *name, struct err *err) {
  enum { SIM_SIZE = 12, SIM_TILE = 4 };
  const char *colon = strchr(name, ':');
  char *kernel = colon ? alloc_strn(name, (size_t)(colon - name)) : alloc_str(name);
  char *end = NULL;
  long at = colon ? strtol(colon + 1, &end, 10) : 0;
  bool ok;
  if (colon && (end == colon + 1 || *end || at < 0))
    ok = err_set(err, "'%s' is no step; steps of the simulator are numbers from 0.", colon + 1);
  else
    ok = simview_open(u->sim, kernel, SIM_SIZE, SIM_SIZE, SIM_SIZE, SIM_TILE, at, err);
  if (ok) {
    lesson_view_close(u);
    u->view = VIEW_SIM;
  }
  free(kernel);
  return ok;
}

bool ui_open(ui *u, const char *view, struct err *err) {
  u->explain = u->help = false;
  if (strcmp(view, "home") == 0 || strcmp(view, "help") == 0) {
    lesson_view_close(u);
    u->view = VIEW_HOME;
    home_reset(u);
    if (strcmp(view, "help") == 0)
      help_open(u);
    return true;
  }
  if (strncmp(view, "lesson/", 7) == 0)
    return open_lesson(u, view + 7, err);
  if (strncmp(view, "sim/", 4) == 0)
    return open_sim(u, view + 4, err);
  return err_set(err, "There is no view '%s'; there are home, help, lesson/ID and sim/KERNEL.",
                 view);
}

void ui_show_pane(ui *u, const char *pane) {
  if (u->view == VIEW_LESSON)
    lesson_view_show(u, pane);
}

void ui_show_result(ui *u, const struct result *r) { live_show(u->live, r); }
void ui_show_xray(ui *u, const struct xray_result *x) { live_show_xray(u->live, x); }

/* ---- keys */

static void go_home(ui *u) {
  lesson_view_close(u);
  u->view = VIEW_HOME;
  home_reset(u);
}

static void next_theme(ui *u) {
  int i = 0;
  while (theme_at(i) && theme_at(i) != u->theme)
    i++;
  u->theme = theme_at(i) && theme_at(i + 1) ? theme_at(i + 1) : theme_at(0);
  progress_set_setting(u->progress, "theme", u->theme->name);
  progress_save(u->progress, NULL);
}

static void next_lang(ui *u) {
  u->lang = u->lang == LANG_EN ? LANG_ZH : LANG_EN;
  lesson_view_language(u);
  progress_set_setting(u->progress, "lang", u->lang == LANG_ZH ? "zh" : "en");
  progress_save(u->progress, NULL);
}

static unsigned contexts(const ui *u) {
  if (u->help)
    return help_contexts(u);
  switch (u->view) {
  case VIEW_LESSON:
    return lesson_view_contexts(u);
  case VIEW_SIM:
    return KEYS_ANY | KEYS_SIM | (simview_field(u->sim) ? KEYS_FIELD : 0u);
  case VIEW_HOME:
    break;
  }
  return home_contexts(u);
}

/* Back one level; false where that is the end of the program. */
static bool leave(ui *u) {
  if (u->help) {
    u->help = false;
    return true;
  }
  if (u->view == VIEW_HOME)
    return false;
  go_home(u);
  return true;
}

/* A run waits behind the roofs, so what holds those up holds it up: x ends both. */
static void cancel_roofs(ui *u) {
  if (!u->measuring || !live_running(u->live))
    return;
  client_cancel(u->client, u->roofs_id);
  u->roofs_wanted = true;
}

static void view_command(ui *u, enum command cmd) {
  bool taken = false;
  if (cmd == CMD_CANCEL)
    cancel_roofs(u);
  if (u->help)
    taken = help_command(u, cmd);
  else if (u->view == VIEW_LESSON)
    taken = lesson_view_command(u, cmd);
  else if (u->view == VIEW_SIM)
    taken = simview_command(u->sim, cmd);
  else if (cmd == CMD_CANCEL)
    taken = live_command(u->live, cmd);
  else
    taken = home_command(u, cmd);
  if (!taken && cmd == CMD_BACK && (u->help || u->view != VIEW_HOME))
    leave(u); /* Esc goes back a level and never quits */
}

static bool do_command(ui *u, enum command cmd) {
  switch (cmd) {
  case CMD_NONE:
  case CMD_REDRAW:
    return true;
  case CMD_QUIT_NOW:
    return false;
  case CMD_QUIT:
    return leave(u);
  case CMD_HELP:
    help_open(u);
    return true;
  case CMD_LANG:
    next_lang(u);
    return true;
  case CMD_THEME:
    next_theme(u);
    return true;
  case CMD_EXPLAIN:
    explain_open(u);
    return true;
  default:
    view_command(u, cmd);
    return true;
  }
}

static bool too_small(const ui *u) {
  return u->cols > 0 && (u->cols < LEAST_COLS || u->rows < LEAST_ROWS);
}

bool ui_key(ui *u, int key) {
  if (key == KEYS_CTRL_C)
    return false;
  if (too_small(u))
    return key != 'q' && key != 'Q';
  if (u->explain) {
    explain_key(u, key);
    return key != 'Q';
  }
  if (!u->help && u->view == VIEW_LESSON && lesson_view_key(u, key))
    return true;
  if (!u->help && u->view == VIEW_SIM && simview_field(u->sim) && simview_key(u->sim, key))
    return true;
  return do_command(u, keys_command(key, contexts(u)));
}

/* ---- time and the worker */

/* Says who the worker is, and asks for its roofs, once the first frame is out. */
static void greet(ui *u) {
  u->greeted = true;
  client_hello(u->client, &u->worker_error);
}

static void want_roofs(ui *u) {
  const struct device_info *d = live_device(u->live);
  struct roofs kept;
  if (!d || live_roofs(u->live))
    return;
  if (roofs_load(d->id, &kept)) {
    struct client_event ev = {.kind = CLIENT_ROOFS, .roofs = &kept};
    live_event(u->live, &ev);
    return;
  }
  u->roofs_id = client_roofs(u->client, d->id, ROOFS_SECONDS, NULL);
  u->measuring = u->roofs_id != 0;
}

static bool take_event(ui *u, const struct client_event *ev) {
  bool changed = live_event(u->live, ev);
  switch (ev->kind) {
  case CLIENT_HELLO:
    u->worker_error.text[0] = 0;
    want_roofs(u);
    return true;
  case CLIENT_ROOFS:
    roofs_save(ev->roofs);
    u->measuring = false;
    return true;
  case CLIENT_GONE:
    err_set(&u->worker_error, "%s", ev->fault.what);
    u->measuring = false;
    return true;
  case CLIENT_ERROR:
  case CLIENT_CANCELLED:
    if (ev->id == u->roofs_id)
      u->measuring = false;
    return true;
  case CLIENT_XRAY:
  case CLIENT_RESULT:
    if (u->roofs_wanted) /* the device answers again */
      want_roofs(u);
    u->roofs_wanted = false;
    lesson_view_event(u);
    return true;
  default:
    return changed;
  }
}

bool ui_tick(ui *u, double now_ms) {
  bool changed = false;
  if (u->client && u->drawn && !u->greeted) {
    greet(u);
    changed = true;
  }
  struct client_event ev;
  int n = 0;
  while (n < EVENTS_A_TICK && u->client && u->greeted && client_next(u->client, &ev)) {
    changed |= take_event(u, &ev);
    n++;
  }
  u->more = n == EVENTS_A_TICK;
  if (simview_is_open(u->sim))
    changed |= simview_tick(u->sim, now_ms);
  return changed;
}

static int sooner(int a, int b) { return a < 0 ? b : b < 0 || a < b ? a : b; }

int ui_timeout(const ui *u, double now_ms) {
  int ms = -1;
  if ((u->client && u->drawn && !u->greeted) || u->more)
    return 0;
  if (u->client && u->greeted)
    ms = client_timeout(u->client);
  if (simview_is_open(u->sim))
    ms = sooner(ms, simview_due(u->sim, now_ms));
  return ms;
}

int ui_fd(const ui *u) { return u->client && u->greeted ? client_fd(u->client) : -1; }

/* ---- drawing */

static void draw_too_small(ui *u, canvas *cv) {
  int cols = canvas_cols(cv), rows = canvas_rows(cv);
  char need[32], has[32];
  snprintf(need, sizeof need, "%dx%d", LEAST_COLS, LEAST_ROWS);
  snprintf(has, sizeof has, "%dx%d", cols, rows);
  char *text = words_fill(u->lang, "ui.too_small", has, need, NULL);
  int w = utf8_width(text);
  if (w > cols) {
    free(text);
    text = alloc_printf("%s<%s", has, need);
    w = utf8_width(text);
  }
  canvas_fit(cv, w < cols ? (cols - w) / 2 : 0, (rows - 1) / 2, cols, ROLE_TEXT, 0, text);
  free(text);
}

static void draw_sim(ui *u, canvas *cv) {
  char title[160];
  int cols = canvas_cols(cv), rows = canvas_rows(cv);
  simview_title(u->sim, u->lang, title, sizeof title);
  header_draw(u, cv, strings_get(u->lang, "pane.sim"), NULL, "");
  canvas_fit(cv, 2, 1, cols - 4, ROLE_FOCUS, 0, title);
  simview_draw(u->sim, cv, (struct rect){2, 3, cols - 4, rows - 5}, u->lang);
  header_bar(u, cv, contexts(u));
}

static void draw_view(ui *u, canvas *cv) {
  if (u->help)
    help_draw(u, cv);
  else if (u->view == VIEW_LESSON)
    lesson_view_draw(u, cv);
  else if (u->view == VIEW_SIM)
    draw_sim(u, cv);
  else
    home_draw(u, cv);
}

void ui_draw(ui *u, canvas *cv) {
  canvas_clear(cv);
  canvas_set_ascii(cv, u->ascii);
  u->cols = canvas_cols(cv);
  u->rows = canvas_rows(cv);
  u->drawn = true;
  if (too_small(u)) {
    draw_too_small(u, cv);
    return;
  }
  draw_view(u, cv);
  u->asks = canvas_asks(cv);
  if (u->explain)
    explain_draw(u, cv);
}

const struct theme *ui_theme(const ui *u) { return u->theme; }
bool ui_ascii(const ui *u) { return u->ascii; }
enum lang ui_lang(const ui *u) { return u->lang; }
void ui_set_ascii(ui *u, bool ascii) { u->ascii = ascii; }
