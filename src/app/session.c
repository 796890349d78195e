#include "app/session.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>

static volatile sig_atomic_t stops;

static void on_signal(int sig) {
  (void)sig;
  stops++;
}

void session_signals(void) {
  struct sigaction sa;
  memset(&sa, 0, sizeof sa);
  sa.sa_handler = on_signal;
  sigemptyset(&sa.sa_mask);
  sigaction(SIGINT, &sa, NULL);
  sigaction(SIGTERM, &sa, NULL);
  sigaction(SIGHUP, &sa, NULL);
}

bool session_stopped(void) { return stops != 0; }

static bool is_last(enum client_kind k) {
  return k == CLIENT_RESULT || k == CLIENT_ROOFS || k == CLIENT_XRAY || k == CLIENT_HELLO ||
         k == CLIENT_ERROR || k == CLIENT_CANCELLED || k == CLIENT_GONE;
}

/* Waits for input, the client's own time, or a signal. The signals are blocked outside the wait, so
 * none is lost between the look at `stops` and the wait. */
static void wait_for(const client *c, const sigset_t *during) {
  struct pollfd p = {.fd = client_fd(c), .events = POLLIN};
  int ms = client_timeout(c);
  struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000L};
  ppoll(&p, p.fd >= 0 ? 1 : 0, ms >= 0 ? &t : NULL, during);
}

enum client_kind session_wait(client *c, int id,
                              void (*on)(void *ctx, const struct client_event *ev), void *ctx) {
  sigset_t block, old;
  sigemptyset(&block);
  sigaddset(&block, SIGINT);
  sigaddset(&block, SIGTERM);
  sigaddset(&block, SIGHUP);
  sigprocmask(SIG_BLOCK, &block, &old);
  enum client_kind end = CLIENT_GONE;
  for (bool over = false; !over;) {
    struct client_event ev;
    if (stops)
      client_cancel(c, id);
    if (!client_next(c, &ev)) {
      wait_for(c, &old);
      continue;
    }
    if (ev.id != id && ev.id != 0)
      continue;
    on(ctx, &ev);
    over = ev.id == id && is_last(ev.kind);
    end = ev.kind;
  }
  sigprocmask(SIG_SETMASK, &old, NULL);
  return end;
}
