/* Text on lines of a fixed width, for `read` and the plain tutor: no colours, no boxes. */
#ifndef MM_APP_PAPER_H
#define MM_APP_PAPER_H

#include "base/str.h"
#include "lesson/prose.h"
#include <stdbool.h>
#include <stdio.h>

struct paper {
  struct str out;
  int width;
  bool ascii; /* glyphs outside ASCII get their ASCII form when printed */
};

/* One paragraph, wrapped: the first line behind `marker` (may be ""), all lines indented by indent
 * and the marker's width. */
void paper_text(struct paper *p, int indent, const char *marker, const char *text);

/* Lines as they are; those over the width continue on the next line. */
void paper_lines(struct paper *p, int indent, const char *text);

/* A title underlined with c. */
void paper_title(struct paper *p, const char *text, char c);

/* An empty line, unless the last one is empty or there is none yet. */
void paper_gap(struct paper *p);

/* Markdown's blocks. */
void paper_prose(struct paper *p, const struct prose *prose);

/* Writes what there is and forgets it. */
void paper_print(struct paper *p, FILE *f);

#endif
