/* A page of text: styled runs wrapped to a width, with numbers that can be asked about, marked
 * lines and hits of a search. Built once a frame, then drawn from any line on. */
#ifndef MM_UI_PAGE_H
#define MM_UI_PAGE_H

#include "ui/canvas.h"

/* What `=` says of a number; any member may be NULL. */
struct page_ask {
  const char *label, *formula, *filled, *value, *source, *holds;
};

struct page_run {
  enum role role;
  unsigned mark;
  const char *text;
  bool solid;                 /* never broken at its spaces */
  const struct page_ask *ask; /* NULL: plain words */
};

typedef struct page page;

/* An empty page of cols columns (at least 2). The caller frees. Cannot fail. */
page *page_new(int cols);
void page_free(page *p);

/* Text put from now on is in ASCII words (2*n^3), before it is wrapped. */
void page_set_ascii(page *p, bool ascii);
int page_cols(const page *p);
int page_lines(const page *p);

/* One empty line, unless the page is empty or already ends with one. */
void page_gap(page *p);

/* A paragraph, wrapped, behind `indent` columns; `marker` (may be NULL) stands in them. */
void page_put(page *p, int indent, const char *marker, enum role marker_role,
              const struct page_run *runs, int n);

/* The same for one run of plain words. */
void page_say(page *p, int indent, enum role role, unsigned mark, const char *text);

/* One line of code; where it is too wide it goes on below, further in. `gutter` columns are left
 * free, `sign` (may be NULL) stands in them. */
void page_code(page *p, int gutter, const char *sign, enum role role, unsigned mark,
               const char *text);

/* Words at the right edge of the last line, two columns behind what is there; false if they do not
 * fit. */
bool page_aside(page *p, enum role role, const char *text);

/* A row of a table: cells side by side at the given columns, each wrapped in its own width. */
struct page_cell {
  int x, w;
  bool right; /* set flush right where it is one line */
  const struct page_run *runs;
  int nruns;
};
void page_row(page *p, const struct page_cell *cells, int n);

/* Leaves `rows` lines free for a picture; returns the first of them. */
int page_space(page *p, int rows);

/* Draws the lines from `skip` on into r and registers the asks of the visible ones. Hits of
 * `needle` (NULL: none; letters A-Z in any case) are reversed. */
void page_draw(const page *p, canvas *cv, struct rect r, int skip, const char *needle);

/* The first line at or behind `from` that has the needle, -1 if none. */
int page_find(const page *p, int from, const char *needle);

#endif
