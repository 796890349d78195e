#include "ui/keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const unsigned views[] = {0, KEYS_HOME_VIEW, KEYS_LESSON_VIEW, KEYS_HELP_VIEW};
static const unsigned extras[] = {KEYS_SIM,     KEYS_LIVE,    KEYS_CHOICE, KEYS_FIELD,
                                  KEYS_EXPLAIN, KEYS_RUNNING, KEYS_SEARCH};
enum { EXTRAS = sizeof extras / sizeof extras[0] };

static int bindings(int key, unsigned contexts) {
  int n = 0;
  for (const struct key_binding *b = keys_table; b->command != CMD_NONE; b++)
    if ((b->key == key || b->key2 == key) && (b->contexts & contexts) && !(b->unless & contexts))
      n++;
  return n;
}

/* In no state that a view can be in does a key have two meanings. */
static void test_no_key_twice(void **state) {
  (void)state;
  for (int v = 0; v < 4; v++)
    for (unsigned set = 0; set < 1u << EXTRAS; set++) {
      unsigned contexts = KEYS_ANY | views[v];
      for (int i = 0; i < EXTRAS; i++)
        if (set & 1u << i)
          contexts |= extras[i];
      for (const struct key_binding *b = keys_table; b->command != CMD_NONE; b++) {
        if (b->key && bindings(b->key, contexts) > 1)
          fail_msg("key %d (%s) has two meanings under 0x%x", b->key, b->shown, contexts);
        if (b->key2 && bindings(b->key2, contexts) > 1)
          fail_msg("key %d (%s) has two meanings under 0x%x", b->key2, b->shown, contexts);
      }
    }
}

static void test_field_takes_letters(void **state) {
  (void)state;
  unsigned field = KEYS_LESSON_VIEW | KEYS_SIM | KEYS_LIVE | KEYS_FIELD;
  for (int key = ' '; key < 0x7F; key++)
    assert_int_equal(keys_command(key, field), CMD_NONE);
  assert_int_equal(keys_command(KEYS_BACKSPACE, field), CMD_NONE);
  assert_int_equal(keys_command(KEYS_HOME, field), CMD_NONE);
  assert_int_equal(keys_command(0x4E2D, field), CMD_NONE);
  assert_int_equal(keys_command(KEYS_ENTER, field), CMD_ENTER);
  assert_int_equal(keys_command(KEYS_ESC, field), CMD_BACK);
  assert_int_equal(keys_command(KEYS_TAB, field), CMD_NEXT_PANE);
  assert_int_equal(keys_command(KEYS_UP, field), CMD_UP);
  assert_int_equal(keys_command(KEYS_CTRL_C, field), CMD_QUIT_NOW);
}

static void test_contract(void **state) {
  (void)state;
  static const struct {
    int key;
    unsigned contexts;
    enum command command;
  } want[] = {
      {'q', KEYS_HOME_VIEW, CMD_QUIT},
      {'q', KEYS_LESSON_VIEW, CMD_QUIT},
      {'Q', KEYS_LESSON_VIEW, CMD_QUIT_NOW},
      {3, KEYS_HOME_VIEW, CMD_QUIT_NOW},
      {'n', KEYS_LESSON_VIEW, CMD_NEXT_STEP},
      {'p', KEYS_LESSON_VIEW, CMD_PREV_STEP},
      {'n', KEYS_LESSON_VIEW | KEYS_SEARCH, CMD_NEXT_HIT},
      {'/', KEYS_LESSON_VIEW, CMD_SEARCH},
      {' ', KEYS_SIM, CMD_PLAY},
      {'.', KEYS_SIM, CMD_STEP},
      {',', KEYS_SIM, CMD_STEP_BACK},
      {'B', KEYS_SIM, CMD_BARRIER},
      {'+', KEYS_SIM, CMD_FASTER},
      {'-', KEYS_SIM, CMD_SLOWER},
      {'r', KEYS_LIVE, CMD_RUN},
      {'r', KEYS_LIVE | KEYS_RUNNING, CMD_NONE},
      {'x', KEYS_LIVE | KEYS_RUNNING, CMD_CANCEL},
      {'x', KEYS_LIVE, CMD_NONE},
      {'=', KEYS_LESSON_VIEW, CMD_EXPLAIN},
      {'L', KEYS_HOME_VIEW, CMD_LANG},
      {'?', KEYS_HOME_VIEW, CMD_HELP},
      {KEYS_F1, KEYS_LESSON_VIEW, CMD_HELP},
      {KEYS_F2, KEYS_LESSON_VIEW, CMD_PANE_TEXT},
      {KEYS_F3, KEYS_LESSON_VIEW, CMD_PANE_SIM},
      {KEYS_F4, KEYS_LESSON_VIEW, CMD_PANE_LIVE},
      {KEYS_TAB, KEYS_LESSON_VIEW, CMD_NEXT_PANE},
      {KEYS_SHIFT_TAB, KEYS_LESSON_VIEW, CMD_PREV_PANE},
      {'a', KEYS_LESSON_VIEW | KEYS_CHOICE, CMD_ANSWER_A},
      {'f', KEYS_LESSON_VIEW | KEYS_CHOICE, CMD_ANSWER_F},
      {'a', KEYS_LESSON_VIEW, CMD_NONE},
      {'j', KEYS_LESSON_VIEW, CMD_DOWN},
      {'k', KEYS_HOME_VIEW, CMD_UP},
      {'h', KEYS_LESSON_VIEW, CMD_LEFT},
      {'l', KEYS_LESSON_VIEW, CMD_RIGHT},
      {'g', KEYS_HELP_VIEW, CMD_TOP},
      {'G', KEYS_HELP_VIEW, CMD_BOTTOM},
      {KEYS_PGDN, KEYS_HELP_VIEW, CMD_PGDN},
      {KEYS_PGUP, KEYS_HELP_VIEW, CMD_PGUP},
      {12, KEYS_HOME_VIEW, CMD_REDRAW},
      {26, KEYS_HOME_VIEW, CMD_NONE},
      {KEY_NONE, KEYS_HOME_VIEW, CMD_NONE},
  };
  for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
    if (keys_command(want[i].key, want[i].contexts) != want[i].command)
      fail_msg("row %zu: key %d gives %d, not %d", i, want[i].key,
               keys_command(want[i].key, want[i].contexts), want[i].command);
}

static void test_texts(void **state) {
  (void)state;
  for (const struct key_binding *b = keys_table; b->command != CMD_NONE; b++) {
    assert_non_null(b->shown);
    for (const char *s = b->shown; *s; s++)
      assert_true((unsigned char)*s < 0x80);
    assert_true(!b->help[LANG_EN] == !b->help[LANG_ZH]);
    assert_true(!b->text[LANG_EN] == !b->text[LANG_ZH]);
    assert_true(b->bar == 0 || b->text[LANG_EN]);
    assert_true(!b->help[LANG_EN] == (keys_section_of(b) == -1));
    for (const char *s = b->text[LANG_EN]; s && *s; s++)
      assert_true((unsigned char)*s < 0x80);
  }
}

/* Every command of the enum can be reached by a key. */
static void test_every_command_has_a_key(void **state) {
  (void)state;
  for (int c = CMD_NONE + 1; c < CMD_COUNT; c++) {
    bool found = false;
    for (const struct key_binding *b = keys_table; b->command != CMD_NONE; b++)
      found = found || (int)b->command == c;
    if (!found)
      fail_msg("command %d has no key", c);
  }
}

static char *read_whole(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f)
    return NULL;
  char *text = calloc(1, 1 << 20);
  assert_non_null(text);
  size_t n = fread(text, 1, (1 << 20) - 1, f);
  text[n] = '\0';
  fclose(f);
  return text;
}

static void write_whole(const char *path, const char *a, size_t n, const char *b, const char *c) {
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  fwrite(a, 1, n, f);
  fprintf(f, "%s%s", b, c);
  assert_int_equal(fclose(f), 0);
}

/* What stands between the two marks of a document is the table; GENERATE=1 in the environment
 * writes it there. A document without the marks is not asked. */
static void expect_in(const char *path, const char *from, const char *to, const char *want) {
  char *text = read_whole(path), *begin = text ? strstr(text, from) : NULL;
  char *end = begin ? strstr(begin, to) : NULL;
  if (end) {
    begin += strlen(from);
    bool same = strlen(want) == (size_t)(end - begin) && strncmp(begin, want, strlen(want)) == 0;
    if (!same && getenv("GENERATE"))
      write_whole(path, text, (size_t)(begin - text), want, end);
    else if (!same)
      fail_msg("%s: its keys are not those of the table; run this test with GENERATE=1", path);
  }
  free(text);
}

static void test_documents(void **state) {
  (void)state;
  char *en = keys_markdown(LANG_EN), *zh = keys_markdown(LANG_ZH), *man = keys_man();
  assert_non_null(strstr(en, "| `space` | play or pause the simulator |"));
  assert_non_null(strstr(zh, "| `space` | 播放或暂停模拟器 |"));
  assert_non_null(strstr(man, ".B \\&.\n"));
  assert_non_null(strstr(man, ".B Ctrl\\-L\n"));
  expect_in("README.md", "<!-- keys -->\n", "<!-- /keys -->", en);
  expect_in("README.zh-CN.md", "<!-- keys -->\n", "<!-- /keys -->", zh);
  expect_in("man/mmtutor.1", ".\\\" keys\n", ".\\\" /keys", man);
  free(en);
  free(zh);
  free(man);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_key_twice),
      cmocka_unit_test(test_field_takes_letters),
      cmocka_unit_test(test_contract),
      cmocka_unit_test(test_texts),
      cmocka_unit_test(test_every_command_has_a_key),
      cmocka_unit_test(test_documents),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
