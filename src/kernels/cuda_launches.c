#include "kernels/cuda_launches.h"
#include "base/alloc.h"
#include "base/str.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { REACH = 1024 }; /* bytes looked at on either side of a `<<<` */

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

char *cuda_launches_fold(const char *source, const struct cuda_mask *mask, size_t b, size_t e) {
  struct str out = {0};
  bool gap = false, in_string = false;
  for (; b < e && b < mask->n; b++) {
    char c = mask->code[b];
    if (c == '"')
      in_string = !in_string;
    else if (in_string && source[b])
      c = source[b];
    if (is_space(c)) {
      gap = true;
      continue;
    }
    if (gap && out.len)
      str_addc(&out, ' ');
    gap = false;
    str_addc(&out, c);
  }
  return str_take(&out);
}

static size_t back_over_space(const char *code, size_t at) {
  while (at > 0 && is_space(code[at - 1]))
    at--;
  return at;
}

/* The '<' that opens the argument list ending before `end`; `end` if there is none in reach. */
static size_t open_angle(const char *code, size_t end) {
  int angle = 0, round = 0;
  for (size_t at = end; at > 0 && end - at < REACH; at--) {
    char c = code[at - 1];
    if (c == ';' || c == '{' || c == '}')
      break;
    round += (c == ')') - (c == '(');
    if (round < 0)
      break;
    if (round)
      continue;
    angle += (c == '>') - (c == '<');
    if (!angle)
      return at - 1;
  }
  return end;
}

/* Start of the qualified name that ends at `end`. */
static size_t name_start(const char *code, size_t end) {
  size_t at = end;
  while (at > 0 && end - at < REACH && (cuda_mask_ident(code[at - 1]) || code[at - 1] == ':'))
    at--;
  return at;
}

struct cut {
  size_t b[4], e[4]; /* grid, block, smem, stream */
  int n;
  size_t end; /* behind the >>> */
};

/* Cuts the launch configuration at its commas; `at` is behind the <<<. */
static bool cut_config(const struct cuda_mask *m, size_t at, struct cut *cut) {
  int depth = 0;
  size_t limit = at + REACH < m->n ? at + REACH : m->n;
  memset(cut, 0, sizeof *cut);
  cut->b[0] = at;
  for (; at < limit; at++) {
    char c = m->code[at];
    if (c == ';')
      return false;
    depth += (c == '(' || c == '{' || c == '[') - (c == ')' || c == '}' || c == ']');
    bool end = depth == 0 && at + 2 < m->n && !memcmp(m->code + at, ">>>", 3);
    if (end || (depth == 0 && c == ',' && cut->n < 3)) {
      cut->e[cut->n++] = at;
      if (end) {
        cut->end = at + 3;
        return cut->n >= 2;
      }
      cut->b[cut->n] = at + 1;
    }
  }
  return false;
}

static char *call_args(const char *source, const struct cuda_mask *m, size_t at) {
  while (at < m->n && is_space(m->code[at]))
    at++;
  if (at >= m->n || m->code[at] != '(')
    return alloc_str("");
  int depth = 0;
  for (size_t e = at; e < m->n && e - at < REACH; e++) {
    depth += (m->code[e] == '(') - (m->code[e] == ')');
    if (!depth)
      return cuda_launches_fold(source, m, at + 1, e);
  }
  return alloc_str("");
}

enum { STATEMENT = 120, MAX_STEPS = 3, BUDGET = 1 << 23 };

enum made { NOTHING, VALUE, TYPE };

/* What the statement that holds `at` makes. */
static enum made statement_makes(const char *code, size_t at) {
  size_t b = at;
  while (b > 0 && at - b < STATEMENT && !strchr(";{}#", code[b - 1]))
    b--;
  for (size_t i = b; i + 5 <= at; i++)
    if (!memcmp(code + i, "const", 5))
      return VALUE;
    else if (!memcmp(code + i, "using", 5))
      return TYPE;
  return NOTHING;
}

/* `budget` is how many bytes may still be looked at for constants, so that the time is bounded. */
struct finder {
  const char *source;
  const struct cuda_mask *m;
  long budget;
};

/* What code[b, e), a name, was made last before `at` in the text: [*vb, *ve). */
static enum made find_constant(struct finder *f, size_t b, size_t e, size_t at, size_t *vb,
                               size_t *ve) {
  const char *code = f->m->code;
  size_t len = e - b, from = at > 8 * REACH ? at - 8 * REACH : 0;
  for (size_t i = at; i > from + len && f->budget > 0; i--, f->budget--) {
    size_t d = i - len, v = i;
    if (code[d] != code[b] || memcmp(code + d, code + b, len) || d == 0 ||
        cuda_mask_ident(code[d - 1]) || cuda_mask_ident(code[i]))
      continue;
    while (v < at && is_space(code[v]))
      v++;
    if (v + 1 >= at || code[v] != '=' || code[v + 1] == '=')
      continue;
    f->budget -= 2 * STATEMENT;
    enum made made = statement_makes(code, d);
    if (!made)
      continue;
    int depth = 0;
    *vb = ++v;
    for (; v < at && v - *vb < 100 && code[v] != ';' && code[v] != '{'; v++) {
      depth += (code[v] == '(' || code[v] == '<') - (code[v] == ')' || code[v] == '>');
      if (code[v] == ',' && !depth)
        break;
    }
    *ve = v;
    return code[v] == ';' || code[v] == ',' ? made : NOTHING;
  }
  return NOTHING;
}

static void add_value(struct str *out, struct finder *f, size_t b, size_t e, int depth);

/* A name in a template's argument list: itself, or the constant that it stands for. */
static void add_name(struct str *out, struct finder *f, size_t b, size_t e, int depth) {
  size_t vb, ve;
  bool number = f->m->code[b] >= '0' && f->m->code[b] <= '9';
  enum made made = number || !depth ? NOTHING : find_constant(f, b, e, b, &vb, &ve);
  if (!made) {
    str_addn(out, f->source + b, e - b);
    return;
  }
  while (vb < ve && is_space(f->m->code[vb]))
    vb++;
  ve = back_over_space(f->m->code, ve);
  bool simple = true; /* a type must not stand in brackets */
  for (size_t i = vb; i < ve; i++)
    simple &= made == TYPE || cuda_mask_ident(f->m->code[i]);
  str_add(out, simple ? "" : "(");
  add_value(out, f, vb, ve, depth - 1);
  str_add(out, simple ? "" : ")");
}

static void add_value(struct str *out, struct finder *f, size_t b, size_t e, int depth) {
  while (b < e) {
    size_t w = b;
    while (w < e && cuda_mask_ident(f->m->code[w]))
      w++;
    if (w > b) {
      add_name(out, f, b, w, depth);
    } else {
      char *piece = cuda_launches_fold(f->source, f->m, b, b + 1);
      str_add(out,
              is_space(f->m->code[b]) && out->len && out->data[out->len - 1] != ' ' ? " " : piece);
      free(piece);
      w++;
    }
    b = w;
  }
}

/* The argument list [b, e) with the constants of the text before it put in: what a compiler can
 * read outside the function that launches. */
static char *template_args(struct finder *f, size_t b, size_t e) {
  struct str out = {0};
  while (b < e && is_space(f->m->code[b]))
    b++;
  add_value(&out, f, b, back_over_space(f->m->code, e), MAX_STEPS);
  return str_take(&out);
}

static void add(struct cuda_launches *l, struct finder *f, size_t at, int line) {
  const char *source = f->source;
  const struct cuda_mask *m = f->m;
  struct cut cut;
  size_t end = back_over_space(m->code, at), args = end;
  if (!end || (m->code[end - 1] != '>' && !cuda_mask_ident(m->code[end - 1])) ||
      !cut_config(m, at + 3, &cut))
    return;
  if (end > 0 && m->code[end - 1] == '>') {
    args = open_angle(m->code, end);
    if (args == end)
      return;
  }
  size_t name_end = back_over_space(m->code, args), name = name_start(m->code, name_end);
  size_t before = back_over_space(m->code, name);
  if (name == name_end || (before > 0 && m->code[before - 1] == '.') ||
      (before > 1 && !memcmp(m->code + before - 2, "->", 2)))
    return;                 /* a pointer to a kernel, in a table */
  if (!(l->n & (l->n + 1))) /* room for 1, 3, 7, ... is used up: double it */
    l->all = alloc_grow(l->all, (size_t)(2 * l->n + 1), sizeof *l->all);
  l->all[l->n++] = (struct cuda_launch){
      .kernel = alloc_strn(source + name, name_end - name),
      .template_args = args < end ? template_args(f, args + 1, end - 1) : NULL,
      .grid = cuda_launches_fold(source, m, cut.b[0], cut.e[0]),
      .block = cuda_launches_fold(source, m, cut.b[1], cut.e[1]),
      .smem = cut.n > 2 ? cuda_launches_fold(source, m, cut.b[2], cut.e[2]) : alloc_str(""),
      .args = call_args(source, m, cut.end),
      .line = line};
}

void cuda_launches_find(struct cuda_launches *l, const char *source, const struct cuda_mask *m) {
  *l = (struct cuda_launches){0};
  struct finder f = {.source = source, .m = m, .budget = BUDGET};
  int line = 1;
  for (size_t at = 0; at < m->n; at++) {
    line += m->code[at] == '\n';
    if (m->code[at] == '<' && at + 3 < m->n && !memcmp(m->code + at, "<<<", 3)) {
      add(l, &f, at, line);
      at += 2;
    }
  }
}

void cuda_launches_done(struct cuda_launches *l) {
  for (int i = 0; i < l->n; i++) {
    free(l->all[i].kernel);
    free(l->all[i].template_args);
    free(l->all[i].grid);
    free(l->all[i].block);
    free(l->all[i].smem);
    free(l->all[i].args);
  }
  free(l->all);
  *l = (struct cuda_launches){0};
}
