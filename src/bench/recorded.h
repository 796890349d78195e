/* Results measured elsewhere and shipped: assets/recorded/NAME.json. */
#ifndef MM_BENCH_RECORDED_H
#define MM_BENCH_RECORDED_H

#include "bench/result.h"
#include "bench/roofs.h"

typedef struct recorded recorded;

/* The H200 record. NULL with err if it is missing or damaged. Free with recorded_free. */
recorded *recorded_load(const char *name, struct err *err); /* "h200" */
void recorded_free(recorded *rec);
const char *recorded_card(const recorded *rec); /* "NVIDIA H200" */
const char *recorded_date(const recorded *rec);
const struct device_info *recorded_device(const recorded *rec);
const struct roofs *recorded_roofs(const recorded *rec);
int recorded_count(const recorded *rec);
const struct result *recorded_at(const recorded *rec, int i);

/* The run of that kernel, sizes and parameters (params NULL: any), or NULL. */
const struct result *recorded_find(const recorded *rec, const char *kernel, int64_t M, int64_t N,
                                   int64_t K, const struct kernel_size *params);

#endif
