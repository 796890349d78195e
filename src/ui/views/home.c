#include "ui/views/home.h"

#include "base/alloc.h"
#include "base/sentences.h"
#include "base/utf8.h"
#include "ui/header.h"
#include "ui/plot.h"
#include "ui/ui_internal.h"
#include "ui/views/lesson.h"
#include "ui/words.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BAR_COLS = 8, LIST_COLS = 78 };

/* The columns of a row, by the width of the screen. */
struct columns {
  int mark, number, title, state, minutes; /* -1: left out */
  int title_cols;
  bool bar; /* room for the bar of a lesson begun */
};

static const struct course_entry *entry(const ui *u, int i) { return &u->course->entry[i]; }

void home_reset(ui *u) {
  const char *last = progress_last_lesson(u->progress);
  u->home.at = 0;
  for (int i = COURSE_LESSONS - 1; i >= 0; i--)
    if (entry(u, i)->lesson)
      u->home.at = i;
  for (int i = 0; last && i < COURSE_LESSONS; i++)
    if (strcmp(entry(u, i)->id, last) == 0)
      u->home.at = i;
}

static void columns(int cols, struct columns *c) {
  int w = cols < LIST_COLS ? cols : LIST_COLS;
  int x = cols >= 60 ? 3 : cols >= 30 ? 1 : 0;
  c->mark = x;
  c->number = x + 2;
  c->title = x + 6;
  c->minutes = cols >= 66 ? w - 8 : -1;
  c->bar = cols >= 66;
  int state_cols = c->bar ? BAR_COLS + 10 : cols >= 36 ? 8 : 2;
  c->state = (c->minutes >= 0 ? c->minutes - 3 : w - 1) - state_cols;
  if (c->state < c->title + 4) {
    c->state = w - 2;
    c->bar = false;
  }
  c->title_cols = c->state - c->title - 1;
}

static void draw_state(ui *u, canvas *cv, const struct course_entry *e, const struct columns *c,
                       int y) {
  int room = c->minutes >= 0 ? c->minutes - 2 - c->state : canvas_cols(cv) - c->state;
  if (e->broken) {
    canvas_fit(cv, c->state, y, room, ROLE_WRONG, 0, strings_get(u->lang, "home.damaged"));
    return;
  }
  if (!e->lesson) {
    canvas_fit(cv, c->state, y, room, ROLE_TODO, 0, strings_get(u->lang, "home.later"));
    return;
  }
  int of = e->lesson->nsteps, n = progress_steps_done(u->progress, e->lesson);
  bool begun = progress_at(u->progress, e->id) != NULL;
  if (n >= of) {
    char *done = words_fill(u->lang, "home.done", NULL);
    int x = c->state + canvas_text(cv, c->state, y, ROLE_DONE, 0, "✓ ");
    if (room >= 2 + utf8_width(done))
      canvas_text(cv, x, y, ROLE_DONE, 0, done);
    free(done);
    return;
  }
  if (!begun && n == 0) {
    canvas_text(cv, c->state, y, ROLE_TODO, 0, "·");
    return;
  }
  char a[16], b[16];
  char *share = words_fill(u->lang, "home.share", words_int(a, n), words_int(b, of), NULL);
  int x = c->state;
  if (c->bar) {
    plot_bar(cv, x, y, BAR_COLS, (double)n / of, ROLE_NOW);
    x += BAR_COLS + 2;
  }
  canvas_fit(cv, x, y, room - (x - c->state), ROLE_NOW, 0, share);
  free(share);
}

static void draw_row(ui *u, canvas *cv, int i, const struct columns *c, int y) {
  const struct course_entry *e = entry(u, i);
  bool chosen = i == u->home.at;
  enum role role = e->lesson ? ROLE_TEXT : ROLE_TODO;
  char number[16];
  if (chosen) {
    canvas_text(cv, c->mark, y, ROLE_NOW, 0, "▸");
    canvas_cursor(cv, c->mark, y);
  }
  canvas_right(cv, c->number + 2, y, chosen ? ROLE_TEXT : ROLE_DIM, 0, words_int(number, i + 1));
  canvas_fit(cv, c->title, y, c->title_cols, chosen ? ROLE_TITLE : role, 0, e->title.in[u->lang]);
  draw_state(u, cv, e, c, y);
  if (c->minutes >= 0 && e->minutes > 0) {
    char *text = words_fill(u->lang, "home.minutes", words_int(number, e->minutes), NULL);
    canvas_right(cv, c->minutes + 7, y, ROLE_DIM, 0, text);
    free(text);
  }
}

/* What stands over the list: the sentence of a damaged lesson, why nothing is saved, or what this
 * is. The caller frees. */
static char *above(const ui *u, enum role *role) {
  const struct course_entry *e = entry(u, u->home.at);
  *role = e->broken ? ROLE_WRONG : ROLE_DIM;
  if (e->broken)
    return sentences_in(e->broken, u->lang == LANG_ZH);
  if (u->notice[0])
    return sentences_in(u->notice, u->lang == LANG_ZH);
  return alloc_str(strings_get(u->lang, "home.motto"));
}

static int draw_above(const ui *u, canvas *cv, int x, int y, int bottom) {
  enum role role;
  int w = canvas_cols(cv) - 2 * x, room = bottom - y;
  if (w > LIST_COLS)
    w = LIST_COLS;
  int most = room > 12 ? 4 : 1;
  if (w < 8 || room < 6)
    return 0;
  char *text = above(u, &role);
  int lines = canvas_wrap(cv, (struct rect){x, y, w, most}, 0, role, 0, text);
  free(text);
  return lines < most ? lines : most;
}

static void scroll(struct home_state *h, int rows) {
  if (h->at < h->top)
    h->top = h->at;
  if (h->at >= h->top + rows)
    h->top = h->at - rows + 1;
  if (h->top > COURSE_LESSONS - rows)
    h->top = COURSE_LESSONS - rows;
  if (h->top < 0)
    h->top = 0;
}

static void draw_list(ui *u, canvas *cv, int y, int bottom) {
  struct columns c;
  columns(canvas_cols(cv), &c);
  int rows = bottom - y;
  bool more = rows < COURSE_LESSONS && rows >= 4;
  if (more)
    rows--;
  if (rows < 1)
    return;
  scroll(&u->home, rows);
  for (int i = 0; i < rows && u->home.top + i < COURSE_LESSONS; i++)
    draw_row(u, cv, u->home.top + i, &c, y + i);
  if (!more)
    return;
  char a[16], b[16], d[16];
  int last = u->home.top + rows;
  char *text = words_fill(u->lang, "home.more", words_int(a, u->home.top + 1), words_int(b, last),
                          words_int(d, COURSE_LESSONS), NULL);
  canvas_fit(cv, c.title, y + rows, canvas_cols(cv) - c.title, ROLE_DIM, 0, text);
  free(text);
}

void home_draw(ui *u, canvas *cv) {
  int rows = canvas_rows(cv);
  char now[96];
  live_headline(u->live, now, sizeof now);
  header_draw(u, cv, NULL, NULL, now);
  int bottom = rows - 1, spare = bottom - 1 - COURSE_LESSONS;
  int y = spare >= 4 ? 2 : 1;
  int used = draw_above(u, cv, 1, y, bottom);
  y += used;
  if (used && bottom - y > 6)
    y++;
  if (bottom - y > COURSE_LESSONS)
    bottom--;
  draw_list(u, cv, y, bottom);
  header_bar(u, cv, home_contexts(u));
}

static int clamp(int i) { return i < 0 ? 0 : i >= COURSE_LESSONS ? COURSE_LESSONS - 1 : i; }

bool home_command(ui *u, enum command cmd) {
  struct home_state *h = &u->home;
  int page = u->rows > 10 ? u->rows - 6 : 4;
  switch (cmd) {
  case CMD_UP:
    h->at = clamp(h->at - 1);
    return true;
  case CMD_DOWN:
    h->at = clamp(h->at + 1);
    return true;
  case CMD_PGUP:
    h->at = clamp(h->at - page);
    return true;
  case CMD_PGDN:
    h->at = clamp(h->at + page);
    return true;
  case CMD_TOP:
    h->at = 0;
    return true;
  case CMD_BOTTOM:
    h->at = COURSE_LESSONS - 1;
    return true;
  case CMD_ENTER:
    if (!entry(u, h->at)->lesson)
      return false;
    lesson_view_open(u, entry(u, h->at)->lesson, NULL);
    return true;
  default:
    return false;
  }
}

unsigned home_contexts(const ui *u) {
  return KEYS_ANY | KEYS_HOME_VIEW | (live_running(u->live) ? KEYS_RUNNING : 0u);
}
