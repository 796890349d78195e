/* Prose: blocks, styles, numbers and where they come from, and Markdown meant to break it. */
#include "lesson/prose.h"

#include "base/alloc.h"
#include "base/str.h"
#include "base/utf8.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static bool lookup(void *ctx, const char *name, double *value) {
  (void)ctx;
  if (strcmp(name, "n") != 0 && strcmp(name, "here.x") != 0 && strcmp(name, "here.only") != 0)
    return false;
  *value = strcmp(name, "n") == 0 ? 4096 : 10;
  return true;
}

static bool recorded(void *ctx, const char *name, double *value) {
  (void)ctx;
  if (strcmp(name, "roof.dram") != 0 && strcmp(name, "here.x") != 0)
    return false;
  *value = strcmp(name, "roof.dram") == 0 ? 4.25e12 : 20;
  return true;
}

static const struct prose_source source = {
    .lookup = lookup, .recorded = recorded, .recorded_tag = "(H200)"};

/* A block as text: KIND level marker, then each run as style:text| */
static void shape(const struct prose *p, struct str *out) {
  static const char kinds[] = "PHBCFQT", styles[] = "psecNR;";
  for (int i = 0; i < p->nblocks; i++) {
    const struct prose_block *b = &p->blocks[i];
    str_addf(out, "%c%d%s", kinds[b->kind], b->level, b->marker);
    for (int j = 0; j < b->nruns; j++)
      str_addf(out, " %c[%s]", styles[b->runs[j].style],
               b->runs[j].style == PROSE_CELL_END ? "" : b->runs[j].text);
    str_add(out, "\n");
  }
}

static void check(const char *markdown, const char *expect) {
  struct prose *p = prose_render(markdown, &source);
  struct str s = {0};
  shape(p, &s);
  assert_string_equal(s.len ? s.data : "", expect);
  str_free(&s);
  prose_free(p);
}

static void test_blocks(void **state) {
  (void)state;
  check("", "");
  check("one\ntwo", "P0 p[one two]\n");
  check("中文\n中文", "P0 p[中文中文]\n");
  check("a **b** *c* `d`", "P0 p[a ] s[b] p[ ] e[c] p[ ] c[d]\n");
  check("### Head\n\ntext", "H3 p[Head]\nP0 p[text]\n");
  check("- a\n- b\n  1. c\n  2. d\n", "B1- p[a]\nB1- p[b]\nB21. p[c]\nB22. p[d]\n");
  check("- a\n\n  more\n\n- b\n", "B1- p[a]\nP1 p[more]\nB1- p[b]\n");
  check("> said", "Q0 p[said]\n");
  check("```c\nint a;\n  b\n```", "C0 p[int a;\n  b]\n");
  check("```math\nx = {{2*n}}\n```", "F0 p[x = ] N[8192]\n");
  check("| a | b |\n|---|---|\n| 1 | **2** |\n", "T0 p[a] ;[] p[b]\nT1 p[1] ;[] s[2]\n");
  check("see [docs](http://x.y)", "P0 p[see docs (http://x.y)]\n");
  check("<b>bold</b> &lt; &amp; &#65;", "P0 p[<b>bold</b> < & A]\n");
}

static void test_numbers(void **state) {
  (void)state;
  check("{{n}}", "P0 N[4096]\n");
  check("**{{2*n^3 | FLOP}}**", "P0 N[137 GFLOP]\n");
  check("{{2*n^3 | exact}}", "P0 N[137,438,953,472]\n");
  check("{{2*n^3 | FLOP 5}}", "P0 N[137.44 GFLOP]\n");
  check("{{n/3000 | x}}", "P0 N[1.37x]\n");
  check("{{n/3000 | 2}}", "P0 N[1.4]\n");
}

static void test_sources(void **state) {
  (void)state;
  check("{{roof.dram | B/s}}", "P0 R[4.25 TB/s (H200)]\n");
  check("{{n*roof.dram/n | B/s}}", "P0 R[4.25 TB/s (H200)]\n");
  check("{{here.x}}", "P0 N[10]\n");
  check("{{here.x*roof.dram/roof.dram}}",
        "P0 R[20 (H200)]\n"); /* never two machines in one value */
  check("{{here.only*roof.dram}}", "P0 N[-]\n");
  check("{{nobody}}", "P0 N[-]\n");
  check("{{n/0}}", "P0 N[-]\n");
  struct prose *p = prose_render("{{2*n^3}} {{roof.dram}}", &source);
  const struct prose_run *run = p->blocks[0].runs;
  assert_string_equal(run[0].formula, "2*n^3");
  assert_string_equal(run[0].filled, "2*4096^3");
  assert_true(run[0].value == 2.0 * 4096 * 4096 * 4096);
  assert_true(run[2].value == 4.25e12);
  prose_free(p);
  p = prose_render("{{n}}", NULL);
  assert_string_equal(p->blocks[0].runs[0].text, "-");
  prose_free(p);
}

static void test_literal_and_broken(void **state) {
  (void)state;
  check("`{{n}}` {{n}}", "P0 c[{{n}}] p[ ] N[4096]\n");
  check("```\n{{n | x}}\n```", "C0 p[{{n | x}}]\n");
  check("{{n", "P0 p[{{n]\n");
  check("{{ {{n}}", "P0 p[{{ ] N[4096]\n");
  check("{{n\n}}", "P0 p[{{n }}]\n");
  check("{{n+}}", "P0 N[-]\n");
  check("| a |\n|---|\n| {{(n>1)||(n<0) | 2}} |\n", "T0 p[a]\nT1 N[1]\n");
}

static void test_check(void **state) {
  (void)state;
  struct err err = {""};
  assert_true(prose_check("{{n | B}} `{{ bad + }}` {{x.y}}", &err));
  assert_false(prose_check("ok {{n}}, `{{a+}}`, bad {{n+}}", &err));
  assert_non_null(strstr(err.text, "{{n+}}"));
  assert_false(prose_check("{{n | miles}}", &err));
  assert_false(prose_check("{{}}", &err));
  assert_false(prose_check("{{n | B 99}}", &err));
}

/* The text's own private characters must not be taken for expressions, nor may entities bring back
 * what cleaning took away. */
static void test_smuggling(void **state) {
  (void)state;
  check("\U000F0000 {{n}}", "P0 p[\uFFFD ] N[4096]\n");
  check("&#xF0000; {{n}}", "P0 p[\uFFFD ] N[4096]\n");
  check("&#27;[2J", "P0 p[\uFFFD[2J]\n");
  check("&#x202e;x", "P0 p[\uFFFDx]\n");
  check("a\033[1m", "P0 p[a\uFFFD[1m]\n");
}

static void render_hostile(const char *unit, size_t bytes) {
  struct str s = {0};
  while (s.len + strlen(unit) <= bytes)
    str_add(&s, unit);
  clock_t before = clock();
  struct prose *p = prose_render(s.data, &source);
  assert_in_range(p->nblocks, 0, 10000);
  for (int i = 0; i < p->nblocks; i++)
    for (int j = 0; j < p->blocks[i].nruns; j++) {
      const char *text = p->blocks[i].runs[j].text;
      assert_true(utf8_valid(text, strlen(text), NULL));
    }
  if (clock() - before > 20 * CLOCKS_PER_SEC)
    fail_msg("%zu bytes of '%s' took too long", bytes, unit);
  prose_free(p);
  str_free(&s);
}

static void test_hostile(void **state) {
  (void)state;
  static const char *const units[] = {"*",     "_a ",    "[",        "![",  "`",     "> ",
                                      "- ",    "1. a\n", "| ",       "{{",  "{{n}}", "<",
                                      "\\",    "&",      "a\n\n",    "-\n", "**a",   "[]()",
                                      "```\n", "~",      "\xF3\xB0", "}}{", "|-|\n"};
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    render_hostile(units[i], 256 << 10);
  render_hostile("a **b** {{n}} | c\n\n", 3 << 20); /* over the limit: cut, not refused */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_blocks),  cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_sources), cmocka_unit_test(test_literal_and_broken),
      cmocka_unit_test(test_check),   cmocka_unit_test(test_smuggling),
      cmocka_unit_test(test_hostile),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
