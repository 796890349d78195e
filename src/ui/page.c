#include "ui/page.h"

#include "base/alloc.h"
#include "base/str.h"
#include "base/utf8.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char nbsp[] = "\xC2\xA0";

struct span {
  int x;
  enum role role;
  unsigned mark;
  char *text;
  int ask; /* index into asks, -1 = none */
};
struct line {
  struct span *span;
  int n;
  bool kept; /* free for a picture: not an empty line */
};
struct kept { /* an ask with strings of its own */
  char *text[6];
};
struct page {
  int cols;
  bool ascii;
  struct line *line;
  int nlines;
  struct kept *ask;
  int nasks;
};

page *page_new(int cols) {
  page *p = alloc_zero(1, sizeof *p);
  p->cols = cols < 2 ? 2 : cols;
  return p;
}

void page_free(page *p) {
  if (!p)
    return;
  for (int i = 0; i < p->nlines; i++) {
    for (int j = 0; j < p->line[i].n; j++)
      free(p->line[i].span[j].text);
    free(p->line[i].span);
  }
  for (int i = 0; i < p->nasks; i++)
    for (int j = 0; j < 6; j++)
      free(p->ask[i].text[j]);
  free(p->line);
  free(p->ask);
  free(p);
}

void page_set_ascii(page *p, bool ascii) { p->ascii = ascii; }

int page_cols(const page *p) { return p->cols; }
int page_lines(const page *p) { return p->nlines; }

static struct line *line_at(page *p, int i) {
  if (i >= p->nlines) {
    p->line = alloc_grow(p->line, (size_t)i + 1, sizeof *p->line);
    memset(p->line + p->nlines, 0, (size_t)(i + 1 - p->nlines) * sizeof *p->line);
    p->nlines = i + 1;
  }
  return &p->line[i];
}

/* Takes `text` over. */
static void add_span(page *p, int at, int x, const struct page_run *run, char *text, int ask) {
  struct line *l = line_at(p, at);
  l->span = alloc_grow(l->span, (size_t)l->n + 1, sizeof *l->span);
  l->span[l->n++] = (struct span){x, run->role, run->mark, text, ask};
}

static int keep_ask(page *p, const struct page_ask *a) {
  p->ask = alloc_grow(p->ask, (size_t)p->nasks + 1, sizeof *p->ask);
  const char *s[6] = {a->label, a->formula, a->filled, a->value, a->source, a->holds};
  for (int i = 0; i < 6; i++)
    p->ask[p->nasks].text[i] = alloc_str(s[i]);
  return p->nasks++;
}

/* Spaces of a solid run are non-breaking while the text is wrapped. */
static void add_wrapped(struct str *all, const struct page_run *run) {
  for (const char *c = run->text; *c; c++)
    if (*c == ' ' && run->solid)
      str_add(all, nbsp);
    else
      str_addc(all, *c);
}

static char *unsolid(const char *s, size_t n) {
  struct str out = {0};
  for (size_t i = 0; i < n; i++)
    if (i + 1 < n && memcmp(s + i, nbsp, 2) == 0) {
      str_addc(&out, ' ');
      i++;
    } else {
      str_addc(&out, s[i]);
    }
  return str_take(&out);
}

/* The parts of every run that lie on the line [start, end) of the joined text. */
static void place(page *p, int at, int x, const char *all, size_t start, size_t end,
                  const struct page_run *runs, const size_t *ends, int *asks, int n) {
  size_t from = 0;
  for (int i = 0; i < n; from = ends[i], i++) {
    size_t a = from > start ? from : start, b = ends[i] < end ? ends[i] : end;
    if (a >= b)
      continue;
    char *text = unsolid(all + a, b - a);
    int width = utf8_width(text);
    add_span(p, at, x, &runs[i], text, asks[i]);
    x += width;
    asks[i] = -1; /* a number broken over two lines is asked about once */
  }
}

/* Wraps the runs into [x, x + w) from line `at` on; the number of lines. */
static int put_runs(page *p, int at, int x, int w, bool right, const struct page_run *runs, int n) {
  struct str all = {0};
  size_t *ends = alloc_zero((size_t)n, sizeof *ends);
  int *asks = alloc_zero((size_t)n, sizeof *asks);
  for (int i = 0; i < n; i++) {
    add_wrapped(&all, &runs[i]);
    ends[i] = all.len;
    asks[i] = runs[i].ask ? keep_ask(p, runs[i].ask) : -1;
  }
  char *text = str_take(&all);
  struct utf8_line *lines;
  size_t count = utf8_wrap(text, w < 2 ? 2 : w, &lines);
  for (size_t i = 0; i < count; i++) {
    int shift = right && lines[i].width < w ? w - lines[i].width : 0;
    line_at(p, at + (int)i);
    place(p, at + (int)i, x + shift, text, lines[i].start, lines[i].start + lines[i].len, runs,
          ends, asks, n);
  }
  free(lines);
  free(text);
  free(ends);
  free(asks);
  return (int)count;
}

/* The same in ASCII where the page wants it: words then, not cells, so that 2·n³ is 2*n^3. */
static int put(page *p, int at, int x, int w, bool right, const struct page_run *runs, int n) {
  if (!p->ascii)
    return put_runs(p, at, x, w, right, runs, n);
  struct page_run *plain_runs = alloc_zero((size_t)n, sizeof *plain_runs);
  char **text = alloc_zero((size_t)n, sizeof *text);
  for (int i = 0; i < n; i++) {
    plain_runs[i] = runs[i];
    plain_runs[i].text = text[i] = utf8_ascii(runs[i].text);
  }
  int lines = put_runs(p, at, x, w, right, plain_runs, n);
  for (int i = 0; i < n; i++)
    free(text[i]);
  free(text);
  free(plain_runs);
  return lines;
}

void page_gap(page *p) {
  if (p->nlines > 0 && (p->line[p->nlines - 1].n > 0 || p->line[p->nlines - 1].kept))
    line_at(p, p->nlines);
}

void page_put(page *p, int indent, const char *marker, enum role marker_role,
              const struct page_run *runs, int n) {
  int at = p->nlines;
  if (indent > p->cols - 2)
    indent = p->cols - 2;
  line_at(p, at);
  if (marker && *marker) {
    int x = indent - utf8_width(marker) - 1;
    struct page_run m = {.role = marker_role};
    add_span(p, at, x < 0 ? 0 : x, &m, alloc_str(marker), -1);
  }
  put(p, at, indent, p->cols - indent, false, runs, n);
}

void page_say(page *p, int indent, enum role role, unsigned mark, const char *text) {
  struct page_run run = {.role = role, .mark = mark, .text = text};
  page_put(p, indent, NULL, role, &run, 1);
}

/* Where to break a line of code that is too wide: behind the last space or comma that fits. */
static size_t code_break(const char *s, int cols) {
  size_t fit = utf8_clip(s, cols, NULL);
  if (s[fit] == 0)
    return fit;
  for (size_t i = fit; i > fit / 2; i--)
    if (s[i - 1] == ' ' || s[i - 1] == ',')
      return i;
  return fit ? fit : utf8_grapheme(s, NULL);
}

void page_code(page *p, int gutter, const char *sign, enum role role, unsigned mark,
               const char *text) {
  size_t lead = strspn(text, " ");
  int at = p->nlines, x = gutter, cols = p->cols - gutter;
  struct page_run run = {.role = role, .mark = mark};
  line_at(p, at);
  if (sign && *sign)
    add_span(p, at, 0, &run, alloc_str(sign), -1);
  while (*text) {
    size_t n = code_break(text, cols < 2 ? 2 : cols);
    if (n == 0)
      break;
    line_at(p, at);
    add_span(p, at++, x, &run, alloc_strn(text, n), -1);
    text += n;
    x = gutter + (int)lead + 4;
    if (x > p->cols / 2)
      x = p->cols / 2;
    cols = p->cols - x;
  }
}

static int line_width(const struct line *l) {
  int w = 0;
  for (int i = 0; i < l->n; i++) {
    int end = l->span[i].x + utf8_width(l->span[i].text);
    w = end > w ? end : w;
  }
  return w;
}

bool page_aside(page *p, enum role role, const char *text) {
  int w = utf8_width(text), at = p->nlines - 1;
  if (at < 0 || line_width(&p->line[at]) + 2 + w > p->cols)
    return false;
  struct page_run run = {.role = role};
  add_span(p, at, p->cols - w, &run, alloc_str(text), -1);
  return true;
}

void page_row(page *p, const struct page_cell *cells, int n) {
  int at = p->nlines;
  line_at(p, at);
  for (int i = 0; i < n; i++)
    if (cells[i].nruns > 0)
      put(p, at, cells[i].x, cells[i].w, cells[i].right, cells[i].runs, cells[i].nruns);
}

int page_space(page *p, int rows) {
  int at = p->nlines;
  if (rows > 0)
    line_at(p, at + rows - 1)->kept = true;
  return at;
}

static void draw_ask(const page *p, canvas *cv, struct rect r, const struct span *s, int y) {
  int x = r.x + s->x, w = utf8_width(s->text);
  if (x + w > r.x + r.w)
    w = r.x + r.w - x;
  char *const *t = p->ask[s->ask].text;
  if (w > 0)
    canvas_ask(cv, (struct rect){x, y, w, 1}, t[0], t[1], t[2], t[3], t[4], t[5]);
}

/* The line as one text, with each span at its column. */
static char *plain(const struct line *l) {
  struct str s = {0};
  int x = 0;
  for (int i = 0; i < l->n; i++) {
    for (; x < l->span[i].x; x++)
      str_addc(&s, ' ');
    str_add(&s, l->span[i].text);
    x += utf8_width(l->span[i].text);
  }
  return str_take(&s);
}

static void draw_hits(const struct line *l, canvas *cv, int x, int y, const char *needle) {
  char *text = plain(l);
  size_t n = strlen(needle);
  for (const char *at = text; (at = strcasestr(at, needle)) != NULL; at += n) {
    int col = utf8_width_n(text, (size_t)(at - text));
    int w = utf8_width_n(at, n);
    canvas_paint(cv, (struct rect){x + col, y, w, 1}, ROLE_NOW, MARK_REVERSE);
  }
  free(text);
}

void page_draw(const page *p, canvas *cv, struct rect r, int skip, const char *needle) {
  assert(skip >= 0);
  if (r.w < 1 || r.h < 1)
    return;
  struct rect old = canvas_clip(cv, r);
  for (int i = 0; i < r.h && skip + i < p->nlines; i++) {
    const struct line *l = &p->line[skip + i];
    for (int j = 0; j < l->n; j++) {
      const struct span *s = &l->span[j];
      canvas_text(cv, r.x + s->x, r.y + i, s->role, s->mark, s->text);
      if (s->ask >= 0)
        draw_ask(p, cv, r, s, r.y + i);
    }
    if (needle && *needle)
      draw_hits(l, cv, r.x, r.y + i, needle);
  }
  canvas_clip(cv, old);
}

int page_find(const page *p, int from, const char *needle) {
  if (!needle || !*needle)
    return -1;
  for (int i = from < 0 ? 0 : from; i < p->nlines; i++) {
    char *text = plain(&p->line[i]);
    bool hit = strcasestr(text, needle) != NULL;
    free(text);
    if (hit)
      return i;
  }
  return -1;
}
