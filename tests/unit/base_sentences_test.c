#include "base/alloc.h"
#include "base/json.h"
#include "base/paths.h"
#include "base/sentences.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char book[] =
    "[{\"en\":\"{0} must be from {1} to {2}; {3} is not.\",\"zh\":\"{3} 不行：{0} 取 {1} 到 {2}。\"},"
    "{\"en\":\"No reference: {0}\",\"zh\":\"没有参考：{0+}\"},"
    "{\"en\":\"Nothing: {0}\",\"zh\":\"没有：{0}\"},"
    "{\"en\":\"It is gone.\",\"zh\":\"它不在了。\"},"
    "{\"en\":\"{0} is gone.\",\"zh\":\"{0} 不在了。\"},"
    "{\"en\":\"{0} is a pipe. Give a file.\",\"zh\":\"{0} 是管道。给出文件。\"},"
    "{\"en\":\"{0} needs {1}; {2}\",\"zh\":\"{0} 要 {1}：{2}\"},"
    "{\"en\":\"{0} needs {1} (int); {2}\",\"zh\":\"{0} 要 {1}（int）：{2}\"},"
    "{\"en\":\"the key is missing\",\"zh\":\"缺少键\"}]";

static void says(const char *english, const char *wanted) {
  struct err err = {""};
  sentences *s = sentences_read(book, sizeof book - 1, &err);
  assert_non_null(s);
  char *got = sentences_say(s, english);
  assert_string_equal(got, wanted);
  free(got);
  sentences_free(s);
}

static void test_whole(void **state) {
  (void)state;
  says("It is gone.", "它不在了。");
  says("T must be from 1 to 32; 33 is not.", "33 不行：T 取 1 到 32。");
  says("", "");
  says("Nothing here has a template.", "Nothing here has a template.");
  says(" is gone.", " is gone."); /* a place holds something */
  says("It is gone", "It is gone");
  says("  must be from 1 to 2; 3 is not.", "3 不行：  取 1 到 2。");
}

static void test_values(void **state) {
  (void)state;
  says("a to b must be from 1 to 2; x is not. is not.", "x is not. 不行：a to b 取 1 到 2。");
  says("{1} is gone.", "{1} 不在了。");
  says("任务 is gone.", "任务 不在了。");
  says("cuda/x needs M <= 9 (int); 10", "cuda/x 要 M <= 9（int）：10"); /* more words of its own */
  says("cuda/x needs M <= 9; 10", "cuda/x 要 M <= 9：10");
}

static void test_nested(void **state) {
  (void)state;
  says("No reference: It is gone.", "没有参考：它不在了。");
  says("No reference: none for conv", "没有参考：none for conv");
  says("Nothing: It is gone.", "没有：It is gone."); /* no + in the Chinese */
  struct str deep = {0};
  for (int i = 0; i < 5000; i++)
    str_add(&deep, "No reference: ");
  str_add(&deep, "It is gone.");
  struct err err;
  sentences *s = sentences_read(book, sizeof book - 1, &err);
  char *got = sentences_say(s, deep.data);
  assert_int_equal(strncmp(got, "没有参考：", strlen("没有参考：")), 0);
  free(got);
  sentences_free(s);
  str_free(&deep);
}

static void test_pieces(void **state) {
  (void)state;
  says("It is gone. T must be from 1 to 32; 33 is not.", "它不在了。33 不行：T 取 1 到 32。");
  says("It is gone. Who knows. It is gone.", "它不在了。 Who knows. 它不在了。");
  says("It is gone. fifo is a pipe. Give a file.", "It is gone. fifo 是管道。给出文件。");
  says("It is gone. /fifo is a pipe. Give a file. It is gone.",
       "It is gone. /fifo 是管道。给出文件。它不在了。");
  says("It is gone.\nWho knows.\n\nIt is gone.\n", "它不在了。\nWho knows.\n\n它不在了。\n");
  says("Who knows. Nobody does.\nNot here.", "Who knows. Nobody does.\nNot here.");
  says("a/lesson.json:12: the key is missing", "a/lesson.json:12: 缺少键");
  says("a/lesson.json:12: who knows", "a/lesson.json:12: who knows");
  says("the key is missing.", "缺少键。");
}

static int count_of(const char *json) {
  struct err err = {""};
  sentences *s = sentences_read(json, strlen(json), &err);
  int n = s ? sentences_count(s) : -1;
  if (!s)
    assert_true(err.text[0] != '\0');
  sentences_free(s);
  return n;
}

static void test_hostile(void **state) {
  (void)state;
  assert_int_equal(count_of("{\"en\":1}"), -1);
  assert_int_equal(count_of("[{\"en\":\"It is gone.\""), -1);
  assert_int_equal(count_of(""), -1);
  assert_int_equal(count_of("[]"), 0);
  assert_int_equal(count_of("[1,null,[],{},{\"en\":2,\"zh\":\"x\"},{\"en\":\"only english\"}]"), 0);
  assert_int_equal(count_of("[{\"en\":\"{0}\",\"zh\":\"{0}\"}]"), 0);
  assert_int_equal(count_of("[{\"en\":\"\",\"zh\":\"x\"},{\"en\":\"a words\",\"zh\":\"\"}]"), 0);
  assert_int_equal(count_of("[{\"en\":\"{0}{1} words\",\"zh\":\"x\"}]"), 0);
  assert_int_equal(count_of("[{\"en\":\"{0} words {0}\",\"zh\":\"x\"}]"), 0);
  assert_int_equal(count_of("[{\"en\":\"{0} words\",\"zh\":\"{1}\"}]"), 0);
  assert_int_equal(count_of("[{\"en\":\"{0+} words\",\"zh\":\"{0}\"}]"), 0);
  assert_int_equal(count_of("[{\"en\":\"a {0} b {1} c {2} d {3} e {4} f {5} g {6} h {7} i {8}\","
                            "\"zh\":\"x\"}]"),
                   1); /* {8} is no place, so it stands for itself */
  assert_int_equal(count_of("[{\"en\":\"{0 words {9} %s {\",\"zh\":\"{\"}]"), 1);
}

static void test_damaged_text(void **state) {
  (void)state;
  says("\xff\xfe is gone.", "\xff\xfe 不在了。");
  says("\xff", "\xff");
  struct str many = {0};
  for (int i = 0; i < 200; i++)
    str_add(&many, "Who knows. ");
  struct err err;
  sentences *s = sentences_read(book, sizeof book - 1, &err);
  char *got = sentences_say(s, many.data);
  assert_string_equal(got, many.data);
  free(got);
  sentences_free(s);
  str_free(&many);
}

/* ---- the file that is shipped */

static char *sample_of(const char *template) {
  struct str out = {0};
  for (const char *p = template; *p; p++)
    if (p[0] == '{' && p[1] >= '0' && p[1] <= '7' && p[2] == '}') {
      str_addf(&out, "<%c>", p[1]);
      p += 2;
    } else {
      str_addc(&out, *p);
    }
  return str_take(&out);
}

/* Every template is one, is found, and is not hidden by another with the same words. */
static void test_shipped(void **state) {
  (void)state;
  struct err err = {""};
  size_t n = 0;
  char *text = paths_asset("assets/sentences.json", &n, &err);
  assert_non_null(text);
  json_doc *doc = json_parse(text, n, "assets/sentences.json", 0, &err);
  sentences *s = sentences_read(text, n, &err);
  assert_non_null(doc);
  assert_non_null(s);
  const cJSON *item;
  assert_int_equal(sentences_count(s), cJSON_GetArraySize(json_root(doc)));
  cJSON_ArrayForEach(item, json_root(doc)) {
    char *sample = sample_of(json_str(item, "en")), *got = sentences_say(s, sample);
    struct str plain = {0};
    for (const char *p = json_str(item, "zh"); *p; p++)
      if (!(p[0] == '+' && p[1] == '}'))
        str_addc(&plain, *p);
    char *wanted = sample_of(plain.data);
    assert_string_equal(got, wanted);
    free(wanted);
    str_free(&plain);
    free(got);
    free(sample);
  }
  sentences_free(s);
  json_free(doc);
  free(text);
}

static void test_in(void **state) {
  (void)state;
  for (int i = 0; i < 60; i++) { /* more than are kept */
    char *en = alloc_printf("C[%d,17] is NaN", i), *zh = alloc_printf("C[%d,17] 是 NaN", i);
    for (int again = 0; again < 2; again++) {
      char *got = sentences_in(en, true), *same = sentences_in(en, false);
      assert_string_equal(got, zh);
      assert_string_equal(same, en);
      free(got);
      free(same);
    }
    free(en);
    free(zh);
  }
  char *got = sentences_in("", true);
  assert_string_equal(got, "");
  free(got);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_whole),   cmocka_unit_test(test_values),
      cmocka_unit_test(test_nested),  cmocka_unit_test(test_pieces),
      cmocka_unit_test(test_hostile), cmocka_unit_test(test_damaged_text),
      cmocka_unit_test(test_shipped), cmocka_unit_test(test_in),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
