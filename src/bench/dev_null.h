/* A device for tests: it computes C by plain loops, and its times, faults and mistakes are
 * scripted. */
#ifndef MM_BENCH_DEV_NULL_H
#define MM_BENCH_DEV_NULL_H

#include "bench/device.h"

/* Times are per launch: the i-th call of that arm takes ms[i], later calls the last one. */
struct dev_null_script {
  struct device_info info;
  const double *kernel_ms, *reference_ms;
  int nkernel, nreference;
  const char *refuse_reference; /* the sentence why there is none, or NULL */
  const char *fail_in;          /* "prepare" "poison" "launch" "download" or NULL */
  int fail_after;               /* ... at the call with that number, from 0 */
  /* Called after each launch of the kernel with C and the number of the launch, from 0. */
  void (*spoil)(const struct device_job *job, float *C, int launch);
  double mhz, watt;
  int throttled;
};

/* Copies the script and clears the trace; NULL: 1 ms a launch and nothing known. */
void dev_null_set(const struct dev_null_script *script);

/* What was called since: P prepare, N poison, A and B launches of an arm, D download. */
const char *dev_null_trace(void);

/* The launches (n) of the i-th call of the kernel's arm; -1 if there was none. */
int dev_null_batch(int i);

#endif
