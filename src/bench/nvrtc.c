#include "bench/nvrtc.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "bench/cuda_api.h"
#include "bench/cuda_find.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct nvrtc {
  struct cuda_nvrtc_api api;
  int major, minor;
  char version[16];
  char include[1100]; /* "" if there is none */
  int *archs;
  int narchs;
};

/* NVRTC has no C library. These are what a kernel file may want of it. */
static const char *const header_names[] = {"stdint.h", "stddef.h", "float.h",  "math.h",
                                           "stdio.h",  "assert.h", "stdbool.h"};
static const char *const header_texts[] = {
    "#pragma once\n"
    "typedef signed char int8_t; typedef short int16_t; typedef int int32_t;\n"
    "typedef long long int64_t; typedef unsigned char uint8_t; typedef unsigned short uint16_t;\n"
    "typedef unsigned int uint32_t; typedef unsigned long long uint64_t;\n"
    "typedef unsigned long long uintptr_t;\n",
    "#pragma once\n",
    "#pragma once\n"
    "#define FLT_MAX 3.402823466e+38f\n"
    "#define FLT_MIN 1.175494351e-38f\n"
    "#define FLT_EPSILON 1.192092896e-07f\n",
    "#pragma once\n"
    "#define INFINITY __int_as_float(0x7f800000)\n"
    "#define NAN __int_as_float(0x7fffffff)\n",
    "#pragma once\n",
    "#pragma once\n"
    "#ifndef assert\n#define assert(x) ((x) ? (void)0 : __trap())\n#endif\n",
    "#pragma once\n",
};
enum { NHEADERS = sizeof header_names / sizeof *header_names };

#define SYMBOL(field, symbol, params) {#symbol, offsetof(struct cuda_nvrtc_api, field)},
static const struct cuda_api_symbol symbols[] = {
    CUDA_API_NVRTC(SYMBOL){"nvrtcGetErrorString", offsetof(struct cuda_nvrtc_api, error)}};
#undef SYMBOL

static void learn(struct nvrtc *n, const char *dir) {
  n->api.version(&n->major, &n->minor);
  snprintf(n->version, sizeof n->version, "%d.%d", n->major, n->minor);
  snprintf(n->include, sizeof n->include, "%s/../include", dir);
  char probe[1200];
  snprintf(probe, sizeof probe, "%s/cuda_bf16.h", n->include);
  if (!dir[0] || access(probe, R_OK))
    n->include[0] = 0;
  if (n->api.arch_count(&n->narchs) || n->narchs < 1)
    n->narchs = 0;
  n->archs = alloc_zero((size_t)n->narchs, sizeof *n->archs);
  if (n->narchs && n->api.archs(n->archs))
    n->narchs = 0;
}

const nvrtc *nvrtc_open(struct err *err) {
  static const struct cuda_find what = {
      "NVRTC",
      "MMTUTOR_NVRTC",
      {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", NULL},
      {"libnvrtc-builtins.so.13*", "libnvrtc-builtins.so.12*", "libnvrtc-builtins.so.11*", NULL},
      "cuda_nvrtc"};
  static struct nvrtc n;
  static void *handle;
  static bool ready;
  char dir[1024];
  if (ready)
    return &n;
  if (!handle)
    handle = cuda_find_open(&what, dir, err);
  if (!handle)
    return NULL;
  if (!cuda_api_bind(handle, "NVRTC", symbols, (int)(sizeof symbols / sizeof *symbols), &n.api,
                     err)) {
    handle = NULL;
    return NULL;
  }
  learn(&n, dir);
  ready = true;
  return &n;
}

const char *nvrtc_version(const nvrtc *n) { return n->version; }

int nvrtc_major(const nvrtc *n) { return n->major; }

const char *nvrtc_include(const nvrtc *n) { return n->include[0] ? n->include : NULL; }

int nvrtc_target(const nvrtc *n, int arch) {
  int best = 0;
  for (int i = 0; i < n->narchs; i++)
    if (n->archs[i] <= arch && n->archs[i] > best)
      best = n->archs[i];
  return best;
}

static char *take_log(const nvrtc *n, cuda_nvrtc_program program) {
  size_t size = 0;
  if (n->api.log_size(program, &size) || size < 2)
    return alloc_str("");
  char *text = alloc_zero(size + 1, 1);
  n->api.log(program, text);
  return text;
}

static bool take_image(const nvrtc *n, cuda_nvrtc_program program, bool ptx, char **image,
                       size_t *bytes, struct err *err) {
  size_t size = 0;
  int rc = ptx ? n->api.ptx_size(program, &size) : n->api.cubin_size(program, &size);
  if (rc || !size)
    return err_set(err, "NVRTC compiled the file but gave no %s. Choose a real target (sm_XY).",
                   ptx ? "PTX" : "machine code");
  *image = alloc_zero(size + 1, 1);
  *bytes = size;
  rc = ptx ? n->api.ptx(program, *image) : n->api.cubin(program, *image);
  return rc ? err_set(err, "NVRTC did not hand over its result: %s.", n->api.error(rc)) : true;
}

/* The first line of the log that says error, else the library's own word for the code. */
static bool explain(const nvrtc *n, int rc, const char *log, struct err *err) {
  if (rc == CUDA_NVRTC_BUILTINS)
    return err_set(err,
                   "NVRTC %s cannot open its companion libnvrtc-builtins.so.%s, which must lie "
                   "beside libnvrtc. Install both from the same package.",
                   n->version, n->version);
  const char *at = strstr(log, "error");
  if (!at)
    return err_set(err, "NVRTC: %s.", n->api.error(rc));
  while (at > log && at[-1] != '\n')
    at--;
  return err_set(err, "%.*s", (int)strcspn(at, "\n"), at);
}

static void take_names(const nvrtc *n, cuda_nvrtc_program program, const struct nvrtc_request *q,
                       struct nvrtc_output *out) {
  out->lowered = alloc_zero((size_t)q->nnames, sizeof *out->lowered);
  out->nlowered = q->nnames;
  for (int i = 0; i < q->nnames; i++) {
    const char *name = NULL;
    if (!n->api.lowered(program, q->names[i], &name) && name)
      out->lowered[i] = alloc_str(name);
  }
}

bool nvrtc_compile_request(const nvrtc *n, const struct nvrtc_request *q, struct nvrtc_output *out,
                           struct err *err) {
  memset(out, 0, sizeof *out);
  double start = clock_ms();
  cuda_nvrtc_program program = NULL;
  bool own = q->nheaders == 0;
  int rc =
      n->api.create(&program, q->source, q->name, own ? NHEADERS : q->nheaders,
                    own ? header_texts : q->header_texts, own ? header_names : q->header_names);
  for (int i = 0; !rc && i < q->nnames; i++)
    rc = n->api.add_name(program, q->names[i]);
  if (rc) {
    out->log = alloc_str("");
    if (program)
      n->api.destroy(&program);
    return err_set(err, "NVRTC did not take the file: %s.", n->api.error(rc));
  }
  rc = n->api.compile(program, q->noptions, q->options);
  out->log = take_log(n, program);
  size_t ptx_size;
  bool ok = rc ? explain(n, rc, out->log, err)
               : take_image(n, program, q->want_ptx, &out->image, &out->size, err);
  if (ok && q->and_ptx)
    ok = take_image(n, program, true, &out->ptx, &ptx_size, err);
  if (ok)
    take_names(n, program, q, out);
  n->api.destroy(&program);
  out->ms = clock_ms() - start;
  return ok;
}

bool nvrtc_compile(const nvrtc *n, const char *source, const char *name, const char *const *options,
                   int noptions, bool want_ptx, struct nvrtc_output *out, struct err *err) {
  struct nvrtc_request q = {.source = source,
                            .name = name,
                            .options = options,
                            .noptions = noptions,
                            .want_ptx = want_ptx};
  return nvrtc_compile_request(n, &q, out, err);
}

void nvrtc_output_done(struct nvrtc_output *out) {
  for (int i = 0; i < out->nlowered; i++)
    free(out->lowered[i]);
  free(out->lowered);
  free(out->image);
  free(out->ptx);
  free(out->log);
  memset(out, 0, sizeof *out);
}
