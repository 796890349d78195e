/* NVRTC, the CUDA C++ compiler as a library: opened by dlopen, no GPU and no driver needed. */
#ifndef MM_BENCH_NVRTC_H
#define MM_BENCH_NVRTC_H

#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct nvrtc nvrtc;

/* The library, opened once for the process. NULL with one sentence that says where it was looked
 * for. */
const nvrtc *nvrtc_open(struct err *err);

/* "13.0"; and where the toolkit's headers are, NULL if none are beside the library. */
const char *nvrtc_version(const nvrtc *n);
int nvrtc_major(const nvrtc *n);
const char *nvrtc_include(const nvrtc *n);

/* The best target for a device: its own number (90) if this NVRTC makes code for it, else the
 * highest one below it (then only PTX runs there), 0 if all are above it. */
int nvrtc_target(const nvrtc *n, int arch);

struct nvrtc_output {
  char *image; /* cubin or NUL-terminated PTX; NULL on failure */
  size_t size;
  char *ptx; /* beside a cubin, where it was asked for; else NULL */
  char *log; /* compiler's text, "" if it said nothing */
  double ms;
  char **lowered; /* of each name asked for; NULL where the compiler gave none */
  int nlowered;
};

/* Compiles one source text; `name` stands in the log ("tiled.cu"). With want_ptx the image is PTX,
 * otherwise a cubin (the options must then name a real target, sm_XY). False with a sentence;
 * *out.log is set in any case. The caller frees with nvrtc_output_done. */
bool nvrtc_compile(const nvrtc *n, const char *source, const char *name, const char *const *options,
                   int noptions, bool want_ptx, struct nvrtc_output *out, struct err *err);

/* The same with headers and names of the caller's own. */
struct nvrtc_request {
  const char *source, *name;
  const char *const *options;
  int noptions;
  const char *const *header_names, *const *header_texts; /* none: those of nvrtc_compile */
  int nheaders;
  const char *const *names; /* kernels whose names in the image are wanted: "ns::k<32>" */
  int nnames;
  bool want_ptx;
  bool and_ptx; /* with a cubin: also the PTX that it was made from */
};
bool nvrtc_compile_request(const nvrtc *n, const struct nvrtc_request *q, struct nvrtc_output *out,
                           struct err *err);

void nvrtc_output_done(struct nvrtc_output *out);

#endif
