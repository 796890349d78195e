/* Prose files cut at their `## id Title` headings. */
#ifndef MM_LESSON_SECTIONS_H
#define MM_LESSON_SECTIONS_H

#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>

struct section {
  char *id, *title, *text; /* clean UTF-8; text is "" where the section is empty */
  int line, text_line;     /* of its heading and of its text, from 1 */
};
struct sections {
  struct section *s;
  int n;
};

/* Cuts text. False with "name:line: what" if the bytes are not UTF-8, a heading has no id or title,
 * an id stands twice, or text stands before the first heading. Free in both cases with
 * sections_free. */
bool sections_cut(const char *text, size_t n, const char *name, struct sections *out,
                  struct err *err);
void sections_free(struct sections *s);
const struct section *sections_find(const struct sections *s, const char *id); /* or NULL */

#endif
