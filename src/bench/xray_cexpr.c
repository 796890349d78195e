#include "bench/xray_cexpr.h"

#include "bench/xray_cfind.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 24, STEPS_MAX = 400, NAME_MAX = 64, ARGS_MAX = 6 };

struct value {
  double v;
  bool whole; /* of an integer type: division cuts off */
};

/* Arguments of the macro or function whose body is being read. */
struct frame {
  char names[ARGS_MAX][NAME_MAX];
  struct value values[ARGS_MAX];
  int n;
};

/* Of one evaluation. */
struct meter {
  int steps;
  int sizes; /* how often a name was known without the file */
};

struct reader {
  const struct xray_cexpr *c;
  const char *p;
  const struct frame *frame;
  int depth;
  struct meter *meter;
};

static bool read_ternary(struct reader *r, struct value *out);
static bool read_unary(struct reader *r, struct value *out);

static void skip(struct reader *r) {
  while (isspace((unsigned char)*r->p))
    r->p++;
}

static bool take(struct reader *r, const char *sign) {
  skip(r);
  size_t n = strlen(sign);
  if (strncmp(r->p, sign, n) != 0)
    return false;
  r->p += n;
  return true;
}

static bool read_name(struct reader *r, char out[NAME_MAX]) {
  skip(r);
  size_t n = 0;
  if (!isalpha((unsigned char)*r->p) && *r->p != '_')
    return false;
  while (isalnum((unsigned char)r->p[n]) || r->p[n] == '_')
    n++;
  if (n >= NAME_MAX)
    return false;
  memcpy(out, r->p, n);
  out[n] = '\0';
  r->p += n;
  if (strncmp(r->p, "::", 2) == 0) { /* std::min: the last part counts */
    r->p += 2;
    return read_name(r, out);
  }
  return true;
}

/* Evaluates another text, which must be used up. */
static bool evaluate(const struct reader *from, const char *text, const struct frame *frame,
                     struct value *out) {
  struct reader r = {from->c, text, frame, from->depth + 1, from->meter};
  if (r.depth > DEPTH_MAX || ++r.meter->steps > STEPS_MAX || !read_ternary(&r, out))
    return false;
  skip(&r);
  return *r.p == '\0' || *r.p == ';';
}

/* ---- names and calls */

static bool is_type(const char *name) {
  static const char *const types[] = {"int",      "unsigned", "long",     "size_t", "uint",
                                      "uint32_t", "int64_t",  "float",    "double", "const",
                                      "short",    "int32_t",  "uint64_t", NULL};
  for (int i = 0; types[i]; i++)
    if (strcmp(name, types[i]) == 0)
      return true;
  return false;
}

static bool size_of(struct reader *r, struct value *out) {
  char name[NAME_MAX];
  if (!take(r, "(") || !read_name(r, name))
    return false;
  static const struct {
    const char *name;
    int bytes;
  } sizes[] = {{"float", 4},  {"int", 4},   {"double", 8},        {"half", 2},
               {"__half", 2}, {"char", 1},  {"__nv_bfloat16", 2}, {"float4", 16},
               {"float2", 8}, {"short", 2}, {"unsigned", 4}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    if (strcmp(name, sizes[i].name) == 0) {
      *out = (struct value){sizes[i].bytes, true};
      return take(r, ")");
    }
  return false;
}

static bool read_args(struct reader *r, struct value out[ARGS_MAX], int *n) {
  *n = 0;
  if (take(r, ")"))
    return true;
  do {
    if (*n == ARGS_MAX || !read_ternary(r, &out[(*n)++]))
      return false;
  } while (take(r, ","));
  return take(r, ")");
}

static bool builtin_call(const char *name, const struct value *a, int n, struct value *out) {
  bool both = n == 2 && a[0].whole && a[1].whole;
  if (n == 1 && (strcmp(name, "ceil") == 0 || strcmp(name, "ceilf") == 0))
    *out = (struct value){ceil(a[0].v), false};
  else if (n == 1 && (strcmp(name, "floor") == 0 || strcmp(name, "floorf") == 0))
    *out = (struct value){floor(a[0].v), false};
  else if (n == 2 && strcmp(name, "min") == 0)
    *out = (struct value){fmin(a[0].v, a[1].v), both};
  else if (n == 2 && strcmp(name, "max") == 0)
    *out = (struct value){fmax(a[0].v, a[1].v), both};
  else
    return false;
  return true;
}

/* Names of the parameters in "int a, int b" or "a, b". */
static void name_frame(struct frame *f, const char *params) {
  for (f->n = 0; *params && f->n < ARGS_MAX; params += *params == ',') {
    size_t n = strcspn(params, ","), e = n, b;
    while (e && !isalnum((unsigned char)params[e - 1]) && params[e - 1] != '_')
      e--;
    for (b = e; b && (isalnum((unsigned char)params[b - 1]) || params[b - 1] == '_');)
      b--;
    snprintf(f->names[f->n++], NAME_MAX, "%.*s", (int)(e - b), params + b);
    params += n;
  }
}

static bool read_call(struct reader *r, const char *name, struct value *out) {
  struct frame f = {.n = 0};
  struct value args[ARGS_MAX];
  int n;
  char params[XRAY_CFIND_TEXT], body[XRAY_CFIND_TEXT];
  if (!read_args(r, args, &n))
    return false;
  const char *define = xray_cfind_define(r->c, name, body);
  if (define && *define == '(') {
    size_t len = strcspn(define, ")");
    snprintf(params, sizeof params, "%.*s", (int)len - 1, define + 1);
    if (!define[len])
      return false;
    memmove(body, define + len + 1, strlen(define + len + 1) + 1);
  } else if (builtin_call(name, args, n, out)) {
    return true;
  } else if (!xray_cfind_function(r->c, name, params, body)) {
    return false;
  }
  name_frame(&f, params);
  memcpy(f.values, args, sizeof args);
  return f.n == n && evaluate(r, body, &f, out);
}

static bool dims(const struct reader *r, const char *text, struct value out[3]);

/* A size or a define, which need no file. */
static bool known(const struct reader *r, const char *name, struct value *out) {
  double v;
  if (!r->c->known || !r->c->known(r->c->ctx, name, &v))
    return false;
  *out = (struct value){v, v == floor(v)};
  r->meter->sizes++;
  return true;
}

static bool read_variable(struct reader *r, const char *name, struct value *out) {
  char text[XRAY_CFIND_TEXT];
  for (int i = 0; r->frame && i < r->frame->n; i++)
    if (strcmp(r->frame->names[i], name) == 0) {
      *out = r->frame->values[i];
      return true;
    }
  if (take(r, ".")) { /* block.x */
    char part[NAME_MAX];
    struct value three[3];
    if (!read_name(r, part) || part[1] || !strchr("xyz", part[0]) || !dims(r, name, three))
      return false;
    *out = three[part[0] - 'x'];
    return true;
  }
  if (known(r, name, out))
    return true;
  if ((xray_cfind_template(r->c, name, text) || xray_cfind_define(r->c, name, text)) &&
      evaluate(r, text, NULL, out))
    return true;
  /* `int n = width * height` is what it says; `int n = 512` is the size, and that is asked for. */
  int sizes = r->meter->sizes;
  bool found = xray_cfind_variable(r->c, name, text) && evaluate(r, text, NULL, out);
  if (found && r->meter->sizes > sizes)
    return true;
  char upper[2] = {(char)toupper((unsigned char)name[0]), '\0'};
  return (!name[1] && strchr("MNK", upper[0]) && known(r, upper, out)) || found;
}

/* ---- the grammar of C's expressions, as far as it goes */

static bool read_number(struct reader *r, struct value *out) {
  char *end;
  bool hex = r->p[0] == '0' && (r->p[1] == 'x' || r->p[1] == 'X');
  out->v = strtod(r->p, &end);
  if (end == r->p)
    return false;
  out->whole = hex || !memchr(r->p, '.', (size_t)(end - r->p));
  r->p = end + strspn(end, "uUlLfF");
  return true;
}

static struct value cast_to(const char *type, struct value v) {
  bool floating = strcmp(type, "float") == 0 || strcmp(type, "double") == 0;
  return (struct value){floating ? v.v : trunc(v.v), !floating};
}

/* "unsigned int" and the sign behind it; the last word into type. False, and r as it was, where it
 * is no type. */
static bool read_type(struct reader *r, char type[NAME_MAX], const char *end) {
  struct reader ahead = *r;
  char name[NAME_MAX];
  bool any = false;
  while (read_name(&ahead, name) && is_type(name)) {
    memcpy(type, name, sizeof name);
    any = true;
    skip(&ahead);
    if (*ahead.p == *end)
      break;
  }
  if (!any || !take(&ahead, end))
    return false;
  *r = ahead;
  return true;
}

static bool read_primary(struct reader *r, struct value *out) {
  char name[NAME_MAX];
  skip(r);
  if (isdigit((unsigned char)*r->p) || *r->p == '.')
    return read_number(r, out);
  if (take(r, "(")) {
    if (!read_type(r, name, ")"))
      return read_ternary(r, out) && take(r, ")");
    if (!read_unary(r, out))
      return false;
    *out = cast_to(name, *out);
    return true;
  }
  if (!read_name(r, name))
    return false;
  if (strcmp(name, "sizeof") == 0)
    return size_of(r, out);
  if (strcmp(name, "static_cast") == 0) {
    if (!take(r, "<") || !read_type(r, name, ">") || !take(r, "(") || !read_ternary(r, out) ||
        !take(r, ")"))
      return false;
    *out = cast_to(name, *out);
    return true;
  }
  return take(r, "(") ? read_call(r, name, out) : read_variable(r, name, out);
}

static bool read_unary(struct reader *r, struct value *out) {
  if (++r->meter->steps > STEPS_MAX || ++r->depth > DEPTH_MAX)
    return false;
  bool minus = take(r, "-"), ok;
  if (!minus)
    take(r, "+");
  ok = read_primary(r, out);
  if (minus)
    out->v = -out->v;
  r->depth--;
  return ok;
}

static bool apply(const char *op, struct value *x, struct value y) {
  bool whole = x->whole && y.whole;
  switch (op[0]) {
  case '*':
    x->v *= y.v;
    break;
  case '+':
    x->v += y.v;
    break;
  case '-':
    x->v -= y.v;
    break;
  case '/':
  case '%':
    if (y.v == 0)
      return false;
    if (op[0] == '/')
      x->v = whole ? trunc(x->v / y.v) : x->v / y.v;
    else
      x->v = fmod(x->v, y.v);
    break;
  case '<':
    x->v = op[1] == '<' ? ldexp(x->v, (int)y.v) : op[1] == '=' ? x->v <= y.v : x->v < y.v;
    break;
  case '>':
    x->v = op[1] == '>' ? floor(ldexp(x->v, -(int)y.v)) : op[1] == '=' ? x->v >= y.v : x->v > y.v;
    break;
  case '=':
    x->v = x->v == y.v;
    break;
  default:
    x->v = x->v != y.v;
    break;
  }
  x->whole = whole || strchr("<>=!", op[0]);
  return fabs(x->v) < 0x1p53;
}

/* Operators by how tightly they bind, loosest first. */
static const char *const levels[][5] = {
    {"==", "!="}, {"<=", ">=", "<", ">"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};
enum { LEVELS = sizeof levels / sizeof *levels };

static const char *take_operator(struct reader *r, int level) {
  skip(r);
  for (int i = 0; i < 5 && levels[level][i]; i++) {
    const char *op = levels[level][i];
    bool shift = level == 1 && (strncmp(r->p, "<<", 2) == 0 || strncmp(r->p, ">>", 2) == 0);
    if (!shift && take(r, op))
      return op;
  }
  return NULL;
}

static bool read_level(struct reader *r, int level, struct value *out) {
  if (level == LEVELS)
    return read_unary(r, out);
  if (!read_level(r, level + 1, out))
    return false;
  const char *op;
  while ((op = take_operator(r, level))) {
    struct value y;
    if (!read_level(r, level + 1, &y) || !apply(op, out, y))
      return false;
  }
  return true;
}

static bool read_ternary(struct reader *r, struct value *out) {
  struct value yes, no;
  if (!read_level(r, 0, out))
    return false;
  if (!take(r, "?"))
    return true;
  if (!read_ternary(r, &yes) || !take(r, ":") || !read_ternary(r, &no))
    return false;
  *out = out->v != 0 ? yes : no;
  return true;
}

/* ---- three numbers */

/* "x, y, z" up to the end of the text or a closing bracket. */
static bool read_list(struct reader *r, struct value out[3]) {
  int n = 0;
  do {
    if (n == 3 || !read_ternary(r, &out[n++]))
      return false;
  } while (take(r, ","));
  return true;
}

static void ones(struct value out[3]) {
  for (int i = 0; i < 3; i++)
    out[i] = (struct value){1, true};
}

static bool dims(const struct reader *from, const char *text, struct value out[3]) {
  struct reader r = {from->c, text, from->frame, from->depth + 1, from->meter};
  char name[NAME_MAX], list[XRAY_CFIND_TEXT];
  double v;
  ones(out);
  if (r.depth > DEPTH_MAX || ++r.meter->steps > STEPS_MAX)
    return false;
  struct reader ahead = r;
  if (take(&ahead, "{"))
    return read_list(&ahead, out) && take(&ahead, "}");
  if (read_name(&ahead, name)) {
    if (strcmp(name, "dim3") == 0 && (take(&ahead, "(") || take(&ahead, "{")))
      return read_list(&ahead, out);
    skip(&ahead);
    bool alone = *ahead.p == '\0' || *ahead.p == ';';
    bool size = r.c->known && r.c->known(r.c->ctx, name, &v);
    if (alone && !size && xray_cfind_variable(r.c, name, list)) {
      ahead = (struct reader){r.c, list, r.frame, r.depth + 1, r.meter};
      if (dims(&r, list, out) || read_list(&ahead, out))
        return true;
      ones(out);
    }
  }
  return read_list(&r, out) && (skip(&r), *r.p == '\0' || *r.p == ';');
}

bool xray_cexpr_dim3(const struct xray_cexpr *c, const char *text, int64_t out[3]) {
  struct meter meter = {0};
  struct value v[3];
  const struct reader r = {.c = c, .meter = &meter};
  if (!dims(&r, text, v))
    return false;
  for (int i = 0; i < 3; i++)
    out[i] = (int64_t)v[i].v;
  return true;
}

bool xray_cexpr_value(const struct xray_cexpr *c, const char *text, double *out) {
  struct meter meter = {0};
  struct value v;
  const struct reader r = {.c = c, .meter = &meter};
  if (!evaluate(&r, text, NULL, &v))
    return false;
  *out = v.v;
  return true;
}
