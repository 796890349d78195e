#include "bench/dev_null.h"

#include "base/alloc.h"
#include "base/rand.h"
#include "base/str.h"
#include "bench/exact.h"
#include "bench/result.h"
#include "bench/verify.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct device {
  struct device_job job;
  bool prepared;
  int64_t rows, cols;
  float *C;
};

static const double one_ms[] = {1};
static struct dev_null_script script;
static bool scripted;
static struct str trace;
static int calls[4], launches, nbatches, batches[1024]; /* calls: A, B, and faults counted */

void dev_null_set(const struct dev_null_script *s) {
  memset(&script, 0, sizeof script);
  scripted = true;
  if (s) {
    script = *s;
  } else {
    result_device_init(&script.info);
    script.mhz = script.watt = NAN;
    script.throttled = -1;
  }
  if (!script.info.id[0])
    snprintf(script.info.id, sizeof script.info.id, "null");
  if (!script.nkernel) {
    script.kernel_ms = one_ms;
    script.nkernel = 1;
  }
  if (!script.nreference) {
    script.reference_ms = one_ms;
    script.nreference = 1;
  }
  str_free(&trace);
  memset(calls, 0, sizeof calls);
  launches = nbatches = 0;
}

const char *dev_null_trace(void) { return trace.data ? trace.data : ""; }

int dev_null_batch(int i) { return i >= 0 && i < nbatches ? batches[i] : -1; }

/* Writes the trace; false with a fault if the script wants this call to fail. */
static bool step(char mark, const char *name, struct device_fault *fault) {
  str_addc(&trace, mark);
  if (!script.fail_in || strcmp(script.fail_in, name) != 0 || calls[2]++ != script.fail_after)
    return true;
  snprintf(fault->code, sizeof fault->code, "%s", name);
  snprintf(fault->what, sizeof fault->what, "The null device failed in %s.", name);
  snprintf(fault->why, sizeof fault->why, "Its script says so.");
  snprintf(fault->next, sizeof fault->next, "Change the script.");
  return false;
}

static device *null_open(int index, struct device_fault *fault) {
  (void)index;
  (void)fault;
  if (!scripted)
    dev_null_set(NULL);
  return alloc_zero(1, sizeof(device));
}

static void null_describe(device *d, struct device_info *info) {
  (void)d;
  *info = script.info;
}

static bool null_prepare(device *d, const struct device_job *job, struct device_built *built,
                         struct device_fault *fault) {
  free(d->C);
  d->C = NULL;
  d->prepared = false;
  if (!step('P', "prepare", fault))
    return false;
  d->job = *job;
  verify_shape(job, &d->rows, &d->cols);
  d->C = alloc_zero((size_t)(d->rows * d->cols), sizeof *d->C);
  *built = (struct device_built){.registers = -1, .shared_bytes = -1, .spill_bytes = -1};
  built->transfer_in_ms = NAN;
  d->prepared = true;
  return true;
}

static bool null_poison(device *d, struct device_fault *fault) {
  for (int64_t i = 0; i < d->rows * d->cols; i++)
    d->C[i] = NAN;
  return step('N', "poison", fault);
}

static void multiply(const struct device *d, int64_t M, int64_t N, int64_t K) {
  uint64_t sa = 2 * d->job.seed, sb = sa + 1;
  for (int64_t i = 0; i < M; i++)
    for (int64_t j = 0; j < N; j++) {
      float sum = 0;
      for (int64_t k = 0; k < K; k++)
        sum += rand_at(sa, (uint64_t)(i * K + k)) * rand_at(sb, (uint64_t)(k * N + j));
      d->C[i * N + j] = sum;
    }
}

/* What the FMA probe leaves is the same number everywhere. */
static bool constant(const struct device *d, float *value) {
  struct exact e;
  if (!exact_init(&e, &d->job, NULL) || e.form != EXACT_CONSTANT)
    return false;
  *value = (float)e.constant;
  return true;
}

static void elements(const struct device *d, bool add) {
  float value;
  if (constant(d, &value)) {
    for (int64_t i = 0; i < d->rows * d->cols; i++)
      d->C[i] = value;
    return;
  }
  uint64_t sa = 2 * d->job.seed;
  for (int64_t i = 0; i < d->rows * d->cols; i++)
    d->C[i] = rand_at(sa, (uint64_t)i) + (add ? rand_at(sa + 1, (uint64_t)i) : 0);
}

static bool null_launch(device *d, enum device_arm arm, int n, double *ms,
                        struct device_fault *fault) {
  const struct kernel_size *s = &d->job.size;
  bool kernel = arm == ARM_KERNEL;
  if (!step(kernel ? 'A' : 'B', "launch", fault))
    return false;
  int i = calls[kernel ? 0 : 1]++;
  if (kernel && nbatches < (int)(sizeof batches / sizeof *batches))
    batches[nbatches++] = n;
  if (kernel)
    *ms = n * script.kernel_ms[i < script.nkernel ? i : script.nkernel - 1];
  else
    *ms = n * script.reference_ms[i < script.nreference ? i : script.nreference - 1];
  if (!kernel)
    return true;
  switch (d->job.kernel->op) {
  case OP_GEMM:
    multiply(d, s->M, s->N, s->K);
    break;
  case OP_GEMV:
    multiply(d, s->M, 1, s->K);
    break;
  default:
    elements(d, d->job.kernel->op == OP_ADD);
  }
  if (script.spoil)
    script.spoil(&d->job, d->C, launches);
  launches++;
  return true;
}

static double null_overhead(device *d) {
  (void)d;
  return NAN;
}

static bool null_download(device *d, int64_t row0, int64_t rows, float *out, double *ms,
                          struct device_fault *fault) {
  memcpy(out, d->C + row0 * d->cols, (size_t)(rows * d->cols) * sizeof *out);
  if (ms)
    *ms = NAN;
  return step('D', "download", fault);
}

static void null_health(device *d, double *mhz, double *watt, int *throttled) {
  (void)d;
  *mhz = script.mhz;
  *watt = script.watt;
  *throttled = script.throttled;
}

static bool null_reference(device *d, char name[64], char version[64], struct err *why) {
  (void)d;
  if (script.refuse_reference)
    return err_set(why, "%s", script.refuse_reference);
  snprintf(name, 64, "null");
  snprintf(version, 64, "1");
  return true;
}

static void null_close(device *d) {
  free(d->C);
  free(d);
}

const struct device_ops device_null = {
    .kind = "null",
    .open = null_open,
    .describe = null_describe,
    .prepare = null_prepare,
    .poison = null_poison,
    .launch = null_launch,
    .overhead = null_overhead,
    .download = null_download,
    .health = null_health,
    .reference = null_reference,
    .close = null_close,
};
