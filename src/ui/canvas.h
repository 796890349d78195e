/* An array of cells that every view draws into: no terminal here. A cell has a grapheme, a width, a
 * role and marks; a theme turns roles into colours. Drawing outside the canvas or the clip is
 * ignored; half a wide character is never left behind: the other half becomes a space. */
#ifndef MM_UI_CANVAS_H
#define MM_UI_CANVAS_H

#include <stdbool.h>
#include <stddef.h>

enum role {
  ROLE_TEXT,
  ROLE_DIM,      /* secondary words, separators, units */
  ROLE_TITLE,    /* headings */
  ROLE_FOCUS,    /* the title of the pane that has the focus, the chosen line */
  ROLE_NOW,      /* the one accent of what is happening */
  ROLE_DONE,     /* finished, right, verified */
  ROLE_TODO,     /* not yet */
  ROLE_WRONG,    /* only for wrong */
  ROLE_KEY,      /* a key's letter in the key bar */
  ROLE_NUMBER,   /* a figure that can be asked about */
  ROLE_RECORDED, /* measured elsewhere */
  ROLE_A,        /* matrix A and its tile */
  ROLE_B,
  ROLE_ACC, /* C and the accumulator */
  ROLE_CODE,
  ROLE_ROOF, /* roofs and axes of plots */
  ROLE_COUNT
};

enum mark { MARK_BOLD = 1, MARK_REVERSE = 2, MARK_UNDERLINE = 4 };

struct cell {
  char glyph[24]; /* one grapheme, "" for the right half of a wide one */
  unsigned char width, role, mark;
};

struct rect {
  int x, y, w, h;
};

/* A number on the screen that `=` can be asked about. Strings are owned by the canvas. */
struct ask {
  struct rect at;
  char *label;   /* "moved from global" */
  char *formula; /* "8*n^3/T" */
  char *filled;  /* "8*4096^3/32" */
  char *value;   /* "17.2 GB" */
  char *source;  /* where it comes from: formula and lesson, measured on X at DATE, recorded */
  char *holds;   /* what holds it: the roof or limit; "" if nothing */
};

typedef struct canvas canvas;

canvas *canvas_new(int cols, int rows); /* both at least 1 */
void canvas_free(canvas *cv);
void canvas_resize(canvas *cv, int cols, int rows); /* clears */
void canvas_clear(canvas *cv);
int canvas_cols(const canvas *cv);
int canvas_rows(const canvas *cv);
const struct cell *canvas_at(const canvas *cv, int x, int y); /* NULL outside */

/* ASCII mode: every grapheme becomes its ASCII cell form as it is drawn (Han stays). */
void canvas_set_ascii(canvas *cv, bool ascii);
bool canvas_is_ascii(const canvas *cv);

/* Everything is clipped to r until it is set again; the whole canvas at first. Returns the old one.
 */
struct rect canvas_clip(canvas *cv, struct rect r);

/* Draws text from (x, y), one line, clipped; newlines and controls are never written. Returns the
 * columns taken (also those clipped off). */
int canvas_text(canvas *cv, int x, int y, enum role role, unsigned mark, const char *text);
int canvas_textf(canvas *cv, int x, int y, enum role role, unsigned mark, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/* The same, ending at column right (exclusive). Returns its first column. */
int canvas_right(canvas *cv, int right, int y, enum role role, unsigned mark, const char *text);

/* The same within w columns: clipped with an ellipsis if it is wider. Returns the columns taken. */
int canvas_fit(canvas *cv, int x, int y, int w, enum role role, unsigned mark, const char *text);

/* Wrapped text within r from its line `skip` on; returns the number of lines the whole text has. */
int canvas_wrap(canvas *cv, struct rect r, int skip, enum role role, unsigned mark,
                const char *text);

/* One glyph repeated; changing only role and marks of what is there. */
void canvas_fill(canvas *cv, struct rect r, enum role role, const char *glyph);
void canvas_hline(canvas *cv, int x, int y, int w, enum role role);
void canvas_vline(canvas *cv, int x, int y, int h, enum role role);
void canvas_paint(canvas *cv, struct rect r, enum role role, unsigned mark);

/* Essential text: the same as canvas_text, but a frame check fails if any of it is clipped. */
int canvas_essential(canvas *cv, int x, int y, enum role role, unsigned mark, const char *text);
int canvas_clipped(const canvas *cv); /* how many essential texts were clipped */
const char *canvas_clipped_text(const canvas *cv, int i); /* the i-th of them */

/* Registers a number that can be asked about; all strings are copied (NULL = ""). */
void canvas_ask(canvas *cv, struct rect at, const char *label, const char *formula,
                const char *filled, const char *value, const char *source, const char *holds);
int canvas_asks(const canvas *cv);
const struct ask *canvas_ask_at(const canvas *cv, int i);

/* The cursor for screen readers: where the focus is; (-1, -1) = none. */
void canvas_cursor(canvas *cv, int x, int y);
void canvas_cursor_get(const canvas *cv, int *x, int *y);

/* The whole canvas as rows of exactly cols columns, '\n' after each. The caller frees. */
char *canvas_to_text(const canvas *cv);

/* Every row is exactly cols wide and no wide character is cut; false with a sentence. */
struct err;
bool canvas_check(const canvas *cv, struct err *err);

#endif
