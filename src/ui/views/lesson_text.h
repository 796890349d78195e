/* The text pane of a lesson: prose, code, figures, questions, and what a run has shown. */
#ifndef MM_UI_VIEWS_LESSON_TEXT_H
#define MM_UI_VIEWS_LESSON_TEXT_H

#include "base/expr.h"
#include "ui/canvas.h"
#include "ui/page.h"
#include "ui/ui.h"

/* Draws the text of the step into body from the lesson's scroll position on (which is kept inside
 * the text). alone: the step's figure or code has no pane beside it and stands in the text. */
void lesson_text_draw(ui *u, canvas *cv, struct rect body, bool alone);

/* The kernel of a code step, from code_scroll on. */
void lesson_text_code(ui *u, canvas *cv, struct rect body);

/* Adds Markdown to a page, its numbers evaluated with the step's and the drawn variables. */
void lesson_text_put(ui *u, page *p, int indent, const char *markdown,
                     const struct expr_vars *draw);

/* The same behind a marker ("a", "✓"), in one role. */
void lesson_text_option(ui *u, page *p, int indent, const char *marker, enum role marker_role,
                        enum role role, const char *markdown);

#endif
