#include "ui/svg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int count(const char *text, const char *what) {
  int n = 0;
  for (; (text = strstr(text, what)); text += strlen(what))
    n++;
  return n;
}

static char *svg_of_text(const char *text, enum role role, unsigned mark) {
  canvas *cv = canvas_new(40, 2);
  canvas_text(cv, 0, 0, role, mark, text);
  char *svg = svg_of(cv, theme_find("dark"));
  canvas_free(cv);
  assert_int_equal(strncmp(svg, "<svg ", 5), 0);
  assert_string_equal(svg + strlen(svg) - 7, "</svg>\n");
  assert_int_equal(count(svg, "<text"), count(svg, "</text>"));
  return svg;
}

static void test_escapes(void **state) {
  (void)state;
  char *svg = svg_of_text("a<b && c>d", ROLE_CODE, 0);
  assert_non_null(strstr(svg, ">a&lt;b &amp;&amp; c&gt;d</text>"));
  free(svg);
}

/* A run's length is its cells', so that no font can shift what follows; narrow and wide are
 * separate. */
static void test_runs(void **state) {
  (void)state;
  char *svg = svg_of_text("ab  cd矩阵e", ROLE_TEXT, 0);
  assert_int_equal(count(svg, "<text"), 5);
  assert_non_null(strstr(svg, "x=\"14.00\" y=\"27.40\" textLength=\"16.86\">ab</text>"));
  assert_non_null(strstr(svg, "x=\"47.72\" y=\"27.40\" textLength=\"16.86\">cd</text>"));
  assert_non_null(strstr(svg, "x=\"65.51\" y=\"27.40\" textLength=\"15.00\">矩</text>"));
  assert_non_null(strstr(svg, "x=\"82.37\" y=\"27.40\" textLength=\"15.00\">阵</text>"));
  assert_non_null(strstr(svg, "x=\"98.30\" y=\"27.40\" textLength=\"8.43\">e</text>"));
  free(svg);
}

static void test_shapes_are_no_text(void **state) {
  (void)state;
  static const char *const shapes[] = {"─",       "│",   "┌┐└┘├┤┬┴┼", "█", "▏▎▍▌▋▊▉",
                                       "▁▂▃▄▅▆▇", "░▒▓", "▀▐",        "⣿⠁"};
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    char *svg = svg_of_text(shapes[i], ROLE_ROOF, 0);
    assert_int_equal(count(svg, "<text"), 0);
    assert_true(count(svg, "<rect class=\"f-roof\"") + count(svg, "<circle") > 0);
    free(svg);
  }
  char *svg = svg_of_text("⣿⠁", ROLE_ROOF, 0);
  assert_int_equal(count(svg, "<circle"), 9);
  free(svg);
  svg = svg_of_text("────────", ROLE_ROOF, 0);
  assert_int_equal(count(svg, "<rect class=\"f-roof\""), 1);
  assert_non_null(strstr(svg, "width=\"67.44\" height=\"1.00\""));
  free(svg);
}

static void test_marks_and_roles(void **state) {
  (void)state;
  char *svg = svg_of_text("now", ROLE_NOW, MARK_REVERSE | MARK_UNDERLINE);
  assert_non_null(strstr(svg, "<rect class=\"f-now\" x=\"14.00\""));
  assert_non_null(strstr(svg, "<text class=\"f-ground bold under\""));
  char want[64];
  for (int r = 0; r < ROLE_COUNT; r++) {
    snprintf(want, sizeof want, "{ fill: #%06X; }", theme_find("dark")->style[r].rgb);
    assert_non_null(strstr(svg, want));
  }
  free(svg);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_escapes),
      cmocka_unit_test(test_runs),
      cmocka_unit_test(test_shapes_are_no_text),
      cmocka_unit_test(test_marks_and_roles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
