/* The live pane: its settings, and its picture at every size. */
#include "live_bench.h"

/* ---- settings */

static void set_size(struct bench *b, const char *text) {
  for (int i = 0; i < 20; i++)
    live_key(b->l, KEYS_BACKSPACE);
  type(b, text);
}

static void test_sizes_of_the_form(void **state) {
  (void)state;
  static const char *const wrong[] = {"0",   "-1", "x",  "1e30", "3000000000", "1.5",
                                      "1/0", "",   "2^", "nan",  "inf"};
  struct bench b = begin();
  hello(&b, 1);
  enter(&b, "e1", false);
  live_command(b.l, CMD_SETTINGS);
  assert_true(live_field(b.l));
  live_key(b.l, KEYS_DOWN); /* from the kernel to M */
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    set_size(&b, wrong[i]);
    assert_true(live_key(b.l, KEYS_ENTER));
    assert_true(live_field(b.l));
    if (!b.l->form.error.text[0])
      fail_msg("%s was taken", wrong[i]);
    assert_int_equal(b.l->nruns, 2);
    assert_int_equal(b.l->run[1].size.M, 64);
    assert_string_equal(b.l->form.size[0].text, wrong[i]);
  }
  set_size(&b, "2^12");
  assert_true(live_key(b.l, KEYS_ENTER));
  assert_false(live_field(b.l));
  assert_int_equal(b.l->nruns, 1);
  assert_int_equal(b.l->run[0].size.M, 4096);
  assert_int_equal(b.l->run[0].size.N, 64);
  assert_shows(&b, "4096 × 64 × 64");
  char title[64];
  live_title(b.l, LANG_EN, title, sizeof title);
  assert_string_equal(title, "cpu/ikj  4096×64×64");
  live_command(b.l, CMD_RUN);
  finish(&b, 1);
  assert_true(isnan(b.l->quantity)); /* it is not the experiment */
  enter(&b, "e1", false);
  assert_int_equal(b.l->nruns, 2);
  end(&b);
}

static void choose(struct bench *b, int row, const char *want, int steps) {
  b->l->form.at = row;
  for (int i = 0; i < steps; i++) {
    char *all = screen(b, 100, 40, LANG_EN);
    bool found = strstr(all, want) != NULL;
    free(all);
    if (found)
      return;
    live_key(b->l, KEYS_RIGHT);
  }
  fail_msg("%s is not among the choices", want);
}

static void test_kernel_of_the_form(void **state) {
  (void)state;
  struct bench b = begin();
  hello(&b, 2);
  enter(&b, "e1", false);
  live_command(b.l, CMD_SETTINGS);
  choose(&b, 5, "◂ 32 ▸", 4); /* T */
  choose(&b, 1, "◂ cpu/tiled ▸", 40);
  assert_shows(&b, "cpu  Test processor"); /* the device follows */
  choose(&b, 0, "cuda:0", 3);
  assert_shows(&b, "◂ cuda/tiled ▸"); /* and the kernel */
  b.l->form.at = 2;
  set_size(&b, "2^20*T");
  live_key(b.l, KEYS_ENTER);
  assert_true(live_field(b.l)); /* no variables here */
  set_size(&b, "2^24");
  live_key(b.l, KEYS_ENTER);
  assert_shows(&b, "2147483647"); /* cuda/tiled requires it */
  assert_int_equal(b.l->nruns, 2);
  set_size(&b, "512");
  live_key(b.l, KEYS_ENTER);
  assert_false(live_field(b.l));
  assert_string_equal(b.l->run[0].kernel->id, "cuda/tiled");
  live_command(b.l, CMD_SETTINGS);
  live_key(b.l, KEYS_ESC);
  assert_false(live_field(b.l));
  assert_int_equal(b.l->nruns, 1);
  hello(&b, 1); /* the GPU has gone */
  live_command(b.l, CMD_SETTINGS);
  choose(&b, 1, "◂ cuda/naive ▸", 40);
  assert_shows(&b, "x-ray"); /* which runs it all the same */
  live_key(b.l, KEYS_ENTER);
  assert_false(live_field(b.l));
  assert_string_equal(b.l->run[0].kernel->id, "cuda/naive");
  assert_shows(&b, "The x-ray runs the CUDA kernels: counts, no times.");
  end(&b);
}

/* ---- pictures */

/* Every figure on the pane can be asked about, and no ask is off it. */
static void test_figures_can_be_asked(void **state) {
  (void)state;
  struct bench b = begin();
  hello(&b, 1);
  enter(&b, "e1", false);
  live_command(b.l, CMD_RUN);
  finish(&b, 1);
  struct result r = made(&b, 0.5);
  snprintf(r.reference.name, sizeof r.reference.name, "OpenBLAS");
  r.reference.ratio = 0.25, r.reference.gflops = 4;
  snprintf(r.reference.version, sizeof r.reference.version, "0.3.21");
  snprintf(r.roof.name, sizeof r.roof.name, "FP32 FMA");
  snprintf(r.roof.unit, sizeof r.roof.unit, "FLOP/s");
  r.roof.value = 1e11, r.roof.share = 0.0105;
  give(&b, &r);
  canvas *cv = canvas_new(90, 40);
  live_draw(b.l, cv, (struct rect){3, 2, 50, 36}, LANG_EN);
  static const char *const want[] = {"524 MFLOP/s", "1.05 GFLOP/s", "2",      "0.5 ms",
                                     "25 %",        "1.05 %",       "max err"};
  for (size_t w = 0; w < sizeof want / sizeof *want; w++) {
    bool found = false;
    for (int i = 0; i < canvas_asks(cv); i++)
      found = found || strncmp(canvas_ask_at(cv, i)->value, want[w], strlen(want[w])) == 0;
    if (!found)
      fail_msg("%s cannot be asked about", want[w]);
  }
  int after_bar = -1; /* bars of one result are of one length */
  for (int i = 0; i < canvas_asks(cv); i++) {
    const struct ask *a = canvas_ask_at(cv, i);
    size_t n = strlen(a->value);
    if (n < 2 || strcmp(a->value + n - 2, " %") != 0)
      continue;
    assert_true(after_bar < 0 || after_bar == a->at.x);
    after_bar = a->at.x;
  }
  assert_true(after_bar > 3);
  for (int i = 0; i < canvas_asks(cv); i++) {
    struct rect at = canvas_ask_at(cv, i)->at;
    assert_true(at.x >= 3 && at.x + at.w <= 53 && at.y >= 2 && at.y < 38);
    assert_true(canvas_ask_at(cv, i)->label[0] != '\0');
  }
  canvas_free(cv);
  end(&b);
}

/* Drawn at every size in a canvas of marks, nothing outside the rectangle changes. */
static void check_sizes(struct bench *b, bool ascii) {
  struct err err;
  for (int w = 1; w <= 160; w += w < 40 ? 3 : 17)
    for (int h = 1; h <= 60; h += h < 12 ? 1 : 12)
      for (int lang = 0; lang < LANGS; lang++) {
        canvas *cv = canvas_new(w + 4, h + 2);
        canvas_set_ascii(cv, ascii);
        canvas_fill(cv, (struct rect){0, 0, w + 4, h + 2}, ROLE_TEXT, "@");
        live_draw(b->l, cv, (struct rect){2, 1, w, h}, (enum lang)lang);
        if (!canvas_check(cv, &err))
          fail_msg("%dx%d: %s", w, h, err.text);
        for (int y = 0; y < h + 2; y++)
          for (int x = 0; x < w + 4; x++)
            if ((x < 2 || x >= w + 2 || y < 1 || y >= h + 1) &&
                strcmp(canvas_at(cv, x, y)->glyph, "@") != 0)
              fail_msg("%dx%d: drawn outside at %d,%d: %s", w, h, x, y, canvas_at(cv, x, y)->glyph);
        canvas_free(cv);
      }
}

static void test_every_size(void **state) {
  (void)state;
  struct bench b = begin();
  check_sizes(&b, false);
  hello(&b, 1);
  enter(&b, "e1", true);
  live_focus_prediction(b.l);
  check_sizes(&b, true);
  live_key(b.l, KEYS_ENTER);
  live_command(b.l, CMD_RUN);
  samples(&b, (const double[]){1, 2, 3}, 3);
  check_sizes(&b, false);
  finish(&b, 1);
  struct result r = made(&b, 0.5);
  r.p90_ms *= 2;
  snprintf(r.reference.name, sizeof r.reference.name, "OpenBLAS");
  snprintf(r.reference.version, sizeof r.reference.version, "0.3.21 SkylakeX, 1 thread");
  r.reference.ratio = 0.25, r.reference.gflops = 4;
  result_warn(&r, "A warning that is long enough to be wrapped at most of the sizes tried here.");
  give(&b, &r);
  check_sizes(&b, false);
  check_sizes(&b, true);
  live_command(b.l, CMD_SETTINGS);
  check_sizes(&b, true);
  enter(&b, "e2", false);
  live_command(b.l, CMD_RUN);
  finish(&b, 1);
  finish(&b, 1);
  check_sizes(&b, false);
  event(&b, CLIENT_GONE);
  enter(&b, "e4", false);
  live_command(b.l, CMD_RUN);
  check_sizes(&b, false);
  end(&b);
}

/* A title longer than its place is cut, not written over. */
static void test_titles_are_cut(void **state) {
  (void)state;
  struct bench b = begin();
  char out[8] = "xxxxxxx";
  live_title(b.l, LANG_EN, out, sizeof out);
  assert_string_equal(out, "");
  hello(&b, 1);
  enter(&b, "e1", false);
  live_title(b.l, LANG_EN, out, sizeof out);
  assert_string_equal(out, "cpu/ijk");
  live_command(b.l, CMD_RUN);
  live_headline(b.l, out, 5);
  assert_int_equal(strlen(out), 4);
  end(&b);
}

static void test_show(void **state) {
  (void)state;
  struct bench b = begin();
  hello(&b, 1);
  enter(&b, "e1", false);
  struct result r = made(&b, 1);
  live_show(b.l, &r);
  assert_shows(&b, "524 MFLOP/s");
  live_show(b.l, &r);
  snprintf(r.kernel, sizeof r.kernel, "cpu/unknown");
  live_show(b.l, &r);
  assert_shows(&b, "524 MFLOP/s");
  result_done(&r);
  end(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sizes_of_the_form),    cmocka_unit_test(test_kernel_of_the_form),
      cmocka_unit_test(test_figures_can_be_asked), cmocka_unit_test(test_every_size),
      cmocka_unit_test(test_titles_are_cut),       cmocka_unit_test(test_show),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
