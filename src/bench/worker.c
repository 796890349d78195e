#include "bench/worker.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "bench/lines.h"
#include "bench/worker_job.h"
#include "bench/worker_out.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* The main thread works, one thread reads. Exactly one of them sends a request's last event: the
 * one that finds `answered` false and sets it. */
enum { QUEUE_MAX = 64, CANCEL_MS = 50 };

struct waiting {
  json_doc *doc;
  struct wire_request req; /* its strings belong to doc */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static struct waiting queue[QUEUE_MAX];
static int queued;
static int running; /* id, or 0 */
static bool answered;
static atomic_bool stop;

static bool stop_asked(void) { return atomic_load(&stop); }

static void send_cancelled(int id, bool leaving) {
  cJSON *ev = wire_event(id, "cancelled");
  if (leaving)
    cJSON_AddBoolToObject(ev, "leaving", true);
  worker_out_last(ev);
}

/* ---- the working side */
static struct waiting take(void) {
  pthread_mutex_lock(&lock);
  while (queued == 0)
    pthread_cond_wait(&changed, &lock);
  struct waiting w = queue[0];
  queued--;
  memmove(queue, queue + 1, (size_t)queued * sizeof *queue);
  running = w.req.id;
  answered = false;
  atomic_store(&stop, false);
  pthread_mutex_unlock(&lock);
  return w;
}

/* Sends the last event unless the reader has answered already. */
static void finish(cJSON *last, bool leave) {
  worker_out_flush();
  pthread_mutex_lock(&lock);
  bool mine = !answered;
  answered = true;
  int id = running;
  pthread_mutex_unlock(&lock);
  if (mine && stop_asked()) {
    cJSON_Delete(last);
    last = wire_event(id, "cancelled");
  }
  if (mine && leave)
    cJSON_AddBoolToObject(last, "leaving", true);
  if (mine)
    worker_out_send(last);
  else
    cJSON_Delete(last);
  if (leave)
    _exit(0);
  worker_out_request(0);
  pthread_mutex_lock(&lock);
  running = 0;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

static void work(worker_job *j) {
  for (;;) {
    struct waiting w = take();
    worker_out_request(w.req.id);
    bool leave = false;
    cJSON *last = worker_job_do(j, &w.req, json_root(w.doc), &leave);
    finish(last, leave);
    json_free(w.doc);
  }
}

/* ---- the reading side */
static void refuse(int id, const char *what) { worker_out_send(worker_job_refuse(id, what)); }

static bool id_in_use(int id) {
  bool used = running == id;
  for (int i = 0; i < queued; i++)
    used = used || queue[i].req.id == id;
  return used;
}

/* Takes doc over. */
static void enqueue(json_doc *doc, const struct wire_request *r) {
  pthread_mutex_lock(&lock);
  const char *why = id_in_use(r->id)      ? "This id is in use by a request that has not ended."
                    : queued >= QUEUE_MAX ? "Too many requests wait already."
                                          : NULL;
  if (!why) {
    queue[queued++] = (struct waiting){doc, *r};
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&lock);
  if (!why)
    return;
  refuse(r->id, why);
  json_free(doc);
}

/* Takes a request that has not begun out of the queue. */
static bool unqueue(int id) {
  for (int i = 0; i < queued; i++)
    if (queue[i].req.id == id) {
      json_free(queue[i].doc);
      queued--;
      memmove(queue + i, queue + i + 1, (size_t)(queued - i) * sizeof *queue);
      return true;
    }
  return false;
}

/* Waits until the running request has ended, at most CANCEL_MS. Called with the lock. */
static bool ended_in_time(int id) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += CANCEL_MS * 1000000L;
  if (until.tv_nsec >= 1000000000L) {
    until.tv_nsec -= 1000000000L;
    until.tv_sec++;
  }
  int rc = 0;
  while (running == id && rc != ETIMEDOUT)
    rc = pthread_cond_timedwait(&changed, &lock, &until);
  return running != id;
}

/* Ends request `of`; false if there is no such one. Does not return if it cannot be stopped. */
static bool cancel(int of) {
  pthread_mutex_lock(&lock);
  if (unqueue(of)) {
    pthread_mutex_unlock(&lock);
    send_cancelled(of, false);
    return true;
  }
  bool found = running == of;
  if (found) {
    atomic_store(&stop, true);
    if (!ended_in_time(of) && !answered) {
      answered = true;
      pthread_mutex_unlock(&lock);
      send_cancelled(of, true);
      _exit(0);
    }
    /* Its last event is being written: to leave now would cut the line, and say nothing. */
    while (running == of)
      pthread_cond_wait(&changed, &lock);
  }
  pthread_mutex_unlock(&lock);
  return found;
}

static void on_cancel(const struct wire_request *r) {
  if (!cancel(r->of)) {
    struct err what;
    err_set(&what, "No request %d is running; it may have ended already.", r->of);
    struct device_fault f;
    wire_fault_set(&f, "no_request", what.text, "", "");
    worker_out_send(worker_job_error(r->id, &f));
    return;
  }
  cJSON *ev = wire_event(r->id, "result");
  cJSON_AddNumberToObject(ev, "of", r->of);
  worker_out_send(ev);
}

static void on_quit(const struct wire_request *r) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < queued; i++)
    send_cancelled(queue[i].req.id, true);
  if (running && !answered)
    send_cancelled(running, true);
  answered = true;
  pthread_mutex_unlock(&lock);
  worker_out_last(wire_event(r->id, "result"));
  _exit(0);
}

static void on_line(const char *text, size_t n) {
  struct err err;
  struct wire_request r = {0};
  json_doc *doc = json_parse(text, n, "request", LINES_MAX, &err);
  if (!doc) {
    refuse(0, err.text);
    return;
  }
  if (!wire_request(json_root(doc), &r, &err))
    refuse(r.id, err.text);
  else if (strcmp(r.req, "cancel") == 0)
    on_cancel(&r);
  else if (strcmp(r.req, "quit") == 0)
    on_quit(&r);
  else {
    enqueue(doc, &r);
    return;
  }
  json_free(doc);
}

static void *read_requests(void *fd_of) {
  const int fd = *(const int *)fd_of;
  struct lines lines = {0};
  static char buf[65536];
  for (;;) {
    ssize_t got = read(fd, buf, sizeof buf);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      _exit(0); /* the other end is gone: nothing here is worth finishing */
    lines_feed(&lines, buf, (size_t)got);
    char *line;
    size_t n;
    enum lines_got kind;
    while ((kind = lines_next(&lines, &line, &n)) != LINES_NONE) {
      if (kind == LINES_TOO_LONG)
        refuse(0, "A request line is at most 1 MiB. Send larger sources in a smaller file.");
      else if (n > 0)
        on_line(line, n);
    }
  }
}

static bool start_reader(int fd) {
  static int in;
  in = fd;
  pthread_condattr_t attr;
  pthread_condattr_init(&attr);
  pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  pthread_cond_init(&changed, &attr);
  pthread_condattr_destroy(&attr);
  pthread_t t;
  if (pthread_create(&t, NULL, read_requests, &in) != 0)
    return false;
  pthread_detach(t);
  return true;
}

int worker_main(void) {
  struct err err;
  signal(SIGPIPE, SIG_IGN);
  /* A wild kernel is an answer here, not a fault to be kept on the disk. */
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  int fd = worker_out_init(&err);
  if (fd < 0) {
    fprintf(stderr, "mmtutor worker: %s\n", err.text);
    return 1;
  }
  worker_job *j = worker_job_new(stop_asked);
  if (start_reader(fd))
    work(j);
  worker_job_free(j);
  return 1;
}
