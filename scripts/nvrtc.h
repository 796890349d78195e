/* NVRTC by dlopen, for tools and tests: text in, PTX or cubin out. */
#ifndef MM_SCRIPTS_NVRTC_H
#define MM_SCRIPTS_NVRTC_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nvrtc {
  int (*version)(int *, int *);
  int (*create)(void **, const char *, const char *, int, const char *const *, const char *const *);
  int (*compile)(void *, int, const char *const *);
  int (*destroy)(void **);
  int (*ptx_size)(void *, size_t *);
  int (*ptx)(void *, char *);
  int (*cubin_size)(void *, size_t *);
  int (*cubin)(void *, char *);
  int (*log_size)(void *, size_t *);
  int (*log)(void *, char *);
  int major, minor;
};

static inline void *nvrtc_library(void) {
  static const char *const names[] = {"libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.13",
                                      "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"};
  void *lib = NULL;
  for (size_t i = 0; !lib && i < sizeof names / sizeof *names; i++)
    lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  return lib;
}

/* False if there is no NVRTC here, or one that lacks a function. It stays loaded. */
static inline bool nvrtc_open(struct nvrtc *n) {
  void *lib = nvrtc_library();
  if (!lib)
    return false;
  const struct {
    void *to;
    const char *name;
  } symbols[] = {{&n->version, "nvrtcVersion"},
                 {&n->create, "nvrtcCreateProgram"},
                 {&n->compile, "nvrtcCompileProgram"},
                 {&n->destroy, "nvrtcDestroyProgram"},
                 {&n->ptx_size, "nvrtcGetPTXSize"},
                 {&n->ptx, "nvrtcGetPTX"},
                 {&n->cubin_size, "nvrtcGetCUBINSize"},
                 {&n->cubin, "nvrtcGetCUBIN"},
                 {&n->log_size, "nvrtcGetProgramLogSize"},
                 {&n->log, "nvrtcGetProgramLog"}};
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    void *f = dlsym(lib, symbols[i].name);
    if (!f)
      return false;
    memcpy(symbols[i].to, &f,
           sizeof f); // an object pointer into a function pointer, as POSIX has it
  }
  return n->version(&n->major, &n->minor) == 0;
}

/* Compiles for "compute_75" (gives PTX) or "sm_90" (gives a cubin). NULL with the log in *log; the
 * caller frees both. *size gets the bytes without a closing NUL. */
static inline char *nvrtc_build(const struct nvrtc *n, const char *source, const char *arch,
                                const char *const *options, int noptions, size_t *size,
                                char **log) {
  const char *all[32];
  char gpu[64];
  int count = 0;
  snprintf(gpu, sizeof gpu, "--gpu-architecture=%s", arch);
  all[count++] = gpu;
  for (int i = 0; i < noptions && count < 32; i++)
    all[count++] = options[i];
  void *program = NULL;
  char *out = NULL;
  *log = NULL;
  if (n->create(&program, source, "kernel.cu", 0, NULL, NULL) != 0)
    return NULL;
  bool virtual_arch = strncmp(arch, "compute_", 8) == 0;
  if (n->compile(program, count, all) == 0 &&
      (virtual_arch ? n->ptx_size : n->cubin_size)(program, size) == 0 && *size > 0) {
    out = calloc(*size + 1, 1);
    if (out && (virtual_arch ? n->ptx : n->cubin)(program, out) != 0) {
      free(out);
      out = NULL;
    }
    *size -= virtual_arch; // PTX counts its NUL
  }
  size_t bytes = 0;
  if (!out && n->log_size(program, &bytes) == 0 && (*log = calloc(bytes + 1, 1)))
    n->log(program, *log);
  n->destroy(&program);
  return out;
}

#endif
