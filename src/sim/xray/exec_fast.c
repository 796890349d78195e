#include "sim/xray/exec_fast.h"

#include "base/alloc.h"
#include "sim/xray/exec_mem.h"
#include "sim/xray/lanes.h"
#include "sim/xray/memory.h"
#include "sim/xray/shadow.h"
#include "sim/xray/tally.h"
#include <stdlib.h>
#include <string.h>

enum { KEPT = 4, WIDTHS = 3, PLACES = 32, GIVE_UP = 400 };
enum shape { SCATTERED, UNIFORM, CONTIGUOUS };

struct cost {
  int16_t sectors, wavefronts, conflicts;
  bool known;
};

struct pattern { /* distances from lane 0 */
  int64_t wide[INSN_LANES];
  int32_t delta[INSN_LANES];
  int64_t low, high;
  enum shape shape;
  bool used;
  struct cost cost[WIDTHS][PLACES]; /* by width of the joined load and place in 128 bytes */
};

struct memo { /* of one instruction */
  struct pattern kept[KEPT];
  int last, next;
  int misses; /* weighted against hits; at GIVE_UP the instruction takes the long way for good */
};

struct fast {
  struct memo **of; /* by instruction; NULL: not one of these */
  int n;
};

static bool whole_words(const struct insn *in) {
  if ((in->kind != INSN_LD && in->kind != INSN_ST) || in->width != 4 ||
      (in->space != PTX_GLOBAL && in->space != PTX_SHARED) ||
      (in->ordered && in->space == PTX_GLOBAL)) /* a sign of other blocks */
    return false;
  for (int i = 0; i < in->nvec; i++)
    if (in->vec_bytes[i] != 4)
      return false;
  return true;
}

struct fast *exec_fast_new(const struct program *p) {
  struct fast *f = alloc_zero(1, sizeof *f);
  f->n = p->ncode;
  f->of = alloc_zero((size_t)p->ncode, sizeof *f->of);
  for (int i = 0; i < p->ncode; i++)
    if (whole_words(&p->code[i]))
      f->of[i] = alloc_zero(1, sizeof *f->of[i]);
  return f;
}

void exec_fast_free(struct fast *f) {
  if (!f)
    return;
  for (int i = 0; i < f->n; i++)
    free(f->of[i]);
  free(f->of);
  free(f);
}

/* ---- patterns */

static LANES_HOT bool same_64(const void *base, const int64_t *wide) {
  const lane_u64 *b = base;
  uint64_t first = b[0], differ = 0;
  for (int l = 0; l < INSN_LANES; l++)
    differ |= (b[l] - first) ^ (uint64_t)wide[l];
  return !differ;
}

static LANES_HOT bool same_32(const void *base, const int32_t *delta) {
  const lane_u32 *b = base;
  uint32_t first = b[0], differ = 0;
  for (int l = 0; l < INSN_LANES; l++)
    differ |= (b[l] - first) ^ (uint32_t)delta[l];
  return !differ;
}

static bool same(const struct insn *in, const void *base, const struct pattern *p) {
  return p->used && (in->base_wide ? same_64(base, p->wide) : same_32(base, p->delta));
}

/* False if the lanes are too far apart or not all aligned with the first. */
static bool learn(struct pattern *p, const struct insn *in, const void *base) {
  const lane_u64 *b64 = base;
  const lane_u32 *b32 = base;
  int bytes = in->width * in->nvec;
  bool uniform = true, contiguous = true;
  memset(p, 0, sizeof *p);
  for (int l = 0; l < INSN_LANES; l++) {
    int64_t d = in->base_wide ? (int64_t)(b64[l] - b64[0]) : (int32_t)(b32[l] - b32[0]);
    if (d < -(1 << 30) || d > 1 << 30 || d % bytes)
      return false;
    p->wide[l] = d;
    p->delta[l] = (int32_t)d;
    p->low = d < p->low ? d : p->low;
    p->high = d > p->high ? d : p->high;
    uniform &= d == 0;
    contiguous &= d == l * (int64_t)bytes;
  }
  p->shape = uniform ? UNIFORM : contiguous ? CONTIGUOUS : SCATTERED;
  p->used = true;
  return true;
}

static struct pattern *find(struct memo *memo, const struct insn *in, const void *base) {
  if (same(in, base, &memo->kept[memo->last])) {
    memo->misses -= memo->misses > 0;
    return &memo->kept[memo->last];
  }
  for (int i = 0; i < KEPT; i++)
    if (same(in, base, &memo->kept[i])) {
      memo->last = i;
      return &memo->kept[i];
    }
  memo->last = memo->next;
  memo->next = (memo->next + 1) % KEPT;
  memo->misses += 4;
  struct pattern *p = &memo->kept[memo->last];
  return learn(p, in, base) ? p : NULL;
}

/* ---- data */

/* Four lanes' four words each, to or from four registers. */
static void transpose(uint32_t *to[4], const unsigned char *from[4]) {
  uint32_t v[4][4];
  for (int i = 0; i < 4; i++)
    memcpy(v[i], from[i], sizeof v[i]);
  for (int r = 0; r < 4; r++)
    for (int i = 0; i < 4; i++)
      to[r][i] = v[i][r];
}

static void load_quads(struct warp *w, const struct insn *in, const unsigned char *at,
                       const struct pattern *p) {
  for (int l = 0; l < INSN_LANES; l += 4) {
    uint32_t *to[4];
    const unsigned char *from[4];
    for (int i = 0; i < 4; i++) {
      to[i] = (uint32_t *)(void *)(w->regs + (int64_t)in->vec[i] * INSN_UNIT) + l;
      from[i] = at + p->delta[l + i];
    }
    transpose(to, from);
  }
}

static LANES_HOT void spread(lane_u32 *to, uint32_t v) {
  for (int l = 0; l < INSN_LANES; l++)
    to[l] = v;
}

static void load(struct warp *w, const struct insn *in, const unsigned char *at,
                 const struct pattern *p) {
  if (in->nvec == 4 && p->shape != UNIFORM) {
    load_quads(w, in, at, p);
    return;
  }
  for (int i = 0; i < in->nvec; i++, at += 4) {
    lane_u32 *to = (lane_u32 *)(w->regs + (int64_t)in->vec[i] * INSN_UNIT);
    if (p->shape == UNIFORM) {
      uint32_t v;
      memcpy(&v, at, 4);
      spread(to, v);
    } else if (p->shape == CONTIGUOUS && in->nvec == 1) {
      memcpy(to, at, INSN_UNIT);
    } else {
      for (int l = 0; l < INSN_LANES; l++)
        memcpy(&to[l], at + p->delta[l], 4);
    }
  }
}

static void store(const struct machine *m, struct warp *w, const struct insn *in, unsigned char *at,
                  const struct pattern *p) {
  if (p->shape == CONTIGUOUS && in->nvec == 1) {
    memcpy(at, machine_lanes(m, w, in->vec[0]), INSN_UNIT);
    return;
  }
  /* A later lane's words win over an earlier one's as a whole. */
  for (int l = 0; l < INSN_LANES; l++)
    for (int i = 0; i < in->nvec; i++)
      memcpy(at + p->delta[l] + i * 4, machine_lanes(m, w, in->vec[i]) + l * 4, 4);
}

/* ---- counts and checks */

static void spread_addresses(int64_t *out, const int64_t *wide, int64_t first) {
  for (int l = 0; l < INSN_LANES; l++)
    out[l] = first + wide[l];
}

static void count(struct machine *m, const struct warp *w, const struct insn *in, struct pattern *p,
                  int64_t first) {
  struct tally_cell *cell = &m->cells[in - m->program->code];
  int width = in->width * in->nvec, column = 0;
  bool shared = in->space == PTX_SHARED;
  if (shared) {
    struct insn_copy how = exec_mem_joined(m, w, in, UINT32_MAX);
    if (how.joined > 16)
      return;
    if (how.joined) {
      first -= how.back;
      width = how.joined;
      column = width / 8;
    }
  }
  struct cost *c = &p->cost[column][first >> 2 & (PLACES - 1)];
  if (!c->known) {
    int64_t address[INSN_LANES];
    spread_addresses(address, p->wide, first);
    struct tally_cost cost = tally_measure(shared, address, UINT32_MAX, width, in->kind == INSN_ST);
    *c = (struct cost){(int16_t)cost.sectors, (int16_t)cost.wavefronts, (int16_t)cost.conflicts,
                       true};
  }
  if (shared) {
    cell->shared_requests++;
    cell->shared_wavefronts += c->wavefronts;
    cell->shared_conflicts += c->conflicts;
  } else {
    cell->global_requests++;
    cell->global_sectors += c->sectors;
    cell->global_wavefronts += c->wavefronts;
  }
}

static void check(struct machine *m, const struct warp *w, const struct insn *in,
                  const struct memory_piece *piece, const struct pattern *p, int64_t first) {
  int64_t address[INSN_LANES];
  int bytes = in->width * in->nvec;
  enum shadow_access kind = in->kind == INSN_LD ? SHADOW_READ : SHADOW_WRITE;
  if (in->space == PTX_GLOBAL && kind == SHADOW_READ && p->shape != SCATTERED &&
      shadow_quiet_read(m, in, piece, first, p->high + bytes))
    return;
  if (in->space == PTX_SHARED && p->shape == UNIFORM && kind == SHADOW_READ && !m->copies_open &&
      !m->clock) { /* the other lanes add nothing to what lane 0 reads */
    address[0] = first;
    shadow_shared(m, w, in, address, 1, bytes, kind);
    return;
  }
  spread_addresses(address, p->wide, first);
  if (in->space == PTX_SHARED) {
    shadow_shared(m, w, in, address, UINT32_MAX, bytes, kind);
  } else {
    shadow_global(m, w, in, piece, address, UINT32_MAX, bytes, kind);
  }
}

/* A parameter at a constant place: the same for all lanes. */
static bool param(struct machine *m, struct warp *w, const struct insn *in) {
  if (in->kind != INSN_LD || in->base >= 0 || in->nvec != 1 || in->width < 4 ||
      in->vec_bytes[0] != in->width)
    return false;
  const void *base = machine_lanes(m, w, in->base);
  int64_t at = in->offset + (in->base_wide ? *(const lane_s64 *)base : *(const lane_s32 *)base);
  const struct memory_piece *p = memory_find(m->memory, PTX_PARAM, at, 0);
  unsigned char *to = w->regs + (int64_t)in->vec[0] * INSN_UNIT;
  if (!p || at < 0 || at > p->bytes - in->width || at % in->width)
    return false;
  for (int l = 0; l < INSN_LANES; l++)
    memcpy(to + l * in->width, p->data + at, in->width);
  return true;
}

bool exec_fast(struct machine *m, struct warp *w, const struct insn *in) {
  struct memo *memo = m->fast->of[in - m->program->code];
  if (in->space == PTX_PARAM)
    return param(m, w, in);
  if (!memo || memo->misses >= GIVE_UP)
    return false;
  const void *base = machine_lanes(m, w, in->base);
  struct pattern *p = find(memo, in, base);
  if (!p)
    return false;
  int bytes = in->width * in->nvec;
  int64_t first = in->base_wide
                      ? (int64_t)(*(const lane_u64 *)base + (uint64_t)in->offset)
                      : (int64_t)(uint32_t)(*(const lane_u32 *)base + (uint32_t)in->offset);
  const struct memory_piece *piece = memory_find(m->memory, (enum ptx_space)in->space, first, 0);
  if (!piece || (first & (bytes - 1)) || first + p->low < piece->base ||
      first + p->high - piece->base > piece->bytes - bytes)
    return false;
  count(m, w, in, p, first);
  if (m->copies_open || shadow_watches(m->shadow, in->space == PTX_SHARED, piece))
    check(m, w, in, piece, p, first);
  unsigned char *at = piece->data + (first - piece->base);
  if (in->kind == INSN_LD)
    load(w, in, at, p);
  else
    store(m, w, in, at, p);
  return true;
}
