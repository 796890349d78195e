#include "bench/client.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "bench/lines.h"
#include "bench/proc.h"
#include "bench/wire.h"
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FLIGHT_MAX = 16, DEVICES_MAX = 32, LEAVING_MAX = 16, GRACE_MS = 250, REAP_MS = 5 };
enum { NOTE_MAX = 400, READS_A_TURN = 16 };
/* What a command may print that is no protocol, before it is taken for something else: a greeting
 * has tens of lines, and the longest line of the protocol is LINES_MAX. */
enum { FOREIGN_LINES = 500, FOREIGN_BYTES = 4 * LINES_MAX };

struct flight {
  int id;
  enum client_kind wants; /* RESULT, ROOFS, XRAY or HELLO */
  char what[96];          /* "it ran cpu/ikj" */
  double kill_at;         /* ms; INFINITY unless it is being cancelled */
  bool lost;              /* its worker ended and another has been started since */
};

struct client {
  char *command;
  struct proc proc;
  bool running; /* a worker that takes requests */
  bool ended;   /* its output has ended; waits to be reaped */
  bool known;   /* `status` is its exit status */
  int status;
  double give_up_at; /* when an ended one that cannot be reaped is given up */
  struct lines lines;
  struct str out; /* not written yet */
  size_t written;
  char note[NOTE_MAX]; /* the last text on its output that is not protocol */
  int foreign_lines;   /* such lines, and bytes of any kind, since the last event */
  size_t foreign_bytes;
  bool babbles; /* it was ended because it speaks something else */
  struct flight flight[FLIGHT_MAX];
  int nflight, next_id;
  pid_t leaving[LEAVING_MAX]; /* ended, not reaped */
  int nleaving;
  /* what the last event points to */
  json_doc *doc;
  char *text;
  struct device_built built;
  double *samples;
  struct result result;
  struct roofs roofs;
  struct xray_result xray;
  struct tools tools;
  struct device_info devices[DEVICES_MAX];
};

client *client_new(const char *command) {
  client *c = alloc_zero(1, sizeof *c);
  c->command = command ? alloc_str(command) : NULL;
  c->next_id = 1;
  c->proc = (struct proc){0, -1, -1, -1};
  result_init(&c->result);
  xray_result_init(&c->xray);
  return c;
}

static void drop_event(client *c) {
  json_free(c->doc);
  c->doc = NULL;
  free(c->text);
  c->text = NULL;
  free(c->built.log);
  c->built.log = NULL;
  free(c->samples);
  c->samples = NULL;
  result_done(&c->result);
  result_init(&c->result);
  xray_result_done(&c->xray);
}

/* ---- the process */
static void reap_leaving(client *c) {
  int status;
  for (int i = 0; i < c->nleaving;) {
    if (proc_reap(c->leaving[i], &status))
      c->leaving[i] = c->leaving[--c->nleaving];
    else
      i++;
  }
}

/* Lets the present worker go: it is killed, and reaped when it can be. */
static void part(client *c) {
  if (c->proc.pid > 0 && !c->known) {
    proc_kill(&c->proc);
    if (c->nleaving == LEAVING_MAX)
      reap_leaving(c);
    if (c->nleaving < LEAVING_MAX)
      c->leaving[c->nleaving++] = c->proc.pid;
  }
  proc_close(&c->proc);
  c->proc.pid = 0;
  c->running = c->ended = c->known = c->babbles = false;
  c->foreign_lines = 0;
  c->foreign_bytes = 0;
  lines_free(&c->lines);
  str_free(&c->out);
  c->written = 0;
}

static bool start(client *c, struct err *err) {
  if (c->running && !c->ended)
    return true;
  for (int i = 0; i < c->nflight; i++)
    c->flight[i].lost = true;
  part(c);
  c->note[0] = '\0';
  char *self = c->command ? alloc_str("/bin/sh") : paths_program();
  if (!self)
    return err_set(err, "mmtutor cannot find its own program file to start the worker. Start it by "
                        "its full path.");
  const char *const own[] = {self, "worker", NULL};
  const char *const shell[] = {self, "-c", c->command, NULL};
  c->running = proc_spawn(c->command ? shell : own, &c->proc, err);
  free(self);
  return c->running;
}

void client_free(client *c) {
  if (!c)
    return;
  part(c);
  double until = clock_ms() + 1000;
  for (reap_leaving(c); c->nleaving > 0 && clock_ms() < until; reap_leaving(c))
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  drop_event(c);
  result_done(&c->result);
  free(c->command);
  free(c);
}

/* ---- requests */

/* write() to a worker that has gone must not end this process, whatever it does with SIGPIPE. */
static ssize_t write_quietly(int fd, const char *data, size_t n) {
  sigset_t set, old, pending;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  sigpending(&pending);
  bool was = sigismember(&pending, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &set, &old);
  ssize_t w = write(fd, data, n);
  int e = errno;
  if (w < 0 && e == EPIPE && !was) {
    int sig;
    sigpending(&pending);
    if (sigismember(&pending, SIGPIPE))
      sigwait(&set, &sig);
  }
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  errno = e;
  return w;
}

static void flush(client *c) {
  while (c->running && !c->ended && c->written < c->out.len) {
    ssize_t w = write_quietly(c->proc.in, c->out.data + c->written, c->out.len - c->written);
    if (w < 0 && errno == EINTR)
      continue;
    if (w < 0 && errno != EAGAIN)
      c->written = c->out.len; /* it has gone; its output's end will say so */
    if (w <= 0)
      break;
    c->written += (size_t)w;
  }
  if (c->written == c->out.len) {
    str_clear(&c->out);
    c->written = 0;
  }
}

static void post(client *c, const char *line) {
  str_add(&c->out, line);
  str_addc(&c->out, '\n');
  flush(c);
}

static int take_id(client *c) {
  int id = c->next_id;
  c->next_id = id == 2147483647 ? 1 : id + 1;
  return id;
}

/* Sends the request and deletes it. Returns its id, or 0. */
static int request(client *c, cJSON *req, int id, enum client_kind wants, const char *what,
                   struct err *err) {
  char *line = json_print(req);
  cJSON_Delete(req);
  int sent = 0;
  if (c->nflight == FLIGHT_MAX)
    err_set(err, "%d requests wait for the worker already. Wait for one to end.", FLIGHT_MAX);
  else if (strlen(line) > LINES_MAX)
    err_set(err, "The source is too long for the worker: a request is at most 1 MiB. Send a "
                 "smaller file.");
  else if (start(c, err)) {
    struct flight *f = &c->flight[c->nflight++];
    *f = (struct flight){.id = id, .wants = wants, .kill_at = INFINITY};
    snprintf(f->what, sizeof f->what, "%s", what);
    post(c, line);
    sent = id;
  }
  free(line);
  return sent;
}

int client_run(client *c, const struct client_run *run, struct err *err) {
  int id = take_id(c);
  struct client_run copy = *run;
  /* A worker elsewhere may have another version of the file; it compares the text with its own. */
  if (!copy.source && c->command && copy.params_of)
    copy.source = copy.params_of->source;
  char what[96];
  snprintf(what, sizeof what, "it ran %s", run->kernel);
  return request(c, wire_run_make(id, &copy), id, CLIENT_RESULT, what, err);
}

static cJSON *plain_request(int id, const char *req) {
  cJSON *o = cJSON_CreateObject();
  cJSON_AddNumberToObject(o, "id", id);
  cJSON_AddStringToObject(o, "req", req);
  return o;
}

int client_roofs(client *c, const char *id_of, double seconds, struct err *err) {
  int id = take_id(c);
  cJSON *o = plain_request(id, "roofs");
  cJSON_AddStringToObject(o, "device", id_of);
  cJSON_AddNumberToObject(o, "seconds", seconds);
  return request(c, o, id, CLIENT_ROOFS, "it measured the roofs", err);
}

static int hello(client *c, bool tools, struct err *err) {
  int id = take_id(c);
  cJSON *o = plain_request(id, "hello");
  cJSON_AddNumberToObject(o, "v", WIRE_VERSION);
  if (tools)
    cJSON_AddBoolToObject(o, "tools", true);
  return request(c, o, id, CLIENT_HELLO, "it looked for devices", err);
}

int client_xray(client *c, const struct xray_request *q, struct err *err) {
  int id = take_id(c);
  struct xray_request copy = *q;
  if (c->command)
    copy.dir = NULL;
  char what[96];
  snprintf(what, sizeof what, "it looked into %s", q->kernel ? q->kernel : "a kernel");
  return request(c, xray_request_make(id, &copy), id, CLIENT_XRAY, what, err);
}

int client_hello(client *c, struct err *err) { return hello(c, false, err); }
int client_tools(client *c, struct err *err) { return hello(c, true, err); }

static struct flight *find_flight(client *c, int id) {
  for (int i = 0; i < c->nflight; i++)
    if (c->flight[i].id == id)
      return &c->flight[i];
  return NULL;
}

static void end_flight(client *c, struct flight *f) {
  int i = (int)(f - c->flight);
  c->nflight--;
  memmove(f, f + 1, (size_t)(c->nflight - i) * sizeof *f);
}

void client_cancel(client *c, int id) {
  struct flight *f = find_flight(c, id);
  if (!f || isfinite(f->kill_at))
    return;
  f->kill_at = clock_ms() + GRACE_MS;
  cJSON *o = plain_request(take_id(c), "cancel");
  cJSON_AddNumberToObject(o, "of", id);
  char *line = json_print(o);
  cJSON_Delete(o);
  post(c, line);
  free(line);
}

/* ---- events */
int client_fd(const client *c) { return c->running && !c->ended ? c->proc.out : -1; }

int client_timeout(const client *c) {
  double at = INFINITY, now = clock_ms();
  for (int i = 0; i < c->nflight; i++)
    at = fmin(at, c->flight[i].kill_at);
  if (c->out.len > 0 || c->ended || c->nleaving > 0)
    at = fmin(at, now + REAP_MS);
  if (c->nflight > 0 && c->flight[0].lost)
    at = now;
  return isinf(at) ? -1 : (int)fmax(0, ceil(at - now));
}

static void read_samples(client *c, const cJSON *ev, struct client_event *e) {
  const cJSON *list = json_get(ev, "ms"), *v;
  int n = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
  c->samples = alloc_zero((size_t)n, sizeof *c->samples);
  e->nsamples = 0;
  cJSON_ArrayForEach(v, list) if (cJSON_IsNumber(v) && e->nsamples < n) c->samples[e->nsamples++] =
      v->valuedouble;
  e->samples_ms = c->samples;
}

static const char *or_empty(const char *s) { return s ? s : ""; }

static void read_hello(client *c, const cJSON *ev, struct client_event *e) {
  const cJSON *d;
  cJSON_ArrayForEach(d, json_get(ev, "devices")) if (e->ndevices < DEVICES_MAX)
      result_device_from_json(d, &c->devices[e->ndevices++]);
  e->devices = c->devices;
  e->no_cuda = or_empty(json_str(ev, "no_cuda"));
  e->host = or_empty(json_str(ev, "host"));
  e->version = or_empty(json_str(ev, "version"));
  const cJSON *tools = json_get(ev, "tools");
  if (tools) {
    tools_from_json(tools, &c->tools);
    e->tools = &c->tools;
  }
}

static void garbled(struct client_event *e, const char *why) {
  e->kind = CLIENT_ERROR;
  wire_fault_set(&e->fault, "protocol", "The worker's answer could not be read.", why,
                 "Install the same mmtutor on both machines.");
}

/* The last event of a request: what was asked for. */
static void read_answer(client *c, const cJSON *ev, enum client_kind wants,
                        struct client_event *e) {
  struct err err = {""};
  e->kind = wants;
  if (wants == CLIENT_ROOFS) {
    if (roofs_from_json(ev, &c->roofs, &err))
      e->roofs = &c->roofs;
    else
      garbled(e, err.text);
  } else if (wants == CLIENT_RESULT) {
    if (result_from_json(ev, &c->result, &err))
      e->result = &c->result;
    else
      garbled(e, err.text);
  } else if (wants == CLIENT_XRAY) {
    if (xray_result_from_json(ev, &c->xray, &err))
      e->xray = &c->xray;
    else
      garbled(e, err.text);
  } else
    garbled(e, "It is of another kind than the request.");
}

static bool is_ev(const cJSON *ev, const char *name) {
  return strcmp(or_empty(json_str(ev, "ev")), name) == 0;
}

/* Fills e from an event of request f; false if it is one that nobody needs. *last: it ends f. */
static bool read_event(client *c, const cJSON *ev, const struct flight *f, struct client_event *e,
                       bool *last) {
  *last = false;
  e->id = f->id;
  if (is_ev(ev, "compile")) {
    e->kind = CLIENT_COMPILE;
    wire_built_read(ev, &c->built);
    e->built = c->built;
  } else if (is_ev(ev, "verify")) {
    e->kind = CLIENT_VERIFY;
    wire_verify_read(ev, &e->verify);
  } else if (is_ev(ev, "sample")) {
    e->kind = CLIENT_SAMPLE;
    read_samples(c, ev, e);
  } else if (is_ev(ev, "trace")) {
    e->kind = CLIENT_TRACE;
    e->text = or_empty(json_str(ev, "text"));
  } else {
    *last = true;
    if (is_ev(ev, "hello") && f->wants == CLIENT_HELLO) {
      e->kind = CLIENT_HELLO;
      read_hello(c, ev, e);
    } else if (is_ev(ev, "result"))
      read_answer(c, ev, f->wants, e);
    else if (is_ev(ev, "error")) {
      e->kind = CLIENT_ERROR;
      wire_fault_read(ev, &e->fault);
    } else if (is_ev(ev, "cancelled"))
      e->kind = CLIENT_CANCELLED;
    else
      return *last = false;
  }
  return true;
}

/* A line that is no protocol: what a shell, ssh or srun says. */
static bool foreign_line(client *c, const char *line, size_t n, struct client_event *e) {
  c->foreign_lines++;
  c->text = utf8_clean(line, n);
  size_t cut = utf8_clip(c->text, NOTE_MAX / 4, NULL);
  snprintf(c->note, sizeof c->note, "%.*s", (int)(cut < NOTE_MAX ? cut : NOTE_MAX - 1), c->text);
  *e = (struct client_event){.kind = CLIENT_PRINT, .text = c->text};
  return true;
}

static bool one_line(client *c, const char *line, size_t n, struct client_event *e) {
  drop_event(c);
  *e = (struct client_event){0};
  c->doc = json_parse(line, n, "worker", 4 * LINES_MAX, NULL);
  const cJSON *ev = c->doc ? json_root(c->doc) : NULL;
  if (!ev || !cJSON_IsObject(ev) || !json_str(ev, "ev"))
    return foreign_line(c, line, n, e);
  json_clean(c->doc);
  c->foreign_lines = 0;
  c->foreign_bytes = 0;
  int id = (int)fmin(fmax(json_num(ev, "id", 0), 0), 2147483647);
  if (is_ev(ev, "print")) {
    *e = (struct client_event){
        .kind = CLIENT_PRINT, .id = id, .text = or_empty(json_str(ev, "text"))};
    return true;
  }
  struct flight *f = find_flight(c, id);
  bool last = false;
  if (!f || !read_event(c, ev, f, e, &last))
    return false;
  if (last)
    end_flight(c, f);
  if (json_bool(ev, "leaving", false) && c->nflight == 0)
    part(c); /* the next request must not go to a worker that is on its way out */
  return true;
}

static bool next_line(client *c, struct client_event *e) {
  char *line;
  size_t n;
  enum lines_got got;
  while ((got = lines_next(&c->lines, &line, &n)) != LINES_NONE)
    if (got == LINES_ONE && n > 0 && one_line(c, line, n, e))
      return true;
  return false;
}

/* Reads what is there. At the end of the worker's output `ended` is set. */
static void read_more(client *c) {
  char buf[16384];
  if (!c->running || c->ended)
    return;
  for (;;) {
    ssize_t n = read(c->proc.out, buf, sizeof buf);
    if (n < 0 && errno == EINTR)
      continue;
    if (n > 0) {
      lines_feed(&c->lines, buf, (size_t)n);
      c->foreign_bytes += (size_t)n;
    }
    if (n == 0 || (n < 0 && errno != EAGAIN)) {
      c->ended = true;
      c->give_up_at = clock_ms() + 2000;
    }
    return;
  }
}

/* The sentences for a worker that has ended while f was in flight. */
static void tell_end(client *c, const struct flight *f, struct device_fault *fault) {
  char how[96] = "", what[512];
  char *words = proc_last_words(&c->proc);
  const char *why = words[0] ? words : c->note, *next = "The next run starts a new worker.";
  bool known = c->known && !f->lost;
  bool signalled = known && WIFSIGNALED(c->status);
  int sig = signalled ? WTERMSIG(c->status) : 0;
  if (known)
    proc_describe(c->status, how, sizeof how);
  if (signalled)
    snprintf(what, sizeof what, "The worker was ended by %s while %s.", how, f->what);
  else if (known && c->command)
    snprintf(what, sizeof what, "The worker command ended with %s while %s.", how, f->what);
  else
    snprintf(what, sizeof what, "The worker ended%s%s while %s.", how[0] ? " with " : "", how,
             f->what);
  if (c->babbles && !f->lost) {
    snprintf(what, sizeof what, "The worker command does not speak the protocol; it was ended.");
    signalled = false;
  } else if (signalled && f->wants == CLIENT_XRAY && sig != SIGKILL)
    why = "The compiler library or the x-ray itself has a fault; a kernel cannot do this.";
  else if (sig == SIGSEGV || sig == SIGBUS)
    why = "The kernel touched memory that is not its own.";
  else if (sig == SIGFPE)
    why = "The kernel divided an integer by zero.";
  else if (sig == SIGILL)
    why = "The processor does not know an instruction of the kernel.";
  else if (sig == SIGKILL && !why[0])
    why = "Somebody ended it, or the machine ran out of memory.";
  if (c->command && !signalled)
    next = "Try the worker's command by hand: it must print nothing and wait for a line.";
  wire_fault_set(fault, "gone", what, why, next);
  free(words);
}

/* After the output's end: one event for each request in flight. */
static bool next_end(client *c, struct client_event *e) {
  bool lost = c->nflight > 0 && c->flight[0].lost; /* oldest first: lost ones lead */
  if (!c->ended && !lost)
    return false;
  if (c->ended && !c->known && c->proc.pid > 0)
    c->known = proc_reap(c->proc.pid, &c->status);
  if (!lost && !c->known && clock_ms() < c->give_up_at)
    return false;
  if (c->nflight == 0) {
    part(c);
    return false;
  }
  drop_event(c);
  struct flight f = c->flight[0];
  *e = (struct client_event){.kind = CLIENT_GONE, .id = f.id};
  if (isfinite(f.kill_at))
    e->kind = CLIENT_CANCELLED;
  else
    tell_end(c, &f, &e->fault);
  end_flight(c, c->flight);
  return true;
}

static void end_worker(client *c) {
  if (!c->running || c->ended)
    return;
  proc_kill(&c->proc);
  c->ended = true; /* a grandchild may hold the pipe open: do not wait for its end */
  c->give_up_at = clock_ms() + 2000;
}

static void kill_late(client *c) {
  double now = clock_ms();
  for (int i = 0; i < c->nflight; i++)
    if (now >= c->flight[i].kill_at)
      end_worker(c);
}

static void end_babble(client *c) {
  if (c->ended || (c->foreign_lines < FOREIGN_LINES && c->foreign_bytes < FOREIGN_BYTES))
    return;
  end_worker(c);
  c->babbles = true;
  lines_free(&c->lines);
}

bool client_next(client *c, struct client_event *ev) {
  reap_leaving(c);
  flush(c);
  kill_late(c); /* first: a worker that never stops talking is ended too */
  end_babble(c);
  if (next_line(c, ev))
    return true;
  for (int i = 0; i < READS_A_TURN; i++) {
    read_more(c);
    if (next_line(c, ev))
      return true;
    if (c->ended)
      break;
  }
  return next_end(c, ev);
}
