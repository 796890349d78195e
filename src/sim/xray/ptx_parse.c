#include "sim/xray/ptx_parse.h"

#include "base/alloc.h"
#include "sim/xray/ptx_body.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- small things shared with the reader of bodies */

bool ptx_parse_fail(struct ptx_reader *r, const char *what) {
  if (!r->failed)
    err_set(r->err, "PTX line %d: %s, at \"%.*s\". The text is damaged; make it again with NVRTC.",
            r->lex.text_line, what, r->lex.text.n < 40 ? r->lex.text.n : 40, r->lex.text.p);
  r->failed = true;
  r->lex.at = r->lex.end;
  ptx_lex_next(&r->lex);
  return false;
}

bool ptx_parse_accept(struct ptx_reader *r, const char *word) {
  if (r->lex.kind == TOK_END || !ptx_lex_is(r->lex.text, word))
    return false;
  ptx_lex_next(&r->lex);
  return true;
}

bool ptx_parse_expect(struct ptx_reader *r, const char *word) {
  return ptx_parse_accept(r, word) || ptx_parse_fail(r, "a sign is missing");
}

void *ptx_parse_more(void *p, int n, size_t size) {
  if (n & (n - 1))
    return p;
  return alloc_grow(p, n ? (size_t)n * 2 : 1, size);
}

struct ptx_type ptx_parse_type(struct slice s) {
  static const struct {
    const char *name;
    struct ptx_type type;
  } types[] = {
      {"pred", {PTX_PRED, 0, false}},    {"b8", {PTX_BITS, 1, false}},
      {"b16", {PTX_BITS, 2, false}},     {"b32", {PTX_BITS, 4, false}},
      {"b64", {PTX_BITS, 8, false}},     {"u8", {PTX_UNSIGNED, 1, false}},
      {"u16", {PTX_UNSIGNED, 2, false}}, {"u32", {PTX_UNSIGNED, 4, false}},
      {"u64", {PTX_UNSIGNED, 8, false}}, {"s8", {PTX_SIGNED, 1, false}},
      {"s16", {PTX_SIGNED, 2, false}},   {"s32", {PTX_SIGNED, 4, false}},
      {"s64", {PTX_SIGNED, 8, false}},   {"f16", {PTX_FLOAT, 2, false}},
      {"bf16", {PTX_FLOAT, 2, true}},    {"f16x2", {PTX_FLOAT, 4, true}},
      {"bf16x2", {PTX_FLOAT, 4, true}},  {"f32", {PTX_FLOAT, 4, false}},
      {"f64", {PTX_FLOAT, 8, false}},    {"tf32", {PTX_FLOAT, 4, true}},
  };
  if (s.n && *s.p == '.')
    s = (struct slice){s.p + 1, s.n - 1};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (ptx_lex_is(s, types[i].name))
      return types[i].type;
  return (struct ptx_type){PTX_NONE, 0, false};
}

static bool hex_bits(const char *p, int n, int64_t *out) {
  uint64_t v = 0;
  for (int i = 0; i < n; i++) {
    int c = tolower((unsigned char)p[i]);
    if (!isxdigit(c))
      return false;
    v = v << 4 | (uint64_t)(isdigit(c) ? c - '0' : c - 'a' + 10);
  }
  *out = (int64_t)v;
  return true;
}

bool ptx_parse_number(struct ptx_reader *r, int64_t *out, int *float_bytes) {
  *float_bytes = 0;
  *out = 0;
  bool minus = ptx_parse_accept(r, "-");
  if (r->lex.kind != TOK_NUMBER)
    return ptx_parse_fail(r, "a number is missing");
  char buf[48];
  struct slice s = r->lex.text;
  if (s.n >= (int)sizeof buf)
    return ptx_parse_fail(r, "a number is too long");
  memcpy(buf, s.p, (size_t)s.n);
  buf[s.n] = '\0';
  bool ok = true;
  int marker = tolower((unsigned char)buf[1]);
  if (buf[0] == '0' && (marker == 'f' || marker == 'd')) {
    *float_bytes = marker == 'f' ? 4 : 8;
    ok = s.n == 2 + 2 * *float_bytes && hex_bits(buf + 2, s.n - 2, out);
    if (minus)
      *out = (int64_t)((uint64_t)*out ^ (uint64_t)1 << (8 * *float_bytes - 1));
  } else if (memchr(buf, '.', (size_t)s.n)) {
    double d = strtod(buf, NULL);
    *float_bytes = 8;
    d = minus ? -d : d;
    memcpy(out, &d, sizeof d);
  } else {
    uint64_t v = strtoull(buf, NULL, 0);
    *out = (int64_t)(minus ? -v : v);
  }
  ptx_lex_next(&r->lex);
  return ok || ptx_parse_fail(r, "a number cannot be read");
}

/* ---- variables */

static enum ptx_space space_of(struct slice s) {
  static const char *const names[] = {"", ".global", ".shared", ".local", ".const", ".param"};
  for (int i = 1; i < PTX_SPACES; i++)
    if (ptx_lex_is(s, names[i]))
      return (enum ptx_space)i;
  return PTX_GENERIC;
}

enum { MAX_VAR_COUNT = 1 << 26, MAX_VAR_BYTES = 1 << 28 };

/* "[4][8]": the product; -1 for "[]". */
static int64_t read_extent(struct ptx_reader *r) {
  int64_t count = 1, n = 0;
  int fl = 0;
  while (ptx_parse_accept(r, "[")) {
    if (ptx_parse_accept(r, "]"))
      return -1;
    if (!ptx_parse_number(r, &n, &fl) || !ptx_parse_expect(r, "]"))
      return 0;
    if (n < 0 || n > MAX_VAR_COUNT || (count *= n) > MAX_VAR_COUNT) {
      ptx_parse_fail(r, "an array is too large");
      return 0;
    }
  }
  return count;
}

/* "name", "name+4", "generic(name)+4" */
static void read_symbol(struct ptx_reader *r, struct ptx_reloc *to) {
  int fl = 0;
  to->generic = ptx_lex_is(r->lex.text, "generic");
  if (to->generic) {
    ptx_lex_next(&r->lex);
    ptx_parse_expect(r, "(");
  }
  if (r->lex.kind != TOK_WORD) {
    ptx_parse_fail(r, "the name of a variable is missing");
    return;
  }
  to->name = r->lex.text;
  ptx_lex_next(&r->lex);
  if (to->generic)
    ptx_parse_expect(r, ")");
  if (ptx_parse_accept(r, "+") || ptx_lex_is(r->lex.text, "-"))
    ptx_parse_number(r, &to->add, &fl);
}

static void add_reloc(struct ptx_var *v, struct ptx_reloc to) {
  if (to.at + to.bytes > v->bytes)
    return;
  v->relocs = ptx_parse_more(v->relocs, v->nrelocs, sizeof to);
  v->relocs[v->nrelocs++] = to;
}

/* A short list may stand for a large array: the bytes are there as far as values are. */
static void put_value(struct ptx_var *v, int64_t at, int64_t value) {
  int64_t end = at + v->type.bytes;
  if (end > v->bytes)
    return;
  if (end > v->ninit) {
    int64_t more = 2 * end < v->bytes ? 2 * end : v->bytes;
    v->init = alloc_grow(v->init, (size_t)more, 1);
    memset(v->init + v->ninit, 0, (size_t)(more - v->ninit));
    v->ninit = more;
  }
  memcpy(v->init + at, &value, (size_t)v->type.bytes);
}

/* One value at byte `at`: a number, an address, or one byte of an address: 0xFF00(generic(x)). */
static void read_value(struct ptx_reader *r, struct ptx_var *v, int64_t at) {
  int64_t value = 0;
  int fl = 0;
  struct ptx_reloc to = {.at = at, .bytes = v->type.bytes};
  if (r->lex.kind == TOK_WORD) {
    read_symbol(r, &to);
    add_reloc(v, to);
    return;
  }
  if (!ptx_parse_number(r, &value, &fl))
    return;
  if (ptx_parse_accept(r, "(")) {
    if (value == 0) {
      ptx_parse_fail(r, "a mask of an address is zero");
      return;
    }
    to.shift = __builtin_ctzll((unsigned long long)value);
    read_symbol(r, &to);
    ptx_parse_expect(r, ")");
    add_reloc(v, to);
    return;
  }
  if (fl == 8 && v->type.bytes == 4) { /* "1.5" without 0f */
    double d;
    memcpy(&d, &value, sizeof d);
    float f = (float)d;
    memcpy(&value, &f, sizeof f);
  }
  put_value(v, at, value);
}

/* What is missing at the end of an array is zero. */
static void read_init(struct ptx_reader *r, struct ptx_var *v) {
  int64_t at = 0;
  int braces = 0;
  v->init = alloc_zero(8, 1);
  do {
    while (ptx_parse_accept(r, "{"))
      braces++;
    read_value(r, v, at);
    at += v->type.bytes;
    while (braces && ptx_parse_accept(r, "}"))
      braces--;
  } while (!r->failed && ptx_parse_accept(r, ","));
  if (braces)
    ptx_parse_fail(r, "a brace is not closed");
}

bool ptx_parse_var(struct ptx_reader *r, struct ptx_var *v) {
  *v = (struct ptx_var){.space = space_of(r->lex.text), .align = 0};
  ptx_lex_next(&r->lex);
  int fl = 0;
  int vec = 1;
  while (r->lex.kind == TOK_WORD && *r->lex.text.p == '.') {
    if (ptx_parse_accept(r, ".align")) {
      if (!ptx_parse_number(r, &v->align, &fl))
        return false;
      if (v->align < 1 || v->align > 4096 || v->align & (v->align - 1))
        return ptx_parse_fail(r, "an alignment is no power of two");
      continue;
    }
    if (ptx_lex_is(r->lex.text, ".v2") || ptx_lex_is(r->lex.text, ".v4"))
      vec = r->lex.text.p[2] - '0';
    struct ptx_type t = ptx_parse_type(r->lex.text);
    if (t.cls != PTX_NONE)
      v->type = t;
    ptx_lex_next(&r->lex);
  }
  if (!v->type.bytes || r->lex.kind != TOK_WORD)
    return ptx_parse_fail(r, "a variable has no type or no name");
  v->name = r->lex.text;
  ptx_lex_next(&r->lex);
  int64_t count = read_extent(r);
  v->dynamic = count < 0;
  v->bytes = count < 0 ? 0 : count * v->type.bytes * vec;
  if (v->bytes > MAX_VAR_BYTES)
    return ptx_parse_fail(r, "an array is too large");
  if (v->align < (int64_t)v->type.bytes * vec)
    v->align = (int64_t)v->type.bytes * vec;
  if (ptx_parse_accept(r, "="))
    read_init(r, v);
  return !r->failed;
}

/* ---- functions and the file */

/* "(.param .b32 a, .param .align 4 .b8 b[12])" */
static void read_params(struct ptx_reader *r, struct ptx_var **list, int *n) {
  if (!ptx_parse_accept(r, "("))
    return;
  while (!r->failed && !ptx_parse_accept(r, ")")) {
    if (!ptx_lex_is(r->lex.text, ".param") && !ptx_lex_is(r->lex.text, ".reg")) {
      ptx_parse_fail(r, "a parameter is expected");
      return;
    }
    *list = ptx_parse_more(*list, *n, sizeof **list);
    struct ptx_var *v = &(*list)[(*n)++];
    ptx_parse_var(r, v);
    v->scope = -1;
    ptx_parse_accept(r, ",");
  }
}

static void skip_braces(struct ptx_reader *r) {
  int depth = 0;
  do {
    depth += ptx_lex_is(r->lex.text, "{");
    depth -= ptx_lex_is(r->lex.text, "}");
    ptx_lex_next(&r->lex);
  } while (depth > 0 && r->lex.kind != TOK_END);
}

/* ".maxntid 256, 1, 1"; extents that are not there are 1. */
static void read_extents(struct ptx_reader *r, int64_t of[3]) {
  int fl = 0;
  of[0] = of[1] = of[2] = 1;
  for (int i = 0; i < 3 && ptx_parse_number(r, &of[i], &fl); i++) {
    if (of[i] < 1 || of[i] > INT32_MAX)
      ptx_parse_fail(r, "a number of threads is out of range");
    if (!ptx_parse_accept(r, ","))
      return;
  }
}

/* What stands between a function's parameters and its body. */
static void read_directives(struct ptx_reader *r, struct ptx_func *f) {
  while (r->lex.kind != TOK_END && !ptx_lex_is(r->lex.text, "{") && !ptx_lex_is(r->lex.text, ";"))
    if (ptx_parse_accept(r, ".maxntid"))
      read_extents(r, f->most);
    else if (ptx_parse_accept(r, ".reqntid"))
      read_extents(r, f->exact);
    else
      ptx_lex_next(&r->lex); /* .minnctapersm and the like */
}

static void read_func(struct ptx_reader *r, bool entry) {
  struct ptx_func f = {.entry = entry};
  ptx_lex_next(&r->lex);
  if (!entry)
    read_params(r, &f.rets, &f.nrets);
  f.name = r->lex.text;
  ptx_lex_next(&r->lex);
  read_params(r, &f.params, &f.nparams);
  read_directives(r, &f);
  if (ptx_lex_is(r->lex.text, "{")) {
    f.defined = true;
    ptx_body_read(r, &f);
  } else {
    ptx_lex_next(&r->lex);
  }
  r->m->funcs = ptx_parse_more(r->m->funcs, r->m->nfuncs, sizeof f);
  r->m->funcs[r->m->nfuncs++] = f;
}

static void read_file(struct ptx_reader *r) {
  int64_t number = 0;
  int fl = 0;
  if (!ptx_parse_number(r, &number, &fl))
    return;
  if (r->lex.kind != TOK_STRING || number < 0 || number > 1 << 20) {
    ptx_parse_fail(r, "a file name is missing");
    return;
  }
  r->m->files = ptx_parse_more(r->m->files, r->m->nfiles, sizeof *r->m->files);
  r->m->files[r->m->nfiles++] = (struct ptx_file){(int)number, r->lex.text};
  ptx_lex_next(&r->lex);
  while (ptx_parse_accept(r, ",")) /* time and size */
    ptx_parse_number(r, &number, &fl);
}

static void read_top(struct ptx_reader *r) {
  if (ptx_lex_is(r->lex.text, ".entry") || ptx_lex_is(r->lex.text, ".func")) {
    read_func(r, ptx_lex_is(r->lex.text, ".entry"));
  } else if (space_of(r->lex.text) != PTX_GENERIC) {
    r->m->vars = ptx_parse_more(r->m->vars, r->m->nvars, sizeof *r->m->vars);
    struct ptx_var *v = &r->m->vars[r->m->nvars++];
    ptx_parse_var(r, v);
    if (v->space == PTX_LOCAL || v->space == PTX_PARAM)
      ptx_parse_fail(r, "such a variable belongs into a function");
    ptx_parse_expect(r, ";");
  } else if (ptx_parse_accept(r, ".file")) {
    read_file(r);
  } else if (ptx_parse_accept(r, ".section")) {
    while (r->lex.kind != TOK_END && !ptx_lex_is(r->lex.text, "{"))
      ptx_lex_next(&r->lex);
    skip_braces(r);
  } else if (r->lex.kind == TOK_PUNCT && !ptx_lex_is(r->lex.text, ",") &&
             !ptx_lex_is(r->lex.text, ";")) {
    ptx_parse_fail(r, "this stands outside of a function");
  } else {
    ptx_lex_next(&r->lex); /* .version 6.3, .target, .visible ... */
  }
}

struct ptx_module *ptx_parse(const char *text, size_t n, struct err *err) {
  struct ptx_module *m = alloc_zero(1, sizeof *m);
  m->text = alloc_strn(text, strnlen(text, n));
  struct ptx_reader r = {.m = m, .err = err};
  ptx_lex_init(&r.lex, m->text, strlen(m->text));
  ptx_lex_next(&r.lex);
  while (r.lex.kind != TOK_END)
    read_top(&r);
  if (!r.failed && m->nfuncs == 0) {
    err_set(err, "PTX line %d: there is no kernel in this text. Give PTX with an .entry.",
            r.lex.text_line);
    r.failed = true;
  }
  if (r.failed) {
    ptx_parse_free(m);
    return NULL;
  }
  return m;
}

static void free_vars(struct ptx_var *v, int n) {
  for (int i = 0; i < n; i++) {
    free(v[i].init);
    free(v[i].relocs);
  }
  free(v);
}

void ptx_parse_free(struct ptx_module *m) {
  if (!m)
    return;
  for (int i = 0; i < m->nfuncs; i++) {
    struct ptx_func *f = &m->funcs[i];
    free_vars(f->params, f->nparams);
    free_vars(f->rets, f->nrets);
    free_vars(f->vars, f->nvars);
    free(f->regs);
    free(f->code);
    free(f->pool);
    free(f->labels);
    free(f->tables);
    free(f->scope_parent);
  }
  free_vars(m->vars, m->nvars);
  free(m->funcs);
  free(m->files);
  free(m->text);
  free(m);
}
