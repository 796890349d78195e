/* UTF-8: validity, terminal columns (utf8proc), clipping, wrapping, cleaning, ASCII forms.
 * Columns are those of a terminal in which ambiguous characters take one cell. */
#ifndef MM_BASE_UTF8_H
#define MM_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Decodes the first code point of s (n bytes at most); *len gets its bytes (1 for an invalid byte).
 * Returns the code point, or -1 where the bytes are not valid UTF-8 (overlong, surrogate, cut). */
int utf8_decode(const char *s, size_t n, size_t *len);

/* True if all n bytes are valid UTF-8; otherwise *bad (may be NULL) gets the first bad offset. */
bool utf8_valid(const char *s, size_t n, size_t *bad);

/* Bytes of the first grapheme cluster of the NUL-terminated s (0 at its end); *width (may be NULL)
 * gets its columns, 0 to 2. Invalid bytes count as one column each. */
size_t utf8_grapheme(const char *s, int *width);

/* Columns of the whole of s, or of its first n bytes. */
int utf8_width(const char *s);
int utf8_width_n(const char *s, size_t n);

/* Bytes of the longest prefix of whole graphemes that fits in cols columns; *used (may be NULL)
 * gets the columns taken. */
size_t utf8_clip(const char *s, int cols, int *used);

/* A clean copy for a screen: invalid bytes and C0, C1, DEL, bidi and other control characters
 * become U+FFFD, CRLF and CR become LF, a tab becomes spaces to the next multiple of 4 columns, a
 * BOM at the start is dropped; LF stays. The caller frees. */
char *utf8_clean(const char *s, size_t n);

/* A copy in which every non-ASCII glyph that mmtutor draws or writes (borders, blocks, braille,
 * arrows, marks, math signs, typographic quotes) has its ASCII form of the same number of columns,
 * or of as many as it takes where the sign is a word (<= for U+2264). Han and full-width characters
 * stay. The caller frees. */
char *utf8_ascii(const char *s);

/* The ASCII form of one grapheme that keeps its width (one cell of the canvas): a static string,
 * the grapheme itself where it is ASCII or Han, "?" where nothing better is known. */
const char *utf8_ascii_cell(const char *grapheme, int width);

/* One line of wrapped text: bytes [start, start + len) of the source, and its columns. */
struct utf8_line {
  size_t start, len;
  int width;
};

/* Wraps s to cols columns (at least 2): breaks at spaces, between any two Han characters, and
 * inside a word only where it is wider than a line. Closing punctuation (，。）》 and , . ) ])
 * never starts a line, opening punctuation never ends one. '\n' forces a break (a text that ends in
 * one has an empty last line). Trailing spaces of a line are not part of it. *lines is allocated
 * (the caller frees); returns the count, at least 1. */
size_t utf8_wrap(const char *s, int cols, struct utf8_line **lines);

#endif
