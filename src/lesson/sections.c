#include "lesson/sections.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_SECTIONS = 128 };

struct cutter {
  const char *name;
  struct sections *out;
  struct err *err;
  int line;
  bool fence;
  char fence_char;
  const char *body; /* where the current section's text begins */
};

static int lines_before(const char *text, size_t at) {
  int line = 1;
  for (size_t i = 0; i < at; i++)
    line += text[i] == '\n';
  return line;
}

/* A fence closes only by its own kind, so that a ``` block may show ~~~. */
static void note_fence(struct cutter *c, const char *p) {
  size_t indent = strspn(p, " ");
  if (indent > 3 || (strncmp(p + indent, "```", 3) != 0 && strncmp(p + indent, "~~~", 3) != 0))
    return;
  if (!c->fence) {
    c->fence = true;
    c->fence_char = p[indent];
  } else if (c->fence_char == p[indent]) {
    c->fence = false;
  }
}

static void end_section(struct cutter *c, const char *end) {
  if (!c->out->n)
    return;
  struct section *s = &c->out->s[c->out->n - 1];
  const char *start = c->body;
  s->text_line = s->line;
  for (; start < end && (*start == '\n' || *start == ' '); start++)
    s->text_line += *start == '\n';
  while (end > start && (end[-1] == '\n' || end[-1] == ' '))
    end--;
  free(s->text);
  s->text = alloc_strn(start, (size_t)(end - start));
}

/* p is behind "## ", len bytes to the line's end. */
static bool heading(struct cutter *c, const char *p, size_t len) {
  size_t skip = strspn(p, " "), id, gap;
  p += skip;
  len -= skip;
  id = strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789-");
  gap = strspn(p + id, " ");
  if (id == 0 || id > 63 || gap == 0 || id + gap >= len)
    return err_set(c->err, "%s:%d: a section is headed `## step-id Title of the step`", c->name,
                   c->line);
  if (c->out->n == MAX_SECTIONS)
    return err_set(c->err, "%s:%d: over %d sections", c->name, c->line, MAX_SECTIONS);
  struct section s = {alloc_strn(p, id), alloc_strn(p + id + gap, len - id - gap), alloc_str(""),
                      c->line, c->line};
  bool twice = sections_find(c->out, s.id) != NULL;
  c->out->s[c->out->n++] = s;
  return !twice || err_set(c->err, "%s:%d: a second section \"%s\"", c->name, c->line, s.id);
}

static bool one_line(struct cutter *c, const char *p, size_t len) {
  if (!c->fence && len > 3 && strncmp(p, "## ", 3) == 0) {
    end_section(c, p);
    c->body = p + len;
    return heading(c, p + 3, len - 3);
  }
  bool preface = len == 0 || strspn(p, " ") >= len || strncmp(p, "# ", 2) == 0;
  if (c->out->n == 0 && !preface)
    return err_set(c->err, "%s:%d: text before the first `## step-id Title`", c->name, c->line);
  note_fence(c, p);
  return true;
}

bool sections_cut(const char *text, size_t n, const char *name, struct sections *out,
                  struct err *err) {
  size_t bad;
  memset(out, 0, sizeof *out);
  if (!utf8_valid(text, n, &bad))
    return err_set(err, "%s:%d: not valid UTF-8; save the file as UTF-8", name,
                   lines_before(text, bad));
  char *clean = utf8_clean(text, n);
  struct cutter c = {.name = name, .out = out, .err = err, .body = clean};
  out->s = alloc_zero(MAX_SECTIONS, sizeof *out->s);
  const char *p = clean;
  bool ok = true;
  while (ok && *p) {
    size_t len = strcspn(p, "\n");
    c.line++;
    ok = one_line(&c, p, len);
    p += len + (p[len] == '\n');
  }
  if (ok)
    end_section(&c, p);
  free(clean);
  return ok;
}

void sections_free(struct sections *s) {
  for (int i = 0; i < s->n; i++) {
    free(s->s[i].id);
    free(s->s[i].title);
    free(s->s[i].text);
  }
  free(s->s);
  memset(s, 0, sizeof *s);
}

const struct section *sections_find(const struct sections *s, const char *id) {
  for (int i = 0; i < s->n; i++)
    if (strcmp(s->s[i].id, id) == 0)
      return &s->s[i];
  return NULL;
}
