#include "sim/walk/count.h"

#include "sim/warp.h"

#include <math.h>
#include <string.h>

enum { LANES = 32, WORD = 4, PERIOD = 32 }; /* addresses repeat their pattern every 32 words */

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

static int gcd(int a, int b) { return b ? gcd(b, a % b) : a; }

int count_as_width(const struct walk_setup *s) {
  int row = s->T + s->pad;
  if (row % 4 == 0 && s->T % 4 == 0)
    return 16;
  return row % 2 == 0 && s->T % 2 == 0 ? 8 : 4;
}

/* The address of one lane; thread (tx, ty) exists. */
static int64_t lane_address(const struct walk_setup *s, const struct count_place *at,
                            enum walk_access access, int tx, int ty) {
  int64_t r = at->brow * s->T + ty, c = at->bcol * s->T + tx, pitch = s->T + s->pad;
  bool naive = s->kind == WALK_NAIVE;
  int64_t ka = naive ? at->k0 : at->k0 + tx, kb = naive ? at->k0 : at->k0 + ty;
  bool in_a = r < s->M && ka < s->K && (!naive || c < s->N);
  bool in_b = c < s->N && kb < s->K && (!naive || r < s->M);
  bool fill = !(s->bugs & WALK_NO_ZERO_FILL);
  bool swap = s->bugs & WALK_SWAPPED_INDEX;
  switch (access) {
  case WALK_LOAD_A:
    return in_a ? WORD * (r * s->K + ka) : -1;
  case WALK_LOAD_B:
    return in_b ? WORD * (kb * s->N + c) : -1;
  case WALK_STORE_AS:
    return in_a || fill ? WORD * (swap ? tx * pitch + ty : ty * pitch + tx) : -1;
  case WALK_STORE_BS:
    return in_b || fill ? WORD * (ty * pitch + tx) : -1;
  case WALK_READ_AS:
    return WORD * (ty * pitch + at->k);
  case WALK_READ_BS:
    return WORD * (at->k * pitch + tx);
  }
  return -1;
}

void count_addresses(const struct walk_setup *s, const struct count_place *at,
                     enum walk_access access, int warp, int64_t address[32]) {
  for (int l = 0; l < LANES; l++) {
    int thread = warp * LANES + l;
    address[l] =
        thread < s->T * s->T ? lane_address(s, at, access, thread % s->T, thread / s->T) : -1;
  }
}

static void add_global_load(const int64_t address[32], struct walk_counters *c) {
  for (int l = 0; l < LANES; l++)
    c->requested_bytes += address[l] >= 0 ? WORD : 0;
  c->global_sectors += warp_sectors(address, WORD);
  c->global_wavefronts += warp_global_wavefronts(address, WORD, false);
}

/* The load of A (or B) and, in a tiled kernel, its store to shared memory. */
static void count_operand(const struct walk_setup *s, const struct count_place *at, bool is_b,
                          int warp, struct walk_counters *c) {
  int64_t address[LANES];
  count_addresses(s, at, is_b ? WALK_LOAD_B : WALK_LOAD_A, warp, address);
  add_global_load(address, c);
  if (s->kind == WALK_NAIVE)
    return;
  count_addresses(s, at, is_b ? WALK_STORE_BS : WALK_STORE_AS, warp, address);
  c->shared_store_wavefronts += warp_shared_wavefronts(address, WORD, true);
}

void count_load(const struct walk_setup *s, const struct count_place *at, int warp,
                struct walk_counters *c) {
  count_operand(s, at, false, warp, c);
  count_operand(s, at, true, warp, c);
}

/* Shared reads of one k by every warp. */
static void count_reads(const struct walk_setup *s, const struct count_place *at,
                        struct walk_counters *c) {
  int width = count_as_width(s);
  for (int w = 0; w < walk_warps(s); w++) {
    int64_t address[LANES];
    if (at->k % (width / WORD) == 0) {
      count_addresses(s, at, WALK_READ_AS, w, address);
      c->shared_load_wavefronts += warp_shared_wavefronts(address, width, false);
    }
    count_addresses(s, at, WALK_READ_BS, w, address);
    c->shared_load_wavefronts += warp_shared_wavefronts(address, WORD, false);
  }
}

static int64_t inside(int64_t block, int T, int64_t size) {
  int64_t left = size - block * T;
  return left < T ? left : T;
}

void count_compute(const struct walk_setup *s, const struct count_place *at,
                   struct walk_counters *c) {
  if (s->kind == WALK_TILED) {
    count_reads(s, at, c);
    c->fma += (double)s->T * s->T;
    return;
  }
  for (int w = 0; w < walk_warps(s); w++)
    count_load(s, at, w, c);
  c->fma += (double)(inside(at->brow, s->T, s->M) * inside(at->bcol, s->T, s->N));
}

void count_store(const struct walk_setup *s, const struct count_place *at,
                 struct walk_counters *c) {
  c->stored_bytes += (double)(WORD * inside(at->brow, s->T, s->M) * inside(at->bcol, s->T, s->N));
}

static void add_times(struct walk_counters *to, const struct walk_counters *from, double n) {
  to->requested_bytes += n * from->requested_bytes;
  to->global_sectors += n * from->global_sectors;
  to->global_wavefronts += n * from->global_wavefronts;
  to->shared_load_wavefronts += n * from->shared_load_wavefronts;
  to->shared_store_wavefronts += n * from->shared_store_wavefronts;
  to->fma += n * from->fma;
  to->barriers += n * from->barriers;
  to->stored_bytes += n * from->stored_bytes;
}

/* Units (k-tiles, or values of k) after which address patterns repeat, and units with all k inside.
 */
static int64_t unit_period(const struct walk_setup *s) {
  return s->kind == WALK_NAIVE ? PERIOD : PERIOD / gcd(s->T, PERIOD);
}

static int64_t unit_count(const struct walk_setup *s) {
  return s->kind == WALK_NAIVE ? s->K : walk_tiles(s);
}

static int64_t unit_k0(const struct walk_setup *s, int64_t unit) {
  return s->kind == WALK_NAIVE ? unit : unit * s->T;
}

static bool unit_ragged(const struct walk_setup *s, int64_t unit) {
  return s->kind == WALK_TILED && (unit + 1) * s->T > s->K;
}

/* The operand loads of one unit by all warps. */
static void operand_unit(const struct walk_setup *s, int64_t brow, int64_t bcol, int64_t unit,
                         bool is_b, struct walk_counters *c) {
  struct count_place at = {brow, bcol, unit_k0(s, unit), 0};
  for (int w = 0; w < walk_warps(s); w++)
    count_operand(s, &at, is_b, w, c);
}

/* The operand loads of the first n units: each class of equal units is executed once. */
static void operand_units(const struct walk_setup *s, int64_t brow, int64_t bcol, int64_t n,
                          bool is_b, struct walk_counters *c) {
  int64_t full = n > 0 && unit_ragged(s, n - 1) ? n - 1 : n, period = unit_period(s);
  for (int64_t u = 0; u < period && u < full; u++) {
    struct walk_counters one = {0};
    operand_unit(s, brow, bcol, u, is_b, &one);
    add_times(c, &one, (double)ceil_div(full - u, period));
  }
  if (full < n)
    operand_unit(s, brow, bcol, n - 1, is_b, c);
}

/* What a unit costs beside its operand loads. */
static void rest_unit(const struct walk_setup *s, int64_t brow, int64_t bcol,
                      struct walk_counters *c) {
  if (s->kind == WALK_NAIVE) {
    c->fma += (double)(inside(brow, s->T, s->M) * inside(bcol, s->T, s->N));
    return;
  }
  struct count_place at = {brow, bcol, 0, 0};
  for (at.k = 0; at.k < s->T; at.k++)
    count_compute(s, &at, c);
  c->barriers += !(s->bugs & WALK_NO_FIRST_BARRIER) + !(s->bugs & WALK_NO_SECOND_BARRIER);
}

void count_units(const struct walk_setup *s, int64_t n, struct walk_counters *c) {
  struct walk_counters rest = {0};
  operand_units(s, s->brow, s->bcol, n, false, c);
  operand_units(s, s->brow, s->bcol, n, true, c);
  rest_unit(s, s->brow, s->bcol, &rest);
  add_times(c, &rest, (double)n);
}

/* One class of equal blocks along one axis: its first member, and how many there are. */
struct block_class {
  int64_t first;
  double members;
};

/* Classes of the `blocks` blocks of an axis of `size`: by residue, with a ragged last one apart. */
static int block_classes(int64_t blocks, int T, int64_t size, struct block_class out[PERIOD + 1]) {
  int64_t full = size % T ? blocks - 1 : blocks;
  int n = 0;
  for (int64_t b = 0; b < PERIOD && b < full; b++)
    out[n++] = (struct block_class){b, (double)ceil_div(full - b, PERIOD)};
  if (full < blocks)
    out[n++] = (struct block_class){blocks - 1, 1};
  return n;
}

/* Operand loads over the grid: `own` are the classes along the operand's own axis; along the other
 * one only whether the block is ragged matters. */
static void total_operand(const struct walk_setup *s, bool is_b, struct walk_counters *out) {
  struct block_class own[PERIOD + 1];
  int64_t T = s->T, own_size = is_b ? s->N : s->M, other_size = is_b ? s->M : s->N;
  int64_t others = ceil_div(other_size, T), whole = other_size / T;
  int n = block_classes(ceil_div(own_size, T), s->T, own_size, own);
  for (int i = 0; i < n; i++)
    for (int edge = 0; edge < 2; edge++) {
      double members = own[i].members * (double)(edge ? others - whole : whole);
      int64_t other = edge ? others - 1 : 0;
      struct walk_counters one = {0};
      if (members <= 0)
        continue;
      operand_units(s, is_b ? other : own[i].first, is_b ? own[i].first : other, unit_count(s),
                    is_b, &one);
      add_times(out, &one, members);
    }
}

/* FMAs, barriers, shared reads and stores over the grid, by the four kinds of block. */
static void total_rest(const struct walk_setup *s, struct walk_counters *out) {
  int64_t rows = walk_block_rows(s), cols = walk_block_cols(s);
  int64_t whole_rows = s->M / s->T, whole_cols = s->N / s->T;
  for (int edge_row = 0; edge_row < 2; edge_row++)
    for (int edge_col = 0; edge_col < 2; edge_col++) {
      double members = (double)(edge_row ? rows - whole_rows : whole_rows) *
                       (double)(edge_col ? cols - whole_cols : whole_cols);
      struct count_place at = {edge_row ? rows - 1 : 0, edge_col ? cols - 1 : 0, 0, 0};
      struct walk_counters unit = {0}, block = {0};
      if (members <= 0)
        continue;
      rest_unit(s, at.brow, at.bcol, &unit);
      add_times(&block, &unit, (double)unit_count(s));
      count_store(s, &at, &block);
      add_times(out, &block, members);
    }
}

void walk_total(const struct walk_setup *setup, struct walk_counters *out) {
  *out = (struct walk_counters){0};
  total_operand(setup, false, out);
  total_operand(setup, true, out);
  total_rest(setup, out);
}

/* Shared traffic has a closed form where rows of As are aligned for 16-byte reads. */
static void formula_shared(const struct walk_setup *s, double units, struct walk_counters *out) {
  double warps = walk_warps(s);
  bool closed = !s->pad && !s->bugs && s->T % 8 == 0; /* whole warps */
  out->shared_load_wavefronts = closed ? units * warps * (s->T / 4 * 2 + s->T) : NAN;
  out->shared_store_wavefronts = closed ? units * warps * 2 : NAN;
}

void walk_formula(const struct walk_setup *s, struct walk_counters *out) {
  double M = (double)s->M, N = (double)s->N, K = (double)s->K, T = s->T;
  double rows = (double)walk_block_rows(s), cols = (double)walk_block_cols(s);
  double tiles = (double)walk_tiles(s);
  bool missing[2] = {s->bugs & WALK_NO_FIRST_BARRIER, s->bugs & WALK_NO_SECOND_BARRIER};
  *out = (struct walk_counters){0};
  out->stored_bytes = 4 * M * N;
  out->global_sectors = out->global_wavefronts = NAN;
  if (s->kind == WALK_NAIVE) {
    out->requested_bytes = 8 * M * N * K;
    out->fma = M * N * K;
    if (s->T == 32 && s->N % 32 == 0) { /* one sector of A, four of B for each warp and k */
      out->global_sectors = 5 * M * N / 32 * K;
      out->global_wavefronts = 2 * M * N / 32 * K;
    }
    return;
  }
  out->requested_bytes = 4 * K * (M * cols + N * rows);
  out->fma = T * T * T * rows * cols * tiles;
  out->barriers = (2 - missing[0] - missing[1]) * rows * cols * tiles;
  if (s->T % 8 == 0 && s->K % 8 == 0 && s->N % 8 == 0)
    out->global_sectors = out->requested_bytes / 32;
  formula_shared(s, rows * cols * tiles, out);
}
