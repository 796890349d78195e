/* A live pane with a small lesson, a record and a worker that takes requests and says nothing;
 * events come by hand. */
#ifndef MM_TESTS_LIVE_BENCH_H
#define MM_TESTS_LIVE_BENCH_H

#include "base/alloc.h"
#include "base/err.h"
#include "base/paths.h"
#include "lesson_dirs.h"
#include "ui/live_internal.h"
#include "ui/strings.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char lesson_json[] =
    "{\"schema\":1,\"id\":\"probe\",\"order\":1,\"minutes\":1,\"title\":{\"en\":\"P\",\"zh\":\"P\"}"
    ","
    "\"covers\":[\"S1\"],\"sources\":[\"none\"],"
    "\"steps\":[{\"id\":\"ask\",\"kind\":\"predict\",\"experiment\":\"e1\"},"
    "{\"id\":\"go\",\"kind\":\"run\",\"experiment\":\"e1\"},"
    "{\"id\":\"grow\",\"kind\":\"run\",\"experiment\":\"e2\"},"
    "{\"id\":\"move\",\"kind\":\"run\",\"experiment\":\"e3\"},"
    "{\"id\":\"long\",\"kind\":\"run\",\"experiment\":\"e4\"},"
    "{\"id\":\"tile\",\"kind\":\"run\",\"experiment\":\"e5\"},"
    "{\"id\":\"count\",\"kind\":\"run\",\"experiment\":\"e6\"},"
    "{\"id\":\"counts\",\"kind\":\"run\",\"experiment\":\"e7\"},"
    "{\"id\":\"end\",\"kind\":\"summary\"}],"
    "\"experiments\":["
    "{\"id\":\"e6\",\"ask\":{\"en\":\"How many times faster?\",\"zh\":\"快几倍？\"},"
    "\"cuda\":{\"runs\":[{\"as\":\"a\",\"kernel\":\"cuda/"
    "naive\",\"M\":\"1024\",\"N\":\"1024\",\"K\":"
    "\"1024\"}],\"band\":[\"2\",\"3\"]},"
    "\"cpu\":{\"runs\":[{\"as\":\"a\",\"kernel\":\"cpu/"
    "ikj\",\"M\":\"64\",\"N\":\"64\",\"K\":\"64\"}],"
    "\"band\":[\"1\",\"80\"]},"
    "\"xray\":{\"runs\":[{\"as\":\"a\",\"kernel\":\"cuda/"
    "naive\",\"M\":\"4096\",\"N\":\"4096\",\"K\":"
    "\"4096\"},{\"as\":\"b\",\"kernel\":\"cuda/tiled\",\"M\":\"64\",\"N\":\"64\",\"K\":\"64\","
    "\"params\":{\"T\":16}}],\"ask\":{\"en\":\"How many times fewer sectors?\",\"zh\":\"sector "
    "少几倍？\"},\"quantity\":\"a.gld_sectors/"
    "b.gld_sectors\",\"unit\":\"\",\"band\":[\"19.9\",\"20.1\"]},"
    "\"quantity\":\"a.gflops\",\"unit\":\"GFLOP/s\","
    "\"not_visible\":[{\"if\":\"1\",\"text\":\"slower\"}]},"
    "{\"id\":\"e7\",\"ask\":{\"en\":\"T?\",\"zh\":\"T？\"},"
    "\"xray\":{\"runs\":[{\"as\":\"a\",\"kernel\":\"cuda/"
    "tiled\",\"M\":\"64\",\"N\":\"64\",\"K\":\"64\"}],"
    "\"quantity\":\"2*a.ffma/(32*a.gld_sectors)\",\"unit\":\"FLOP/B\",\"band\":[\"T/4\",\"T/4\"]},"
    "\"sweep\":{\"var\":\"T\",\"values\":[8,16,32]},\"quantity\":\"a.gflops\",\"unit\":\"GFLOP/"
    "s\"},"
    "{\"id\":\"e1\",\"ask\":{\"en\":\"How many times faster?\",\"zh\":\"快几倍？\"},"
    "\"cuda\":{\"runs\":[{\"as\":\"a\",\"kernel\":\"cuda/"
    "naive\",\"M\":\"1024\",\"N\":\"1024\",\"K\":\"1024\"},"
    "{\"as\":\"b\",\"kernel\":\"cuda/tiled\",\"M\":\"1024\",\"N\":\"1024\",\"K\":\"1024\","
    "\"params\":{\"T\":16}}],\"band\":[\"2\",\"3\"]},"
    "\"cpu\":{\"runs\":[{\"as\":\"a\",\"kernel\":\"cpu/"
    "ijk\",\"M\":\"64\",\"N\":\"64\",\"K\":\"64\"},"
    "{\"as\":\"b\",\"kernel\":\"cpu/ikj\",\"M\":\"64\",\"N\":\"64\",\"K\":\"64\"}],"
    "\"band\":[\"1\",\"80\"]},\"quantity\":\"b.gflops/a.gflops\",\"unit\":\"\","
    "\"not_visible\":[{\"if\":\"b.gflops<a.gflops\",\"text\":\"slower\"}]},"
    "{\"id\":\"e2\",\"ask\":{\"en\":\"Which?\",\"zh\":\"哪个？\"},"
    "\"cpu\":{\"runs\":[{\"as\":\"a\",\"kernel\":\"cpu/ikj\"}],\"band\":[\"1\",\"80\"]},"
    "\"sweep\":{\"var\":\"n\",\"values\":[32,64,128]},\"quantity\":\"a.gflops\",\"unit\":\"GFLOP/"
    "s\"},"
    "{\"id\":\"e5\",\"ask\":{\"en\":\"T?\",\"zh\":\"T？\"},"
    "\"cuda\":{\"runs\":[{\"as\":\"a\",\"kernel\":\"cuda/tiled\"}],\"band\":[\"1\",\"80\"]},"
    "\"cpu\":{\"runs\":[{\"as\":\"a\",\"kernel\":\"cpu/tiled\"}],\"band\":[\"1\",\"80\"]},"
    "\"sweep\":{\"var\":\"T\",\"values\":[8,32]},\"quantity\":\"a.gflops\",\"unit\":\"GFLOP/s\"},"
    "{\"id\":\"e3\",\"ask\":{\"en\":\"Rate?\",\"zh\":\"速率？\"},"
    "\"cpu\":{\"runs\":[{\"as\":\"a\",\"kernel\":\"cpu/"
    "copy\",\"M\":\"1000\",\"N\":\"1000\",\"K\":\"1\"}],"
    "\"band\":[\"1\",\"800\"]},\"quantity\":\"a.gbs\",\"unit\":\"GB/s\"},"
    "{\"id\":\"e4\",\"ask\":{\"en\":\"Long?\",\"zh\":\"久？\"},"
    "\"cpu\":{\"runs\":[{\"as\":\"a\",\"kernel\":\"cpu/"
    "ijk\",\"M\":\"4096\",\"N\":\"4096\",\"K\":\"4096\"}],"
    "\"band\":[\"0\",\"8\"]},\"quantity\":\"a.gflops\",\"unit\":\"GFLOP/s\"}],"
    "\"items\":[]}";
static const char prose_en[] =
    "## end The end\n\nText.\n\n## slower Why it is slower here\n\nText.\n";
static const char prose_zh[] = "## end 结束\n\n文。\n\n## slower 为什么这里更慢\n\n文。\n";

struct bench {
  catalog *rungs;
  client *worker;
  recorded *rec;
  progress *kept;
  struct lesson *lesson;
  live *l;
  struct device_info device[2];
};

static inline struct device_info device_of(const char *id, const char *name) {
  struct device_info d;
  result_device_init(&d);
  snprintf(d.id, sizeof d.id, "%s", id);
  snprintf(d.name, sizeof d.name, "%s", name);
  d.clock_hz = 2e9;
  return d;
}

static inline struct bench begin(void) {
  struct err err = {""};
  struct bench b = {.rungs = catalog_new(), .worker = client_new("exec cat >/dev/null")};
  struct lesson_texts t = {.name = "lessons/01-probe", .json = lesson_json};
  t.njson = strlen(lesson_json);
  t.prose[LANG_EN] = prose_en, t.nprose[LANG_EN] = strlen(prose_en);
  t.prose[LANG_ZH] = prose_zh, t.nprose[LANG_ZH] = strlen(prose_zh);
  b.lesson = lesson_parse(&t, &err);
  if (!b.lesson)
    fail_msg("%s", err.text);
  b.kept = progress_open(true, NULL);
  b.rec = recorded_load("probe", &err);
  if (!b.rec)
    fail_msg("%s", err.text);
  b.l = live_new(&(struct live_world){b.rungs, b.worker, b.rec, b.kept});
  b.device[0] = device_of("cpu", "Test processor");
  b.device[1] = device_of("cuda:0", "Test GPU");
  return b;
}

static inline void end(struct bench *b) {
  live_free(b->l);
  lesson_free(b->lesson);
  progress_close(b->kept);
  recorded_free(b->rec);
  client_free(b->worker);
  catalog_free(b->rungs);
}

static inline void hello(struct bench *b, int ndevices) {
  struct client_event ev = {.kind = CLIENT_HELLO, .devices = b->device, .ndevices = ndevices};
  ev.no_cuda = ndevices > 1 ? "" : "There is no NVIDIA driver here.";
  assert_true(live_event(b->l, &ev));
}

static inline void enter(struct bench *b, const char *experiment, bool locked) {
  live_set_experiment(b->l, b->lesson, lesson_experiment(b->lesson, experiment), experiment,
                      locked);
}

static inline void type(struct bench *b, const char *text) {
  for (; *text; text++)
    assert_true(live_key(b->l, (unsigned char)*text));
}

/* ---- what is on the pane */

static inline char *screen(struct bench *b, int w, int h, enum lang lang) {
  struct err err;
  canvas *cv = canvas_new(w, h);
  live_draw(b->l, cv, (struct rect){0, 0, w, h}, lang);
  if (!canvas_check(cv, &err))
    fail_msg("%s", err.text);
  char *text = canvas_to_text(cv);
  canvas_free(cv);
  return text;
}

static inline void expect(struct bench *b, const char *text, bool there) {
  char *all = screen(b, 100, 40, LANG_EN);
  if ((strstr(all, text) != NULL) != there)
    fail_msg("%s on the pane: %s\n%s", there ? "missing" : "not wanted", text, all);
  free(all);
}

#define assert_shows(b, text) expect(b, text, true)
#define assert_hides(b, text) expect(b, text, false)

/* ---- events by hand */

static inline void event(struct bench *b, enum client_kind kind) {
  struct client_event ev = {.kind = kind, .id = b->l->request};
  live_event(b->l, &ev);
}

static inline void samples(struct bench *b, const double *ms, int n) {
  struct client_event ev = {.kind = CLIENT_SAMPLE, .id = b->l->request, .samples_ms = ms};
  ev.nsamples = n;
  assert_true(live_event(b->l, &ev));
}

/* A result as the run in work would give, at a median of ms. */
static inline struct result made(struct bench *b, double ms) {
  const struct live_run *run = &b->l->run[b->l->now];
  struct result r;
  result_init(&r);
  snprintf(r.kernel, sizeof r.kernel, "%s", run->kernel->id);
  r.device = b->l->device[b->l->at];
  r.M = run->size.M, r.N = run->size.N, r.K = run->size.K;
  r.flop = kernel_flop(run->kernel, &run->size);
  r.dram_min = kernel_dram_min(run->kernel, &run->size);
  r.verify = (struct result_verify){.ok = true, .max_error = 1e-7, .bound = 1e-5, .checked = 4096};
  r.samples_ms = alloc_zero(3, sizeof *r.samples_ms);
  r.nsamples = 3;
  for (int i = 0; i < 3; i++)
    r.samples_ms[i] = ms;
  result_statistics(&r);
  snprintf(r.date, sizeof r.date, "2026-01-02T03:04:05Z");
  snprintf(r.kernel_sha256, sizeof r.kernel_sha256, "%s", "0123456789abcdef");
  return r;
}

static inline void give(struct bench *b, struct result *r) {
  struct client_event ev = {.kind = CLIENT_RESULT, .id = b->l->request, .result = r};
  assert_true(live_event(b->l, &ev));
  result_done(r);
}

static inline void finish(struct bench *b, double ms) {
  struct result r = made(b, ms);
  give(b, &r);
}

static inline void run_e1(struct bench *b, double a_ms, double b_ms) {
  enter(b, "e1", false);
  live_command(b->l, CMD_RUN);
  assert_int_equal(b->l->phase, LIVE_RUNNING);
  finish(b, a_ms);
  assert_int_equal(b->l->phase, LIVE_RUNNING);
  finish(b, b_ms);
  assert_int_equal(b->l->phase, LIVE_DONE);
}

/* ---- a record of a card, as the data directory has it */

static char *dir;

static inline int setup(void **state) {
  (void)state;
  size_t n;
  struct err err;
  dir = dirs_new();
  char *text = paths_read("tests/fixtures/recorded.json", 1 << 20, &n, &err);
  char *path = alloc_printf("%s/assets/recorded/probe.json", dir);
  if (!text)
    return -1;
  char *more = dirs_replace(text, "\"median_ms\":0.4",
                            "\"verify\":{\"ok\":true},\"gflops\":5369,\"median_ms\":0.4");
  if (!paths_write(path, more, strlen(more), &err))
    return -1;
  free(more);
  free(text);
  free(path);
  return setenv("MMTUTOR_DATA", dir, 1);
}

static inline int teardown(void **state) {
  (void)state;
  dirs_remove(dir);
  return 0;
}

#endif
