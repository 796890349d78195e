/* Random bytes, and random pieces of valid text, into everything that reads what others wrote. The
 * seed is fixed; FUZZ_ITERATIONS and FUZZ_SEED change what a longer run does. */
#include "base/expr.h"
#include "base/json.h"
#include "base/rand.h"
#include "base/str.h"
#include "base/units.h"
#include "base/utf8.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const pieces[] = {
    "1",
    "2.5",
    "e",
    "e5",
    "-",
    "+",
    "*",
    "/",
    "%",
    "^",
    "(",
    ")",
    "?",
    ":",
    "<",
    "&&",
    "||",
    "!",
    "==",
    "max(",
    "gcd(",
    ",",
    " ",
    "M",
    "roof.x",
    "G",
    "Ki",
    "FLOP",
    "/s",
    "B",
    "GB/s",
    "us",
    "1,024",
    "x",
    "×",
    "¹",
    "１",
    "\"a\"",
    "{",
    "}",
    "[",
    "]",
    "null",
    "true",
    "\\u00",
    "\\ud83d",
    "\"",
    "\\",
    "\n",
    "\t",
    "\r",
    "中",
    "，",
    "（",
    "e\xCC\x81",
    "👨‍👩‍👧",
    "\xEF\xBB\xBF",
    "\xE2\x80\xAE",
    "\xFF",
    "\xC0\x80",
    "\x1b[",
    "0",
    "1e999",
    "007",
};
enum { PIECES = sizeof pieces / sizeof *pieces };

static void make(struct rand *r, struct str *s) {
  str_clear(s);
  str_add(s, "");
  size_t n = rand_below(r, 40);
  bool raw = rand_below(r, 4) == 0;
  for (size_t i = 0; i < n; i++)
    if (raw)
      str_addc(s, (char)rand_below(r, 256));
    else
      str_add(s, pieces[rand_below(r, PIECES)]);
}

static uint64_t number(const char *name, uint64_t fallback) {
  const char *text = getenv(name);
  return text ? strtoull(text, NULL, 10) : fallback;
}

/* Calls f with many texts; each lies alone in memory, so that one byte too far is seen. */
static void drive(void (*f)(const char *s, size_t n)) {
  struct rand r;
  struct str s = {0};
  rand_seed(&r, number("FUZZ_SEED", 1));
  for (uint64_t i = number("FUZZ_ITERATIONS", 20000); i > 0; i--) {
    make(&r, &s);
    char *copy = malloc(s.len + 1);
    assert_non_null(copy);
    memcpy(copy, s.data, s.len + 1);
    f(copy, s.len);
    free(copy);
  }
  str_free(&s);
}

static bool lookup(void *ctx, const char *name, double *value) {
  (void)ctx;
  *value = name[0] == 'M' ? 4096 : 1.5;
  return true;
}

static void one_expr(const char *s, size_t n) {
  (void)n;
  struct err err = {""};
  double value = NAN;
  if (expr_eval(s, lookup, NULL, &value, &err))
    assert_true(isfinite(value));
  else
    assert_int_equal(strncmp(err.text, "Column ", 7), 0);
  free(expr_filled(s, lookup, NULL));
}

static void one_quantity(const char *s, size_t n) {
  (void)n;
  struct units_value v;
  struct err err = {""};
  if (units_parse(s, &v, &err)) {
    assert_true(isfinite(v.value));
    assert_true((unsigned)v.unit < UNIT_CLASSES);
    free(units_format(v.value, units_name(v.unit), 0));
    free(units_exact(v.value));
  } else {
    assert_true(err.text[0]);
    assert_true(utf8_valid(err.text, strlen(err.text), NULL));
    assert_null(strchr(err.text, '\x1b'));
  }
  char *shown = units_format(12.5, s, 3);
  assert_true(strlen(shown) >= 2);
  free(shown);
}

/* What is taken prints as JSON that is taken again and prints the same. */
static void one_json(const char *s, size_t n) {
  struct err err = {""};
  json_doc *doc = json_parse(s, n, "fuzz", 0, &err);
  if (!doc) {
    assert_int_equal(strncmp(err.text, "fuzz:", 5), 0);
    return;
  }
  char *first = json_print(json_root(doc));
  json_doc *again = json_parse(first, strlen(first), "again", 0, &err);
  if (!again)
    fail_msg("%s became %s: %s", s, first, err.text);
  char *second = json_print(json_root(again));
  assert_string_equal(first, second);
  free(first);
  free(second);
  json_free(doc);
  json_free(again);
}

static void check_lines(const char *s, int cols) {
  struct utf8_line *lines;
  size_t count = utf8_wrap(s, cols, &lines), at = 0;
  assert_true(count >= 1);
  for (size_t i = 0; i < count; i++) {
    assert_true(lines[i].start >= at);
    for (; at < lines[i].start; at++) /* only spaces and breaks are left out */
      assert_non_null(strchr(" \t\n\xE3\x80", s[at]));
    assert_true(lines[i].width <= cols);
    assert_int_equal(lines[i].width, utf8_width_n(s + lines[i].start, lines[i].len));
    at = lines[i].start + lines[i].len;
  }
  free(lines);
}

static void one_text(const char *s, size_t n) {
  char *clean = utf8_clean(s, n);
  assert_true(utf8_valid(clean, strlen(clean), NULL));
  assert_null(strchr(clean, '\x1b'));
  assert_null(strchr(clean, '\r'));
  assert_int_equal(utf8_width(clean), utf8_width_n(clean, strlen(clean)));
  int used;
  for (int cols = 0; cols < 20; cols += 3) {
    size_t bytes = utf8_clip(clean, cols, &used);
    assert_true(used <= cols && bytes <= strlen(clean));
    assert_true(utf8_valid(clean, bytes, NULL));
  }
  check_lines(clean, 2);
  check_lines(clean, 7);
  check_lines(clean, 30);
  char *twice = utf8_clean(clean, strlen(clean)), *ascii = utf8_ascii(s);
  assert_string_equal(twice, clean);
  free(twice);
  free(ascii);
  free(clean);
}

static void test_expr(void **state) {
  (void)state;
  drive(one_expr);
}
static void test_units(void **state) {
  (void)state;
  drive(one_quantity);
}
static void test_json(void **state) {
  (void)state;
  drive(one_json);
}
static void test_utf8(void **state) {
  (void)state;
  drive(one_text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_expr),
      cmocka_unit_test(test_units),
      cmocka_unit_test(test_json),
      cmocka_unit_test(test_utf8),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
