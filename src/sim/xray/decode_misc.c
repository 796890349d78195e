#include "sim/xray/decode_misc.h"

#include "sim/xray/exec_alu.h"
#include "sim/xray/exec_bits.h"
#include "sim/xray/exec_misc.h"
#include "sim/xray/ptx_parse.h"
#include <string.h>

static struct slice last_part(const struct decoder *d) { return d->part[d->nparts - 1]; }

/* ---- carry flags */

bool decode_misc_carries(const struct decoder *d) {
  return decode_has(d, "cc") || ptx_lex_is(d->part[0], "addc") || ptx_lex_is(d->part[0], "subc") ||
         ptx_lex_is(d->part[0], "madc");
}

bool decode_misc_carry(struct decoder *d) {
  struct insn *out = d->out;
  struct ptx_type t = ptx_parse_type(last_part(d));
  struct slice name = d->part[0];
  bool reads = name.n == 4, product = *name.p == 'm', high = decode_has(d, "hi");
  if (name.n < 3 || (reads && name.p[3] != 'c'))
    return false;
  enum exec_misc_carry op = ptx_lex_is((struct slice){name.p, 3}, "add")   ? CARRY_ADD
                            : ptx_lex_is((struct slice){name.p, 3}, "sub") ? CARRY_SUB
                            : high                                         ? CARRY_MAD_HI
                                                                           : CARRY_MAD_LO;
  if ((op == CARRY_MAD_LO && (!product || !decode_has(d, "lo"))) ||
      (t.bytes != 4 && t.bytes != 8) || (t.cls != PTX_SIGNED && t.cls != PTX_UNSIGNED) ||
      d->src->n != 3 + product)
    return false;
  out->kind = INSN_CARRY;
  out->sub =
      (uint8_t)((int)op | (reads ? CARRY_READS : 0) | (decode_has(d, "cc") ? CARRY_WRITES : 0) |
                (t.cls == PTX_SIGNED ? CARRY_SIGNED : 0));
  out->dst_bytes = (uint8_t)t.bytes;
  out->dst = decode_dest(d, &d->src->a[0], t.bytes);
  out->a = decode_source(d, &d->src->a[1], t.bytes);
  out->b = decode_source(d, &d->src->a[2], t.bytes);
  if (product)
    out->c = decode_source(d, &d->src->a[3], t.bytes);
  return true;
}

/* ---- single ones */

bool decode_misc_lop3(struct decoder *d) {
  struct insn *out = d->out;
  if (d->nparts != 2 || !ptx_lex_is(last_part(d), "b32") || d->src->n != 5 ||
      d->src->a[4].kind != PTX_IMM || d->src->a[4].imm < 0 || d->src->a[4].imm > 255)
    return false;
  out->kind = INSN_LOP3;
  out->dst_bytes = 4;
  out->dst = decode_dest(d, &d->src->a[0], 4);
  out->a = decode_source(d, &d->src->a[1], 4);
  out->b = decode_source(d, &d->src->a[2], 4);
  out->c = decode_source(d, &d->src->a[3], 4);
  out->offset = d->src->a[4].imm;
  return true;
}

bool decode_misc_testp(struct decoder *d) {
  static const char *const tests[TEST_TESTS] = {
      [TEST_FINITE] = "finite", [TEST_INFINITE] = "infinite",
      [TEST_NUMBER] = "number", [TEST_NOTANUMBER] = "notanumber",
      [TEST_NORMAL] = "normal", [TEST_SUBNORMAL] = "subnormal",
  };
  struct insn *out = d->out;
  struct ptx_type t = ptx_parse_type(last_part(d));
  int test = 0;
  while (test < TEST_TESTS && !(d->nparts == 3 && ptx_lex_is(d->part[1], tests[test])))
    test++;
  if (test == TEST_TESTS || t.cls != PTX_FLOAT || t.bytes < 4 || t.packed || d->src->n != 2)
    return false;
  out->kind = INSN_TESTP;
  out->sub = (uint8_t)test;
  out->width = (uint8_t)t.bytes;
  out->p = decode_pred(d, &d->src->a[0]);
  out->a = decode_float_source(d, &d->src->a[1], t.bytes);
  return true;
}

bool decode_misc_isspacep(struct decoder *d) {
  struct insn *out = d->out;
  struct slice s = last_part(d);
  out->kind = INSN_ISSPACEP;
  out->space =
      ptx_lex_is(s, "global") ? PTX_GLOBAL
      : ptx_lex_is(s, "shared") || ptx_lex_is(s, "shared::cta") || ptx_lex_is(s, "shared::cluster")
          ? PTX_SHARED
      : ptx_lex_is(s, "local") ? PTX_LOCAL
      : ptx_lex_is(s, "const") ? PTX_CONST
                               : PTX_GENERIC;
  if (d->nparts != 2 || d->src->n != 2 || out->space == PTX_GENERIC)
    return false;
  out->p = decode_pred(d, &d->src->a[0]);
  out->width = 8;
  out->a = decode_source(d, &d->src->a[1], 8);
  return true;
}

bool decode_misc_slct(struct decoder *d) {
  struct insn *out = d->out;
  if (d->nparts < 3 || d->src->n != 4)
    return false;
  struct ptx_type t = ptx_parse_type(d->part[d->nparts - 2]);
  bool of_float = ptx_lex_is(last_part(d), "f32");
  if (t.bytes < 2 || t.packed || (!of_float && !ptx_lex_is(last_part(d), "s32")))
    return false;
  int bytes = t.bytes == 8 ? 8 : 4;
  out->kind = INSN_ALU;
  out->alu = exec_bits_slct(bytes == 8, of_float);
  out->dst_bytes = (uint8_t)bytes;
  out->dst = decode_dest(d, &d->src->a[0], bytes);
  insn_slot *to[] = {&out->a, &out->b};
  for (int i = 0; i < 2; i++)
    *to[i] = t.cls == PTX_FLOAT ? decode_float_source(d, &d->src->a[1 + i], bytes)
                                : decode_source(d, &d->src->a[1 + i], bytes);
  out->c = of_float ? decode_float_source(d, &d->src->a[3], 4) : decode_source(d, &d->src->a[3], 4);
  return true;
}

bool decode_misc_elect(struct decoder *d) {
  struct insn *out = d->out;
  if (!decode_has(d, "sync") || d->src->n != 2)
    return false;
  out->kind = INSN_ELECT;
  out->dst_bytes = 4;
  out->dst = decode_dest(d, &d->src->a[0], 4);
  out->p = decode_pred_reg(d, d->src->pair);
  out->vec[0] = decode_source(d, &d->src->a[1], 4);
  return true;
}

static bool copies(struct decoder *d, insn_slot from, int bytes) {
  d->out->kind = INSN_ALU;
  d->out->alu =
      exec_alu_find(bytes == 8 ? (struct slice){"mov.b64", 7} : (struct slice){"mov.b32", 7})->fn;
  d->out->sig = bytes == 8 ? "8:8" : "4:4";
  d->out->dst_bytes = (uint8_t)bytes;
  d->out->dst = decode_dest(d, &d->src->a[0], bytes);
  d->out->a = from;
  return true;
}

bool decode_misc_policy(struct decoder *d) {
  return d->src->n >= 1 && ptx_lex_is(last_part(d), "b64") && copies(d, decode_const(d, 0, 8), 8);
}

bool decode_misc_is_clock(const struct ptx_operand *o) {
  static const char *const names[] = {"%clock", "%clock64", "%globaltimer", "%globaltimer_lo"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (o->kind == PTX_SPECIAL && ptx_lex_is(o->name, names[i]))
      return true;
  return false;
}

int decode_misc_cluster(const struct decoder *d, struct slice name) {
  static const struct {
    const char *name;
    int value;
  } of[] = {
      {"%cluster_ctaid.x", 0},  {"%cluster_ctaid.y", 0},  {"%cluster_ctaid.z", 0},
      {"%cluster_nctaid.x", 1}, {"%cluster_nctaid.y", 1}, {"%cluster_nctaid.z", 1},
      {"%cluster_ctarank", 0},  {"%cluster_nctarank", 1},
  };
  const char *text = d->module->text;
  if (strstr(text, ".reqnctapercluster") || strstr(text, ".explicitcluster"))
    return -1;
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    if (ptx_lex_is(name, of[i].name))
      return of[i].value;
  return -1;
}

bool decode_misc_clock(struct decoder *d) {
  struct ptx_type t = ptx_parse_type(last_part(d));
  if (d->nparts != 2 || d->src->n != 2 || (t.bytes != 4 && t.bytes != 8))
    return false;
  d->out->kind = INSN_CLOCK;
  d->out->dst_bytes = (uint8_t)t.bytes;
  d->out->dst = decode_dest(d, &d->src->a[0], t.bytes);
  return true;
}
