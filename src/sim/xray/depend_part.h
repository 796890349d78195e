/* What depend.c and depend_alu.c share. */
#ifndef MM_SIM_XRAY_DEPEND_PART_H
#define MM_SIM_XRAY_DEPEND_PART_H

#include "sim/xray/depend.h"
#include "sim/xray/forms.h"
#include <string.h>

enum { NAMED = 2 }; /* first slot of a register; constants and the sink lie below */

/* What is known of a register: lanes in mask have form id, the others rest. */
struct tag {
  forms_id id, rest;
  uint32_t mask;
};

struct how { /* of one instruction */
  uint8_t rule;
  bool plus_c;      /* mad: c is added */
  uint8_t bytes[3]; /* of the operands a, b, c; 0: none */
};

struct depend {
  const struct program *program;
  struct how *how;
  struct forms *forms;
  struct tag *tags; /* of all warps */
  uint32_t *data;   /* predicates: lanes whose value hangs on data */
  int64_t nwarps;
  const struct insn *failed;
  struct insn quotient, remainder; /* of unsigned scalars */
};

struct depend_range {
  int64_t low, high;
};

struct step { /* one instruction of one warp */
  struct depend *d;
  const struct machine *m;
  const struct warp *w;
  const struct insn *in;
  struct tag *tags;
  uint32_t *data;
  uint32_t mask;
};

static inline forms_id depend_get(const struct step *s, insn_slot slot) {
  if (slot < NAMED)
    return FORMS_NONE;
  const struct tag *t = &s->tags[slot];
  if (t->id == t->rest || !(s->mask & ~t->mask))
    return t->id;
  return s->mask & t->mask ? FORMS_DATA : t->rest;
}

static inline void depend_put(const struct step *s, insn_slot slot, forms_id id) {
  if (slot < NAMED)
    return;
  struct tag *t = &s->tags[slot];
  if (!(s->w->alive & ~s->mask)) {
    *t = (struct tag){id, id, UINT32_MAX};
  } else if (t->id == t->rest) {
    *t = (struct tag){id, t->id, s->mask};
  } else if (t->id == id) {
    t->mask |= s->mask;
  } else if (t->rest == id) {
    t->mask &= ~s->mask;
  } else if (!(t->mask & ~s->mask)) {
    *t = (struct tag){id, t->rest, s->mask};
  } else {
    *t = (struct tag){id, FORMS_DATA, s->mask};
  }
}

static inline void depend_put_pred(const struct step *s, struct insn_pred p, bool data) {
  if (p.index > 0)
    s->data[p.index] = data ? s->data[p.index] | s->mask : s->data[p.index] & ~s->mask;
}

static inline bool depend_pred_data(const struct step *s, struct insn_pred p) {
  return p.index > 0 && s->data[p.index] & s->mask;
}

static inline uint64_t depend_lane(const struct step *s, insn_slot slot, int bytes, int l) {
  uint64_t v = 0;
  memcpy(&v, machine_lanes(s->m, s->w, slot) + l * bytes, (size_t)bytes);
  return v;
}

/* True if all lanes of mask hold the same value. */
static inline bool depend_scalar(const struct step *s, insn_slot slot, int bytes, uint64_t *v) {
  *v = depend_lane(s, slot, bytes, __builtin_ctz(s->mask));
  for (uint32_t left = s->mask & (s->mask - 1); left; left &= left - 1)
    if (depend_lane(s, slot, bytes, __builtin_ctz(left)) != *v)
      return false;
  return true;
}

/* The register holds in the other block what it holds in this one. False: that is not known. */
static inline bool depend_fixed(const struct step *s, forms_id id) {
  if (id == FORMS_DATA)
    return false;
  forms_limit(s->d->forms, id, 0, 0);
  return true;
}

#endif
