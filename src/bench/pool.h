/* Work spread over the CPUs that this process may use. */
#ifndef MM_BENCH_POOL_H
#define MM_BENCH_POOL_H

#include <stdint.h>

/* Threads that pool_run uses at most: the CPUs of the affinity mask and the cgroup quota. */
int pool_width(void);

/* Calls item(ctx, i, worker) once for each i in 0 .. n-1, on up to pool_width() threads; worker is
 * 0 .. pool_width()-1. Returns when all are done. Cannot fail: if no thread can be started the
 * caller's own does everything. */
void pool_run(int64_t n, void (*item)(void *ctx, int64_t i, int worker), void *ctx);

#endif
