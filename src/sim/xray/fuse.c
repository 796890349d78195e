#include "sim/xray/fuse.h"

#include "base/alloc.h"
#include <stdlib.h>

static void note(int *uses, int units, insn_slot slot) {
  if (slot >= 0 && slot < units)
    uses[slot]++;
}

/* Every place where a slot stands, written or read; where a field has no meaning, one too many. */
static int *places(const struct program *p) {
  int *uses = alloc_zero((size_t)p->units + 1, sizeof *uses);
  for (int i = 0; i < p->ncode; i++) {
    const struct insn *in = &p->code[i];
    const insn_slot plain[] = {in->dst, in->a, in->b, in->c, in->base};
    for (size_t k = 0; k < sizeof plain / sizeof *plain; k++)
      note(uses, p->units, plain[k]);
    for (int k = 0; k < 4; k++)
      note(uses, p->units, in->vec[k]);
    for (int k = 0; in->tensor && k < INSN_FRAGMENT; k++) {
      note(uses, p->units, in->tensor->a.reg[k]);
      note(uses, p->units, in->tensor->b.reg[k]);
      note(uses, p->units, in->tensor->c.reg[k]);
      note(uses, p->units, in->tensor->d.reg[k]);
    }
  }
  return uses;
}

static bool is_product(const struct insn *in) {
  return in->count == COUNT_FMUL && !in->has_guard &&
         (ptx_lex_is(in->op, "mul.f32") || ptx_lex_is(in->op, "mul.ftz.f32"));
}

static bool takes(const struct insn *in, const struct insn *product) {
  const char *const names[2][2] = {{"add.f32", "sub.f32"}, {"add.ftz.f32", "sub.ftz.f32"}};
  const char *const *of = names[product->ftz];
  return in->count == COUNT_FADD && (in->a == product->dst) != (in->b == product->dst) &&
         (ptx_lex_is(in->op, of[0]) || ptx_lex_is(in->op, of[1]));
}

/* The end of the basic block of instruction i. */
static int block_end(const struct program *p, const struct affine *a, int i) {
  for (i++; i < p->ncode && !affine_starts_block(a, i); i++)
    continue;
  return i;
}

void fuse_products(struct program *p, const struct affine *a) {
  int *uses = places(p);
  for (int i = 0; i < p->ncode; i++) {
    struct insn *product = &p->code[i];
    if (!is_product(product) || product->dst < 0)
      continue;
    int end = block_end(p, a, i), taken = 0;
    for (int k = i + 1; k < end; k++)
      taken += takes(&p->code[k], product);
    if (taken == 0 || uses[product->dst] != taken + 1)
      continue;
    for (int k = i + 1; k < end; k++)
      if (takes(&p->code[k], product))
        p->code[k].count = COUNT_FFMA;
    product->count = COUNT_NOTHING;
  }
  free(uses);
}
