/* What NVRTC's machine code of the shipped kernels holds: rows of assets/ptx_code.json. */
#ifndef MM_SCRIPTS_PTX_CODE_H
#define MM_SCRIPTS_PTX_CODE_H

#include "bench/cuda_shipped.h"
#include "bench/ptx_build.h"
#include "ptx_each.h"
#include "sim/xray/sass.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const int ptx_code_archs[] = {75, 80, 86, 89, 90, 100, 120};
enum { PTX_CODE_ARCHS = sizeof ptx_code_archs / sizeof *ptx_code_archs };

/* What the x-ray does not run (wgmma, TMA) needs no facts for its certificate. */
static inline bool ptx_code_wanted(const struct kernel *k) {
  return !k->cc_suffix[0] && k->nmaps == 0;
}

/* The instructions of PTX, one a line, without directives, labels and debug information. The caller
 * frees. */
static inline char *ptx_code_body(const char *text) {
  struct str s = {0};
  while (*text) {
    size_t n = strcspn(text, "\n");
    if (n > 1 && text[0] == '\t' && (islower((unsigned char)text[1]) || text[1] == '@'))
      str_addf(&s, "%.*s\n", (int)n, text);
    text += n + (text[n] == '\n');
  }
  return str_take(&s);
}

/* Compiles one file for an architecture. False with a sentence if it cannot be. */
static inline bool ptx_code_build(const nvrtc *n, const struct ptx_file *f, int arch,
                                  struct ptx_build_output *out, struct err *err) {
  char *code = kernel_code(f->kernel, &f->size), name[8];
  snprintf(name, sizeof name, "%d", arch);
  struct ptx_build_request q = {.source = code,
                                .size = strlen(code),
                                .name = "kernel.cu",
                                .arch = name,
                                .flags = (const char *const *)f->kernel->flags,
                                .nflags = f->kernel->nflags,
                                .resources = true};
  bool ok = ptx_build(n, &q, out, err);
  free(code);
  return ok;
}

/* Fills the facts of one entry of what was built. False with a sentence. */
static inline bool ptx_code_of(const struct ptx_build_output *b, int entry, int arch,
                               struct cuda_shipped *out, struct err *err) {
  const struct ptx_build_entry *e = &b->entries[entry];
  *out = (struct cuda_shipped){.arch = arch,
                               .registers = e->registers,
                               .shared_bytes = e->shared_bytes,
                               .stack_bytes = e->stack_bytes,
                               .spill_bytes = e->spill_bytes};
  return sass_mix(b->cubin, b->cubin_size, e->symbol, &out->sass, err);
}

#endif
