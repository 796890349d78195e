#include "ui/views/lesson_layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_COLS = 250, MOST_ROWS = 70 };

static bool inside(struct rect r, int cols, int top, int bottom) {
  if (r.w == 0 && r.h == 0)
    return true;
  return r.w > 0 && r.h > 0 && r.x >= 0 && r.x + r.w <= cols && r.y >= top && r.y + r.h <= bottom;
}

static bool apart(struct rect a, struct rect b) {
  return a.w == 0 || b.w == 0 || a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y ||
         b.y + b.h <= a.y;
}

/* Everything inside the lines between header and key bar, nothing on top of anything else, no
 * rectangle on a separator. */
static void check(int cols, int rows, const struct lesson_panes *p) {
  struct lesson_layout at;
  struct rect all[2 * PANES + 1];
  int n = 0;
  lesson_layout(cols, rows, p, &at);
  assert_true(at.shown[p->focus] || cols >= LESSON_LAYOUT_TWO);
  for (int i = 0; i < PANES; i++) {
    assert_true(!at.shown[i] || p->has[i]);
    all[n++] = at.title[i];
    all[n++] = at.body[i];
  }
  all[n++] = at.tabs;
  int top = rows >= 3 ? 1 : 0, bottom = rows >= 2 ? rows - 1 : rows;
  for (int i = 0; i < n; i++) {
    assert_true(inside(all[i], cols, top, bottom));
    for (int j = 0; j < i; j++)
      assert_true(apart(all[i], all[j]));
    for (int j = 0; j < PANES; j++)
      assert_true(at.separator[j] < 0 || all[i].w == 0 || all[i].x > at.separator[j] ||
                  all[i].x + all[i].w <= at.separator[j]);
  }
}

static void test_every_size(void **state) {
  (void)state;
  for (int has = 0; has < 4; has++)
    for (int focus = 0; focus < PANES; focus++)
      for (int other = PANE_SIM; other < PANES; other++)
        for (int two = 0; two < 2; two++) {
          struct lesson_panes p = {
              {true, has & 1, has & 2}, (enum pane)focus, (enum pane)other, two};
          if (!p.has[focus])
            continue;
          for (int cols = 1; cols <= MOST_COLS; cols++)
            for (int rows = 1; rows <= MOST_ROWS; rows++)
              check(cols, rows, &p);
        }
}

static int count(int cols, const struct lesson_panes *p) {
  struct lesson_layout at;
  lesson_layout(cols, 30, p, &at);
  return at.shown[PANE_TEXT] + at.shown[PANE_SIM] + at.shown[PANE_LIVE];
}

static void test_how_many_panes(void **state) {
  (void)state;
  struct lesson_panes p = {{true, true, true}, PANE_TEXT, PANE_SIM, false};
  assert_int_equal(count(99, &p), 1);
  assert_int_equal(count(100, &p), 2);
  assert_int_equal(count(149, &p), 2);
  assert_int_equal(count(150, &p), 3);
  p.two = true;
  assert_int_equal(count(250, &p), 2);
  p.has[PANE_SIM] = false;
  p.other = PANE_LIVE;
  assert_int_equal(count(150, &p), 2);
  p.has[PANE_LIVE] = false;
  assert_int_equal(count(150, &p), 1);
}

static void test_the_other_pane_is_the_one_asked_for(void **state) {
  (void)state;
  struct lesson_panes p = {{true, true, true}, PANE_TEXT, PANE_LIVE, false};
  struct lesson_layout at;
  lesson_layout(100, 30, &p, &at);
  assert_true(at.shown[PANE_LIVE] && !at.shown[PANE_SIM]);
  p.other = PANE_SIM;
  lesson_layout(100, 30, &p, &at);
  assert_true(at.shown[PANE_SIM] && !at.shown[PANE_LIVE]);
  p.focus = PANE_LIVE;
  lesson_layout(80, 24, &p, &at);
  assert_true(at.shown[PANE_LIVE] && !at.shown[PANE_TEXT]);
  assert_true(at.tabs.h == 1);
}

/* A pane that is shown has room to be of use at every size that the program takes. */
static void test_shown_panes_have_room(void **state) {
  (void)state;
  struct lesson_panes p = {{true, true, true}, PANE_TEXT, PANE_SIM, false};
  for (int cols = 40; cols <= MOST_COLS; cols++)
    for (int rows = 10; rows <= MOST_ROWS; rows++) {
      struct lesson_layout at;
      lesson_layout(cols, rows, &p, &at);
      for (int i = 0; i < PANES; i++)
        assert_true(!at.shown[i] || (at.body[i].w >= 36 && at.body[i].h >= 5));
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_size),
      cmocka_unit_test(test_how_many_panes),
      cmocka_unit_test(test_the_other_pane_is_the_one_asked_for),
      cmocka_unit_test(test_shown_panes_have_room),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
