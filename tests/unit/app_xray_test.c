/* The texts of `mmtutor xray` and of doctor's advice, apart from any worker. */
#include "app/nvrtc_advice.h"
#include "app/xray_page.h"
#include "app/xray_problems.h"
#include "app/xray_source.h"
#include "app/xray_totals.h"
#include "base/alloc.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void is_text(char *text, const char *expect) {
  assert_string_equal(text, expect);
  free(text);
}

static void test_numbers(void **state) {
  (void)state;
  is_text(xray_page_short(0), "0");
  is_text(xray_page_short(9999), "9999");
  is_text(xray_page_short(10000), "10.0k");
  is_text(xray_page_short(99949), "99.9k");
  is_text(xray_page_short(99951), "100k");
  is_text(xray_page_short(999499), "999k");
  is_text(xray_page_short(999500), "1.00M");
  is_text(xray_page_short(3670016), "3.67M");
  is_text(xray_page_short(2e18), "2.00E");
  is_text(xray_page_short(2e22), "20000E");
  is_text(xray_page_ratio(17301504, 1048576), "16.5");
  is_text(xray_page_ratio(786432, 655360), "1.20");
  is_text(xray_page_ratio(9.996, 1), "10.0");
  is_text(xray_page_ratio(1, 0), "");
  is_text(xray_page_exact(1048576), "1,048,576");
}

static void test_clip(void **state) {
  (void)state;
  struct xray_page p = {.width = 80};
  is_text(xray_page_clip(&p, "acc += a * b;", 13), "acc += a * b;");
  is_text(xray_page_clip(&p, "acc += a * b;", 12), "acc += a * ~");
  is_text(xray_page_clip(&p, "// 每行", 6), "// 每~");
  p.glyphs = true;
  is_text(xray_page_clip(&p, "acc += a * b;", 12), "acc += a * …");
}

/* Each kind of problem has a title and advice in both languages. */
static void test_kinds(void **state) {
  (void)state;
  for (int k = 0; k < XRAY_KINDS; k++)
    for (int lang = 0; lang < LANGS; lang++) {
      assert_non_null(xray_words_title((enum xray_kind)k, (enum lang)lang));
      assert_non_null(xray_words_advice((enum xray_kind)k, (enum lang)lang));
    }
  for (int w = 0; w < XRAY_WORDS; w++)
    for (int lang = 0; lang < LANGS; lang++) {
      char *text = xray_words((enum xray_word)w, (enum lang)lang, "1", "2", "3", "4");
      assert_true(*text);
      free(text);
    }
}

/* ---- pages */

static struct xray_result_line line(int number, const char *text, struct xray_counts counts) {
  return (struct xray_result_line){.file = alloc_str("a.cu"),
                                   .line = number,
                                   .text = alloc_str(text),
                                   .counted = true,
                                   .counts = counts};
}

/* A kernel of three lines with a load, an FMA and nothing. */
static void small(struct xray_result *r) {
  xray_result_init(r);
  r->finished = true;
  r->nlines = 3;
  r->lines = alloc_zero(3, sizeof *r->lines);
  r->lines[0] =
      line(7, "  float v = A[i]; //@ load",
           (struct xray_counts){.gld_requests = 8, .gld_sectors = 32, .gld_wavefronts = 8});
  r->lines[1] =
      line(8, "  v += s[i] * v;",
           (struct xray_counts){
               .lds_requests = 8, .lds_wavefronts = 256, .lds_conflicts = 248, .ffma = 256});
  r->lines[2] = line(12, "  return;", (struct xray_counts){0});
  r->counts = (struct xray_counts){.gld_requests = 8,
                                   .gld_sectors = 32,
                                   .gld_wavefronts = 8,
                                   .lds_requests = 8,
                                   .lds_wavefronts = 256,
                                   .lds_conflicts = 248,
                                   .ffma = 256};
  r->flop_executed = 512;
}

static void has(struct xray_page *p, const char *text) {
  if (!strstr(p->out.data, text))
    fail_msg("\"%s\" is not in:\n%s", text, p->out.data);
}

static void test_source(void **state) {
  (void)state;
  struct xray_result r;
  struct xray_page p = {.width = 60};
  small(&r);
  xray_source_put(&p, &r);
  has(&p, "     7  float v = A[i];           8 4.00\n");
  has(&p, " >   8  v += s[i] * v;                        8 32.0   248 100%\n");
  has(&p, "     :\n    12  return;\n");
  has(&p, "a.cu                    req sect    req wave  conf  FMA\n");
  str_free(&p.out);
  xray_result_done(&r);
  xray_source_put(&p, &r); /* without lines */
  has(&p, "-lineinfo");
  str_free(&p.out);
}

static void test_totals(void **state) {
  (void)state;
  struct xray_result r;
  struct xray_page p = {.width = 80};
  small(&r);
  r.head.flop = 512;
  xray_totals_table(&p, &r);
  has(&p, "global loads         8       32  4.00           8  1.00\n");
  has(&p, "shared loads         8                        256  32.0        248\n");
  has(&p, "512 executed, 512 needed; 256 FMAs");
  str_clear(&p.out);
  r.certificate = XRAY_PTX_LEVEL;
  r.mix.lds[XRAY_4] = 32;
  r.sass.lds[XRAY_16] = 8;
  xray_totals_table(&p, &r);
  xray_totals_foot(&p, &r, false);
  has(&p, "shared loads, PTX level");
  has(&p, "LDS in the code, of 4, 8 and 16 bytes: 32 0 0 here, 0 0 8 in the");
  str_clear(&p.out);
  memcpy(&r.mix, &r.sass, sizeof r.mix); /* shared loads agree, something else does not */
  r.mix.ffma = 10;
  r.sass.ffma = 24;
  r.counts.barriers = 1;
  r.counts.divergent_branches = 2;
  xray_totals_table(&p, &r);
  xray_totals_foot(&p, &r, false);
  has(&p, "certified   not exact: the machine code of this compile has another mix");
  has(&p, "FFMA in the code: 10 here, 24 in the machine code");
  has(&p, "control     1 barrier, one a warp; 2 divergent branches\n");
  assert_null(strstr(p.out.data, "PTX level"));
  assert_null(strstr(p.out.data, "LDS"));
  str_clear(&p.out);
  xray_totals_verify(&p, &r);
  has(&p, "not checked: what the kernel computes is not known");
  str_free(&p.out);
  xray_result_done(&r);
}

/* Counts too large for the width become short instead of wrapping. */
static void test_large_totals(void **state) {
  (void)state;
  struct xray_result r;
  struct xray_page p = {.width = 80};
  small(&r);
  r.counts.gld_requests = r.counts.gld_sectors = r.counts.lds_wavefronts = 1234567890123456;
  xray_totals_table(&p, &r);
  has(&p, "1.23P");
  for (char *at = p.out.data; *at;) {
    size_t n = strcspn(at, "\n");
    assert_true(n <= 80);
    at += n + (at[n] == '\n');
  }
  str_free(&p.out);
  xray_result_done(&r);
}

static void test_problem(void **state) {
  (void)state;
  struct xray_result r;
  struct xray_page p = {.width = 80};
  small(&r);
  xray_problems_put(&p, &r);
  has(&p, "No problem was found");
  str_clear(&p.out);
  r.nproblems = 1;
  r.problems = alloc_zero(1, sizeof *r.problems);
  r.problems[0] = (struct xray_problem){
      .kind = XRAY_RACE_SHARED,
      .error = true,
      .file = "a.cu",
      .line = 7,
      .detail = "Thread (0, 1, 0) writes shared memory at byte 128, which thread (31, 0, 0) reads "
                "at line 8 with no __syncthreads between them.",
      .times = 1792};
  xray_problems_put(&p, &r);
  has(&p, "1 problem\n\nx Race in shared memory  a.cu:7\n");
  has(&p, "x    7    float v = A[i];\n>    8    v += s[i] * v;\n");
  has(&p, "  A __syncthreads() between the two lines");
  has(&p, "met 1,792 times\n");
  assert_int_equal(xray_problems_errors(&r), 1);
  r.problems[0].error = false;
  assert_int_equal(xray_problems_errors(&r), 0);
  str_free(&p.out);
  xray_result_done(&r);
}

/* ---- doctor */

static void advises(const char *release, int driver, const char *word, const char * not ) {
  char *text = nvrtc_advice(release, release ? strlen(release) : 0, driver);
  if (!strstr(text, word) || (not &&strstr(text, not )))
    fail_msg("of %s: %s", release ? release : "nothing", text);
  free(text);
}

static void test_advice(void **state) {
  (void)state;
  advises("ID=debian\nVERSION_ID=\"12\"\n", 0, "apt install libnvrtc11.2 ", "nvrtc-cu12");
  advises("VERSION_ID=\"13\"\nID=debian\n", 0, "apt install libnvrtc12 ", "11.2");
  advises("ID=debian", 0, "apt install libnvrtc12 ", "11.2"); /* unstable has no version */
  advises("ID=ubuntu\nID_LIKE=debian\nVERSION_ID=\"24.04\"\n", 0, "multiverse", "non-free");
  advises("ID=ubuntu\nID_LIKE=debian\nVERSION_ID=\"22.04\"\n", 0, "pip install", "apt");
  advises("ID=manjaro\nID_LIKE=arch\n", 0, "pacman -S cuda", "apt");
  advises("ID=fedora\nVERSION_ID=42\n", 13, "pip install --user nvidia-cuda-nvrtc (", "apt");
  advises(NULL, 12, "pip install --user nvidia-cuda-nvrtc-cu12 (", "apt");
  advises("", 0, ".ptx", "apt");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers), cmocka_unit_test(test_clip),
      cmocka_unit_test(test_kinds),   cmocka_unit_test(test_source),
      cmocka_unit_test(test_totals),  cmocka_unit_test(test_large_totals),
      cmocka_unit_test(test_problem), cmocka_unit_test(test_advice),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
