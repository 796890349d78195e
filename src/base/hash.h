/* SHA-256 (libmd) as lower-case hex. */
#ifndef MM_BASE_HASH_H
#define MM_BASE_HASH_H

#include <stddef.h>

void hash_sha256(const void *data, size_t n, char out[65]);

#endif
