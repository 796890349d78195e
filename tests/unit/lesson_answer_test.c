/* Grading: the worked items over all their draws, slips, units, unreadable answers, choices,
 * orders. */
#include "lesson/answer.h"

#include "base/units.h"
#include "lesson/misconception.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct lesson *fixture;

static int setup(void **state) {
  (void)state;
  struct err err = {""};
  fixture = lesson_load("tests/fixtures/lessons/good", &err);
  if (!fixture)
    fprintf(stderr, "%s\n", err.text);
  return fixture ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  lesson_free(fixture);
  return 0;
}

/* Calls f for every draw of an item. */
static void each(const struct item *item, void (*f)(const struct answer_draw *d)) {
  int pick[ANSWER_DRAWS] = {0};
  for (;;) {
    struct answer_draw d;
    answer_draw_at(&d, item, 7, pick);
    f(&d);
    answer_done(&d);
    int i = 0;
    while (i < item->ndraw && ++pick[i] == item->draw[i].n)
      pick[i++] = 0;
    if (i == item->ndraw)
      return;
  }
}

static enum answer_verdict grade(const struct answer_draw *d, const char *text, char tag[32],
                                 char say[400]) {
  struct answer_graded g;
  answer_numeric(d, text, LANG_EN, &g);
  assert_non_null(g.say);
  assert_true(*g.say != '\0');
  if (tag)
    memcpy(tag, g.tag, sizeof g.tag);
  if (say)
    snprintf(say, 400, "%s", g.say);
  enum answer_verdict v = g.verdict;
  answer_graded_done(&g);
  return v;
}

static void key_is_right(const struct answer_draw *d) {
  char text[80];
  const char *unit = d->item->unit;
  snprintf(text, sizeof text, "%.12g", d->key);
  assert_int_equal(grade(d, text, NULL, NULL), ANSWER_RIGHT);
  snprintf(text, sizeof text, "%.12e %s", d->key, unit);
  assert_int_equal(grade(d, text, NULL, NULL), ANSWER_RIGHT);
  char *pretty = units_format(d->key, unit, 5);
  assert_int_equal(grade(d, pretty, NULL, NULL), ANSWER_RIGHT);
  free(pretty);
}

/* Each malrule that does not meet the key is told by its own tag or words. An earlier one with the
 * same number may speak instead. */
static void mals_speak(const struct answer_draw *d) {
  for (int i = 0; i < d->item->nmal; i++) {
    const struct item_mal *m = &d->item->mal[i];
    char text[80], tag[32], say[400];
    double v, other;
    assert_true(answer_value(d, m->key, &v));
    if (fabs(v - d->key) <= answer_tolerance(d, d->key, 1))
      continue;
    bool earlier = false;
    for (int j = 0; j < i; j++)
      earlier = earlier || (answer_value(d, d->item->mal[j].key, &other) &&
                            fabs(other - v) <= answer_tolerance(d, other, 1));
    snprintf(text, sizeof text, "%.12g", v);
    if (strcmp(d->item->unit, "%") == 0)
      strcat(text, "%");
    assert_int_equal(grade(d, text, tag, say), ANSWER_WRONG);
    if (earlier)
      continue;
    if (m->tag)
      assert_string_equal(tag, m->tag);
    assert_string_equal(say, m->say.in[LANG_EN] ? m->say.in[LANG_EN]
                                                : misconception_text(m->tag, LANG_EN));
  }
}

static void test_keys_and_malrules(void **state) {
  (void)state;
  int numeric = 0;
  for (int i = 0; i < fixture->nitems; i++)
    if (fixture->items[i].kind == ITEM_NUMERIC) {
      each(&fixture->items[i], key_is_right);
      each(&fixture->items[i], mals_speak);
      numeric++;
    }
  assert_int_equal(numeric, 6);
}

static void at(struct answer_draw *d, const char *id, int a, int b, int c) {
  int pick[ANSWER_DRAWS] = {a, b, c};
  const struct item *item = lesson_item(fixture, id);
  assert_non_null(item);
  answer_draw_at(d, item, 1, pick);
}

/* M = 4096, N = 4096, K = 4096: 137438953472 FLOP. */
static void test_table(void **state) {
  (void)state;
  static const struct {
    const char *text;
    enum answer_verdict verdict;
    const char *word, *tag;
  } rows[] = {
      {"1.37e11", ANSWER_RIGHT, "", ""},
      {"137G", ANSWER_RIGHT, "", ""},
      {"137 GFLOP", ANSWER_RIGHT, "", ""},
      {"0.137 TFLOP", ANSWER_RIGHT, "", ""},
      {"2*4096^3", ANSWER_RIGHT, "", ""},
      {"137,438,953,472", ANSWER_RIGHT, "", ""},
      {"１３７Ｇ", ANSWER_RIGHT, "", ""},
      {"(2*4096-1)*4096*4096", ANSWER_RIGHT_NOTE, "textbook", ""},
      {"4096^3", ANSWER_WRONG, "2MNK", "fma1"},
      {"137 GFLOP/s", ANSWER_WRONG, "rate", "rate"},
      {"137 GFLOPS", ANSWER_WRONG, "rate", "rate"},
      {"137 GB", ANSWER_WRONG, "FLOP", ""},
      {"137 M", ANSWER_WRONG, "prefix", "unit"},
      {"137e6", ANSWER_WRONG, "prefix", "unit"},
      {"137T", ANSWER_WRONG, "10^3", ""},
      {"137k", ANSWER_WRONG, "10^6", ""},
      {"128 Gi", ANSWER_RIGHT, "", ""},
      {"150G", ANSWER_WRONG, "Close", ""},
      {"5", ANSWER_WRONG, "Not this number", ""},
      {"-137G", ANSWER_WRONG, "Not this number", ""},
      {"0", ANSWER_WRONG, "Not this number", ""},
      {"", ANSWER_UNREAD, "", ""},
      {"nan", ANSWER_UNREAD, "", ""},
      {"inf", ANSWER_UNREAD, "", ""},
      {"0x10", ANSWER_UNREAD, "", ""},
      {"1e400", ANSWER_UNREAD, "", ""},
      {"1,37e11", ANSWER_UNREAD, "", ""},
      {"many", ANSWER_UNREAD, "", ""},
      {"1/0", ANSWER_UNREAD, "", ""},
  };
  struct answer_draw d;
  at(&d, "fix.flops", 2, 2, 1);
  assert_true(d.key == 137438953472.0);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char tag[32], say[400];
    enum answer_verdict v = grade(&d, rows[i].text, tag, say);
    if (v != rows[i].verdict || !strstr(say, rows[i].word) ||
        (rows[i].tag[0] && strcmp(rows[i].tag, tag) != 0))
      fail_msg("'%s' gave verdict %d, tag '%s': %s", rows[i].text, v, tag, say);
  }
  answer_done(&d);
}

static void test_percent_and_bytes(void **state) {
  (void)state;
  struct answer_draw d;
  char say[400], text[32];
  at(&d, "fix.batch", 1, 0, 0); /* a plain number may be given in percent */
  snprintf(text, sizeof text, "%.0f %%", d.key * 100);
  assert_int_equal(grade(&d, text, NULL, NULL), ANSWER_RIGHT);
  answer_done(&d);
  at(&d, "fix.occ", 1, 2, 2); /* 256 threads, 96 registers, 33 KiB: 2 blocks, 25 % */
  assert_true(d.key == 25);
  assert_int_equal(grade(&d, "25", NULL, NULL), ANSWER_RIGHT);
  assert_int_equal(grade(&d, "25%", NULL, NULL), ANSWER_RIGHT);
  assert_int_equal(grade(&d, "26 %", NULL, NULL), ANSWER_RIGHT);
  assert_int_equal(grade(&d, "27 %", NULL, NULL), ANSWER_WRONG);
  assert_int_equal(grade(&d, "0.25", NULL, say), ANSWER_UNREAD);
  assert_non_null(strstr(say, "percent"));
  answer_done(&d);
  at(&d, "fix.bytes", 2, 2, 0); /* n = 4096, T = 32: 17.2 GB */
  assert_int_equal(grade(&d, "16 GiB", NULL, NULL), ANSWER_RIGHT);
  assert_int_equal(grade(&d, "16 GB", NULL, say), ANSWER_WRONG);
  assert_non_null(strstr(say, "1024"));
  assert_int_equal(grade(&d, "17.18 MB", NULL, say), ANSWER_WRONG);
  assert_non_null(strstr(say, "10^3"));
  assert_int_equal(grade(&d, "137.4 GB", NULL, say), ANSWER_WRONG);
  assert_non_null(strstr(say, "bits"));
  answer_done(&d);
}

/* A plain count has no prefix to slip on: 4 times 8 is just another count. */
static void test_no_slip_without_unit(void **state) {
  (void)state;
  struct answer_draw d;
  char say[400];
  at(&d, "fix.conf", 3, 0, 0);
  assert_true(d.key == 1);
  assert_int_equal(grade(&d, "8", NULL, say), ANSWER_WRONG);
  assert_null(strstr(say, "bits"));
  assert_int_equal(grade(&d, "1.1", NULL, say), ANSWER_WRONG);
  assert_null(strstr(say, "Close")); /* exact */
  answer_done(&d);
}

/* Why a text is no answer is said in the language of the question. */
static void test_unread_in_both(void **state) {
  (void)state;
  struct answer_draw d;
  struct answer_graded g;
  at(&d, "fix.conf", 3, 0, 0);
  answer_numeric(&d, "1/0", LANG_EN, &g);
  assert_string_equal(g.say, "\"1/0\" cannot be read as a number: Column 2: division by zero.");
  answer_graded_done(&g);
  answer_numeric(&d, "1/0", LANG_ZH, &g);
  assert_int_equal(g.verdict, ANSWER_UNREAD);
  assert_string_equal(g.say, "“1/0”读不成一个数：第 2 列：除以零。");
  answer_graded_done(&g);
  answer_done(&d);
}

static void test_texts(void **state) {
  (void)state;
  struct answer_draw d;
  at(&d, "fix.ridge", 3, 0, 0);
  char *stem = answer_stem(&d, LANG_EN);
  assert_string_equal(stem, "H200: 989 TFLOP/s and 4.80 TB/s. The ridge?");
  free(stem);
  stem = answer_stem(&d, LANG_ZH);
  assert_string_equal(stem, "H200：989 TFLOP/s，4.80 TB/s。ridge 是多少？");
  free(stem);
  answer_done(&d);
  at(&d, "fix.flops", 3, 0, 2);
  stem = answer_stem(&d, LANG_EN);
  assert_string_equal(stem, "C = A·B, A 8,192×11,008, B 11,008×512. How many FLOPs?");
  free(stem);
  answer_done(&d);
}

static void test_choice(void **state) {
  (void)state;
  const struct item *item = lesson_item(fixture, "fix.map");
  int first_right = 0;
  for (uint64_t seed = 0; seed < 200; seed++) {
    struct answer_draw a, b;
    unsigned seen = 0;
    answer_draw(&a, item, seed);
    answer_draw(&b, item, seed);
    assert_memory_equal(a.option, b.option, sizeof a.option);
    for (int i = 0; i < a.noptions; i++) {
      struct answer_graded g;
      seen |= 1u << a.option[i];
      answer_choice(&a, i, LANG_ZH, &g);
      bool right = item->options[a.option[i]].right;
      assert_int_equal(g.verdict, right ? ANSWER_RIGHT : ANSWER_WRONG);
      assert_true(g.say && *g.say);
      if (!right)
        assert_string_equal(g.tag, item->options[a.option[i]].tag);
      first_right += right && i == 0;
      answer_graded_done(&g);
    }
    assert_int_equal(seen, 15);
    struct answer_graded g;
    answer_choice(&a, 4, LANG_EN, &g);
    assert_int_equal(g.verdict, ANSWER_UNREAD);
    assert_non_null(strstr(g.say, "a to d"));
    answer_graded_done(&g);
    answer_done(&a);
    answer_done(&b);
  }
  assert_in_range(first_right, 20, 90); /* of 200, expected 50 */
}

static void test_order(void **state) {
  (void)state;
  const struct item *item = lesson_item(fixture, "fix.order");
  for (uint64_t seed = 0; seed < 50; seed++) {
    struct answer_draw d;
    struct answer_graded g;
    int perm[8];
    answer_draw(&d, item, seed);
    for (int j = 0; j < d.noptions; j++)
      perm[d.option[j]] = j;
    answer_order(&d, perm, LANG_EN, &g);
    assert_int_equal(g.verdict, ANSWER_RIGHT);
    assert_true(g.value == 1);
    answer_graded_done(&g);
    int t = perm[1]; /* the two barriers have the same text */
    perm[1] = perm[3];
    perm[3] = t;
    answer_order(&d, perm, LANG_EN, &g);
    assert_int_equal(g.verdict, ANSWER_RIGHT);
    answer_graded_done(&g);
    t = perm[0]; /* barrier before the load */
    perm[0] = perm[1];
    perm[1] = t;
    answer_order(&d, perm, LANG_EN, &g);
    assert_int_equal(g.verdict, ANSWER_WRONG);
    assert_true(fabs(g.value - 5.0 / 6) < 1e-12);
    assert_non_null(strstr(g.say, "\"load the tiles\" must come before \"barrier\""));
    answer_graded_done(&g);
    for (int j = 0; j < d.noptions; j++)
      perm[j] = j;
    answer_order(&d, perm, LANG_EN, &g);
    assert_int_equal(g.verdict, ANSWER_WRONG); /* never shown solved */
    answer_graded_done(&g);
    answer_done(&d);
  }
}

static void test_draws_vary(void **state) {
  (void)state;
  const struct item *item = lesson_item(fixture, "fix.flops");
  unsigned seen = 0;
  for (uint64_t seed = 0; seed < 100; seed++) {
    struct answer_draw a, b;
    answer_draw(&a, item, seed);
    answer_draw(&b, item, seed);
    assert_true(a.key == b.key);
    seen |= 1u << a.pick[0];
    answer_done(&a);
    answer_done(&b);
  }
  assert_int_equal(seen, 15);
}

static void test_register_is_bilingual(void **state) {
  (void)state;
  static const char *const tags[] = {"fma1", "level", "onebar", "splitfree", "naive", "fusealways"};
  assert_string_equal(misconception_complaint(), "");
  for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
    assert_non_null(misconception_text(tags[i], LANG_EN));
    assert_non_null(misconception_text(tags[i], LANG_ZH));
  }
  assert_null(misconception_text("no-such-tag", LANG_EN));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_keys_and_malrules),
      cmocka_unit_test(test_table),
      cmocka_unit_test(test_percent_and_bytes),
      cmocka_unit_test(test_no_slip_without_unit),
      cmocka_unit_test(test_unread_in_both),
      cmocka_unit_test(test_texts),
      cmocka_unit_test(test_choice),
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_draws_vary),
      cmocka_unit_test(test_register_is_bilingual),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
