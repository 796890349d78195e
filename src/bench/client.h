/* The other end of the worker's pipe: starts it, sends requests, hands out events. Never blocks. */
#ifndef MM_BENCH_CLIENT_H
#define MM_BENCH_CLIENT_H

#include "bench/result.h"
#include "bench/roofs.h"
#include "bench/tools.h"
#include "bench/xray_request.h"
#include "bench/xray_result.h"

enum client_kind {
  CLIENT_HELLO,
  CLIENT_COMPILE,
  CLIENT_VERIFY,
  CLIENT_SAMPLE,
  CLIENT_PRINT,
  CLIENT_RESULT,
  CLIENT_ROOFS,
  CLIENT_TRACE, /* of an xray that asked for it */
  CLIENT_XRAY,  /* the result of an xray */
  CLIENT_ERROR,
  CLIENT_CANCELLED,
  CLIENT_GONE /* the worker ended; the request in flight (id) ended with it */
};

/* One event. Pointers are valid until the next client_next. */
struct client_event {
  enum client_kind kind;
  int id;                      /* of the request; 0 if none */
  struct device_built built;   /* COMPILE */
  struct result_verify verify; /* VERIFY */
  const double *samples_ms;    /* SAMPLE */
  int nsamples;
  const char *text;                  /* PRINT; TRACE: whole lines of JSON, each with its '\n' */
  const struct result *result;       /* RESULT */
  const struct roofs *roofs;         /* ROOFS */
  const struct xray_result *xray;    /* XRAY */
  struct device_fault fault;         /* ERROR, GONE: what, why, next */
  const struct device_info *devices; /* HELLO */
  int ndevices;
  const char *no_cuda;        /* HELLO: one sentence why there is no CUDA device, "" if there is */
  const char *host, *version; /* HELLO: of the worker's machine, "" if not told */
  const struct tools *tools;  /* HELLO that asked for them; else NULL */
};

typedef struct client client;

/* `command` NULL: this program's own worker; else a shell command (`ssh gpubox mmtutor worker`).
 * Nothing is started yet; client_free ends the worker and reaps it. */
client *client_new(const char *command);
void client_free(client *c);

/* A run request's fields; strings are copied. */
struct client_run {
  const char *device, *kernel;
  const char *source; /* text of a file that the worker does not have, or NULL */
  struct kernel_size size;
  const struct kernel *params_of; /* names for size.param */
  double seconds;
  bool reference, cold;
  int threads;
  const char *isa; /* "auto" "plain" "avx2" "avx512" */
  uint64_t seed;
  double prediction; /* NAN if none */
  double warmup_s;   /* 0: the protocol's 1 s */
};

/* Each starts the worker if none runs, and returns the request's id (>= 1), or 0 with err. */
int client_run(client *c, const struct client_run *run, struct err *err);
int client_roofs(client *c, const char *device, double seconds, struct err *err);
int client_hello(client *c, struct err *err);

/* An x-ray: events COMPILE, TRACE and PRINT, then XRAY (or ERROR, CANCELLED, GONE). Strings of q
 * are copied. q->dir goes to this program's own worker alone. */
int client_xray(client *c, const struct xray_request *q, struct err *err);

/* A hello that also looks for libraries and permissions (loads them: slower). */
int client_tools(client *c, struct err *err);

/* Asks for cancellation; the worker ends the request (or itself) within 50 ms of the launch in
 * flight. The client ends the worker hard 250 ms later if it has not answered. Returns at once. */
void client_cancel(client *c, int id);

/* The descriptor to poll for input, -1 if no worker runs; and when client_next wants to be called
 * again although nothing came (ms from now, -1 never). */
int client_fd(const client *c);
int client_timeout(const client *c);

/* The next event, or false if there is none now. */
bool client_next(client *c, struct client_event *ev);

#endif
