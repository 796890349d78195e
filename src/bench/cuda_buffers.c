#include "bench/cuda_buffers.h"
#include "base/rand.h"
#include "base/units.h"
#include "bench/cuda_fault.h"
#include "bench/narrow.h"
#include "bench/pool.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STAGE = 8 << 20, STAGE_BYTES = STAGE * 4, PIECE = 1 << 17, STRETCH = 4096 }; /* elements */

static void release(struct cuda_buffers *b, enum cuda_buffers_id id) {
  if (b->at[id])
    b->cu->mem_free(b->at[id]);
  b->at[id] = 0;
  b->bytes[id] = 0;
}

static bool out_of_memory(double need, double unused, struct device_fault *fault) {
  char *n = units_format(need, "B", 4), *u = units_format(unused, "B", 4);
  char what[512], why[512];
  snprintf(what, sizeof what, "The matrices of this run do not fit into the GPU's memory.");
  snprintf(why, sizeof why, "They need %s (%.0f bytes); %s (%.0f bytes) are free.", n, need, u,
           unused);
  free(n);
  free(u);
  return cuda_fault_set(fault, "out_of_memory", what, why,
                        "Choose a smaller size, or end what else uses the GPU.");
}

/* Frees what has the wrong size and allocates what is missing. */
static bool make_room(struct cuda_buffers *b, const size_t want[BUFFER_COUNT],
                      struct device_fault *fault) {
  size_t unused = 0, total = 0;
  double need = 0;
  for (int i = 0; i < BUFFER_COUNT; i++) {
    if (b->bytes[i] != want[i])
      release(b, (enum cuda_buffers_id)i);
    if (!b->at[i])
      need += (double)want[i];
  }
  cuda_result rc = b->cu->mem_info(&unused, &total);
  if (rc)
    return cuda_fault_driver(b->cu, rc, "asking for the free memory", fault);
  if (need > (double)unused)
    return out_of_memory(need, (double)unused, fault);
  for (int i = 0; i < BUFFER_COUNT; i++) {
    if (b->at[i] || !want[i])
      continue;
    rc = b->cu->mem_alloc(&b->at[i], want[i]);
    if (rc == CUDA_OUT_OF_MEMORY)
      return out_of_memory(need, (double)unused, fault);
    if (rc)
      return cuda_fault_driver(b->cu, rc, "allocating the matrices", fault);
    b->bytes[i] = want[i];
    if (i == BUFFER_A || i == BUFFER_B)
      b->filled = false;
  }
  return true;
}

struct fill {
  uint64_t seed, i0;
  size_t n;
  enum kernel_dtype type;
  void *out;
};

static void fill_piece(void *ctx, int64_t i, int worker) {
  (void)worker;
  const struct fill *f = ctx;
  size_t size = kernel_dtype_size(f->type), from = (size_t)i * PIECE, end = from + PIECE;
  if (end > f->n)
    end = f->n;
  for (size_t at = from; at < end; at += STRETCH) {
    float v[STRETCH];
    size_t n = end - at < STRETCH ? end - at : STRETCH;
    rand_fill(f->seed, f->i0 + at, n, v);
    narrow_store((char *)f->out + at * size, f->type, v, (int64_t)n);
  }
}

/* One timed copy of the staging memory to the device, or back. */
static bool copy_stage(struct cuda_buffers *b, cuda_ptr at, size_t bytes, bool up, double *ms,
                       struct device_fault *fault) {
  const struct cuda_api *cu = b->cu;
  float t = 0;
  cuda_result rc = cu->event_record(b->begin, b->stream);
  if (!rc)
    rc = up ? cu->to_device(at, b->stage, bytes, b->stream)
            : cu->to_host(b->stage, at, bytes, b->stream);
  if (!rc)
    rc = cu->event_record(b->end, b->stream);
  if (!rc)
    rc = cu->event_wait(b->end);
  if (!rc)
    rc = cu->event_ms(&t, b->begin, b->end);
  *ms += (double)t;
  return rc ? cuda_fault_driver(
                  cu, rc, up ? "copying the inputs to the GPU" : "copying the result back", fault)
            : true;
}

static bool upload(struct cuda_buffers *b, enum cuda_buffers_id id, uint64_t stream,
                   struct device_fault *fault) {
  size_t size = kernel_dtype_size(b->type[id]), total = b->bytes[id] / size;
  for (size_t i0 = 0; i0 < total; i0 += STAGE) {
    size_t n = total - i0 < STAGE ? total - i0 : STAGE;
    struct fill f = {stream, i0, n, b->type[id], b->stage};
    pool_run((int64_t)((n + PIECE - 1) / PIECE), fill_piece, &f);
    if (!copy_stage(b, b->at[id] + i0 * size, n * size, true, &b->transfer_in_ms, fault))
      return false;
  }
  return true;
}

static bool set_all(struct cuda_buffers *b, enum cuda_buffers_id id, unsigned char value,
                    struct device_fault *fault) {
  if (!b->bytes[id])
    return true;
  cuda_result rc = b->cu->set_bytes(b->at[id], value, b->bytes[id], b->stream);
  if (!rc)
    rc = b->cu->stream_wait(b->stream);
  return rc ? cuda_fault_driver(b->cu, rc, "filling a matrix", fault) : true;
}

/* Bytes of each buffer; false where a matrix is larger than any memory. */
static bool sizes(const struct device_job *job, size_t work, bool reference,
                  size_t want[BUFFER_COUNT], double *total) {
  double n[3];
  kernel_elements(job->kernel, &job->size, &n[0], &n[1], &n[2]);
  const enum kernel_dtype type[3] = {job->kernel->a, job->kernel->b, job->kernel->c};
  *total = (double)work;
  for (int i = 0; i < 3; i++)
    *total += n[i] *= (double)kernel_dtype_size(type[i]);
  if (reference)
    *total += n[2];
  if (!(*total < 0x1p50))
    return false;
  for (int i = 0; i < 3; i++)
    want[i] = (size_t)n[i];
  want[BUFFER_REFERENCE] = reference ? want[BUFFER_C] : 0;
  want[BUFFER_WORK] = work;
  return true;
}

bool cuda_buffers_prepare(struct cuda_buffers *b, const struct device_job *job, size_t work,
                          bool reference, struct device_fault *fault) {
  size_t want[BUFFER_COUNT];
  double total;
  if (!sizes(job, work, reference, want, &total)) {
    size_t unused = 0, all = 0;
    b->cu->mem_info(&unused, &all);
    return out_of_memory(total, (double)unused, fault);
  }
  if (!b->stage) {
    cuda_result rc = b->cu->host_alloc(&b->stage, STAGE_BYTES, 0);
    if (rc) {
      b->stage = NULL;
      return cuda_fault_driver(b->cu, rc, "allocating pinned host memory for transfers", fault);
    }
  }
  const struct kernel *k = job->kernel;
  if (b->bytes[BUFFER_A] != want[BUFFER_A] || b->bytes[BUFFER_B] != want[BUFFER_B] ||
      b->type[BUFFER_A] != k->a || b->type[BUFFER_B] != k->b || b->seed != job->seed)
    b->filled = false;
  b->type[BUFFER_A] = k->a;
  b->type[BUFFER_B] = k->b;
  b->type[BUFFER_C] = k->c;
  if (!make_room(b, want, fault))
    return false;
  if (!b->filled) {
    b->transfer_in_ms = 0;
    b->seed = job->seed;
    if (!upload(b, BUFFER_A, 2 * job->seed, fault) ||
        !upload(b, BUFFER_B, 2 * job->seed + 1, fault))
      return false;
    b->filled = true;
  }
  return set_all(b, BUFFER_C, 0xff, fault) && set_all(b, BUFFER_REFERENCE, 0xff, fault) &&
         set_all(b, BUFFER_WORK, 0, fault);
}

bool cuda_buffers_poison(struct cuda_buffers *b, struct device_fault *fault) {
  return set_all(b, BUFFER_C, 0xff, fault);
}

bool cuda_buffers_download(struct cuda_buffers *b, int64_t i0, int64_t n, float *out, double *ms,
                           struct device_fault *fault) {
  double time = 0;
  enum kernel_dtype type = b->type[BUFFER_C];
  size_t size = kernel_dtype_size(type);
  for (int64_t at = 0; at < n; at += STAGE) {
    size_t part = n - at < STAGE ? (size_t)(n - at) : STAGE;
    cuda_ptr from = b->at[BUFFER_C] + (cuda_ptr)(i0 + at) * size;
    if (!copy_stage(b, from, part * size, false, &time, fault))
      return false;
    narrow_widen(b->stage, type, (int64_t)part, out + at);
  }
  if (ms)
    *ms = time;
  return true;
}

void cuda_buffers_free(struct cuda_buffers *b) {
  for (int i = 0; i < BUFFER_COUNT; i++)
    release(b, (enum cuda_buffers_id)i);
  if (b->stage)
    b->cu->host_free(b->stage);
  b->stage = NULL;
  b->filled = false;
}
