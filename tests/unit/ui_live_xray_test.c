/* The live pane and the x-ray: what runs in it, what it shows of the counts, and what it asks. */
#include "live_bench.h"

#include "ui/live_plan.h"

/* A count as the run in work would give: `sectors` over 4 a request. */
static struct xray_result counted(struct bench *b, double requests, double sectors) {
  const struct live_run *run = &b->l->run[b->l->now];
  struct xray_result x;
  xray_result_init(&x);
  snprintf(x.head.kernel, sizeof x.head.kernel, "%s", run->kernel->id);
  x.head.M = run->size.M, x.head.N = run->size.N, x.head.K = run->size.K;
  x.head.verify = (struct result_verify){.ok = true, .max_error = 1e-7, .bound = 1e-5};
  x.verified = x.finished = true;
  snprintf(x.compiler, sizeof x.compiler, "NVRTC 13.0");
  snprintf(x.arch, sizeof x.arch, "compute_90");
  x.blocks = x.blocks_executed = 16;
  x.counts.gld_requests = requests;
  x.counts.gld_sectors = sectors;
  x.counts.gld_wavefronts = requests;
  x.counts.ffma = 262144;
  return x;
}

static void give_counts(struct bench *b, struct xray_result *x) {
  struct client_event ev = {.kind = CLIENT_XRAY, .id = b->l->request, .xray = x};
  assert_true(live_event(b->l, &ev));
  xray_result_done(x);
}

static void run_e6(struct bench *b) {
  enter(b, "e6", false);
  live_command(b->l, CMD_RUN);
  assert_int_equal(b->l->phase, LIVE_RUNNING);
  struct xray_result x = counted(b, 4294967296.0, 10737418240.0);
  x.sampled = true;
  x.blocks = 16384, x.blocks_executed = 4;
  give_counts(b, &x);
  assert_int_equal(b->l->phase, LIVE_RUNNING);
  x = counted(b, 134217728, 536870912);
  x.counts.lds_requests = 100, x.counts.lds_wavefronts = 130, x.counts.lds_conflicts = 30;
  x.counts.barriers = 8;
  x.registers = 31;
  x.occupancy = 0.5;
  give_counts(b, &x);
  assert_int_equal(b->l->phase, LIVE_DONE);
}

/* ---- where it runs */

static void test_places(void **state) {
  (void)state;
  struct bench b = begin();
  const struct kernel *cuda = catalog_find(b.rungs, "cuda/naive");
  const struct kernel *cpu = catalog_find(b.rungs, "cpu/ikj");
  enter(&b, "e6", false);
  assert_int_equal(live_plan_place(b.l), EXP_CPU); /* nobody knows yet */
  assert_false(live_plan_counts(b.l, cuda));
  hello(&b, 1);
  assert_int_equal(live_plan_place(b.l), EXP_XRAY);
  assert_true(live_plan_counts(b.l, cuda));
  assert_false(live_plan_counts(b.l, cpu));
  assert_string_equal(b.l->run[1].kernel->id, "cuda/tiled");
  assert_shows(&b, "The x-ray runs the CUDA kernels: counts, no times.");
  hello(&b, 2);                                    /* a GPU */
  assert_int_equal(live_plan_place(b.l), EXP_CPU); /* the device in use stays */
  assert_false(live_plan_counts(b.l, cuda));
  end(&b);
}

static void press(struct bench *b, int key, int times) {
  for (int i = 0; i < times; i++)
    live_key(b->l, key);
}

static void test_choice(void **state) {
  (void)state;
  struct bench b = begin();
  hello(&b, 2);
  enter(&b, "e6", false);
  assert_int_equal(live_plan_place(b.l), EXP_CUDA);
  live_command(b.l, CMD_SETTINGS);
  press(&b, KEYS_UP, 1);
  press(&b, KEYS_RIGHT, 1);
  assert_shows(&b, "x-ray  counts, no times");
  live_key(b.l, KEYS_ENTER);
  assert_int_equal(live_plan_place(b.l), EXP_XRAY);
  assert_shows(&b, "How many times fewer sectors?");
  assert_string_equal(live_device(b.l)->id, "cuda:0"); /* roofs and prose stay with the GPU */
  live_command(b.l, CMD_SETTINGS);
  press(&b, KEYS_UP, 1);
  press(&b, KEYS_RIGHT, 1);
  live_key(b.l, KEYS_ENTER);
  assert_int_equal(live_plan_place(b.l), EXP_CPU);
  assert_shows(&b, "How many times faster?");
  end(&b);
}

/* What was chosen for its kernel alone decides nothing for the next experiment. */
static void test_own_kernel(void **state) {
  (void)state;
  struct bench b = begin();
  hello(&b, 1);
  enter(&b, "e6", false);
  live_command(b.l, CMD_SETTINGS);
  for (int i = 0; i < 40 && strcmp(catalog_at(b.rungs, b.l->form.kernel)->id, "cpu/ikj") != 0; i++)
    live_key(b.l, KEYS_RIGHT);
  live_key(b.l, KEYS_ENTER);
  assert_string_equal(b.l->run[0].kernel->id, "cpu/ikj");
  assert_false(live_plan_counts(b.l, b.l->run[0].kernel));
  enter(&b, "e6", false);
  assert_int_equal(live_plan_place(b.l), EXP_XRAY);
  end(&b);
}

/* ---- a kernel that it does not run */

static const char tma_cu[] =
    "/* mmtutor {\"schema\":1,\"id\":\"cuda/tma\",\"op\":\"gemm\",\"dtype\":{\"A\":\"f32\"},\n"
    "\"maps\":{\"a\":{\"of\":\"A\",\"box\":[8,8],\"swizzle\":0}},\n"
    "\"launches\":[{\"entry\":\"t\",\"grid\":[1,1,1],\"block\":[32,1,1],\"args\":[\"a\"]}]} */\n"
    "extern \"C\" __global__ void t(int a) {}\n";

static bool on_tma(const struct bench *b) {
  return strcmp(catalog_at(b->rungs, b->l->form.kernel)->id, "cuda/tma") == 0;
}

static void test_tensor_maps(void **state) {
  (void)state;
  struct err err;
  char *path = alloc_printf("%s/src/kernels/cuda/tma.cu", dir); /* of the data directory */
  assert_true(paths_write(path, tma_cu, strlen(tma_cu), &err));
  struct bench b = begin();
  hello(&b, 2);
  b.l->choice = LIVE_XRAY;
  enter(&b, "e6", false);
  live_command(b.l, CMD_SETTINGS);
  assert_int_equal(b.l->form.device, 2); /* the x-ray is behind the devices */
  for (int i = 0; i < 40 && !on_tma(&b); i++)
    live_key(b.l, KEYS_RIGHT);
  assert_true(on_tma(&b));
  assert_int_equal(strncmp(b.l->device[b.l->form.device].id, "cuda", 4), 0);
  live_key(b.l, KEYS_UP);
  for (int i = 0; i < 3 && b.l->form.device != 2; i++)
    live_key(b.l, KEYS_RIGHT);
  assert_int_equal(b.l->form.device, 2);
  assert_false(on_tma(&b));
  end(&b);
  b = begin();
  hello(&b, 1); /* no GPU */
  const struct kernel *k = catalog_find(b.rungs, "cuda/tma");
  struct kernel_size size = kernel_size_default(k, 64, 64, 64);
  enter(&b, "e6", false);
  live_plan_custom(b.l, k, &size);
  live_command(b.l, CMD_RUN);
  assert_int_equal(b.l->phase, LIVE_FAILED);
  assert_shows(&b, "copies through tensor maps");
  end(&b);
  assert_int_equal(unlink(path), 0);
  free(path);
}

/* ---- what it asks */

static void test_prediction_of_its_own(void **state) {
  (void)state;
  struct bench b = begin();
  double v;
  hello(&b, 1);
  enter(&b, "e6", true);
  assert_shows(&b, "How many times fewer sectors?");
  live_command(b.l, CMD_RUN);
  assert_false(live_running(b.l));
  type(&b, "32");
  live_key(b.l, KEYS_ENTER);
  assert_true(progress_prediction(b.kept, "probe", "e6@xray", &v) && v == 32);
  assert_false(progress_prediction(b.kept, "probe", "e6", &v)); /* that one asks for a time */
  hello(&b, 2);
  b.l->at = 1;
  enter(&b, "e6", true);
  assert_shows(&b, "How many times faster?");
  assert_hides(&b, "32");
  live_command(b.l, CMD_RUN);
  assert_false(live_running(b.l));
  end(&b);
}

/* ---- what it shows */

static void test_counts(void **state) {
  (void)state;
  struct bench b = begin();
  double v;
  hello(&b, 1);
  run_e6(&b);
  assert_true(b.l->quantity == 20);
  assert_null(live_note(b.l)); /* counts hide nothing */
  assert_shows(&b, "counted   20");
  assert_shows(&b, "✓ 19.9 – 20.1");
  assert_shows(&b, "10,737,418,240");
  assert_shows(&b, "536,870,912");
  assert_shows(&b, "2.5");
  assert_shows(&b, "344 GB"); /* bytes: 32 a sector */
  assert_shows(&b, "bank conflicts");
  assert_shows(&b, "50 %"); /* occupancy */
  assert_shows(&b, "Not compared with machine code (NVRTC 13.0, compute_90).");
  assert_hides(&b, " ms");
  assert_hides(&b, "nan");
  assert_true(live_lookup(b.l, "run.e6.a.gld_sectors", &v) && v == 10737418240.0);
  assert_true(live_lookup(b.l, "run.e6.b.registers", &v) && v == 31);
  assert_false(live_lookup(b.l, "run.e6.a.registers", &v)); /* not known, not 0 */
  assert_false(live_lookup(b.l, "run.e6.a.ms", &v));
  end(&b);
}

static void run_certified(struct bench *b, int lds) {
  enter(b, "e6", false);
  live_command(b->l, CMD_RUN);
  for (int i = 0; i < 2; i++) {
    struct xray_result x = counted(b, 4294967296.0, 10737418240.0);
    x.certificate = XRAY_PTX_LEVEL;
    x.mix = (struct xray_mix){.lds = {8}, .ffma = 8};
    x.sass = (struct xray_mix){.lds = {lds}, .ffma = 16};
    give_counts(b, &x);
  }
}

static void test_certificate(void **state) {
  (void)state;
  struct bench b = begin();
  hello(&b, 1);
  run_certified(&b, 8);
  assert_shows(&b, "Not exact: the machine code has another mix");
  assert_hides(&b, "Shared loads are");
  run_certified(&b, 4);
  assert_shows(&b, "Shared loads are the PTX's");
  end(&b);
}

static void test_sampled_is_said(void **state) {
  (void)state;
  struct bench b = begin();
  hello(&b, 1);
  enter(&b, "e6", false);
  live_command(b.l, CMD_RUN);
  struct xray_result x = counted(&b, 8, 32);
  x.sampled = true;
  x.blocks = 16384, x.blocks_executed = 4;
  x.head.verify.ok = false;
  snprintf(x.head.verify.note, sizeof x.head.verify.note, "C[3,17] is NaN");
  x.problems = alloc_zero(1, sizeof *x.problems);
  x.nproblems = 1;
  x.problems[0].error = true;
  x.problems[0].line = 12;
  snprintf(x.problems[0].detail, sizeof x.problems[0].detail, "It reads what nobody wrote.");
  give_counts(&b, &x);
  assert_int_equal(b.l->phase, LIVE_DONE); /* the second is not run behind a wrong one */
  assert_shows(&b, "Counts, not milliseconds. 4 of 16,384 blocks run; the rest by their class.");
  assert_shows(&b, "C[3,17] is NaN");
  assert_shows(&b, "✗ line 12: It reads what nobody wrote.");
  assert_true(isnan(b.l->quantity));
  end(&b);
}

/* Where nobody knows what the kernel computes, its counts are still counts. */
static void test_not_verified(void **state) {
  (void)state;
  struct bench b = begin();
  hello(&b, 1);
  enter(&b, "e6", false);
  live_command(b.l, CMD_RUN);
  for (int i = 0; i < 2; i++) {
    struct xray_result x = counted(&b, 8, i ? 2 : 40);
    x.verified = false;
    x.head.verify = (struct result_verify){0};
    give_counts(&b, &x);
  }
  assert_int_equal(b.l->phase, LIVE_DONE);
  assert_true(b.l->quantity == 20);
  assert_hides(&b, "error");
  live_plan_custom(b.l, catalog_find(b.rungs, "cuda/naive"), &b.l->run[0].size);
  live_command(b.l, CMD_RUN);
  live_command(b.l, CMD_ENTER);
  struct xray_result x = counted(&b, 8, 40);
  x.verified = false;
  x.head.verify = (struct result_verify){0};
  give_counts(&b, &x);
  assert_shows(&b, "The operation is not known, so the result is not verified.");
  end(&b);
}

static void test_sweep(void **state) {
  (void)state;
  struct bench b = begin();
  hello(&b, 1);
  enter(&b, "e7", false);
  live_command(b.l, CMD_RUN);
  for (int t = 8; t <= 32; t *= 2) { /* 2 ffma / 32 sectors = T / 4 */
    struct xray_result x = counted(&b, 262144.0 / t, 2.0 * 262144 / 8 / t);
    give_counts(&b, &x);
  }
  assert_true(b.l->quantity == 8);
  assert_shows(&b, "✓ 8 – 8 FLOP/B");
  assert_shows(&b, "2.00 FLOP/B"); /* the first point has its own */
  assert_shows(&b, "4.00 FLOP/B");
  assert_shows(&b, "The x-ray runs the CUDA kernels: counts, no times.");
  live_command(b.l, CMD_UP);
  assert_shows(&b, "▸✓ cuda/tiled  T 16");
  assert_shows(&b, "Counts, not milliseconds.");
  assert_hides(&b, "The x-ray runs");
  end(&b);
}

/* An experiment that asks for a time, run in the x-ray by choice. */
static void test_time_is_not_made_up(void **state) {
  (void)state;
  struct bench b = begin();
  hello(&b, 2);
  b.l->choice = LIVE_XRAY;
  enter(&b, "e1", false);
  live_command(b.l, CMD_RUN);
  struct xray_result x = counted(&b, 8, 32);
  give_counts(&b, &x);
  x = counted(&b, 8, 32);
  give_counts(&b, &x);
  assert_true(isnan(b.l->quantity));
  assert_shows(&b, "This experiment asks for a time. The x-ray counts; it has none.");
  end(&b);
}

static void test_cancel_and_faults(void **state) {
  (void)state;
  struct bench b = begin();
  hello(&b, 1);
  enter(&b, "e6", false);
  live_command(b.l, CMD_RUN);
  assert_shows(&b, "cuda/naive  preparing");
  struct client_event ev = {.kind = CLIENT_COMPILE, .id = b.l->request};
  ev.built = (struct device_built){12, true, 40, 0, -1, NULL, NAN};
  assert_true(live_event(b.l, &ev));
  assert_shows(&b, "running in the x-ray");
  live_command(b.l, CMD_CANCEL);
  assert_shows(&b, "cancelling");
  event(&b, CLIENT_CANCELLED);
  assert_shows(&b, "r runs it");
  live_command(b.l, CMD_RUN);
  int id = b.l->request;
  enter(&b, "e7", false); /* what still comes of it is not the next one's */
  struct xray_result late = counted(&b, 8, 32);
  ev = (struct client_event){.kind = CLIENT_XRAY, .id = id, .xray = &late};
  assert_true(live_event(b.l, &ev));
  xray_result_done(&late);
  assert_false(live_running(b.l));
  assert_false(b.l->run[0].done);
  end(&b);
}

/* Each figure can be asked about, with the values it is made of and where it comes from. */
static void test_figures_can_be_asked(void **state) {
  (void)state;
  struct bench b = begin();
  hello(&b, 1);
  run_e6(&b);
  canvas *cv = canvas_new(90, 60);
  live_draw(b.l, cv, (struct rect){3, 2, 80, 56}, LANG_EN);
  const struct ask *each = NULL, *sampled = NULL, *answer = NULL;
  for (int i = 0; i < canvas_asks(cv); i++) {
    const struct ask *a = canvas_ask_at(cv, i);
    if (strcmp(a->value, "2.5") == 0)
      each = a;
    if (strcmp(a->value, "20") == 0)
      answer = a;
    if (strcmp(a->value, "10,737,418,240") == 0)
      sampled = a;
    assert_true(a->at.x >= 3 && a->at.x + a->at.w <= 83 && a->at.y >= 2 && a->at.y < 58);
    assert_true(a->label[0] && a->source[0]);
  }
  assert_non_null(each);
  assert_non_null(sampled);
  assert_non_null(answer);
  assert_string_equal(answer->formula, "a.gld_sectors/b.gld_sectors");
  assert_string_equal(answer->filled, "10,737,418,240/536,870,912");
  assert_non_null(strstr(answer->source, "x-ray"));
  assert_string_equal(each->filled, "10,737,418,240 / 4,294,967,296");
  assert_non_null(strstr(each->formula, "sectors / load requests"));
  assert_non_null(strstr(sampled->source, "counted by the x-ray from PTX; NVRTC 13.0, compute_90"));
  assert_non_null(strstr(sampled->source, "4 of 16,384 blocks"));
  canvas_free(cv);
  end(&b);
}

/* At every size and in both languages nothing is drawn outside, and no row is broken. */
static void test_every_size(void **state) {
  (void)state;
  struct bench b = begin();
  struct err err;
  hello(&b, 1);
  run_e6(&b);
  for (int w = 1; w <= 160; w += w < 60 ? 3 : 17)
    for (int h = 1; h <= 60; h += h < 12 ? 1 : 9)
      for (int lang = 0; lang < LANGS; lang++) {
        canvas *cv = canvas_new(w + 4, h + 2);
        canvas_set_ascii(cv, w % 2);
        canvas_fill(cv, (struct rect){0, 0, w + 4, h + 2}, ROLE_TEXT, "@");
        live_draw(b.l, cv, (struct rect){2, 1, w, h}, (enum lang)lang);
        if (!canvas_check(cv, &err))
          fail_msg("%dx%d: %s", w, h, err.text);
        for (int y = 0; y < h + 2; y++)
          for (int x = 0; x < w + 4; x++)
            if ((x < 2 || x >= w + 2 || y < 1 || y >= h + 1) &&
                strcmp(canvas_at(cv, x, y)->glyph, "@") != 0)
              fail_msg("%dx%d: drawn outside at %d,%d", w, h, x, y);
        canvas_free(cv);
      }
  end(&b);
}

/* Results from elsewhere are the runs of the experiment, or runs of their own. */
static void test_show(void **state) {
  (void)state;
  struct bench b = begin();
  enter(&b, "e6", true);
  b.l->choice = LIVE_XRAY;
  enter(&b, "e6", true);
  struct xray_result x[2] = {counted(&b, 8, 40), counted(&b, 1, 2)};
  snprintf(x[1].head.kernel, sizeof x[1].head.kernel, "cuda/tiled");
  x[1].head.M = x[1].head.N = x[1].head.K = 64;
  live_show_xray(b.l, &x[0]);
  live_show_xray(b.l, &x[1]);
  assert_true(b.l->quantity == 20);
  assert_shows(&b, "counted   20");
  x[1].head.M = 63;
  live_show_xray(b.l, &x[1]);
  assert_int_equal(b.l->nruns, 1);
  assert_int_equal(b.l->run[0].size.M, 63);
  xray_result_done(&x[0]);
  xray_result_done(&x[1]);
  end(&b);
}

/* The names that a lesson may use are those that a result has. */
static void test_names(void **state) {
  (void)state;
  struct xray_result x;
  xray_result_init(&x);
  x.flop_executed = x.occupancy = 1;
  x.registers = 1;
  struct fields_counts c = fields_counts_of(&x);
  int n = 0;
  double v;
  for (; lesson_count_name(n); n++)
    if (!fields_count(&c, lesson_count_name(n), &v))
      fail_msg("%s is no count", lesson_count_name(n));
  for (int i = 0; xray_result_count_name(i); i++)
    if (strcmp(lesson_count_name(i), xray_result_count_name(i)) != 0)
      fail_msg("%s is not known to lessons", xray_result_count_name(i));
  assert_true(n > 19);
  xray_result_done(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_places),
      cmocka_unit_test(test_choice),
      cmocka_unit_test(test_tensor_maps),
      cmocka_unit_test(test_own_kernel),
      cmocka_unit_test(test_prediction_of_its_own),
      cmocka_unit_test(test_counts),
      cmocka_unit_test(test_certificate),
      cmocka_unit_test(test_sampled_is_said),
      cmocka_unit_test(test_not_verified),
      cmocka_unit_test(test_sweep),
      cmocka_unit_test(test_time_is_not_made_up),
      cmocka_unit_test(test_cancel_and_faults),
      cmocka_unit_test(test_figures_can_be_asked),
      cmocka_unit_test(test_every_size),
      cmocka_unit_test(test_show),
      cmocka_unit_test(test_names),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
