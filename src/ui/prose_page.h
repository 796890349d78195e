/* Prose as lines of a page: paragraphs, lists, code, formulas, tables. */
#ifndef MM_UI_PROSE_PAGE_H
#define MM_UI_PROSE_PAGE_H

#include "lesson/prose.h"
#include "ui/numbers.h"
#include "ui/page.h"

struct prose_page {
  const ui *u;
  const char *label; /* what `=` calls the numbers: the step's title */
  int indent;
  const char *marker; /* before the first paragraph; NULL = none */
  enum role marker_role;
  enum role role;   /* of plain words */
  char *const *lit; /* words in code style that are lit: names of marked lines */
  int nlit;
};

/* Adds the blocks of a text to the page. Cannot fail. */
void prose_page_put(page *p, const struct prose *text, const struct prose_page *how);

#endif
