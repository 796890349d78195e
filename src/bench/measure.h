/* The measuring protocol (docs/contracts.md 6): prepare, verify, warm up, sample, verify again. */
#ifndef MM_BENCH_MEASURE_H
#define MM_BENCH_MEASURE_H

#include "bench/result.h"

/* Told as it happens; every member may be NULL. */
struct measure_sink {
  void *ctx;
  void (*compile)(void *ctx, const struct device_built *built);
  void (*verify)(void *ctx, const struct result_verify *v);
  void (*sample)(void *ctx, const double *ms, int n); /* of the kernel, one launch each */
};

struct measure_plan {
  double seconds;  /* time for samples; 7 samples at least */
  double warmup_s; /* at most; 1 live, 3 for recorded files */
  bool cold;
  double prediction; /* NAN if none; copied into the result */
};

/* Runs the whole protocol on an open device. true: r is a full result, verified or not (a failed
 * verification has no samples). false: fault says why there is none, and r holds nothing. The first
 * run of a kernel on a device also checks a small shape with M, N and K all different. */
bool measure_run(const struct device_ops *ops, device *d, const struct device_job *job,
                 const struct measure_plan *plan, const struct measure_sink *sink,
                 struct result *r, struct device_fault *fault);

/* Forgets which kernels were right at their small shape, so that the next run checks it again. */
void measure_forget(void);

#endif
