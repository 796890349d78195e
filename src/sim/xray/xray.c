#include "sim/xray/xray.h"

#include "base/alloc.h"
#include "sim/xray/decode.h"
#include "sim/xray/launch.h"
#include "sim/xray/ptx_parse.h"
#include "sim/xray/unroll.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 1024 };

struct xray_module {
  struct ptx_module *ptx;
  char **names; /* of the entries */
  int nnames;
};

xray_module *xray_load(const char *ptx, size_t n, struct err *err) {
  struct ptx_module *p = ptx_parse(ptx, n, err);
  if (!p)
    return NULL;
  xray_module *m = alloc_zero(1, sizeof *m);
  m->ptx = p;
  m->names = alloc_zero((size_t)p->nfuncs, sizeof *m->names);
  for (int i = 0; i < p->nfuncs; i++)
    if (p->funcs[i].entry && p->funcs[i].defined)
      m->names[m->nnames++] = alloc_strn(p->funcs[i].name.p, (size_t)p->funcs[i].name.n);
  return m;
}

void xray_free(xray_module *m) {
  if (!m)
    return;
  for (int i = 0; i < m->nnames; i++)
    free(m->names[i]);
  free(m->names);
  ptx_parse_free(m->ptx);
  free(m);
}

const char *xray_entry(const xray_module *m, int i) {
  return i >= 0 && i < m->nnames ? m->names[i] : NULL;
}

bool xray_param(const xray_module *m, const char *entry, int i, struct xray_param *out) {
  for (int k = 0; k < m->ptx->nfuncs; k++) {
    const struct ptx_func *f = &m->ptx->funcs[k];
    if (!f->entry || !f->defined || !ptx_lex_is(f->name, entry))
      continue;
    if (i < 0 || i >= f->nparams)
      return false;
    const struct ptx_var *v = &f->params[i];
    *out = (struct xray_param){v->bytes,
                               v->type.cls == PTX_FLOAT && v->bytes == (int64_t)v->type.bytes};
    return true;
  }
  return false;
}

static bool has_part(struct slice op, const char *part) {
  return memmem(op.p, (size_t)op.n, part, strlen(part)) != NULL;
}

static bool begins(struct slice op, const char *with) {
  return op.n >= (int)strlen(with) && memcmp(op.p, with, strlen(with)) == 0;
}

static void look_at_rounding(struct slice op, struct xray_coarse *out) {
  if (begins(op, "mma.") || begins(op, "wmma.mma.") || begins(op, "wgmma.mma_async")) {
    out->f16_sums = out->f16_sums || (op.n > 4 && memcmp(op.p + op.n - 4, ".f16", 4) == 0);
    out->tf32 = out->tf32 || has_part(op, ".tf32");
  } else if (begins(op, "fma.") || begins(op, "add.")) {
    out->f16_sums = out->f16_sums || has_part(op, ".f16");
    out->bf16_sums = out->bf16_sums || has_part(op, ".bf16");
  }
}

struct xray_coarse xray_coarse_of(const xray_module *m, const char *entry) {
  struct xray_coarse out = {0};
  for (int k = 0; k < m->ptx->nfuncs; k++) {
    const struct ptx_func *f = &m->ptx->funcs[k];
    bool runs = !f->entry || ptx_lex_is(f->name, entry); /* or may be called */
    for (int i = 0; runs && i < f->ncode; i++)
      look_at_rounding(f->code[i].op, &out);
  }
  return out;
}

static const struct ptx_func *find_entry(const xray_module *m, const char *name, struct err *err) {
  if (!name && m->nnames == 1)
    name = m->names[0];
  for (int i = 0; name && i < m->ptx->nfuncs; i++) {
    const struct ptx_func *f = &m->ptx->funcs[i];
    if (f->entry && f->defined && ptx_lex_is(f->name, name))
      return f;
  }
  if (name)
    err_set(err, "There is no kernel \"%s\" in this PTX. Its first kernel is %s.", name,
            m->nnames ? m->names[0] : "missing");
  else
    err_set(err, "This PTX holds %d kernels. Name the one to run.", m->nnames);
  return NULL;
}

static bool check_launch(const struct xray_launch *l, struct err *err) {
  static const int64_t grid_max[3] = {INT32_MAX, 65535, 65535}, block_max[3] = {1024, 1024, 64};
  int64_t threads = 1;
  for (int i = 0; i < 3; i++) {
    if (l->grid[i] < 1 || l->grid[i] > grid_max[i])
      return err_set(err,
                     "The grid has %lld blocks in %c; CUDA takes 1 to %lld. Change the launch.",
                     (long long)l->grid[i], 'x' + i, (long long)grid_max[i]);
    if (l->block[i] < 1 || l->block[i] > block_max[i])
      return err_set(err,
                     "The block has %lld threads in %c; CUDA takes 1 to %lld. Change the launch.",
                     (long long)l->block[i], 'x' + i, (long long)block_max[i]);
    threads *= l->block[i];
  }
  if (threads > MAX_THREADS)
    return err_set(err,
                   "The block has %lld threads; CUDA takes at most %d. Make the block smaller.",
                   (long long)threads, MAX_THREADS);
  return true;
}

/* What the kernel was compiled for, by __launch_bounds__ or __block_size__. */
static bool check_bounds(const struct ptx_func *f, const int64_t block[3], struct err *err) {
  double threads = (double)block[0] * (double)block[1] * (double)block[2];
  double most = (double)f->most[0] * (double)f->most[1] * (double)f->most[2];
  if (most > 0 && threads > most)
    return err_set(err,
                   "The block has %g threads; the kernel is compiled for at most %g "
                   "(__launch_bounds__). Change one of the two.",
                   threads, most);
  if (f->exact[0] && memcmp(f->exact, block, sizeof f->exact) != 0)
    return err_set(err,
                   "The block has %lld x %lld x %lld threads; the kernel is compiled for exactly "
                   "%lld x %lld x %lld. Change one of the two.",
                   (long long)block[0], (long long)block[1], (long long)block[2],
                   (long long)f->exact[0], (long long)f->exact[1], (long long)f->exact[2]);
  return true;
}

bool xray_run(const xray_module *m, const struct xray_launch *launch, struct xray_report *out,
              struct err *err) {
  *out = (struct xray_report){0};
  const struct ptx_func *f = find_entry(m, launch->entry, err);
  if (!f || !check_launch(launch, err) || !check_bounds(f, launch->block, err))
    return false;
  struct program *p = decode_kernel(m->ptx, f);
  out->ptx_level = !unroll_program(p, launch->sass, &out->mix);
  bool ok = launch_run(m->ptx, f, p, launch, out, err);
  decode_free(p);
  return ok;
}

bool xray_mix_of(const xray_module *m, const char *entry, const struct xray_mix *sass,
                 struct xray_mix *out, bool *exact, struct err *err) {
  const struct ptx_func *f = find_entry(m, entry, err);
  if (!f)
    return false;
  struct program *p = decode_kernel(m->ptx, f);
  *exact = unroll_program(p, sass, out);
  decode_free(p);
  return true;
}

void xray_report_done(struct xray_report *r) {
  free(r->problems);
  free(r->lines);
  *r = (struct xray_report){0};
}

const char *xray_kind_name(enum xray_kind k) {
  static const char *const names[XRAY_KINDS] = {
      "oob_global",    "oob_shared",         "misaligned",        "null",
      "race_shared",   "race_warp",          "race_global",       "uninit_shared",
      "uninit_global", "barrier_divergence", "deadlock",          "budget",
      "trap",          "shfl_mask",          "cp_async_unwaited", "unsupported"};
  return (unsigned)k < XRAY_KINDS ? names[k] : "";
}
