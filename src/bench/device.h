/* Devices behind one table of functions: cuda, cpu, null. The protocol (measure.h) works on any of
 * them. All calls come from one thread of the worker process. */
#ifndef MM_BENCH_DEVICE_H
#define MM_BENCH_DEVICE_H

#include "kernels/catalog.h"
#include <stdbool.h>
#include <stdint.h>

/* What a device says of itself. Texts are "" and numbers NAN where it does not know. */
struct device_info {
  char id[32];       /* "cuda:0", "cpu", "null" */
  char name[128];    /* "NVIDIA H200", "AMD EPYC 9V74" */
  char cc[8];        /* "9.0" */
  char driver[32];   /* "580.159" */
  char compiler[96]; /* "NVRTC 13.0", "gcc 12.2.0", "driver JIT (shipped PTX)" */
  char isa[16];      /* "avx512" */
  int threads;       /* used by the run; 0 where it has no meaning */
  double sms, clock_hz, smem_sm, smem_block, l2_bytes, regs_sm, threads_sm, memory_bytes;
  double peak_fp32; /* FLOP/s, theoretical at the maximum clock */
  double peak_dram; /* B/s, theoretical */
  double bus_bits, mem_clock_hz;
};

/* What is to be run. */
struct device_job {
  const struct kernel *kernel;
  struct kernel_size size;
  uint64_t seed; /* A is stream 2*seed, B stream 2*seed+1 of rand_at */
  int threads;   /* 0 = all allowed */
  enum catalog_isa isa;
  bool isa_auto;
  bool reference; /* the reference is wanted too */
};

/* What preparing it showed. */
struct device_built {
  double compile_ms;
  bool cached;
  int registers, shared_bytes, spill_bytes; /* -1 where not known */
  char *log;                                /* compiler's text or NULL; the caller frees */
  double transfer_in_ms;                    /* host to device; NAN where there is none */
};

enum device_arm { ARM_KERNEL, ARM_REFERENCE };

typedef struct device device;

/* A failure that ends a run: a code in the error event, one sentence for each of what, why, next.
 */
struct device_fault {
  char code[48]; /* "compile", "out_of_memory", "illegal_address", "launch", "no_device", ... */
  char what[512], why[512], next[256];
};

struct device_ops {
  const char *kind;
  /* Fills info for device `index` and opens it; NULL with a fault. */
  device *(*open)(int index, struct device_fault *fault);
  void (*describe)(device *d, struct device_info *info);
  /* Compiles (or takes from the cache), allocates and fills A and B from the seed on the device, C
   * with NaN. May be called again with another job; frees what the last one held. */
  bool (*prepare)(device *d, const struct device_job *job, struct device_built *built,
                  struct device_fault *fault);
  /* C (of that arm) becomes NaN again. */
  bool (*poison)(device *d, struct device_fault *fault);
  /* Runs the arm n times back to back and waits; *ms gets the time of all n by the device's own
   * clock. */
  bool (*launch)(device *d, enum device_arm arm, int n, double *ms, struct device_fault *fault);
  /* The time of an empty launch in ms (NAN if that has no meaning). */
  double (*overhead)(device *d);
  /* Copies `rows` rows of C, starting at row0, to host memory as float; *ms (may be NULL) gets the
   * time. */
  bool (*download)(device *d, int64_t row0, int64_t rows, float *out, double *ms,
                   struct device_fault *fault);
  /* Clock in MHz, power in W, throttled 0 1, or NAN and -1. */
  void (*health)(device *d, double *mhz, double *watt, int *throttled);
  /* Name and version of the reference of the prepared op ("cuBLAS 13.0 pedantic"); false with a
   * sentence where there is none. */
  bool (*reference)(device *d, char name[64], char version[64], struct err *why);
  void (*close)(device *d);
};

extern const struct device_ops device_cuda, device_cpu, device_null;

/* "cuda:0" -> &device_cuda and 0. NULL with a sentence that lists the kinds. */
const struct device_ops *device_by_id(const char *id, int *index, struct err *err);

/* Number of CUDA devices; 0 and one sentence why (no driver, no permission, no device ...), without
 * creating a context. */
int device_cuda_count(struct err *why);

/* Cheap description of a device for lists and `hello`, without a context; false if it is not there.
 */
bool device_cuda_glance(int index, struct device_info *info);
void device_cpu_glance(struct device_info *info);

#endif
