#include "ui/prose_page.h"

#include "base/alloc.h"
#include "base/str.h"
#include "base/utf8.h"
#include <stdlib.h>
#include <string.h>

enum { CELLS = 12, CELL_GAP = 2, CODE_INDENT = 2 };

static bool is_lit(const struct prose_page *how, const char *word) {
  for (int i = 0; i < how->nlit; i++)
    if (strcmp(how->lit[i], word) == 0)
      return true;
  return false;
}

static enum role run_role(const struct prose_run *r, const struct prose_page *how, enum role plain,
                          unsigned *mark) {
  *mark = 0;
  switch (r->style) {
  case PROSE_STRONG:
    *mark = MARK_BOLD;
    return plain;
  case PROSE_EMPH:
    *mark = MARK_UNDERLINE;
    return plain;
  case PROSE_INLINE_CODE:
    return is_lit(how, r->text) ? ROLE_NOW : ROLE_CODE;
  case PROSE_NUMBER:
    return plain == ROLE_DIM ? ROLE_DIM : ROLE_NUMBER;
  case PROSE_RECORDED:
    return ROLE_RECORDED;
  case PROSE_PLAIN:
  case PROSE_CELL_END:
    break;
  }
  return plain;
}

/* Runs of a page made from runs of prose; `owned` are their sentences. */
struct runs {
  struct page_run *run;
  struct page_ask *ask;
  char **owned;
  int n;
};

static struct runs runs_new(int cap) {
  struct runs r = {0};
  r.run = alloc_zero((size_t)cap + 1, sizeof *r.run);
  r.ask = alloc_zero((size_t)cap + 1, sizeof *r.ask);
  r.owned = alloc_zero((size_t)cap + 1, sizeof *r.owned);
  return r;
}

static void runs_clear(struct runs *r) {
  for (int i = 0; i < r->n; i++)
    free(r->owned[i]);
  memset(r->owned, 0, (size_t)r->n * sizeof *r->owned);
  r->n = 0;
}

static void runs_free(struct runs *r) {
  runs_clear(r);
  free(r->run);
  free(r->ask);
  free(r->owned);
}

static void runs_add(struct runs *to, const struct prose_run *r, const struct prose_page *how,
                     enum role plain) {
  struct page_run *out = &to->run[to->n];
  unsigned mark;
  *out = (struct page_run){.role = run_role(r, how, plain, &mark), .text = r->text};
  out->mark = mark;
  if (r->formula) {
    char *source = numbers_origin(how->u, r->formula, r->style == PROSE_RECORDED);
    to->owned[to->n] = source;
    to->ask[to->n] = (struct page_ask){how->label, r->formula, r->filled, r->text, source, ""};
    out->ask = &to->ask[to->n];
    out->solid = true;
  }
  to->n++;
}

static void put_paragraph(page *p, const struct prose_block *b, const struct prose_page *how,
                          int indent, const char *marker, enum role marker_role, enum role plain) {
  struct runs r = runs_new(b->nruns);
  for (int i = 0; i < b->nruns; i++)
    runs_add(&r, &b->runs[i], how, plain);
  page_put(p, indent, marker, marker_role, r.run, r.n);
  runs_free(&r);
}

static void put_code(page *p, const struct prose_block *b, int indent) {
  for (int i = 0; i < b->nruns; i++) {
    const char *s = b->runs[i].text;
    while (*s) {
      size_t n = strcspn(s, "\n");
      char *one = alloc_strn(s, n);
      page_code(p, indent + CODE_INDENT, NULL, ROLE_CODE, 0, one);
      free(one);
      s += n + (s[n] == '\n');
    }
  }
}

static void put_formula_line(page *p, struct runs *r, int indent) {
  if (r->n > 0)
    page_put(p, indent, NULL, ROLE_TEXT, r->run, r->n);
  runs_clear(r);
}

/* Columns of the widest line. */
static int formula_width(const struct prose_block *b) {
  int w = 0, widest = 0;
  for (int i = 0; i < b->nruns; i++)
    for (const char *s = b->runs[i].text;; s++) {
      size_t n = strcspn(s, "\n");
      w += utf8_width_n(s, n);
      widest = w > widest ? w : widest;
      s += n;
      if (!*s)
        break;
      w = 0;
    }
  return widest;
}

/* Plain words of a formula, with the line ended at each '\n'. */
static void add_formula_words(page *p, struct runs *r, const struct prose_run *run,
                              const struct prose_page *how, int indent) {
  for (const char *s = run->text;; s++) {
    size_t n = strcspn(s, "\n");
    if (n > 0) {
      struct prose_run piece = *run;
      piece.text = alloc_strn(s, n);
      runs_add(r, &piece, how, ROLE_TITLE);
      r->owned[r->n - 1] = piece.text;
    }
    s += n;
    if (!*s)
      return;
    put_formula_line(p, r, indent);
  }
}

static void put_formula(page *p, const struct prose_block *b, const struct prose_page *how) {
  struct runs r = runs_new(b->nruns);
  int room = page_cols(p) - how->indent, w = formula_width(b);
  int indent = how->indent + (w < room ? (room - w) / 2 : 0); /* lines keep their columns */
  for (int i = 0; i < b->nruns; i++) {
    if (b->runs[i].formula) /* a number has no line break */
      runs_add(&r, &b->runs[i], how, ROLE_TITLE);
    else
      add_formula_words(p, &r, &b->runs[i], how, indent);
  }
  put_formula_line(p, &r, indent);
  runs_free(&r);
}

/* ---- tables */

struct cell_runs {
  int first, n, width;
};

static int split_cells(const struct prose_block *row, struct cell_runs cells[CELLS]) {
  int n = 0, first = 0, width = 0;
  for (int i = 0; i <= row->nruns && n < CELLS; i++) {
    bool end = i == row->nruns || row->runs[i].style == PROSE_CELL_END;
    if (!end) {
      width += utf8_width(row->runs[i].text);
      continue;
    }
    if (i > first || i < row->nruns)
      cells[n++] = (struct cell_runs){first, i - first, width};
    first = i + 1;
    width = 0;
  }
  return n;
}

static bool is_number(const struct prose_block *row, const struct cell_runs *c) {
  if (c->n != 1)
    return false;
  const struct prose_run *r = &row->runs[c->first];
  return r->formula != NULL || (*r->text >= '0' && *r->text <= '9');
}

struct table {
  int cols, w[CELLS];
  bool right[CELLS];
};

static void measure(const struct prose_block *rows, int n, int room, struct table *t) {
  struct cell_runs cells[CELLS];
  memset(t, 0, sizeof *t);
  for (int c = 0; c < CELLS; c++)
    t->right[c] = n > 1;
  for (int i = 0; i < n; i++) {
    int k = split_cells(&rows[i], cells);
    t->cols = k > t->cols ? k : t->cols;
    for (int c = 0; c < k; c++) {
      t->w[c] = cells[c].width > t->w[c] ? cells[c].width : t->w[c];
      if (i > 0 && !is_number(&rows[i], &cells[c]))
        t->right[c] = false;
    }
  }
  int total = (t->cols - 1) * CELL_GAP;
  for (int c = 0; c < t->cols; c++)
    total += t->w[c];
  while (total > room) { /* the widest column gives way until the table fits */
    int widest = 0;
    for (int c = 1; c < t->cols; c++)
      if (t->w[c] > t->w[widest])
        widest = c;
    if (t->w[widest] <= 4)
      break;
    t->w[widest]--;
    total--;
  }
}

static void put_row(page *p, const struct prose_block *row, const struct table *t, bool head,
                    const struct prose_page *how) {
  struct cell_runs cells[CELLS];
  struct page_cell out[CELLS];
  int n = split_cells(row, cells), x = how->indent;
  struct runs r = runs_new(row->nruns);
  for (int c = 0; c < n; c++) {
    int first = r.n;
    for (int i = 0; i < cells[c].n; i++)
      runs_add(&r, &row->runs[cells[c].first + i], how, head ? ROLE_DIM : how->role);
    out[c] = (struct page_cell){x, t->w[c], t->right[c], r.run + first, r.n - first};
    x += t->w[c] + CELL_GAP;
  }
  page_row(p, out, n);
  runs_free(&r);
}

static int put_table(page *p, const struct prose *text, int i, const struct prose_page *how) {
  int n = 0;
  while (i + n < text->nblocks && text->blocks[i + n].kind == PROSE_TABLE_ROW)
    n++;
  struct table t;
  measure(text->blocks + i, n, page_cols(p) - how->indent, &t);
  for (int k = 0; k < n; k++)
    put_row(p, &text->blocks[i + k], &t, k == 0, how);
  return n;
}

static void put_block(page *p, const struct prose_block *b, const struct prose_page *how,
                      const char *marker) {
  int indent = how->indent;
  switch (b->kind) {
  case PROSE_HEADING:
    put_paragraph(p, b, how, indent, NULL, ROLE_TITLE, ROLE_TITLE);
    break;
  case PROSE_BULLET: {
    const char *sign = strcmp(b->marker, "-") == 0 ? "·" : b->marker;
    int depth = b->level > 1 ? b->level - 1 : 0;
    put_paragraph(p, b, how, indent + 3 + 2 * depth, sign, ROLE_DIM, how->role);
    break;
  }
  case PROSE_CODE:
    put_code(p, b, indent);
    break;
  case PROSE_FORMULA:
    put_formula(p, b, how);
    break;
  case PROSE_QUOTE:
    put_paragraph(p, b, how, indent + 2, "│", ROLE_DIM, how->role);
    break;
  case PROSE_PARAGRAPH:
  case PROSE_TABLE_ROW:
    put_paragraph(p, b, how, indent, marker, how->marker_role, how->role);
    break;
  }
}

void prose_page_put(page *p, const struct prose *text, const struct prose_page *how) {
  for (int i = 0; i < text->nblocks; i++) {
    const struct prose_block *b = &text->blocks[i];
    bool list = i > 0 && b->kind == PROSE_BULLET && text->blocks[i - 1].kind == PROSE_BULLET;
    if (i > 0 && !list)
      page_gap(p);
    if (b->kind == PROSE_TABLE_ROW)
      i += put_table(p, text, i, how) - 1;
    else
      put_block(p, b, how, i == 0 ? how->marker : NULL);
  }
}
