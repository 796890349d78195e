#include "bench/cuda_build.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/paths.h"
#include "base/str.h"
#include "bench/cubin_cache.h"
#include "bench/cuda_fault.h"
#include "bench/nvrtc.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cuda_build_options(const struct kernel *k, int arch, bool ptx, const char *include,
                       char ***options) {
  char **o = alloc_zero((size_t)(3 + k->nflags), sizeof *o);
  int n = 0;
  o[n++] = alloc_printf("--gpu-architecture=%s_%d%s", ptx ? "compute" : "sm", arch, k->cc_suffix);
  o[n++] = alloc_str("--std=c++17");
  for (int i = 0; i < k->nflags; i++)
    o[n++] = alloc_str(k->flags[i]);
  if (include)
    o[n++] = alloc_printf("-I%s", include);
  *options = o;
  return n;
}

void cuda_build_free_options(char **options, int n) {
  for (int i = 0; i < n; i++)
    free(options[i]);
  free(options);
}

char *cuda_build_ptx_name(const struct kernel *k, const struct kernel_size *size) {
  struct str s = {0};
  str_add(&s, "assets/ptx/");
  for (const char *c = k->id; *c; c++)
    str_addc(&s, *c == '/' ? '_' : *c);
  for (int i = 0; i < k->nparams; i++)
    str_addf(&s, "_%s%.17g", k->params[i].name, size->param[i]);
  str_add(&s, ".ptx");
  return str_take(&s);
}

enum { JIT_LOG = 8192 };

static cuda_result load_image(const struct cuda_api *cu, const char *image, cuda_module *module,
                              char log[JIT_LOG]) {
  enum cuda_jit options[] = {CUDA_JIT_ERROR_LOG, CUDA_JIT_ERROR_LOG_BYTES};
  uintptr_t bytes = JIT_LOG - 1;
  void *values[2] = {log, NULL};
  memcpy(&values[1], &bytes, sizeof bytes); /* the driver wants the number itself as a pointer */
  memset(log, 0, JIT_LOG);
  return cu->module_load(module, image, 2, options, values);
}

static bool refused(cuda_result rc) {
  return rc == CUDA_INVALID_IMAGE || rc == CUDA_NO_BINARY || rc == CUDA_INVALID_PTX ||
         rc == CUDA_UNSUPPORTED_PTX;
}

static bool no_nvrtc(const struct kernel *k, const char *reason, struct device_fault *fault) {
  char what[512];
  snprintf(what, sizeof what,
           "%.100s cannot be compiled here: NVRTC, NVIDIA's compiler library, is "
           "missing or does not know this GPU.",
           k->id);
  return cuda_fault_set(fault, "no_nvrtc", what, reason,
                        "Run: pip install nvidia-cuda-nvrtc (or your distribution's package "
                        "libnvrtc), or set MMTUTOR_NVRTC to the full path of libnvrtc.so.");
}

/* The PTX that comes with the program, compiled by the driver. `reason` says why NVRTC was not
 * used. */
static bool from_shipped(const struct cuda_build_target *t, const struct kernel *k,
                         const struct kernel_size *size, const char *reason, cuda_module *module,
                         char compiler[96], struct device_built *built,
                         struct device_fault *fault) {
  char *name = cuda_build_ptx_name(k, size);
  char *ptx = k->builtin ? paths_asset(name, NULL, NULL) : NULL;
  free(name);
  if (!ptx)
    return no_nvrtc(k, reason, fault);
  char log[JIT_LOG];
  cuda_result rc = load_image(t->cu, ptx, module, log);
  free(ptx);
  if (log[0] && !built->log)
    built->log = alloc_str(log);
  if (rc)
    return cuda_fault_driver(t->cu, rc, "compiling the shipped PTX in the driver", fault);
  snprintf(compiler, 96, "driver JIT (shipped PTX)");
  built->cached = false;
  return true;
}

/* The name of the file without directories, as it stands in the compiler's log. */
static const char *short_name(const struct kernel *k) {
  const char *path = k->path ? k->path : k->id, *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static bool compile_failed(const struct kernel *k, const struct err *err,
                           struct device_fault *fault) {
  char what[512];
  snprintf(what, sizeof what, "%.100s does not compile.", k->id);
  return cuda_fault_set(fault, "compile", what, err->text,
                        "Correct the file at the line that the message names; the whole log is "
                        "with the run.");
}

/* One way through NVRTC: the options, and whether they give PTX. */
struct recipe {
  const nvrtc *n;
  char *code; /* the text for the compiler */
  char **options;
  int noptions;
  bool ptx;
  char key[65];
};

static bool from_cache(const struct cuda_build_target *t, const struct recipe *r,
                       cuda_module *module, struct device_built *built) {
  char *image = NULL, *log = NULL;
  size_t size = 0;
  char jit[JIT_LOG];
  if (!cubin_cache_get(r->key, &image, &size, &log))
    return false;
  cuda_result rc = load_image(t->cu, image, module, jit);
  free(image);
  if (rc) {
    log_line("cached kernel refused with %d; compiling again", rc);
    cubin_cache_drop(r->key);
    free(log);
    return false;
  }
  built->cached = true;
  built->log = log;
  return true;
}

/* Compiles and loads. *rc gets the driver's word where the compiler did its part. */
static bool from_source(const struct cuda_build_target *t, const struct recipe *r,
                        const struct kernel *k, cuda_module *module, struct device_built *built,
                        cuda_result *rc, struct device_fault *fault) {
  struct nvrtc_output out;
  struct err err;
  char jit[JIT_LOG];
  *rc = CUDA_OK;
  bool ok = nvrtc_compile(r->n, r->code, short_name(k), (const char *const *)r->options,
                          r->noptions, r->ptx, &out, &err);
  if (ok) {
    *rc = load_image(t->cu, out.image, module, jit);
    if (!*rc)
      cubin_cache_put(r->key, out.image, out.size, out.log);
  }
  built->log = out.log && out.log[0] ? alloc_str(out.log) : NULL;
  nvrtc_output_done(&out);
  if (!ok)
    return compile_failed(k, &err, fault);
  return *rc ? cuda_fault_driver(t->cu, *rc, "loading the compiled kernel", fault) : true;
}

static bool through_nvrtc(const struct cuda_build_target *t, const struct kernel *k,
                          const struct kernel_size *size, struct recipe *r, cuda_module *module,
                          char compiler[96], struct device_built *built,
                          struct device_fault *fault) {
  snprintf(compiler, 96, "NVRTC %s%s", nvrtc_version(r->n), r->ptx ? " (PTX, driver JIT)" : "");
  char cc[16];
  snprintf(cc, sizeof cc, "%d", t->arch);
  cubin_cache_key(r->code, (const char *const *)r->options, r->noptions, cc, compiler, t->driver,
                  r->key);
  if (from_cache(t, r, module, built))
    return true;
  cuda_result rc;
  if (from_source(t, r, k, module, built, &rc, fault))
    return true;
  /* A driver older than NVRTC refuses its code; the shipped PTX is older than both. */
  struct device_fault other = *fault;
  if (refused(rc) && from_shipped(t, k, size, fault->what, module, compiler, built, &other)) {
    *fault = (struct device_fault){0};
    return true;
  }
  return false;
}

bool cuda_build(const struct cuda_build_target *t, const struct kernel *k,
                const struct kernel_size *size, cuda_module *module, char compiler[96],
                struct device_built *built, struct device_fault *fault) {
  double start = clock_ms();
  struct err err;
  struct recipe r = {.n = nvrtc_open(&err)};
  int arch = r.n ? nvrtc_target(r.n, t->arch) : 0;
  if (k->cc_suffix[0] && arch != t->arch) /* code for sm_90a runs on that generation alone */
    arch = 0;
  bool ok;
  if (!r.n || !arch) {
    if (r.n)
      err_set(&err, "NVRTC %s makes no code for compute capability %d.%d.", nvrtc_version(r.n),
              t->arch / 10, t->arch % 10);
    ok = from_shipped(t, k, size, err.text, module, compiler, built, fault);
  } else {
    r.ptx = arch != t->arch;
    r.code = kernel_code(k, size);
    r.noptions = cuda_build_options(k, arch, r.ptx, nvrtc_include(r.n), &r.options);
    ok = through_nvrtc(t, k, size, &r, module, compiler, built, fault);
    cuda_build_free_options(r.options, r.noptions);
    free(r.code);
  }
  built->compile_ms = clock_ms() - start;
  return ok;
}
