/* Compiles a CPU rung that is not part of the program (a learner's file, a variant) and loads it.
 */
#ifndef MM_BENCH_CPU_BUILD_H
#define MM_BENCH_CPU_BUILD_H

#include "bench/device.h"

struct cpu_build {
  void *handle; /* of the loaded library */
  catalog_entry entry;
  double ms;
  char *log; /* the compiler's text, "" if it said nothing; the caller frees */
};

/* Compiles k->source for that level in a private directory that is gone afterwards. False with a
 * fault ("compile") whose why is the compiler's first error; log is set then too. */
bool cpu_build_load(const struct kernel *k, enum catalog_isa isa, struct cpu_build *out,
                    struct device_fault *fault);

/* Unloads; a zeroed struct may be given. */
void cpu_build_unload(struct cpu_build *b);

#endif
