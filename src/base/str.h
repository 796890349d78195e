/* A growing string. Plain data: { 0 } is a valid empty one; data is always NUL-terminated once
 * anything was added (NULL before). */
#ifndef MM_BASE_STR_H
#define MM_BASE_STR_H

#include <stddef.h>

struct str {
  char *data;
  size_t len, cap;
};

/* None of these can fail. */
void str_add(struct str *s, const char *text);
void str_addn(struct str *s, const char *text, size_t n);
void str_addc(struct str *s, char c);
void str_addf(struct str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Adds a finite number so that it reads back the same: integers up to 2^53 in full, otherwise the
 * fewest of 15 to 17 digits; '.' in any locale. */
void str_add_num(struct str *s, double value);

void str_clear(struct str *s); /* keeps the memory */
void str_free(struct str *s);  /* back to { 0 } */

/* Hands the text over to the caller, who frees it ("" if nothing was added); s becomes { 0 }. */
char *str_take(struct str *s);

#endif
