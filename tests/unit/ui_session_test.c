/* Whole sessions without a terminal: keys go in, the canvas is read. */
#include "base/alloc.h"
#include "base/err.h"
#include "base/paths.h"
#include "base/rand.h"
#include "ui/ui.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct session {
  ui *u;
  canvas *cv;
};

static struct session begin(enum lang lang, int cols, int rows) {
  struct ui_options o = {.lang = lang, .theme = theme_at(0), .memory_only = true};
  struct session s = {ui_new(&o), canvas_new(cols, rows)};
  ui_draw(s.u, s.cv);
  return s;
}

static void end(struct session *s) {
  canvas_free(s->cv);
  ui_free(s->u);
}

static void draw(struct session *s) {
  struct err err;
  ui_draw(s->u, s->cv);
  if (!canvas_check(s->cv, &err))
    fail_msg("%s", err.text);
}

static void key(struct session *s, int k) {
  assert_true(ui_key(s->u, k));
  draw(s);
}

static void type(struct session *s, const char *text) {
  for (; *text; text++)
    key(s, (unsigned char)*text);
}

/* The screen with runs of spaces made one, so that words over a line's end are found too. */
static char *screen(const struct session *s) {
  char *raw = canvas_to_text(s->cv), *out = alloc_str(raw);
  size_t n = 0;
  for (const char *p = raw; *p; p++) {
    char c = *p == '\n' ? ' ' : *p;
    if (c != ' ' || n == 0 || out[n - 1] != ' ')
      out[n++] = c;
  }
  out[n] = 0;
  free(raw);
  return out;
}

static bool shows(const struct session *s, const char *text) {
  char *all = screen(s);
  bool found = strstr(all, text) != NULL;
  free(all);
  return found;
}

#define assert_shows(s, text)                                                                      \
  do {                                                                                             \
    if (!shows(s, text)) {                                                                         \
      char *all = canvas_to_text((s)->cv);                                                         \
      print_message("not on the screen: %s\n%s", text, all);                                       \
      free(all);                                                                                   \
      fail();                                                                                      \
    }                                                                                              \
  } while (0)

static void open(struct session *s, const char *view) {
  struct err err;
  if (!ui_open(s->u, view, &err))
    fail_msg("%s", err.text);
  draw(s);
}

/* ---- home */

static void test_home_opens_and_comes_back(void **state) {
  (void)state;
  struct session s = begin(LANG_EN, 80, 24);
  assert_shows(&s, "FLOPs");
  key(&s, KEYS_END);
  assert_shows(&s, "▸ 19");
  key(&s, KEYS_ENTER); /* not written: stays */
  assert_shows(&s, "▸ 19");
  key(&s, KEYS_HOME);
  for (int i = 0; i < 5; i++)
    key(&s, 'j');
  assert_shows(&s, "▸ 6 Tiling");
  key(&s, KEYS_ENTER);
  assert_shows(&s, "Tiling 1 of 15");
  key(&s, 'n');
  assert_shows(&s, "2 of 15");
  key(&s, 'q');
  assert_shows(&s, "▸ 6 Tiling"); /* the lesson opened last */
  assert_shows(&s, "1 of 15");    /* one step is done */
  key(&s, KEYS_ENTER);
  assert_shows(&s, "Tiling 2 of 15"); /* resumes */
  key(&s, KEYS_ESC);
  assert_shows(&s, "▸ 6 Tiling");
  key(&s, KEYS_ESC); /* never quits */
  assert_false(ui_key(s.u, 'q'));
  end(&s);
}

static void test_every_view_name(void **state) {
  (void)state;
  struct session s = begin(LANG_EN, 80, 24);
  struct err err;
  open(&s, "help");
  assert_shows(&s, "Help");
  open(&s, "lesson/tiling:2");
  assert_shows(&s, "Tiling 2 of 15");
  open(&s, "lesson/tiling:strips");
  assert_shows(&s, "Tiling 2 of 15");
  open(&s, "sim/cuda/tiled:12");
  assert_shows(&s, "12/");
  open(&s, "home");
  static const char *const bad[] = {
      "",         "nowhere",          "lesson/none",    "lesson/tiling:none",
      "sim/none", "sim/cuda/tiled:x", "lesson/machine", "lesson/tiling:99"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    err.text[0] = 0;
    assert_false(ui_open(s.u, bad[i], &err));
    assert_true(strlen(err.text) > 10);
  }
  draw(&s);
  assert_shows(&s, "▸");
  end(&s);
}

/* ---- questions */

static void test_choice_wrong_then_right(void **state) {
  (void)state;
  struct session s = begin(LANG_EN, 80, 40);
  open(&s, "lesson/tiling:q-barrier");
  assert_shows(&s, "second __syncthreads()");
  for (int i = 0; i < 4 && !shows(&s, "✓"); i++)
    key(&s, 'a' + i);
  assert_shows(&s, "✓");
  assert_shows(&s, "racy kernel"); /* why */
  key(&s, 'n');
  key(&s, 'p'); /* resumed as answered */
  assert_shows(&s, "✓");
  key(&s, 'a'); /* answered: the letters do nothing more */
  assert_shows(&s, "✓");
  end(&s);
}

static void test_wrong_choice_says_why_and_stays_open(void **state) {
  (void)state;
  struct session s = begin(LANG_EN, 80, 40);
  int wrong = 0;
  for (int i = 0; i < 4 && wrong == 0; i++) {
    open(&s, "lesson/tiling:q-barrier");
    key(&s, 'a' + i);
    wrong += shows(&s, "✗");
  }
  assert_int_equal(wrong, 1);
  assert_shows(&s, "H hint 1 of 2");
  key(&s, 'H');
  assert_shows(&s, "Hint 1");
  key(&s, 'H');
  key(&s, 'H'); /* behind the last hint: the solution */
  assert_shows(&s, "Solution");
  end(&s);
}

static void test_numeric_field(void **state) {
  (void)state;
  struct session s = begin(LANG_EN, 80, 40);
  open(&s, "lesson/flops:q-double");
  key(&s, 'p'); /* nothing is typed yet: letters are commands */
  key(&s, 'n');
  type(&s, "5nq"); /* now they are text */
  assert_shows(&s, "answer 5nq");
  for (int i = 0; i < 3; i++)
    key(&s, KEYS_BACKSPACE);
  type(&s, "x");
  key(&s, KEYS_ENTER);
  assert_shows(&s, "!"); /* could not be read, nothing is counted */
  key(&s, KEYS_BACKSPACE);
  type(&s, "1234");
  key(&s, KEYS_ENTER);
  assert_shows(&s, "✗");
  key(&s, KEYS_ENTER); /* edits it; a digit would begin anew */
  assert_shows(&s, "answer 1234");
  for (int i = 0; i < 3; i++)
    key(&s, KEYS_BACKSPACE);
  key(&s, KEYS_ENTER);
  assert_shows(&s, "✗");
  /* s is 2, 3 or 4, and the key is its cube */
  const char *right = shows(&s, "become 2 times") ? "8" : shows(&s, "become 3 times") ? "27" : "64";
  type(&s, right);
  key(&s, KEYS_ENTER);
  assert_shows(&s, "✓");
  assert_shows(&s, "Work grows as n³");
  key(&s, 'p');
  key(&s, 'n');
  assert_shows(&s, "✓");
  end(&s);
}

static void test_order(void **state) {
  (void)state;
  struct session s = begin(LANG_EN, 80, 40);
  open(&s, "lesson/flops:q-order");
  key(&s, 'c');
  assert_shows(&s, "1 c");
  key(&s, 'c'); /* twice is once */
  key(&s, KEYS_BACKSPACE);
  assert_false(shows(&s, "1 c"));
  /* Try all orders of five until one is right. */
  int p[5] = {0, 1, 2, 3, 4}, tries = 0;
  for (int code = 0; code < 3125 && !shows(&s, "✓"); code++) {
    int seen = 0;
    for (int i = 0, c = code; i < 5; i++, c /= 5)
      seen |= 1 << (p[i] = c % 5);
    if (seen != 31)
      continue;
    for (int i = 0; i < 5; i++)
      ui_key(s.u, 'a' + p[i]);
    draw(&s);
    tries++;
  }
  assert_shows(&s, "✓");
  assert_true(tries <= 120);
  end(&s);
}

/* ---- while reading */

static void test_language_and_theme_in_a_lesson(void **state) {
  (void)state;
  struct session s = begin(LANG_EN, 80, 40);
  open(&s, "lesson/tiling:q-barrier");
  for (int i = 0; i < 4 && !shows(&s, "✓"); i++)
    key(&s, 'a' + i);
  key(&s, 'L');
  assert_int_equal(ui_lang(s.u), LANG_ZH);
  assert_shows(&s, "去掉第二个 __syncthreads()");
  assert_shows(&s, "✓");
  assert_false(shows(&s, "racy kernel")); /* the verdict speaks the language of now */
  key(&s, 'L');
  assert_shows(&s, "racy kernel");
  const struct theme *first = ui_theme(s.u);
  key(&s, 't');
  assert_ptr_not_equal(ui_theme(s.u), first);
  for (int i = 0; theme_at(i + 1); i++)
    key(&s, 't');
  assert_ptr_equal(ui_theme(s.u), first);
  end(&s);
}

static void test_explain_every_number(void **state) {
  (void)state;
  struct session s = begin(LANG_EN, 80, 30);
  open(&s, "lesson/flops:count");
  int asks = canvas_asks(s.cv);
  assert_true(asks >= 3);
  char *label = alloc_str(canvas_ask_at(s.cv, 0)->formula);
  key(&s, '=');
  assert_shows(&s, label);
  assert_shows(&s, "1 of ");
  free(label);
  for (int i = 1; i < asks; i++)
    key(&s, KEYS_TAB);
  char last[32];
  snprintf(last, sizeof last, "%d of %d", asks, asks);
  assert_shows(&s, last);
  key(&s, KEYS_RIGHT);
  assert_shows(&s, "1 of ");
  key(&s, 'n'); /* not a command here */
  assert_shows(&s, "1 of ");
  key(&s, KEYS_ESC);
  assert_false(shows(&s, "formula"));
  end(&s);
}

static void test_search(void **state) {
  (void)state;
  struct session s = begin(LANG_EN, 60, 12);
  open(&s, "lesson/roofline:bound");
  key(&s, '/');
  type(&s, "COMPUTE-BOUND");
  key(&s, KEYS_ENTER);
  assert_shows(&s, "compute-bound"); /* was below the last line */
  bool lit = false;
  for (int y = 0; y < 12; y++)
    for (int x = 0; x < 60; x++)
      lit |= (canvas_at(s.cv, x, y)->mark & MARK_REVERSE) != 0;
  assert_true(lit);
  key(&s, 'n'); /* the next hit, not the next step */
  assert_shows(&s, "1 of 13");
  key(&s, KEYS_ESC);
  key(&s, 'n');
  assert_shows(&s, "2 of 13");
  end(&s);
}

static void test_scrolling_ends_at_both_ends(void **state) {
  (void)state;
  struct session s = begin(LANG_EN, 60, 12);
  open(&s, "lesson/roofline:limits");
  char *top = canvas_to_text(s.cv);
  for (int i = 0; i < 100; i++)
    key(&s, KEYS_DOWN);
  char *bottom = canvas_to_text(s.cv);
  assert_string_not_equal(top, bottom);
  key(&s, KEYS_PGDN);
  char *still = canvas_to_text(s.cv);
  assert_string_equal(bottom, still);
  key(&s, 'k'); /* one line up is seen at once */
  char *up = canvas_to_text(s.cv);
  assert_string_not_equal(bottom, up);
  key(&s, 'g');
  char *again = canvas_to_text(s.cv);
  assert_string_equal(top, again);
  free(top);
  free(bottom);
  free(still);
  free(up);
  free(again);
  end(&s);
}

static void test_panes(void **state) {
  (void)state;
  struct session s = begin(LANG_EN, 80, 24);
  open(&s, "lesson/tiling:strips");
  assert_shows(&s, "A block owns");
  key(&s, KEYS_F3);
  assert_false(shows(&s, "A block owns"));
  assert_shows(&s, "k ↓");
  key(&s, KEYS_TAB);
  assert_false(shows(&s, "k ↓"));
  key(&s, KEYS_F2);
  assert_shows(&s, "A block owns");
  canvas_resize(s.cv, 160, 40);
  draw(&s);
  assert_shows(&s, "A block owns");
  assert_shows(&s, "k ↓");
  end(&s);
}

static void test_prediction_is_kept(void **state) {
  (void)state;
  struct session s = begin(LANG_EN, 120, 40);
  open(&s, "lesson/tiling:predict"); /* its field has the focus: letters are text */
  assert_false(shows(&s, "yours"));
  type(&s, "1.5");
  key(&s, KEYS_ENTER);
  assert_shows(&s, "1.5 ← yours");
  key(&s, 'n');
  assert_shows(&s, "10 of 15");
  assert_shows(&s, "1.5 ← yours"); /* the run step has the same experiment */
  key(&s, 'q');
  assert_shows(&s, "1 of 15"); /* the step counts as done */
  key(&s, KEYS_ENTER);
  assert_shows(&s, "1.5 ← yours");
  end(&s);
}

/* At 80 columns the question is read first; Enter leads to the field. */
static void test_prediction_in_one_pane(void **state) {
  (void)state;
  struct session s = begin(LANG_EN, 80, 24);
  open(&s, "lesson/tiling:predict");
  assert_shows(&s, "Enter to your prediction");
  key(&s, 'n'); /* not answered: it can be passed over, and is not done */
  key(&s, 'q');
  assert_false(shows(&s, "1 of 15"));
  open(&s, "lesson/tiling:predict");
  key(&s, KEYS_ENTER);
  type(&s, "2");
  key(&s, KEYS_ENTER);
  assert_shows(&s, "2 ← yours");
  end(&s);
}

static void test_too_small(void **state) {
  (void)state;
  struct session s = begin(LANG_EN, 39, 10);
  assert_shows(&s, "39x10");
  assert_shows(&s, "40x10");
  key(&s, KEYS_ENTER); /* keys would act blind: only q works */
  canvas_resize(s.cv, 80, 24);
  draw(&s);
  assert_shows(&s, "▸");
  canvas_resize(s.cv, 1, 1);
  draw(&s);
  assert_false(ui_key(s.u, 'q'));
  end(&s);
}

/* ---- what lasts */

static void test_progress_lasts(void **state) {
  (void)state;
  char dir[] = "/tmp/mmtutor_session_XXXXXX";
  assert_non_null(mkdtemp(dir));
  setenv("XDG_STATE_HOME", dir, 1);
  struct ui_options o = {.lang = LANG_EN, .theme = theme_at(0)};
  struct session s = {ui_new(&o), canvas_new(80, 40)};
  draw(&s);
  open(&s, "lesson/tiling:q-barrier");
  for (int i = 0; i < 4 && !shows(&s, "✓"); i++)
    key(&s, 'a' + i);
  key(&s, 'L');
  assert_false(ui_key(s.u, 'Q'));
  end(&s);

  s = (struct session){ui_new(&o), canvas_new(80, 40)};
  draw(&s);
  assert_int_equal(ui_lang(s.u), LANG_ZH); /* the saved language */
  key(&s, KEYS_ENTER);
  assert_shows(&s, "✓"); /* the lesson, the step and the answer */
  key(&s, 'L');
  end(&s);

  o.lang = LANG_ZH;
  o.lang_given = true;
  s = (struct session){ui_new(&o), canvas_new(80, 40)};
  assert_int_equal(ui_lang(s.u), LANG_ZH); /* asked for: over the saved one */
  end(&s);
  unsetenv("XDG_STATE_HOME");
  char *remove = alloc_printf("rm -rf '%s'", dir);
  assert_int_equal(system(remove), 0);
  free(remove);
}

/* ---- any key at any size */

static int random_key(struct rand *r) {
  static const int special[] = {KEYS_TAB,    KEYS_ENTER,
                                KEYS_ESC,    KEYS_BACKSPACE,
                                KEYS_UP,     KEYS_DOWN,
                                KEYS_LEFT,   KEYS_RIGHT,
                                KEYS_PGUP,   KEYS_PGDN,
                                KEYS_HOME,   KEYS_END,
                                KEYS_DELETE, KEYS_SHIFT_TAB,
                                KEYS_F1,     KEYS_F2,
                                KEYS_F3,     KEYS_F4,
                                KEYS_CTRL_L, KEYS_ENTER,
                                0x77E9,      0x1F600,
                                0x301,       'n',
                                'n',         'n',
                                '=',         '/',
                                'H',         KEY_NONE};
  enum { SPECIAL = sizeof special / sizeof special[0] };
  if (rand_below(r, 2))
    return special[rand_below(r, SPECIAL)];
  return ' ' + (int)rand_below(r, 95);
}

static void test_monkey(void **state) {
  (void)state;
  enum { KEYS = 20000, VIEWS = 5 };
  static const char *const views[VIEWS] = {"home", "lesson/tiling", "lesson/flops",
                                           "lesson/roofline", "lesson/cpu-gpu"};
  struct rand r;
  struct session s = begin(LANG_EN, 80, 24);
  rand_seed(&r, 7);
  for (int i = 0; i < KEYS; i++) {
    if (rand_below(&r, 400) == 0)
      open(&s, views[rand_below(&r, VIEWS)]);
    if (rand_below(&r, 25) == 0)
      canvas_resize(s.cv, 1 + (int)rand_below(&r, 200), 1 + (int)rand_below(&r, 60));
    if (!ui_key(s.u, random_key(&r)))
      open(&s, views[rand_below(&r, VIEWS)]); /* it would have ended */
    ui_tick(s.u, i * 20.0);
    if (rand_below(&r, 3) == 0)
      draw(&s);
  }
  end(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_home_opens_and_comes_back),
      cmocka_unit_test(test_every_view_name),
      cmocka_unit_test(test_choice_wrong_then_right),
      cmocka_unit_test(test_wrong_choice_says_why_and_stays_open),
      cmocka_unit_test(test_numeric_field),
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_language_and_theme_in_a_lesson),
      cmocka_unit_test(test_explain_every_number),
      cmocka_unit_test(test_search),
      cmocka_unit_test(test_scrolling_ends_at_both_ends),
      cmocka_unit_test(test_panes),
      cmocka_unit_test(test_prediction_is_kept),
      cmocka_unit_test(test_prediction_in_one_pane),
      cmocka_unit_test(test_too_small),
      cmocka_unit_test(test_progress_lasts),
      cmocka_unit_test(test_monkey),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
