/* Calls, recursion, switches, variables with values, lanes that leave, printf
 * (tests/fixtures/xray/flow.cu), and the device's printf by itself. */
#include "base/str.h"
#include "sim/xray/exec_print.h"
#include "xray_fixture.h"

/* ---- what flow.cu computes, on the host */

static double calls(const struct field *f, int i) {
  int t = i % 64;
  float v[4] = {f->A[i], f->A[i] * 2, (float)t, 1};
  for (int k = 0; k < t % 5 && k < 4; k++)
    v[k] *= 3;
  int at = 0;
  while (at < 20 && !(f->A[i + at] > 2.5f))
    at++;
  return (double)(v[0] + v[1] + v[2] + v[3]) + (at < 20 ? at : -1);
}

static double recursion(const struct field *f, int i) {
  (void)f;
  int a = 0, b = 1;
  for (int k = 0; k < i % 64 % 9; k++) {
    int next = a + b;
    a = b;
    b = next;
  }
  return a + 100 * (i % 64 % 20 % 2 == 0);
}

static double table(int which, double x) { return which == 0 ? x + 1 : which == 1 ? x * 2 : x * x; }
static double pointers(const struct field *f, int i) {
  return table(i % 64 % 3, (double)f->A[i]) + table(i / 64, (double)f->B[i]);
}

static double values(const struct field *f, int i) {
  (void)f;
  static const double lut[] = {1.5, -2, 0}, small[] = {-1, 2, -3, 0}, letters[] = {97, 98, 99, 0};
  int t = i % 64;
  return lut[t % 3] + small[t & 3] + letters[t & 3] - 2 - 1 + (t & 1 ? 't' : 'o') + 7 - 2 - 5;
}

static double named(const struct field *f, int i) {
  return (double)(f->A[i] * f->weights[i % 64 & 3]);
}

static double jumps(const struct field *f, int i) {
  double v = (double)f->A[i];
  static const int to[] = {1, 2, 3, 2, 1};
  int at = to[i % 64 % 5];
  return at == 1 ? v + 1 : at == 2 ? v * 3 - 2 : v - 2;
}

static double leavers(const struct field *f, int i) {
  int block = i / 64 * 64, t = i % 64;
  double sum = 0;
  for (int k = 0; k < 64; k++)
    sum += (double)f->A[block + k];
  if (t >= 32)
    return t % 3 == 1 ? -1 : sum;
  return (double)f->A[block + 31 - t + 32];
}

static double prints(const struct field *f, int i) {
  (void)f, (void)i;
  return 1;
}

static void test_right_kernels(void **state) {
  (void)state;
  static const struct right kernels[] = {
      {"calls", calls}, {"recursion", recursion}, {"pointers", pointers}, {"values", values},
      {"named", named}, {"jumps", jumps},         {"leavers", leavers},   {"prints", prints},
  };
  check_right("flow.ptx", kernels, sizeof kernels / sizeof *kernels);
}

/* A __device__ variable under the name of an array: taken and given back. */
static void test_named_variable(void **state) {
  (void)state;
  xray_module *m = load_fixture("flow.ptx");
  struct field *f = field_new();
  struct xray_report r;
  struct err err;
  assert_true(run_fixture(m, "named", f, 1000000, &r, &err));
  assert_int_equal(f->hits, 7 + 128);
  assert_true(f->weights[0] == -2.0f); /* constants stay */
  xray_report_done(&r);
  free(f);
  xray_free(m);
}

/* ---- printf */

static void test_printf(void **state) {
  (void)state;
  xray_module *m = load_fixture("flow.ptx");
  struct field *f = field_new();
  struct printed p = {.n = 0};
  struct xray_report r;
  struct err err;
  assert_true(run_printing(m, "prints", f, 1000000, &p, &r, &err));
  p.text[p.n] = '\0';
  assert_string_equal(
      p.text,
      "0|-0.81|text  |   7|1099511627776|x|%|1.234568e+04|0.5|ff|0XFF|007|+3|   42|-0042|0x10\n"
      "lane 30 of even\nlane 31 of odd\n"
      "1|-0.81|text  |   7|1099511627776|x|%|1.234568e+04|0.5|ff|0XFF|007|+3|   42|-0042|0x10\n"
      "lane 30 of even\nlane 31 of odd\n");
  xray_report_done(&r);
  free(f);
  xray_free(m);
}

static void add_up(void *ctx, const char *text, size_t n) {
  size_t *all = ctx;
  (void)text;
  *all += n;
}

/* A kernel that never stops printing is an endless loop like any other: what is more than is kept
 * costs no time, and the budget ends it. */
static void test_endless_printing(void **state) {
  (void)state;
  static const char text[] =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);\n"
      ".global .align 1 .b8 line[4] = {120, 121, 10, 0};\n"
      ".visible .entry k()\n{\n.reg .b64 %rd<3>;\n.reg .b32 %r<2>;\n"
      "mov.u64 %rd1, line;\ncvta.global.u64 %rd2, %rd1;\nmov.u64 %rd1, 0;\n"
      "L:\n{\n.param .b64 p0;\nst.param.b64 [p0], %rd2;\n.param .b64 p1;\n"
      "st.param.b64 [p1], %rd1;\n.param .b32 q;\n"
      "call.uni (q), vprintf, (p0, p1);\nld.param.b32 %r1, [q];\n}\nbra L;\n}\n";
  size_t all = 0;
  struct err err;
  struct xray_report r;
  struct xray_launch l = {
      .grid = {2, 1, 1}, .block = {32, 1, 1}, .block_budget = 200000, .print = add_up, .ctx = &all};
  xray_module *m = xray_load(text, strlen(text), &err);
  if (!m || !xray_run(m, &l, &r, &err))
    fail_msg("%s", err.text);
  assert_int_equal(r.problems[0].kind, XRAY_BUDGET);
  assert_true(all > 64 * 1024 && all <= 1 << 20);
  xray_report_done(&r);
  xray_free(m);
}

static void no_string(void *ctx, uint64_t pointer, char *to, size_t size) {
  (void)ctx;
  snprintf(to, size, "<%d>", (int)pointer);
}

static void check_format(const char *format, const void *args, size_t n, const char *should,
                         int conversions) {
  struct str out = {0};
  int count = -1;
  exec_print_format(&out, format, args, n, no_string, NULL, &count);
  assert_string_equal(out.data ? out.data : "", should);
  assert_int_equal(count, conversions);
  str_free(&out);
}

/* Formats that lie about their arguments, end too early or ask for too much. */
static void test_strange_formats(void **state) {
  (void)state;
  int64_t seven[2] = {7, 9};
  double numbers[3] = {-0.0, INFINITY, 1e300};
  check_format("", NULL, 0, "", 0);
  check_format("%", NULL, 0, "%", 0);
  check_format("100%", NULL, 0, "100%", 0);
  check_format("%d %d", NULL, 0, "0 0", 2);
  check_format("%k%n|%d", seven, sizeof seven, "%k%n|7", 1);
  check_format("%-08.3d|", seven, sizeof seven, "007     |", 1);
  check_format("%s %.1s", seven, sizeof seven, "<7> <", 2);
  check_format("%f %5.1f %g", numbers, sizeof numbers, "-0.000000   inf 1e+300", 3);
  check_format("%.0d|%x", (int[]){0, -1}, 8, "|ffffffff", 2);
  check_format("%ld %lld %hhd", (int64_t[]){-5, INT64_MIN, 3}, 24, "-5 -9223372036854775808 3", 3);
  struct str out = {0};
  int count = 0;
  exec_print_format(&out, "%99999999d%.99999999f", (const unsigned char *)numbers, sizeof numbers,
                    no_string, NULL, &count);
  assert_true(out.len < 2000);
  str_free(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_right_kernels),   cmocka_unit_test(test_named_variable),
      cmocka_unit_test(test_printf),          cmocka_unit_test(test_endless_printing),
      cmocka_unit_test(test_strange_formats),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
