/* The worker's side of an "xray" request. */
#ifndef MM_BENCH_WORKER_XRAY_H
#define MM_BENCH_WORKER_XRAY_H

#include "bench/wire.h"

/* Carries out the request line; sends events compile and trace meanwhile. Returns the last event,
 * which the caller deletes. `stopped` as in worker_job_new. */
cJSON *worker_xray(const catalog *kernels, int id, const cJSON *line, bool (*stopped)(void));

#endif
