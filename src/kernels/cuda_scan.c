#include "kernels/cuda_scan.h"
#include "base/alloc.h"
#include "base/str.h"
#include "kernels/cuda_item.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_NESTING = 64, MAX_CLASSES = 16 };

struct scanner {
  struct cuda_scan *s;
  const char *source;
  struct cuda_item_text t;
  size_t line_at; /* lines are asked for in rising order, mostly */
  int line;
  struct {
    size_t end;
    size_t name, name_end;
  } space[MAX_NESTING];
  int depth;
};

static int line_of(struct scanner *k, size_t at) {
  if (at < k->line_at) {
    for (size_t i = at; i < k->line_at; i++)
      k->line -= k->source[i] == '\n';
    k->line_at = at;
  }
  for (; k->line_at < at; k->line_at++)
    k->line += k->source[k->line_at] == '\n';
  return k->line;
}

/* Makes room for one more element, doubling at powers of two. */
static void *room(void *p, int n, size_t size) {
  return n & (n + 1) ? p : alloc_grow(p, 2 * (size_t)n + 1, size);
}

static void leave(struct cuda_scan *s, int line, enum cuda_scan_why why, const char *name, size_t n,
                  const char *text) {
  s->left = room(s->left, s->nleft, sizeof *s->left);
  s->left[s->nleft++] = (struct cuda_scan_left){
      .line = line, .why = why, .name = alloc_strn(name, n), .text = alloc_str(text)};
}

void cuda_scan_note(struct cuda_scan *s, int line, const char *name, const char *text) {
  leave(s, line, CUDA_SCAN_DROPPED, name, strlen(name), text);
}

/* Preprocessor lines stay. */
static void blank(struct cuda_scan *s, size_t b, size_t e) {
  for (; b < e && b < s->n; b++)
    if (s->text[b] != '\n' && !s->mask.directive[b])
      s->text[b] = ' ';
}

static void take_out(struct scanner *k, const struct cuda_item *i, enum cuda_scan_why why) {
  leave(k->s, line_of(k, i->name_end ? i->name : i->begin), why, k->source + i->name,
        i->name_end - i->name, "");
  blank(k->s, i->begin, i->end);
}

static void keep(struct scanner *k, const struct cuda_item *i, enum cuda_scan_kind kind) {
  struct cuda_scan *s = k->s;
  s->chunks = room(s->chunks, s->nchunks, sizeof *s->chunks);
  s->chunks[s->nchunks++] =
      (struct cuda_scan_chunk){.begin = i->begin,
                               .end = i->end,
                               .line = line_of(k, i->begin),
                               .last = line_of(k, i->end > i->begin ? i->end - 1 : i->end),
                               .kind = kind,
                               .name = alloc_strn(k->source + i->name, i->name_end - i->name)};
}

static void add_kernel(struct scanner *k, const struct cuda_item *i) {
  struct cuda_scan *s = k->s;
  struct str name = {0};
  for (int d = 0; d < k->depth; d++)
    if (k->space[d].name_end > k->space[d].name) {
      str_addn(&name, k->source + k->space[d].name, k->space[d].name_end - k->space[d].name);
      str_add(&name, "::");
    }
  str_addn(&name, k->source + i->name, i->name_end - i->name);
  bool template = i->is_template && i->targs_end > i->targs;
  size_t close = k->t.match[i->params];
  s->kernels = room(s->kernels, s->nkernels, sizeof *s->kernels);
  s->kernels[s->nkernels++] = (struct cuda_scan_kernel){
      .name = str_take(&name),
      .line = line_of(k, i->name),
      .template_params =
          template ? cuda_launches_fold(k->source, &s->mask, i->targs, i->targs_end) : NULL,
      .params = cuda_launches_fold(k->source, &s->mask, i->params + 1, close),
      .chunk = s->nchunks - 1};
}

static void members(struct scanner *k, const struct cuda_item *type, int depth);

static void member(struct scanner *k, const struct cuda_item *i, int depth) {
  bool host = !i->device && !i->global && !i->is_constexpr && !i->is_virtual;
  if (i->form == CUDA_ITEM_TYPE && depth < MAX_CLASSES)
    members(k, i, depth + 1);
  else if ((i->form == CUDA_ITEM_FUNCTION || i->form == CUDA_ITEM_PROTOTYPE) && host)
    take_out(k, i, CUDA_SCAN_HOST_METHOD);
}

/* Host functions of a class go; what is left says how it lies in memory and what kernels call. */
static void members(struct scanner *k, const struct cuda_item *type, int depth) {
  size_t at = type->body + 1, end = k->t.match[type->body];
  while (at < end && at < k->t.n) {
    struct cuda_item i = cuda_item_next(&k->t, at, end);
    if (i.begin == i.end)
      break;
    member(k, &i, depth);
    at = i.end;
  }
}

/* True if what is left of [b, e) names something of std:: that the prelude has not. */
static bool host_std(const struct scanner *k, size_t b, size_t e) {
  static const char *const known[] = {"min",         "max",       "swap",          "numeric_limits",
                                      "conditional", "enable_if", "conditional_t", "enable_if_t",
                                      "is_same",     "is_same_v"};
  const char *code = k->t.code;
  for (; b + 5 < e; b++) {
    if (code[b] != 's' || memcmp(code + b, "std::", 5) || k->s->text[b] != 's' ||
        (b > 0 && (cuda_mask_ident(code[b - 1]) || code[b - 1] == ':')))
      continue;
    size_t w = b + 5, we = w;
    while (we < e && cuda_mask_ident(code[we]))
      we++;
    bool fine = we > w + 2 && !memcmp(code + we - 2, "_t", 2);
    for (size_t i = 0; !fine && i < sizeof known / sizeof *known; i++)
      fine = cuda_mask_word(code, we, w, known[i]);
    if (!fine)
      return true;
  }
  return false;
}

static bool is_enum(const struct scanner *k, const struct cuda_item *i) {
  return cuda_mask_word(k->t.code, k->t.n, i->begin, "enum");
}

/* A class that holds a std::vector or the like is of no use to a kernel. */
static void type(struct scanner *k, const struct cuda_item *i) {
  int left = k->s->nleft;
  if (!is_enum(k, i))
    members(k, i, 0);
  if (!host_std(k, i->body, i->end)) {
    keep(k, i, CUDA_SCAN_TYPE);
    return;
  }
  for (; k->s->nleft > left; k->s->nleft--) { /* its methods go with it */
    free(k->s->left[k->s->nleft - 1].name);
    free(k->s->left[k->s->nleft - 1].text);
  }
  take_out(k, i, CUDA_SCAN_HOST_TYPE);
}

static void declaration(struct scanner *k, const struct cuda_item *i) {
  bool function = i->form == CUDA_ITEM_FUNCTION;
  if (i->global || i->device) {
    keep(k, i, i->global ? CUDA_SCAN_KERNEL : CUDA_SCAN_DEVICE);
    bool instance = i->form == CUDA_ITEM_PROTOTYPE && !i->is_template && i->name_end > i->name &&
                    k->source[i->name_end - 1] == '>';
    if (i->global && (instance || (function && i->name_end > i->name)))
      add_kernel(k, i);
    if (i->form == CUDA_ITEM_TYPE)
      members(k, i, 0);
  } else if (function && !i->is_constexpr) {
    take_out(k, i, CUDA_SCAN_HOST_FUNCTION);
  } else if (i->form == CUDA_ITEM_PROTOTYPE && !i->is_constexpr) {
    take_out(k, i, CUDA_SCAN_HOST_DECLARATION);
  } else if (i->form == CUDA_ITEM_VARIABLE &&
             ((!i->is_const && !i->is_constexpr) || i->std_object)) {
    take_out(k, i, CUDA_SCAN_HOST_VARIABLE);
  } else if (i->form == CUDA_ITEM_TYPE) {
    type(k, i);
  } else if (!function && host_std(k, i->begin, i->end)) {
    take_out(k, i, CUDA_SCAN_HOST_DECLARATION);
  } else {
    keep(k, i, function ? CUDA_SCAN_DEVICE : CUDA_SCAN_OTHER);
  }
}

static void chunks(struct scanner *k) {
  size_t at = 0, end = k->t.n;
  for (;;) {
    struct cuda_item i = cuda_item_next(&k->t, at, end);
    if (i.begin == i.end) {
      if (k->depth == 0)
        break;
      at = end < k->t.n ? end + 1 : end; /* behind the namespace's brace */
      k->depth--;
      end = k->depth ? k->space[k->depth - 1].end : k->t.n;
      continue;
    }
    at = i.end;
    bool space = i.form == CUDA_ITEM_NAMESPACE || i.form == CUDA_ITEM_EXTERN_C;
    if (space && k->depth < MAX_NESTING) {
      bool named = i.form == CUDA_ITEM_NAMESPACE;
      k->space[k->depth].end = k->t.match[i.body] < end ? k->t.match[i.body] : end;
      k->space[k->depth].name = named ? i.name : 0;
      k->space[k->depth].name_end = named ? i.name_end : 0;
      end = k->space[k->depth++].end;
      at = i.body + 1;
    } else {
      declaration(k, &i);
    }
  }
}

static void include(struct scanner *k, const struct cuda_mask_directive *d) {
  const char *src = k->source;
  size_t at = cuda_mask_directive_name(src, d);
  if (!cuda_mask_word(src, d->end, at, "include"))
    return;
  at += strlen("include");
  while (at < d->end && (src[at] == ' ' || src[at] == '\t'))
    at++;
  if (at >= d->end || (src[at] != '<' && src[at] != '"'))
    return;
  char close = src[at] == '<' ? '>' : '"';
  const char *name = src + at + 1, *e = memchr(name, close, d->end - at - 1);
  if (!e || e == name || memchr(name, 0, (size_t)(e - name)))
    return;
  struct cuda_scan *s = k->s;
  s->includes = room(s->includes, s->nincludes, sizeof *s->includes);
  s->includes[s->nincludes++] = (struct cuda_scan_include){
      .name = alloc_strn(name, (size_t)(e - name)), .quoted = close == '"', .line = d->line};
}

static char *copy_text(const char *source, size_t n) {
  char *text = alloc_zero(n + 1, 1);
  for (size_t i = 0; i < n; i++)
    text[i] = source[i] ? source[i] : ' ';
  if (n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
    memset(text, ' ', 3);
  return text;
}

struct cuda_scan *cuda_scan_new(const char *source, size_t n) {
  struct cuda_scan *s = alloc_zero(1, sizeof *s);
  struct scanner k = {.s = s, .source = source, .line = 1};
  s->n = n;
  s->text = copy_text(source, n);
  cuda_mask_make(&s->mask, source, n);
  cuda_item_text_make(&k.t, source, &s->mask);
  chunks(&k);
  for (int i = 0; i < s->mask.ndirectives; i++)
    include(&k, &s->mask.directives[i]);
  cuda_launches_find(&s->launches, source, &s->mask);
  for (int i = 0; i < k.t.nmacros; i++)
    s->makes_kernels |= k.t.macros[i].global && k.t.macros[i].whole;
  cuda_item_text_done(&k.t);
  return s;
}

int cuda_scan_chunk_at(const struct cuda_scan *s, int line) {
  for (int i = 0; i < s->nchunks; i++)
    if (!s->chunks[i].gone && s->chunks[i].line <= line && line <= s->chunks[i].last)
      return i;
  return -1;
}

/* #include and #error lines may go; an #if or a #define may not. */
static bool drop_directive(struct cuda_scan *s, int line, const char *text) {
  for (int i = 0; i < s->mask.ndirectives; i++) {
    const struct cuda_mask_directive *d = &s->mask.directives[i];
    size_t at = cuda_mask_directive_name(s->text, d);
    if (d->line != line || !(cuda_mask_word(s->text, d->end, at, "include") ||
                             cuda_mask_word(s->text, d->end, at, "error")))
      continue;
    size_t len = strcspn(s->text + d->begin, "\n");
    leave(s, line, CUDA_SCAN_DROPPED, s->text + d->begin, len, text);
    memset(s->text + d->begin, ' ', len);
    return true;
  }
  return false;
}

bool cuda_scan_drop(struct cuda_scan *s, int line, const char *text, int keep_chunk) {
  for (int i = 0; i < s->nchunks; i++) {
    struct cuda_scan_chunk *c = &s->chunks[i];
    if (c->gone || i == keep_chunk || line < c->line || line > c->last)
      continue;
    leave(s, c->line, CUDA_SCAN_DROPPED, c->name, strlen(c->name), text);
    blank(s, c->begin, c->end);
    c->gone = true;
    return true;
  }
  return drop_directive(s, line, text);
}

void cuda_scan_free(struct cuda_scan *s) {
  if (!s)
    return;
  for (int i = 0; i < s->nchunks; i++)
    free(s->chunks[i].name);
  for (int i = 0; i < s->nleft; i++) {
    free(s->left[i].name);
    free(s->left[i].text);
  }
  for (int i = 0; i < s->nkernels; i++) {
    free(s->kernels[i].name);
    free(s->kernels[i].template_params);
    free(s->kernels[i].params);
  }
  for (int i = 0; i < s->nincludes; i++)
    free(s->includes[i].name);
  free(s->chunks);
  free(s->left);
  free(s->kernels);
  free(s->includes);
  free(s->text);
  cuda_launches_done(&s->launches);
  cuda_mask_done(&s->mask);
  free(s);
}
