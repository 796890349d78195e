#include "bench/worker_out.h"

#include "base/alloc.h"
#include "base/str.h"
#include "base/utf8.h"
#include "bench/wire.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PRINT_PART = 16384, PRINT_LIMIT = 256 * 1024 };

static pthread_mutex_t line_lock = PTHREAD_MUTEX_INITIALIZER; /* over protocol_fd */
static int protocol_fd = -1;

static pthread_mutex_t pump_lock = PTHREAD_MUTEX_INITIALIZER; /* over the rest */
static int pump_fd = -1;
static int print_id;
static size_t printed;  /* bytes of this request */
static struct str rest; /* the begin of a character that is not whole yet */

static void write_all(const char *data, size_t n) {
  while (n > 0) {
    ssize_t w = write(protocol_fd, data, n);
    if (w < 0 && errno == EINTR)
      continue;
    if (w < 0 && errno == EAGAIN) {
      poll(&(struct pollfd){.fd = protocol_fd, .events = POLLOUT}, 1, -1);
      continue;
    }
    if (w <= 0)
      _exit(0); /* nobody listens: nothing is left to be done for anybody */
    data += w;
    n -= (size_t)w;
  }
}

static void write_line(cJSON *event) {
  char *text = json_print(event);
  size_t n = strlen(text);
  text[n] = '\n'; /* in the place of its NUL: one write, one line */
  write_all(text, n + 1);
  free(text);
  cJSON_Delete(event);
}

void worker_out_send(cJSON *event) {
  pthread_mutex_lock(&line_lock);
  write_line(event);
  pthread_mutex_unlock(&line_lock);
}

void worker_out_last(cJSON *event) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 50 * 1000 * 1000;
  if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    until.tv_sec++;
  }
  if (pthread_mutex_timedlock(&line_lock, &until) != 0) {
    cJSON_Delete(event);
    return;
  }
  write_line(event);
  pthread_mutex_unlock(&line_lock);
}

/* Bytes at the end of s that begin a character which is not whole. */
static size_t cut_tail(const char *s, size_t n) {
  for (size_t back = 1; back <= 3 && back <= n; back++) {
    unsigned char c = (unsigned char)s[n - back];
    if ((c & 0xC0) == 0x80)
      continue;
    size_t need = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
    return need > back ? back : 0;
  }
  return 0;
}

static void send_print(const char *text) {
  cJSON *ev = wire_event(print_id, "print");
  cJSON_AddStringToObject(ev, "text", text);
  worker_out_send(ev);
}

/* Sends n bytes of raw text; a flood ends with one sentence. */
static void print_part(const char *data, size_t n) {
  bool silent = printed >= PRINT_LIMIT;
  printed += n;
  if (silent || n == 0)
    return;
  char *clean = utf8_clean(data, n);
  send_print(clean);
  free(clean);
  if (printed >= PRINT_LIMIT)
    send_print("\n(More was printed; only the first 256 KiB are shown.)\n");
}

static void pump(bool all) {
  char buf[PRINT_PART];
  for (;;) {
    ssize_t n = read(pump_fd, buf, sizeof buf);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      break;
    str_addn(&rest, buf, (size_t)n);
    size_t keep = cut_tail(rest.data, rest.len);
    print_part(rest.data, rest.len - keep);
    char tail[4] = {0};
    memcpy(tail, rest.data + rest.len - keep, keep);
    str_clear(&rest);
    str_addn(&rest, tail, keep);
  }
  if (all && rest.len > 0) {
    print_part(rest.data, rest.len);
    str_clear(&rest);
  }
}

static void *pump_thread(void *unused) {
  (void)unused;
  for (;;) {
    struct pollfd p = {.fd = pump_fd, .events = POLLIN};
    if (poll(&p, 1, -1) < 0 && errno != EINTR)
      return NULL;
    pthread_mutex_lock(&pump_lock);
    pump(false);
    pthread_mutex_unlock(&pump_lock);
  }
}

void worker_out_request(int id) {
  pthread_mutex_lock(&pump_lock);
  pump(true);
  print_id = id;
  printed = 0;
  pthread_mutex_unlock(&pump_lock);
}

void worker_out_flush(void) {
  fflush(NULL);
  pthread_mutex_lock(&pump_lock);
  pump(true);
  pthread_mutex_unlock(&pump_lock);
}

int worker_out_init(struct err *err) {
  int in = fcntl(0, F_DUPFD_CLOEXEC, 11);
  protocol_fd = fcntl(1, F_DUPFD_CLOEXEC, 11);
  int raw[2], null = open("/dev/null", O_RDONLY);
  if (in < 0 || protocol_fd < 0 || null < 0 || pipe(raw) != 0) {
    err_set(err,
            "The worker has no descriptors for its protocol (%s). Start it with a pipe on its "
            "input and its output.",
            strerror(errno));
    return -1;
  }
  pump_fd = fcntl(raw[0], F_DUPFD_CLOEXEC, 11);
  fcntl(pump_fd, F_SETFL, O_RDONLY | O_NONBLOCK);
  fflush(NULL);
  dup2(null, 0);
  dup2(raw[1], 1);
  dup2(raw[1], 2);
  for (int i = 0; i < 2; i++)
    if (raw[i] > 2)
      close(raw[i]);
  if (null > 2)
    close(null);
  setvbuf(stdout, NULL, _IOLBF, 4096);
  pthread_t t;
  if (pthread_create(&t, NULL, pump_thread, NULL) != 0) {
    err_set(err, "The worker could not start a thread. Close some programs and try again.");
    return -1;
  }
  pthread_detach(t);
  return in;
}
