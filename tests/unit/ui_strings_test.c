#include "base/json.h"
#include "base/paths.h"
#include "ui/strings.h"

#include <dirent.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static json_doc *load(void) {
  struct err err;
  json_doc *doc = json_load("assets/strings.json", 0, &err);
  if (!doc)
    fail_msg("%s", err.text);
  return doc;
}

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

enum { HOLES = 16, HOLE = 24 };

/* What a text expects to be filled in: printf conversions in their order, then {names} in any
 * order. */
static void placeholders(const char *s, char *out, size_t size) {
  char braces[HOLES][HOLE];
  size_t n = 0;
  out[0] = '\0';
  for (size_t len; *s; s += len) {
    size_t flags = s[0] == '%' ? 1 + strspn(s + 1, "0123456789.-+#*lhzj") : 0;
    bool conversion = flags && s[flags] && strchr("sdiufgexXc", s[flags]);
    len = s[0] == '{' ? strcspn(s, "}") + 1 : conversion ? flags + 1 : 1;
    if (s[0] == '%' && s[1] == '%')
      len = 2;
    if (len > strlen(s))
      fail_msg("a placeholder is not closed in '%s'", s);
    if (conversion)
      snprintf(out + strlen(out), size - strlen(out), "%.*s ", (int)len, s);
    else if (s[0] == '{' && n < HOLES)
      snprintf(braces[n++], HOLE, "%.*s ", (int)len, s);
  }
  qsort(braces, n, HOLE, by_text);
  for (size_t i = 0; i < n; i++)
    snprintf(out + strlen(out), size - strlen(out), "%s", braces[i]);
}

static void test_both_languages(void **state) {
  (void)state;
  json_doc *doc = load();
  const cJSON *item;
  cJSON_ArrayForEach(item, json_root(doc)) {
    const char *en = json_str(item, "en"), *zh = json_str(item, "zh");
    if (!en || !zh || !*en || !*zh || cJSON_GetArraySize(item) != LANGS)
      fail_msg("%s: needs en and zh, both filled, and nothing else", item->string);
    char a[256], b[256];
    placeholders(en, a, sizeof a);
    placeholders(zh, b, sizeof b);
    if (strcmp(a, b) != 0)
      fail_msg("%s: en takes '%s', zh takes '%s'", item->string, a, b);
    if (strchr(en, '!') || strstr(zh, "！"))
      fail_msg("%s: an exclamation mark", item->string);
  }
  json_free(doc);
}

static void test_sorted_one_a_line(void **state) {
  (void)state;
  json_doc *doc = load();
  const cJSON *item, *before = NULL;
  cJSON_ArrayForEach(item, json_root(doc)) {
    if (before && strcmp(before->string, item->string) >= 0)
      fail_msg("%s stands behind %s", item->string, before->string);
    if (before && json_line(doc, before) >= json_line(doc, item))
      fail_msg("%s is not on a line of its own", item->string);
    before = item;
  }
  json_free(doc);
}

/* ---- every id in the sources is there */

static int literals;

static void check_source(const char *path, const char *text, const cJSON *root) {
  for (const char *at = text; (at = strstr(at, "strings_get(")); at++) {
    const char *end = strchr(at, ')'), *open = strchr(at, '"');
    if (!open || !end || open > end)
      continue;
    const char *close = strchr(open + 1, '"');
    char id[128];
    if (!close || snprintf(id, sizeof id, "%.*s", (int)(close - open - 1), open + 1) < 1)
      continue;
    literals++;
    if (!json_get(root, id))
      fail_msg("%s asks for \"%s\", which assets/strings.json does not have", path, id);
  }
}

static void check_directory(const char *dir, const cJSON *root) {
  DIR *d = opendir(dir);
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d));) {
    size_t len = strlen(e->d_name), n;
    if (len < 3 || strcmp(e->d_name + len - 2, ".c") != 0)
      continue;
    char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
    struct err err;
    char *text = paths_read(path, 1 << 20, &n, &err);
    assert_non_null(text);
    check_source(path, text, root);
    free(text);
  }
  closedir(d);
}

static void test_every_literal_exists(void **state) {
  (void)state;
  json_doc *doc = load();
  literals = 0;
  check_directory("src/ui", json_root(doc));
  check_directory("src/ui/views", json_root(doc));
  assert_true(literals > 0);
  json_free(doc);
}

static void test_get(void **state) {
  (void)state;
  assert_non_null(strstr(strings_get(LANG_EN, "term.no_stdin"), "Standard input"));
  assert_non_null(strstr(strings_get(LANG_ZH, "term.no_stdin"), "标准输入"));
  assert_string_equal(strings_get(LANG_ZH, "no.such.id"), "no.such.id");
}

static void test_lang(void **state) {
  (void)state;
  static const struct {
    const char *all, *messages, *lang;
    enum lang want;
  } rows[] = {
      {NULL, NULL, "zh_CN.UTF-8", LANG_ZH},    {NULL, "en_US.UTF-8", "zh_CN.UTF-8", LANG_EN},
      {"zh_TW.UTF-8", "en_US", NULL, LANG_ZH}, {"C.UTF-8", NULL, "zh_CN.UTF-8", LANG_EN},
      {"", "", "zh_CN.UTF-8", LANG_ZH},        {NULL, NULL, NULL, LANG_EN},
  };
  if (!setlocale(LC_CTYPE, "C.UTF-8"))
    skip();
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const char *const names[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
    const char *const values[] = {rows[i].all, rows[i].messages, rows[i].lang};
    for (int k = 0; k < 3; k++)
      values[k] ? setenv(names[k], values[k], 1) : unsetenv(names[k]);
    assert_int_equal(strings_lang("auto"), rows[i].want);
    assert_int_equal(strings_lang(NULL), rows[i].want);
    assert_int_equal(strings_lang("en"), LANG_EN);
    assert_int_equal(strings_lang("zh"), LANG_ZH);
  }
  setenv("LANG", "zh_CN.GB18030", 1);
  setlocale(LC_CTYPE, "C");
  assert_int_equal(strings_lang("auto"), LANG_EN);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_both_languages),
      cmocka_unit_test(test_sorted_one_a_line),
      cmocka_unit_test(test_every_literal_exists),
      cmocka_unit_test(test_get),
      cmocka_unit_test(test_lang),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
