/* Clock, power and throttling by NVML (libnvidia-ml.so.1), where it is. */
#ifndef MM_BENCH_NVML_H
#define MM_BENCH_NVML_H

typedef struct nvml nvml;

/* The card with that PCI bus id; NULL where NVML is missing or refuses. Free with nvml_close. */
nvml *nvml_open(const char *pci);
void nvml_close(nvml *n);

/* SM clock in MHz and power in W now, NAN where not known; throttled 0 or 1, -1 where not known. n
 * may be NULL. */
void nvml_read(const nvml *n, double *mhz, double *watt, int *throttled);

#endif
