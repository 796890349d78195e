#include "kernels/cuda_mask.h"
#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

bool cuda_mask_ident(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || (unsigned char)c >= 0x80;
}

bool cuda_mask_word(const char *source, size_t n, size_t at, const char *word) {
  size_t w = strlen(word);
  return at + w <= n && !memcmp(source + at, word, w) &&
         (at + w == n || !cuda_mask_ident(source[at + w]));
}

struct masker {
  const char *s;
  size_t n, at;
  struct cuda_mask *m;
  int line;
  bool fresh; /* only white space on this line so far */
  bool in_directive;
  int cap;
};

/* Length of a backslash-newline at `at`, else 0. */
static size_t splice(const struct masker *k, size_t at) {
  if (at >= k->n || k->s[at] != '\\')
    return 0;
  if (at + 1 < k->n && k->s[at + 1] == '\n')
    return 2;
  return at + 2 < k->n && k->s[at + 1] == '\r' && k->s[at + 2] == '\n' ? 3 : 0;
}

/* Copies one byte as code or as a blank. */
static void put(struct masker *k, bool code) {
  char c = k->s[k->at];
  bool space = c == '\n' || c == '\r' || c == '\t';
  k->m->code[k->at] = space || (code && !k->in_directive && c) ? c : ' ';
  k->m->directive[k->at] = k->in_directive && c != '\n';
  k->line += c == '\n';
  k->at++;
}

static void put_blank(struct masker *k, size_t to) {
  while (k->at < to && k->at < k->n)
    put(k, false);
}

static void line_comment(struct masker *k) {
  while (k->at < k->n && k->s[k->at] != '\n') {
    size_t skip = splice(k, k->at);
    put_blank(k, k->at + (skip ? skip : 1));
  }
}

static void block_comment(struct masker *k) {
  put_blank(k, k->at + 2);
  while (k->at < k->n && !(k->s[k->at] == '*' && k->at + 1 < k->n && k->s[k->at + 1] == '/'))
    put_blank(k, k->at + 1);
  put_blank(k, k->at + 2);
}

/* A string or character constant; an open one ends with its line. */
static void quoted(struct masker *k) {
  char quote = k->s[k->at];
  put(k, quote == '"');
  while (k->at < k->n && k->s[k->at] != quote && k->s[k->at] != '\n') {
    size_t skip = splice(k, k->at);
    if (!skip)
      skip = k->s[k->at] == '\\' && k->at + 1 < k->n && k->s[k->at + 1] != '\n' ? 2 : 1;
    put_blank(k, k->at + skip);
  }
  if (k->at < k->n && k->s[k->at] == quote)
    put(k, quote == '"');
}

/* True if the quote at `at` opens a raw string: R" u8R" uR" UR" LR". */
static bool raw_prefix(const struct masker *k) {
  size_t b = k->at;
  while (b > 0 && k->at - b < 4 && cuda_mask_ident(k->s[b - 1]))
    b--;
  size_t len = k->at - b;
  static const char *const prefixes[] = {"R", "u8R", "uR", "UR", "LR"};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    if (len == strlen(prefixes[i]) && !memcmp(k->s + b, prefixes[i], len))
      return true;
  return false;
}

static bool raw_string(struct masker *k) {
  size_t open = k->at + 1, mark;
  while (open < k->n && open - k->at <= 17 && !strchr("(\\) \t\n\"", k->s[open]))
    open++;
  if (open >= k->n || k->s[open] != '(')
    return false;
  mark = open - k->at - 1;
  size_t end = open + 1;
  while (end + mark + 1 < k->n && !(k->s[end] == ')' && k->s[end + mark + 1] == '"' &&
                                    !memcmp(k->s + end + 1, k->s + k->at + 1, mark)))
    end++;
  bool closed = end + mark + 1 < k->n;
  put(k, true);
  put_blank(k, closed ? end + mark + 1 : k->n);
  if (closed)
    put(k, true);
  return true;
}

/* 1'000'000: the mark stands inside a number. */
static bool digit_separator(const struct masker *k) {
  size_t b = k->at;
  if (b + 1 >= k->n || !cuda_mask_ident(k->s[b + 1]))
    return false;
  while (b > 0 && k->at - b < 64 && (cuda_mask_ident(k->s[b - 1]) || k->s[b - 1] == '\''))
    b--;
  return b < k->at && k->s[b] >= '0' && k->s[b] <= '9';
}

static void open_directive(struct masker *k) {
  struct cuda_mask *m = k->m;
  if (m->ndirectives == k->cap) {
    k->cap = k->cap ? 2 * k->cap : 32;
    m->directives = alloc_grow(m->directives, (size_t)k->cap, sizeof *m->directives);
  }
  m->directives[m->ndirectives++] =
      (struct cuda_mask_directive){.begin = k->at, .end = k->n, .line = k->line};
  k->in_directive = true;
}

static void end_of_line(struct masker *k) {
  if (k->in_directive)
    k->m->directives[k->m->ndirectives - 1].end = k->at;
  k->in_directive = false;
  put(k, true);
  k->fresh = true;
}

static void step(struct masker *k) {
  char c = k->s[k->at], next = k->at + 1 < k->n ? k->s[k->at + 1] : 0;
  size_t skip = splice(k, k->at);
  if (skip) {
    put_blank(k, k->at + skip);
    return;
  }
  if (c == '\n') {
    end_of_line(k);
    return;
  }
  if (c == '/' && (next == '/' || next == '*')) {
    next == '/' ? line_comment(k) : block_comment(k);
    return;
  }
  if (c == '#' && k->fresh)
    open_directive(k);
  if (c != ' ' && c != '\t' && c != '\r' && c != '\f' && c != '\v')
    k->fresh = false;
  if (c == '"' && raw_prefix(k) && raw_string(k))
    return;
  if (c == '"' || (c == '\'' && !digit_separator(k)))
    quoted(k);
  else
    put(k, true);
}

size_t cuda_mask_directive_name(const char *source, const struct cuda_mask_directive *d) {
  size_t at = d->begin + 1;
  while (at < d->end && (source[at] == ' ' || source[at] == '\t'))
    at++;
  return at;
}

enum { MAX_NESTING = 64 };

struct branch {
  int depth;    /* of braces at the #if */
  int first;    /* what the first branch added */
  size_t begin; /* of the branch */
  bool later;   /* it is not the first */
  bool off;     /* #if 0, or the #else of #if 1 */
  bool on;      /* #if 1 */
};

static void blank(struct cuda_mask *m, size_t b, size_t e, bool braces_only) {
  for (; b < e; b++) {
    char c = m->code[b];
    if (braces_only ? c == '{' || c == '}' : c != '\n' && c != '\r')
      m->code[b] = ' ';
  }
}

/* Ends a branch at `at`; the depth of braces behind it. */
static int close_branch(struct cuda_mask *m, struct branch *b, size_t at, int depth) {
  if (b->off) {
    blank(m, b->begin, at, false);
    depth = b->depth + (b->later ? b->first : 0);
  } else if (b->later) {
    if (depth != b->depth)
      blank(m, b->begin, at, true);
    depth = b->depth + b->first;
  }
  if (!b->later)
    b->first = depth - b->depth;
  return depth;
}

static void open_branch(struct branch *b, const char *s, const struct cuda_mask_directive *d,
                        size_t name, int depth) {
  *b = (struct branch){.depth = depth, .begin = d->end};
  if (!cuda_mask_word(s, d->end, name, "if"))
    return;
  name += 2;
  while (name < d->end && (s[name] == ' ' || s[name] == '\t'))
    name++;
  b->off = cuda_mask_word(s, d->end, name, "0") || cuda_mask_word(s, d->end, name, "false");
  b->on = cuda_mask_word(s, d->end, name, "1") || cuda_mask_word(s, d->end, name, "true");
  for (name++; b->off || b->on; name++) { /* `#if 0 || X` is not decided */
    if (name >= d->end || s[name] == '/')
      break;
    if (s[name] == '|' || s[name] == '&' || s[name] == '=' || s[name] == '>' || s[name] == '<')
      b->off = b->on = false;
  }
}

/* Keeps one side of each #if for the count of braces. */
static void branches(struct cuda_mask *m, const char *s) {
  struct branch stack[MAX_NESTING];
  int level = 0, depth = 0;
  size_t at = 0;
  for (int i = 0; i < m->ndirectives; i++) {
    const struct cuda_mask_directive *d = &m->directives[i];
    for (; at < d->begin; at++)
      depth += (m->code[at] == '{') - (m->code[at] == '}');
    size_t name = cuda_mask_directive_name(s, d);
    bool open = d->end - name >= 2 && !memcmp(s + name, "if", 2);
    bool end = cuda_mask_word(s, d->end, name, "endif");
    bool other = d->end - name >= 3 && !memcmp(s + name, "el", 2);
    if (open) {
      if (level < MAX_NESTING)
        open_branch(&stack[level], s, d, name, depth);
      level++;
    }
    if (end && level > 0 && --level < MAX_NESTING)
      depth = close_branch(m, &stack[level], d->begin, depth);
    if (other && level > 0 && level <= MAX_NESTING) {
      struct branch *b = &stack[level - 1];
      close_branch(m, b, d->begin, depth);
      depth = b->depth;
      b->begin = d->end;
      b->later = !b->off || b->later; /* behind `#if 0` the #else is the first branch */
      b->off = b->on;
    }
  }
}

void cuda_mask_make(struct cuda_mask *m, const char *source, size_t n) {
  *m = (struct cuda_mask){.n = n};
  m->code = alloc_zero(n + 1, 1);
  m->directive = alloc_zero(n + 1, sizeof *m->directive);
  struct masker k = {.s = source, .n = n, .m = m, .line = 1, .fresh = true};
  if (n >= 3 && !memcmp(source, "\xef\xbb\xbf", 3))
    put_blank(&k, 3);
  while (k.at < n)
    step(&k);
  branches(m, source);
}

void cuda_mask_done(struct cuda_mask *m) {
  free(m->code);
  free(m->directive);
  free(m->directives);
  memset(m, 0, sizeof *m);
}
