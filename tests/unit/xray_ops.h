/* A table of PTX instructions with what each computes (xray_eval.h). For tests of the PTX machine.
 */
#ifndef MM_TESTS_XRAY_OPS_H
#define MM_TESTS_XRAY_OPS_H

#include "xray_eval.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Letters of `regs`, the destination first: h 16 bits, r 32, d 64, f float, g double, p predicate.
 */
struct op {
  char text[48];
  char regs[8];
  struct eval_type t, to;
  char round, what;
  bool ftz, sat;
  const char *mode;
  uint64_t (*eval)(const struct op *o, const uint64_t *x);
};

enum { MAX_OPS = 900, SOURCES = 4 };
static struct op ops[MAX_OPS];
static int nops;

static struct op *add(const char *regs, uint64_t (*eval)(const struct op *o, const uint64_t *x),
                      struct eval_type t, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static struct op *add(const char *regs, uint64_t (*eval)(const struct op *o, const uint64_t *x),
                      struct eval_type t, const char *fmt, ...) {
  if (nops == MAX_OPS)
    abort();
  struct op *o = &ops[nops++];
  *o = (struct op){.t = t, .to = t, .eval = eval, .round = 'n', .mode = ""};
  snprintf(o->regs, sizeof o->regs, "%s", regs);
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(o->text, sizeof o->text, fmt, ap);
  va_end(ap);
  return o;
}

/* ---- integers */

static uint64_t integer(const struct op *o, const uint64_t *x) {
  eval_s a = eval_int(x[0], o->t), b = eval_int(x[1], o->t), c = eval_int(x[2], o->to);
  eval_s v = 0;
  int bits = o->to.bits;
  switch (o->what) {
  case '+':
    v = a + b;
    break;
  case '-':
    v = a - b;
    break;
  case '*':
    v = (eval_s)((eval_u)a * (eval_u)b);
    break;
  case 'm':
    v = (eval_s)((eval_u)a * (eval_u)b + (eval_u)c);
    break;
  case 'h': /* the upper half of the product */
  case 'H':
    v = o->t.cls == 's' ? a * b >> bits : (eval_s)((eval_u)a * (eval_u)b >> bits);
    v += o->what == 'H' ? c : 0;
    break;
  case '/':
    v = b ? a / b : 0;
    break;
  case '%':
    v = b ? a % b : 0;
    break;
  case '<':
    v = a < b ? a : b;
    break;
  case '>':
    v = a > b ? a : b;
    break;
  case 'n':
    v = -a;
    break;
  case 'a':
    v = a < 0 ? -a : a;
    break;
  default:
    abort();
  }
  return eval_fit(v, bits);
}

static uint64_t logic(const struct op *o, const uint64_t *x) {
  uint64_t a = x[0], b = x[1], c = x[2], v = 0;
  int bits = o->t.bits, by = (int)(b & 0xffffffff) < 0 || (b & 0xffffffff) > 64 ? 64 : (int)b;
  switch (o->what) {
  case '&':
    v = a & b;
    break;
  case '|':
    v = a | b;
    break;
  case '^':
    v = a ^ b;
    break;
  case '~':
    v = ~a;
    break;
  case '!':
    v = !(a & eval_mask(bits));
    break;
  case 'l':
    v = by >= bits ? 0 : a << by;
    break;
  case 'r':
    v = (uint64_t)(eval_int(a, o->t) >> (by >= bits ? bits : by));
    break;
  case 'L': /* of the 64 bits b:a, to the left; mode w: modulo 32, else at most 32 */
  case 'R': {
    uint32_t n = (uint32_t)c;
    n = *o->mode == 'w' ? n & 31 : n > 32 ? 32 : n;
    eval_u both = (eval_u)((b & 0xffffffff) << 32 | (a & 0xffffffff));
    v = o->what == 'L' ? (uint64_t)(both << n >> 32) : (uint64_t)(both >> n);
    break;
  }
  case '3':
    for (int i = 0; i < bits; i++) {
      int row = (int)((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1));
      v |= (uint64_t)(atoi(o->mode) >> row & 1) << i;
    }
    break;
  default:
    abort();
  }
  return v & eval_mask(bits);
}

static uint64_t bits_of(const struct op *o, const uint64_t *x) {
  uint64_t v = 0;
  int bits = o->t.bits;
  switch (o->what) {
  case 'p':
    for (int i = 0; i < bits; i++)
      v += x[0] >> i & 1;
    return v;
  case 'z':
    while (v < (uint64_t)bits && !(x[0] >> (bits - 1 - (int)v) & 1))
      v++;
    return v;
  case 'v':
    for (int i = 0; i < bits; i++)
      v |= (x[0] >> i & 1) << (bits - 1 - i);
    return v;
  case 'e':
    return eval_bfe(x[0], x[1], x[2], o->t);
  case 'i':
    return eval_bfi(x[0], x[1], x[2], x[3], bits);
  case 'm':
    return eval_prmt(x[0], x[1], x[2], o->mode);
  case 'f':
    v = eval_bfind(x[0], o->t);
    return *o->mode && v != 0xffffffff ? (uint64_t)bits - 1 - v : v;
  case 's': /* selp */
    return (x[2] ? x[0] : x[1]) & eval_mask(bits);
  default:
    abort();
  }
  return 0;
}

static uint64_t compare_ints(const struct op *o, const uint64_t *x) {
  eval_s a = eval_int(x[0], o->t), b = eval_int(x[1], o->t);
  switch (o->what) {
  case 'e':
    return a == b;
  case 'n':
    return a != b;
  case '<':
    return a < b;
  case '(':
    return a <= b;
  case '>':
    return a > b;
  default:
    return a >= b;
  }
}

static void integer_ops(void) {
  static const struct {
    struct eval_type t;
    const char *name, *two, *three;
  } of[] = {{{'s', 16}, "s16", "hhh", "hhhh"}, {{'u', 16}, "u16", "hhh", "hhhh"},
            {{'s', 32}, "s32", "rrr", "rrrr"}, {{'u', 32}, "u32", "rrr", "rrrr"},
            {{'s', 64}, "s64", "ddd", "dddd"}, {{'u', 64}, "u64", "ddd", "dddd"}};
  static const struct {
    const char *name;
    char what;
  } two[] = {{"add", '+'}, {"sub", '-'}, {"mul.lo", '*'}, {"mul.hi", 'h'},
             {"div", '/'}, {"rem", '%'}, {"min", '<'},    {"max", '>'}};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    char one[3] = {of[i].two[0], of[i].two[0], 0};
    for (size_t k = 0; k < sizeof two / sizeof *two; k++)
      add(of[i].two, integer, of[i].t, "%s.%s", two[k].name, of[i].name)->what = two[k].what;
    add(of[i].three, integer, of[i].t, "mad.lo.%s", of[i].name)->what = 'm';
    if (of[i].t.bits >= 32)
      add(of[i].three, integer, of[i].t, "mad.hi.%s", of[i].name)->what = 'H';
    if (of[i].t.cls == 's') {
      add(one, integer, of[i].t, "neg.%s", of[i].name)->what = 'n';
      add(one, integer, of[i].t, "abs.%s", of[i].name)->what = 'a';
    }
  }
  for (int s = 0; s < 2; s++)
    for (int bits = 16; bits <= 32; bits *= 2) {
      char c = s ? 's' : 'u';
      struct eval_type t = {c, bits}, to = {c, 2 * bits};
      struct op *o = add(bits == 16 ? "rhh" : "drr", integer, t, "mul.wide.%c%d", c, bits);
      o->what = '*', o->to = to;
      o = add(bits == 16 ? "rhhr" : "drrd", integer, t, "mad.wide.%c%d", c, bits);
      o->what = 'm', o->to = to;
    }
}

static void logic_ops(void) {
  static const char *const two[] = {"hhh", "rrr", "ddd"}, *const shift[] = {"hhr", "rrr", "ddr"};
  static const char *const one[] = {"hh", "rr", "dd"};
  for (int i = 0; i < 3; i++) {
    struct eval_type b = {'b', 16 << i}, s = {'s', 16 << i};
    add(two[i], logic, b, "and.b%d", b.bits)->what = '&';
    add(two[i], logic, b, "or.b%d", b.bits)->what = '|';
    add(two[i], logic, b, "xor.b%d", b.bits)->what = '^';
    add(one[i], logic, b, "not.b%d", b.bits)->what = '~';
    add(one[i], logic, b, "cnot.b%d", b.bits)->what = '!';
    add(shift[i], logic, b, "shl.b%d", b.bits)->what = 'l';
    add(shift[i], logic, b, "shr.b%d", b.bits)->what = 'r';
    add(shift[i], logic, b, "shr.u%d", b.bits)->what = 'r';
    add(shift[i], logic, s, "shr.s%d", b.bits)->what = 'r';
  }
  static const char *const modes[] = {"wrap", "clamp"};
  for (int i = 0; i < 4; i++) {
    struct op *o = add("rrrr", logic, (struct eval_type){'b', 32}, "shf.%c.%s.b32",
                       i & 1 ? 'l' : 'r', modes[i / 2]);
    o->what = i & 1 ? 'L' : 'R', o->mode = modes[i / 2];
  }
  static const char *const tables[] = {"0", "128", "150", "202", "232", "27", "255"};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    struct op *o = add("rrrr", logic, (struct eval_type){'b', 32}, "lop3.b32");
    o->what = '3', o->mode = tables[i];
  }
}

static void bit_ops(void) {
  static const struct eval_type b32 = {'b', 32}, b64 = {'b', 64};
  for (int i = 0; i < 2; i++) {
    struct eval_type t = i ? b64 : b32, s = {'s', t.bits}, u = {'u', t.bits};
    add(i ? "rd" : "rr", bits_of, t, "popc.b%d", t.bits)->what = 'p';
    add(i ? "rd" : "rr", bits_of, t, "clz.b%d", t.bits)->what = 'z';
    add(i ? "dd" : "rr", bits_of, t, "brev.b%d", t.bits)->what = 'v';
    add(i ? "ddrr" : "rrrr", bits_of, u, "bfe.u%d", t.bits)->what = 'e';
    add(i ? "ddrr" : "rrrr", bits_of, s, "bfe.s%d", t.bits)->what = 'e';
    add(i ? "dddrr" : "rrrrr", bits_of, t, "bfi.b%d", t.bits)->what = 'i';
    add(i ? "rd" : "rr", bits_of, u, "bfind.u%d", t.bits)->what = 'f';
    add(i ? "rd" : "rr", bits_of, s, "bfind.s%d", t.bits)->what = 'f';
    struct op *o = add(i ? "rd" : "rr", bits_of, u, "bfind.shiftamt.u%d", t.bits);
    o->what = 'f', o->mode = "s";
  }
  static const char *const modes[] = {"", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    struct op *o = add("rrrr", bits_of, b32, "prmt.b32%s%s", *modes[i] ? "." : "", modes[i]);
    o->what = 'm', o->mode = modes[i];
  }
  add("rrrp", bits_of, b32, "selp.b32")->what = 's';
  add("dddp", bits_of, b64, "selp.u64")->what = 's';
  add("hhhp", bits_of, (struct eval_type){'b', 16}, "selp.b16")->what = 's';
  static const char *const names[] = {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"};
  static const char whats[] = "en<(>)<(>)", *const regs[] = {"phh", "prr", "pdd"};
  for (int bits = 16, k = 0; bits <= 64; bits *= 2, k++)
    for (int i = 0; i < 10; i++)
      for (const char *c = i < 2 ? "sub" : i < 6 ? "su" : "u"; *c; c++)
        add(regs[k], compare_ints, (struct eval_type){*c, bits}, "setp.%s.%c%d", names[i], *c, bits)
            ->what = whats[i];
}

/* ---- floats */

static uint64_t finish(const struct op *o, eval_wide v) {
  uint64_t x = eval_round(v, o->to, o->round);
  if (o->ftz)
    x = eval_flush(x, o->to);
  if (o->sat) {
    eval_wide y = eval_value(x, o->to);
    x = y > 1 ? eval_round(1, o->to, 'n') : y > 0 ? x : 0;
  }
  return x;
}

static uint64_t floats(const struct op *o, const uint64_t *x) {
  uint64_t in[3];
  eval_wide v[3], s = 0;
  for (int i = 0; i < 3; i++) {
    in[i] = o->ftz ? eval_flush(x[i], o->t) : x[i];
    v[i] = eval_value(in[i], o->t);
  }
  bool nan0 = eval_is_nan(in[0], o->t), nan1 = eval_is_nan(in[1], o->t);
  uint64_t sign = (uint64_t)1 << (o->t.bits - 1);
  bool minus0 = in[0] & sign;
  switch (o->what) {
  case '+':
    return finish(o, eval_sum(v[0], v[1], o->round));
  case '-':
    return finish(o, eval_sum(v[0], -v[1], o->round));
  case '*':
    return finish(o, v[0] * v[1]);
  case 'm':
    return finish(o, eval_sum(v[0] * v[1], v[2], o->round));
  case '/':
    return finish(o, v[0] / v[1]);
  case '1':
    return finish(o, 1 / v[0]);
  case 'q':
    return finish(o, eval_root(v[0]));
  case '<':
  case '>':
    if (nan0 || nan1)
      return nan0 ? in[1] : in[0];
    s = o->what == '<' ? v[0] - v[1] : v[1] - v[0];
    if (v[0] == v[1])
      return (o->what == '<') == minus0 ? in[0] : in[1];
    return s < 0 ? in[0] : in[1];
  case 'n':
    return in[0] ^ sign;
  case 'a':
    return in[0] & ~sign;
  case 'c':
    return (in[1] & ~sign) | (in[0] & sign);
  default:
    abort();
  }
  return 0;
}

static uint64_t compare_floats(const struct op *o, const uint64_t *x) {
  uint64_t p = o->ftz ? eval_flush(x[0], o->t) : x[0], q = o->ftz ? eval_flush(x[1], o->t) : x[1];
  eval_wide a = eval_value(p, o->t), b = eval_value(q, o->t);
  bool nan = eval_is_nan(p, o->t) || eval_is_nan(q, o->t), unordered = o->mode[2] == 'u';
  if (!strcmp(o->mode, "num") || !strcmp(o->mode, "nan"))
    return nan == (o->mode[1] == 'a');
  if (nan)
    return unordered;
  switch (o->mode[0]) {
  case 'e':
    return a == b;
  case 'n':
    return a != b;
  case 'l':
    return o->mode[1] == 't' ? a < b : a <= b;
  default:
    return o->mode[1] == 't' ? a > b : a >= b;
  }
}

static struct op *with(struct op *o, char what, char round, bool ftz, bool sat) {
  o->what = what, o->round = round, o->ftz = ftz, o->sat = sat;
  return o;
}

static void float_ops(void) {
  static const struct eval_type f32 = {'f', 32}, f64 = {'f', 64};
  static const struct {
    const char *name;
    char what;
    int n;
    bool full; /* with .sat */
  } of[] = {{"add", '+', 2, true},  {"sub", '-', 2, true},  {"mul", '*', 2, true},
            {"fma", 'm', 3, true},  {"div", '/', 2, false}, {"rcp", '1', 1, false},
            {"sqrt", 'q', 1, false}};
  static const char *const rf[] = {"", "ff", "fff", "ffff"}, *const rg[] = {"", "gg", "ggg",
                                                                            "gggg"};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    for (const char *r = "nzmp"; *r; r++) {
      for (int k = 0; k < (of[i].full ? 4 : 2); k++)
        with(add(rf[of[i].n], floats, f32, "%s.r%c%s%s.f32", of[i].name, *r, k & 1 ? ".ftz" : "",
                 k & 2 ? ".sat" : ""),
             of[i].what, *r, k & 1, k & 2);
      with(add(rg[of[i].n], floats, f64, "%s.r%c.f64", of[i].name, *r), of[i].what, *r, false,
           false);
    }
  static const struct {
    const char *name;
    char what;
    int n;
  } plain[] = {{"min", '<', 2}, {"max", '>', 2}, {"neg", 'n', 1}, {"abs", 'a', 1}};
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
    with(add(rf[plain[i].n], floats, f32, "%s.f32", plain[i].name), plain[i].what, 'n', 0, 0);
    with(add(rf[plain[i].n], floats, f32, "%s.ftz.f32", plain[i].name), plain[i].what, 'n', 1, 0);
    with(add(rg[plain[i].n], floats, f64, "%s.f64", plain[i].name), plain[i].what, 'n', 0, 0);
  }
  with(add("fff", floats, f32, "copysign.f32"), 'c', 'n', 0, 0);
  with(add("ggg", floats, f64, "copysign.f64"), 'c', 'n', 0, 0);
  static const char *const cmps[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                     "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
  for (size_t i = 0; i < sizeof cmps / sizeof *cmps; i++)
    for (int k = 0; k < 3; k++) {
      struct op *o = add(k == 2 ? "pgg" : "pff", compare_floats, k == 2 ? f64 : f32,
                         "setp.%s%s.f%d", cmps[i], k == 1 ? ".ftz" : "", k == 2 ? 64 : 32);
      o->mode = cmps[i], o->ftz = k == 1;
    }
}

/* ---- conversions */

/* A byte lies in a wider register, extended as its type says. */
static uint64_t extended(uint64_t v, struct eval_type t) {
  return t.bits == 8 ? eval_fit(eval_int(v, t), 32) : v;
}

static uint64_t convert(const struct op *o, const uint64_t *x) {
  bool from_float = o->t.cls == 'f' || o->t.cls == 'h',
       to_float = o->to.cls == 'f' || o->to.cls == 'h';
  if (!from_float && !to_float) {
    eval_s v = eval_int(x[0], o->t);
    if (o->sat)
      v = v < eval_least(o->to) ? eval_least(o->to) : v > eval_most(o->to) ? eval_most(o->to) : v;
    return extended(eval_fit(v, o->to.bits), o->to);
  }
  if (!from_float)
    return finish(o, (eval_wide)eval_int(x[0], o->t));
  uint64_t in = o->ftz && o->t.bits == 32 ? eval_flush(x[0], o->t) : x[0];
  eval_wide v = eval_value(in, o->t);
  if (!to_float)
    return extended(eval_float_to_int(v, o->t, o->to, o->round), o->to);
  return finish(o, o->what == 'i' ? eval_integral(v, o->round) : v);
}

static char letter(struct eval_type t) {
  bool is_float = t.cls == 'f';
  return t.bits == 64 ? (is_float ? 'g' : 'd') : t.bits == 16 ? 'h' : is_float ? 'f' : 'r';
}

static const char *type_name(struct eval_type t, char out[8]) {
  snprintf(out, 8, "%s%d",
           t.cls == 'h'   ? "bf"
           : t.cls == 'f' ? "f"
           : t.cls == 's' ? "s"
                          : "u",
           t.bits);
  return out;
}

static struct op *add_cvt(struct eval_type to, struct eval_type from, const char *how, char round,
                          bool sat, bool ftz) {
  char a[8], b[8], regs[3] = {letter(to), letter(from), 0};
  struct op *o = add(regs, convert, from, "cvt%s.%s.%s", how, type_name(to, a), type_name(from, b));
  o->to = to, o->round = round, o->sat = sat, o->ftz = ftz;
  return o;
}

static void conversions(void) {
  static const struct eval_type ints[] = {{'u', 8},  {'s', 8},  {'u', 16}, {'s', 16},
                                          {'u', 32}, {'s', 32}, {'u', 64}, {'s', 64}};
  static const struct eval_type f[] = {{'f', 32}, {'f', 64}, {'f', 16}, {'h', 16}};
  for (int i = 0; i < 8; i++)
    for (int k = 0; k < 8; k++)
      if (i != k) {
        add_cvt(ints[i], ints[k], "", 'n', false, false);
        add_cvt(ints[i], ints[k], ".sat", 'n', true, false);
      }
  for (int i = 0; i < 8; i++)
    for (int k = 0; k < 4; k++)
      for (const char *r = "nzmp"; *r; r++) {
        char how[8], ftz[16];
        snprintf(how, sizeof how, ".r%c", *r);
        if (*r == 'n' || k < 2)
          add_cvt(f[k], ints[i], how, *r, false, false);
        snprintf(how, sizeof how, ".r%ci", *r);
        snprintf(ftz, sizeof ftz, ".r%ci.ftz", *r);
        add_cvt(ints[i], f[k], how, *r, false, false);
        if (k == 0)
          add_cvt(ints[i], f[k], ftz, *r, false, true);
      }
  for (const char *r = "nzmp"; *r; r++) {
    char how[16];
    snprintf(how, sizeof how, ".r%c", *r);
    add_cvt(f[0], f[1], how, *r, false, false);
    if (*r == 'n' || *r == 'z')
      add_cvt(f[2], f[0], how, *r, false, false), add_cvt(f[3], f[0], how, *r, false, false);
    snprintf(how, sizeof how, ".r%c.ftz.sat", *r);
    add_cvt(f[0], f[1], how, *r, true, true);
    snprintf(how, sizeof how, ".r%ci", *r);
    add_cvt(f[0], f[0], how, *r, false, false)->what = 'i';
    add_cvt(f[1], f[1], how, *r, false, false)->what = 'i';
  }
  add_cvt(f[1], f[0], "", 'n', false, false);
  add_cvt(f[1], f[0], ".ftz", 'n', false, true);
  add_cvt(f[0], f[2], "", 'n', false, false);
  add_cvt(f[0], f[3], "", 'n', false, false);
  add_cvt(f[0], f[0], ".sat", 'n', true, false);
}

static inline void ops_make(void) {
  integer_ops();
  logic_ops();
  bit_ops();
  float_ops();
  conversions();
}

#endif
