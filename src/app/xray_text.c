#include "app/xray_text.h"

#include "base/alloc.h"
#include "base/paths.h"
#include "base/utf8.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SOURCE_MAX = 4 << 20 };

static bool is_newer(const char *path, const char *than) {
  struct stat a, b;
  if (stat(path, &a) != 0 || stat(than, &b) != 0)
    return true;
  return a.st_mtim.tv_sec > b.st_mtim.tv_sec;
}

/* The text of the file that stands beside path; NULL if it cannot be used. The caller frees. */
static char *read_beside(const char *path, const char *name) {
  const char *slash = strrchr(path, '/');
  int dir = slash ? (int)(slash - path) + 1 : 0;
  char *file = alloc_printf("%.*s%s", dir, path, name), *text = NULL;
  size_t n = 0;
  if (!strchr(name, '/') && !is_newer(file, path))
    text = paths_read(file, SOURCE_MAX, &n, NULL);
  char *clean = text ? utf8_clean(text, n) : NULL;
  free(text);
  free(file);
  return clean;
}

/* Line `number` of a text, "" behind its end. The caller frees. */
static char *line_of(const char *text, int number) {
  while (number > 1 && *text) {
    size_t n = strcspn(text, "\n");
    text += n + (text[n] == '\n');
    number--;
  }
  return alloc_strn(text, strcspn(text, "\n"));
}

static bool has_text(const struct xray_result *r, const char *file) {
  for (int i = 0; i < r->nlines; i++)
    if (r->lines[i].text[0] && strcmp(r->lines[i].file, file) == 0)
      return true;
  return false;
}

void xray_text_fill(struct xray_result *r, const char *path) {
  for (int i = 0; i < r->nlines; i++) {
    const char *file = r->lines[i].file;
    if (!*file || (i > 0 && strcmp(r->lines[i - 1].file, file) == 0) || has_text(r, file))
      continue;
    char *text = read_beside(path, file);
    for (int k = i; text && k < r->nlines && strcmp(r->lines[k].file, file) == 0; k++) {
      free(r->lines[k].text);
      r->lines[k].text = line_of(text, r->lines[k].line);
    }
    free(text);
  }
}
