#include "bench/pool.h"

#include "bench/host.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

enum { WIDTH_MAX = 256 };

struct job {
  void (*item)(void *ctx, int64_t i, int worker);
  void *ctx;
  int64_t n;
  _Atomic int64_t next;
};

struct worker {
  struct job *job;
  int index;
  pthread_t thread;
};

int pool_width(void) {
  int n = host_threads();
  return n < WIDTH_MAX ? n : WIDTH_MAX;
}

static void *work(void *arg) {
  struct worker *w = arg;
  for (int64_t i; (i = atomic_fetch_add(&w->job->next, 1)) < w->job->n;)
    w->job->item(w->job->ctx, i, w->index);
  return NULL;
}

void pool_run(int64_t n, void (*item)(void *ctx, int64_t i, int worker), void *ctx) {
  struct job job = {.item = item, .ctx = ctx, .n = n, .next = 0};
  struct worker workers[WIDTH_MAX];
  int width = pool_width(), started = 1;
  if (width > n)
    width = n > 0 ? (int)n : 1;
  /* Signals belong to the thread that has the event loop. */
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  for (; started < width; started++) {
    workers[started] = (struct worker){.job = &job, .index = started};
    if (pthread_create(&workers[started].thread, NULL, work, &workers[started]))
      break;
  }
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  workers[0] = (struct worker){.job = &job, .index = 0};
  work(&workers[0]);
  for (int i = 1; i < started; i++)
    pthread_join(workers[i].thread, NULL);
}
