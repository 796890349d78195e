/* Single instructions of the PTX machine against a second implementation (xray_eval.h): values at
 * the edges in all combinations, then random straight-line programs. */
#include "base/alloc.h"
#include "base/rand.h"
#include "base/str.h"
#include "sim/xray/xray.h"
#include "xray_ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const uint64_t ints[] = {0,
                                1,
                                2,
                                3,
                                5,
                                7,
                                31,
                                32,
                                33,
                                63,
                                64,
                                127,
                                128,
                                255,
                                256,
                                0x7fff,
                                0x8000,
                                0xffff,
                                0x10000,
                                0x7fffffff,
                                0x80000000,
                                0xffffffff,
                                0x100000000,
                                0x7fffffffffffffff,
                                0x8000000000000000,
                                0xffffffffffffffff,
                                0x0123456789abcdef,
                                0xfedcba9876543210};
static const double reals[] = {0,       1,        0.5,      1.5,       2.5,        3,
                               1.0 / 3, 0.1,      127.5,    255.5,     128.5,      65504,
                               65520,   1e10,     1e-30,    1e30,      2147483648, 2147483647.5,
                               1e-40,   3.4e38,   1e-45,    1e-320,    1e308,      4294967295.0,
                               32767.5, 65535.5,  9.3e18,   1.85e19,   INFINITY,   NAN,
                               1e-38,   0x1p-126, 0x1p-149, 0x1p-1022, 0x1p-25,    0x1.fffffep-127};
enum { INTS = sizeof ints / sizeof *ints, REALS = sizeof reals / sizeof *reals };

static struct rand generator;
static bool known[MAX_OPS]; /* to the machine; set by test_single */

static uint64_t as_bits(double v, bool is_double) {
  float f = (float)v;
  uint64_t x = 0;
  if (is_double)
    memcpy(&x, &v, sizeof v);
  else
    memcpy(&x, &f, sizeof f);
  return x;
}

static int width_of(char letter) {
  return letter == 'h' ? 16 : letter == 'd' || letter == 'g' ? 64 : 32;
}

/* Value i of a letter, then the same with the sign changed, then random bits. */
static uint64_t edge(char letter, int i) {
  bool is_float = letter == 'f' || letter == 'g';
  uint64_t mask = eval_mask(width_of(letter)), sign = mask ^ mask >> 1;
  if (letter == 'p')
    return (uint64_t)i & 1;
  if (is_float && i < 2 * REALS)
    return as_bits(reals[i / 2], letter == 'g') ^ (i & 1 ? sign : 0);
  if (!is_float && i < INTS)
    return ints[i] & mask;
  uint64_t x = rand_u64(&generator);
  if (rand_below(&generator, 2) && is_float) /* near to one another */
    x = as_bits(ldexp((double)(x >> 11), (int)(x & 63) - 70), letter == 'g');
  else if (rand_below(&generator, 3) == 0)
    x >>= rand_below(&generator, 64);
  return x & mask;
}

static int edges(char letter) {
  return letter == 'p' ? 2 : (letter == 'f' || letter == 'g' ? 2 * REALS : INTS) + 12;
}

/* ---- one instruction over many values */

enum { MOST = 6400, STRIDE = SOURCES };

struct table {
  int n;
  uint64_t in[MOST][STRIDE], out[MOST], should[MOST];
};

static void fill(struct table *t, const struct op *o) {
  int sources = (int)strlen(o->regs) - 1, e0 = edges(o->regs[1]);
  int e1 = sources > 1 ? edges(o->regs[2]) : 40;
  t->n = e0 * e1 < MOST ? e0 * e1 : MOST;
  for (int i = 0; i < t->n; i++)
    for (int k = 0; k < sources; k++) {
      char letter = o->regs[1 + k];
      int at = k == 0   ? (sources > 1 ? i / e1 : i)
               : k == 1 ? i % e1
                        : (int)rand_below(&generator, (uint64_t)edges(letter));
      t->in[i][k] = edge(letter, at);
    }
  memset(t->out, 0, sizeof t->out);
}

static const char head[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                           ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
                           ".reg .b16 %h<8>;\n.reg .b32 %r<16>;\n.reg .b64 %d<16>;\n"
                           ".reg .f32 %f<8>;\n.reg .f64 %g<8>;\n.reg .pred %p<8>;\n"
                           ".reg .b32 %t<8>;\n.reg .b64 %a<8>;\n"
                           "mov.u32 %t1, %ctaid.x;\nmov.u32 %t2, %tid.x;\n"
                           "mad.lo.s32 %t3, %t1, 64, %t2;\n"
                           "ld.param.u64 %a1, [in];\nld.param.u64 %a2, [out];\n";

static void load(struct str *s, char letter, int reg, const char *base, int offset) {
  if (letter == 'p') {
    str_addf(s, "ld.global.u32 %%t7, [%s+%d];\nsetp.ne.u32 %%p%d, %%t7, 0;\n", base, offset, reg);
    return;
  }
  static const char letters[] = "hrdfg", *const types[] = {"u16", "u32", "u64", "f32", "f64"};
  str_addf(s, "ld.global.%s %%%c%d, [%s+%d];\n", types[strchr(letters, letter) - letters], letter,
           reg, base, offset);
}

static void store(struct str *s, char letter, int reg, const char *base, int offset) {
  if (letter == 'p') {
    str_addf(s, "selp.u32 %%t7, 1, 0, %%p%d;\nst.global.u32 [%s+%d], %%t7;\n", reg, base, offset);
    return;
  }
  static const char letters[] = "hrdfg", *const types[] = {"u16", "u32", "u64", "f32", "f64"};
  str_addf(s, "st.global.%s [%s+%d], %%%c%d;\n", types[strchr(letters, letter) - letters], base,
           offset, letter, reg);
}

static void instruction(struct str *s, const struct op *o, const int *reg) {
  str_addf(s, "%s ", o->text);
  for (int i = 0; o->regs[i]; i++)
    str_addf(s, "%s%%%c%d", i ? ", " : "", o->regs[i], reg[i]);
  str_addf(s, "%s%s;\n", o->what == '3' ? ", " : "", o->what == '3' ? o->mode : "");
}

/* False if the machine does not know an instruction of it; other problems fail the test. */
static bool run(const char *text, uint64_t *in, size_t nin, uint64_t *out, size_t nout, int blocks,
                const char *what) {
  struct err err;
  xray_module *m = xray_load(text, strlen(text), &err);
  if (!m)
    fail_msg("%s: %s", what, err.text);
  struct xray_array arrays[2] = {{"in", in, nin * 8, true}, {"out", out, nout * 8, true}};
  struct xray_arg args[2] = {{.array = 0}, {.array = 1}};
  struct xray_launch l = {.grid = {blocks, 1, 1},
                          .block = {64, 1, 1},
                          .arrays = arrays,
                          .narrays = 2,
                          .args = args,
                          .nargs = 2};
  struct xray_report r;
  if (!xray_run(m, &l, &r, &err))
    fail_msg("%s: %s", what, err.text);
  bool all = r.nproblems == 0;
  if (!all && r.problems[0].kind != XRAY_UNSUPPORTED)
    fail_msg("%s: %s", what, r.problems[0].detail);
  xray_report_done(&r);
  xray_free(m);
  return all;
}

static bool same(char letter, struct eval_type t, uint64_t is, uint64_t should) {
  if (letter == 'f' || letter == 'g' || t.cls == 'f' || t.cls == 'h')
    if (letter != 'p' && eval_is_nan(is, t) && eval_is_nan(should, t))
      return true;
  return is == should;
}

/* What PTX leaves open: a division by zero, and the one quotient that does not fit. */
static bool undefined(const struct op *o, const uint64_t *x) {
  uint64_t mask = eval_mask(o->t.bits);
  return (o->what == '/' || o->what == '%') && o->t.cls != 'f' &&
         ((x[1] & mask) == 0 || ((x[1] & mask) == mask && (x[0] & mask) == (mask ^ mask >> 1)));
}

static bool check_op(const struct op *o, struct table *t) {
  static const int reg[] = {0, 1, 2, 3, 4};
  struct str s = {0};
  fill(t, o);
  str_addf(&s, "%smul.wide.s32 %%a3, %%t3, %d;\nadd.s64 %%a4, %%a1, %%a3;\n", head, 8 * STRIDE);
  str_add(&s, "mul.wide.s32 %a3, %t3, 8;\nadd.s64 %a5, %a2, %a3;\n");
  for (int i = 1; o->regs[i]; i++)
    load(&s, o->regs[i], i, "%a4", 8 * (i - 1));
  instruction(&s, o, reg);
  store(&s, o->regs[0], 0, "%a5", 0);
  str_add(&s, "ret;\n}\n");
  char *text = str_take(&s);
  bool ran = run(text, t->in[0], MOST * STRIDE, t->out, MOST, (t->n + 63) / 64, o->text);
  free(text);
  for (int i = 0; ran && i < t->n; i++) {
    uint64_t should = o->eval(o, t->in[i]);
    if (!same(o->regs[0], o->to, t->out[i], should) && !undefined(o, t->in[i]))
      fail_msg("%s of %#llx, %#llx, %#llx, %#llx is %#llx, not %#llx", o->text,
               (unsigned long long)t->in[i][0], (unsigned long long)t->in[i][1],
               (unsigned long long)t->in[i][2], (unsigned long long)t->in[i][3],
               (unsigned long long)t->out[i], (unsigned long long)should);
  }
  return ran;
}

static void test_single(void **state) {
  (void)state;
  struct table *t = alloc_zero(1, sizeof *t);
  struct str missing = {0};
  int agree = 0;
  for (int i = 0; i < nops; i++) {
    known[i] = check_op(&ops[i], t);
    agree += known[i];
    if (!known[i])
      str_addf(&missing, " %s", ops[i].text);
  }
  char *list = str_take(&missing);
  print_message("# %d instructions agree; not known to the machine:%s\n", agree, list);
  assert_true(agree >= 700);
  free(list);
  free(t);
}

/* ---- random programs */

enum { REGS = 4, FILES = 6, LENGTH = 80, PROGRAMS = 60, BLOCKS = 2, THREADS = 64 * BLOCKS };
static const char files[] = "hrdfgp";

struct step {
  const struct op *o;
  int reg[6];        /* destination and sources */
  uint64_t value[6]; /* of a source with reg -1 */
  int guard;         /* -1: none */
  bool guard_neg;
};

typedef uint64_t registers[FILES][REGS];

/* NaNs are told from numbers, not from one another: nothing may look at their bits. */
static bool fit_for_programs(const struct op *o) {
  bool to_short = o->to.bits == 16 && (o->to.cls == 'f' || o->to.cls == 'h');
  return o->what != '/' && o->what != '%' && o->what != 'c' && !to_short;
}

static struct step random_step(void) {
  struct step s = {.guard = -1};
  do
    s.o = &ops[rand_below(&generator, (uint64_t)nops)];
  while (!known[s.o - ops] || !fit_for_programs(s.o));
  bool cvt = !strncmp(s.o->text, "cvt", 3);
  for (int i = 0; s.o->regs[i]; i++) {
    char letter = s.o->regs[i];
    s.reg[i] = (int)rand_below(&generator, REGS);
    if (i > 0 && !cvt && letter != 'p' && rand_below(&generator, 4) == 0) {
      s.reg[i] = -1;
      s.value[i] = edge(letter, (int)rand_below(&generator, (uint64_t)edges(letter)));
    }
  }
  if (rand_below(&generator, 3) == 0) {
    s.guard = (int)rand_below(&generator, REGS);
    s.guard_neg = rand_below(&generator, 2);
  }
  return s;
}

static void write_step(struct str *s, const struct step *t) {
  if (t->guard >= 0)
    str_addf(s, "@%s%%p%d ", t->guard_neg ? "!" : "", t->guard);
  str_addf(s, "%s ", t->o->text);
  for (int i = 0; t->o->regs[i]; i++) {
    char letter = t->o->regs[i];
    unsigned long long v = t->value[i];
    str_add(s, i ? ", " : "");
    if (t->reg[i] >= 0)
      str_addf(s, "%%%c%d", letter, t->reg[i]);
    else if (letter == 'f')
      str_addf(s, "0f%08llX", v);
    else if (letter == 'g')
      str_addf(s, "0d%016llX", v);
    else
      str_addf(s, v & 1 ? "%llu" : "0x%llx", v);
  }
  str_addf(s, "%s%s;\n", t->o->what == '3' ? ", " : "", t->o->what == '3' ? t->o->mode : "");
}

static int file_of(char letter) { return (int)(strchr(files, letter) - files); }

static void do_step(const struct step *t, registers r) {
  uint64_t x[SOURCES] = {0};
  if (t->guard >= 0 && (r[file_of('p')][t->guard] != 0) == t->guard_neg)
    return;
  for (int i = 1; t->o->regs[i]; i++)
    x[i - 1] = t->reg[i] < 0 ? t->value[i] : r[file_of(t->o->regs[i])][t->reg[i]];
  r[file_of(t->o->regs[0])][t->reg[0]] = t->o->eval(t->o, x) & eval_mask(width_of(t->o->regs[0]));
}

static char *write_program(const struct step *steps) {
  struct str s = {0};
  str_addf(&s, "%smul.wide.s32 %%a3, %%t3, %d;\n", head, 8 * FILES * REGS);
  str_add(&s, "add.s64 %a4, %a1, %a3;\nadd.s64 %a5, %a2, %a3;\n");
  for (int f = 0; f < FILES; f++)
    for (int i = 0; i < REGS; i++)
      load(&s, files[f], i, "%a4", 8 * (f * REGS + i));
  for (int i = 0; i < LENGTH; i++)
    write_step(&s, &steps[i]);
  for (int f = 0; f < FILES; f++)
    for (int i = 0; i < REGS; i++)
      store(&s, files[f], i, "%a5", 8 * (f * REGS + i));
  str_add(&s, "ret;\n}\n");
  return str_take(&s);
}

static void check_program(void) {
  static registers in[THREADS], out[THREADS];
  struct step steps[LENGTH];
  for (int i = 0; i < LENGTH; i++)
    steps[i] = random_step();
  for (int t = 0; t < THREADS; t++)
    for (int f = 0; f < FILES; f++)
      for (int i = 0; i < REGS; i++)
        in[t][f][i] = edge(files[f], (int)rand_below(&generator, (uint64_t)edges(files[f])));
  memset(out, 0, sizeof out);
  char *text = write_program(steps);
  size_t n = sizeof in / sizeof(uint64_t);
  assert_true(run(text, in[0][0], n, out[0][0], n, BLOCKS, "a program"));
  for (int t = 0; t < THREADS; t++) {
    for (int i = 0; i < LENGTH; i++)
      do_step(&steps[i], in[t]);
    for (int f = 0; f < FILES; f++)
      for (int i = 0; i < REGS; i++) {
        struct eval_type type = {strchr("fg", files[f]) ? 'f' : 'b', width_of(files[f])};
        if (!same(files[f], type, out[t][f][i], in[t][f][i]))
          fail_msg("thread %d: %%%c%d is %#llx, not %#llx, behind\n%s", t, files[f], i,
                   (unsigned long long)out[t][f][i], (unsigned long long)in[t][f][i], text);
      }
  }
  free(text);
}

static void test_programs(void **state) {
  (void)state;
  for (int i = 0; i < PROGRAMS; i++)
    check_program();
}

int main(void) {
  ops_make();
  rand_seed(&generator, 20261201);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_single),
                                     cmocka_unit_test(test_programs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
