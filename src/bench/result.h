/* The result object of docs/contracts.md 5. Numbers that are not known are NAN and absent in JSON.
 */
#ifndef MM_BENCH_RESULT_H
#define MM_BENCH_RESULT_H

#include "base/json.h"
#include "bench/device.h"

struct result_verify {
  bool ok;
  double max_error, bound; /* max |c - ref| / sum |a||b|, and 8 sqrt(K) u; 0 and 0 for a copy */
  double checked;          /* elements of C compared one by one */
  char note[160];          /* what was wrong first: "C[3,17] is NaN", or "" */
};

struct result {
  char kernel[96];
  struct {
    char name[16];
    double value;
  } params[MM_PARAMS];
  int nparams;
  struct device_info device;
  int64_t M, N, K;
  double flop, requested, dram_min;
  struct result_verify verify;
  double *samples_ms;
  int nsamples, launches_per_sample;
  double transfer_in_ms, transfer_out_ms;
  double median_ms, p10_ms, p90_ms, overhead_ms;
  double gflops, gbs; /* gbs: dram_min bytes over the median time */
  struct {
    char name[48]; /* "fma fp32", "dram copy" */
    double value;  /* FLOP/s or B/s */
    char unit[8];
    double share; /* 0..1 */
  } roof;         /* name "" if none */
  struct {
    char name[64], version[64];
    double median_ms, gflops, ratio;
  } reference; /* name "" if none */
  double prediction;
  double clock_mhz, power_w;
  int throttled; /* -1 unknown */
  char cache[8]; /* "hot" "cold" */
  char date[24], version[24], kernel_sha256[65];
  uint64_t seed;
  char **warnings;
  int nwarnings;
};

void result_init(struct result *r); /* everything unknown */
void result_done(struct result *r);
void result_copy(struct result *to, const struct result *from); /* to is overwritten, not freed */
void result_warn(struct result *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Median, p10 and p90 from the samples, and gflops and gbs from the median. */
void result_statistics(struct result *r);

/* The q-quantile (0..1) of n values, interpolated; NAN for none. */
double result_quantile(const double *v, int n, double q);

/* (p90 - p10) / median. */
double result_spread(const struct result *r);

/* A device with everything unknown; as JSON with the seven keys of a result, or with all its
 * numbers (full); and back, where absent keys become "" and NAN. */
void result_device_init(struct device_info *d);
cJSON *result_device_to_json(const struct device_info *d, bool full); /* the caller deletes */
void result_device_from_json(const cJSON *obj, struct device_info *d);

cJSON *result_to_json(const struct result *r); /* the caller deletes */
/* False with a sentence; r is then unknown throughout and holds nothing. */
bool result_from_json(const cJSON *obj, struct result *r, struct err *err);

#endif
