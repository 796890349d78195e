#include "sim/walk/walk.h"

#include "base/rand.h"
#include "sim/walk/count.h"

#include <math.h>
#include <string.h>

enum { STREAM_A = 2, STREAM_B = 3, T_MAX = 32, PAD_MAX = 2 };

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t walk_block_rows(const struct walk_setup *s) { return ceil_div(s->M, s->T); }
int64_t walk_block_cols(const struct walk_setup *s) { return ceil_div(s->N, s->T); }
int64_t walk_tiles(const struct walk_setup *s) { return ceil_div(s->K, s->T); }
int walk_warps(const struct walk_setup *s) { return (s->T * s->T + 31) / 32; }

/* Steps of one k-tile: a sub-step a warp, a barrier, a sub-step a k, a barrier. */
static int64_t tile_steps(const struct walk_setup *s) { return walk_warps(s) + 1 + s->T + 1; }

bool walk_check(const struct walk_setup *s, struct err *err) {
  const int64_t size[3] = {s->M, s->N, s->K};
  for (int i = 0; i < 3; i++)
    if (size[i] < 1 || size[i] > WALK_SIZE_MAX)
      return err_set(err, "%c must be from 1 to %d; %lld is not.", "MNK"[i], WALK_SIZE_MAX,
                     (long long)size[i]);
  if (s->T < 1 || s->T > T_MAX)
    return err_set(err, "T must be from 1 to 32 (a block has at most 1024 threads); %d is not.",
                   s->T);
  if (s->pad < 0 || s->pad > PAD_MAX)
    return err_set(err, "The padding must be 0, 1 or 2 words; %d is not.", s->pad);
  if (s->brow < 0 || s->brow >= walk_block_rows(s) || s->bcol < 0 || s->bcol >= walk_block_cols(s))
    return err_set(err, "There is no block (%lld, %lld): the grid has %lld rows of %lld blocks.",
                   (long long)s->brow, (long long)s->bcol, (long long)walk_block_rows(s),
                   (long long)walk_block_cols(s));
  return true;
}

int64_t walk_steps(const struct walk_setup *s) {
  return s->kind == WALK_NAIVE ? s->K + 1 : walk_tiles(s) * tile_steps(s) + 1;
}

static float a_at(const struct walk_setup *s, int64_t r, int64_t k) {
  return rand_at(STREAM_A, (uint64_t)(r * s->K + k));
}

static float b_at(const struct walk_setup *s, int64_t k, int64_t c) {
  return rand_at(STREAM_B, (uint64_t)(k * s->N + c));
}

/* One thread stores its two words of the tile at k0. */
static void load_thread(struct walk_state *w, int tx, int ty) {
  const struct walk_setup *s = &w->setup;
  int64_t r = s->brow * s->T + ty, c = s->bcol * s->T + tx;
  bool in_a = r < s->M && w->k0 + tx < s->K, in_b = c < s->N && w->k0 + ty < s->K;
  bool swap = s->bugs & WALK_SWAPPED_INDEX, fill = !(s->bugs & WALK_NO_ZERO_FILL);
  int ai = swap ? tx : ty, aj = swap ? ty : tx;
  if (in_a || fill) {
    w->as[ai][aj] = in_a ? WORD_FRESH : WORD_ZERO;
    w->as_value[ai][aj] = in_a ? a_at(s, r, w->k0 + tx) : 0;
  }
  if (in_b || fill) {
    w->bs[ty][tx] = in_b ? WORD_FRESH : WORD_ZERO;
    w->bs_value[ty][tx] = in_b ? b_at(s, w->k0 + ty, c) : 0;
  }
}

static void load_warp(struct walk_state *w, int warp) {
  const struct walk_setup *s = &w->setup;
  for (int i = warp * 32; i < (warp + 1) * 32 && i < s->T * s->T; i++)
    load_thread(w, i % s->T, i / s->T);
}

/* What the last tile left behind: still there, but no longer of the tile in work. */
static void make_stale(struct walk_state *w) {
  for (int i = 0; i < w->setup.T; i++)
    for (int j = 0; j < w->setup.T; j++) {
      w->as[i][j] = w->as[i][j] == WORD_UNSET ? WORD_UNSET : WORD_STALE;
      w->bs[i][j] = w->bs[i][j] == WORD_UNSET ? WORD_UNSET : WORD_STALE;
    }
}

static struct count_place place(const struct walk_state *w, int k) {
  return (struct count_place){w->setup.brow, w->setup.bcol, w->k0, k};
}

/* The products of one k of the tile. */
static void compute_tiled(struct walk_state *w, int k) {
  int T = w->setup.T;
  for (int i = 0; i < T; i++)
    for (int j = 0; j < T; j++) {
      w->acc[i][j] += (double)w->as_value[i][k] * (double)w->bs_value[k][j];
      w->acc_k[i][j]++;
    }
}

static void compute_naive(struct walk_state *w, int64_t k) {
  const struct walk_setup *s = &w->setup;
  for (int i = 0; i < s->T; i++)
    for (int j = 0; j < s->T; j++) {
      int64_t r = s->brow * s->T + i, c = s->bcol * s->T + j;
      if (r >= s->M || c >= s->N)
        continue;
      w->acc[i][j] += (double)a_at(s, r, k) * (double)b_at(s, k, c);
      w->acc_k[i][j]++;
    }
}

static void step_load(struct walk_state *w, int warp) {
  const struct walk_setup *s = &w->setup;
  struct count_place at = place(w, 0);
  if (warp == 0 && w->tile > 0)
    make_stale(w);
  if ((s->bugs & WALK_NO_SECOND_BARRIER) && w->tile > 0 && walk_warps(s) > 1)
    w->race = true;
  load_warp(w, warp);
  count_load(s, &at, warp, &w->block);
  w->warp = warp + 1;
  w->phase = WALK_LOAD;
}

static void step_compute(struct walk_state *w, int k) {
  const struct walk_setup *s = &w->setup;
  struct count_place at = place(w, k);
  if ((s->bugs & WALK_NO_FIRST_BARRIER) && walk_warps(s) > 1)
    w->race = true;
  compute_tiled(w, k);
  count_compute(s, &at, &w->block);
  w->k = w->k0 + k + 1;
  w->phase = WALK_COMPUTE;
}

static void step_barrier(struct walk_state *w, enum walk_bug missing) {
  if (!(w->setup.bugs & missing))
    w->block.barriers++;
  w->phase = WALK_BARRIER;
}

static void step_store(struct walk_state *w) {
  struct count_place at = place(w, 0);
  count_store(&w->setup, &at, &w->block);
  w->stored = true;
  w->phase = WALK_STORE;
}

static void next_tiled(struct walk_state *w) {
  const struct walk_setup *s = &w->setup;
  int64_t in_tile = (w->step - 1) % tile_steps(s);
  int warps = walk_warps(s);
  if (in_tile == 0) {
    w->tile = (w->step - 1) / tile_steps(s);
    w->k0 = w->k = w->tile * s->T;
    w->warp = 0;
  }
  if (in_tile < warps)
    step_load(w, (int)in_tile);
  else if (in_tile == warps)
    step_barrier(w, WALK_NO_FIRST_BARRIER);
  else if (in_tile <= warps + s->T)
    step_compute(w, (int)in_tile - warps - 1);
  else
    step_barrier(w, WALK_NO_SECOND_BARRIER);
}

static void next_naive(struct walk_state *w) {
  w->k0 = w->tile = w->step - 1;
  struct count_place at = place(w, 0);
  compute_naive(w, w->k0);
  count_compute(&w->setup, &at, &w->block);
  w->k = w->step;
  w->phase = WALK_COMPUTE;
}

void walk_next(struct walk_state *w) {
  if (w->step >= w->steps)
    return;
  w->step++;
  if (w->step == w->steps)
    step_store(w);
  else if (w->setup.kind == WALK_NAIVE)
    next_naive(w);
  else
    next_tiled(w);
}

static void start(const struct walk_setup *s, struct walk_state *w) {
  memset(w, 0, sizeof *w);
  for (int i = 0; i < T_MAX; i++) /* a word nobody wrote spoils every sum it goes into */
    for (int j = 0; j < T_MAX; j++)
      w->as_value[i][j] = w->bs_value[i][j] = NAN;
  w->setup = *s;
  w->steps = walk_steps(s);
  w->tiles = s->kind == WALK_NAIVE ? s->K : walk_tiles(s);
  w->warps = walk_warps(s);
  w->phase = WALK_START;
}

/* Brings shared memory and accumulators to where `tiles` whole tiles leave them. */
static void replay_tiles(struct walk_state *w, int64_t tiles) {
  const struct walk_setup *s = &w->setup;
  bool values = tiles * s->T <= WALK_ACC_MAX_K;
  for (int64_t t = values || tiles < 2 ? 0 : tiles - 2; t < tiles; t++) {
    w->tile = t;
    w->k0 = t * s->T;
    if (t > 0)
      make_stale(w);
    for (int warp = 0; warp < w->warps; warp++)
      load_warp(w, warp);
    for (int k = 0; k < s->T && values; k++)
      compute_tiled(w, k);
  }
  for (int i = 0; i < s->T; i++)
    for (int j = 0; j < s->T; j++) {
      w->acc_k[i][j] = tiles * s->T;
      w->acc[i][j] = values ? w->acc[i][j] : NAN;
    }
}

static void jump_tiled(struct walk_state *w, int64_t step) {
  const struct walk_setup *s = &w->setup;
  int64_t done = step > 0 ? (step - 1) / tile_steps(s) : 0;
  if (done > w->tiles)
    done = w->tiles;
  if (done > 0) {
    count_units(s, done, &w->block);
    replay_tiles(w, done);
    w->step = done * tile_steps(s);
    w->k = done * s->T;
    w->warp = w->warps;
    w->phase = WALK_BARRIER;
    w->race = w->warps > 1 && ((s->bugs & WALK_NO_FIRST_BARRIER) ||
                               ((s->bugs & WALK_NO_SECOND_BARRIER) && done > 1));
  }
}

static void jump_naive(struct walk_state *w, int64_t step) {
  int64_t done = step > 0 ? step - 1 : 0;
  bool values = done <= WALK_ACC_MAX_K;
  if (done > w->setup.K)
    done = w->setup.K;
  if (done == 0)
    return;
  count_units(&w->setup, done, &w->block);
  for (int64_t k = values ? 0 : done - 1; k < done; k++)
    compute_naive(w, k);
  for (int i = 0; i < w->setup.T; i++)
    for (int j = 0; j < w->setup.T; j++) {
      if (w->acc_k[i][j] && !values)
        w->acc[i][j] = NAN;
      w->acc_k[i][j] = w->acc_k[i][j] ? done : 0;
    }
  w->k0 = w->tile = done - 1;
  w->k = w->step = done;
  w->phase = WALK_COMPUTE;
}

void walk_at(const struct walk_setup *setup, int64_t step, struct walk_state *out) {
  start(setup, out);
  step = step < 0 ? 0 : step > out->steps ? out->steps : step;
  if (setup->kind == WALK_NAIVE)
    jump_naive(out, step);
  else
    jump_tiled(out, step);
  while (out->step < step)
    walk_next(out);
}

int64_t walk_barrier(const struct walk_setup *s, int64_t step, int dir) {
  int64_t steps = walk_steps(s), per = tile_steps(s), first = walk_warps(s) + 1;
  if (s->kind == WALK_NAIVE)
    return dir > 0 ? steps : 0;
  for (int64_t i = step + (dir > 0 ? 1 : -1); i > 0 && i < steps; i += dir > 0 ? 1 : -1) {
    int64_t in_tile = (i - 1) % per + 1;
    if (in_tile == first || in_tile == per)
      return i;
  }
  return dir > 0 ? steps : 0;
}

enum walk_progress walk_c_at(const struct walk_state *w, int64_t row, int64_t col) {
  const struct walk_setup *s = &w->setup;
  int64_t brow = row / s->T, bcol = col / s->T, cols = walk_block_cols(s);
  int64_t block = brow * cols + bcol, now = s->brow * cols + s->bcol;
  if (block < now || (block == now && w->stored))
    return WALK_DONE;
  return block == now ? WALK_NOW : WALK_TODO;
}

void walk_addresses(const struct walk_state *w, enum walk_access access, int warp,
                    int64_t address[32]) {
  const struct walk_setup *s = &w->setup;
  int64_t k = w->phase == WALK_COMPUTE ? w->k - 1 - w->k0 : 0;
  struct count_place at = place(w, s->kind == WALK_TILED ? (int)k : 0);
  if (access == WALK_READ_AS)
    at.k -= at.k % (count_as_width(s) / 4);
  count_addresses(s, &at, access, warp, address);
}

const char *walk_mark(const struct walk_state *w) {
  const struct walk_setup *s = &w->setup;
  switch (w->phase) {
  case WALK_LOAD:
    return "load_a";
  case WALK_BARRIER:
    return (w->step - 1) % tile_steps(s) == w->warps ? "barrier_1" : "barrier_2";
  case WALK_COMPUTE:
    return "fma";
  case WALK_STORE:
  case WALK_END:
    return "store";
  case WALK_START:
    break;
  }
  return "k_loop";
}
