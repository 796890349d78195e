#include "sim/xray/mix.h"

static int width_at(int bytes) { return bytes < 8 ? XRAY_4 : bytes < 16 ? XRAY_8 : XRAY_16; }

/* The counter of its kind and width; NULL if the mix has none. */
static int *counter(struct xray_mix *mix, const struct insn *in) {
  int w = width_at(in->width * in->nvec);
  bool shared = in->space == PTX_SHARED;
  if (in->count == COUNT_FFMA)
    return &mix->ffma;
  if (!shared && in->space != PTX_GLOBAL)
    return NULL;
  if (in->kind == INSN_LD)
    return shared ? &mix->lds[w] : &mix->ldg[w];
  if (in->kind == INSN_ST)
    return shared ? &mix->sts[w] : &mix->stg[w];
  return NULL;
}

void mix_add(const struct insn *in, struct xray_mix *to) {
  int *n = counter(to, in);
  if (n)
    ++*n;
}

static void add_copy(int *alone, struct insn_copy how, int times, struct xray_mix *to) {
  if (!how.joined)
    *alone += times;
  else if (how.joined <= 16)
    to->lds[width_at(how.joined)] += times;
}

static int at_least_1(int n) { return n > 1 ? n : 1; }

void mix_of(const struct program *p, struct xray_mix *out) {
  *out = (struct xray_mix){.ffma = 0};
  for (int i = 0; i < p->ncode; i++) {
    const struct insn *in = &p->code[i];
    int times = at_least_1(in->repeated), copies = at_least_1(in->unrolled);
    int *n = counter(out, in);
    if (!n)
      continue;
    for (int c = 0; c < in->ncopies; c++)
      add_copy(n, in->copies[c], times, out);
    if (!in->copies)
      add_copy(n, (struct insn_copy){in->joined, in->joined_back}, times * copies, out);
  }
}
