/* One x-ray from the request to the result: compiles, makes the matrices, runs the PTX machine and
 * checks C. Needs no GPU. */
#ifndef MM_BENCH_XRAY_JOB_H
#define MM_BENCH_XRAY_JOB_H

#include "bench/device.h"
#include "bench/xray_request.h"
#include "bench/xray_result.h"

struct xray_job_sink {
  void *ctx;
  bool (*stopped)(void); /* asked now and then: true ends it with the fault "cancelled" */
  void (*compiled)(void *ctx, const struct device_built *built);
  void (*trace)(void *ctx, const char *lines, size_t n); /* whole lines of JSON */
};

/* `rung` is the worker's kernel of that name; NULL where the request brings its source. Fills *out
 * (xray_result_done). False with a fault where nothing was run; what the kernel did wrong is in the
 * result. One at a time in a process. */
bool xray_job_run(const struct xray_request *q, const struct kernel *rung,
                  const struct xray_job_sink *sink, struct xray_result *out,
                  struct device_fault *fault);

#endif
