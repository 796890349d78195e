#include "sim/xray/exec_mma.h"

#include "sim/xray/exec_float.h"
#include "sim/xray/lanes.h"
#include "sim/xray/report.h"
#include <math.h>
#include <string.h>

enum { SIDE = 32, DEPTH = 64 }; /* rows and columns, and k, at most */

struct matrices {
  double a[SIDE][DEPTH], b[DEPTH][SIDE], c[SIDE][SIDE];
};

int exec_mma_bits(enum exec_mma_format f) {
  static const int bits[MMA_FORMATS] = {
      [MMA_F16] = 16, [MMA_BF16] = 16, [MMA_TF32] = 32, [MMA_E4M3] = 8,
      [MMA_E5M2] = 8, [MMA_F32] = 32,  [MMA_F64] = 64,  [MMA_S8] = 8,
      [MMA_U8] = 8,   [MMA_S4] = 4,    [MMA_U4] = 4,    [MMA_S32] = 32,
  };
  return bits[f];
}

/* ---- which lane holds what */

int exec_mma_elements(const struct insn_fragment *f) {
  int bits = exec_mma_bits((enum exec_mma_format)f->format);
  return bits < 32 ? 32 / bits : 1;
}

int exec_mma_registers(const struct insn_tensor *t, const struct insn_fragment *f) {
  int elements = f->role == MMA_A ? t->m * t->k : f->role == MMA_B ? t->k * t->n : t->m * t->n;
  int e = exec_mma_elements(f), lane = INSN_LANES * e;
  bool whole = f->role == MMA_C || t->k % (4 * e) == 0; /* four lanes have a row of 16 bytes */
  return elements % lane || !whole ? 0 : elements / lane;
}

/* C in blocks of 16 rows and 8 columns, registers of two neighbours in a row. */
static void place_in_blocks(const struct insn_fragment *f, int lane, int r, int i, int *block,
                            int *row, int *column) {
  bool pairs = exec_mma_elements(f) == 2;
  int q = pairs ? r : r / 2;
  *block = q / 2;
  *row = lane / 4 + 8 * (q % 2);
  *column = lane % 4 * 2 + (pairs ? i : r % 2);
}

void exec_mma_place(const struct insn_tensor *t, const struct insn_fragment *f, int lane, int r,
                    int i, int *row, int *column) {
  int group = lane / 4, e = exec_mma_elements(f), k = lane % 4 * e + i, block;
  if (f->role == MMA_A) {
    int each = t->m == 8 ? t->k / (4 * e) : t->k / (2 * e), q = r % each;
    *row = r / each * 16 + group + (t->m == 8 ? 0 : 8 * (q % 2));
    *column = 4 * e * (t->m == 8 ? q : q / 2) + k;
  } else if (f->role == MMA_B) {
    int each = t->k / (4 * e);
    *row = 4 * e * (r % each) + k;
    *column = r / each * 8 + group;
  } else if (t->m == 8 && t->n == 8) {
    *row = group;
    *column = lane % 4 * 2 + (e == 2 ? i : r);
  } else if (t->m == 8) {
    place_in_blocks(f, lane, r, i, &block, column, row);
    *column += 16 * block;
  } else {
    place_in_blocks(f, lane, r, i, &block, row, column);
    if (t->m == 16)
      *column += 8 * block;
    else
      *row += 16 * block;
  }
}

/* ---- values */

static double float_of(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return (double)f;
}

static double f16_of(uint32_t h) {
  double v = float_of((h & 0x7fff) << 13) * 0x1p112;
  if ((h & 0x7c00) == 0x7c00)
    v = h & 0x3ff ? (double)NAN : (double)INFINITY;
  return h & 0x8000 ? -v : v;
}

static double element(enum exec_mma_format f, const unsigned char *reg, int i) {
  uint32_t bits;
  double wide;
  memcpy(&bits, reg, sizeof bits);
  switch (f) {
  case MMA_F16:
    return f16_of(bits >> (16 * i) & 0xffff);
  case MMA_BF16:
    return float_of(bits >> (16 * i) << 16);
  case MMA_TF32:
    return float_of(bits & 0xffffe000);
  case MMA_E4M3:
    return exec_float_value(FLOAT_E4M3, bits >> (8 * i) & 0xff);
  case MMA_E5M2:
    return exec_float_value(FLOAT_E5M2, bits >> (8 * i) & 0xff);
  case MMA_F32:
    return float_of(bits);
  case MMA_F64:
    memcpy(&wide, reg, sizeof wide);
    return wide;
  case MMA_S8:
    return (int8_t)(bits >> (8 * i));
  case MMA_U8:
    return (uint8_t)(bits >> (8 * i));
  case MMA_S4:
    return (int32_t)(bits >> (4 * i) << 28) >> 28;
  case MMA_U4:
    return bits >> (4 * i) & 15;
  default:
    return (int32_t)bits;
  }
}

static void gather(const struct machine *m, const struct warp *w, const struct insn_tensor *t,
                   const struct insn_fragment *f, double *to, int width) {
  int n = exec_mma_registers(t, f), e = exec_mma_elements(f);
  size_t bytes = f->format == MMA_F64 ? 8 : 4;
  const uint16_t *at = f->place;
  for (int r = 0; r < n; r++) {
    const unsigned char *lanes = machine_lanes(m, w, f->reg[r]);
    for (int l = 0; l < INSN_LANES; l++)
      for (int i = 0; i < e; i++, at++)
        to[(*at >> 8) * width + (*at & 255)] =
            element((enum exec_mma_format)f->format, lanes + (size_t)l * bytes, i);
  }
}

/* The bits of an element of D. */
static uint64_t result(const struct insn_tensor *t, double v) {
  uint64_t bits = 0;
  switch ((enum exec_mma_format)t->d.format) {
  case MMA_F16:
    return exec_float_bits(FLOAT_F16, v, 'n', t->finite);
  case MMA_F64:
    memcpy(&bits, &v, sizeof v);
    return bits;
  case MMA_S32:
    if (t->finite)
      v = fmin(fmax(v, INT32_MIN), INT32_MAX);
    return (uint32_t)(int64_t)v;
  default:
    return exec_float_bits(FLOAT_F32, v, 'n', false);
  }
}

static void scatter(struct machine *m, struct warp *w, const struct insn_tensor *t,
                    const struct matrices *x, uint32_t mask) {
  const struct insn_fragment *f = &t->d;
  int n = exec_mma_registers(t, f), e = exec_mma_elements(f);
  size_t bytes = f->format == MMA_F64 ? 8 : 4;
  for (int r = 0; r < f->n; r++) {
    unsigned char *lanes = machine_lanes(m, w, f->reg[r]);
    for (uint32_t left = mask; left; left &= left - 1) {
      int l = __builtin_ctz(left);
      uint64_t bits = 0;
      const uint16_t *at = f->place + (r % n * INSN_LANES + l) * e;
      for (int i = 0; i < e; i++)
        bits |= result(t, x->c[at[i] >> 8][at[i] & 255]) << (16 * i);
      memcpy(lanes + (size_t)l * bytes, &bits, bytes);
    }
  }
}

/* ---- the product */

static LANES_HOT void add_products(struct matrices *x, int m, int n, int k) {
  for (int row = 0; row < m; row++)
    for (int j = 0; j < k; j++)
      for (int column = 0; column < n; column++)
        x->c[row][column] += x->a[row][j] * x->b[j][column];
}

static void add_fused(struct matrices *x, int m, int n, int k) {
  for (int row = 0; row < m; row++)
    for (int column = 0; column < n; column++)
      for (int j = 0; j < k; j++)
        x->c[row][column] = fma(x->a[row][j], x->b[j][column], x->c[row][column]);
}

void exec_mma_whole_warp(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  if (mask != UINT32_MAX)
    report_problem(m, w, in, __builtin_ctz(mask), XRAY_SHFL_MASK, true,
                   "All 32 lanes of a warp must run a matrix instruction together; %#010x run it.",
                   mask);
}

bool exec_mma(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  if (in->kind != INSN_MMA)
    return false;
  const struct insn_tensor *t = in->tensor;
  struct matrices x;
  exec_mma_whole_warp(m, w, in, mask);
  gather(m, w, t, &t->a, x.a[0], DEPTH);
  gather(m, w, t, &t->b, x.b[0], SIDE);
  gather(m, w, t, &t->c, x.c[0], SIDE);
  if (t->a.format == MMA_F64)
    add_fused(&x, t->m, t->n, t->k);
  else
    add_products(&x, t->m, t->n, t->k);
  scatter(m, w, t, &x, mask);
  return true;
}
