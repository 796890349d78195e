#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_decode(void **state) {
  (void)state;
  static const struct {
    const char *s;
    size_t n, len;
    int cp;
  } cases[] = {
      {"A", 1, 1, 'A'},
      {"\xC3\xA9", 2, 2, 0xE9},
      {"\xE4\xB8\xAD", 3, 3, 0x4E2D},
      {"\xF0\x9F\x98\x80", 4, 4, 0x1F600},
      {"\xC0\xAF", 2, 1, -1},         /* overlong */
      {"\xE0\x80\xAF", 3, 1, -1},     /* overlong */
      {"\xED\xA0\x80", 3, 1, -1},     /* surrogate */
      {"\xF4\x90\x80\x80", 4, 1, -1}, /* above U+10FFFF */
      {"\xE4\xB8", 2, 1, -1},         /* cut */
      {"\xE4\xB8\xAD", 2, 1, -1},     /* cut by n */
      {"\x80", 1, 1, -1},
      {"\xFF", 1, 1, -1},
      {"", 0, 0, -1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    size_t len = 99;
    assert_int_equal(utf8_decode(cases[i].s, cases[i].n, &len), cases[i].cp);
    assert_int_equal(len, cases[i].len);
  }
}

static void test_valid(void **state) {
  (void)state;
  size_t bad = 99;
  assert_true(utf8_valid("", 0, NULL));
  assert_true(utf8_valid("a中é😀", strlen("a中é😀"), &bad));
  assert_int_equal(bad, 99);
  assert_false(utf8_valid("ab\xFF"
                          "cd",
                          5, &bad));
  assert_int_equal(bad, 2);
  assert_false(utf8_valid("ab中", 4, &bad));
  assert_int_equal(bad, 2);
  assert_false(utf8_valid("\xC0\x80", 2, NULL));
}

static void test_width(void **state) {
  (void)state;
  static const struct {
    const char *s;
    int width;
  } cases[] = {
      {"", 0},
      {"abc", 3},
      {"中文", 4},
      {"ｆ", 2},
      {"é", 1},
      {"e\xCC\x81", 1},
      {"→", 1},
      {"×", 1},
      {"·", 1},
      {"…", 1},
      {"─│┌█▏", 5},
      {"⣿", 1},
      {"▶●■✓", 4},
      {"“”", 2},
      {"α±≤", 3},
      {"한국", 4},
      {"👨‍👩‍👧", 2},
      {"🇩🇪", 2},
      {"\xFF", 1},
      {"a\xFF\xFE中", 5},
      {"µs", 2},
      {"，。", 4},
      {"\xE4\xB8", 2},
      {"²", 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(utf8_width(cases[i].s), cases[i].width);
    assert_int_equal(utf8_width_n(cases[i].s, strlen(cases[i].s)), cases[i].width);
  }
  assert_int_equal(utf8_width_n("中文ab", 3), 2);
  assert_int_equal(utf8_width_n("ab", 0), 0);
}

static void test_grapheme(void **state) {
  (void)state;
  int w = 9;
  assert_int_equal(utf8_grapheme("", &w), 0);
  assert_int_equal(w, 0);
  assert_int_equal(utf8_grapheme("ab", NULL), 1);
  assert_int_equal(utf8_grapheme("e\xCC\x81x", &w), 3);
  assert_int_equal(w, 1);
  assert_int_equal(utf8_grapheme("👨‍👩‍👧x", &w), strlen("👨‍👩‍👧"));
  assert_int_equal(w, 2);
  assert_int_equal(utf8_grapheme("🇩🇪🇫🇷", &w), 8);
  assert_int_equal(utf8_grapheme("\xFFz", &w), 1);
  assert_int_equal(w, 1);
  assert_int_equal(utf8_grapheme("\r\nx", NULL), 2);
  assert_int_equal(utf8_grapheme("\n\n", NULL), 1);
}

static void test_clip(void **state) {
  (void)state;
  int used = -1;
  assert_int_equal(utf8_clip("abc", 2, &used), 2);
  assert_int_equal(used, 2);
  assert_int_equal(utf8_clip("a中b", 2, &used), 1); /* a wide character is never halved */
  assert_int_equal(used, 1);
  assert_int_equal(utf8_clip("a中b", 3, &used), 4);
  assert_int_equal(utf8_clip("e\xCC\x81x", 1, &used), 3); /* nor a letter and its mark */
  assert_int_equal(utf8_clip("abc", 0, &used), 0);
  assert_int_equal(utf8_clip("abc", -5, &used), 0);
  assert_int_equal(used, 0);
  assert_int_equal(utf8_clip("", 5, NULL), 0);
  assert_int_equal(utf8_clip("abc", 50, &used), 3);
  assert_int_equal(used, 3);
}

static void check_clean(const char *s, size_t n, const char *want) {
  char *got = utf8_clean(s, n);
  assert_string_equal(got, want);
  free(got);
}

static void test_clean(void **state) {
  (void)state;
#define CLEAN(s, want) check_clean(s, sizeof(s) - 1, want)
  CLEAN("", "");
  CLEAN("plain\ntext", "plain\ntext");
  CLEAN("\xEF\xBB\xBFtext", "text");
  CLEAN("a\xEF\xBB\xBF"
        "b",
        "a\xEF\xBF\xBD"
        "b");
  CLEAN("a\r\nb\rc\n", "a\nb\nc\n");
  CLEAN("\x1b[31mred", "\xEF\xBF\xBD[31mred");
  CLEAN("a\0b", "a\xEF\xBF\xBD"
                "b");
  CLEAN("\x7F\x07", "\xEF\xBF\xBD\xEF\xBF\xBD");
  CLEAN("\xC2\x9B"
        "31m",
        "\xEF\xBF\xBD"
        "31m");                              /* C1 */
  CLEAN("x\xE2\x80\xAEy", "x\xEF\xBF\xBDy"); /* bidi override */
  CLEAN("x\xE2\x81\xA6y", "x\xEF\xBF\xBDy"); /* bidi isolate */
  CLEAN("\xC0\xAF\xFF", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  CLEAN("\xE4\xB8", "\xEF\xBF\xBD\xEF\xBF\xBD");
  CLEAN("\tx", "    x");
  CLEAN("ab\tx\ty", "ab  x   y");
  CLEAN("abcd\tx", "abcd    x");
  CLEAN("中\tx\n\ty", "中  x\n    y");
  CLEAN("👨‍👩‍👧", "👨‍👩‍👧");
  CLEAN("中文（é）", "中文（é）");
#undef CLEAN
}

static void check_ascii(const char *s, const char *want) {
  char *got = utf8_ascii(s);
  assert_string_equal(got, want);
  free(got);
}

static void test_ascii(void **state) {
  (void)state;
  check_ascii("plain ~text\n", "plain ~text\n");
  check_ascii("┌─┬┐│├┼┤└┴┘═║╔╝", "+-++|+++++"
                                 "+=|++");
  check_ascii("a → b ≤ c", "a -> b <= c");
  check_ascii("1.37×10¹¹ s⁻¹ x₁₂", "1.37x10^11 s^-1 x_12");
  check_ascii("“q” ‘r’ – — …", "\"q\" 'r' - -- ...");
  check_ascii("µs σ π ± ≠ ∞ √", "us sigma pi +- != inf sqrt");
  check_ascii("✓ ✗ ● ○ ▶ ▲", "v x * o > ^");
  check_ascii("中文（tile）", "中文（tile）");
  check_ascii("é", "e");
  check_ascii("\xFF", "?");
  check_ascii("Ж", "?");
}

/* Every glyph that one cell of the canvas can hold keeps its column. */
static void test_ascii_cell(void **state) {
  (void)state;
  for (int cp = 0x2500; cp < 0x2600; cp++) {
    char s[4] = {(char)(0xE0 | cp >> 12), (char)(0x80 | (cp >> 6 & 63)), (char)(0x80 | (cp & 63))};
    if (utf8_width(s) != 1)
      continue;
    const char *cell = utf8_ascii_cell(s, 1);
    assert_int_equal(strlen(cell), 1);
    assert_in_range(cell[0], 32, 126);
    if (cp < 0x25A0)
      assert_int_not_equal(cell[0], '?');
  }
  assert_string_equal(utf8_ascii_cell("─", 1), "-");
  assert_string_equal(utf8_ascii_cell("╳", 1), "X");
  assert_string_equal(utf8_ascii_cell("╱", 1), "/");
  assert_string_equal(utf8_ascii_cell("█", 1), "#");
  assert_string_equal(utf8_ascii_cell("\xE2\xA0\x80", 1), " "); /* braille: density */
  assert_string_equal(utf8_ascii_cell("\xE2\xA0\x81", 1), ".");
  assert_string_equal(utf8_ascii_cell("⣿", 1), "#");
  assert_string_equal(utf8_ascii_cell("≤", 1), "<");
  assert_string_equal(utf8_ascii_cell("a", 1), "a");
  assert_string_equal(utf8_ascii_cell("e\xCC\x81", 1), "e");
  assert_string_equal(utf8_ascii_cell("中", 2), "中");
  assert_string_equal(utf8_ascii_cell("\xFF", 1), "?");
}

/* The lines joined by '|'. */
static void check_wrap(const char *s, int cols, const char *want) {
  struct utf8_line *lines;
  size_t n = utf8_wrap(s, cols, &lines), used = 0;
  char got[512] = "";
  for (size_t i = 0; i < n; i++) {
    assert_int_equal(lines[i].width, utf8_width_n(s + lines[i].start, lines[i].len));
    assert_true(lines[i].width <= (cols < 2 ? 2 : cols));
    used += (size_t)snprintf(got + used, sizeof got - used, "%s%.*s", i ? "|" : "",
                             (int)lines[i].len, s + lines[i].start);
  }
  free(lines);
  assert_string_equal(got, want);
}

static void test_wrap(void **state) {
  (void)state;
  check_wrap("", 10, "");
  check_wrap("\n", 10, "|");
  check_wrap("a b c", 10, "a b c");
  check_wrap("aaa bbb ccc", 7, "aaa bbb|ccc");
  check_wrap("aaa bbb   ", 7, "aaa bbb");
  check_wrap("aaa    bbb", 5, "aaa|bbb");
  check_wrap("a\n\nb", 9, "a||b");
  check_wrap("  indented text", 10, "  indented|text");
  check_wrap("abcdefghij kl", 4, "abcd|efgh|ij|kl");
  check_wrap("中文排版", 4, "中文|排版");
  check_wrap("中文排版", 5, "中文|排版");
  check_wrap("中文", 1, "中|文");
  check_wrap("用 tile 复用", 6, "用|tile|复用");
  check_wrap("aaaa", -3, "aa|aa");
}

static void test_wrap_punctuation(void **state) {
  (void)state;
  check_wrap("一二三，四", 6, "一二|三，四");
  check_wrap("一二三。", 6, "一二|三。");
  check_wrap("一二（三四）", 6, "一二|（三|四）");
  check_wrap("一二《三》", 8, "一二|《三》");
  check_wrap("aaaaaaaaaa,", 10, "aaaaaaaaa|a,");
  check_wrap("word (note) x", 6, "word|(note)|x");
  check_wrap("一二三”，四", 8, "一二|三”，四");
  check_wrap(",,,,,,", 4, ",,,,|,,"); /* there is no better place */
  check_wrap("((((((", 4, "((((|((");
}

static void test_hostile(void **state) {
  (void)state;
  size_t n = 200000;
  char *s = malloc(n + 1);
  assert_non_null(s);
  for (size_t i = 0; i + 1 < n; i += 2)
    memcpy(s + i, "\xCC\x81", 2); /* one letter under 100,000 accents */
  s[0] = 'a', s[1] = 'b', s[n] = '\0';
  assert_int_equal(utf8_width(s), 2);
  memset(s, '\t', n);
  char *clean = utf8_clean(s, n);
  assert_int_equal(strlen(clean), 4 * n);
  free(clean);
  memset(s, ')', n);
  struct utf8_line *lines;
  assert_int_equal(utf8_wrap(s, 10, &lines), n / 10);
  free(lines);
  free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_decode),  cmocka_unit_test(test_valid),
      cmocka_unit_test(test_width),   cmocka_unit_test(test_grapheme),
      cmocka_unit_test(test_clip),    cmocka_unit_test(test_clean),
      cmocka_unit_test(test_ascii),   cmocka_unit_test(test_ascii_cell),
      cmocka_unit_test(test_wrap),    cmocka_unit_test(test_wrap_punctuation),
      cmocka_unit_test(test_hostile),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
