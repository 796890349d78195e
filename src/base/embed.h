/* Files built into the program by scripts/embed.c: kernels, their PTX, assets and lessons. */
#ifndef MM_BASE_EMBED_H
#define MM_BASE_EMBED_H

#include <stddef.h>

struct embed_file {
  const char *path; /* "src/kernels/cuda/tiled.cu" */
  const char *data; /* NUL-terminated behind its n bytes */
  size_t n;
};

/* Sorted by path; the last one has path NULL. */
extern const struct embed_file embed_files[];

/* The file of that path, or NULL. */
const struct embed_file *embed_find(const char *path);

#endif
