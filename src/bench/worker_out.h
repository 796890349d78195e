/* The worker's way out: the protocol on private descriptors, one line at a time from any thread,
 * and what drivers, libraries and kernels print on 1 and 2 as print events. One worker a process.
 */
#ifndef MM_BENCH_WORKER_OUT_H
#define MM_BENCH_WORKER_OUT_H

#include "base/json.h"
#include <stdbool.h>

/* Moves descriptors 0 and 1 to private ones above 10, and points 1 and 2 at a pipe of this process,
 * 0 at /dev/null. Returns the descriptor to read requests from, or -1 with a sentence. */
int worker_out_init(struct err *err);

/* Writes the event as one line and deletes it. Ends the process if nobody reads any more. */
void worker_out_send(cJSON *event);

/* The same, but gives up after 50 ms if another thread is stuck in a write. */
void worker_out_last(cJSON *event);

/* Prints belong to this request from now on (0: none), and its allowance of text begins anew. */
void worker_out_request(int id);

/* Sends what was printed until now. */
void worker_out_flush(void);

#endif
