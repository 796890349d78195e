/* Memory that never comes back NULL: out of memory ends the process with one sentence on stderr. */
#ifndef MM_BASE_ALLOC_H
#define MM_BASE_ALLOC_H

#include <stddef.h>

/* n zeroed elements of `size` bytes; n = 0 gives a pointer that may be freed. The caller frees with
 * free(). Overflow of n * size is fatal. Cannot fail. */
void *alloc_zero(size_t n, size_t size) __attribute__((malloc, returns_nonnull));

/* Resizes p to n elements of `size` bytes (new bytes undefined). Cannot fail. */
void *alloc_grow(void *p, size_t n, size_t size) __attribute__((returns_nonnull));

/* Copies of a string; alloc_str(NULL) is "". The caller frees. Cannot fail. */
char *alloc_str(const char *s) __attribute__((malloc, returns_nonnull));
char *alloc_strn(const char *s, size_t n) __attribute__((malloc, returns_nonnull));
char *alloc_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2), returns_nonnull));

#endif
