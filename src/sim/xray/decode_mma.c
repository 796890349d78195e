#include "sim/xray/decode_mma.h"

#include "base/alloc.h"
#include "sim/xray/exec_mma.h"
#include <stdlib.h>

static int format_of(struct slice s) {
  static const char *const names[MMA_FORMATS] = {
      [MMA_F16] = "f16",   [MMA_BF16] = "bf16", [MMA_TF32] = "tf32", [MMA_E4M3] = "e4m3",
      [MMA_E5M2] = "e5m2", [MMA_F32] = "f32",   [MMA_F64] = "f64",   [MMA_S8] = "s8",
      [MMA_U8] = "u8",     [MMA_S4] = "s4",     [MMA_U4] = "u4",     [MMA_S32] = "s32",
  };
  for (int i = 0; i < MMA_FORMATS; i++)
    if (ptx_lex_is(s, names[i]))
      return i;
  return -1;
}

/* "m16n8k16" */
static bool shape_of(struct slice s, struct insn_tensor *t) {
  int v[3] = {0}, at = 0;
  for (int i = 0; i < 3; i++) {
    if (at >= s.n || s.p[at++] != "mnk"[i])
      return false;
    for (; at < s.n && s.p[at] >= '0' && s.p[at] <= '9' && v[i] < 100; at++)
      v[i] = v[i] * 10 + s.p[at] - '0';
  }
  *t = (struct insn_tensor){
      .m = (uint8_t)v[0], .n = (uint8_t)v[1], .k = (uint8_t)v[2], .stride = INSN_NO_SLOT};
  for (int i = 0; i < 3; i++)
    if (v[i] > 64 || v[i] & (v[i] - 1)) /* powers of two */
      return false;
  return at == s.n && v[0] >= 8 && v[0] <= 32 && v[1] >= 8 && v[1] <= 32 && v[2] >= 4;
}

static bool adds_up(int format) {
  return format == MMA_F16 || format == MMA_F32 || format == MMA_F64 || format == MMA_S32;
}
static bool multiplies(int format) { return format != MMA_F32 && format != MMA_S32; }

/* The registers of operand i; exact: each element once. */
static bool fragment(struct decoder *d, int i, const struct insn_tensor *t, struct insn_fragment *f,
                     enum exec_mma_role role, int format, bool exact) {
  const struct ptx_operand *o = decode_operand(d, i);
  const struct ptx_operand *part = o->kind == PTX_VECTOR ? &d->func->pool[o->first] : o;
  int n = o->kind == PTX_VECTOR ? o->n : 1, bytes = format == MMA_F64 ? 8 : 4;
  if (format < 0 || n > INSN_FRAGMENT || (role == MMA_C ? !adds_up(format) : !multiplies(format)))
    return false;
  f->role = (uint8_t)role;
  f->format = (uint8_t)format;
  f->n = (uint8_t)n;
  bool written = f == &t->d && d->out->kind != INSN_FRAG_ST;
  for (int r = 0; r < n; r++)
    f->reg[r] = written ? decode_dest(d, &part[r], bytes) : decode_source(d, &part[r], bytes);
  int needed = exec_mma_registers(t, f);
  return needed > 0 && (exact ? n == needed : n % needed == 0);
}

/* Which types multiply: both of a kind, added up in a type that goes with them. */
static bool known_types(const struct insn_tensor *t) {
  enum exec_mma_format a = (enum exec_mma_format)t->a.format, b = (enum exec_mma_format)t->b.format,
                       c = (enum exec_mma_format)t->c.format, d = (enum exec_mma_format)t->d.format;
  bool small = a == MMA_E4M3 || a == MMA_E5M2, half_or_single = c == MMA_F16 || c == MMA_F32;
  if (a == MMA_F16)
    return b == a && half_or_single && (d == MMA_F16 || d == MMA_F32);
  if (small)
    return (b == MMA_E4M3 || b == MMA_E5M2) && half_or_single && c == d;
  if (a == MMA_BF16 || a == MMA_TF32)
    return b == a && c == MMA_F32 && d == c;
  if (a == MMA_F64)
    return b == a && c == a && d == a;
  bool bytes = (a == MMA_S8 || a == MMA_U8) && (b == MMA_S8 || b == MMA_U8);
  bool nibbles = (a == MMA_S4 || a == MMA_U4) && (b == MMA_S4 || b == MMA_U4);
  return (bytes || nibbles) && c == MMA_S32 && d == c;
}

static int places(const struct insn_tensor *t, const struct insn_fragment *f) {
  return f->n ? exec_mma_registers(t, f) * INSN_LANES * exec_mma_elements(f) : 0;
}

static void fill_places(const struct insn_tensor *t, struct insn_fragment *f, uint16_t *to) {
  int e = exec_mma_elements(f);
  f->place = to;
  for (int i = 0; i < places(t, f); i++) {
    int row, column;
    exec_mma_place(t, f, i / e % INSN_LANES, i / e / INSN_LANES, i % e, &row, &column);
    to[i] = (uint16_t)(row << 8 | column);
  }
}

/* The tables of places lie behind the tensor, so that one free is enough. */
static void keep(struct decoder *d, const struct insn_tensor *t) {
  size_t n = (size_t)(places(t, &t->d) + places(t, &t->a) + places(t, &t->b) + places(t, &t->c));
  struct insn_tensor *own = alloc_zero(1, sizeof *own + n * sizeof(uint16_t));
  uint16_t *at = (uint16_t *)(void *)(own + 1);
  *own = *t;
  struct insn_fragment *of[] = {&own->d, &own->a, &own->b, &own->c};
  for (int i = 0; i < 4; i++) {
    fill_places(own, of[i], at);
    at += places(own, of[i]);
  }
  d->out->tensor = own;
}

/* Operands d, a, b, c of the types of parts `at`; narrow: only d and c are named, a and b are f16.
 */
static bool product(struct decoder *d, struct insn_tensor *t, int at, bool narrow, bool exact) {
  struct insn *out = d->out;
  int last = at + (narrow ? 1 : 3);
  if (last >= d->nparts || d->src->n != 4)
    return false;
  int of_a = narrow ? MMA_F16 : format_of(d->part[at + 1]);
  int of_b = narrow ? MMA_F16 : format_of(d->part[at + 2]);
  out->kind = INSN_MMA;
  if (!fragment(d, 0, t, &t->d, MMA_C, format_of(d->part[at]), exact) ||
      !fragment(d, 1, t, &t->a, MMA_A, of_a, exact) ||
      !fragment(d, 2, t, &t->b, MMA_B, of_b, exact) ||
      !fragment(d, 3, t, &t->c, MMA_C, format_of(d->part[last]), exact) || !known_types(t))
    return false;
  for (int i = last + 1; i < d->nparts; i++)
    if (ptx_lex_is(d->part[i], "satfinite"))
      t->finite = true;
    else if (!ptx_lex_is(d->part[i], "rn"))
      return false;
  out->flop = (uint16_t)(2 * t->m * t->n * t->k / INSN_LANES);
  keep(d, t);
  return true;
}

static bool is_layout(struct slice s) { return ptx_lex_is(s, "row") || ptx_lex_is(s, "col"); }

/* mma.sync.aligned.m16n8k16.row.col{.satfinite}.f32.f16.f16.f32 */
bool decode_mma(struct decoder *d) {
  struct insn_tensor t;
  if (d->nparts < 10 || !ptx_lex_is(d->part[1], "sync") || !ptx_lex_is(d->part[2], "aligned") ||
      !shape_of(d->part[3], &t) || !ptx_lex_is(d->part[4], "row") ||
      !ptx_lex_is(d->part[5], "col") || t.n != 8 || (t.m != 8 && t.m != 16))
    return false;
  bool finite = ptx_lex_is(d->part[6], "satfinite");
  t.finite = finite;
  return product(d, &t, 6 + finite, false, true);
}

/* ---- wmma */

static bool wmma_shape(const struct insn_tensor *t) {
  return (t->m == 16 && t->n == 16) || (t->m == 32 && t->n == 8) || (t->m == 8 && t->n == 32) ||
         (t->m == 8 && t->n == 8);
}

/* wmma.load.a.sync.aligned.row.m16n16k16{.global}.f16 r, [p]{, stride}; store has [p] first. */
static bool wmma_memory(struct decoder *d, bool store) {
  struct insn *out = d->out;
  struct insn_tensor t;
  if (d->nparts < 8 || d->src->n < 2 || d->src->n > 3 || !is_layout(d->part[5]) ||
      !shape_of(d->part[6], &t) || !wmma_shape(&t))
    return false;
  if (d->nparts == 9)
    out->space = ptx_lex_is(d->part[7], "global") ? PTX_GLOBAL
                 : ptx_lex_is(d->part[7], "shared") || ptx_lex_is(d->part[7], "shared::cta")
                     ? PTX_SHARED
                     : PTX_PARAM;
  enum exec_mma_role role = ptx_lex_is(d->part[2], "a")   ? MMA_A
                            : ptx_lex_is(d->part[2], "b") ? MMA_B
                                                          : MMA_C;
  int format = format_of(d->part[d->nparts - 1]);
  if (d->nparts > 9 || out->space == PTX_PARAM || format == MMA_S4 || format == MMA_U4)
    return false;
  out->kind = store ? INSN_FRAG_ST : INSN_FRAG_LD;
  t.d.column = ptx_lex_is(d->part[5], "col");
  if (!fragment(d, store, &t, &t.d, role, format, false))
    return false;
  decode_address(d, &d->src->a[!store]);
  if (d->src->n == 3)
    t.stride = decode_source(d, &d->src->a[2], 4);
  keep(d, &t);
  return true;
}

bool decode_mma_wmma(struct decoder *d) {
  struct insn_tensor t;
  if (d->nparts < 8)
    return false;
  if (ptx_lex_is(d->part[1], "load") || ptx_lex_is(d->part[1], "store"))
    return wmma_memory(d, *d->part[1].p == 's');
  if (!ptx_lex_is(d->part[1], "mma") || !is_layout(d->part[4]) || !is_layout(d->part[5]) ||
      !shape_of(d->part[6], &t) || !wmma_shape(&t))
    return false;
  bool narrow = d->nparts < 11 || format_of(d->part[9]) < 0;
  return product(d, &t, 7, narrow, false);
}

/* ---- 8x8 matrices of 16 bits */

static int matrices(const struct decoder *d) {
  return decode_has(d, "x4") ? 4 : decode_has(d, "x2") ? 2 : decode_has(d, "x1") ? 1 : 0;
}

static bool matrix_memory(struct decoder *d, int registers, int address) {
  struct insn *out = d->out;
  const struct ptx_operand *v = decode_operand(d, registers);
  const struct ptx_operand *part = v->kind == PTX_VECTOR ? &d->func->pool[v->first] : v;
  int n = matrices(d);
  if (d->src->n != 2 || !decode_has(d, "m8n8") || !decode_has(d, "b16") || n == 0 ||
      n != (v->kind == PTX_VECTOR ? v->n : 1))
    return false;
  out->nvec = (uint8_t)n;
  out->sub = decode_has(d, "trans");
  out->width = 16;
  out->space = decode_has(d, "shared") || decode_has(d, "shared::cta") ? PTX_SHARED : PTX_GENERIC;
  for (int i = 0; i < n; i++)
    out->vec[i] =
        out->kind == INSN_MATRIX_LD ? decode_dest(d, &part[i], 4) : decode_source(d, &part[i], 4);
  decode_address(d, decode_operand(d, address));
  return true;
}

bool decode_mma_ldmatrix(struct decoder *d) {
  d->out->kind = INSN_MATRIX_LD;
  return matrix_memory(d, 0, 1);
}

bool decode_mma_stmatrix(struct decoder *d) {
  d->out->kind = INSN_MATRIX_ST;
  return matrix_memory(d, 1, 0);
}

bool decode_mma_movmatrix(struct decoder *d) {
  struct insn *out = d->out;
  if (d->src->n != 2 || !decode_has(d, "m8n8") || !decode_has(d, "trans") || !decode_has(d, "b16"))
    return false;
  out->kind = INSN_MOVMATRIX;
  out->dst_bytes = 4;
  out->dst = decode_dest(d, &d->src->a[0], 4);
  out->a = decode_source(d, &d->src->a[1], 4);
  return true;
}
