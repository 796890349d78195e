/* What the worker does for a request: run, roofs, hello, list. One thread calls these. */
#ifndef MM_BENCH_WORKER_JOB_H
#define MM_BENCH_WORKER_JOB_H

#include "bench/wire.h"

/* The catalog and the open device, kept between requests. */
typedef struct worker_job worker_job;

/* `stopped` is asked between launches: true ends the request with the fault "cancelled". */
worker_job *worker_job_new(bool (*stopped)(void));
void worker_job_free(worker_job *j);

/* Carries out the request; sends events meanwhile, except the last one, which is returned (never
 * NULL; the caller deletes). *leave is set where the process can do no further work after this (a
 * lost device). */
cJSON *worker_job_do(worker_job *j, const struct wire_request *r, const cJSON *line, bool *leave);

/* An error event. */
cJSON *worker_job_error(int id, const struct device_fault *fault);

/* An error event for a request that makes no sense; `what` is a sentence. */
cJSON *worker_job_refuse(int id, const char *what);

#endif
