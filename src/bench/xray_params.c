#include "bench/xray_params.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct piece {
  const char *p;
  size_t n;
};

static bool is_ident(char c) { return isalnum((unsigned char)c) || c == '_'; }

static struct piece trim(struct piece s) {
  while (s.n && isspace((unsigned char)*s.p))
    s.p++, s.n--;
  while (s.n && isspace((unsigned char)s.p[s.n - 1]))
    s.n--;
  return s;
}

/* The text up to the next comma outside of all brackets; moves *at behind it. */
static bool next_piece(const char **at, struct piece *out) {
  const char *begin = *at;
  int depth = 0;
  if (!*begin)
    return false;
  for (; **at && (depth > 0 || **at != ','); ++*at)
    depth += (strchr("<([{", **at) != NULL) - (strchr(">)]}", **at) != NULL && depth > 0);
  *out = trim((struct piece){begin, (size_t)(*at - begin)});
  *at += **at == ',';
  return true;
}

static bool is(struct piece s, const char *word) {
  return s.n == strlen(word) && memcmp(s.p, word, s.n) == 0;
}

static bool is_one_of(struct piece s, const char *const *list) {
  for (; *list; list++)
    if (is(s, *list))
      return true;
  return false;
}

/* The next word of a declaration; false at its end. Signs are words of one letter. */
static bool next_word(struct piece *rest, struct piece *word) {
  *rest = trim(*rest);
  if (!rest->n)
    return false;
  size_t n = 0;
  while (n < rest->n && (is_ident(rest->p[n]) || (rest->p[n] == ':' && n > 0)))
    n++;
  n = n ? n : 1;
  *word = (struct piece){rest->p, n};
  rest->p += n;
  rest->n -= n;
  for (size_t i = 0; i + 2 < word->n; i++) /* std::size_t */
    if (word->p[i] == ':' && word->p[i + 1] == ':') {
      word->p += i + 2;
      word->n -= i + 2;
      i = 0;
    }
  return true;
}

/* The argument that stands for the template's type parameter `name`; n = 0 if it is none. */
static struct piece argument_of(struct piece name, const char *template_params, const char *entry) {
  const char *open = entry ? strchr(entry, '<') : NULL;
  struct piece param, arg = {0};
  if (!open || !template_params)
    return arg;
  char args[256];
  snprintf(args, sizeof args, "%s", open + 1);
  char *close = strrchr(args, '>');
  if (close)
    *close = '\0';
  const char *p = template_params, *a = args;
  while (next_piece(&p, &param) && next_piece(&a, &arg)) {
    struct piece word, kind = {0}, last = {0};
    for (int i = 0; next_word(&param, &word) && *word.p != '='; i++) {
      kind = i ? kind : word;
      last = word;
    }
    if ((is(kind, "typename") || is(kind, "class")) && last.n == name.n &&
        memcmp(last.p, name.p, name.n) == 0)
      return (struct piece){open + 1 + (arg.p - args), arg.n};
  }
  return (struct piece){0};
}

/* Takes one word of the type in. */
static void take_type(struct xray_params_one *one, struct piece w) {
  static const char *const floats[DT_COUNT][8] = {
      [DT_F32] = {"float", "float2", "float3", "float4"},
      [DT_F64] = {"double", "double2", "double4"},
      [DT_F16] = {"half", "half2", "__half", "__half2", "half_t"},
      [DT_BF16] = {"__nv_bfloat16", "nv_bfloat16", "__nv_bfloat162", "nv_bfloat162", "bf16",
                   "bfloat16"}};
  static const char *const integers[] = {
      "int",     "long",    "short",    "char",      "signed",   "unsigned", "size_t",
      "ssize_t", "int64_t", "uint64_t", "int32_t",   "uint32_t", "int16_t",  "uint16_t",
      "int8_t",  "uint8_t", "uint",     "ptrdiff_t", "ushort",   "uchar",    "int2",
      "int4",    "uint2",   "uint4",    "bool",      NULL};
  static const char *const unsigneds[] = {"unsigned", "size_t",  "uint64_t", "uint32_t",
                                          "uint16_t", "uint8_t", "uint",     NULL};
  for (int t = 0; t < DT_COUNT; t++)
    if (is_one_of(w, floats[t])) {
      one->kind = XRAY_PARAMS_FLOATING;
      one->dtype = (enum kernel_dtype)t;
    }
  if (is_one_of(w, integers))
    one->kind = XRAY_PARAMS_INTEGER;
  one->is_unsigned = one->is_unsigned || is_one_of(w, unsigneds);
}

static void read_one(struct xray_params_one *one, struct piece decl, const char *template_params,
                     const char *entry) {
  static const char *const skipped[] = {"volatile", "__restrict__",      "__restrict", "restrict",
                                        "struct",   "__grid_constant__", "&",          NULL};
  struct piece word, name = {0};
  int angles = 0;
  snprintf(one->text, sizeof one->text, "%.*s", (int)decl.n, decl.p);
  while (next_word(&decl, &word)) {
    if (*word.p == '=')
      break;
    angles += (*word.p == '<') - (*word.p == '>');
    if (angles > 0)
      continue; /* arguments of a template: Vec<float, 4> is no float */
    if (*word.p == '*' || *word.p == '[')
      one->pointer = true;
    else if (is(word, "const"))
      one->is_const = one->is_const || !one->pointer;
    else if (!is_one_of(word, skipped) && is_ident(*word.p)) {
      struct piece type = argument_of(word, template_params, entry);
      struct piece w;
      while (type.n && next_word(&type, &w))
        take_type(one, w);
      take_type(one, word);
      if (!isdigit((unsigned char)*word.p))
        name = word;
    }
  }
  snprintf(one->name, sizeof one->name, "%.*s", (int)name.n, name.n ? name.p : "");
}

void xray_params_read(struct xray_params *p, const char *params, const char *template_params,
                      const char *entry) {
  memset(p, 0, sizeof *p);
  struct piece decl;
  const char *at = params;
  while (next_piece(&at, &decl)) {
    if (is(decl, "void") || !decl.n)
      continue;
    if (p->n < XRAY_PARAMS_MAX)
      read_one(&p->all[p->n], decl, template_params, entry);
    p->n++;
  }
}
