/* Cuts a stream of bytes into lines, with a limit on their length. */
#ifndef MM_BENCH_LINES_H
#define MM_BENCH_LINES_H

#include "base/str.h"
#include <stdbool.h>

enum { LINES_MAX = 1 << 20 }; /* bytes of a line without its '\n' */

enum lines_got { LINES_NONE, LINES_ONE, LINES_TOO_LONG };

/* Plain data: { 0 } is an empty one. */
struct lines {
  struct str buf;
  size_t pos, seen; /* begin of the next line; bytes known to hold no '\n' behind it */
  bool skipping;    /* within a line that was too long */
};

/* Adds n bytes. Cannot fail. */
void lines_feed(struct lines *l, const char *data, size_t n);

/* The next whole line, NUL-terminated without its '\n' (valid until the next lines_feed),
 * LINES_TOO_LONG once for a line over the limit (it is dropped), or LINES_NONE. */
enum lines_got lines_next(struct lines *l, char **line, size_t *n);

/* Back to { 0 }. */
void lines_free(struct lines *l);

#endif
