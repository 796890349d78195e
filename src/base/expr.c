#include "base/expr.h"

#include "base/alloc.h"
#include "base/str.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { max_length = 4096, max_depth = 64, max_stack = 512, max_name = 63 };

/* A parsed expression is a program for a small stack machine, so that evaluating needs no recursion
 * and `?:`, && and || skip what they do not need. */
enum opcode {
  OP_NUMBER,
  OP_NAME,
  OP_JUMP,
  OP_JUMP_ZERO, /* pops */
  OP_AND,       /* 0 on top: jumps and keeps it; otherwise pops */
  OP_OR,        /* not 0 on top: makes it 1 and jumps; otherwise pops */
  OP_BOOL,
  OP_NOT,
  OP_NEGATE,
  OP_CEIL,
  OP_FLOOR,
  OP_ROUND,
  OP_ABS,
  OP_SQRT,
  OP_LOG2,
  OP_ADD, /* from here on two operands */
  OP_SUBTRACT,
  OP_MULTIPLY,
  OP_DIVIDE,
  OP_REMAINDER,
  OP_POWER,
  OP_LESS,
  OP_LESS_EQUAL,
  OP_GREATER,
  OP_GREATER_EQUAL,
  OP_EQUAL,
  OP_NOT_EQUAL,
  OP_MIN,
  OP_MAX,
  OP_GCD
};

struct op {
  enum opcode code;
  int column;
  int arg; /* jump target, or place of the name in names */
  double number;
};

struct expr {
  struct op *ops;
  int n, cap;
  struct str names; /* NUL-terminated, one after another */
};

static const struct {
  const char *name;
  enum opcode code;
  int least, most;
} functions[] = {
    {"min", OP_MIN, 1, 64},    {"max", OP_MAX, 1, 64},    {"ceil", OP_CEIL, 1, 1},
    {"floor", OP_FLOOR, 1, 1}, {"round", OP_ROUND, 1, 1}, {"abs", OP_ABS, 1, 1},
    {"sqrt", OP_SQRT, 1, 1},   {"log2", OP_LOG2, 1, 1},   {"gcd", OP_GCD, 2, 64},
};

/* ---- characters and numbers */

static bool is_digit(int c) { return c >= '0' && c <= '9'; }
static bool is_letter(int c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t name_length(const char *s) {
  size_t n = 0;
  if (!is_letter(s[0]))
    return 0;
  while (is_letter(s[n]) || is_digit(s[n]) ||
         (s[n] == '.' && (is_letter(s[n + 1]) || is_digit(s[n + 1]))))
    n++;
  return n;
}

static size_t number_length(const char *s) {
  size_t n = 0, digits = 0;
  for (; is_digit(s[n]); n++)
    digits++;
  if (s[n] == '.')
    for (n++; is_digit(s[n]); n++)
      digits++;
  if (digits == 0)
    return 0;
  if (s[n] == 'e' || s[n] == 'E') {
    size_t exponent = n + 1;
    exponent += s[exponent] == '+' || s[exponent] == '-';
    if (is_digit(s[exponent]))
      for (n = exponent; is_digit(s[n]);)
        n++;
  }
  return n;
}

static locale_t c_locale;
static void make_c_locale(void) { c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

static double read_number(const char *s, size_t n) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_c_locale);
  char *text = alloc_strn(s, n);
  double value = c_locale ? strtod_l(text, NULL, c_locale) : strtod(text, NULL);
  free(text);
  return value;
}

/* ---- parser */

struct parser {
  const char *text, *at;
  expr *e;
  struct err *err;
  int depth, stack;
};

static int column_of(const struct parser *p, const char *at) {
  int column = 1;
  for (const char *c = p->text; c < at; c++)
    column += ((unsigned char)*c & 0xC0) != 0x80;
  return column;
}

static bool fail(struct parser *p, const char *at, const char *what) {
  return err_set(p->err, "Column %d: %s", column_of(p, at), what);
}

static void skip_space(struct parser *p) {
  while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r')
    p->at++;
}

static bool take(struct parser *p, const char *token) {
  skip_space(p);
  size_t n = strlen(token);
  if (strncmp(p->at, token, n) != 0)
    return false;
  p->at += n;
  return true;
}

static bool enter(struct parser *p, const char *at) {
  if (p->depth == max_depth)
    return fail(p, at, "the expression is nested more than 64 deep.");
  p->depth++;
  return true;
}

/* Adds an instruction that changes the stack by `grows`; gives its index, for jumps. */
static int add(struct parser *p, enum opcode code, const char *at, int grows) {
  expr *e = p->e;
  if (e->n == e->cap) {
    e->cap = e->cap ? e->cap * 2 : 16;
    e->ops = alloc_grow(e->ops, (size_t)e->cap, sizeof *e->ops);
  }
  p->stack += grows;
  e->ops[e->n] = (struct op){.code = code, .column = column_of(p, at)};
  return e->n++;
}

static bool parse_ternary(struct parser *p);
static bool parse_unary(struct parser *p);

/* Behind "name(": arguments are folded two by two. */
static bool parse_call(struct parser *p, const char *name, size_t n) {
  size_t f = 0, count = sizeof functions / sizeof *functions;
  while (f < count && (strlen(functions[f].name) != n || strncmp(functions[f].name, name, n) != 0))
    f++;
  if (f == count)
    return fail(p, name,
                "this is no function; there are min max ceil floor round abs sqrt log2 gcd.");
  if (!enter(p, name))
    return false;
  int args = 0;
  do {
    if (!parse_ternary(p))
      return false;
    if (++args > functions[f].most)
      return fail(p, name, "the function has too many arguments.");
    if (args > 1)
      add(p, functions[f].code, name, -1);
  } while (take(p, ","));
  if (args < functions[f].least)
    return fail(p, name, "the function needs two arguments.");
  if (!take(p, ")"))
    return fail(p, p->at, "a closing parenthesis is needed here.");
  if (functions[f].most == 1)
    add(p, functions[f].code, name, 0);
  p->depth--;
  return true;
}

static bool parse_name(struct parser *p) {
  const char *name = p->at;
  size_t n = name_length(name);
  p->at += n;
  if (take(p, "("))
    return parse_call(p, name, n);
  if (n > max_name)
    return fail(p, name, "the name has more than 63 characters.");
  int i = add(p, OP_NAME, name, 1);
  p->e->ops[i].arg = (int)p->e->names.len;
  str_addn(&p->e->names, name, n);
  str_addc(&p->e->names, '\0');
  return true;
}

static bool parse_number(struct parser *p) {
  const char *at = p->at;
  size_t n = number_length(at);
  double value = read_number(at, n);
  if (!isfinite(value))
    return fail(p, at, "the number is too large.");
  if (value == 0 && strcspn(at, "123456789") < strcspn(at, "eE") && strcspn(at, "123456789") < n)
    return fail(p, at, "the number is too small.");
  p->at += n;
  if (is_letter(*p->at) || *p->at == '.' || is_digit(*p->at))
    return fail(p, p->at, "a number is followed by something else; write * to multiply.");
  int i = add(p, OP_NUMBER, at, 1);
  p->e->ops[i].number = value;
  return true;
}

static bool parse_primary(struct parser *p) {
  skip_space(p);
  const char *at = p->at;
  if (p->stack >= max_stack - 1)
    return fail(p, at, "the expression is too complex.");
  if (is_letter(*at))
    return parse_name(p);
  if (number_length(at))
    return parse_number(p);
  if (!take(p, "("))
    return fail(p, at,
                *at ? "a number, a name or a parenthesis is needed here."
                    : "the expression ends where a number or a name is needed.");
  if (!enter(p, at) || !parse_ternary(p))
    return false;
  if (!take(p, ")"))
    return fail(p, p->at, "a closing parenthesis is needed here.");
  p->depth--;
  return true;
}

static bool parse_power(struct parser *p) {
  if (!parse_primary(p))
    return false;
  skip_space(p);
  const char *at = p->at;
  if (!take(p, "^"))
    return true;
  if (!enter(p, at) || !parse_unary(p)) /* to the right, and 2^-3 */
    return false;
  p->depth--;
  add(p, OP_POWER, at, -1);
  return true;
}

static bool parse_unary(struct parser *p) {
  skip_space(p);
  const char *at = p->at;
  if (*at != '-' && *at != '+' && (*at != '!' || at[1] == '='))
    return parse_power(p);
  p->at++;
  if (!enter(p, at) || !parse_unary(p))
    return false;
  p->depth--;
  if (*at != '+')
    add(p, *at == '-' ? OP_NEGATE : OP_NOT, at, 0);
  return true;
}

static bool parse_product(struct parser *p) {
  if (!parse_unary(p))
    return false;
  for (;;) {
    skip_space(p);
    const char *at = p->at;
    if (*at != '*' && *at != '/' && *at != '%')
      return true;
    p->at++;
    if (!parse_unary(p))
      return false;
    add(p, *at == '*' ? OP_MULTIPLY : *at == '/' ? OP_DIVIDE : OP_REMAINDER, at, -1);
  }
}

static bool parse_sum(struct parser *p) {
  if (!parse_product(p))
    return false;
  for (;;) {
    skip_space(p);
    const char *at = p->at;
    if (*at != '+' && *at != '-')
      return true;
    p->at++;
    if (!parse_product(p))
      return false;
    add(p, *at == '+' ? OP_ADD : OP_SUBTRACT, at, -1);
  }
}

static bool take_relation(struct parser *p, enum opcode *code) {
  static const struct {
    const char *token;
    enum opcode code;
  } relations[] = {{"<=", OP_LESS_EQUAL}, {">=", OP_GREATER_EQUAL}, {"<", OP_LESS},
                   {">", OP_GREATER},     {"==", OP_EQUAL},         {"!=", OP_NOT_EQUAL}};
  for (size_t i = 0; i < sizeof relations / sizeof *relations; i++)
    if (take(p, relations[i].token)) {
      *code = relations[i].code;
      return true;
    }
  return false;
}

/* a < b < c would compare b with nothing of what it seems to, so it is refused. */
static bool parse_relation(struct parser *p) {
  enum opcode code, again;
  if (!parse_sum(p))
    return false;
  skip_space(p);
  const char *at = p->at;
  if (!take_relation(p, &code))
    return true;
  if (!parse_sum(p))
    return false;
  add(p, code, at, -1);
  skip_space(p);
  at = p->at;
  if (take_relation(p, &again))
    return fail(p, at, "comparisons do not chain; write a < b && b < c.");
  return true;
}

static bool parse_logical(struct parser *p, bool either) {
  if (!(either ? parse_logical(p, false) : parse_relation(p)))
    return false;
  for (;;) {
    skip_space(p);
    const char *at = p->at;
    if (!take(p, either ? "||" : "&&"))
      return true;
    int jump = add(p, either ? OP_OR : OP_AND, at, -1);
    if (!(either ? parse_logical(p, false) : parse_relation(p)))
      return false;
    add(p, OP_BOOL, at, 0);
    p->e->ops[jump].arg = p->e->n;
  }
}

static bool parse_ternary(struct parser *p) {
  if (!parse_logical(p, true))
    return false;
  skip_space(p);
  const char *at = p->at;
  if (!take(p, "?"))
    return true;
  int otherwise = add(p, OP_JUMP_ZERO, at, -1);
  if (!enter(p, at) || !parse_ternary(p))
    return false;
  if (!take(p, ":"))
    return fail(p, p->at, "a colon is needed here, for the other case of ?:.");
  int end = add(p, OP_JUMP, at, -1);
  p->e->ops[otherwise].arg = p->e->n;
  if (!parse_ternary(p))
    return false;
  p->e->ops[end].arg = p->e->n;
  p->depth--;
  return true;
}

expr *expr_parse(const char *text, struct err *err) {
  if (strnlen(text, max_length + 1) > max_length) {
    err_set(err, "Column %d: the expression is longer than %d characters.", max_length + 1,
            max_length);
    return NULL;
  }
  struct parser p = {.text = text, .at = text, .err = err};
  p.e = alloc_zero(1, sizeof *p.e);
  bool ok = parse_ternary(&p);
  skip_space(&p);
  if (ok && *p.at)
    ok = fail(&p, p.at, "an operator or the end of the expression is needed here.");
  if (ok)
    return p.e;
  expr_free(p.e);
  return NULL;
}

void expr_free(expr *e) {
  if (!e)
    return;
  free(e->ops);
  str_free(&e->names);
  free(e);
}

/* ---- evaluation */

static bool gcd(double a, double b, double *out) {
  a = fabs(a);
  b = fabs(b);
  if (a != floor(a) || b != floor(b) || a > 0x1p53 || b > 0x1p53)
    return false;
  while (b > 0) {
    double rest = fmod(a, b);
    a = b;
    b = rest;
  }
  *out = a;
  return true;
}

static double unary(enum opcode code, double a) {
  switch (code) {
  case OP_BOOL:
    return a != 0;
  case OP_NOT:
    return a == 0;
  case OP_NEGATE:
    return -a;
  case OP_CEIL:
    return ceil(a);
  case OP_FLOOR:
    return floor(a);
  case OP_ROUND:
    return round(a);
  case OP_ABS:
    return fabs(a);
  case OP_SQRT:
    return sqrt(a);
  default:
    return log2(a);
  }
}

static double binary(enum opcode code, double a, double b) {
  switch (code) {
  case OP_ADD:
    return a + b;
  case OP_SUBTRACT:
    return a - b;
  case OP_MULTIPLY:
    return a * b;
  case OP_DIVIDE:
    return a / b;
  case OP_REMAINDER:
    return fmod(a, b);
  case OP_POWER:
    return pow(a, b);
  case OP_LESS:
    return a < b;
  case OP_LESS_EQUAL:
    return a <= b;
  case OP_GREATER:
    return a > b;
  case OP_GREATER_EQUAL:
    return a >= b;
  case OP_EQUAL:
    return a == b;
  case OP_NOT_EQUAL:
    return a != b;
  case OP_MIN:
    return fmin(a, b);
  default:
    return fmax(a, b);
  }
}

static bool fail_at(const struct op *op, struct err *err, const char *what) {
  return err_set(err, "Column %d: %s", op->column, what);
}

static bool load(const expr *e, const struct op *op, expr_lookup lookup, void *ctx, double *out,
                 struct err *err) {
  const char *name = e->names.data + op->arg;
  if (!lookup || !lookup(ctx, name, out))
    return err_set(err, "Column %d: the name %s is not known here.", op->column, name);
  if (!isfinite(*out))
    return err_set(err, "Column %d: the value of %s is not known.", op->column, name);
  return true;
}

/* Operators on the top of the stack; *top is the index behind it. */
static bool apply(const struct op *op, double *stack, int *top, struct err *err) {
  if (op->code < OP_ADD) {
    double *a = &stack[*top - 1];
    *a = unary(op->code, *a);
    return isfinite(*a) || fail_at(op, err, "the function has no value there.");
  }
  double b = stack[--*top], *a = &stack[*top - 1];
  if (b == 0 && (op->code == OP_DIVIDE || op->code == OP_REMAINDER))
    return fail_at(op, err, "division by zero.");
  if (op->code == OP_GCD)
    return gcd(*a, b, a) || fail_at(op, err, "gcd needs whole numbers.");
  *a = binary(op->code, *a, b);
  return isfinite(*a) || fail_at(op, err, "the result is too large or not a number.");
}

bool expr_value(const expr *e, expr_lookup lookup, void *ctx, double *out, struct err *err) {
  double stack[max_stack];
  int top = 0;
  for (int i = 0; i < e->n; i++) {
    const struct op *op = &e->ops[i];
    switch (op->code) {
    case OP_NUMBER:
      stack[top++] = op->number;
      break;
    case OP_NAME:
      if (!load(e, op, lookup, ctx, &stack[top++], err))
        return false;
      break;
    case OP_JUMP:
      i = op->arg - 1;
      break;
    case OP_JUMP_ZERO:
      if (stack[--top] == 0)
        i = op->arg - 1;
      break;
    case OP_AND:
    case OP_OR:
      if ((stack[top - 1] != 0) == (op->code == OP_OR)) {
        stack[top - 1] = op->code == OP_OR;
        i = op->arg - 1;
      } else
        top--;
      break;
    default:
      if (!apply(op, stack, &top, err))
        return false;
    }
  }
  *out = stack[0];
  return true;
}

bool expr_eval(const char *text, expr_lookup lookup, void *ctx, double *out, struct err *err) {
  expr *e = expr_parse(text, err);
  bool ok = e && expr_value(e, lookup, ctx, out, err);
  expr_free(e);
  return ok;
}

/* ---- filled text */

static bool add_value(struct str *out, const char *name, size_t n, expr_lookup lookup, void *ctx) {
  char key[max_name + 1];
  double value;
  if (n > max_name || !lookup)
    return false;
  memcpy(key, name, n);
  key[n] = '\0';
  if (!lookup(ctx, key, &value) || !isfinite(value))
    return false;
  if (value < 0) /* so that x^2 with x = -3 does not become -3^2 */
    str_addc(out, '(');
  str_add_num(out, value);
  if (value < 0)
    str_addc(out, ')');
  return true;
}

char *expr_filled(const char *text, expr_lookup lookup, void *ctx) {
  struct str out = {0};
  while (*text) {
    size_t n = number_length(text);
    bool filled = false;
    if (n == 0 && (n = name_length(text)) > 0 && text[n + strspn(text + n, " \t")] != '(')
      filled = add_value(&out, text, n, lookup, ctx);
    if (n == 0)
      n = 1;
    if (!filled)
      str_addn(&out, text, n);
    text += n;
  }
  return str_take(&out);
}
