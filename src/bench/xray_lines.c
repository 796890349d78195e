#include "bench/xray_lines.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include <stdlib.h>
#include <string.h>

/* Of a result: more than these are no table that anybody reads, and a line of the protocol ends at
 * 1 MiB. */
enum { LINES_SHOWN = 1500, LEFT_SHOWN = 200, TEXT_SHOWN = 300 };

static const char *short_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static const struct cuda_scan *scan_of(const struct xray_build *b, const char *file) {
  for (int i = 0; i < b->made.sources.n; i++)
    if (strcmp(short_name(b->made.sources.all[i].name), file) == 0)
      return b->made.sources.all[i].scan;
  return b->scan && strcmp(b->scan_name, file) == 0 ? b->scan : NULL;
}

/* The line as it was compiled, without a trailing mark of lessons and blanks; "" if not known. */
static char *line_text(const struct cuda_scan *s, int line) {
  const char *at = s ? s->text : NULL;
  for (; at && line > 1; line--) {
    at = strchr(at, '\n');
    at = at ? at + 1 : NULL;
  }
  if (!at)
    return alloc_str("");
  size_t n = strcspn(at, "\n");
  const char *mark = memmem(at, n, "//@", 3);
  n = mark ? (size_t)(mark - at) : n;
  n = n > TEXT_SHOWN ? TEXT_SHOWN : n;
  while (n && strchr(" \t\r", at[n - 1]))
    n--;
  return utf8_clean(at, n);
}

static void add(struct xray_result *r, const struct xray_build *b, const char *file, int line) {
  r->lines[r->nlines++] = (struct xray_result_line){
      .file = alloc_str(file), .line = line, .text = line_text(scan_of(b, file), line)};
}

static int by_place(const void *a, const void *b) {
  const struct xray_result_line *x = a, *y = b;
  int file = strcmp(x->file, y->file);
  return file ? file : (x->line > y->line) - (x->line < y->line);
}

static struct xray_result_line *find(struct xray_result *r, const char *file, int line) {
  for (int i = 0; i < r->nlines; i++)
    if (r->lines[i].line == line && strcmp(r->lines[i].file, file) == 0)
      return &r->lines[i];
  return NULL;
}

static const char *why_left(const struct cuda_scan_left *l) {
  static const char *const words[] = {[CUDA_SCAN_HOST_FUNCTION] = "a host function",
                                      [CUDA_SCAN_HOST_METHOD] = "a method for the host",
                                      [CUDA_SCAN_HOST_VARIABLE] = "a host variable",
                                      [CUDA_SCAN_HOST_DECLARATION] = "a host declaration",
                                      [CUDA_SCAN_HOST_TYPE] = "a type for the host"};
  return l->why == CUDA_SCAN_DROPPED ? l->text : words[l->why];
}

static void fill_left(struct xray_result *r, const struct cuda_scan *s) {
  int n = s->nleft < LEFT_SHOWN ? s->nleft : LEFT_SHOWN;
  r->left = alloc_zero((size_t)n, sizeof *r->left);
  for (int i = 0; i < n; i++) {
    const struct cuda_scan_left *l = &s->left[i];
    r->left[r->nleft++] =
        (struct xray_result_left){.line = l->line,
                                  .name = utf8_clean(l->name, strlen(l->name)),
                                  .why = utf8_clean(why_left(l), strlen(why_left(l)))};
  }
}

void xray_lines_fill(struct xray_result *r, const struct xray_build *b,
                     const struct xray_report *report) {
  int own = b->home && b->first > 0 ? b->last - b->first + 1 : 0;
  own = own > LINES_SHOWN ? 0 : own; /* then only what was counted */
  int most = own + (report->nlines < LINES_SHOWN ? report->nlines : LINES_SHOWN);
  r->lines = alloc_zero((size_t)most, sizeof *r->lines);
  for (int i = 0; i < own; i++)
    add(r, b, b->home_name, b->first + i);
  for (int i = 0; i < report->nlines && r->nlines < most; i++) {
    const struct xray_line *l = &report->lines[i];
    const char *file = short_name(l->file);
    struct xray_result_line *to = find(r, file, l->line);
    if (!to) {
      add(r, b, file, l->line);
      to = &r->lines[r->nlines - 1];
    }
    to->counted = true;
    to->counts = l->counts;
  }
  if (r->nlines > 0)
    qsort(r->lines, (size_t)r->nlines, sizeof *r->lines, by_place);
  if (b->made.sources.n > 0)
    fill_left(r, b->made.sources.all[0].scan);
}
