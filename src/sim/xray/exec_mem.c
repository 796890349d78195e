#include "sim/xray/exec_mem.h"

#include "sim/xray/exec_atom.h"
#include "sim/xray/exec_fast.h"
#include "sim/xray/lanes.h"
#include "sim/xray/memory.h"
#include "sim/xray/report.h"
#include "sim/xray/shadow.h"
#include "sim/xray/tally.h"
#include "sim/xray/trace.h"
#include <string.h>

LANES_HOT void exec_mem_addresses(int64_t *out, const void *base, bool wide, int64_t offset) {
  const lane_u64 *b64 = base;
  const lane_u32 *b32 = base;
  if (wide)
    for (int l = 0; l < INSN_LANES; l++)
      out[l] = (int64_t)(b64[l] + (uint64_t)offset);
  else
    for (int l = 0; l < INSN_LANES; l++)
      out[l] = (int64_t)(uint32_t)(b32[l] + (uint32_t)offset);
}

/* ---- what can be wrong with an address */

static const char *verb(const struct insn *in) {
  return insn_loads(in)           ? "Reads"
         : insn_stores(in)        ? "Writes"
         : in->kind == INSN_ASYNC ? "Copies"
                                  : "Updates";
}

static void wrong_address(struct machine *m, const struct warp *w, const struct insn *in, int lane,
                          enum ptx_space space, const struct memory_piece *p, int64_t address,
                          int bytes) {
  if (space == PTX_GLOBAL && address >= 0 && address < 1 << 20)
    report_problem(m, w, in, lane, XRAY_NULL, true, "%s %d bytes at address %lld: a null pointer.",
                   verb(in), bytes, (long long)address);
  else if (!p)
    report_problem(m, w, in, lane, XRAY_OOB_GLOBAL, true,
                   "%s %d bytes at address %#llx, where no array is.", verb(in), bytes,
                   (unsigned long long)address);
  else if (space == PTX_GLOBAL)
    report_problem(m, w, in, lane, XRAY_OOB_GLOBAL, true,
                   "%s %d bytes of %s at byte %lld; it has %lld bytes.", verb(in), bytes, p->name,
                   (long long)(address - p->base), (long long)p->bytes);
  else
    report_problem(m, w, in, lane, space == PTX_SHARED ? XRAY_OOB_SHARED : XRAY_OOB_GLOBAL, true,
                   "%s %d bytes of %s at byte %lld; there are %lld bytes.", verb(in), bytes,
                   p->name, (long long)address, (long long)p->bytes);
}

uint32_t exec_mem_checked(struct machine *m, const struct warp *w, const struct insn *in,
                          enum ptx_space space, const int64_t address[32], uint32_t mask,
                          int bytes) {
  uint32_t good = mask;
  for (uint32_t left = mask; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    const struct memory_piece *p =
        memory_find(m->memory, space, address[l], (int64_t)w->index * INSN_LANES + l);
    bool inside = p && address[l] >= p->base && address[l] - p->base <= p->bytes - bytes;
    if (inside && address[l] % bytes == 0)
      continue;
    good &= ~(1u << l);
    if (inside)
      report_problem(m, w, in, l, XRAY_MISALIGNED, true,
                     "%s %d bytes of %s at byte %lld, which is no multiple of %d.", verb(in), bytes,
                     p->name, (long long)(address[l] - p->base), bytes);
    else
      wrong_address(m, w, in, l, space, p, address[l], bytes);
  }
  return good;
}

/* The common patterns of a whole warp, looked at without branches. */
enum pattern { OUTSIDE, SCATTERED, UNIFORM, CONTIGUOUS };

/* OUTSIDE unless all 32 addresses are aligned and inside of the piece. */
static LANES_HOT enum pattern pattern_of(const int64_t *address, const struct memory_piece *p,
                                         int bytes) {
  uint64_t bad = 0, differ = 0, gap = 0;
  uint64_t base = (uint64_t)p->base, span = (uint64_t)(p->bytes - bytes);
  uint64_t first = (uint64_t)address[0], step = (uint64_t)bytes;
  for (int l = 0; l < INSN_LANES; l++) {
    uint64_t at = (uint64_t)address[l];
    bad |= (uint64_t)(at - base > span) | (at & (step - 1));
    differ |= at ^ first;
    gap |= at ^ (first + step * (uint64_t)l);
  }
  if (bad || p->bytes < bytes)
    return OUTSIDE;
  return !differ ? UNIFORM : !gap ? CONTIGUOUS : SCATTERED;
}

/* ---- data */

static uint64_t extended(uint64_t v, struct ptx_type t) {
  if (t.cls != PTX_SIGNED || t.bytes == 8)
    return v;
  int shift = 64 - 8 * t.bytes;
  return (uint64_t)((int64_t)(v << shift) >> shift);
}

static void load_lane(struct warp *w, const struct insn *in, int lane, const unsigned char *from) {
  for (int i = 0; i < in->nvec; i++) {
    uint64_t v = 0;
    if (from)
      memcpy(&v, from + i * in->width, in->width);
    v = extended(v, in->type);
    unsigned char *to = w->regs + (int64_t)in->vec[i] * INSN_UNIT + lane * in->vec_bytes[i];
    memcpy(to, &v, in->vec_bytes[i]);
  }
}

static void load_words(struct warp *w, const struct insn *in, const int64_t *address,
                       const struct memory_piece *p, uint32_t mask, enum pattern pattern) {
  for (int i = 0; i < in->nvec; i++) {
    unsigned char *to = w->regs + (int64_t)in->vec[i] * INSN_UNIT;
    const unsigned char *from = p->data + i * 4;
    if (pattern == UNIFORM) {
      uint32_t v;
      memcpy(&v, from + (address[0] - p->base), 4);
      lane_u32 *lanes = (lane_u32 *)to;
      for (int l = 0; l < INSN_LANES; l++)
        lanes[l] = v;
    } else if (pattern == CONTIGUOUS && in->nvec == 1) {
      memcpy(to, from + (address[0] - p->base), INSN_UNIT);
    } else {
      for (uint32_t left = mask; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        memcpy(to + l * 4, from + (address[l] - p->base), 4);
      }
    }
  }
}

static void load(struct machine *m, struct warp *w, const struct insn *in, enum ptx_space space,
                 const int64_t *address, const struct memory_piece *p, uint32_t mask,
                 enum pattern pattern) {
  if (p && in->width == 4 && in->vec_bytes[0] == 4 && space != PTX_LOCAL) {
    load_words(w, in, address, p, mask, pattern);
    return;
  }
  for (uint32_t left = mask; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    const struct memory_piece *q =
        memory_find(m->memory, space, address[l], (int64_t)w->index * INSN_LANES + l);
    load_lane(w, in, l, q->data + (address[l] - q->base));
  }
}

static void store(struct machine *m, struct warp *w, const struct insn *in, enum ptx_space space,
                  const int64_t *address, uint32_t mask) {
  for (uint32_t left = mask; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    const struct memory_piece *q =
        memory_find(m->memory, space, address[l], (int64_t)w->index * INSN_LANES + l);
    unsigned char *to = q->data + (address[l] - q->base);
    for (int i = 0; i < in->nvec; i++)
      memcpy(to + i * in->width, machine_lanes(m, w, in->vec[i]) + l * in->vec_bytes[i], in->width);
  }
}

/* ---- one space at a time */

static void warn_unset(struct machine *m, const struct warp *w, const struct insn *in,
                       const int64_t *address, uint32_t mask) {
  int lane = __builtin_ctz(mask);
  const struct ptx_var *v = memory_unset(m->memory, m->program, address[lane]);
  if (v)
    report_problem(m, w, in, lane, XRAY_UNINIT_GLOBAL, false,
                   "Reads the __constant__ variable %.*s, which the host would fill with "
                   "cudaMemcpyToSymbol: here it holds zeros. Give the launch an array of its name.",
                   v->name.n < 60 ? v->name.n : 60, v->name.p);
}

void exec_mem_shadow_global(struct machine *m, const struct warp *w, const struct insn *in,
                            const int64_t address[32], uint32_t mask, int bytes,
                            enum shadow_access kind) {
  for (uint32_t left = mask; left;) {
    const struct memory_piece *p =
        memory_find(m->memory, PTX_GLOBAL, address[__builtin_ctz(left)], 0);
    uint32_t same = 0;
    for (uint32_t rest = left; rest; rest &= rest - 1) {
      int l = __builtin_ctz(rest);
      if (address[l] >= p->base && address[l] - p->base < p->bytes)
        same |= 1u << l;
    }
    shadow_global(m, w, in, p, address, same, bytes, kind);
    left &= ~same;
  }
}

static void shadow(struct machine *m, const struct warp *w, const struct insn *in,
                   enum ptx_space space, const int64_t *address, uint32_t mask, int bytes) {
  enum shadow_access kind = in->kind == INSN_LD   ? SHADOW_READ
                            : in->kind == INSN_ST ? SHADOW_WRITE
                                                  : SHADOW_ATOMIC;
  if (space == PTX_SHARED)
    shadow_shared(m, w, in, address, mask, bytes, kind);
  else if (space == PTX_GLOBAL)
    exec_mem_shadow_global(m, w, in, address, mask, bytes, kind);
}

struct insn_copy exec_mem_joined(const struct machine *m, const struct warp *w,
                                 const struct insn *in, uint32_t mask) {
  struct insn_copy how = {in->joined, in->joined_back};
  if (!in->copies)
    return how;
  const lane_u32 *counter = (const lane_u32 *)machine_lanes(m, w, in->counter);
  uint32_t trip = (counter[__builtin_ctz(mask)] - in->counter_start) / in->counter_step;
  uint32_t peeled = (uint32_t)in->npeeled, body = (uint32_t)in->ncopies - peeled;
  if (trip >= peeled && body)
    trip = peeled + (trip - peeled) % body;
  return trip < (uint32_t)in->ncopies ? in->copies[trip] : how;
}

static void count(struct machine *m, const struct warp *w, const struct insn *in,
                  enum ptx_space space, const int64_t *address, uint32_t mask, int bytes) {
  int i = (int)(in - m->program->code);
  if (in->kind == INSN_ATOM)
    return;
  struct insn_copy how = exec_mem_joined(m, w, in, mask);
  if (space != PTX_SHARED || !how.joined) {
    tally_access(m->tally, i, space, address, mask, bytes, in->kind == INSN_ST);
    return;
  }
  if (how.joined > 16)
    return;
  int64_t first[INSN_LANES];
  for (int l = 0; l < INSN_LANES; l++)
    first[l] = address[l] - how.back;
  tally_access(m->tally, i, space, first, mask, how.joined, false);
}

static void in_space(struct machine *m, struct warp *w, const struct insn *in, enum ptx_space space,
                     const int64_t *address, uint32_t mask) {
  int bytes = in->width * in->nvec, first = __builtin_ctz(mask);
  const struct memory_piece *p =
      space == PTX_LOCAL ? NULL : memory_find(m->memory, space, address[first], 0);
  uint32_t good = mask;
  enum pattern pattern = p && mask == UINT32_MAX ? pattern_of(address, p, bytes) : OUTSIDE;
  if (pattern == OUTSIDE) {
    good = exec_mem_checked(m, w, in, space, address, mask, bytes);
    for (int l = 0; l < INSN_LANES && p; l++)
      if (good >> l & 1 && (address[l] < p->base || address[l] - p->base >= p->bytes))
        p = NULL; /* more arrays than one */
  }
  if (in->kind == INSN_LD && good != mask)
    for (uint32_t bad = mask & ~good; bad; bad &= bad - 1)
      load_lane(w, in, __builtin_ctz(bad), NULL);
  if (!good)
    return;
  if (space == PTX_CONST)
    warn_unset(m, w, in, address, good);
  count(m, w, in, space, address, good, bytes);
  shadow(m, w, in, space, address, good, bytes);
  if (m->traces)
    trace_access(m, w, in, space, address, good, bytes);
  if (in->kind == INSN_LD)
    load(m, w, in, space, address, p, good, pattern);
  else if (in->kind == INSN_ST)
    store(m, w, in, space, address, good);
  else
    exec_atom(m, w, in, space, address, good);
}

void exec_mem(struct machine *m, struct warp *w, const struct insn *in, uint32_t mask) {
  int64_t address[INSN_LANES];
  if (mask == UINT32_MAX && !m->traces && exec_fast(m, w, in))
    return;
  exec_mem_addresses(address, machine_lanes(m, w, in->base), in->base_wide, in->offset);
  if (in->space != PTX_GENERIC) {
    in_space(m, w, in, (enum ptx_space)in->space, address, mask);
    return;
  }
  uint32_t of[PTX_SPACES] = {0};
  for (uint32_t left = mask; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    of[memory_space(&address[l])] |= 1u << l;
  }
  for (int s = 0; s < PTX_SPACES; s++)
    if (of[s])
      in_space(m, w, in, (enum ptx_space)s, address, of[s]);
}
