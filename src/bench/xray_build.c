#include "bench/xray_build.h"

#include "base/alloc.h"
#include "base/str.h"
#include "bench/cuda_shipped.h"
#include "bench/wire.h"
#include "sim/xray/sass.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_ARCH "90"

enum { NAME_SIZE = 512 };

static const char *short_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* The name of a file as the compiler can take it: one that begins with a dash would be an option,
 * and signs of C strings break the PTX's .file. */
static void compiler_name(char *out, size_t size, const char *path) {
  snprintf(out, size, "%s", short_name(path));
  for (char *at = out; *at; at++)
    if (iscntrl((unsigned char)*at) || *at == '"' || *at == '\\' || (at == out && *at == '-'))
      *at = '_';
}

/* ---- names of kernels */

/* The source's kernel that `name` ("gemm::tiled<32>") is an instance of. */
static const struct cuda_scan_kernel *kernel_of(const struct cuda_scan *s, const char *name) {
  size_t n = strcspn(name, "<");
  while (n && name[n - 1] == ' ')
    n--;
  for (int i = 0; i < s->nkernels; i++)
    if (strlen(s->kernels[i].name) == n && !memcmp(s->kernels[i].name, name, n))
      return &s->kernels[i];
  return NULL;
}

/* Takes parameters and lines of the kernel from the source that has it. */
static bool take_home(struct xray_build *b, const struct cuda_scan *s, const char *file,
                      const char *name) {
  const struct cuda_scan_kernel *k = kernel_of(s, name);
  if (!k)
    return false;
  b->home = s;
  b->home_name = file;
  b->template_params = k->template_params;
  xray_params_read(&b->params, k->params, k->template_params, name);
  b->params.source = s->text;
  if (k->chunk >= 0) {
    b->first = s->chunks[k->chunk].line;
    b->last = s->chunks[k->chunk].last;
  }
  return true;
}

static bool load(struct xray_build *b, const char *ptx, size_t n, struct device_fault *fault) {
  struct err err;
  b->module = xray_load(ptx, n, &err);
  if (!b->module)
    wire_fault_set(fault, "ptx", "The PTX cannot be read.", err.text, "");
  return b->module != NULL;
}

/* ".target sm_90" -> "compute_90" */
static void find_target(struct xray_build *b, const char *ptx) {
  const char *at = strstr(ptx, ".target");
  at = at ? strstr(at, "sm_") : NULL;
  size_t n = at ? strspn(at + 3, "0123456789af") : 0;
  if (n > 0 && n < 6)
    snprintf(b->arch, sizeof b->arch, "compute_%.*s", (int)n, at + 3);
}

/* ---- a PTX file */

/* `name` is the symbol, or the source's name of a mangled one: _Z6matmulPKf has "6matmul". */
static bool is_named(const char *symbol, const char *name) {
  char part[160];
  if (strcmp(symbol, name) == 0)
    return true;
  snprintf(part, sizeof part, "%zu%.120s", strlen(name), name);
  return strncmp(symbol, "_Z", 2) == 0 && strstr(symbol, part);
}

static bool choose_symbol(struct xray_build *b, const char *file, const char *asked,
                          struct device_fault *fault) {
  struct str list = {0};
  struct err what;
  int met = 0, n = 0;
  const char *symbol, *found = NULL;
  for (; (symbol = xray_entry(b->module, n)); n++) {
    if (n < 8)
      str_addf(&list, "%s%.60s", n ? ", " : "", symbol);
    if (!asked || is_named(symbol, asked)) {
      found = symbol;
      met++;
    }
  }
  str_add(&list, n > 8 ? ", ..." : "");
  if (met == 1) {
    b->symbol = alloc_str(found);
    snprintf(b->entry, sizeof b->entry, "%s", asked ? asked : found);
  } else {
    if (n == 0)
      err_set(&what, "%.80s has no kernel.", file);
    else if (asked && met == 0)
      err_set(&what, "%.80s has no kernel named %.80s. It has: %.300s.", file, asked, list.data);
    else if (asked)
      err_set(&what, "%.80s has more than one kernel named %.80s. It has: %.300s.", file, asked,
              list.data);
    else
      err_set(&what, "%.80s has %d kernels: %.300s.", file, n, list.data);
    wire_fault_set(fault, "entry", what.text, "", n ? "Name one with --entry." : "");
  }
  str_free(&list);
  return met == 1;
}

static bool from_file(struct xray_build *b, const struct xray_case *c, struct device_fault *fault) {
  const struct xray_request *q = c->q;
  snprintf(b->compiler, sizeof b->compiler, "a PTX file");
  find_target(b, q->source);
  return load(b, q->source, strlen(q->source), fault) &&
         choose_symbol(b, short_name(q->kernel), q->entry, fault);
}

/* ---- what comes with the program */

/* "compute_90", "sm_90", "90" -> 90; the default's number for NULL. */
static int arch_number(const char *arch) {
  if (!arch)
    arch = DEFAULT_ARCH;
  return (int)strtol(arch + strcspn(arch, "0123456789"), NULL, 10);
}

/* What is recorded of the machine code of the same source. */
static void take_code(struct xray_build *b, const struct cuda_shipped *s) {
  if (!s->arch)
    return;
  snprintf(b->arch, sizeof b->arch, "compute_%d", s->arch);
  b->code.registers = s->registers;
  b->code.shared_bytes = s->shared_bytes;
  b->code.stack_bytes = s->stack_bytes;
  b->code.spill_bytes = s->spill_bytes;
  b->sass = s->sass;
  b->has_sass = true;
}

/* False where this kernel with these parameters is not shipped. */
static bool from_shipped(struct xray_build *b, const struct xray_case *c,
                         struct device_fault *fault) {
  const struct kernel *k = c->front;
  const char *entry = k->launches[c->launch].entry;
  struct cuda_shipped s;
  if (!cuda_shipped_find(k, &c->size, entry, arch_number(c->q->arch), &s))
    return false;
  snprintf(b->compiler, sizeof b->compiler, "shipped PTX");
  find_target(b, s.ptx);
  take_code(b, &s);
  b->scan = cuda_scan_new(k->source, strlen(k->source));
  b->scan_name = short_name(k->path);
  take_home(b, b->scan, b->scan_name, entry);
  return load(b, s.ptx, s.size, fault) && choose_symbol(b, b->scan_name, entry, fault);
}

/* ---- NVRTC */

struct options {
  const char **flags;
  char **own;
  int n, nown;
  char arch[8];
  const char *entry;
};

static void add_define(struct options *o, char *flag) {
  o->own[o->nown++] = flag;
  o->flags[o->n++] = flag;
}

static bool is_param(const struct kernel *k, const char *define) {
  for (int i = 0; k && i < k->nparams; i++) {
    size_t n = strlen(k->params[i].name);
    if (strncmp(define, k->params[i].name, n) == 0 && (define[n] == '=' || !define[n]))
      return true;
  }
  return false;
}

static void make_options(struct options *o, const struct xray_case *c) {
  const struct kernel *k = c->front;
  int most = c->q->ndefines + (k ? k->nparams + k->ndefines + k->nflags : 0);
  o->flags = alloc_zero((size_t)most, sizeof *o->flags);
  o->own = alloc_zero((size_t)most, sizeof *o->own);
  for (int i = 0; k && i < k->nflags; i++)
    o->flags[o->n++] = k->flags[i];
  for (int i = 0; k && i < k->nparams; i++)
    add_define(o, alloc_printf("-D%s=%.17g", k->params[i].name, c->size.param[i]));
  for (int i = 0; k && i < k->ndefines; i++)
    add_define(o, alloc_printf("-D%s", k->defines[i]));
  for (int i = 0; i < c->q->ndefines; i++)
    if (!is_param(k, c->q->defines[i]))
      add_define(o, alloc_printf("-D%s", c->q->defines[i]));
  o->entry = c->q->entry;
  if (!o->entry && k && k->nlaunches > 0)
    o->entry = k->launches[c->launch].entry;
}

static void free_options(struct options *o) {
  for (int i = 0; i < o->nown; i++)
    free(o->own[i]);
  free(o->own);
  free(o->flags);
}

static bool read_arch(struct options *o, const struct xray_case *c, struct device_fault *fault) {
  const char *a = c->q->arch;
  if (!a) {
    snprintf(o->arch, sizeof o->arch, DEFAULT_ARCH "%s", c->front ? c->front->cc_suffix : "");
    return true;
  }
  a += strncmp(a, "compute_", 8) == 0 ? 8 : strncmp(a, "sm_", 3) == 0 ? 3 : 0;
  size_t n = strspn(a, "0123456789");
  if ((n == 2 || n == 3) && (!a[n] || (strchr("af", a[n]) && !a[n + 1]))) {
    snprintf(o->arch, sizeof o->arch, "%s", a);
    return true;
  }
  char what[200];
  snprintf(what, sizeof what, "\"%.40s\" is no target.", c->q->arch);
  wire_fault_set(fault, "arch", what, "", "Name one such as --arch compute_90.");
  return false;
}

static bool choose_entry(struct xray_build *b, const char *file, struct device_fault *fault) {
  if (b->made.nentries == 1)
    return true;
  struct str list = {0};
  struct err what;
  for (int i = 0; i < b->made.nentries && i < 8; i++)
    str_addf(&list, "%s%.60s", i ? ", " : "", b->made.entries[i].name);
  err_set(&what, "%.80s has %d kernels: %.300s.", file, b->made.nentries, list.data);
  wire_fault_set(fault, "entry", what.text, "", "Name one with --entry.");
  str_free(&list);
  return false;
}

static void take_entry(struct xray_build *b) {
  const struct ptx_build_entry *e = &b->made.entries[0];
  b->symbol = alloc_str(e->symbol);
  snprintf(b->entry, sizeof b->entry, "%s", e->name);
  b->code = *e;
  struct err err;
  b->has_sass =
      b->made.cubin && sass_mix(b->made.cubin, b->made.cubin_size, b->symbol, &b->sass, &err);
  for (int i = 0; i < b->made.sources.n; i++) {
    const struct ptx_source *s = &b->made.sources.all[i];
    if (take_home(b, s->scan, short_name(s->name), e->name))
      return;
  }
}

static bool compile_failed(const struct xray_build *b, const char *file, const struct xray_case *c,
                           const struct err *err, struct device_fault *fault) {
  char what[200], next[256];
  if (b->made.compiles == 0) { /* it was not even asked for */
    wire_fault_set(fault, "entry", err->text, "", "");
    return false;
  }
  snprintf(what, sizeof what, "%.100s does not compile.", file);
  const struct ptx_sources *s = &b->made.sources;
  if (s->nmissing > 0 && !c->q->dir)
    snprintf(next, sizeof next,
             "\"%.80s\" is not here: quoted headers are not sent to another machine. Put its text "
             "into the file.",
             s->missing[0]);
  else
    snprintf(next, sizeof next, "Correct the file at the line that the message names.");
  wire_fault_set(fault, "compile", what, err->text, next);
  return false;
}

static bool through_nvrtc(struct xray_build *b, const struct xray_case *c, const nvrtc *n,
                          struct device_fault *fault) {
  struct options o = {0};
  struct err err;
  if (!read_arch(&o, c, fault))
    return false;
  int arch = (int)strtol(o.arch, NULL, 10);
  if (nvrtc_target(n, arch) != arch) {
    char what[200];
    snprintf(what, sizeof what, "NVRTC %s makes no code for compute_%s.", nvrtc_version(n), o.arch);
    wire_fault_set(fault, "arch", what, "", "Leave --arch out, or name a newer one.");
    return false;
  }
  make_options(&o, c);
  const char *source = c->q->source ? c->q->source : c->front->source;
  char file[NAME_SIZE];
  compiler_name(file, sizeof file, c->q->source ? c->q->kernel : c->front->path);
  const struct ptx_build_request q = {.source = source,
                                      .size = strlen(source),
                                      .name = file,
                                      .dir = c->q->dir,
                                      .entry = o.entry,
                                      .arch = o.arch,
                                      .flags = o.flags,
                                      .nflags = o.n,
                                      .resources = true};
  bool ok = ptx_build(n, &q, &b->made, &err);
  free_options(&o);
  snprintf(b->compiler, sizeof b->compiler, "NVRTC %s", nvrtc_version(n));
  snprintf(b->arch, sizeof b->arch, "compute_%s", o.arch);
  if (!ok)
    return compile_failed(b, file, c, &err, fault);
  if (!choose_entry(b, file, fault))
    return false;
  take_entry(b);
  return load(b, b->made.ptx, strlen(b->made.ptx), fault);
}

bool xray_build_make(struct xray_build *b, const struct xray_case *c, struct device_fault *fault) {
  *b = (struct xray_build){
      .code = {.registers = -1, .shared_bytes = -1, .stack_bytes = -1, .spill_bytes = -1}};
  if (xray_case_is_ptx(c->q))
    return from_file(b, c, fault);
  struct err err;
  const nvrtc *n = nvrtc_open(&err);
  if (n)
    return through_nvrtc(b, c, n, fault);
  *fault = (struct device_fault){0};
  if (c->front && !c->q->source && c->front->nlaunches > 0 && from_shipped(b, c, fault))
    return true;
  if (fault->what[0])
    return false;
  char what[300];
  snprintf(what, sizeof what,
           "%.100s cannot be compiled here: NVRTC, NVIDIA's compiler library, is missing.",
           c->q->kernel);
  wire_fault_set(fault, "no_nvrtc", what, err.text,
                 "Run: pip install nvidia-cuda-nvrtc (or your distribution's package libnvrtc), or "
                 "set MMTUTOR_NVRTC to the full path of libnvrtc.so.");
  return false;
}

void xray_build_done(struct xray_build *b) {
  xray_free(b->module);
  free(b->symbol);
  ptx_build_done(&b->made);
  cuda_scan_free(b->scan);
  *b = (struct xray_build){0};
}
