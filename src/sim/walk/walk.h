/* The tile walk: pure step functions that say what one block of a rung does, step by step
 * (docs/contracts.md 7). Nothing is executed on a device; closed formulas and small explicit state.
 */
#ifndef MM_SIM_WALK_H
#define MM_SIM_WALK_H

#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>

enum walk_kind { WALK_NAIVE, WALK_TILED };

/* Bugs a learner can switch on. */
enum walk_bug {
  WALK_NO_FIRST_BARRIER = 1,
  WALK_NO_SECOND_BARRIER = 2,
  WALK_NO_ZERO_FILL = 4,
  WALK_SWAPPED_INDEX = 8
};

struct walk_setup {
  enum walk_kind kind;
  int64_t M, N, K;
  int T;              /* tile edge and block edge; naive: the block edge. 1..32 */
  int64_t brow, bcol; /* the block watched */
  int pad;            /* extra words a row of As and Bs, 0..2 */
  unsigned bugs;      /* walk_bug bits */
};

enum walk_phase { WALK_START, WALK_LOAD, WALK_BARRIER, WALK_COMPUTE, WALK_STORE, WALK_END };

/* Counters of everything the whole grid or the watched block has executed so far. */
struct walk_counters {
  double requested_bytes; /* global loads of A and B, active lanes only, 4 bytes each */
  double global_sectors, global_wavefronts;
  double shared_load_wavefronts, shared_store_wavefronts;
  double fma;      /* threads' FMAs, zero fill and threads outside C included */
  double barriers; /* once a block */
  double stored_bytes;
};

enum walk_word { WORD_UNSET, WORD_FRESH, WORD_ZERO, WORD_STALE };

/* Sums that go over more products than this are not carried along by walk_at: acc is NAN then. */
enum { WALK_ACC_MAX_K = 65536 };

/* The largest M, N or K: byte addresses then fit 63 bits. */
enum { WALK_SIZE_MAX = 1 << 30 };

/* The state after `step` steps. Plain data, about 30 KB; no pointers. */
struct walk_state {
  struct walk_setup setup;
  int64_t step, steps;                      /* 0 = before the first LOAD; steps = the last one */
  enum walk_phase phase;                    /* of the step just done */
  int64_t tile, tiles;                      /* k-tile in work, and how many */
  int64_t k0, k;                            /* first k of the tile; next k inside it (naive: k) */
  int warp, warps;                          /* LOAD: warps that have loaded; of the block */
  unsigned char as[32][32], bs[32][32];     /* enum walk_word */
  float as_value[32][32], bs_value[32][32]; /* NAN where WORD_UNSET */
  int64_t acc_k[32][32];                    /* products that have gone into each accumulator */
  double acc[32][32]; /* its value, for A and B of rand_at streams 2 and 3; NAN where a word that
                         nobody wrote went in */
  bool stored;        /* the C tile is written */
  bool race;          /* a read of a word that another warp may not have written, or an overwrite of
                         one still to be read (bugs only) */
  struct walk_counters block;
};

/* Checks a setup: a sentence with the allowed range, or true. */
bool walk_check(const struct walk_setup *setup, struct err *err);

/* Number of steps: tiled tiles * (warps + 1 + T + 1) + 1; naive K + 1. */
int64_t walk_steps(const struct walk_setup *setup);

/* Blocks of the grid down (M) and across (N), k-tiles, and warps of a block. */
int64_t walk_block_rows(const struct walk_setup *setup);
int64_t walk_block_cols(const struct walk_setup *setup);
int64_t walk_tiles(const struct walk_setup *setup);
int walk_warps(const struct walk_setup *setup);

/* The state at a step (clamped to 0 .. steps). Counters come from sums over classes of equal tiles,
 * not from walking: only the accumulators' values cost O(T^2 * k). Pure: equal arguments give equal
 * states. */
void walk_at(const struct walk_setup *setup, int64_t step, struct walk_state *out);

/* One step forward from `state` (no change at the end), with the work of that step alone added to
 * counters and accumulators. walk_at(s, i + 1) equals walk_next(walk_at(s, i)). */
void walk_next(struct walk_state *state);

/* The step of the next (dir > 0) or previous BARRIER, or of the end. */
int64_t walk_barrier(const struct walk_setup *setup, int64_t step, int dir);

/* Counters of the whole grid once every block has finished: executed block by block over the
 * classes of equal blocks (inside, right edge, bottom edge, corner). */
void walk_total(const struct walk_setup *setup, struct walk_counters *out);

/* The closed formulas the counters are held against: requested 4*K*(M*ceil(N/T)+N*ceil(M/T))
 * (tiled) or 8*M*N*K (naive), and so on. */
void walk_formula(const struct walk_setup *setup, struct walk_counters *out);

/* Whether C[row, col] is done, in work or to do when blocks run in row-major order and the watched
 * block is in work. */
enum walk_progress { WALK_TODO, WALK_NOW, WALK_DONE };
enum walk_progress walk_c_at(const struct walk_state *state, int64_t row, int64_t col);

/* The 32 byte addresses (relative to A, B, As or Bs) of one access of a warp, -1 for an inactive
 * lane. */
enum walk_access {
  WALK_LOAD_A,
  WALK_LOAD_B,
  WALK_STORE_AS,
  WALK_STORE_BS,
  WALK_READ_AS,
  WALK_READ_BS
};
void walk_addresses(const struct walk_state *state, enum walk_access access, int warp,
                    int64_t address[32]);

/* The mark of the kernel's source line that the step executes: "load_a", "barrier_1", "fma", ... */
const char *walk_mark(const struct walk_state *state);

#endif
