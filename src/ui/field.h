/* A text field of one line: what is typed, where the cursor is, and what a key does to it. Pure but
 * for field_draw. */
#ifndef MM_UI_FIELD_H
#define MM_UI_FIELD_H

#include "ui/canvas.h"
#include "ui/keys.h"

enum { FIELD_BYTES = 128 };

/* Plain data; {0} is an empty field without a limit of its own. text is always valid UTF-8. */
struct field {
  char text[FIELD_BYTES];
  size_t at;    /* byte of the cursor, on a grapheme's boundary */
  int max_cols; /* 0: only the bytes limit it */
};

/* Empties the field and sets its limit in columns (0 = none). */
void field_init(struct field *f, int max_cols);

/* Puts text in (cut at the limits, on a grapheme's boundary) and the cursor behind it. */
void field_set(struct field *f, const char *text);

/* One key: characters, arrows left and right, Home, End, Backspace, Delete. True if the field took
 * it (also where nothing changed because it is full). Enter, Esc, Tab, up and down are left to the
 * caller. */
bool field_key(struct field *f, int key);

/* What fits in `cols` columns with the cursor inside: bytes [*start, *start + *len) and the
 * cursor's column in it (0 .. cols - 1). cols at least 1. */
void field_view(const struct field *f, int cols, size_t *start, size_t *len, int *cursor);

/* Draws it in `cols` columns, underlined; with focus the cursor's cell is reversed and the canvas
 * cursor is put there. */
void field_draw(const struct field *f, canvas *cv, int x, int y, int cols, bool focus);

#endif
