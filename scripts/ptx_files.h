/* Makes the shipped PTX files with NVRTC. */
#ifndef MM_SCRIPTS_PTX_FILES_H
#define MM_SCRIPTS_PTX_FILES_H

#include "nvrtc.h"
#include "ptx_each.h"

/* Takes the directories of this machine out of ".file 1 "/home/me/tiled.cu"". */
static inline void ptx_files_names(char *text) {
  char *to = text;
  for (const char *line = text; *line;) {
    size_t n = strcspn(line, "\n") + 1, keep = 0;
    n -= line[n - 1] == '\0';
    const char *path = strncmp(line, "\t.file\t", 7) == 0 ? memchr(line, '"', n) : NULL;
    const char *slash = path ? memrchr(path, '/', n - (size_t)(path - line)) : NULL;
    if (slash) {
      keep = (size_t)(path + 1 - line);
      memmove(to, line, keep);
      to += keep;
      keep = (size_t)(slash + 1 - line);
    }
    memmove(to, line + keep, n - keep);
    to += n - keep;
    line += n;
  }
  *to = '\0';
}

/* Builds one for an architecture, PTX with source lines; NULL with the log. The caller frees. */
static inline char *ptx_files_build(const struct nvrtc *n, const struct ptx_file *f,
                                    const char *arch, size_t *size, char **log) {
  const struct kernel *k = f->kernel;
  const char *options[32];
  int count = 0;
  for (; count < k->nflags && count < 31; count++)
    options[count] = k->flags[count];
  bool ptx = strncmp(arch, "compute_", 8) == 0;
  if (ptx)
    options[count++] = "-lineinfo";
  char *code = kernel_code(k, &f->size);
  char *out = nvrtc_build(n, code, arch, options, count, size, log);
  if (out && ptx) {
    ptx_files_names(out);
    *size = strlen(out);
  }
  free(code);
  return out;
}

/* Builds the PTX that is shipped; NULL with the log. The caller frees. */
static inline char *ptx_files_ship(const struct nvrtc *n, const struct ptx_file *f, size_t *size,
                                   char **log) {
  char target[16], arch[32];
  ptx_files_target(f->kernel, target);
  snprintf(arch, sizeof arch, "compute_%s", target);
  return ptx_files_build(n, f, arch, size, log);
}

/* The first line of a shipped file. The caller frees. */
static inline char *ptx_files_head(const struct nvrtc *n, const struct ptx_file *f) {
  char target[16];
  ptx_files_target(f->kernel, target);
  return alloc_printf("// mmtutor %s; NVRTC %d.%d, compute_%s; source sha256 %s\n", f->path + 11,
                      n->major, n->minor, target, f->kernel->sha256);
}

#endif
