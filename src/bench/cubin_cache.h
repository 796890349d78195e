/* Compiled kernels kept between runs in the XDG cache directory. */
#ifndef MM_BENCH_CUBIN_CACHE_H
#define MM_BENCH_CUBIN_CACHE_H

#include <stdbool.h>
#include <stddef.h>

/* The name of an entry: a hash of all that decides the code. `options` are those given to the
 * compiler. */
void cubin_cache_key(const char *source, const char *const *options, int noptions, const char *cc,
                     const char *compiler, const char *driver, char key[65]);

/* The image of that key and the compiler's log (NULL if it was silent), both freed by the caller;
 * false if it is not there or damaged. */
bool cubin_cache_get(const char *key, char **image, size_t *size, char **log);

/* Keeps an image. A cache that cannot be written is no failure: nothing is kept. */
void cubin_cache_put(const char *key, const char *image, size_t size, const char *log);

/* Removes an entry, for one that the driver refused. */
void cubin_cache_drop(const char *key);

#endif
