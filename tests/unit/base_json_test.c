#include "base/json.h"

#include "base/str.h"
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

static json_doc *parse(const char *text) {
  struct err err = {""};
  json_doc *doc = json_parse(text, strlen(text), "t.json", 0, &err);
  if (!doc)
    fail_msg("%s", err.text);
  return doc;
}

static void refuse_n(const char *text, size_t n, const char *start, const char *part) {
  struct err err = {""};
  json_doc *doc = json_parse(text, n, "t.json", 0, &err);
  if (doc)
    fail_msg("taken: %s", text);
  if (strncmp(err.text, start, strlen(start)) != 0 || !strstr(err.text, part))
    fail_msg("%s: \"%s\", not \"%s ... %s\"", text, err.text, start, part);
}

static void refuse(const char *text, const char *start, const char *part) {
  refuse_n(text, strlen(text), start, part);
}

static void test_members(void **state) {
  (void)state;
  json_doc *doc = parse("{\"s\":\"x\",\"n\":1.5,\"t\":true,\"f\":false,\"z\":null,\"A\":1,\"a\":2,"
                        "\"o\":{\"k\":[1,2]}}");
  const cJSON *root = json_root(doc);
  assert_string_equal(json_str(root, "s"), "x");
  assert_null(json_str(root, "n"));
  assert_null(json_str(root, "absent"));
  assert_true(json_num(root, "n", 7) == 1.5);
  assert_true(json_num(root, "s", 7) == 7);
  assert_true(json_num(root, "absent", 7) == 7);
  assert_true(json_bool(root, "t", false));
  assert_false(json_bool(root, "f", true));
  assert_true(json_bool(root, "n", true));
  assert_true(json_num(root, "a", 0) == 2); /* keys differ by case */
  assert_true(json_num(root, "A", 0) == 1);
  assert_int_equal(cJSON_GetArraySize(json_get(json_get(root, "o"), "k")), 2);
  assert_null(json_get(NULL, "x"));
  assert_null(json_get(json_get(root, "n"), "x"));
  assert_string_equal(json_name(doc), "t.json");
  json_free(doc);
  json_free(NULL);
}

static void test_lines(void **state) {
  (void)state;
  json_doc *doc =
      parse("\n{\n \"a\": [1,\n  2,\n  {\"b\":\n   \"deep\"}],\n \"c\": {},\r\n \"d\": 4\n}\n");
  const cJSON *root = json_root(doc), *a = json_get(root, "a");
  assert_int_equal(json_line(doc, root), 2);
  assert_int_equal(json_line(doc, a), 3);
  assert_int_equal(json_line(doc, cJSON_GetArrayItem(a, 0)), 3);
  assert_int_equal(json_line(doc, cJSON_GetArrayItem(a, 1)), 4);
  assert_int_equal(json_line(doc, cJSON_GetArrayItem(a, 2)), 5);
  assert_int_equal(json_line(doc, json_get(cJSON_GetArrayItem(a, 2), "b")), 6);
  assert_int_equal(json_line(doc, json_get(root, "c")), 7);
  assert_int_equal(json_line(doc, json_get(root, "d")), 8);
  struct err err;
  assert_false(json_fail(doc, json_get(root, "d"), &err, "%s is %d.", "d", 4));
  assert_string_equal(err.text, "t.json:8: d is 4.");
  assert_false(json_fail(doc, NULL, &err, "x"));
  assert_string_equal(err.text, "t.json:1: x");
  json_free(doc);
}

static void test_accepted(void **state) {
  (void)state;
  static const char *const good[] = {
      "0",
      "-0",
      "1e5",
      "1E-5",
      "-1.5e+300",
      "\"\"",
      "[]",
      "{}",
      "true",
      " null ",
      "[[],{}]",
      "\xEF\xBB\xBF{}",
      "1e-400",
      "\"\\u4e2d\"",
      "\"\\ud83d\\ude00\"",
      "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
      "{\"a\":{\"a\":1},\"b\":[{\"a\":2}]}",
      "[1 , 2\t,\r\n3]",
      "\"中\"",
      "{\"\":1}",
  };
  for (size_t i = 0; i < sizeof good / sizeof *good; i++)
    json_free(parse(good[i]));
  json_doc *doc = parse("\"\\ud83d\\ude00\\u00e9\"");
  assert_string_equal(json_root(doc)->valuestring, "😀é");
  json_free(doc);
}

static void test_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *start, *part;
  } cases[] = {
      {"", "t.json:1: ", "ends"},
      {"  \n ", "t.json:2: ", "ends"},
      {"{", "t.json:1: ", "quotation"},
      {"[1,\n2", "t.json:2: ", "ends before"},
      {"[1,]", "t.json:1: ", "value"},
      {"{\"a\":1,}", "t.json:1: ", "quotation"},
      {"{\"a\" 1}", "t.json:1: ", "colon"},
      {"{\"a\":}", "t.json:1: ", "value"},
      {"{a:1}", "t.json:1: ", "quotation"},
      {"[1 2]", "t.json:1: ", "comma"},
      {"{}\n{}", "t.json:2: ", "follows"},
      {"// x\n{}", "t.json:1: ", "value"},
      {"\"abc", "t.json:1: ", "inside a string"},
      {"\"a\nb\"", "t.json:1: ", "line break"},
      {"\"\x1b\"", "t.json:1: ", "control"},
      {"\"\\x\"", "t.json:1: ", "escaped"},
      {"\"\\", "t.json:1: ", "escaped"},
      {"\"\\u12\"", "t.json:1: ", "hexadecimal"},
      {"\"\\u12G4\"", "t.json:1: ", "hexadecimal"},
      {"\n\"\\u0000\"", "t.json:2: ", "\\u0000"},
      {"\"\\ud800\"", "t.json:1: ", "surrogate"},
      {"\"\\ud800\\u0041\"", "t.json:1: ", "surrogate"},
      {"\"\\udc00\"", "t.json:1: ", "surrogate"},
      {"007", "t.json:1: ", "begin with 0"},
      {"-", "t.json:1: ", "digit"},
      {"1.", "t.json:1: ", "digit"},
      {".5", "t.json:1: ", "value"},
      {"+1", "t.json:1: ", "value"},
      {"1e", "t.json:1: ", "digit"},
      {"0x10", "t.json:1: ", "follows"},
      {"NaN", "t.json:1: ", "value"},
      {"nan", "t.json:1: ", "no JSON value"},
      {"Infinity", "t.json:1: ", "value"},
      {"tru", "t.json:1: ", "no JSON value"},
      {"True", "t.json:1: ", "value"},
      {"[1,\n1e400]", "t.json:2: ", "too large"},
      {"-1e400", "t.json:1: ", "too large"},
      {"{\"a\":1,\n\"b\":2,\n\"a\":3}", "t.json:3: ", "line 1"},
      {"{\"a\":1,\"\\u0061\":2}", "t.json:1: ", "twice"},
      {"[{\"x\":{\"k\":1,\"k\":1}}]", "t.json:1: ", "\"k\""},
      {"[1]]", "t.json:1: ", "follows"},
      {"\xEF\xBB\xBF\xEF\xBB\xBF{}", "t.json:1: ", "value"},
      {"\n\n\"\xFF\"", "t.json:3: ", "UTF-8"},
      {"\"\xC0\x80\"", "t.json:1: ", "UTF-8"},
      {"\"\xE4\xB8", "t.json:1: ", "UTF-8"},
      {"'a'", "t.json:1: ", "value"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    refuse(cases[i].text, cases[i].start, cases[i].part);
  refuse_n("{}\0", 3, "t.json:1: ", "follows");
  refuse_n("\"a\0b\"", 5, "t.json:1: ", "control");
  refuse_n("\0\0\0\0", 4, "t.json:1: ", "value");
}

static void test_cut_anywhere(void **state) {
  (void)state;
  const char *text = "{\"a\":[1.5e3,true,null,\"\\u4e2d\\n中\"],\"b\":{\"c\":false}}";
  size_t n = strlen(text);
  for (size_t i = 0; i < n; i++) {
    char *cut = malloc(i ? i : 1); /* exactly i bytes: reading further is caught */
    assert_non_null(cut);
    memcpy(cut, text, i);
    assert_null(json_parse(cut, i, "t.json", 0, NULL));
    free(cut);
  }
}

static void nested(struct str *s, const char *open, const char *close, int depth) {
  str_clear(s);
  for (int i = 0; i < depth; i++)
    str_add(s, open);
  str_add(s, "1");
  for (int i = 0; i < depth; i++)
    str_add(s, close);
}

static void test_limits(void **state) {
  (void)state;
  struct str s = {0};
  nested(&s, "[", "]", 64);
  json_free(parse(s.data));
  nested(&s, "[", "]", 65);
  refuse(s.data, "t.json:1: ", "64");
  nested(&s, "{\"a\":", "}", 65);
  refuse(s.data, "t.json:1: ", "64");
  nested(&s, "[", "]", 100000);
  refuse(s.data, "t.json:1: ", "64");
  str_clear(&s);
  for (int i = 0; i < 100; i++)
    str_add(&s, "1");
  refuse(s.data, "t.json:1: ", "60 characters");
  struct err err;
  assert_null(json_parse("[1,2,3]", 7, "t.json", 6, &err));
  assert_non_null(strstr(err.text, "larger than 6 bytes"));
  json_doc *doc = json_parse("[1,2,3]", 7, "t.json", 7, &err);
  assert_non_null(doc);
  json_free(doc);
  str_clear(&s);
  str_add(&s, "{");
  for (int i = 0; i < 50000; i++) /* many keys in one object stay quick */
    str_addf(&s, "\"k%d\":%d,", i, i);
  str_add(&s, "\"k7\":0}");
  refuse(s.data, "t.json:1: ", "\"k7\"");
  str_free(&s);
}

static char *temp_file(const char *text, size_t n) {
  static char path[] = "/tmp/mmtutor-json-XXXXXX";
  strcpy(path, "/tmp/mmtutor-json-XXXXXX");
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, n), n);
  close(fd);
  return path;
}

static void test_load(void **state) {
  (void)state;
  struct err err = {""};
  char *path = temp_file("{\"a\":\n 1}", 9);
  json_doc *doc = json_load(path, 0, &err);
  assert_non_null(doc);
  assert_int_equal(json_line(doc, json_get(json_root(doc), "a")), 2);
  json_free(doc);
  assert_null(json_load(path, 8, &err));
  assert_non_null(strstr(err.text, "larger"));
  unlink(path);
  assert_null(json_load(path, 0, &err));
  assert_non_null(strstr(err.text, "Cannot open"));
  assert_null(json_load("/tmp", 0, &err));
  assert_non_null(strstr(err.text, "a directory"));
}

static void check_number(double value, const char *want) {
  cJSON *obj = cJSON_CreateObject();
  json_put_num(obj, "v", value);
  char *got = json_print(obj);
  char full[128];
  snprintf(full, sizeof full, want[0] ? "{\"v\":%s}" : "{}", want);
  assert_string_equal(got, full);
  free(got);
  cJSON_Delete(obj);
}

static void test_numbers_out(void **state) {
  (void)state;
  check_number(0, "0");
  check_number(-0.0, "0");
  check_number(1e15, "1000000000000000");
  check_number(123456789012345680.0 / 1e2, "1234567890123456.8");
  check_number(9007199254740991.0, "9007199254740991");
  check_number(9007199254740992.0, "9007199254740992");
  check_number(-9007199254740992.0, "-9007199254740992");
  check_number(2147483648.0, "2147483648");
  check_number(1e20, "1e+20");
  check_number(0.1, "0.1");
  check_number(1.0 / 3, "0.3333333333333333");
  check_number(-1.5e-7, "-1.5e-07");
  check_number((double)NAN, "");
  check_number((double)INFINITY, "");
}

static void test_print(void **state) {
  (void)state;
  static const char *const same[] = {
      "{\"a\":[1,2.5,\"x\",true,false,null],\"b\":{}}",
      "[]",
      "\"\\\"\\\\\\b\\f\\n\\r\\t\\u001b\"",
      "\"中😀\"",
      "[[[]]]",
  };
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
    json_doc *doc = parse(same[i]);
    char *text = json_print(json_root(doc));
    assert_string_equal(text, same[i]);
    free(text);
    json_free(doc);
  }
  cJSON *bad = cJSON_CreateString("a\xFF"
                                  "b\x7F");
  char *text = json_print(bad);
  assert_string_equal(text, "\"a\xEF\xBF\xBD"
                            "b\\u007f\"");
  json_free(parse(text)); /* whatever was in memory, what is written can be read */
  free(text);
  cJSON_Delete(bad);
}

static void test_locale(void **state) {
  (void)state;
  if (!decimal_comma())
    return;
  json_doc *doc = parse("{\"v\":1.5}");
  assert_true(json_num(json_root(doc), "v", 0) == 1.5);
  char *text = json_print(json_root(doc));
  assert_string_equal(text, "{\"v\":1.5}");
  free(text);
  json_free(doc);
  refuse("[1,5e]", "t.json:1: ", "digit");
  setlocale(LC_NUMERIC, "C");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_members),      cmocka_unit_test(test_lines),
      cmocka_unit_test(test_accepted),     cmocka_unit_test(test_refused),
      cmocka_unit_test(test_cut_anywhere), cmocka_unit_test(test_limits),
      cmocka_unit_test(test_load),         cmocka_unit_test(test_numbers_out),
      cmocka_unit_test(test_print),        cmocka_unit_test(test_locale),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
