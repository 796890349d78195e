/* Directories for tests of the lesson layer: a copy of the fixture, and files written into it. */
#ifndef MM_TESTS_LESSON_DIRS_H
#define MM_TESTS_LESSON_DIRS_H

#include "base/alloc.h"
#include "base/paths.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRS_GOOD "tests/fixtures/lessons/good"

/* A new empty directory; the caller frees the name. */
static inline char *dirs_new(void) {
  const char *tmp = getenv("TMPDIR");
  char *name = alloc_printf("%s/mmtutor-test-XXXXXX", tmp ? tmp : "/tmp");
  if (!mkdtemp(name))
    abort();
  return name;
}

static inline void dirs_write(const char *dir, const char *file, const void *data, size_t n) {
  char *path = alloc_printf("%s/%s", dir, file);
  FILE *f = fopen(path, "wb");
  if (!f || fwrite(data, 1, n, f) != n || fclose(f) != 0)
    abort();
  free(path);
}

static inline char *dirs_read(const char *dir, const char *file, size_t *n) {
  char *path = alloc_printf("%s/%s", dir, file);
  char *text = paths_read(path, 1 << 24, n, NULL);
  if (!text)
    abort();
  free(path);
  return text;
}

static inline void dirs_copy_good(const char *to) {
  static const char *const files[] = {"lesson.json", "en.md", "zh.md"};
  for (int i = 0; i < 3; i++) {
    size_t n;
    char *text = dirs_read(DIRS_GOOD, files[i], &n);
    dirs_write(to, files[i], text, n);
    free(text);
  }
}

static inline int dirs_remove_one(const char *path, const struct stat *st, int kind,
                                  struct FTW *ftw) {
  (void)st;
  (void)kind;
  (void)ftw;
  return remove(path);
}

/* Removes the directory and frees its name. */
static inline void dirs_remove(char *dir) {
  nftw(dir, dirs_remove_one, 16, FTW_DEPTH | FTW_PHYS);
  free(dir);
}

/* text with its first `from` replaced by `to`. The caller frees. */
static inline char *dirs_replace(const char *text, const char *from, const char *to) {
  const char *at = strstr(text, from);
  if (!at)
    abort();
  return alloc_printf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

#endif
