/* Which kernels of a learner's file are to be compiled, and under which names. */
#ifndef MM_BENCH_PTX_NAMES_H
#define MM_BENCH_PTX_NAMES_H

#include "base/err.h"
#include "bench/ptx_sources.h"

struct ptx_name {
  char *text;       /* "gemm::tiled<32>" */
  int source, line; /* where the kernel is, or where it is launched if a macro makes it */
  int chunk;        /* -1 if it is not known */
};

struct ptx_names {
  struct ptx_name *all;
  int n;
};

/* With `entry` the one name it means: a plain kernel, or a template with its arguments; a template
 * without them is completed from the launches in the file if they all name the same. With NULL all
 * plain kernels and each template as it is launched; templates that nothing launches are listed as
 * left out. False with a sentence that lists what there is
 * to ask for. Free with ptx_names_done in either case. */
bool ptx_names_choose(struct ptx_names *names, struct ptx_sources *s, const char *entry,
                      struct err *err);
void ptx_names_done(struct ptx_names *names);

/* Takes one name out. */
void ptx_names_remove(struct ptx_names *names, int i);

#endif
