#include "ui/views/lesson_text.h"

#include "base/alloc.h"
#include "ui/numbers.h"
#include "ui/prose_page.h"
#include "ui/ui_internal.h"
#include "ui/views/figure.h"
#include "ui/views/lesson_item.h"
#include "ui/words.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CODE_GUTTER = 2 };

static const struct step *step_of(const ui *u) { return &u->lesson.lesson->steps[u->lesson.step]; }

static void put(ui *u, page *p, const char *markdown, struct numbers *n,
                const struct prose_page *how) {
  struct prose_source source = numbers_source(n);
  struct prose *text = prose_render(markdown, &source);
  prose_page_put(p, text, how);
  prose_free(text);
  (void)u;
}

static const char *label_of(const ui *u) {
  const char *title = step_of(u)->title.in[u->lang];
  return title && *title ? title : u->lesson.lesson->title.in[u->lang];
}

void lesson_text_put(ui *u, page *p, int indent, const char *markdown,
                     const struct expr_vars *draw) {
  const struct step *s = step_of(u);
  struct numbers n = {u, s, draw};
  struct prose_page how = {.u = u,
                           .label = label_of(u),
                           .indent = indent,
                           .role = ROLE_TEXT,
                           .lit = s->marks,
                           .nlit = s->nmarks};
  put(u, p, markdown, &n, &how);
}

void lesson_text_option(ui *u, page *p, int indent, const char *marker, enum role marker_role,
                        enum role role, const char *markdown) {
  struct numbers n = {u, step_of(u), &u->lesson.item.draw.vars};
  struct prose_page how = {.u = u,
                           .label = label_of(u),
                           .indent = indent,
                           .marker = marker,
                           .marker_role = marker_role,
                           .role = role};
  put(u, p, markdown, &n, &how);
}

/* ---- code */

/* The name by which the step marks that line, NULL if it does not. */
static const char *mark_of(const struct step *s, const struct kernel_mark *marks, int nmarks,
                           int line) {
  for (int i = 0; i < nmarks; i++)
    for (int j = 0; marks[i].line == line && j < s->nmarks; j++)
      if (strcmp(marks[i].name, s->marks[j]) == 0)
        return s->marks[j];
  return NULL;
}

/* Adds the source of the step's kernel; *first and *last get the page lines of the first and last
 * mark. */
static void put_code(const ui *u, page *p, int *first, int *last) {
  const struct step *s = step_of(u);
  const struct kernel *k = s->kernel ? catalog_find(u->catalog, s->kernel) : NULL;
  if (!k) {
    page_say(p, 0, ROLE_WRONG, 0, strings_get(u->lang, "lesson.no_kernel"));
    return;
  }
  struct kernel_mark *marks = NULL;
  int nmarks = 0, line = 1;
  char *source = kernel_shown(k, &marks, &nmarks);
  for (const char *c = source; *c; line++) {
    size_t n = strcspn(c, "\n");
    char *text = alloc_strn(c, n);
    const char *mark = mark_of(s, marks, nmarks, line);
    if (mark) {
      *first = *first < 0 ? page_lines(p) : *first;
      *last = page_lines(p);
    }
    page_code(p, CODE_GUTTER, mark ? "▸" : NULL, mark ? ROLE_NOW : ROLE_CODE, 0, text);
    if (mark)
      page_aside(p, ROLE_DIM, mark);
    free(text);
    c += n + (c[n] == '\n');
  }
  for (int i = 0; i < nmarks; i++)
    free(marks[i].name);
  free(marks);
  free(source);
}

static int clamp_scroll(int at, int lines, int rows) {
  if (at > lines - rows)
    at = lines - rows;
  return at < 0 ? 0 : at;
}

/* What is below the last visible line, said in the last row. */
static void draw_more(const ui *u, canvas *cv, struct rect r, int below) {
  char n[16];
  char *text = words_fill(u->lang, "lesson.more", words_int(n, below), NULL);
  canvas_fit(cv, r.x, r.y + r.h - 1, r.w, ROLE_DIM, 0, text);
  free(text);
}

/* Draws a page that may be longer than its rectangle; the visible rows. */
static int draw_page(const ui *u, canvas *cv, struct rect r, const page *p, int *scroll,
                     const char *needle) {
  int lines = page_lines(p), rows = r.h;
  *scroll = clamp_scroll(*scroll, lines, rows);
  bool more = *scroll + rows < lines && rows >= 3;
  if (more)
    rows--;
  page_draw(p, cv, (struct rect){r.x, r.y, r.w, rows}, *scroll, needle);
  if (more)
    draw_more(u, cv, r, lines - *scroll - rows);
  return rows;
}

void lesson_text_code(ui *u, canvas *cv, struct rect body) {
  struct lesson_state *l = &u->lesson;
  int first = -1, last = -1;
  if (body.w < 2 || body.h < 1)
    return;
  page *p = page_new(body.w);
  page_set_ascii(p, u->ascii);
  put_code(u, p, &first, &last);
  if (l->code_scroll < 0) { /* not scrolled yet: the marked lines are in sight */
    int rows = body.h;
    l->code_scroll = last < rows - 2 ? 0 : first > 2 ? first - 2 : 0;
  }
  l->code_lines = page_lines(p);
  l->code_rows = draw_page(u, cv, body, p, &l->code_scroll, NULL);
  page_free(p);
}

/* ---- what a run has shown */

/* Why the effect does not show in what was measured here, where it does not. */
static void put_note(ui *u, page *p) {
  const char *id = live_note(u->live), *title, *prose;
  if (!id || !lesson_section(u->lesson.lesson, id, u->lang, &title, &prose))
    return;
  page_gap(p);
  page_say(p, 0, ROLE_NOW, 0, title);
  page_gap(p);
  lesson_text_put(u, p, 0, prose, NULL);
}

static void put_experiment(ui *u, page *p, const struct step *s, bool alone) {
  const struct experiment *e =
      s->experiment ? lesson_experiment(u->lesson.lesson, s->experiment) : NULL;
  if (!e)
    return;
  if (page_lines(p) == 0 && e->ask.in[u->lang])
    page_say(p, 0, ROLE_TEXT, 0, e->ask.in[u->lang]);
  put_note(u, p);
  if (!alone)
    return;
  page_gap(p);
  page_say(p, 0, ROLE_DIM, 0,
           strings_get(u->lang, s->kind == STEP_RUN ? "lesson.to_run" : "lesson.to_predict"));
}

/* ---- the pane */

struct places { /* lines of the page that are drawn by others */
  int field, figure, figure_rows;
};

static page *build(ui *u, struct rect body, bool alone, struct places *at) {
  const struct step *s = step_of(u);
  page *p = page_new(body.w);
  page_set_ascii(p, u->ascii);
  *at = (struct places){-1, -1, 0};
  if (alone && s->kind == STEP_FIGURE) {
    at->figure_rows = figure_rows(s, body.w, body.h);
    at->figure = page_space(p, at->figure_rows);
    page_gap(p);
  }
  if (s->prose[u->lang] && *s->prose[u->lang])
    lesson_text_put(u, p, 0, s->prose[u->lang], NULL);
  if (s->kind == STEP_ITEM)
    at->field = lesson_item_page(u, p);
  if (s->kind == STEP_PREDICT || s->kind == STEP_RUN)
    put_experiment(u, p, s, u->cols < LESSON_LAYOUT_TWO);
  if (alone && s->kind == STEP_CODE) {
    int first = -1, last = -1;
    page_gap(p);
    put_code(u, p, &first, &last);
  }
  return p;
}

/* Looks for the needle where a search was asked for, and brings the hit into sight. */
static void find(struct lesson_state *l, const page *p, int rows) {
  if (l->find < 0)
    return;
  l->hit = page_find(p, l->find, l->needle);
  if (l->hit < 0)
    l->hit = page_find(p, 0, l->needle);
  l->find = -1;
  if (l->hit >= 0 && (l->hit < l->scroll || l->hit >= l->scroll + rows - 1))
    l->scroll = l->hit - rows / 3 < 0 ? 0 : l->hit - rows / 3;
}

void lesson_text_draw(ui *u, canvas *cv, struct rect body, bool alone) {
  struct lesson_state *l = &u->lesson;
  struct places at;
  if (body.w < 2 || body.h < 1)
    return;
  page *p = build(u, body, alone, &at);
  l->lines = page_lines(p);
  if (l->follow)
    l->scroll = l->lines;
  l->follow = false;
  find(l, p, body.h);
  const char *needle = l->searching ? l->search.text : l->needle;
  l->rows = draw_page(u, cv, body, p, &l->scroll, needle);
  struct rect seen = {body.x, body.y, body.w, l->rows};
  struct rect old = canvas_clip(cv, seen);
  if (at.figure >= 0 && at.figure - l->scroll + at.figure_rows > 0)
    figure_draw(u, cv,
                (struct rect){body.x, body.y + at.figure - l->scroll, body.w, at.figure_rows},
                step_of(u));
  int field = at.field - l->scroll;
  if (at.field >= 0 && field >= 0 && field < l->rows)
    lesson_item_field(u, cv, (struct rect){body.x, body.y + field, body.w, 1});
  canvas_clip(cv, old);
  page_free(p);
}
