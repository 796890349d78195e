#include "sim/xray/exec_atom.h"

#include "sim/xray/exec_float.h"
#include "sim/xray/exec_half.h"
#include "sim/xray/memory.h"
#include <string.h>

static uint64_t halves_add(const struct insn *in, uint64_t a, uint64_t b) {
  enum exec_float format = in->half & HALF_BRAIN ? FLOAT_BF16 : FLOAT_F16;
  uint64_t out = 0;
  for (int shift = 0; shift < in->type.bytes * 8; shift += 16) {
    double sum = exec_float_odd_sum(exec_float_value(format, (uint32_t)(a >> shift) & 0xffff),
                                    exec_float_value(format, (uint32_t)(b >> shift) & 0xffff));
    out |= (uint64_t)exec_float_bits(format, sum, 'n', false) << shift;
  }
  return out;
}

static uint64_t float_add(const struct insn *in, uint64_t a, uint64_t b) {
  uint64_t out = 0;
  int bytes = in->type.bytes;
  if (bytes == 2 || in->type.packed)
    return halves_add(in, a, b);
  if (bytes == 4) {
    float x, y;
    memcpy(&x, &a, 4);
    memcpy(&y, &b, 4);
    x += y;
    memcpy(&out, &x, 4);
  } else {
    double x, y;
    memcpy(&x, &a, 8);
    memcpy(&y, &b, 8);
    x += y;
    memcpy(&out, &x, 8);
  }
  return out;
}

static bool less(const struct insn *in, uint64_t a, uint64_t b) {
  if (in->type.cls != PTX_SIGNED)
    return a < b;
  return in->type.bytes == 4 ? (int32_t)a < (int32_t)b : (int64_t)a < (int64_t)b;
}

uint64_t exec_atom_value(const struct insn *in, uint64_t old, uint64_t operand) {
  switch ((enum insn_atom)in->sub) {
  case ATOM_ADD:
    return in->type.cls == PTX_FLOAT ? float_add(in, old, operand) : old + operand;
  case ATOM_MIN:
    return less(in, operand, old) ? operand : old;
  case ATOM_MAX:
    return less(in, old, operand) ? operand : old;
  case ATOM_AND:
    return old & operand;
  case ATOM_OR:
    return old | operand;
  case ATOM_XOR:
    return old ^ operand;
  case ATOM_INC:
    return old >= operand ? 0 : old + 1;
  case ATOM_DEC:
    return old == 0 || old > operand ? operand : old - 1;
  case ATOM_EXCH:
  case ATOM_CAS:
    break;
  }
  return operand;
}

void exec_atom(struct machine *m, struct warp *w, const struct insn *in, enum ptx_space space,
               const int64_t address[32], uint32_t mask) {
  size_t bytes = in->width, lane = in->dst_bytes;
  for (uint32_t left = mask; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    const struct memory_piece *p =
        memory_find(m->memory, space, address[l], (int64_t)w->index * INSN_LANES + l);
    unsigned char *at = p->data + (address[l] - p->base);
    uint64_t old = 0, a = 0, b = 0;
    memcpy(&old, at, bytes);
    memcpy(&a, machine_lanes(m, w, in->a) + (size_t)l * lane, bytes);
    uint64_t now = exec_atom_value(in, old, a);
    if (in->sub == ATOM_CAS) {
      memcpy(&b, machine_lanes(m, w, in->b) + (size_t)l * lane, bytes);
      now = old == a ? b : old;
    }
    memcpy(at, &now, bytes);
    /* The place of a `red` is the sink, which has room for either width. */
    memcpy(w->regs + (int64_t)in->dst * INSN_UNIT + (size_t)l * lane, &old, lane);
  }
}
