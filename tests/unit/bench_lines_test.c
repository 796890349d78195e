#include "base/alloc.h"
#include "bench/lines.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void feed(struct lines *l, const char *text) { lines_feed(l, text, strlen(text)); }

static void expect(struct lines *l, const char *text) {
  char *line;
  size_t n;
  assert_int_equal(lines_next(l, &line, &n), LINES_ONE);
  assert_string_equal(line, text);
  assert_int_equal(n, strlen(text));
}

static void expect_none(struct lines *l) {
  char *line;
  size_t n;
  assert_int_equal(lines_next(l, &line, &n), LINES_NONE);
}

static void test_pieces(void **state) {
  (void)state;
  struct lines l = {0};
  expect_none(&l);
  feed(&l, "one\ntwo\nth");
  expect(&l, "one");
  expect(&l, "two");
  expect_none(&l);
  feed(&l, "ree\n\nx");
  expect(&l, "three");
  expect(&l, "");
  expect_none(&l);
  feed(&l, "\n");
  expect(&l, "x");
  lines_free(&l);
}

static void test_byte_by_byte(void **state) {
  (void)state;
  struct lines l = {0};
  const char *text = "ab\ncd\n";
  int got = 0;
  char *line;
  size_t n;
  for (size_t i = 0; i < strlen(text); i++) {
    lines_feed(&l, text + i, 1);
    if (lines_next(&l, &line, &n) == LINES_ONE) {
      assert_string_equal(line, got == 0 ? "ab" : "cd");
      got++;
    }
  }
  assert_int_equal(got, 2);
  lines_free(&l);
}

static void test_limit(void **state) {
  (void)state;
  struct lines l = {0};
  char *line, *big = alloc_zero(LINES_MAX + 2, 1);
  size_t n;
  memset(big, 'x', LINES_MAX);
  lines_feed(&l, big, LINES_MAX);
  expect_none(&l);
  feed(&l, "\nnext\n");
  assert_int_equal(lines_next(&l, &line, &n), LINES_ONE);
  assert_int_equal(n, LINES_MAX);
  expect(&l, "next");
  free(big);
  lines_free(&l);
}

/* Told once, dropped whole, whether it comes at once or in pieces; the line behind it is whole. */
static void test_too_long(void **state) {
  (void)state;
  for (int pieces = 1; pieces <= 5; pieces++) {
    struct lines l = {0};
    char *line, *big = alloc_zero(LINES_MAX + 2, 1);
    size_t n;
    int told = 0;
    memset(big, 'x', LINES_MAX + 1);
    for (int i = 0; i < pieces; i++) {
      lines_feed(&l, big, LINES_MAX + 1);
      while (lines_next(&l, &line, &n) != LINES_NONE)
        told++;
    }
    feed(&l, "tail\nafter\n");
    enum lines_got got = lines_next(&l, &line, &n);
    if (got == LINES_TOO_LONG) {
      told++;
      got = lines_next(&l, &line, &n);
    }
    assert_int_equal(told, 1);
    assert_int_equal(got, LINES_ONE);
    assert_string_equal(line, "after");
    expect_none(&l);
    free(big);
    lines_free(&l);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pieces),
      cmocka_unit_test(test_byte_by_byte),
      cmocka_unit_test(test_limit),
      cmocka_unit_test(test_too_long),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
