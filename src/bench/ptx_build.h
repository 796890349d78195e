/* From a learner's CUDA C++ text to PTX, with NVRTC alone: no GPU, no driver. */
#ifndef MM_BENCH_PTX_BUILD_H
#define MM_BENCH_PTX_BUILD_H

#include "bench/nvrtc.h"
#include "bench/ptx_sources.h"

struct ptx_build_request {
  const char *source; /* any bytes */
  size_t size;
  const char *name;    /* "mine.cu": stands in messages and in the PTX's .file */
  const char *dir;     /* quoted headers are looked for here; NULL: nowhere */
  const char *entry;   /* "tiled", "gemm::tiled<32>"; NULL: every kernel that can be had */
  const char *include; /* a CUDA toolkit's include directory; NULL: the one beside NVRTC, if any */
  const char *arch;    /* "90", "90a"; NULL: 90 */
  const char *const *flags; /* further compiler options; -DX=1 is seen by the file only */
  int nflags;
  bool resources; /* also compile to machine code: registers, shared memory, spills, the cubin */
};

struct ptx_build_entry {
  char *name;                               /* "tiled<32>" */
  char *symbol;                             /* its name in the PTX */
  int line;                                 /* of the kernel, in its source */
  int registers, shared_bytes, stack_bytes; /* -1 where not known */
  int spill_bytes;                          /* stored and loaded again; -1 where not known */
};

struct ptx_build_output {
  char *ptx;                       /* NUL-terminated; NULL on failure */
  char *log;                       /* of the last compile, "" if the compiler said nothing */
  struct ptx_build_entry *entries; /* the asked one alone, or all */
  int nentries;
  char *cubin; /* NULL unless resources were asked for */
  size_t cubin_size;
  struct ptx_sources sources; /* what was left out is in all[i].scan->left */
  int compiles;
  double ms; /* in the compiler */
};

/* Compiles. Pieces that do not compile and are not the asked kernel are left out and the rest tried
 * again. False with a sentence: the asked kernel's own error, or what to ask for. Free with
 * ptx_build_done in either case. */
bool ptx_build(const nvrtc *n, const struct ptx_build_request *q, struct ptx_build_output *out,
               struct err *err);
void ptx_build_done(struct ptx_build_output *out);

#endif
