/* Markdown prose (md4c) as blocks of styled runs, with {{expr | unit [digits]}} evaluated. */
#ifndef MM_LESSON_PROSE_H
#define MM_LESSON_PROSE_H

#include "base/err.h"
#include "base/expr.h"

enum prose_block_kind {
  PROSE_PARAGRAPH,
  PROSE_HEADING,
  PROSE_BULLET,  /* one item of a list; marker in `marker` ("-" or "1.") */
  PROSE_CODE,    /* one block, lines separated by '\n' in a single run */
  PROSE_FORMULA, /* a block fenced as ```math: centred, one line of text a line */
  PROSE_QUOTE,
  PROSE_TABLE_ROW /* cells separated by '\t' runs; the first row is the head */
};

enum prose_style {
  PROSE_PLAIN,
  PROSE_STRONG,
  PROSE_EMPH,
  PROSE_INLINE_CODE,
  PROSE_NUMBER,
  PROSE_RECORDED /* a value of the recorded card */,
  PROSE_CELL_END
};

struct prose_run {
  enum prose_style style;
  char *text;    /* clean UTF-8 */
  char *formula; /* NUMBER, RECORDED: the expression as written; NULL otherwise */
  char *filled;  /* with the values put in */
  double value;
};

struct prose_block {
  enum prose_block_kind kind;
  int level; /* heading level; nesting of a bullet */
  char marker[8];
  struct prose_run *runs;
  int nruns;
};

struct prose {
  struct prose_block *blocks;
  int nblocks;
};

/* Where numbers come from. `recorded` (may be NULL) is asked when `lookup` does not know a name:
 * its value is shown with the recorded card's tag. */
struct prose_source {
  expr_lookup lookup, recorded;
  void *ctx, *recorded_ctx;
  const char *recorded_tag; /* "(H200)" */
};

/* Renders; hostile or broken Markdown still gives blocks. An expression that cannot be evaluated
 * shows
 * "-". Cannot fail; free with prose_free. */
struct prose *prose_render(const char *markdown, const struct prose_source *src);
void prose_free(struct prose *p);

/* The first {{...}} that does not parse, as a sentence; false if there is one. */
bool prose_check(const char *markdown, struct err *err);

#endif
