/* A rung in the x-ray: what the live pane and the plain tutor ask for. */
#ifndef MM_BENCH_XRAY_RUNG_H
#define MM_BENCH_XRAY_RUNG_H

#include "bench/client.h"

/* Whether some blocks of each class stand for all: the whole launch would be more than about 1e8
 * warp instructions. */
bool xray_rung_sampled(const struct kernel *k, const struct kernel_size *size);

/* Whether the PTX machine can run this kernel at all. False with a sentence (err may be NULL): it
 * copies with TMA, through tensor maps. */
bool xray_rung_runs(const struct kernel *k, struct err *err);

/* Asks for the counts of a CUDA kernel of the catalog; the request's id, or 0 with err. */
int xray_rung_ask(client *c, const struct kernel *k, const struct kernel_size *size,
                  struct err *err);

#endif
