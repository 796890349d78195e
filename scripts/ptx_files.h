/* Makes the shipped PTX files with NVRTC. */
#ifndef MM_SCRIPTS_PTX_FILES_H
#define MM_SCRIPTS_PTX_FILES_H

#include "nvrtc.h"
#include "ptx_each.h"

#define PTX_FILES_ARCH "compute_75"

/* Builds one for an architecture; NULL with the log. The caller frees. */
static inline char *ptx_files_build(const struct nvrtc *n, const struct ptx_file *f,
                                    const char *arch, size_t *size, char **log) {
  const struct kernel *k = f->kernel;
  char *code = kernel_code(k, &f->size);
  char *out = nvrtc_build(n, code, arch, (const char *const *)k->flags, k->nflags, size, log);
  free(code);
  return out;
}

/* The first line of a shipped file. The caller frees. */
static inline char *ptx_files_head(const struct nvrtc *n, const struct ptx_file *f) {
  return alloc_printf("// mmtutor %s; NVRTC %d.%d, %s; source sha256 %s\n", f->path + 11, n->major,
                      n->minor, PTX_FILES_ARCH, f->kernel->sha256);
}

#endif
