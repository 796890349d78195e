#include "base/utf8.h"
#include "ui/field.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void type(struct field *f, const int *keys) {
  for (; *keys; keys++)
    assert_true(field_key(f, *keys));
}

static void test_typing_and_cursor(void **state) {
  (void)state;
  struct field f;
  field_init(&f, 0);
  type(&f, (const int[]){'1', '3', '7', 'G', 0});
  assert_string_equal(f.text, "137G");
  type(&f, (const int[]){KEYS_LEFT, ' ', KEYS_HOME, '-', 0});
  assert_string_equal(f.text, "-137 G");
  type(&f, (const int[]){KEYS_END, KEYS_BACKSPACE, KEYS_BACKSPACE, KEYS_HOME, KEYS_DELETE, 0});
  assert_string_equal(f.text, "137");
  assert_int_equal(f.at, 0);
  type(&f, (const int[]){KEYS_BACKSPACE, KEYS_LEFT, KEYS_END, KEYS_RIGHT, KEYS_DELETE, 0});
  assert_string_equal(f.text, "137");
}

static void test_wide_characters_and_marks(void **state) {
  (void)state;
  struct field f;
  field_init(&f, 0);
  type(&f, (const int[]){0x77E9, 0x9635, 'e', 0x301, 0});
  assert_string_equal(f.text, "矩阵e\xCC\x81");
  type(&f, (const int[]){KEYS_BACKSPACE, KEYS_BACKSPACE, 0}); /* e with its accent goes at once */
  assert_string_equal(f.text, "矩");
  type(&f, (const int[]){KEYS_LEFT, KEYS_DELETE, 0});
  assert_string_equal(f.text, "");
  type(&f, (const int[]){0x301, KEYS_HOME, 'e', 0}); /* joins the mark behind it: never between */
  assert_int_equal(f.at, strlen(f.text));
}

static void test_keys_left_to_the_caller(void **state) {
  (void)state;
  struct field f;
  field_init(&f, 0);
  const int others[] = {KEYS_ENTER, KEYS_ESC, KEYS_TAB,    KEYS_SHIFT_TAB, KEYS_UP,
                        KEYS_DOWN,  KEYS_F2,  KEYS_CTRL_C, KEYS_CTRL_L,    KEYS_RESIZE};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    assert_false(field_key(&f, others[i]));
  assert_string_equal(f.text, "");
}

/* What could turn the screen round or is no character stays out. */
static void test_unclean_characters(void **state) {
  (void)state;
  struct field f;
  field_init(&f, 0);
  const int bad[] = {0x202E, 0x85, 0xD800, 0x2066};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    field_key(&f, bad[i]);
  assert_string_equal(f.text, "");
  field_set(&f, "a\x1b[31mb\nc");
  assert_true(utf8_valid(f.text, strlen(f.text), NULL));
  assert_null(strchr(f.text, 0x1b));
  assert_null(strchr(f.text, '\n'));
}

static void test_limits(void **state) {
  (void)state;
  struct field f;
  field_init(&f, 5);
  type(&f, (const int[]){'a', 0x77E9, 0x9635, 'b', 'c', 0});
  assert_string_equal(f.text, "a矩阵"); /* b would be the sixth column */
  field_init(&f, 0);
  for (int i = 0; i < 500; i++)
    assert_true(field_key(&f, 0x77E9));
  assert_true(strlen(f.text) < FIELD_BYTES);
  assert_true(utf8_valid(f.text, strlen(f.text), NULL));
}

static void test_view_keeps_the_cursor_inside(void **state) {
  (void)state;
  struct field f;
  field_init(&f, 0);
  field_set(&f, "0123456789矩阵乘法abcdef");
  for (int cols = 1; cols <= 30; cols++)
    for (int i = 0; i < 30; i++) {
      size_t start, len;
      int cursor;
      field_view(&f, cols, &start, &len, &cursor);
      assert_true(cursor >= 0 && cursor < cols);
      assert_true(start + len <= strlen(f.text));
      assert_true(utf8_width_n(f.text + start, len) <= cols);
      field_key(&f, i < 20 ? KEYS_LEFT : KEYS_RIGHT);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_typing_and_cursor),
      cmocka_unit_test(test_wide_characters_and_marks),
      cmocka_unit_test(test_keys_left_to_the_caller),
      cmocka_unit_test(test_unclean_characters),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_view_keeps_the_cursor_inside),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
