#include "base/units.h"

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

static void check(const char *text, double want, enum unit_class unit) {
  struct units_value v = {0};
  struct err err = {""};
  if (!units_parse(text, &v, &err))
    fail_msg("%s: %s", text, err.text);
  if (v.value != want)
    fail_msg("%s = %.17g, not %.17g", text, v.value, want);
  if (v.unit != unit)
    fail_msg("%s has the unit %s, not %s", text, units_name(v.unit), units_name(unit));
  assert_false(signbit(v.value) && v.value == 0);
}

static void refuse(const char *text, const char *part) {
  struct units_value v;
  struct err err = {""};
  if (units_parse(text, &v, &err))
    fail_msg("%s was taken as %g", text, v.value);
  if (!strstr(err.text, part))
    fail_msg("%s: \"%s\" does not say \"%s\"", text, err.text, part);
}

static void test_numbers(void **state) {
  (void)state;
  static const char *const same[] = {
      "1.37e11",         "1.37E+11",        "1.37 e11",
      "1.37e 11",        "1.37x10^11",      "1.37×10^11",
      "1.37*10**11",     "137e9",           "137G",
      "137 G",           "1.37×10¹¹",       "137000000000",
      "137,000,000,000", "137 000 000 000", "0.137T",
      "１．３７ｅ１１",  "１３７Ｇ",        "1.37 × 10¹¹",
      "1.37*10^11",      "  137G  ",        "1.37 x 10^11",
      "137000M",         "1.37*10^2 G",     "(100+37)G",
  };
  for (size_t i = 0; i < sizeof same / sizeof *same; i++)
    check(same[i], 137e9, UNIT_NONE);
  check("1/6", 1.0 / 6, UNIT_NONE);
  check("2*4096^3", 137438953472.0, UNIT_NONE);
  check("1,024", 1024, UNIT_NONE);
  check("1 024", 1024, UNIT_NONE);
  check("2 048 * 2", 4096, UNIT_NONE);
  check("12,345.5", 12345.5, UNIT_NONE);
  check("16,000", 16000, UNIT_NONE);
  check("16.000", 16, UNIT_NONE);
  check("－５", -5, UNIT_NONE);
  check("−5", -5, UNIT_NONE);
  check("-0", 0, UNIT_NONE);
  check("+5", 5, UNIT_NONE);
  check("２０４８", 2048, UNIT_NONE);
  check("min(1,5)", 1, UNIT_NONE);
  check("max(3,400)", 400, UNIT_NONE);
  check("10 % 3", 1, UNIT_NONE);
  check("9007199254740991", 9007199254740991.0, UNIT_NONE);
  check("6 ÷ 3 · 2", 4, UNIT_NONE);
  check("2.5x", 2.5, UNIT_NONE);
  check("2.0x10^11", 2e11, UNIT_NONE);
  check("10x10", 100, UNIT_NONE);
  check("64Ki", 65536, UNIT_NONE);
  check("1.5 k", 1500, UNIT_NONE);
}

static void test_prefix_inside(void **state) {
  (void)state;
  check("19.5T/1.5T", 13, UNIT_NONE);
  check("312T / 2 T", 156, UNIT_NONE);
  check("1/2k", 0.0005, UNIT_NONE);
  check("64Ki*4", 262144, UNIT_NONE);
  check("2k^2", 4e6, UNIT_NONE);
  check("(1+1)k*3", 6000, UNIT_NONE);
  check("6k/max(1,2)k", 3, UNIT_NONE);
  check("1/6 GB/s", 1e9 / 6 == 166666666.66666666 ? 1e9 / 6 : 166666666.666667, UNIT_BYTES);
}

static void test_units(void **state) {
  (void)state;
  check("137 GFLOP", 137e9, UNIT_FLOP);
  check("0.137 TFLOP", 137e9, UNIT_FLOP);
  check("137GFLOPs", 137e9, UNIT_FLOP);
  check("137 gflop", 137e9, UNIT_FLOP);
  check("137 G FLOP", 137e9, UNIT_FLOP);
  check("137 GFLOPS", 137e9, UNIT_FLOPS);
  check("137 GFLOP/s", 137e9, UNIT_FLOPS);
  check("137 gflops/s", 137e9, UNIT_FLOPS);
  check("19.5 TFLOP / s", 19.5e12, UNIT_FLOPS);
  check("1.5e3 GB/s", 1.5e12, UNIT_BYTES);
  check("2 GBps", 2e9, UNIT_BYTES);
  check("2 bytes per second", 2, UNIT_BYTES);
  check("4 KiB", 4096, UNIT_BYTE);
  check("4KB", 4000, UNIT_BYTE);
  check("4 kB", 4000, UNIT_BYTE);
  check("1 GiB", 1073741824, UNIT_BYTE);
  check("128 bytes", 128, UNIT_BYTE);
  check("4096*4096*4 B", 67108864, UNIT_BYTE);
  check("0.25 FLOP/B", 0.25, UNIT_INTENSITY);
  check("3 flops/byte", 3, UNIT_INTENSITY);
  check("20 us", 20e-6, UNIT_SECOND);
  check("20 µs", 20e-6, UNIT_SECOND);
  check("20 μs", 20e-6, UNIT_SECOND);
  check("3 ms", 3e-3, UNIT_SECOND);
  check("3ns", 3e-9, UNIT_SECOND);
  check("2 seconds", 2, UNIT_SECOND);
  check("1.41 GHz", 1.41e9, UNIT_HERTZ);
  check("1410 MHz", 1.41e9, UNIT_HERTZ);
  check("0.65%", 0.65, UNIT_PERCENT);
  check("33 %", 33, UNIT_PERCENT);
  check("３３％", 33, UNIT_PERCENT);
  check("1/3*100 percent", 1.0 / 3 * 100, UNIT_PERCENT);
}

static void test_prefixed(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool prefixed;
  } cases[] = {{"137 GFLOP", true}, {"137G", true},    {"4 KiB", true}, {"19T/1T", true},
               {"137e9", false},    {"5 FLOP", false}, {"33 %", false}, {"3 s", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct units_value v;
    assert_true(units_parse(cases[i].text, &v, NULL));
    assert_int_equal(v.prefixed, cases[i].prefixed);
  }
}

static void test_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *part;
  } cases[] = {
      {"", "Nothing"},
      {"   ", "Nothing"},
      {"　", "Nothing"},
      {"1,5", "1.5"},
      {"1,37", "1.5"},
      {"0,137", "1.5"},
      {"1,2345", "1.5"},
      {"1,024,5", "1.5"},
      {"1.024,5", "1.5"},
      {"１，５", "1.5"},
      {"nan", "cannot be read"},
      {"-nan(1)", "cannot be read"},
      {"inf", "cannot be read"},
      {"infinity", "cannot"},
      {"0x10", "cannot be read"},
      {"0X1F", "cannot be read"},
      {"1e400", "too large"},
      {"1e-400", "too small"},
      {"1.37d11", "cannot"},
      {"1e", "\"e\""},
      {"١٥٣", "0-9"},
      {"5\n", "line break"},
      {"\x1b[31m5", "cannot"},
      {"5\xFF", "cannot be read"},
      {"4 kb", "bit"},
      {"4 Gb/s", "bit"},
      {"3 mB", "\"mB\""},
      {"5 B/FLOP", "B/FLOP"},
      {"7 TFLOPS/s", "TFLOPS/s"},
      {"2 GB/4 s", "cannot be read"},
      {"5 apples", "apples"},
      {"GB", "cannot be read"},
      {"M", "cannot be read"},
      {"flops/byte", "cannot"},
      {"1/0", "zero"},
      {"1 2", "cannot be read"},
      {"12 34", "cannot"},
      {"2k3", "cannot be read"},
      {"(1", "cannot be read"},
      {"1e308 TB", "too large"},
      {"M*N", "cannot be read"},
      {"1.2.3", "cannot be read"},
      {"%", "cannot"},
      {"😀", "cannot be read"},
      {"5 m", "\"m\""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    refuse(cases[i].text, cases[i].part);
  char big[2000];
  memset(big, '1', sizeof big - 1);
  big[sizeof big - 1] = '\0';
  refuse(big, "512");
  memset(big, '(', 500);
  big[500] = '\0';
  refuse(big, "64 deep");
}

static void test_class(void **state) {
  (void)state;
  static const struct {
    const char *text;
    enum unit_class class;
  } cases[] = {{"", UNIT_NONE},        {"FLOP", UNIT_FLOP},
               {"FLOP/s", UNIT_FLOPS}, {"TFLOPS", UNIT_FLOPS},
               {"B", UNIT_BYTE},       {"GB/s", UNIT_BYTES},
               {"MiB", UNIT_BYTE},     {"flops/byte", UNIT_INTENSITY},
               {"s", UNIT_SECOND},     {"µs", UNIT_SECOND},
               {"GHz", UNIT_HERTZ},    {"%", UNIT_PERCENT}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    enum unit_class class = UNIT_CLASSES;
    assert_true(units_class(cases[i].text, &class));
    assert_int_equal(class, cases[i].class);
  }
  enum unit_class class;
  assert_false(units_class("blocks", &class));
  assert_false(units_class("B/FLOP", &class));
  assert_false(units_class("s/s", &class));
  assert_false(units_class("/", &class));
  for (int c = 0; c < UNIT_CLASSES; c++) {
    assert_true(units_class(units_name((enum unit_class)c), &class));
    assert_int_equal(class, c);
  }
}

static void check_format(double value, const char *unit, int digits, const char *want) {
  char *got = units_format(value, unit, digits);
  if (strcmp(got, want) != 0)
    fail_msg("%.17g %s: \"%s\", not \"%s\"", value, unit, got, want);
  free(got);
}

static void test_format(void **state) {
  (void)state;
  check_format(137e9, "FLOP", 0, "137 GFLOP");
  check_format(8.951e12, "FLOP/s", 0, "8.95 TFLOP/s");
  check_format(4.25e12, "B/s", 0, "4.25 TB/s");
  check_format(1, "FLOP/B", 0, "1.00 FLOP/B");
  check_format(0.0154, "s", 0, "15.4 ms");
  check_format(33, "%", 0, "33 %");
  check_format(33.333, "%", 0, "33.3 %");
  check_format(0.65, "%", 0, "0.65 %");
  check_format(0.25, "", 0, "0.25");
  check_format(999.6, "B", 0, "1.00 kB");
  check_format(999600, "B", 0, "1.00 MB");
  check_format(999400, "B", 0, "999 kB");
  check_format(9.996e9, "B/s", 0, "10.0 GB/s");
  check_format(0, "B", 0, "0 B");
  check_format(-0.0, "", 0, "0");
  check_format(5, "B", 0, "5 B");
  check_format(999, "FLOP", 0, "999 FLOP");
  check_format(12345, "", 0, "12345");
  check_format(12345.6, "", 0, "12346");
  check_format(12345678, "", 0, "12.3 M");
  check_format(1e-5, "s", 0, "10.0 µs");
  check_format(1e-9, "s", 0, "1.00 ns");
  check_format(9.996e-7, "s", 0, "1.00 µs");
  check_format(5000, "s", 0, "5000 s");
  check_format(153.2, "FLOP/B", 0, "153 FLOP/B");
  check_format(5000.7, "FLOP/B", 0, "5001 FLOP/B");
  check_format(1.2e-9, "", 0, "1.20e-9");
  check_format(5.22e18, "", 0, "5.22e18");
  check_format(32, "KiB", 0, "32.0 KiB");
  check_format(1536, "KiB", 0, "1.50 MiB");
  check_format(2000, "GB/s", 0, "2.00 TB/s");
  check_format((double)NAN, "B", 0, "-");
  check_format((double)INFINITY, "", 0, "-");
  check_format(-4e9, "B", 0, "-4.00 GB");
  check_format(3, "blocks", 0, "3 blocks");
  check_format(2.147e9, "threads", 0, "2.15 G threads");
  check_format(137.438953472e9, "FLOP", 5, "137.44 GFLOP");
  check_format(1.41e9, "Hz", 0, "1.41 GHz");
  check_format(960, "FLOP/s", 1, "960 FLOP/s");
}

/* What is written can be read, and means the same to three digits. */
static void test_round_trip(void **state) {
  (void)state;
  static const char *const unit[] = {"FLOP", "FLOP/s", "B", "B/s", "FLOP/B", "s", "Hz", "%", ""};
  for (size_t u = 0; u < sizeof unit / sizeof *unit; u++)
    for (double value = 1.234e-9; value < 1e20; value *= 7.3) {
      struct units_value v = {0};
      struct err err = {""};
      char *text = units_format(value, unit[u], 0);
      if (!units_parse(text, &v, &err))
        fail_msg("%s: %s", text, err.text);
      if (fabs(v.value - value) > 0.0051 * value)
        fail_msg("%.9g %s became %s", value, unit[u], text);
      assert_string_equal(units_name(v.unit), unit[u]);
      free(text);
    }
}

static void check_exact(double value, const char *want) {
  char *got = units_exact(value);
  assert_string_equal(got, want);
  free(got);
}

static void test_exact(void **state) {
  (void)state;
  check_exact(2147483648, "2,147,483,648");
  check_exact(0, "0");
  check_exact(-0.0, "0");
  check_exact(999, "999");
  check_exact(1000, "1,000");
  check_exact(-1234567, "-1,234,567");
  check_exact(1234.5, "1,234.5");
  check_exact(9007199254740992.0, "9,007,199,254,740,992");
  check_exact(137438953472.0, "137,438,953,472");
  check_exact(0.1, "0.1");
  check_exact(1e22, "1e+22");
  check_exact((double)NAN, "-");
}

static void test_locale(void **state) {
  (void)state;
  if (!decimal_comma())
    return;
  check("1.37e11", 137e9, UNIT_NONE);
  check("0.137 TFLOP", 137e9, UNIT_FLOP);
  refuse("1,37", "1.5");
  check_format(8.951e12, "FLOP/s", 0, "8.95 TFLOP/s");
  check_format(0.25, "", 0, "0.25");
  check_format(9.996e-7, "s", 0, "1.00 µs");
  check_format(1.2e-9, "", 0, "1.20e-9");
  check_format(5.22e18, "", 0, "5.22e18");
  check_exact(1234.5, "1,234.5");
  setlocale(LC_NUMERIC, "C");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers), cmocka_unit_test(test_prefix_inside),
      cmocka_unit_test(test_units),   cmocka_unit_test(test_prefixed),
      cmocka_unit_test(test_refused), cmocka_unit_test(test_class),
      cmocka_unit_test(test_format),  cmocka_unit_test(test_round_trip),
      cmocka_unit_test(test_exact),   cmocka_unit_test(test_locale),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
