#include "bench/dev_cuda.h"
#include "base/alloc.h"
#include "bench/cuda_buffers.h"
#include "bench/cuda_build.h"
#include "bench/cuda_fault.h"
#include "bench/cuda_info.h"
#include "bench/cuda_launch.h"
#include "bench/nvml.h"
#include "bench/nvrtc.h"
#include "bench/ref_cublas.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LAUNCHES = 8 };

struct device {
  const struct cuda_api *cu;
  cuda_device device;
  int arch;
  bool retained;
  struct device_info info;
  struct cuda_buffers buffers; /* its stream and events are this device's */
  cuda_module module, empty;
  struct cuda_launch launch[MAX_LAUNCHES];
  int nlaunches;
  struct device_job job;
  ref_cublas *blas;
  bool reference;    /* the prepared job has one */
  struct err no_ref; /* why it has none */
  nvml *nvml;
  bool dead; /* a fatal fault happened: only close may follow */
  struct device_fault last;
};

/* Remembers a fault that leaves the context unusable. */
static bool failed(device *d, const struct device_fault *fault) {
  if (cuda_fault_fatal(fault->code)) {
    d->dead = true;
    d->last = *fault;
  }
  return false;
}

static bool alive(const device *d, struct device_fault *fault) {
  if (d->dead)
    *fault = d->last;
  return !d->dead;
}

/* ---- open and close */

static void cuda_close(device *d) {
  if (d->retained) {
    const struct cuda_api *cu = d->cu;
    ref_cublas_close(d->blas);
    cuda_buffers_free(&d->buffers);
    if (d->module)
      cu->module_free(d->module);
    if (d->empty)
      cu->module_free(d->empty);
    if (d->buffers.begin)
      cu->event_free(d->buffers.begin);
    if (d->buffers.end)
      cu->event_free(d->buffers.end);
    if (d->buffers.stream)
      cu->stream_free(d->buffers.stream);
    cu->ctx_release(d->device);
  }
  nvml_close(d->nvml);
  free(d);
}

static bool make_context(device *d, struct device_fault *fault) {
  const struct cuda_api *cu = d->cu;
  cuda_context ctx = NULL;
  cuda_result rc = cu->ctx_retain(&ctx, d->device);
  if (rc)
    return cuda_fault_driver(cu, rc, "opening the GPU", fault);
  d->retained = true;
  rc = cu->ctx_set(ctx);
  if (!rc)
    rc = cu->stream_create(&d->buffers.stream, CUDA_STREAM_NON_BLOCKING);
  if (!rc)
    rc = cu->event_create(&d->buffers.begin, 0);
  if (!rc)
    rc = cu->event_create(&d->buffers.end, CUDA_EVENT_BLOCKING);
  return rc ? cuda_fault_driver(cu, rc, "opening the GPU", fault) : true;
}

static device *cuda_open(int index, struct device_fault *fault) {
  struct err err;
  int count;
  const struct cuda_api *cu = cuda_info_start(&count, &err);
  if (cu && (index < 0 || index >= count)) {
    err_set(&err, "There is no cuda:%d here; the devices are cuda:0 to cuda:%d.", index, count - 1);
    cu = NULL;
  }
  if (!cu) {
    cuda_fault_set(fault, "no_device", "There is no CUDA device to run on.", err.text,
                   "Run a CPU kernel instead (cpu/ikj), or see mmtutor doctor.");
    return NULL;
  }
  device *d = alloc_zero(1, sizeof *d);
  d->cu = d->buffers.cu = cu;
  if (!cuda_info_fill(cu, index, &d->info, &d->device, &d->arch)) {
    cuda_fault_set(fault, "no_device", "The driver does not describe this device.", "",
                   "Run mmtutor doctor.");
    cuda_close(d);
    return NULL;
  }
  if (!make_context(d, fault)) {
    cuda_close(d);
    return NULL;
  }
  char pci[32];
  if (!cu->device_pci(pci, sizeof pci, d->device))
    d->nvml = nvml_open(pci);
  return d;
}

static void cuda_describe(device *d, struct device_info *info) {
  if (!d->info.compiler[0]) {
    const nvrtc *n = nvrtc_open(NULL);
    if (n && nvrtc_target(n, d->arch))
      snprintf(d->info.compiler, sizeof d->info.compiler, "NVRTC %s", nvrtc_version(n));
    else
      snprintf(d->info.compiler, sizeof d->info.compiler, "driver JIT (shipped PTX)");
  }
  *info = d->info;
}

/* ---- prepare */

static bool fits_device(const device *d, const struct kernel *k, struct device_fault *fault) {
  double cc = d->arch / 10.0;
  char what[512];
  if ((k->cc_min <= 0 || cc >= k->cc_min - 1e-9) && (k->cc_max <= 0 || cc <= k->cc_max + 1e-9))
    return true;
  snprintf(what, sizeof what, "%.100s does not run on compute capability %s.", k->id, d->info.cc);
  return cuda_fault_set(fault, "cc", what,
                        "It uses instructions that only other generations of GPU have.",
                        "Choose another rung: mmtutor ladder lists those of this GPU.");
}

static bool acceptable(const device *d, const struct device_job *job, struct device_fault *fault) {
  const struct kernel *k = job->kernel;
  struct err err;
  if (k->a == DT_F64 || k->b == DT_F64 || k->c == DT_F64 || k->acc != DT_F32)
    return cuda_fault_set(fault, "unsupported",
                          "This version runs matrices of f32, f16 and bf16, summed in f32.",
                          "The front matter names another type.", "Choose another rung.");
  if (k->nlaunches < 1 || k->nlaunches > MAX_LAUNCHES)
    return cuda_fault_set(fault, "unsupported", "The front matter must list 1 to 8 launches.", "",
                          "Correct \"launches\" in the front matter.");
  if (!fits_device(d, k, fault))
    return false;
  if (!kernel_accepts(k, &job->size, &err))
    return cuda_fault_set(fault, "size", "This kernel does not take these sizes.", err.text,
                          "Choose sizes that it takes.");
  return true;
}

static bool workspace(const device *d, const struct device_job *job, size_t *bytes,
                      struct device_fault *fault) {
  struct kernel_scope scope = {job->kernel, &job->size, d->info.sms, d->info.smem_sm};
  struct err err;
  double v = 0;
  *bytes = 0;
  if (!job->kernel->workspace)
    return true;
  if (!expr_eval(job->kernel->workspace, kernel_lookup, &scope, &v, &err))
    return cuda_fault_set(fault, "size", "The workspace of this kernel has no size.", err.text,
                          "Correct \"workspace\" in the front matter.");
  *bytes = v > 0 && v < 0x1p50 ? (size_t)v : 0;
  return true;
}

/* Finds the reference of a job; having none is no failure. */
static void find_reference(device *d, const struct device_job *job) {
  d->reference = false;
  d->no_ref.text[0] = 0;
  if (!ref_cublas_covers(job->kernel, &d->no_ref))
    return;
  if (!job->reference) {
    err_set(&d->no_ref, "The reference was not asked for.");
    return;
  }
  if (ref_cublas_needs_library(job->kernel) && !d->blas)
    d->blas = ref_cublas_open(d->cu, d->buffers.stream, &d->no_ref);
  d->reference = !ref_cublas_needs_library(job->kernel) ||
                 (d->blas && ref_cublas_ready(d->blas, job->kernel, &d->no_ref));
}

static bool load_kernel(device *d, const struct device_job *job, struct device_built *built,
                        struct device_fault *fault) {
  struct cuda_build_target target = {d->cu, d->arch, d->info.driver};
  if (d->module)
    d->cu->module_free(d->module);
  d->module = NULL;
  if (!cuda_build(&target, job->kernel, &job->size, &d->module, d->info.compiler, built, fault)) {
    d->module = NULL;
    return false;
  }
  return true;
}

static void note_resources(const device *d, struct device_built *built) {
  for (int i = 0; i < d->nlaunches; i++) {
    const struct cuda_launch *l = &d->launch[i];
    if (l->registers > built->registers)
      built->registers = l->registers;
    int shared = l->shared_bytes < 0 ? -1 : l->shared_bytes + (int)l->shared;
    if (shared > built->shared_bytes)
      built->shared_bytes = shared;
    if (l->local_bytes > built->spill_bytes)
      built->spill_bytes = l->local_bytes;
  }
}

static bool cuda_prepare(device *d, const struct device_job *job, struct device_built *built,
                         struct device_fault *fault) {
  *built = (struct device_built){.registers = -1,
                                 .shared_bytes = -1,
                                 .spill_bytes = -1,
                                 .transfer_in_ms = (double)NAN,
                                 .compile_ms = (double)NAN};
  size_t work;
  d->nlaunches = 0;
  if (!alive(d, fault))
    return false;
  if (!acceptable(d, job, fault) || !workspace(d, job, &work, fault))
    return false;
  d->job = *job;
  if (!load_kernel(d, job, built, fault))
    return failed(d, fault);
  find_reference(d, job);
  if (!cuda_buffers_prepare(&d->buffers, job, work, d->reference, fault))
    return failed(d, fault);
  for (int i = 0; i < job->kernel->nlaunches; i++)
    if (!cuda_launch_prepare(&d->launch[i], i, d->module, &d->buffers, job, &d->info, fault))
      return failed(d, fault);
  d->nlaunches = job->kernel->nlaunches;
  note_resources(d, built);
  if (d->buffers.bytes[BUFFER_A] || d->buffers.bytes[BUFFER_B])
    built->transfer_in_ms = d->buffers.transfer_in_ms;
  return true;
}

static bool cuda_poison(device *d, struct device_fault *fault) {
  if (!alive(d, fault))
    return false;
  return cuda_buffers_poison(&d->buffers, fault) || failed(d, fault);
}

/* ---- launch */

static bool kernel_once(device *d, struct device_fault *fault) {
  for (int i = 0; i < d->nlaunches; i++) {
    cuda_result rc = cuda_launch_go(&d->launch[i], &d->buffers);
    if (rc)
      return cuda_fault_driver(d->cu, rc, "launching the kernel", fault);
  }
  return true;
}

static bool reference_once(device *d, struct device_fault *fault) {
  cuda_result rc;
  struct err err;
  if (!ref_cublas_go(d->blas, &d->job, &d->buffers, &rc, &err))
    return cuda_fault_set(fault, "reference", "The reference failed.", err.text,
                          "Run without the reference.");
  return rc ? cuda_fault_driver(d->cu, rc, "running the reference", fault) : true;
}

/* Waits for the end event without spinning, then for the stream, which also brings out printf. */
static bool wait_ms(device *d, double *ms, struct device_fault *fault) {
  const struct cuda_api *cu = d->cu;
  float t = 0;
  cuda_result rc = cu->event_wait(d->buffers.end);
  if (!rc)
    rc = cu->stream_wait(d->buffers.stream);
  if (!rc)
    rc = cu->event_ms(&t, d->buffers.begin, d->buffers.end);
  if (rc)
    return cuda_fault_driver(cu, rc, "running the kernel", fault);
  *ms = (double)t;
  return true;
}

static bool cuda_run(device *d, enum device_arm arm, int n, double *ms,
                     struct device_fault *fault) {
  const struct cuda_api *cu = d->cu;
  cuda_result rc = cu->event_record(d->buffers.begin, d->buffers.stream);
  if (rc)
    return cuda_fault_driver(cu, rc, "starting the timer", fault);
  for (int i = 0; i < n; i++)
    if (!(arm == ARM_KERNEL ? kernel_once(d, fault) : reference_once(d, fault)))
      return false;
  rc = cu->event_record(d->buffers.end, d->buffers.stream);
  if (rc)
    return cuda_fault_driver(cu, rc, "stopping the timer", fault);
  return wait_ms(d, ms, fault);
}

static bool cuda_launch_arm(device *d, enum device_arm arm, int n, double *ms,
                            struct device_fault *fault) {
  *ms = (double)NAN;
  if (!alive(d, fault))
    return false;
  if (arm == ARM_KERNEL && !d->nlaunches)
    return cuda_fault_set(fault, "launch", "No kernel is prepared.", "The last one did not load.",
                          "Start the run again.");
  if (arm == ARM_REFERENCE && !d->reference)
    return cuda_fault_set(fault, "no_reference", "There is no reference for this run.",
                          d->no_ref.text, "Run without the reference.");
  return cuda_run(d, arm, n, ms, fault) || failed(d, fault);
}

/* An entry that returns at once. PTX 6.3 is taken by every driver that knows sm_75. */
static const char empty_ptx[] = ".version 6.3\n.target sm_75\n.address_size 64\n"
                                ".visible .entry mmtutor_empty()\n{\n ret;\n}\n";

static bool empty_entry(device *d, struct cuda_launch *l) {
  memset(l, 0, sizeof *l);
  for (int i = 0; i < 3; i++)
    l->grid[i] = l->block[i] = 1;
  if (!d->empty && d->cu->module_load(&d->empty, empty_ptx, 0, NULL, NULL))
    d->empty = NULL;
  return d->empty && !d->cu->module_function(&l->function, d->empty, "mmtutor_empty");
}

/* The least of some rounds of 200 empty launches back to back. */
static double cuda_overhead(device *d) {
  enum { ROUNDS = 7, LAUNCHES = 200 };
  struct cuda_launch l;
  struct device_fault fault;
  double best = (double)NAN, ms;
  if (d->dead || !empty_entry(d, &l))
    return best;
  for (int r = 0; r < ROUNDS; r++) {
    bool ok = !d->cu->event_record(d->buffers.begin, d->buffers.stream);
    for (int i = 0; ok && i < LAUNCHES; i++)
      ok = !cuda_launch_go(&l, &d->buffers);
    ok = ok && !d->cu->event_record(d->buffers.end, d->buffers.stream);
    if (!ok || !wait_ms(d, &ms, &fault))
      return (double)NAN;
    if (isnan(best) || ms / LAUNCHES < best)
      best = ms / LAUNCHES;
  }
  return best;
}

/* ---- results */

/* Elements from one row of C to the next: a transposed A has N rows of M, all others have M rows.
 */
static int64_t row_elements(const device *d) {
  double a, b, c;
  if (d->job.kernel->op == OP_TRANSPOSE)
    return d->job.size.M;
  kernel_elements(d->job.kernel, &d->job.size, &a, &b, &c);
  int64_t n = (int64_t)c / d->job.size.M;
  return n > 0 ? n : 1;
}

static bool cuda_download(device *d, int64_t row0, int64_t rows, float *out, double *ms,
                          struct device_fault *fault) {
  if (!alive(d, fault))
    return false;
  int64_t row = row_elements(d);
  return cuda_buffers_download(&d->buffers, row0 * row, rows * row, out, ms, fault) ||
         failed(d, fault);
}

static void cuda_health(device *d, double *mhz, double *watt, int *throttled) {
  nvml_read(d->nvml, mhz, watt, throttled);
}

static bool cuda_reference(device *d, char name[64], char version[64], struct err *why) {
  name[0] = version[0] = 0;
  if (!d->reference)
    return err_set(why, "%s", d->no_ref.text[0] ? d->no_ref.text : "No run is prepared.");
  ref_cublas_name(d->blas, d->job.kernel, name, version);
  if (!version[0])
    snprintf(version, 64, "driver %.40s", d->info.driver);
  return true;
}

const struct device_ops device_cuda = {
    .kind = "cuda",
    .open = cuda_open,
    .describe = cuda_describe,
    .prepare = cuda_prepare,
    .poison = cuda_poison,
    .launch = cuda_launch_arm,
    .overhead = cuda_overhead,
    .download = cuda_download,
    .health = cuda_health,
    .reference = cuda_reference,
    .close = cuda_close,
};

int device_cuda_count(struct err *why) {
  int count;
  return cuda_info_start(&count, why) ? count : 0;
}

bool device_cuda_glance(int index, struct device_info *info) {
  int count;
  const struct cuda_api *cu = cuda_info_start(&count, NULL);
  return cu && index >= 0 && index < count && cuda_info_fill(cu, index, info, NULL, NULL);
}
