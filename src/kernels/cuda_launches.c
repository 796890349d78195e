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

static void add(struct cuda_launches *l, const char *source, const struct cuda_mask *m, size_t at,
                int line) {
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
  if (name == name_end)
    return;
  if (!(l->n & (l->n + 1))) /* room for 1, 3, 7, ... is used up: double it */
    l->all = alloc_grow(l->all, (size_t)(2 * l->n + 1), sizeof *l->all);
  l->all[l->n++] = (struct cuda_launch){
      .kernel = alloc_strn(source + name, name_end - name),
      .template_args = args < end ? cuda_launches_fold(source, m, args + 1, end - 1) : NULL,
      .grid = cuda_launches_fold(source, m, cut.b[0], cut.e[0]),
      .block = cuda_launches_fold(source, m, cut.b[1], cut.e[1]),
      .smem = cut.n > 2 ? cuda_launches_fold(source, m, cut.b[2], cut.e[2]) : alloc_str(""),
      .args = call_args(source, m, cut.end),
      .line = line};
}

void cuda_launches_find(struct cuda_launches *l, const char *source, const struct cuda_mask *m) {
  *l = (struct cuda_launches){0};
  int line = 1;
  for (size_t at = 0; at < m->n; at++) {
    line += m->code[at] == '\n';
    if (m->code[at] == '<' && at + 3 < m->n && !memcmp(m->code + at, "<<<", 3)) {
      add(l, source, m, at, line);
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
