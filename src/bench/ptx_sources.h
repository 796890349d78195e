/* A learner's file and the headers it includes, cut to device code and ready for NVRTC. */
#ifndef MM_BENCH_PTX_SOURCES_H
#define MM_BENCH_PTX_SOURCES_H

#include "base/err.h"
#include "kernels/cuda_scan.h"
#include <stdbool.h>
#include <stddef.h>

/* The first is the file itself; the others are quoted headers found beside it. */
struct ptx_source {
  char *name; /* as the compiler's log names it */
  struct cuda_scan *scan;
};

struct ptx_sources {
  struct ptx_source *all;
  int n;
  char **missing; /* headers that are given to the compiler empty */
  int nmissing;
};

/* Cuts source[0, size) and every quoted header found below `dir` (NULL: none are looked for).
 * Headers known to nobody are empty and listed as left out. `include` is a CUDA toolkit's include
 * directory or NULL. False with a sentence if a header is needed that only a toolkit has. Free with
 * ptx_sources_done in either case. */
bool ptx_sources_read(struct ptx_sources *s, const char *source, size_t size, const char *name,
                      const char *dir, const char *include, struct err *err);
void ptx_sources_done(struct ptx_sources *s);

/* The in-memory headers for one compile; texts belong to s. The caller frees the two arrays. */
int ptx_sources_headers(const struct ptx_sources *s, const char ***names, const char ***texts);

/* The text of the file behind its prelude and the -D among the flags, line numbers as in the file:
 * a macro named T must not reach the compiler's own header. The caller frees. */
char *ptx_sources_text(const struct ptx_sources *s, const char *const *flags, int nflags);
bool ptx_sources_is_define(const char *flag);

/* Takes the piece at `line` of the source called `name` out; false if there is none, or it is chunk
 * `keep` of source `keep_source`. */
bool ptx_sources_drop(struct ptx_sources *s, const char *name, size_t name_len, int line,
                      const char *text, int keep_source, int keep);

#endif
