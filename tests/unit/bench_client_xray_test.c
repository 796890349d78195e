/* X-rays through the client: the result as a struct, faults, a cancel, and a worker that is killed.
 */
#include "base/clock.h"
#include "bench/client.h"
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { LIMIT_MS = 30000 };
static const char REAL[] = "echo $$; exec \"$MMTUTOR\" worker";
static pid_t worker; /* as the last one told it */

static void next(client *c, struct client_event *ev) {
  double until = clock_ms() + LIMIT_MS;
  while (!client_next(c, ev)) {
    assert_true(clock_ms() < until);
    struct pollfd p = {.fd = client_fd(c), .events = POLLIN};
    int ms = client_timeout(c);
    poll(&p, p.fd >= 0 ? 1 : 0, ms >= 0 && ms < 100 ? ms : 100);
  }
  if (ev->kind == CLIENT_PRINT && ev->id == 0)
    worker = (pid_t)strtol(ev->text, NULL, 10);
}

/* The last event of the request; *compiled counts what came before it. */
static void finish(client *c, int id, struct client_event *ev, int *compiled) {
  *compiled = 0;
  do {
    next(c, ev);
    *compiled += ev->kind == CLIENT_COMPILE && ev->id == id;
  } while (ev->id != id || ev->kind == CLIENT_COMPILE || ev->kind == CLIENT_PRINT ||
           ev->kind == CLIENT_TRACE);
}

static int ask(client *c, const struct xray_request *q) {
  struct err err = {""};
  int id = client_xray(c, q, &err);
  if (id == 0)
    fail_msg("%s", err.text);
  return id;
}

static const struct xray_request small = {.kernel = "cuda/naive", .M = 37, .N = 53, .K = 29};
static const struct xray_request large = {.kernel = "cuda/naive", .M = 2048, .N = 2048, .K = 2048};

static void test_result(void **state) {
  (void)state;
  client *c = client_new(REAL);
  struct client_event ev;
  int compiled;
  finish(c, ask(c, &small), &ev, &compiled);
  assert_int_equal(ev.kind, CLIENT_XRAY);
  assert_int_equal(compiled, 1);
  assert_non_null(ev.xray);
  const struct xray_result *r = ev.xray;
  assert_string_equal(r->head.kernel, "cuda/naive");
  assert_true(r->head.M == 37 && r->head.N == 53 && r->head.K == 29);
  assert_true(r->verified && r->head.verify.ok && r->finished && !r->sampled);
  assert_string_equal(r->head.device.id, "xray");
  assert_true(r->counts.ffma > 0 && r->nlines > 0 && r->nproblems == 0);
  /* The struct outlives the event as a copy only. */
  struct xray_result copy;
  xray_result_copy(&copy, r);
  finish(c, ask(c, &small), &ev, &compiled);
  assert_true(copy.counts.gld_sectors == ev.xray->counts.gld_sectors);
  xray_result_done(&copy);
  client_free(c);
}

static void test_fault(void **state) {
  (void)state;
  client *c = client_new(REAL);
  struct client_event ev;
  int compiled;
  finish(c, ask(c, &(struct xray_request){.kernel = "cuda/nothing"}), &ev, &compiled);
  assert_int_equal(ev.kind, CLIENT_ERROR);
  assert_string_equal(ev.fault.code, "no_kernel");
  assert_null(ev.xray);
  finish(c, ask(c, &small), &ev, &compiled);
  assert_int_equal(ev.kind, CLIENT_XRAY);
  client_free(c);
}

static void until_compiled(client *c, int id) {
  struct client_event ev;
  do
    next(c, &ev);
  while (ev.id != id || ev.kind != CLIENT_COMPILE);
}

static void test_cancel(void **state) {
  (void)state;
  client *c = client_new(REAL);
  struct client_event ev;
  int compiled, id = ask(c, &large);
  until_compiled(c, id);
  client_cancel(c, id);
  finish(c, id, &ev, &compiled);
  assert_int_equal(ev.kind, CLIENT_CANCELLED);
  finish(c, ask(c, &small), &ev, &compiled);
  assert_int_equal(ev.kind, CLIENT_XRAY);
  client_free(c);
}

static void test_killed(void **state) {
  (void)state;
  client *c = client_new(REAL);
  struct client_event ev;
  int compiled, id = ask(c, &large);
  until_compiled(c, id);
  assert_true(worker > 1);
  assert_int_equal(kill(worker, SIGKILL), 0);
  finish(c, id, &ev, &compiled);
  assert_int_equal(ev.kind, CLIENT_GONE);
  assert_non_null(strstr(ev.fault.what, "while it looked into cuda/naive"));
  finish(c, ask(c, &small), &ev, &compiled);
  assert_int_equal(ev.kind, CLIENT_XRAY);
  client_free(c);
}

/* A directory of this machine says nothing to another one. */
static void test_dir_stays_here(void **state) {
  (void)state;
  client *c = client_new("read line; printf '%s\\n' \"$line\"; exec sleep 1000");
  struct client_event ev;
  struct xray_request q = small;
  q.dir = "/home/me";
  ask(c, &q);
  do
    next(c, &ev);
  while (ev.kind != CLIENT_PRINT || !strstr(ev.text, "\"req\""));
  assert_non_null(strstr(ev.text, "cuda/naive"));
  assert_null(strstr(ev.text, "/home/me"));
  client_free(c);
}

static void test_too_long(void **state) {
  (void)state;
  client *c = client_new(REAL);
  struct err err = {""};
  char *source = malloc(2 << 20);
  assert_non_null(source);
  memset(source, ' ', (2 << 20) - 1);
  source[(2 << 20) - 1] = '\0';
  struct xray_request q = {.kernel = "x.cu", .source = source};
  assert_int_equal(client_xray(c, &q, &err), 0);
  assert_non_null(strstr(err.text, "1 MiB"));
  free(source);
  client_free(c);
}

/* The kernel runs in the PTX machine: a crash is none of its own. */
static void test_crash(void **state) {
  (void)state;
  client *c = client_new("kill -SEGV $$");
  struct client_event ev;
  int compiled;
  finish(c, ask(c, &small), &ev, &compiled);
  assert_int_equal(ev.kind, CLIENT_GONE);
  assert_non_null(strstr(ev.fault.what, "signal 11"));
  assert_non_null(strstr(ev.fault.why, "compiler"));
  assert_null(strstr(ev.fault.why, "kernel touched"));
  client_free(c);
}

int main(void) {
  signal(SIGPIPE, SIG_DFL);
  if (!getenv("MMTUTOR"))
    setenv("MMTUTOR", "./mmtutor", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_result),         cmocka_unit_test(test_fault),
      cmocka_unit_test(test_cancel),         cmocka_unit_test(test_killed),
      cmocka_unit_test(test_dir_stays_here), cmocka_unit_test(test_too_long),
      cmocka_unit_test(test_crash),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
