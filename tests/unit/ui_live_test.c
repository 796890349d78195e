/* The live pane through its interface: predictions, runs, faults, machines. */
#include "live_bench.h"

/* ---- prediction */

static void test_prediction_comes_first(void **state) {
  (void)state;
  struct bench b = begin();
  double kept;
  hello(&b, 1);
  enter(&b, "e1", true);
  live_command(b.l, CMD_RUN);
  assert_false(live_running(b.l));
  assert_true(live_field(b.l));
  assert_true(live_key(b.l, KEYS_ESC));
  assert_false(live_field(b.l));
  live_focus_prediction(b.l);
  type(&b, "3 GB/s");
  assert_true(live_key(b.l, KEYS_ENTER));
  assert_shows(&b, "This asks for a plain number.");
  assert_true(live_field(b.l));
  for (int i = 0; i < 6; i++)
    live_key(b.l, KEYS_BACKSPACE);
  type(&b, "what");
  live_key(b.l, KEYS_ENTER);
  assert_shows(&b, "✗ ");
  assert_false(progress_prediction(b.kept, "probe", "e1", &kept));
  for (int i = 0; i < 4; i++)
    live_key(b.l, KEYS_BACKSPACE);
  type(&b, "5/2");
  live_key(b.l, KEYS_ENTER);
  assert_false(live_field(b.l));
  assert_hides(&b, "✗ ");
  assert_shows(&b, "2.5");
  assert_true(progress_prediction(b.kept, "probe", "e1", &kept));
  assert_true(kept == 2.5);
  live_command(b.l, CMD_RUN);
  assert_true(live_running(b.l));
  finish(&b, 4);
  finish(&b, 1);
  assert_shows(&b, "×1.6 off your guess");
  end(&b);
}

static void test_prediction_units_and_no_idea(void **state) {
  (void)state;
  struct bench b = begin();
  double kept;
  hello(&b, 1);
  enter(&b, "e2", true);
  live_focus_prediction(b.l);
  type(&b, "0.5 TFLOP/s");
  live_key(b.l, KEYS_ENTER);
  assert_true(progress_prediction(b.kept, "probe", "e2", &kept));
  assert_true(fabs(kept - 500) < 1e-9);
  assert_shows(&b, "500 GFLOP/s");
  enter(&b, "e3", true);
  live_focus_prediction(b.l);
  type(&b, "7 ms");
  live_key(b.l, KEYS_ENTER);
  assert_shows(&b, "This asks for GB/s.");
  enter(&b, "e3", true);
  live_focus_prediction(b.l);
  live_key(b.l, KEYS_ENTER);
  assert_true(progress_prediction(b.kept, "probe", "e3", &kept));
  assert_true(isnan(kept));
  assert_shows(&b, "no idea");
  enter(&b, "e2", false); /* once a step: it is still there */
  assert_shows(&b, "500 GFLOP/s");
  live_focus_prediction(b.l);
  assert_false(live_field(b.l));
  end(&b);
}

/* The settings are no way round the prediction. */
static void test_prediction_holds_for_own_runs(void **state) {
  (void)state;
  struct bench b = begin();
  hello(&b, 1);
  enter(&b, "e1", true);
  live_command(b.l, CMD_SETTINGS);
  b.l->form.at = 2;
  type(&b, "0");
  live_key(b.l, KEYS_ENTER);
  assert_false(live_field(b.l));
  live_command(b.l, CMD_RUN);
  assert_false(live_running(b.l));
  assert_true(live_field(b.l));
  assert_shows(&b, "How many times faster?");
  live_key(b.l, KEYS_ENTER);
  live_command(b.l, CMD_RUN);
  assert_true(live_running(b.l));
  end(&b);
}

/* ---- runs */

static void test_phases_of_a_run(void **state) {
  (void)state;
  struct bench b = begin();
  char line[64];
  hello(&b, 1);
  enter(&b, "e1", false);
  assert_shows(&b, "cpu/ijk");
  assert_shows(&b, "r runs it");
  live_command(b.l, CMD_RUN);
  assert_shows(&b, "cpu/ijk  preparing");
  struct client_event ev = {.kind = CLIENT_COMPILE, .id = b.l->request};
  ev.built = (struct device_built){12, true, 31, 8192, -1, NULL, NAN};
  assert_true(live_event(b.l, &ev));
  assert_shows(&b, "12 ms cached  31 registers  8 KiB shared");
  ev = (struct client_event){.kind = CLIENT_VERIFY, .id = b.l->request};
  ev.verify = (struct result_verify){.ok = true, .max_error = 2.6e-7, .bound = 3.1e-5};
  assert_true(live_event(b.l, &ev));
  assert_shows(&b, "warming up");
  assert_shows(&b, "max error 2.6e-07");
  live_headline(b.l, line, sizeof line);
  assert_string_equal(line, "● cpu/ijk");
  samples(&b, (const double[]){2, 1}, 2);
  assert_shows(&b, "1.5 ms  n 2");
  assert_shows(&b, "350 MFLOP/s");
  live_headline(b.l, line, sizeof line);
  assert_string_equal(line, "● 350 MFLOP/s  n 2");
  samples(&b, (const double[]){1}, 1);
  live_headline(b.l, line, sizeof line);
  assert_string_equal(line, "● 524 MFLOP/s  n 3");
  ev = (struct client_event){.kind = CLIENT_PRINT, .id = b.l->request, .text = "from the driver"};
  assert_true(live_event(b.l, &ev));
  assert_shows(&b, "from the driver");
  finish(&b, 1);
  assert_shows(&b, "a  cpu/ijk");
  assert_shows(&b, "cpu/ikj  preparing");
  finish(&b, 0.5);
  live_headline(b.l, line, sizeof line);
  assert_string_equal(line, "");
  end(&b);
}

static void test_results(void **state) {
  (void)state;
  struct bench b = begin();
  double v;
  hello(&b, 1);
  run_e1(&b, 1, 0.5);
  assert_true(b.l->quantity == 2);
  assert_shows(&b, "✓ 1 – 80");
  assert_null(live_note(b.l));
  assert_shows(&b, "0.5 ms");
  assert_shows(&b, "2026-01-02  kernel\xc2\xa0" "01234567"); /* where it comes from */
  assert_shows(&b, "Test processor");
  assert_true(live_lookup(b.l, "run.e1.a.ms", &v) && v == 1);
  assert_true(live_lookup(b.l, "run.e1.b.gflops", &v) && fabs(v - 1.048576) < 1e-9);
  assert_false(live_lookup(b.l, "run.e1.b.share", &v));
  assert_false(live_lookup(b.l, "run.e1.c.ms", &v));
  assert_false(live_lookup(b.l, "run.e1", &v));
  assert_false(live_lookup(b.l, "run.e1.a.colour", &v));
  run_e1(&b, 1, 2);
  assert_string_equal(live_note(b.l), "slower");
  assert_shows(&b, "Why it is slower here");
  assert_shows(&b, "≠ 1 – 80");
  assert_true(live_command(b.l, CMD_UP)); /* the run before */
  assert_shows(&b, "▸✓ a");
  assert_shows(&b, "1 ms");
  assert_true(live_command(b.l, CMD_UP));
  assert_shows(&b, "▸✓ a");
  assert_true(live_command(b.l, CMD_DOWN));
  assert_shows(&b, "▸✓ b");
  enter(&b, "e3", false); /* prose still knows them */
  assert_true(live_lookup(b.l, "run.e1.b.ms", &v) && v == 2);
  assert_false(live_command(b.l, CMD_UP));
  end(&b);
}

static void test_sweep_and_bytes(void **state) {
  (void)state;
  struct bench b = begin();
  char line[64];
  hello(&b, 1);
  enter(&b, "e2", false);
  assert_shows(&b, "n = 32 … 128");
  live_command(b.l, CMD_RUN);
  assert_int_equal(b.l->run[2].size.K, 128);
  finish(&b, 0.1);
  assert_shows(&b, "cpu/ikj  n 32");
  finish(&b, 0.2);
  char *plot = screen(&b, 100, 40, LANG_EN); /* it plots as it runs */
  assert_non_null(strstr(plot, "FLOP/s"));
  assert_non_null(strstr(plot, "└"));
  free(plot);
  finish(&b, 0.4);
  assert_int_equal(b.l->phase, LIVE_DONE);
  assert_true(fabs(b.l->quantity - 10.48576) < 1e-9); /* of the last n */
  assert_shows(&b, "10.5 GFLOP/s");
  enter(&b, "e3", false);
  live_command(b.l, CMD_RUN);
  samples(&b, (const double[]){1}, 1);
  assert_shows(&b, "8.00 GB/s");
  live_headline(b.l, line, sizeof line);
  assert_string_equal(line, "● 8.00 GB/s  n 1");
  finish(&b, 1);
  assert_shows(&b, "8.00 GB/s");
  assert_hides(&b, "FLOP/s");
  assert_true(b.l->quantity == 8);
  end(&b);
}

static void test_cancel(void **state) {
  (void)state;
  struct bench b = begin();
  hello(&b, 1);
  enter(&b, "e1", false);
  live_command(b.l, CMD_RUN);
  samples(&b, (const double[]){1}, 1);
  live_command(b.l, CMD_CANCEL);
  assert_shows(&b, "cancelling");
  assert_true(live_running(b.l));
  int id = b.l->request;
  live_command(b.l, CMD_RUN); /* not before the other has ended */
  assert_int_equal(b.l->request, id);
  event(&b, CLIENT_CANCELLED);
  assert_false(live_running(b.l));
  assert_shows(&b, "r runs it");
  assert_hides(&b, "GFLOP/s");
  live_command(b.l, CMD_RUN);
  assert_true(live_running(b.l) && b.l->request != id);
  end(&b);
}

/* Leaving the step cancels; what still comes of that run is not the next one's. */
static void test_leaving_while_it_runs(void **state) {
  (void)state;
  struct bench b = begin();
  hello(&b, 1);
  enter(&b, "e1", false);
  live_command(b.l, CMD_RUN);
  int id = b.l->request;
  struct result late = made(&b, 1);
  enter(&b, "e3", false);
  assert_shows(&b, "cancelling");
  struct client_event ev = {.kind = CLIENT_SAMPLE, .id = id, .samples_ms = &late.median_ms};
  ev.nsamples = 1;
  assert_false(live_event(b.l, &ev));
  live_command(b.l, CMD_RUN);
  assert_int_equal(b.l->request, id);
  ev = (struct client_event){.kind = CLIENT_RESULT, .id = id, .result = &late};
  assert_true(live_event(b.l, &ev)); /* it had finished meanwhile */
  result_done(&late);
  assert_false(live_running(b.l));
  assert_false(b.l->run[0].done);
  live_command(b.l, CMD_RUN);
  assert_true(live_running(b.l));
  live_set_experiment(b.l, b.lesson, NULL, "", false);
  for (int w = 1; w < 80; w += 13)
    free(screen(&b, w, 20, LANG_EN));
  event(&b, CLIENT_CANCELLED);
  assert_shows(&b, "cpu/copy"); /* the kernel used last */
  live_command(b.l, CMD_RUN);
  assert_true(live_running(b.l));
  end(&b);
}

static void test_faults(void **state) {
  (void)state;
  struct bench b = begin();
  hello(&b, 1);
  enter(&b, "e1", false);
  static const enum client_kind kinds[] = {CLIENT_GONE, CLIENT_ERROR};
  for (int i = 0; i < 2; i++) {
    live_command(b.l, CMD_RUN);
    struct client_event ev = {.kind = kinds[i], .id = b.l->request + 1};
    snprintf(ev.fault.what, sizeof ev.fault.what, "The worker ended.");
    snprintf(ev.fault.why, sizeof ev.fault.why, "Somebody ended it.");
    snprintf(ev.fault.next, sizeof ev.fault.next, "The next run starts a new one.");
    assert_false(live_event(b.l, &ev)); /* another request's */
    assert_true(live_running(b.l));
    ev.id--;
    assert_true(live_event(b.l, &ev));
    assert_false(live_running(b.l));
    assert_shows(&b, "✗ The worker ended.");
    assert_shows(&b, "Somebody ended it.");
    assert_shows(&b, "The next run starts a new one.");
  }
  live_command(b.l, CMD_RUN);
  assert_hides(&b, "The worker ended.");
  finish(&b, 1);
  finish(&b, 1);
  assert_int_equal(b.l->phase, LIVE_DONE);
  end(&b);
}

static void test_a_wrong_result_has_no_figures(void **state) {
  (void)state;
  struct bench b = begin();
  double v;
  hello(&b, 1);
  enter(&b, "e1", false);
  live_command(b.l, CMD_RUN);
  struct result r = made(&b, 1);
  r.verify.ok = false;
  snprintf(r.verify.note, sizeof r.verify.note, "C[3,17] is NaN");
  give(&b, &r); /* even where a worker sent figures */
  assert_int_equal(b.l->phase, LIVE_DONE);
  assert_shows(&b, "C[3,17] is NaN");
  assert_shows(&b, "The result is not verified, so no time is shown.");
  assert_hides(&b, "MFLOP/s");
  assert_hides(&b, "1 ms");
  assert_true(isnan(b.l->quantity));
  assert_false(live_lookup(b.l, "run.e1.a.ms", &v));
  end(&b);
}

static void test_missing_reference(void **state) {
  (void)state;
  struct bench b = begin();
  hello(&b, 1);
  enter(&b, "e1", false);
  live_command(b.l, CMD_RUN);
  finish(&b, 1);
  struct result r = made(&b, 1);
  snprintf(r.reference.name, sizeof r.reference.name, "OpenBLAS");
  give(&b, &r);
  assert_hides(&b, "OpenBLAS"); /* its ratio is not known */
  live_command(b.l, CMD_RUN);
  finish(&b, 1);
  r = made(&b, 1);
  snprintf(r.reference.name, sizeof r.reference.name, "OpenBLAS");
  snprintf(r.reference.version, sizeof r.reference.version, "0.3.21 SkylakeX, 1 thread");
  r.reference.ratio = 0.148, r.reference.gflops = 7;
  give(&b, &r);
  assert_shows(&b, "14.8 % of OpenBLAS 0.3.21 SkylakeX, 1 thread");
  char *narrow = screen(&b, 48, 30, LANG_EN);
  assert_non_null(strstr(narrow, "14.8 % of OpenBLAS 0.3.21"));
  assert_null(strstr(narrow, "0.3.21 S")); /* no word is cut */
  free(narrow);
  narrow = screen(&b, 30, 30, LANG_EN);
  assert_non_null(strstr(narrow, "14.8 % of OpenBLAS"));
  assert_null(strstr(narrow, "OpenBLAS 0"));
  free(narrow);
  end(&b);
}

static void test_time_line(void **state) {
  (void)state;
  struct bench b = begin();
  hello(&b, 1);
  enter(&b, "e3", false);
  live_command(b.l, CMD_RUN);
  struct result r = made(&b, 100);
  r.p10_ms = 97, r.p90_ms = 103;
  give(&b, &r);
  assert_shows(&b, "100 ms  spread 6 %  p10 97  p90 103  n 3");
  char *narrow = screen(&b, 40, 30, LANG_EN);
  assert_non_null(strstr(narrow, "100 ms  spread 6 %  n 3"));
  free(narrow);
  end(&b);
}

static void test_long_runs_ask(void **state) {
  (void)state;
  struct bench b = begin();
  hello(&b, 1);
  enter(&b, "e4", false);
  live_command(b.l, CMD_RUN);
  assert_false(live_running(b.l));
  assert_shows(&b, "This may take about 1374 s. Enter runs it, Esc does not.");
  live_command(b.l, CMD_RUN); /* waits for Enter, however often */
  assert_false(live_running(b.l));
  assert_true(live_command(b.l, CMD_BACK));
  assert_hides(&b, "This may take");
  assert_false(live_command(b.l, CMD_BACK));
  live_command(b.l, CMD_RUN);
  live_command(b.l, CMD_ENTER);
  assert_true(live_running(b.l));
  end(&b);
}

/* ---- machines */

static void test_devices(void **state) {
  (void)state;
  struct bench b = begin();
  double v;
  assert_null(live_device(b.l));
  assert_false(live_lookup(b.l, "device.clock_hz", &v));
  enter(&b, "e1", false);
  assert_shows(&b, "cpu/ijk");
  hello(&b, 2);
  assert_string_equal(live_device(b.l)->id, "cuda:0"); /* a GPU comes first */
  assert_shows(&b, "cuda/tiled");
  assert_true(live_lookup(b.l, "device.clock_hz", &v) && v == 2e9);
  assert_false(live_lookup(b.l, "device.sms", &v));
  assert_false(live_lookup(b.l, "roof.dram", &v));
  struct roofs roofs = {.device = b.device[1], .n = 1};
  roofs.roof[0] = (struct roof){"dram", "DRAM copy", "B/s", 4e12, 0.01, NAN};
  struct client_event ev = {.kind = CLIENT_ROOFS, .roofs = &roofs};
  assert_true(live_event(b.l, &ev));
  assert_true(live_lookup(b.l, "roof.dram", &v) && v == 4e12);
  live_command(b.l, CMD_SETTINGS); /* the device alone: the experiment is planned for it */
  live_key(b.l, KEYS_UP);
  live_key(b.l, KEYS_LEFT);
  live_key(b.l, KEYS_ENTER);
  assert_string_equal(live_device(b.l)->id, "cpu");
  assert_int_equal(b.l->nruns, 2);
  assert_string_equal(b.l->run[0].kernel->id, "cpu/ijk");
  assert_false(live_lookup(b.l, "roof.dram", &v));
  struct device_info swap =
      b.device[0]; /* the worker starts again and lists them the other way round */
  b.device[0] = b.device[1], b.device[1] = swap;
  hello(&b, 2);
  assert_string_equal(live_device(b.l)->id, "cpu");
  b.l->at = 0;
  assert_true(live_lookup(b.l, "roof.dram", &v));
  end(&b);
}

static void test_without_a_gpu(void **state) {
  (void)state;
  struct bench b = begin();
  double v;
  hello(&b, 1);
  enter(&b, "e1", false);
  assert_shows(&b, "There is no NVIDIA driver here.");
  assert_shows(&b, "The CPU rungs run here instead.");
  assert_shows(&b, "Recorded on Test card, 2026-01-02");
  assert_shows(&b, "cuda/naive");
  assert_shows(&b, "2.15 TFLOP/s");
  assert_true(live_lookup_recorded(b.l, "run.e1.b.ms", &v) && v == 0.5);
  assert_true(live_lookup_recorded(b.l, "roof.dram", &v) && v > 4e12);
  assert_true(live_lookup_recorded(b.l, "device.sms", &v) && v > 131);
  assert_false(live_lookup_recorded(b.l, "run.e1.z.gflops", &v));
  assert_false(live_lookup_recorded(b.l, "device.nothing", &v));
  enter(&b, "e1", true); /* it would answer the prediction */
  assert_hides(&b, "TFLOP/s");
  enter(&b, "e5", false); /* a sweep: the value that was recorded, and no other */
  assert_shows(&b, "cuda/tiled  T 32");
  assert_shows(&b, "5.37 TFLOP/s");
  assert_hides(&b, "cuda/tiled  T 8");
  assert_true(live_lookup_recorded(b.l, "run.e5.a.gflops", &v) && v == 5369);
  live_command(b.l, CMD_RUN);
  assert_true(live_running(b.l));
  end(&b);
}

static void test_without_a_worker(void **state) {
  (void)state;
  struct bench b = begin();
  b.l->w.client = NULL;
  enter(&b, "e1", false);
  live_command(b.l, CMD_RUN);
  assert_shows(&b, "This view has no worker.");
  assert_true(live_command(b.l, CMD_CANCEL));
  end(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_prediction_comes_first),
      cmocka_unit_test(test_prediction_units_and_no_idea),
      cmocka_unit_test(test_prediction_holds_for_own_runs),
      cmocka_unit_test(test_phases_of_a_run),
      cmocka_unit_test(test_results),
      cmocka_unit_test(test_sweep_and_bytes),
      cmocka_unit_test(test_cancel),
      cmocka_unit_test(test_leaving_while_it_runs),
      cmocka_unit_test(test_faults),
      cmocka_unit_test(test_a_wrong_result_has_no_figures),
      cmocka_unit_test(test_missing_reference),
      cmocka_unit_test(test_time_line),
      cmocka_unit_test(test_long_runs_ask),
      cmocka_unit_test(test_devices),
      cmocka_unit_test(test_without_a_gpu),
      cmocka_unit_test(test_without_a_worker),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
