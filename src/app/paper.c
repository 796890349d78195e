#include "app/paper.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include <stdlib.h>
#include <string.h>

static void pad(struct paper *p, int n) {
  while (n-- > 0)
    str_addc(&p->out, ' ');
}

void paper_text(struct paper *p, int indent, const char *marker, const char *text) {
  struct utf8_line *lines;
  int lead = indent + utf8_width(marker);
  int cols = p->width - lead < 20 ? 20 : p->width - lead;
  size_t n = utf8_wrap(text, cols, &lines);
  for (size_t i = 0; i < n; i++) {
    if (lines[i].len || i == 0) {
      pad(p, i == 0 ? indent : lead);
      if (i == 0)
        str_add(&p->out, marker);
    }
    str_addn(&p->out, text + lines[i].start, lines[i].len);
    str_addc(&p->out, '\n');
  }
  free(lines);
}

void paper_lines(struct paper *p, int indent, const char *text) {
  int cols = p->width - indent < 20 ? 20 : p->width - indent;
  while (*text) {
    size_t n = strcspn(text, "\n");
    char *line = alloc_strn(text, n);
    const char *rest = line;
    do {
      size_t fit = utf8_clip(rest, cols, NULL);
      if (*rest)
        pad(p, indent);
      str_addn(&p->out, rest, fit);
      str_addc(&p->out, '\n');
      rest += fit;
    } while (*rest);
    free(line);
    text += n + (text[n] == '\n');
  }
}

void paper_title(struct paper *p, const char *text, char c) {
  int width = utf8_width(text);
  paper_text(p, 0, "", text);
  for (int i = 0; i < width && i < p->width; i++)
    str_addc(&p->out, c);
  str_addc(&p->out, '\n');
}

void paper_gap(struct paper *p) {
  size_t n = p->out.len;
  if (n && !(n > 1 && p->out.data[n - 1] == '\n' && p->out.data[n - 2] == '\n'))
    str_addc(&p->out, '\n');
}

/* ---- blocks */

static void add_run(struct str *s, const struct prose_run *run) {
  bool code = run->style == PROSE_INLINE_CODE;
  str_add(s, code ? "`" : "");
  str_add(s, run->text);
  str_add(s, code ? "`" : "");
}

static char *runs_text(const struct prose_block *b) {
  struct str s = {0};
  for (int i = 0; i < b->nruns; i++)
    add_run(&s, &b->runs[i]);
  return str_take(&s);
}

static void put_formula(struct paper *p, const char *text) {
  int widest = 0;
  for (const char *line = text; *line;
       line += line[strcspn(line, "\n")] ? strcspn(line, "\n") + 1 : strcspn(line, "\n")) {
    int w = utf8_width_n(line, strcspn(line, "\n"));
    widest = w > widest ? w : widest;
  }
  int indent = (p->width - widest) / 2;
  paper_lines(p, indent > 4 ? indent : 4, text);
}

/* ---- tables */

enum { COLUMNS = 12 };

struct table {
  const struct prose_block *rows;
  int n, columns, width[COLUMNS];
};

/* The text of a cell of a row; "" where the row has fewer. */
static char *cell(const struct prose_block *row, int column) {
  struct str s = {0};
  for (int i = 0; i < row->nruns && column >= 0; i++) {
    if (row->runs[i].style == PROSE_CELL_END)
      column--;
    else if (column == 0)
      add_run(&s, &row->runs[i]);
  }
  return str_take(&s);
}

static void measure(struct table *t) {
  for (int r = 0; r < t->n; r++) {
    int columns = 1;
    for (int i = 0; i < t->rows[r].nruns; i++)
      columns += t->rows[r].runs[i].style == PROSE_CELL_END;
    t->columns = columns > t->columns ? columns : t->columns;
  }
  if (t->columns > COLUMNS)
    t->columns = COLUMNS;
  for (int r = 0; r < t->n; r++)
    for (int c = 0; c < t->columns; c++) {
      char *text = cell(&t->rows[r], c);
      int w = utf8_width(text);
      t->width[c] = w > t->width[c] ? w : t->width[c];
      free(text);
    }
}

static void put_grid(struct paper *p, const struct table *t) {
  for (int r = 0; r < t->n; r++) {
    pad(p, 2);
    for (int c = 0; c < t->columns; c++) {
      char *text = cell(&t->rows[r], c);
      str_add(&p->out, text);
      if (c + 1 < t->columns)
        pad(p, t->width[c] - utf8_width(text) + 2);
      free(text);
    }
    str_addc(&p->out, '\n');
    for (int c = 0; c < t->columns && r == 0; c++) {
      pad(p, 2);
      for (int i = 0; i < t->width[c]; i++)
        str_addc(&p->out, '-');
    }
    if (r == 0)
      str_addc(&p->out, '\n');
  }
}

/* A table that is too wide for the lines: a row is a list of "head: cell". */
static void put_records(struct paper *p, const struct table *t) {
  for (int r = 1; r < t->n; r++) {
    struct str s = {0};
    for (int c = 0; c < t->columns; c++) {
      char *head = cell(&t->rows[0], c), *text = cell(&t->rows[r], c);
      str_addf(&s, "%s%s%s%s", c ? "; " : "", head, *head ? ": " : "", text);
      free(head);
      free(text);
    }
    paper_text(p, 2, "- ", s.data ? s.data : "");
    str_free(&s);
  }
}

static int put_table(struct paper *p, const struct prose_block *rows, int left) {
  struct table t = {.rows = rows, .n = 1};
  while (t.n < left && rows[t.n].kind == PROSE_TABLE_ROW && rows[t.n].level > 0)
    t.n++;
  measure(&t);
  int width = 2 * t.columns;
  for (int c = 0; c < t.columns; c++)
    width += t.width[c];
  if (width <= p->width)
    put_grid(p, &t);
  else
    put_records(p, &t);
  return t.n;
}

static void put_block(struct paper *p, const struct prose_block *b) {
  char *text = runs_text(b), *marker;
  int nest = b->level > 0 ? 2 * b->level : 0;
  switch (b->kind) {
  case PROSE_CODE:
    paper_lines(p, 4, text);
    break;
  case PROSE_FORMULA:
    put_formula(p, text);
    break;
  case PROSE_BULLET:
    marker = alloc_printf("%s ", b->marker);
    paper_text(p, nest > 1 ? nest - 2 : 0, marker, text);
    free(marker);
    break;
  case PROSE_QUOTE:
    paper_text(p, 0, "> ", text);
    break;
  case PROSE_HEADING:
    paper_title(p, text, '.');
    break;
  default:
    paper_text(p, nest, "", text);
  }
  free(text);
}

void paper_prose(struct paper *p, const struct prose *prose) {
  for (int i = 0; i < prose->nblocks;) {
    const struct prose_block *b = &prose->blocks[i];
    bool list = i > 0 && b->kind == PROSE_BULLET && b[-1].kind == PROSE_BULLET;
    if (!list)
      paper_gap(p);
    if (b->kind == PROSE_TABLE_ROW) {
      i += put_table(p, b, prose->nblocks - i);
      continue;
    }
    put_block(p, b);
    i++;
  }
}

void paper_print(struct paper *p, FILE *f) {
  char *ascii = p->ascii && p->out.data ? utf8_ascii(p->out.data) : NULL;
  const char *text = ascii ? ascii : p->out.data;
  if (text)
    fputs(text, f);
  free(ascii);
  str_clear(&p->out);
}
