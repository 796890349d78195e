#include "bench/worker_job.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "bench/cuda_fault.h"
#include "bench/measure.h"
#include "bench/tools.h"
#include "bench/worker_out.h"
#include "bench/worker_xray.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLE_EVERY_MS = 50, SAMPLES_HELD = 4096, LOG_LIMIT = 128 * 1024 };

struct worker_job {
  catalog *kernels;
  struct kernel *sent; /* the kernel that came as text */
  const struct device_ops *real;
  struct device_ops ops; /* the same with launches that can be stopped */
  device *open;
  char open_id[32];
};

/* device_ops has no context, so what `launch` needs lives here; there is one worker a process. */
static bool (*stop_asked)(void);
static const struct device_ops *stop_real;

static bool stoppable_launch(device *d, enum device_arm arm, int n, double *ms,
                             struct device_fault *fault) {
  if (stop_asked()) {
    wire_fault_set(fault, "cancelled", "The run was cancelled.", "", "");
    return false;
  }
  return stop_real->launch(d, arm, n, ms, fault);
}

worker_job *worker_job_new(bool (*stopped)(void)) {
  worker_job *j = alloc_zero(1, sizeof *j);
  j->kernels = catalog_new();
  stop_asked = stopped;
  return j;
}

static void close_device(worker_job *j) {
  if (j->open)
    j->real->close(j->open);
  j->open = NULL;
  j->open_id[0] = '\0';
}

void worker_job_free(worker_job *j) {
  if (!j)
    return;
  close_device(j);
  kernel_free(j->sent);
  catalog_free(j->kernels);
  free(j);
}

cJSON *worker_job_error(int id, const struct device_fault *fault) {
  cJSON *ev = wire_event(id, "error");
  wire_fault_put(ev, fault);
  return ev;
}

cJSON *worker_job_refuse(int id, const char *what) {
  struct device_fault f;
  wire_fault_set(&f, "bad_request", what, "", "");
  return worker_job_error(id, &f);
}

static bool open_device(worker_job *j, const char *id, struct device_fault *fault) {
  if (j->open && strcmp(j->open_id, id) == 0)
    return true;
  close_device(j);
  int index = 0;
  struct err err;
  const struct device_ops *ops = device_by_id(id, &index, &err);
  if (!ops) {
    wire_fault_set(fault, "no_device", err.text, "", "`mmtutor doctor` lists what is here.");
    return false;
  }
  j->open = ops->open(index, fault);
  if (!j->open)
    return false;
  j->real = stop_real = ops;
  j->ops = *ops;
  j->ops.launch = stoppable_launch;
  snprintf(j->open_id, sizeof j->open_id, "%s", id);
  return true;
}

/* ---- run */
struct progress {
  int id;
  double last_ms; /* when samples were sent last */
  double held[SAMPLES_HELD];
  int n;
};

static void on_compile(void *ctx, const struct device_built *built) {
  struct progress *p = ctx;
  struct device_built b = *built;
  char *log = NULL;
  if (b.log) {
    size_t n = strlen(b.log);
    log = utf8_clean(b.log, n > LOG_LIMIT ? LOG_LIMIT : n);
    b.log = log;
  }
  cJSON *ev = wire_event(p->id, "compile");
  wire_built_put(ev, &b);
  worker_out_send(ev);
  free(log);
}

static void on_verify(void *ctx, const struct result_verify *v) {
  struct progress *p = ctx;
  cJSON *ev = wire_event(p->id, "verify");
  wire_verify_put(ev, v);
  worker_out_send(ev);
}

/* Samples are held back so that there are at most 20 events a second; the result has all of them.
 */
static void on_sample(void *ctx, const double *ms, int n) {
  struct progress *p = ctx;
  for (int i = 0; i < n && p->n < SAMPLES_HELD; i++)
    p->held[p->n++] = ms[i];
  double now = clock_ms();
  if (now - p->last_ms < SAMPLE_EVERY_MS)
    return;
  cJSON *ev = wire_event(p->id, "sample");
  cJSON_AddItemToObject(ev, "ms", cJSON_CreateDoubleArray(p->held, p->n));
  worker_out_send(ev);
  p->last_ms = now;
  p->n = 0;
}

/* The kernel a run names, from the catalog or from the text it brings; NULL with a fault. */
static const struct kernel *find_kernel(worker_job *j, const struct wire_run *run,
                                        struct device_fault *fault) {
  struct err err;
  const struct kernel *known = catalog_find(j->kernels, run->kernel);
  if (!run->source) {
    if (known)
      return known;
    catalog_unknown(j->kernels, run->kernel, &err);
    wire_fault_set(fault, "no_kernel", err.text, "", "`mmtutor run --list` names them all.");
    return NULL;
  }
  size_t n = strlen(run->source);
  if (known && strcmp(known->source, run->source) == 0)
    return known;
  bool cuda =
      run->target ? strcmp(run->target, "cuda") == 0 : strncmp(run->kernel, "cuda/", 5) == 0;
  const char *at = strrchr(run->kernel, '@');
  kernel_free(j->sent);
  j->sent = kernel_parse(run->source, n, cuda ? "file.cu" : "file.c", at ? at + 1 : NULL, &err);
  if (!j->sent)
    wire_fault_set(fault, "front_matter", err.text, "",
                   "Correct the comment at the head of the file.");
  return j->sent;
}

static bool make_job(const struct wire_run *run, const struct kernel *k, struct device_job *job,
                     struct device_fault *fault) {
  struct err err;
  *job = (struct device_job){.kernel = k,
                             .size = kernel_size_default(k, run->M, run->N, run->K),
                             .seed = run->seed,
                             .threads = run->threads,
                             .isa = run->isa,
                             .isa_auto = run->isa_auto,
                             .reference = run->reference};
  const cJSON *p;
  cJSON_ArrayForEach(p, run->params) {
    if (!kernel_set_param(k, &job->size, p->string, p->valuedouble, &err)) {
      wire_fault_set(fault, "params", err.text, "", "");
      return false;
    }
  }
  if (!kernel_accepts(k, &job->size, &err)) {
    wire_fault_set(fault, "requires", err.text, "", "");
    return false;
  }
  bool on_cuda = strncmp(run->device, "cuda", 4) == 0, on_cpu = strcmp(run->device, "cpu") == 0;
  if ((k->target == KERNEL_CUDA && on_cpu) || (k->target == KERNEL_CPU && on_cuda)) {
    err_set(&err, "%s is a %s kernel and cannot run on %s.", k->id,
            k->target == KERNEL_CUDA ? "CUDA" : "CPU", run->device);
    wire_fault_set(fault, "wrong_device", err.text, "",
                   k->target == KERNEL_CUDA ? "Use --device cuda:0." : "Use --device cpu.");
    return false;
  }
  return true;
}

static cJSON *do_run(worker_job *j, int id, const cJSON *line, bool *leave) {
  struct wire_run run;
  struct err err;
  struct device_fault fault = {0};
  if (!wire_run_read(line, &run, &err))
    return worker_job_refuse(id, err.text);
  if (run.counters) {
    wire_fault_set(&fault, "unsupported", "Hardware counters are not measured by this version.", "",
                   "Send the run without counters.");
    return worker_job_error(id, &fault);
  }
  struct device_job job;
  const struct kernel *k = find_kernel(j, &run, &fault);
  if (!k || !make_job(&run, k, &job, &fault) || !open_device(j, run.device, &fault))
    return worker_job_error(id, &fault);
  struct progress progress = {.id = id, .last_ms = -INFINITY};
  const struct measure_sink sink = {&progress, on_compile, on_verify, on_sample};
  const struct measure_plan plan = {.seconds = run.seconds,
                                    .warmup_s = run.warmup_s > 0 ? run.warmup_s : 1,
                                    .cold = run.cold,
                                    .prediction = run.prediction};
  struct result result;
  result_init(&result);
  cJSON *ev;
  if (measure_run(&j->ops, j->open, &job, &plan, &sink, &result, &fault)) {
    ev = wire_event(id, "result");
    wire_merge(ev, result_to_json(&result));
  } else {
    ev = worker_job_error(id, &fault);
    *leave = cuda_fault_fatal(fault.code);
  }
  result_done(&result);
  return ev;
}

/* ---- roofs */
static cJSON *do_roofs(worker_job *j, int id, const cJSON *line, bool *leave) {
  const char *dev = json_str(line, "device");
  double seconds = json_num(line, "seconds", 3);
  struct device_fault fault = {0};
  if (!dev || !(seconds > 0 && seconds <= 600))
    return worker_job_refuse(id,
                             "roofs needs \"device\", a string, and \"seconds\" from 0 to 600.");
  if (!open_device(j, dev, &fault))
    return worker_job_error(id, &fault);
  struct roofs roofs;
  memset(&roofs, 0, sizeof roofs);
  if (!roofs_measure(&j->ops, j->open, seconds, &roofs, &fault)) {
    *leave = cuda_fault_fatal(fault.code);
    return worker_job_error(id, &fault);
  }
  if (strcmp(j->real->kind, "null") != 0)
    roofs_save(&roofs); /* runs on this machine are held against them */
  cJSON *ev = wire_event(id, "result");
  wire_merge(ev, roofs_to_json(&roofs));
  return ev;
}

/* ---- hello and list */
static void put_devices(cJSON *ev) {
  cJSON *list = cJSON_AddArrayToObject(ev, "devices");
  struct err why = {""};
  struct device_info info;
  int n = device_cuda_count(&why);
  for (int i = 0; i < n; i++)
    if (device_cuda_glance(i, &info))
      cJSON_AddItemToArray(list, result_device_to_json(&info, true));
  device_cpu_glance(&info);
  cJSON_AddItemToArray(list, result_device_to_json(&info, true));
  if (n <= 0)
    cJSON_AddStringToObject(ev, "no_cuda", why.text);
}

static cJSON *do_hello(worker_job *j, int id, bool with_tools) {
  cJSON *ev = wire_event(id, "hello");
  cJSON_AddNumberToObject(ev, "v", WIRE_VERSION);
  cJSON_AddStringToObject(ev, "version", MMTUTOR_VERSION);
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) == 0)
    cJSON_AddStringToObject(ev, "host", host);
  put_devices(ev);
  cJSON *kernels = cJSON_AddObjectToObject(ev, "kernels");
  for (int i = 0; i < catalog_count(j->kernels); i++) {
    const struct kernel *k = catalog_at(j->kernels, i);
    cJSON_AddStringToObject(kernels, k->id, k->sha256);
  }
  if (with_tools) {
    struct tools tools;
    tools_probe(&tools);
    cJSON_AddItemToObject(ev, "tools", tools_to_json(&tools));
  }
  return ev;
}

static cJSON *do_list(worker_job *j, int id) {
  cJSON *ev = wire_event(id, "result");
  cJSON *kernels = cJSON_AddArrayToObject(ev, "kernels");
  for (int i = 0; i < catalog_count(j->kernels); i++)
    cJSON_AddItemToArray(kernels, cJSON_CreateString(catalog_at(j->kernels, i)->id));
  put_devices(ev);
  return ev;
}

cJSON *worker_job_do(worker_job *j, const struct wire_request *r, const cJSON *line, bool *leave) {
  *leave = false;
  if (strcmp(r->req, "run") == 0)
    return do_run(j, r->id, line, leave);
  if (strcmp(r->req, "roofs") == 0)
    return do_roofs(j, r->id, line, leave);
  if (strcmp(r->req, "hello") == 0)
    return do_hello(j, r->id, r->tools);
  if (strcmp(r->req, "list") == 0)
    return do_list(j, r->id);
  if (strcmp(r->req, "xray") == 0)
    return worker_xray(j->kernels, r->id, line, stop_asked);
  struct err what;
  struct device_fault fault;
  bool later = strcmp(r->req, "counters") == 0 || strcmp(r->req, "check") == 0;
  if (!later)
    err_set(&what, "There is no request \"%.64s\".", r->req);
  else
    err_set(&what, "The request \"%s\" is not served by this version.", r->req);
  wire_fault_set(&fault, later ? "unsupported" : "bad_request", what.text, "",
                 "Requests are hello, list, run, roofs, xray, cancel and quit.");
  return worker_job_error(r->id, &fault);
}
