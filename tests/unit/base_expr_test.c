#include "base/expr.h"

#include "decimal_comma.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool lookup(void *ctx, const char *name, double *value) {
  (void)ctx;
  static const struct {
    const char *name;
    double value;
  } known[] = {{"M", 4096}, {"roof.dram", 1.555e12}, {"neg", -3}, {"zero", 0}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i].name, name) == 0) {
      *value = known[i].value;
      return true;
    }
  if (strcmp(name, "unknown") == 0) {
    *value = (double)NAN;
    return true;
  }
  return false;
}

static void check(const char *text, double want) {
  struct err err = {""};
  double got = -12345;
  if (!expr_eval(text, lookup, NULL, &got, &err))
    fail_msg("%s: %s", text, err.text);
  if (fabs(got - want) > 1e-12 * fabs(want))
    fail_msg("%s = %.17g, not %.17g", text, got, want);
}

static void refuse(const char *text, const char *part) {
  struct err err = {""};
  double got;
  if (expr_eval(text, lookup, NULL, &got, &err))
    fail_msg("%s was taken as %g", text, got);
  if (!strstr(err.text, part))
    fail_msg("%s: \"%s\" does not say \"%s\"", text, err.text, part);
}

static void test_values(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double want;
  } cases[] = {
      {"1", 1},
      {" 1.5e3 ", 1500},
      {".5+1.", 1.5},
      {"1E+2-1e-2", 99.99},
      {"2+3*4", 14},
      {"(2+3)*4", 20},
      {"10-4-3", 3},
      {"100/10/5", 2},
      {"7%4", 3},
      {"-7%4", -3},
      {"7.5%2", 1.5},
      {"2^3^2", 512},
      {"-2^2", -4},
      {"2^-2", 0.25},
      {"(-2)^2", 4},
      {"--3", 3},
      {"+3", 3},
      {"2*-3", -6},
      {"1<2", 1},
      {"2<=1", 0},
      {"2>=2", 1},
      {"1==1 && 2!=2", 0},
      {"0||0||3", 1},
      {"1||0&&0", 1},
      {"!0+!5", 1},
      {"!(1>2)", 1},
      {"1?2:3", 2},
      {"0?2:0?3:4", 4},
      {"1?0?5:6:7", 6},
      {"min(3,1,2)+max(4,9)", 10},
      {"min(5)", 5},
      {"ceil(1.2)+floor(-1.2)+round(2.5)+abs(-4)", 7},
      {"sqrt(2)^2", 2},
      {"log2(1024)", 10},
      {"gcd(12,18)", 6},
      {"gcd(0,5)", 5},
      {"gcd(12,18,27)", 3},
      {"2*M^3", 2.0 * 4096 * 4096 * 4096},
      {"roof.dram/1e9", 1555},
      {"neg^2", 9},
      {"min (1, 2)", 1},
      {"(1+2)*(3+(4*(5-1)))", 57},
      {"9007199254740992+1-1", 9007199254740992.0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    check(cases[i].text, cases[i].want);
}

/* What is not needed is not computed. */
static void test_lazy(void **state) {
  (void)state;
  check("1 ? 2 : 1/0", 2);
  check("0 ? 1/0 : 2", 2);
  check("0 && 1/0", 0);
  check("1 || 1/0", 1);
  check("zero == 0 ? 0 : 1/zero", 0);
  check("M > 0 || nosuch", 1);
  refuse("1 && 1/0", "division");
  refuse("0 ? 1 : 1/zero", "division");
}

static void test_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *part;
  } cases[] = {
      {"", "Column 1"},
      {"   ", "ends where"},
      {"1+", "Column 3"},
      {"1 2", "Column 3"},
      {"2(3)", "Column 2"},
      {"2M", "write *"},
      {"(1", "Column 3"},
      {"1)", "Column 2"},
      {"1/0", "zero"},
      {"1%0", "zero"},
      {"0^-1", "Column 2"},
      {"sqrt(-1)", "no value"},
      {"log2(0)", "no value"},
      {"(-8)^0.5", "not a number"},
      {"gcd(1.5,2)", "whole"},
      {"gcd(4)", "two arguments"},
      {"sqrt(1,2)", "too many"},
      {"sin(1)", "no function"},
      {"nosuch+1", "nosuch"},
      {"unknown", "not known"},
      {"nan", "nan"},
      {"inf", "inf"},
      {"0x10", "Column 2"},
      {"1e400", "too large"},
      {"1e-400", "too small"},
      {"1.2.3", "Column 4"},
      {"1,5", "Column 2"},
      {"1<2<3", "chain"},
      {"1?2", "colon"},
      {"a..b", "Column"},
      {"2**3", "Column 3"},
      {"1=1", "Column 2"},
      {"1&2", "Column 2"},
      {"\xFF", "Column 1"},
      {"1\x1b[0m", "Column 2"},
      {"1e308*10", "too large"},
      {"é+", "Column 1"},
      {"max()", "Column 5"},
      {"max(1,)", "Column 7"},
      {"f\xC3\xA9(1)", "Column"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    refuse(cases[i].text, cases[i].part);
}

static void repeat(char *out, const char *piece, int times) {
  for (out[0] = '\0'; times > 0; times--)
    strcat(out, piece);
}

static void test_limits(void **state) {
  (void)state;
  static char text[20000];
  repeat(text, "(", 60);
  strcat(text, "1");
  for (int i = 0; i < 60; i++)
    strcat(text, ")");
  check(text, 1);
  repeat(text, "(", 1000);
  refuse(text, "64 deep");
  repeat(text, "-", 1000);
  refuse(text, "64 deep");
  repeat(text, "2^", 1000);
  refuse(text, "64 deep");
  repeat(text, "1?", 1000);
  refuse(text, "64 deep");
  repeat(text, "1?1:", 1000);
  refuse(text, "64 deep");
  repeat(text, "abs(", 900);
  refuse(text, "64 deep");
  repeat(text, "1||1&&1<1+1*2^(", 64);
  strcat(text, "1");
  for (int i = 0; i < 64; i++)
    strcat(text, ")");
  struct err err;
  double value;
  (void)expr_eval(text, NULL, NULL, &value, &err); /* either answer, and no crash */
  repeat(text, "1+", 2047);
  strcat(text, "1");
  check(text, 2048);
  repeat(text, "1+", 2048);
  strcat(text, "1");
  refuse(text, "longer than 4096");
  repeat(text, "n", 64);
  refuse(text, "63 characters");
}

static void test_parse_once(void **state) {
  (void)state;
  struct expr_vars vars = {0};
  struct err err;
  expr *e = expr_parse("2*M*N", &err);
  assert_non_null(e);
  for (int i = 1; i < 100; i++) {
    double got;
    expr_vars_set(&vars, "M", i);
    expr_vars_set(&vars, "N", 3);
    assert_true(expr_value(e, expr_vars_lookup, &vars, &got, &err));
    assert_true(got == 6.0 * i);
  }
  assert_int_equal(vars.n, 2);
  for (int i = 0; i < 100; i++) {
    char name[16];
    snprintf(name, sizeof name, "v%d", i);
    expr_vars_set(&vars, name, i);
  }
  double value;
  assert_true(expr_vars_lookup(&vars, "v77", &value) && value == 77);
  assert_false(expr_vars_lookup(&vars, "w", &value));
  expr_free(e);
  expr_free(NULL);
  expr_vars_free(&vars);
  assert_int_equal(vars.n, 0);
}

static void check_filled(const char *text, const char *want) {
  char *got = expr_filled(text, lookup, NULL);
  assert_string_equal(got, want);
  free(got);
}

static void test_filled(void **state) {
  (void)state;
  check_filled("2*M*M*M", "2*4096*4096*4096");
  check_filled("max(M, 1e5)/roof.dram", "max(4096, 1e5)/1555000000000");
  check_filled("neg^2 + x", "(-3)^2 + x");
  check_filled("min (M,1)", "min (4096,1)");
  check_filled("unknown", "unknown");
  check_filled("", "");
  char *plain = expr_filled("M+1", NULL, NULL);
  assert_string_equal(plain, "M+1");
  free(plain);
}

static void test_locale(void **state) {
  (void)state;
  if (!decimal_comma())
    return;
  check("1.5*2", 3);
  check_filled("roof.dram/3+0*neg", "1555000000000/3+0*(-3)");
  refuse("1,5", "Column 2");
  setlocale(LC_NUMERIC, "C");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values),     cmocka_unit_test(test_lazy),
      cmocka_unit_test(test_refused),    cmocka_unit_test(test_limits),
      cmocka_unit_test(test_parse_once), cmocka_unit_test(test_filled),
      cmocka_unit_test(test_locale),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
