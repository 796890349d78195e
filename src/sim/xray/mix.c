#include "sim/xray/mix.h"

#include "sim/xray/exec_matrix.h"

static int width_at(int bytes) { return bytes < 8 ? XRAY_4 : bytes < 16 ? XRAY_8 : XRAY_16; }

/* The counter of its kind and width, NULL if the mix has none; *pieces: how many instructions it
 * is.
 */
static int *counter(struct xray_mix *mix, const struct insn *in, int *pieces) {
  int bytes = in->width * in->nvec;
  *pieces = 1;
  if (in->count == COUNT_FFMA)
    return &mix->ffma;
  if ((!insn_loads(in) && !insn_stores(in)) || in->kind == INSN_MATRIX_LD ||
      in->kind == INSN_MATRIX_ST || (in->space != PTX_SHARED && in->space != PTX_GLOBAL))
    return NULL;
  if (in->kind == INSN_FRAG_LD || in->kind == INSN_FRAG_ST)
    *pieces = exec_matrix_accesses(in, &bytes);
  int w = width_at(bytes);
  bool shared = in->space == PTX_SHARED;
  if (insn_loads(in))
    return shared ? &mix->lds[w] : &mix->ldg[w];
  return shared ? &mix->sts[w] : &mix->stg[w];
}

void mix_add(const struct insn *in, struct xray_mix *to) {
  int pieces, *n = counter(to, in, &pieces);
  if (n)
    *n += pieces;
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
    int pieces, *n = counter(out, in, &pieces);
    if (!n)
      continue;
    for (int c = 0; c < in->ncopies; c++)
      add_copy(n, in->copies[c], times, out);
    if (!in->copies)
      add_copy(n, (struct insn_copy){in->joined, in->joined_back}, times * copies * pieces, out);
  }
}
