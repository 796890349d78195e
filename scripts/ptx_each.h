/* Which PTX files are shipped: one a built-in CUDA kernel and choice of parameters. */
#ifndef MM_SCRIPTS_PTX_EACH_H
#define MM_SCRIPTS_PTX_EACH_H

#include "base/alloc.h"
#include "base/str.h"
#include "kernels/catalog.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ptx_file {
  const struct kernel *kernel;
  struct kernel_size size; /* the parameters */
  char *path;              /* "assets/ptx/cuda_tiled_T32.ptx" */
};

enum { PTX_FILES_OLDEST = 75 };

/* The target of a kernel's PTX: the oldest GPU that it runs on, "75" or "90a". */
static inline void ptx_files_target(const struct kernel *k, char out[16]) {
  int cc = (int)(k->cc_min * 10 + 0.5);
  snprintf(out, 16, "%d%s", cc > PTX_FILES_OLDEST ? cc : PTX_FILES_OLDEST, k->cc_suffix);
}

/* Whether a kernel's front matter lets it run on a GPU of this architecture (90). */
static inline bool ptx_files_runs_on(const struct kernel *k, int arch) {
  double cc = arch / 10.0;
  if (k->cc_suffix[0] && arch != (int)(k->cc_min * 10 + 0.5))
    return false;
  return cc > k->cc_min - 0.05 && (k->cc_max <= 0 || cc < k->cc_max + 0.05);
}

/* The next choice of parameters, the last one fastest; false behind the last. */
static inline bool ptx_files_step(const struct kernel *k, struct kernel_size *size) {
  for (int i = k->nparams - 1; i >= 0; i--) {
    const struct kernel_param *p = &k->params[i];
    int at = 0;
    while (p->values[at] != size->param[i])
      at++;
    if (at + 1 < p->nvalues) {
      size->param[i] = p->values[at + 1];
      return true;
    }
    size->param[i] = p->values[0];
  }
  return false;
}

static inline char *ptx_files_path(const struct kernel *k, const struct kernel_size *size) {
  struct str s = {0};
  str_add(&s, "assets/ptx/");
  for (const char *c = k->id; *c; c++)
    str_addc(&s, *c == '/' ? '_' : *c);
  for (int i = 0; i < k->nparams; i++)
    str_addf(&s, "_%s%.17g", k->params[i].name, size->param[i]);
  str_add(&s, ".ptx");
  return str_take(&s);
}

/* Calls `each` for every file until it returns false; returns the number of calls. */
static inline int ptx_files_each(const catalog *c, bool (*each)(void *, const struct ptx_file *),
                                 void *ctx) {
  int calls = 0;
  for (int i = 0; i < catalog_count(c); i++) {
    const struct kernel *k = catalog_at(c, i);
    if (k->target != KERNEL_CUDA || !k->builtin)
      continue;
    struct ptx_file f = {.kernel = k, .size = kernel_size_default(k, 1, 1, 1)};
    for (int p = 0; p < k->nparams; p++)
      f.size.param[p] = k->params[p].values[0];
    bool more = true;
    while (more) {
      f.path = ptx_files_path(k, &f.size);
      calls++;
      bool go_on = each(ctx, &f);
      free(f.path);
      if (!go_on)
        return calls;
      more = ptx_files_step(k, &f.size);
    }
  }
  return calls;
}

/* False where NVRTC 13 makes another text each time: it orders some instructions of large unrolled
 * loops by addresses of its own memory, which differ from start to start. */
static inline bool ptx_files_repeatable(const struct kernel *k) {
  return strcmp(k->id, "cuda/sgemm_best") != 0;
}

#endif
