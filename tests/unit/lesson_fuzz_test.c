/* Random damage to a lesson's files, from a fixed seed: each load ends with a lesson or a sentence,
 * and what loads can be drawn, graded, rendered and checked. Worth most under `make check-asan`. */
#include "lesson/lesson.h"

#include "base/rand.h"
#include "lesson/answer.h"
#include "lesson/prose.h"
#include "lesson_dirs.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { ROUNDS = 4000 };

static const char *const bits[] = {
    "{",       "}",    "[",   "]",   ",",     ":",    "\"",   "{{",   "}}",
    "|",       "`",    "## ", "\n",  "1e308", "-1",   "null", "true", "0/0",
    "\\u0000", "\xff", "**",  "```", "9^9^9", "((((", "> ",   "- ",   "\xF3\xB0\x80\x80"};

static size_t mutate(struct rand *r, char *text, size_t n, size_t cap) {
  int edits = 1 + (int)rand_below(r, 4);
  while (edits-- > 0 && n > 1) {
    size_t at = (size_t)rand_below(r, n), len = (size_t)rand_below(r, 24) % (n - at);
    const char *bit = bits[rand_below(r, sizeof bits / sizeof *bits)];
    switch (rand_below(r, 4)) {
    case 0:
      text[at] = (char)rand_below(r, 256);
      break;
    case 1: /* cut a piece out */
      memmove(text + at, text + at + len, n - at - len);
      n -= len;
      break;
    case 2: /* put a piece in twice */
      if (n + len < cap) {
        memmove(text + at + len, text + at, n - at);
        n += len;
      }
      break;
    default:
      if (at + strlen(bit) < n)
        memcpy(text + at, bit, strlen(bit));
    }
  }
  text[n] = '\0';
  return n;
}

static void use_items(const struct lesson *l, uint64_t seed) {
  for (int i = 0; i < l->nitems; i++) {
    struct answer_draw d;
    struct answer_graded g;
    answer_draw(&d, &l->items[i], seed);
    char *stem = answer_stem(&d, LANG_ZH), *right = answer_right(&d, LANG_EN);
    assert_non_null(stem);
    if (l->items[i].kind == ITEM_NUMERIC)
      answer_numeric(&d, "137 GFLOP", LANG_EN, &g);
    else if (l->items[i].kind == ITEM_ORDER)
      answer_order(&d, (const int[]){0, 1, 2, 3, 4, 5, 6, 7}, LANG_ZH, &g);
    else
      answer_choice(&d, 0, LANG_EN, &g);
    answer_graded_done(&g);
    free(stem);
    free(right);
    answer_done(&d);
  }
}

static void use(const struct lesson *l, uint64_t seed) {
  use_items(l, seed);
  for (int i = 0; i < l->nsteps; i++)
    prose_free(prose_render(l->steps[i].prose[seed % 2], NULL));
}

static void test_mutations(void **state) {
  (void)state;
  static const char *const files[] = {"lesson.json", "en.md", "zh.md"};
  char *good[3];
  size_t n[3];
  int loaded = 0, refused = 0;
  struct rand r;
  rand_seed(&r, 20261130);
  for (int i = 0; i < 3; i++)
    good[i] = dirs_read(DIRS_GOOD, files[i], &n[i]);
  for (int round = 0; round < ROUNDS; round++) {
    int which = round % 2 ? 0 : 1 + (int)rand_below(&r, 2);
    size_t cap = n[which] + 256;
    char *text = alloc_zero(cap, 1);
    struct err err = {""};
    struct lesson_texts t = {"lessons/06-tiling", good[0], {good[1], good[2]}, n[0], {n[1], n[2]}};
    memcpy(text, good[which], n[which]);
    size_t len = mutate(&r, text, n[which], cap);
    if (which == 0)
      t.json = text, t.njson = len;
    else
      t.prose[which - 1] = text, t.nprose[which - 1] = len;
    struct lesson *l = lesson_parse(&t, &err);
    if (l)
      use(l, (uint64_t)round);
    else if (!strstr(err.text, "lessons/06-tiling/"))
      fail_msg("round %d: no file in: %s", round, err.text);
    loaded += l != NULL;
    refused += l == NULL;
    lesson_free(l);
    free(text);
  }
  for (int i = 0; i < 3; i++)
    free(good[i]);
  assert_true(loaded > ROUNDS / 10); /* otherwise nothing behind the parser was reached */
  assert_true(refused > ROUNDS / 10);
}

static void test_markdown(void **state) {
  (void)state;
  struct rand r;
  size_t n;
  rand_seed(&r, 7);
  char *good = dirs_read(DIRS_GOOD, "en.md", &n);
  for (int round = 0; round < ROUNDS; round++) {
    char *text = alloc_zero(n + 256, 1);
    memcpy(text, good, n);
    mutate(&r, text, n, n + 256);
    struct prose *p = prose_render(text, NULL);
    assert_in_range(p->nblocks, 0, 10000);
    prose_free(p);
    prose_check(text, NULL);
    free(text);
  }
  free(good);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_mutations),
                                     cmocka_unit_test(test_markdown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
