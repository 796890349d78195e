/* A page of `mmtutor xray`: text that is wrapped and aligned by columns, with colours and glyphs
 * where the terminal takes them. */
#ifndef MM_APP_XRAY_PAGE_H
#define MM_APP_XRAY_PAGE_H

#include "app/xray_words.h"
#include "base/str.h"
#include <stdio.h>

enum xray_ink { INK_PLAIN, INK_DIM, INK_HOT, INK_BAD, INK_GOOD };

struct xray_page {
  struct str out;
  int width; /* columns */
  enum lang lang;
  bool colour, glyphs; /* glyphs: signs outside ASCII */
  bool ascii;          /* the source's signs get their ASCII form too */
};

/* n spaces. */
void xray_page_pad(struct xray_page *p, int n);

/* Text in a colour, if there are colours. */
void xray_page_ink(struct xray_page *p, enum xray_ink ink, const char *text);

/* Text at the left or right of a column of `cols` columns; a longer one stands whole. */
void xray_page_left(struct xray_page *p, enum xray_ink ink, const char *text, int cols);
void xray_page_right(struct xray_page *p, enum xray_ink ink, const char *text, int cols);

/* "verify      right; ...": a label of the left margin, and text wrapped beside it. */
void xray_page_item(struct xray_page *p, enum xray_word label, enum xray_ink ink, const char *text);

/* A paragraph wrapped behind `indent` spaces. */
void xray_page_text(struct xray_page *p, int indent, enum xray_ink ink, const char *text);

/* The sign before a line that is wrong, or that much of the work is in. */
const char *xray_page_mark(const struct xray_page *p, bool wrong);

/* Text that fits in cols columns, its end marked where it was cut. The caller frees. */
char *xray_page_clip(const struct xray_page *p, const char *text, int cols);

/* xray_words in the page's language. The caller frees. */
char *xray_page_say(const struct xray_page *p, enum xray_word w, const char *a, const char *b);

/* Numbers: "1,048,576"; "1.05M" (at most 5 columns); "2.50" of a ratio, "" where it has none. The
 * caller frees. */
char *xray_page_exact(double v);
char *xray_page_short(double v);
char *xray_page_ratio(double over, double under);

/* Writes what there is and forgets it. */
void xray_page_print(struct xray_page *p, FILE *f);

#endif
