/* The CPU as a device (device_cpu in device.h). */
#ifndef MM_BENCH_DEV_CPU_H
#define MM_BENCH_DEV_CPU_H

#include "bench/device.h"

/* True if this CPU and its system run code of that level. */
bool dev_cpu_has(enum catalog_isa isa);

/* The highest level that it runs. */
enum catalog_isa dev_cpu_best(void);

#endif
