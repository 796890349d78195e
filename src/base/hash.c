#include "base/hash.h"

#include <sha2.h>
#include <stdint.h>
#include <stdio.h>

void hash_sha256(const void *data, size_t n, char out[65]) {
  uint8_t digest[SHA256_DIGEST_LENGTH];
  SHA2_CTX context;
  SHA256Init(&context);
  if (n)
    SHA256Update(&context, data, n);
  SHA256Final(digest, &context);
  for (int i = 0; i < SHA256_DIGEST_LENGTH; i++)
    snprintf(out + 2 * i, 3, "%02x", digest[i]);
}
