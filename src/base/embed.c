#include "base/embed.h"

#include <string.h>

const struct embed_file *embed_find(const char *path) {
  size_t n = 0;
  while (embed_files[n].path)
    n++;
  size_t low = 0, high = n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = strcmp(embed_files[middle].path, path);
    if (order == 0)
      return &embed_files[middle];
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}
