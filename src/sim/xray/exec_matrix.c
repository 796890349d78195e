#include "sim/xray/exec_matrix.h"

#include "sim/xray/exec_blend.h"
#include "sim/xray/exec_mem.h"
#include "sim/xray/exec_mma.h"
#include "sim/xray/lanes.h"
#include "sim/xray/memory.h"
#include "sim/xray/shadow.h"
#include "sim/xray/tally.h"
#include "sim/xray/trace.h"
#include <string.h>

enum { ROWS = 8, ROW_BYTES = 16, BANKS = 32 };

/* Checks, notes and traces one access. True if every lane of mask may do it. */
static bool touch(struct machine *m, struct warp *w, const struct insn *in, enum ptx_space space,
                  const int64_t *address, uint32_t mask, int bytes) {
  uint32_t good = exec_mem_checked(m, w, in, space, address, mask, bytes);
  enum shadow_access kind = insn_stores(in) ? SHADOW_WRITE : SHADOW_READ;
  if (good && space == PTX_SHARED)
    shadow_shared(m, w, in, address, good, bytes, kind);
  else if (good && space == PTX_GLOBAL)
    exec_mem_shadow_global(m, w, in, address, good, bytes, kind);
  if (good && m->traces)
    trace_access(m, w, in, space, address, good, bytes);
  return good == mask;
}

static unsigned char *place(struct machine *m, const struct warp *w, enum ptx_space space,
                            int64_t address, int lane) {
  const struct memory_piece *p =
      memory_find(m->memory, space, address, (int64_t)w->index * INSN_LANES + lane);
  return p->data + (address - p->base);
}

/* Wavefronts of 8 rows of 16 bytes: the most different words in one bank. */
static int row_wavefronts(const int64_t row[ROWS]) {
  int most = 1, n[BANKS] = {0};
  for (int i = 0; i < ROWS; i++) {
    bool met = false;
    for (int k = 0; k < i; k++)
      met |= row[k] == row[i];
    for (int word = 0; word < ROW_BYTES / 4 && !met; word++) {
      int bank = (int)((row[i] / 4 + word) % BANKS);
      if (++n[bank] > most)
        most = n[bank];
    }
  }
  return most;
}

static void count_matrices(struct machine *m, const struct insn *in, int64_t row[][ROWS], int n) {
  struct tally_cell *cell = tally_cell(m->tally, (int)(in - m->program->code));
  cell->shared_requests++;
  for (int i = 0; i < n; i++) {
    int wavefronts = row_wavefronts(row[i]);
    cell->shared_wavefronts += wavefronts;
    cell->shared_conflicts += wavefronts - 1;
  }
}

/* ---- ldmatrix and stmatrix */

static int64_t base_of(const struct machine *m, const struct warp *w, const struct insn *in,
                       int lane) {
  const unsigned char *base = machine_lanes(m, w, in->base);
  uint64_t v = 0;
  memcpy(&v, base + lane * (in->base_wide ? 8 : 4), in->base_wide ? 8 : 4);
  v += (uint64_t)in->offset;
  return (int64_t)(in->base_wide ? v : (uint32_t)v);
}

/* The 16 bits of a lane's register that belong to row and column of its matrix. */
static unsigned char *half_of(unsigned char *lanes, int row, int column, bool transposed) {
  int lane = transposed ? column * 4 + row / 2 : row * 4 + column / 2;
  return lanes + lane * 4 + (transposed ? row % 2 : column % 2) * 2;
}

static void matrix(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  int64_t row[4][ROWS], address[INSN_LANES] = {0};
  int rows = in->nvec * ROWS;
  uint32_t lanes = rows == INSN_LANES ? UINT32_MAX : (1u << rows) - 1;
  bool inside = true;
  exec_mma_whole_warp(m, w, in, mask);
  for (int l = 0; l < rows; l++) {
    address[l] = base_of(m, w, in, l);
    if (in->space == PTX_GENERIC)
      inside &= memory_space(&address[l]) == PTX_SHARED;
    row[l / ROWS][l % ROWS] = address[l];
  }
  /* A generic address of another space is outside of shared memory. */
  for (int l = 0; l < rows && !inside; l++)
    address[l] = base_of(m, w, in, l);
  if (!touch(m, w, in, PTX_SHARED, address, lanes & mask, ROW_BYTES) || mask != UINT32_MAX)
    return;
  count_matrices(m, in, row, in->nvec);
  for (int i = 0; i < in->nvec; i++) {
    unsigned char *reg = machine_lanes(m, w, in->vec[i]);
    for (int r = 0; r < ROWS; r++) {
      unsigned char *at = place(m, w, PTX_SHARED, row[i][r], i * ROWS + r);
      for (int c = 0; c < ROWS; c++)
        if (in->kind == INSN_MATRIX_LD)
          memcpy(half_of(reg, r, c, in->sub), at + c * 2, 2);
        else
          memcpy(at + c * 2, half_of(reg, r, c, in->sub), 2);
    }
  }
}

static void movmatrix(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  unsigned char *from = machine_lanes(m, w, in->a);
  exec_mma_whole_warp(m, w, in, mask);
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < ROWS; c++)
      memcpy(half_of(m->scratch, r, c, true), half_of(from, r, c, false), 2);
  exec_blend(machine_lanes(m, w, in->dst), m->scratch, mask, 4);
}

/* ---- wmma.load and wmma.store */

struct fragment_io {
  struct machine *m;
  struct warp *w;
  const struct insn *in;
  const struct insn_tensor *t;
  enum ptx_space space;
  int64_t base, stride; /* bytes */
  int bits;
  bool neighbours; /* the two or more elements of a register are neighbours in memory */
  bool good;
};

static int64_t element_at(const struct fragment_io *io, int row, int column) {
  bool by_column = io->t->d.column;
  return io->base + (by_column ? column : row) * io->stride +
         (int64_t)(by_column ? row : column) * io->bits / 8;
}

static int64_t lane_at(const struct fragment_io *io, int lane, int r, int i) {
  const struct insn_fragment *f = &io->t->d;
  int at = f->place[(r * INSN_LANES + lane) * exec_mma_elements(f) + i];
  return element_at(io, at >> 8, at & 255);
}

/* Where a lane reads the two neighbours of 16 bits that a transposition puts into its registers. */
static int64_t across_at(const struct fragment_io *io, int lane, int r) {
  const struct insn_fragment *f = &io->t->d;
  int e = exec_mma_elements(f), at = f->place[(r * INSN_LANES + lane) * e];
  int start = f->place[r * INSN_LANES * e], row0 = start >> 8, column0 = start & 255;
  return element_at(io, row0 + (at & 255) - column0, column0 + (at >> 8) - row0);
}

static bool has_neighbours(const struct insn_tensor *t) {
  bool transposed = t->d.role == MMA_C && t->m == 8 && t->n == 32;
  return t->d.column == (t->d.role == MMA_B || transposed);
}

static void access(struct fragment_io *io, const int64_t *address, int bytes) {
  io->good &= touch(io->m, io->w, io->in, io->space, address, UINT32_MAX, bytes);
  if (io->good)
    tally_access(io->m->tally, (int)(io->in - io->m->program->code), io->space, address, UINT32_MAX,
                 bytes, insn_stores(io->in));
}

/* As ldmatrix: the first lane of each four has a row's start. */
static void access_matrices(struct fragment_io *io, int n, bool across, int most) {
  for (int r = 0; r < n; r += most) {
    int64_t row[4][ROWS], address[INSN_LANES] = {0};
    int here = n - r < most ? n - r : most;
    for (int i = 0; i < here; i++) {
      for (int k = 0; k < ROWS; k++) {
        row[i][k] = across ? across_at(io, 4 * k, r + i) : lane_at(io, 4 * k, r + i, 0);
        address[4 * k] = row[i][k];
      }
      io->good &= touch(io->m, io->w, io->in, io->space, address, 0x11111111, ROW_BYTES);
    }
    if (io->good)
      count_matrices(io->m, io->in, row, here);
  }
}

static void access_each(struct fragment_io *io, int n, bool across, int wide, int elements) {
  for (int r = 0; r < n; r += wide)
    for (int i = 0; i < elements; i++) {
      int64_t address[INSN_LANES];
      for (int l = 0; l < INSN_LANES; l++)
        address[l] = across ? across_at(io, l, r) : lane_at(io, l, r, i);
      int bytes = io->bits * wide / 8;
      access(io, address, io->bits >= 32 ? bytes : elements > 1 ? 1 : 4);
    }
}

int exec_matrix_accesses(const struct insn *in, int *bytes) {
  const struct insn_tensor *t = in->tensor;
  const struct insn_fragment *f = &t->d;
  int n = exec_mma_registers(t, f), bits = exec_mma_bits((enum exec_mma_format)f->format);
  bool neighbours = has_neighbours(t), operand = f->role != MMA_C;
  bool whole = operand && in->space == PTX_SHARED && (bits == 16 || (bits == 8 && neighbours));
  int wide = bits >= 32 && !operand && neighbours ? 2 : 1;
  *bytes = bits >= 32 ? bits * wide / 8 : 4;
  if (bits == 8 && !neighbours) {
    *bytes = 1;
    n *= 4;
  }
  return whole ? 0 : n / wide;
}

static void access_all(struct fragment_io *io) {
  const struct insn_fragment *f = &io->t->d;
  int n = exec_mma_registers(io->t, f);
  bool operand = f->role != MMA_C, shared = operand && io->in->space == PTX_SHARED;
  if (io->bits == 16 && shared)
    access_matrices(io, n, !io->neighbours, 4);
  else if (io->bits == 16)
    access_each(io, n, !io->neighbours, 1, 1);
  else if (io->bits == 8 && !io->neighbours)
    access_each(io, n, false, 1, 4);
  else if (io->bits == 8 && shared)
    access_matrices(io, n, false, 2);
  else
    access_each(io, n, false, !operand && io->neighbours ? 2 : 1, 1);
}

static void move_elements(struct fragment_io *io) {
  const struct insn_fragment *f = &io->t->d;
  int n = exec_mma_registers(io->t, f), each = io->bits < 32 ? 32 / io->bits : 1;
  size_t bytes = (size_t)io->bits / 8, lane = io->bits == 64 ? 8 : 4;
  for (int r = 0; r < f->n; r++) {
    unsigned char *reg = machine_lanes(io->m, io->w, f->reg[r]);
    for (int l = 0; l < INSN_LANES; l++)
      for (int i = 0; i < each; i++) {
        unsigned char *at = place(io->m, io->w, io->space, lane_at(io, l, r % n, i), l);
        unsigned char *part = reg + (size_t)l * lane + (size_t)i * bytes;
        memcpy(insn_stores(io->in) ? at : part, insn_stores(io->in) ? part : at, bytes);
      }
  }
}

static void fragment(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  const struct insn_tensor *t = in->tensor;
  const struct insn_fragment *f = &t->d;
  struct fragment_io io = {.m = m, .w = w, .in = in, .t = t, .good = true};
  int columns = f->role == MMA_A ? t->k : t->n, rows = f->role == MMA_B ? t->k : t->m;
  exec_mma_whole_warp(m, w, in, mask);
  if (mask != UINT32_MAX)
    return;
  io.bits = exec_mma_bits((enum exec_mma_format)f->format);
  io.base = base_of(m, w, in, 0);
  io.space = (enum ptx_space)in->space;
  if (io.space == PTX_GENERIC)
    io.space = memory_space(&io.base);
  int64_t elements = f->column ? rows : columns;
  if (t->stride != INSN_NO_SLOT)
    elements = ((const lane_s32 *)machine_lanes(m, w, t->stride))[0];
  io.stride = elements * io.bits / 8;
  io.neighbours = has_neighbours(t);
  access_all(&io);
  if (io.good)
    move_elements(&io);
}

bool exec_matrix(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  switch ((enum insn_kind)in->kind) {
  case INSN_MATRIX_LD:
  case INSN_MATRIX_ST:
    matrix(m, w, in, mask);
    return true;
  case INSN_MOVMATRIX:
    movmatrix(m, w, in, mask);
    return true;
  case INSN_FRAG_LD:
  case INSN_FRAG_ST:
    fragment(m, w, in, mask);
    return true;
  default:
    return false;
  }
}
