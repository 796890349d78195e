#include "base/alloc.h"
#include "base/clock.h"
#include "bench/client.h"
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { LIMIT_MS = 20000 };
static const char REAL[] = "exec \"$MMTUTOR\" worker";

static const struct kernel *ikj;

/* Waits for the next event as a user of the client would; fails at the limit. */
static void next(client *c, struct client_event *ev) {
  double until = clock_ms() + LIMIT_MS;
  while (!client_next(c, ev)) {
    assert_true(clock_ms() < until);
    struct pollfd p = {.fd = client_fd(c), .events = POLLIN};
    int ms = client_timeout(c);
    poll(&p, p.fd >= 0 ? 1 : 0, ms >= 0 && ms < 100 ? ms : 100);
  }
}

static bool is_end(enum client_kind k) {
  return k == CLIENT_HELLO || k == CLIENT_RESULT || k == CLIENT_ROOFS || k == CLIENT_XRAY ||
         k == CLIENT_ERROR || k == CLIENT_CANCELLED || k == CLIENT_GONE;
}

/* Skips to the last event of the request. */
static void finish(client *c, int id, struct client_event *ev) {
  do
    next(c, ev);
  while (ev->id != id || !is_end(ev->kind));
}

/* No event comes any more (of requests); the limit is that nothing is in flight. */
static void expect_silence(client *c) {
  struct client_event ev;
  while (client_next(c, &ev))
    assert_int_equal(ev.kind, CLIENT_PRINT);
}

static int run(client *c, double seconds) {
  struct err err = {""};
  const struct client_run r = {.device = "null",
                               .kernel = "cpu/ikj",
                               .size = kernel_size_default(ikj, 37, 53, 29),
                               .params_of = ikj,
                               .seconds = seconds,
                               .isa = "auto",
                               .seed = 1,
                               .prediction = 12.5,
                               .warmup_s = 0.01};
  int id = client_run(c, &r, &err);
  if (id == 0)
    print_error("%s\n", err.text);
  assert_true(id > 0);
  return id;
}

static int hello(client *c) {
  struct err err = {""};
  int id = client_hello(c, &err);
  assert_true(id > 0);
  return id;
}

static void test_nothing_is_started_early(void **state) {
  (void)state;
  client *c = client_new(REAL);
  struct client_event ev;
  assert_int_equal(client_fd(c), -1);
  assert_int_equal(client_timeout(c), -1);
  assert_false(client_next(c, &ev));
  client_free(c);
  client_free(NULL);
}

static void test_hello(void **state) {
  (void)state;
  client *c = client_new(REAL);
  struct client_event ev;
  finish(c, hello(c), &ev);
  assert_int_equal(ev.kind, CLIENT_HELLO);
  assert_true(ev.ndevices >= 1);
  bool cpu = false;
  for (int i = 0; i < ev.ndevices; i++)
    cpu = cpu || strcmp(ev.devices[i].id, "cpu") == 0;
  assert_true(cpu);
  assert_string_equal(ev.version, MMTUTOR_VERSION);
  assert_null(ev.tools);
  client_free(c);
}

static void test_run(void **state) {
  (void)state;
  client *c = client_new(REAL);
  struct client_event ev;
  int id = run(c, 0.3), verified = 0, samples = 0;
  for (next(c, &ev); !is_end(ev.kind); next(c, &ev)) {
    assert_true(ev.id == id || ev.kind == CLIENT_PRINT);
    verified += ev.kind == CLIENT_VERIFY;
    if (ev.kind == CLIENT_SAMPLE) {
      assert_true(ev.nsamples > 0 && ev.samples_ms[0] > 0);
      samples += ev.nsamples;
    }
  }
  assert_int_equal(ev.kind, CLIENT_RESULT);
  assert_int_equal(ev.id, id);
  assert_true(verified >= 1);
  assert_true(samples >= 1);
  assert_string_equal(ev.result->kernel, "cpu/ikj");
  assert_int_equal(ev.result->M, 37);
  assert_true(ev.result->verify.ok);
  assert_true(ev.result->prediction == 12.5);
  assert_true(ev.result->nsamples >= 7);
  client_free(c);
}

static void test_error(void **state) {
  (void)state;
  client *c = client_new(REAL);
  struct err err;
  struct client_event ev;
  const struct client_run r = {.device = "cuda:77",
                               .kernel = "cuda/naive",
                               .size = {.M = 8, .N = 8, .K = 8},
                               .seconds = 0.1,
                               .prediction = NAN,
                               .isa = "auto"};
  int id = client_run(c, &r, &err);
  finish(c, id, &ev);
  assert_int_equal(ev.kind, CLIENT_ERROR);
  assert_true(ev.fault.what[0] != '\0');
  finish(c, hello(c), &ev);
  assert_int_equal(ev.kind, CLIENT_HELLO);
  client_free(c);
}

static void test_cancel_then_run(void **state) {
  (void)state;
  client *c = client_new(REAL);
  struct client_event ev;
  for (int i = 0; i < 3; i++) {
    int id = run(c, 600);
    do
      next(c, &ev);
    while (ev.kind != CLIENT_SAMPLE);
    client_cancel(c, id);
    client_cancel(c, id);
    finish(c, id, &ev);
    assert_int_equal(ev.kind, CLIENT_CANCELLED);
    expect_silence(c);
    finish(c, run(c, 0.05), &ev);
    assert_int_equal(ev.kind, CLIENT_RESULT);
  }
  client_cancel(c, 9999);
  expect_silence(c);
  client_free(c);
}

/* A cancel that crosses the result: exactly one end, and the next request is served. */
static void test_cancel_races(void **state) {
  (void)state;
  client *c = client_new(REAL);
  struct client_event ev;
  for (int i = 0; i < 12; i++) {
    int id = run(c, 0.02);
    double wait = clock_ms() + i * 8;
    bool over = false;
    while (clock_ms() < wait && !over)
      over = client_next(c, &ev) && ev.id == id && is_end(ev.kind);
    client_cancel(c, id);
    if (!over)
      finish(c, id, &ev);
    assert_true(ev.kind == CLIENT_RESULT || ev.kind == CLIENT_CANCELLED);
    int h = hello(c);
    next(c, &ev);
    assert_int_equal(ev.id, h);
    assert_int_equal(ev.kind, CLIENT_HELLO);
  }
  client_free(c);
}

static pid_t told_pid(client *c) {
  struct client_event ev;
  do
    next(c, &ev);
  while (ev.kind != CLIENT_PRINT);
  pid_t pid = (pid_t)strtol(ev.text, NULL, 10);
  assert_true(pid > 1);
  return pid;
}

/* True once no process of the group is left. */
static bool group_gone(pid_t pid) {
  double until = clock_ms() + LIMIT_MS;
  while (kill(-pid, 0) == 0 || errno != ESRCH) {
    if (clock_ms() > until)
      return false;
    poll(NULL, 0, 5);
  }
  return true;
}

/* It answers nothing, and has a child of its own that holds the pipes. */
static void test_deaf_worker_is_killed(void **state) {
  (void)state;
  client *c = client_new("echo $$; trap '' TERM INT; sleep 1000; sleep 1000");
  struct client_event ev;
  int id = run(c, 1);
  pid_t pid = told_pid(c);
  client_cancel(c, id);
  finish(c, id, &ev);
  assert_int_equal(ev.kind, CLIENT_CANCELLED);
  client_free(c);
  assert_true(group_gone(pid));
}

static void test_free_ends_the_worker(void **state) {
  (void)state;
  client *c = client_new("echo $$; sleep 1000; sleep 1000");
  run(c, 1);
  pid_t pid = told_pid(c);
  client_free(c);
  assert_true(group_gone(pid));
}

static void test_gone(void **state) {
  (void)state;
  static const struct {
    const char *command, *what, *why;
  } t[] = {
      {"kill -SEGV $$", "signal 11", "touched memory"},
      {"kill -FPE $$", "signal 8", "divided"},
      {"exit 3", "exit code 3", ""},
      {"no-such-program-here", "exit code 127", "not found"},
      {"echo cannot reach gpubox >&2; exit 255", "exit code 255", "cannot reach gpubox"},
      {"printf '{\"id\":1,\"ev\":\"resu'", "exit code 0", ""},
      {"echo '{\"id\":1}'; echo '[]'; echo; echo '{\"id\":1,\"ev\":7}'", "exit code 0", ""},
  };
  for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
    client *c = client_new(t[i].command);
    struct client_event ev;
    int id = run(c, 1), second = hello(c);
    finish(c, id, &ev);
    assert_int_equal(ev.kind, CLIENT_GONE);
    if (!strstr(ev.fault.what, t[i].what) || !strstr(ev.fault.why, t[i].why))
      print_error("%s: %s / %s\n", t[i].command, ev.fault.what, ev.fault.why);
    assert_non_null(strstr(ev.fault.what, t[i].what));
    assert_non_null(strstr(ev.fault.what, "cpu/ikj"));
    assert_non_null(strstr(ev.fault.why, t[i].why));
    finish(c, second, &ev);
    assert_int_equal(ev.kind, CLIENT_GONE);
    expect_silence(c);
    client_free(c);
  }
}

static void test_new_worker_after_gone(void **state) {
  (void)state;
  char *flag = alloc_printf("/tmp/mmtutor-client-test-%d", (int)getpid());
  char *command = alloc_printf("if [ ! -e %s ]; then : > %s; exit 9; fi; %s", flag, flag, REAL);
  client *c = client_new(command);
  struct client_event ev;
  finish(c, hello(c), &ev);
  assert_int_equal(ev.kind, CLIENT_GONE);
  finish(c, hello(c), &ev);
  assert_int_equal(ev.kind, CLIENT_HELLO);
  client_free(c);
  unlink(flag);
  free(flag);
  free(command);
}

/* What a login shell says before the protocol is text, not a fault. */
static void test_banner(void **state) {
  (void)state;
  client *c = client_new("echo 'Welcome to gpubox'; exec \"$MMTUTOR\" worker");
  struct client_event ev;
  int id = hello(c);
  next(c, &ev);
  assert_int_equal(ev.kind, CLIENT_PRINT);
  assert_string_equal(ev.text, "Welcome to gpubox");
  finish(c, id, &ev);
  assert_int_equal(ev.kind, CLIENT_HELLO);
  client_free(c);
}

static char *source_of(size_t n) {
  char *s = alloc_zero(n + 1, 1);
  memset(s, ' ', n);
  return s;
}

/* A worker that does not read must not hold the caller up, however long the request. */
static void test_write_never_blocks(void **state) {
  (void)state;
  client *c = client_new("exec sleep 1000");
  char *source = source_of(900 * 1024);
  struct err err;
  struct client_event ev;
  const struct client_run r = {
      .device = "null", .kernel = "cpu/x", .source = source, .prediction = NAN, .isa = "auto"};
  int id = client_run(c, &r, &err);
  assert_true(id > 0);
  assert_false(client_next(c, &ev));
  assert_true(client_timeout(c) >= 0);
  client_cancel(c, id);
  finish(c, id, &ev);
  assert_int_equal(ev.kind, CLIENT_CANCELLED);
  client_free(c);
  free(source);
}

/* The same request to a worker that reads arrives whole: it is refused for what it says. */
static void test_long_request_arrives(void **state) {
  (void)state;
  client *c = client_new(REAL);
  char *source = source_of(900 * 1024);
  struct err err;
  struct client_event ev;
  const struct client_run r = {.device = "null",
                               .kernel = "cpu/x",
                               .source = source,
                               .size = {.M = 1, .N = 1, .K = 1},
                               .prediction = NAN,
                               .isa = "auto"};
  int id = client_run(c, &r, &err);
  finish(c, id, &ev);
  assert_int_equal(ev.kind, CLIENT_ERROR);
  assert_string_equal(ev.fault.code, "front_matter");
  client_free(c);
  free(source);
}

static void test_too_long_request(void **state) {
  (void)state;
  client *c = client_new(REAL);
  char *source = source_of(1100 * 1024);
  struct err err = {""};
  const struct client_run r = {
      .device = "null", .kernel = "cpu/x", .source = source, .prediction = NAN, .isa = "auto"};
  assert_int_equal(client_run(c, &r, &err), 0);
  assert_non_null(strstr(err.text, "1 MiB"));
  client_free(c);
  free(source);
}

/* Commands that never stop talking are ended, the fault says what they are, and no event of theirs
 * stands in the way of the next request or of a cancel. */
static void test_babble_is_ended(void **state) {
  (void)state;
  static const char *const commands[] = {"yes", "cat /dev/zero", "cat /dev/urandom", "yes '{}'",
                                         "yes \"$(head -c 100000 /dev/zero | tr '\\0' x)\""};
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    client *c = client_new(commands[i]);
    struct client_event ev;
    finish(c, hello(c), &ev);
    assert_int_equal(ev.kind, CLIENT_GONE);
    assert_non_null(strstr(ev.fault.what, "does not speak the protocol"));
    assert_non_null(strstr(ev.fault.next, "by hand"));
    finish(c, hello(c), &ev);
    assert_int_equal(ev.kind, CLIENT_GONE);
    client_free(c);
  }
}

/* It speaks the protocol without end: only the cancel's own limit ends it. */
static void test_cancel_through_a_flood(void **state) {
  (void)state;
  client *c = client_new("yes '{\"id\":0,\"ev\":\"print\",\"text\":\"more\"}'");
  struct client_event ev;
  int id = hello(c);
  next(c, &ev);
  assert_int_equal(ev.kind, CLIENT_PRINT);
  client_cancel(c, id);
  finish(c, id, &ev);
  assert_int_equal(ev.kind, CLIENT_CANCELLED);
  client_free(c);
}

/* A worker that writes `answer` to the first cancel and then only sleeps; the next one is real. */
static client *leaver(const char *answer, char **flag) {
  *flag = alloc_printf("/tmp/mmtutor-client-leaver-%d", (int)getpid());
  unlink(*flag);
  char *command = alloc_printf("if [ -e %s ]; then exec \"$MMTUTOR\" worker; fi; : > %s; read a; "
                               "read b; echo '%s'; exec sleep 1000",
                               *flag, *flag, answer);
  client *c = client_new(command);
  free(command);
  return c;
}

/* The last event of a request crosses the cancel, and the worker is on its way out: the next
 * request must not go to it. Cancelled in time, ended with an error, or with an answer. */
static void test_last_event_crosses_a_cancel(void **state) {
  (void)state;
  static const struct {
    const char *answer;
    enum client_kind kind;
  } t[] = {{"{\"id\":1,\"ev\":\"cancelled\",\"leaving\":true}", CLIENT_CANCELLED},
           {"{\"id\":1,\"ev\":\"error\",\"code\":\"launch\",\"what\":\"x\",\"why\":\"\","
            "\"next\":\"\",\"leaving\":true}",
            CLIENT_ERROR},
           {"{\"id\":1,\"ev\":\"hello\",\"v\":1,\"devices\":[],\"leaving\":true}", CLIENT_HELLO}};
  for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
    char *flag;
    client *c = leaver(t[i].answer, &flag);
    struct client_event ev;
    int id = hello(c);
    client_cancel(c, id);
    finish(c, id, &ev);
    assert_int_equal(ev.kind, t[i].kind);
    finish(c, hello(c), &ev);
    assert_int_equal(ev.kind, CLIENT_HELLO);
    assert_true(ev.ndevices >= 1);
    client_free(c);
    unlink(flag);
    free(flag);
  }
}

/* What a worker says reaches the screen without escapes, in whatever member it stands. */
static void test_words_are_cleaned(void **state) {
  (void)state;
  static const char *const commands[] = {
      "echo '{\"id\":0,\"ev\":\"print\",\"text\":\"a\\u001b[31mb\"}'; read a",
      "printf 'a\\033[31mb\\n'; read a",
      "read a; echo '{\"id\":1,\"ev\":\"error\",\"code\":\"x\",\"what\":\"a\\u001b[31mb\","
      "\"why\":\"\\u009b\",\"next\":\"\\u202e\"}'"};
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    client *c = client_new(commands[i]);
    struct client_event ev;
    hello(c);
    next(c, &ev);
    const char *text = ev.kind == CLIENT_PRINT ? ev.text : ev.fault.what;
    assert_string_equal(text, "a\xef\xbf\xbd[31mb");
    if (ev.kind == CLIENT_ERROR) {
      assert_string_equal(ev.fault.why, "\xef\xbf\xbd");
      assert_string_equal(ev.fault.next, "\xef\xbf\xbd");
    }
    client_free(c);
  }
}

/* Requests to a worker that is gone: no SIGPIPE, an answer for each. */
static void test_no_sigpipe(void **state) {
  (void)state;
  signal(SIGPIPE, SIG_DFL);
  client *c = client_new("exec <&-; sleep 1000");
  struct client_event ev;
  int id = hello(c);
  for (int i = 0; i < 5; i++) {
    client_next(c, &ev);
    poll(NULL, 0, 5);
    hello(c);
  }
  client_cancel(c, id);
  finish(c, id, &ev);
  assert_int_equal(ev.kind, CLIENT_CANCELLED);
  client_free(c);
}

int main(void) {
  catalog *kernels = catalog_new();
  ikj = catalog_find(kernels, "cpu/ikj");
  if (!getenv("MMTUTOR") || !ikj) {
    fputs("bench_client_test: MMTUTOR names no program, or cpu/ikj is missing.\n", stderr);
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nothing_is_started_early),
      cmocka_unit_test(test_hello),
      cmocka_unit_test(test_run),
      cmocka_unit_test(test_error),
      cmocka_unit_test(test_cancel_then_run),
      cmocka_unit_test(test_cancel_races),
      cmocka_unit_test(test_deaf_worker_is_killed),
      cmocka_unit_test(test_free_ends_the_worker),
      cmocka_unit_test(test_gone),
      cmocka_unit_test(test_new_worker_after_gone),
      cmocka_unit_test(test_banner),
      cmocka_unit_test(test_write_never_blocks),
      cmocka_unit_test(test_long_request_arrives),
      cmocka_unit_test(test_too_long_request),
      cmocka_unit_test(test_babble_is_ended),
      cmocka_unit_test(test_cancel_through_a_flood),
      cmocka_unit_test(test_last_event_crosses_a_cancel),
      cmocka_unit_test(test_words_are_cleaned),
      cmocka_unit_test(test_no_sigpipe),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  catalog_free(kernels);
  return failed;
}
