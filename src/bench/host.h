/* What this machine allows the process: CPUs, memory, caches, clock. */
#ifndef MM_BENCH_HOST_H
#define MM_BENCH_HOST_H

/* CPUs of the affinity mask; that number capped by the cgroup's CPU quota. At least 1. */
int host_cpus(void);
int host_threads(void);

/* Bytes that can still be taken without swapping or being killed: the least of the free memory, the
 * cgroup's limit and the address-space limit. NAN if none of them is known. */
double host_memory_free(void);

/* The CPU's name ("" if not known) into out, with runs of spaces made one. */
void host_cpu_name(char *out, int size);

/* Bytes of the largest cache of this CPU; NAN if not known. */
double host_cache_bytes(void);

/* The clock in Hz, measured by a chain of dependent adds (about 30 ms); NAN where
 * there is no such chain for this kind of CPU. */
double host_clock_hz(void);

/* Bytes as people read them in a sentence: "1.50 GiB", "12.0 MiB"; out needs 32 bytes. */
const char *host_gib(double bytes, char out[32]);

#endif
