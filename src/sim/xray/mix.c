#include "sim/xray/mix.h"

static int width_at(int bytes) { return bytes < 8 ? XRAY_4 : bytes < 16 ? XRAY_8 : XRAY_16; }

static void add_load(const struct insn *in, struct insn_copy how, int *lds) {
  if (!how.joined)
    lds[width_at(in->width * in->nvec)]++;
  else if (how.joined <= 16)
    lds[width_at(how.joined)]++;
}

static void add_shared_load(const struct insn *in, struct xray_mix *out) {
  if (!in->copies)
    add_load(in, (struct insn_copy){in->joined, in->joined_back}, out->lds);
  for (int i = 0; i < in->ncopies; i++)
    add_load(in, in->copies[i], out->lds);
}

void mix_of(const struct program *p, struct xray_mix *out) {
  *out = (struct xray_mix){.ffma = 0};
  for (int i = 0; i < p->ncode; i++) {
    const struct insn *in = &p->code[i];
    int width = width_at(in->width * in->nvec), n = in->unrolled > 1 ? in->unrolled : 1;
    if (in->count == COUNT_FFMA)
      out->ffma += n;
    if (in->kind == INSN_LD && in->space == PTX_SHARED)
      add_shared_load(in, out);
    else if (in->kind == INSN_LD && in->space == PTX_GLOBAL)
      out->ldg[width] += n;
    else if (in->kind == INSN_ST && in->space == PTX_SHARED)
      out->sts[width] += n;
    else if (in->kind == INSN_ST && in->space == PTX_GLOBAL)
      out->stg[width] += n;
  }
}
