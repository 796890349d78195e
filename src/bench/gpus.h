/* Datasheet figures of known GPUs (assets/gpus.json), for what a driver does not say. */
#ifndef MM_BENCH_GPUS_H
#define MM_BENCH_GPUS_H

#include <stdbool.h>

struct gpus_row {
  char name[64];
  double fp32, dram;       /* FLOP/s and B/s; NAN where not known */
  double tf32, fp16, bf16; /* tensor cores with fp32 accumulation, dense; NAN where none */
};

/* The row of a device by its name ("NVIDIA H200"), compute capability ("9.0") and number of SMs;
 * false if there is none that fits all three. */
bool gpus_find(const char *name, const char *cc, double sms, struct gpus_row *out);

#endif
