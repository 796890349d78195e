#include "sim/xray/ptx_body.h"

#include "sim/xray/ptx_parse.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_REGS = 1 << 16, MAX_LOCS = 128 };

struct reg_decl { /* %r<33>: name "%r", first index, count; count 0: one register of that name */
  struct slice name;
  int first, count;
};

struct loc { /* a place, and the one that it is shown as */
  int64_t at[3];
  int file, line;
};

struct body {
  struct ptx_reader *r;
  struct ptx_func *f;
  struct reg_decl *decls;
  int ndecls;
  int scope;
  int file, line;
  bool nounroll;
  struct loc locs[MAX_LOCS]; /* a ring */
  unsigned nlocs;
};

/* ---- registers */

static bool same(struct slice a, struct slice b) {
  return a.n == b.n && memcmp(a.p, b.p, (size_t)a.n) == 0;
}

/* Index of a register, the newest declaration first; -1: not one. */
static int find_reg(const struct body *b, struct slice s) {
  int digits = 0, number = 0;
  while (digits < s.n && digits < 6 && isdigit((unsigned char)s.p[s.n - 1 - digits]))
    digits++;
  for (int i = s.n - digits; i < s.n; i++)
    number = number * 10 + s.p[i] - '0';
  struct slice stem = {s.p, s.n - digits};
  for (int i = b->ndecls - 1; i >= 0; i--) {
    const struct reg_decl *d = &b->decls[i];
    if (d->count == 0 ? same(d->name, s) : digits && number < d->count && same(d->name, stem))
      return d->first + (d->count ? number : 0);
  }
  return -1;
}

static void read_regs(struct body *b) {
  struct ptx_reader *r = b->r;
  while (r->lex.kind == TOK_WORD &&
         (ptx_lex_is(r->lex.text, ".v2") || ptx_lex_is(r->lex.text, ".v4")))
    ptx_lex_next(&r->lex);
  struct ptx_type type = ptx_parse_type(r->lex.text);
  if (type.cls == PTX_NONE) {
    ptx_parse_fail(r, "registers of an unknown type");
    return;
  }
  ptx_lex_next(&r->lex);
  do {
    struct reg_decl d = {r->lex.text, b->f->nregs, 0};
    int64_t count = 1;
    int fl = 0;
    if (r->lex.kind != TOK_WORD) {
      ptx_parse_fail(r, "a register name is missing");
      return;
    }
    ptx_lex_next(&r->lex);
    if (ptx_parse_accept(r, "<")) {
      if (!ptx_parse_number(r, &count, &fl) || !ptx_parse_expect(r, ">"))
        return;
      d.count = (int)(count > 0 && count <= MAX_REGS ? count : 0);
    }
    if (count < 1 || count > MAX_REGS || count + b->f->nregs > MAX_REGS) {
      ptx_parse_fail(r, "there are too many registers");
      return;
    }
    for (int64_t i = 0; i < count; i++) {
      b->f->regs = ptx_parse_more(b->f->regs, b->f->nregs, sizeof type);
      b->f->regs[b->f->nregs++] = type;
    }
    b->decls = ptx_parse_more(b->decls, b->ndecls, sizeof d);
    b->decls[b->ndecls++] = d;
  } while (ptx_parse_accept(r, ","));
  ptx_parse_expect(r, ";");
}

/* ---- operands */

static void read_operand(struct body *b, struct ptx_operand *o);

static void read_address(struct body *b, struct ptx_operand *o) {
  struct ptx_reader *r = b->r;
  int fl = 0;
  o->kind = PTX_ADDRESS;
  o->reg = -1;
  if (r->lex.kind == TOK_WORD) {
    o->reg = find_reg(b, r->lex.text);
    if (o->reg < 0)
      o->name = r->lex.text;
    ptx_lex_next(&r->lex);
    if (ptx_parse_accept(r, "+"))
      ptx_parse_number(r, &o->imm, &fl);
    else if (ptx_lex_is(r->lex.text, "-"))
      ptx_parse_number(r, &o->imm, &fl);
  } else {
    ptx_parse_number(r, &o->imm, &fl);
  }
  while (ptx_parse_accept(r, ",")) /* tensor coordinates: such an instruction is not supported */
    while (r->lex.kind != TOK_END && !ptx_lex_is(r->lex.text, ",") && !ptx_lex_is(r->lex.text, "]"))
      ptx_lex_next(&r->lex);
  ptx_parse_expect(r, "]");
}

static void read_vector(struct body *b, struct ptx_operand *o) {
  enum { MOST = 256 }; /* wgmma takes 128 */
  struct ptx_operand parts[MOST];
  int n = 0;
  o->kind = PTX_VECTOR;
  if (ptx_parse_accept(b->r, "}"))
    return;
  do {
    if (n == MOST) {
      ptx_parse_fail(b->r, "a vector is too long");
      return;
    }
    if (ptx_lex_is(b->r->lex.text, "{")) {
      ptx_parse_fail(b->r, "a vector in a vector");
      return;
    }
    read_operand(b, &parts[n++]);
  } while (ptx_parse_accept(b->r, ","));
  ptx_parse_expect(b->r, "}");
  o->first = b->f->npool;
  o->n = n;
  for (int i = 0; i < n; i++) {
    b->f->pool = ptx_parse_more(b->f->pool, b->f->npool, sizeof *o);
    b->f->pool[b->f->npool++] = parts[i];
  }
}

static void read_word(struct body *b, struct ptx_operand *o) {
  struct slice s = b->r->lex.text;
  o->name = s;
  o->reg = find_reg(b, s);
  if (o->reg >= 0)
    o->kind = PTX_REG;
  else if (ptx_lex_is(s, "_"))
    o->kind = PTX_SINK;
  else if (*s.p == '%' || ptx_lex_is(s, "WARP_SZ"))
    o->kind = PTX_SPECIAL;
  else
    o->kind = PTX_SYMBOL;
  ptx_lex_next(&b->r->lex);
  int fl = 0;
  if (o->kind == PTX_SYMBOL && (ptx_parse_accept(b->r, "+") || ptx_lex_is(b->r->lex.text, "-")))
    ptx_parse_number(b->r, &o->imm, &fl);
}

static void read_operand(struct body *b, struct ptx_operand *o) {
  struct ptx_reader *r = b->r;
  *o = (struct ptx_operand){.reg = -1};
  if (ptx_parse_accept(r, "[")) {
    read_address(b, o);
  } else if (ptx_parse_accept(r, "{")) {
    read_vector(b, o);
  } else if (ptx_parse_accept(r, "!")) {
    o->neg = true;
    if (r->lex.kind == TOK_WORD)
      read_word(b, o);
    else
      ptx_parse_fail(r, "a predicate is missing");
    o->neg = true;
  } else if (r->lex.kind == TOK_NUMBER || ptx_lex_is(r->lex.text, "-")) {
    const struct ptx_lex before = r->lex;
    ptx_lex_next(&r->lex);
    bool minus_reg = ptx_lex_is(before.text, "-") && r->lex.kind == TOK_WORD;
    if (!minus_reg)
      r->lex = before;
    o->kind = PTX_IMM;
    if (minus_reg)
      read_word(b, o);
    else
      ptx_parse_number(r, &o->imm, &o->imm_float);
    o->neg = minus_reg;
  } else if (r->lex.kind == TOK_WORD) {
    read_word(b, o);
  } else {
    ptx_parse_fail(r, "an operand is missing");
  }
}

/* ---- statements */

static void read_guard(struct body *b, struct ptx_insn *in) {
  in->guard = -1;
  if (!ptx_parse_accept(b->r, "@"))
    return;
  in->guard_neg = ptx_parse_accept(b->r, "!");
  in->guard = find_reg(b, b->r->lex.text);
  if (in->guard < 0 || b->f->regs[in->guard].cls != PTX_PRED)
    ptx_parse_fail(b->r, "a guard is no predicate register");
  ptx_lex_next(&b->r->lex);
}

static void skip_statement(struct ptx_reader *r) {
  while (r->lex.kind != TOK_END && !ptx_lex_is(r->lex.text, ";"))
    ptx_lex_next(&r->lex);
}

/* Names up to `end`, which is passed over, as a vector. */
static struct ptx_operand read_names(struct body *b, const char *end) {
  struct ptx_operand v = {.kind = PTX_VECTOR, .reg = -1, .first = b->f->npool};
  while (!b->r->failed && !ptx_parse_accept(b->r, end)) {
    struct ptx_operand o;
    if (ptx_lex_is(b->r->lex.text, "{")) {
      ptx_parse_fail(b->r, "a vector in a list");
      return v;
    }
    read_operand(b, &o);
    b->f->pool = ptx_parse_more(b->f->pool, b->f->npool, sizeof o);
    b->f->pool[b->f->npool++] = o;
    v.n++;
    ptx_parse_accept(b->r, ",");
  }
  return v;
}

/* "call (retval0), name, (a, b), proto;": name, what is returned, what is given. */
static void read_call(struct body *b, struct ptx_insn *in) {
  struct ptx_reader *r = b->r;
  in->n = 3;
  in->a[1] = in->a[2] = (struct ptx_operand){.kind = PTX_VECTOR, .reg = -1};
  if (ptx_parse_accept(r, "(")) {
    in->a[1] = read_names(b, ")");
    ptx_parse_accept(r, ",");
  }
  if (r->lex.kind != TOK_WORD) {
    ptx_parse_fail(r, "the name of a function is missing");
    return;
  }
  read_word(b, &in->a[0]);
  if (ptx_parse_accept(r, ",") && ptx_parse_accept(r, "("))
    in->a[2] = read_names(b, ")");
  skip_statement(r);
}

static void read_operands(struct body *b, struct ptx_insn *in) {
  while (!b->r->failed && !ptx_lex_is(b->r->lex.text, ";")) {
    struct ptx_operand o;
    read_operand(b, &o);
    if (in->n == 0 && ptx_parse_accept(b->r, "|")) {
      in->pair = find_reg(b, b->r->lex.text);
      ptx_lex_next(&b->r->lex);
    }
    if (in->n < PTX_OPERANDS)
      in->a[in->n++] = o;
    else
      in->too_long = true;
    if (!ptx_parse_accept(b->r, ","))
      break;
  }
}

static void read_insn(struct body *b) {
  struct ptx_reader *r = b->r;
  struct ptx_insn in = {.pair = -1,
                        .scope = b->scope,
                        .file = b->file,
                        .line = b->line,
                        .text_line = r->lex.text_line};
  in.nounroll = b->nounroll;
  read_guard(b, &in);
  if (r->lex.kind != TOK_WORD) {
    ptx_parse_fail(r, "an instruction is missing");
    return;
  }
  in.op = r->lex.text;
  ptx_lex_next(&r->lex);
  if (in.guard < 0 && ptx_parse_accept(r, ":")) {
    b->f->labels = ptx_parse_more(b->f->labels, b->f->nlabels, sizeof *b->f->labels);
    b->f->labels[b->f->nlabels++] = (struct ptx_label){in.op, b->scope, b->f->ncode};
    return;
  }
  if (in.op.n >= 4 && memcmp(in.op.p, "call", 4) == 0)
    read_call(b, &in);
  else
    read_operands(b, &in);
  if (!ptx_parse_expect(r, ";"))
    return;
  b->f->code = ptx_parse_more(b->f->code, b->f->ncode, sizeof in);
  b->f->code[b->f->ncode++] = in;
  b->nounroll = false;
}

static bool read_place(struct ptx_reader *r, int64_t v[3]) {
  int fl = 0;
  for (int i = 0; i < 3; i++)
    if (!ptx_parse_number(r, &v[i], &fl))
      return false;
  return true;
}

/* The newest .loc of that place, NULL: none. */
static const struct loc *find_loc(const struct body *b, const int64_t v[3]) {
  for (int i = 0; i < MAX_LOCS; i++) {
    const struct loc *l = &b->locs[(b->nlocs + MAX_LOCS - 1 - (unsigned)i) % MAX_LOCS];
    if (l->file && memcmp(l->at, v, sizeof l->at) == 0)
      return l;
  }
  return NULL;
}

/* Code of a header that was inlined belongs to the line of the kernel's own file that brought it
 * in. */
static void set_line(struct body *b, const int64_t v[3], const int64_t from[3], bool inlined) {
  struct loc now = {{v[0], v[1], v[2]}, (int)(v[0] & 0xfffff), (int)(v[1] & 0xffffff)};
  if (inlined) {
    const struct loc *outer = find_loc(b, from);
    int file = outer ? outer->file : (int)(from[0] & 0xfffff);
    if (file != now.file) {
      now.file = file;
      now.line = outer ? outer->line : (int)(from[1] & 0xffffff);
    }
  }
  b->file = now.file;
  b->line = now.line;
  b->locs[b->nlocs++ % MAX_LOCS] = now;
}

/* .loc file line column{, function_name LABEL+N, inlined_at file line column} */
static void read_loc(struct body *b) {
  int64_t v[3], from[3] = {0};
  bool inlined = false;
  if (!read_place(b->r, v))
    return;
  while (ptx_parse_accept(b->r, ",")) {
    if (ptx_parse_accept(b->r, "inlined_at")) {
      inlined = true;
      if (!read_place(b->r, from))
        return;
      continue;
    }
    ptx_lex_next(&b->r->lex);
    ptx_lex_next(&b->r->lex);
    ptx_parse_accept(b->r, "+");
    while (b->r->lex.kind == TOK_NUMBER)
      ptx_lex_next(&b->r->lex);
  }
  set_line(b, v, from, inlined);
}

/* The label that stands before ".branchtargets" is its name. */
static void read_targets(struct body *b) {
  struct ptx_func *f = b->f;
  if (f->nlabels == 0) {
    ptx_parse_fail(b->r, "a list of targets has no name");
    return;
  }
  struct slice name = f->labels[f->nlabels - 1].name;
  struct ptx_operand v = read_names(b, ";");
  f->tables = ptx_parse_more(f->tables, f->ntables, sizeof *f->tables);
  f->tables[f->ntables++] = (struct ptx_table){name, b->scope, v.first, v.n};
}

static void read_directive(struct body *b) {
  struct ptx_reader *r = b->r;
  if (ptx_parse_accept(r, ".reg")) {
    read_regs(b);
  } else if (ptx_parse_accept(r, ".loc")) {
    read_loc(b);
  } else if (ptx_parse_accept(r, ".branchtargets")) {
    read_targets(b);
  } else if (ptx_lex_is(r->lex.text, ".shared") || ptx_lex_is(r->lex.text, ".local") ||
             ptx_lex_is(r->lex.text, ".param")) {
    b->f->vars = ptx_parse_more(b->f->vars, b->f->nvars, sizeof *b->f->vars);
    struct ptx_var *v = &b->f->vars[b->f->nvars++];
    ptx_parse_var(r, v);
    v->scope = b->scope;
    ptx_parse_expect(r, ";");
  } else {
    if (ptx_parse_accept(r, ".pragma"))
      b->nounroll = ptx_lex_is(r->lex.text, "nounroll");
    skip_statement(r);
    ptx_parse_expect(r, ";");
  }
}

static void open_scope(struct body *b) {
  b->f->scope_parent = ptx_parse_more(b->f->scope_parent, b->f->nscopes, sizeof(int));
  b->f->scope_parent[b->f->nscopes] = b->scope;
  b->scope = b->f->nscopes++;
}

enum { MAX_DEPTH = 64 };

static int by_scope_and_name(const void *x, const void *y) {
  const struct ptx_label *a = x, *b = y;
  int c = ptx_body_label_order(a, b->scope, b->name);
  return c ? c : (a->at > b->at) - (a->at < b->at);
}

int ptx_body_label_order(const struct ptx_label *l, int scope, struct slice name) {
  if (l->scope != scope)
    return l->scope < scope ? -1 : 1;
  if (l->name.n != name.n)
    return l->name.n < name.n ? -1 : 1;
  return memcmp(l->name.p, name.p, (size_t)name.n);
}

void ptx_body_read(struct ptx_reader *r, struct ptx_func *f) {
  struct body b = {.r = r, .f = f, .scope = -1};
  int marks[MAX_DEPTH], depth = 0;
  do {
    if (r->lex.kind == TOK_END) {
      ptx_parse_fail(r, "a function is not closed");
    } else if (ptx_parse_accept(r, "{")) {
      if (depth == MAX_DEPTH) {
        ptx_parse_fail(r, "braces are too deep");
        break;
      }
      marks[depth++] = b.ndecls;
      open_scope(&b);
    } else if (ptx_parse_accept(r, "}")) {
      /* An array that grows by doubling at powers of two may be cut back without harm. */
      b.ndecls = marks[--depth];
      b.scope = f->scope_parent[b.scope];
    } else if (r->lex.kind == TOK_WORD && *r->lex.text.p == '.') {
      read_directive(&b);
    } else if (!ptx_parse_accept(r, ";")) {
      read_insn(&b);
    }
  } while (depth > 0 && !r->failed);
  if (f->nlabels)
    qsort(f->labels, (size_t)f->nlabels, sizeof *f->labels, by_scope_and_name);
  free(b.decls);
}
