#include "kernels/cuda_item.h"
#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_MACROS = 64, ANGLE_REACH = 4096 };

static bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static bool contains(const char *s, size_t b, size_t e, const char *word) {
  size_t w = strlen(word);
  for (; b + w <= e; b++)
    if (s[b] == word[0] && !memcmp(s + b, word, w))
      return true;
  return false;
}

/* A closing bracket ends what was left open inside it; one that fits nothing is ignored. */
static void match_brackets(struct cuda_item_text *t) {
  size_t *stack = alloc_zero(t->n + 1, sizeof *stack), open[3] = {0}, level = 0;
  static const char opening[] = "([{", closing[] = ")]}";
  t->match = alloc_zero(t->n + 1, sizeof *t->match);
  for (size_t i = 0; i < t->n; i++) {
    const char *o = t->code[i] ? strchr(opening, t->code[i]) : NULL;
    const char *c = t->code[i] ? strchr(closing, t->code[i]) : NULL;
    t->match[i] = t->n;
    if (o) {
      open[o - opening]++;
      stack[level++] = i;
    }
    if (!c || !open[c - closing])
      continue;
    /* A ')' or ']' does not reach over an open brace. */
    while (level > 0) {
      char top = t->code[stack[level - 1]];
      if (top == opening[c - closing])
        break;
      if (top == '{')
        break;
      open[strchr(opening, top) - opening]--;
      level--;
    }
    if (level > 0 && t->code[stack[level - 1]] == opening[c - closing]) {
      t->match[stack[--level]] = i;
      open[c - closing]--;
    }
  }
  free(stack);
}

static void read_macro(struct cuda_item_text *t, const struct cuda_mask_directive *d) {
  const char *s = t->source;
  size_t at = cuda_mask_directive_name(s, d);
  if (t->nmacros == MAX_MACROS || !cuda_mask_word(s, d->end, at, "define"))
    return;
  at += strlen("define");
  while (at < d->end && (s[at] == ' ' || s[at] == '\t'))
    at++;
  struct cuda_item_macro m = {.name = at};
  while (at < d->end && cuda_mask_ident(s[at]))
    at++;
  m.name_end = at;
  m.global = contains(s, at, d->end, "__global__");
  m.device = contains(s, at, d->end, "__device__") || contains(s, at, d->end, "__constant__");
  m.whole = at < d->end && s[at] == '(' && contains(s, at, d->end, "{");
  if (m.name_end > m.name && (m.global || m.device))
    t->macros[t->nmacros++] = m;
}

void cuda_item_text_make(struct cuda_item_text *t, const char *source,
                         const struct cuda_mask *mask) {
  *t = (struct cuda_item_text){.source = source, .code = mask->code, .n = mask->n};
  t->macros = alloc_zero(MAX_MACROS, sizeof *t->macros);
  match_brackets(t);
  for (int i = 0; i < mask->ndirectives; i++)
    read_macro(t, &mask->directives[i]);
}

void cuda_item_text_done(struct cuda_item_text *t) {
  free(t->match);
  free(t->macros);
  memset(t, 0, sizeof *t);
}

struct parse {
  struct cuda_item_text *t;
  struct cuda_item *i;
  size_t at, end;
  size_t word, word_end; /* the last plain word, before an '=' */
  size_t first;          /* start of the first plain word */
  size_t tail;           /* end of the <...> behind that word, 0 if there is none */
  int words;
  bool type, assign, init, attribute, other, is_namespace, is_extern, label, tmpl, named;
};

static size_t inside(const struct parse *p, size_t at) {
  size_t m = p->t->match[at];
  return m < p->end ? m + 1 : p->end;
}

/* Behind the '>' that fits the '<' here, or behind the '<' alone if it is a comparison. */
static size_t over_angle(struct parse *p) {
  const char *code = p->t->code;
  int depth = 0;
  size_t at = p->at;
  if (at < p->t->no_angle)
    return at + 1;
  while (at < p->end && at - p->at < ANGLE_REACH && code[at] != ';' && code[at] != '}') {
    char c = code[at];
    if (c == '(' || c == '[' || c == '{') {
      at = inside(p, at);
      continue;
    }
    depth += (c == '<') - (c == '>' && (at == 0 || code[at - 1] != '-'));
    at++;
    if (!depth)
      return at;
  }
  p->t->no_angle = at;
  return p->at + 1;
}

static void skip_space(struct parse *p) {
  while (p->at < p->end && is_space(p->t->code[p->at]))
    p->at++;
}

static bool one_of(const char *s, size_t b, size_t e, const char *const *words) {
  for (; *words; words++)
    if (strlen(*words) == e - b && !memcmp(s + b, *words, e - b))
      return true;
  return false;
}

#define IS(...) one_of(p->t->code, b, p->at, (const char *const[]){__VA_ARGS__, NULL})

static bool macro_word(struct parse *p, size_t b) {
  const struct cuda_item_text *t = p->t;
  for (int i = 0; i < t->nmacros; i++) {
    const struct cuda_item_macro *m = &t->macros[i];
    if (m->name_end - m->name != p->at - b || memcmp(t->source + m->name, t->code + b, p->at - b))
      continue;
    p->i->global |= m->global;
    p->i->device |= m->device;
    skip_space(p);
    if (m->whole && p->words == 0 && p->at < p->end && t->code[p->at] == '(') {
      p->at = inside(p, p->at);
      p->i->end = p->at;
      p->i->form = CUDA_ITEM_PROTOTYPE;
    }
    return true;
  }
  return false;
}

/* operator+, operator(), operator float *: the name ends before the parameters. */
static void operator_name(struct parse *p, size_t b) {
  const char *code = p->t->code;
  skip_space(p);
  if (p->at + 1 < p->end && code[p->at] == '(') {
    size_t close = p->t->match[p->at];
    if (close < p->end)
      p->at = close + 1;
  }
  while (p->at < p->end && !strchr("({;}", code[p->at]))
    p->at++;
  p->word = b;
  p->word_end = p->at;
  while (p->word_end > b && is_space(code[p->word_end - 1]))
    p->word_end--;
  p->attribute = false;
}

static void template_head(struct parse *p) {
  skip_space(p);
  p->tmpl = true;
  if (p->at >= p->end || p->t->code[p->at] != '<')
    return;
  size_t open = p->at;
  p->i->is_template = true;
  p->at = over_angle(p);
  p->i->targs = open + 1;
  p->i->targs_end = p->at > open + 1 ? p->at - 1 : open + 1;
}

/* True if this word is one whose meaning is known here; the others are names or types. */
static bool known_word(struct parse *p, size_t b) {
  struct cuda_item *i = p->i;
  if (IS("__global__"))
    i->global = true;
  else if (IS("__device__", "__constant__", "__managed__", "__shared__"))
    i->device = true;
  else if (IS("constexpr", "consteval", "constinit"))
    i->is_constexpr = true;
  else if (IS("const"))
    i->is_const = true;
  else if (IS("virtual"))
    i->is_virtual = true;
  else if (IS("__launch_bounds__", "__align__", "alignas", "__attribute__", "__declspec",
              "noexcept", "__maxnreg__", "__cluster_dims__", "__block_size__", "decltype",
              "requires", "throw"))
    p->attribute = true;
  else if (IS("template"))
    template_head(p);
  else if (IS("operator"))
    operator_name(p, b);
  else if (IS("namespace"))
    p->is_namespace = true;
  else if (IS("extern"))
    p->is_extern = true;
  else if (IS("using", "typedef", "static_assert", "friend", "asm", "concept"))
    p->other = true;
  else if (IS("struct", "class", "union", "enum"))
    p->type |= i->params == p->t->n && !p->other;
  else if (!IS("static", "inline", "__host__", "__inline__", "__forceinline__", "__noinline__",
               "__restrict__", "override", "final", "explicit", "mutable", "volatile"))
    return false;
  return true;
}

/* std::size_t, std::int64_t and numeric_limits are known to the compiler's prelude. */
static bool std_number(const struct parse *p) {
  size_t b = p->at;
  while (b < p->end && p->t->code[b] == ':')
    b++;
  size_t e = b;
  while (e < p->end && cuda_mask_ident(p->t->code[e]))
    e++;
  return e - b > 2 && (!memcmp(p->t->code + e - 2, "_t", 2));
}

static void word(struct parse *p) {
  size_t b = p->at;
  const char *code = p->t->code;
  while (p->at < p->end && cuda_mask_ident(code[p->at]))
    p->at++;
  bool attribute = p->attribute;
  p->attribute = false;
  if (macro_word(p, b) || known_word(p, b))
    return;
  p->attribute = attribute && p->type; /* struct __align__(16) Name */
  bool label = p->words == 0 && IS("public", "private", "protected");
  if (p->words++ == 0)
    p->first = b;
  if (IS("std") && p->words == 1)
    p->i->std_object = !std_number(p);
  if (!p->assign && !p->init) {
    p->word = b;
    p->word_end = p->at;
  }
  if (label) {
    skip_space(p);
    p->label = p->at < p->end && code[p->at] == ':';
  }
}

/* Parameters, if the function's name stands right before them. */
static void round_bracket(struct parse *p) {
  size_t open = p->at, prev = open;
  p->at = inside(p, open);
  while (prev > p->i->begin && is_space(p->t->code[prev - 1]))
    prev--;
  if (p->attribute) {
    p->attribute = false;
    return;
  }
  size_t in = open + 1;
  while (in < p->end && is_space(p->t->code[in]))
    in++;
  bool pointer = in < p->end && (p->t->code[in] == '*' || p->t->code[in] == '&');
  if (pointer && !p->named) {
    p->named = p->assign = true; /* int (*f)(int): a variable */
    return;
  }
  bool named = p->word_end == prev || (p->tail && p->tail == prev);
  if (p->assign || p->init || !named || p->word == prev)
    return;
  p->i->params = open;
  p->i->name = p->word;
  p->i->name_end = prev;
  p->named = true;
}

static void finish(struct parse *p, enum cuda_item_form form, size_t end) {
  p->i->form = form;
  p->i->end = end;
}

static void name_here(struct parse *p) {
  if (p->named || !p->word_end)
    return;
  p->i->name = p->word;
  p->i->name_end = p->word_end;
  p->named = true;
}

/* A brace; true if the item ends here. */
static bool brace(struct parse *p) {
  struct cuda_item *i = p->i;
  const char *code = p->t->code;
  size_t open = p->at, prev = open;
  p->at = inside(p, open);
  while (prev > i->begin && is_space(code[prev - 1]))
    prev--;
  bool function = i->params < p->t->n && !p->assign;
  if (p->is_namespace || (p->is_extern && p->words == 0 && !function && !p->type)) {
    i->body = open;
    i->name = p->words ? p->first : 0; /* a::b */
    i->name_end = p->word_end;
    finish(p, p->is_namespace ? CUDA_ITEM_NAMESPACE : CUDA_ITEM_EXTERN_C, p->at);
    return true;
  }
  if (function) {
    if (p->init && prev > i->begin && (cuda_mask_ident(code[prev - 1]) || code[prev - 1] == '>'))
      return false; /* : member{value} */
    i->body = open;
    size_t semicolon = p->at;
    while (semicolon < p->end && (code[semicolon] == ' ' || code[semicolon] == '\t'))
      semicolon++;
    bool has = semicolon < p->end && code[semicolon] == ';';
    finish(p, CUDA_ITEM_FUNCTION, has ? semicolon + 1 : p->at);
    return true;
  }
  if (p->type && !p->assign && i->body == p->t->n) {
    i->body = open;
    i->name = p->word;
    i->name_end = p->word_end;
    p->named = true;
  } else if (!p->assign) {
    name_here(p); /* float x{1} */
  }
  return false;
}

/* A ';' or the end of the range: what it was. */
static void ended(struct parse *p) {
  struct cuda_item *i = p->i;
  if (i->form != CUDA_ITEM_OTHER || i->end)
    return;
  i->end = p->at;
  name_here(p);
  if (p->other || p->is_namespace)
    return;
  if (p->type && i->body < p->t->n)
    i->form = CUDA_ITEM_TYPE;
  else if (i->params < p->t->n && !p->assign)
    i->form = CUDA_ITEM_PROTOTYPE;
  else if (p->words > 0 && !(p->type && p->words == 1) && !(p->tmpl && p->type))
    i->form = i->params < p->t->n ? CUDA_ITEM_PROTOTYPE : CUDA_ITEM_VARIABLE;
  if (i->params < p->t->n && p->assign)
    i->form = CUDA_ITEM_OTHER; /* = default, = delete, = 0 */
}

static void assignment(struct parse *p) {
  name_here(p);
  p->assign = true;
  p->at++;
}

/* One step; true if the item is complete. */
static bool step(struct parse *p) {
  const char *code = p->t->code;
  char c = code[p->at];
  bool pair = p->at + 1 < p->end && code[p->at + 1] == ':';
  if (c == '}')
    return true;
  if (c == ';') {
    p->at++;
    return true;
  }
  if (c == '{')
    return brace(p);
  if (cuda_mask_ident(c))
    word(p);
  else if (c == '(')
    round_bracket(p);
  else if (c == '[')
    p->at = inside(p, p->at);
  else if (c == '<') {
    bool tail = p->word_end == p->at;
    p->at = over_angle(p);
    if (tail)
      p->tail = p->at;
  } else if (c == '=')
    assignment(p);
  else if (c == ':' && pair)
    p->at += 2;
  else {
    if (c == ':')
      p->init = p->i->params < p->t->n;
    if (c == '*' && !p->assign)
      p->i->is_const = false; /* what it points to was const */
    if (c == ',' && !p->assign && !p->init)
      name_here(p); /* int a, b: named by the first */
    p->at++;
  }
  if (p->label) {
    finish(p, CUDA_ITEM_LABEL, p->at + 1 < p->end ? p->at + 1 : p->end);
    return true;
  }
  return p->i->end > 0;
}

struct cuda_item cuda_item_next(struct cuda_item_text *t, size_t at, size_t end) {
  struct cuda_item i = {.body = t->n, .params = t->n};
  struct parse p = {.t = t, .i = &i, .at = at, .end = end < t->n ? end : t->n};
  skip_space(&p);
  i.begin = p.at;
  if (p.at >= p.end) {
    i.begin = i.end = p.end;
    return i;
  }
  if (t->code[p.at] == '}') { /* closes nothing */
    i.end = p.at + 1;
    return i;
  }
  while (p.at < p.end && !step(&p))
    ;
  ended(&p);
  return i;
}
