#include "sim/xray/depend_alu.h"

#include "base/alloc.h"
#include "sim/xray/exec_alu.h"

enum rule { /* how a result hangs on the operands */
            RULE_OTHER,
            RULE_MOV,
            RULE_ADD,
            RULE_SUB,
            RULE_NEG,
            RULE_MUL,
            RULE_MUL_WIDE_S,
            RULE_MUL_WIDE_U,
            RULE_SHL,
            RULE_SHR_S,
            RULE_SHR_U,
            RULE_AND,
            RULE_OR,
            RULE_MIN_S,
            RULE_MAX_S,
            RULE_MIN_U,
            RULE_MAX_U,
            RULE_DIV_S,
            RULE_DIV_U,
            RULE_REM_S,
            RULE_REM_U,
            RULE_FLOAT
};

/* ---- which instruction does what */

static const struct {
  const char *name;
  uint8_t rule;
  bool plus_c;
} rules[] = {{"mov.b32", RULE_MOV, false},
             {"mov.b64", RULE_MOV, false},
             {"add.s32", RULE_ADD, false},
             {"add.s64", RULE_ADD, false},
             {"sub.s32", RULE_SUB, false},
             {"sub.s64", RULE_SUB, false},
             {"neg.s32", RULE_NEG, false},
             {"neg.s64", RULE_NEG, false},
             {"not.b32", RULE_NEG, false},
             {"not.b64", RULE_NEG, false}, /* -x - 1 */
             {"mul.lo.s32", RULE_MUL, false},
             {"mul.lo.s64", RULE_MUL, false},
             {"mad.lo.s32", RULE_MUL, true},
             {"mad.lo.s64", RULE_MUL, true},
             {"mul.wide.s32", RULE_MUL_WIDE_S, false},
             {"mul.wide.u32", RULE_MUL_WIDE_U, false},
             {"mad.wide.s32", RULE_MUL_WIDE_S, true},
             {"mad.wide.u32", RULE_MUL_WIDE_U, true},
             {"shl.b32", RULE_SHL, false},
             {"shl.b64", RULE_SHL, false},
             {"shr.s32", RULE_SHR_S, false},
             {"shr.s64", RULE_SHR_S, false},
             {"shr.u32", RULE_SHR_U, false},
             {"shr.u64", RULE_SHR_U, false},
             {"and.b32", RULE_AND, false},
             {"and.b64", RULE_AND, false},
             {"or.b32", RULE_OR, false},
             {"or.b64", RULE_OR, false},
             {"min.s32", RULE_MIN_S, false},
             {"max.s32", RULE_MAX_S, false},
             {"min.u32", RULE_MIN_U, false},
             {"max.u32", RULE_MAX_U, false},
             {"div.s32", RULE_DIV_S, false},
             {"div.u32", RULE_DIV_U, false},
             {"rem.s32", RULE_REM_S, false},
             {"rem.u32", RULE_REM_U, false},
             {"min.s64", RULE_MIN_S, false},
             {"max.s64", RULE_MAX_S, false}};

static bool float_name(struct slice op) {
  const char *p = op.p + op.n;
  while (p > op.p && p[-1] != '.')
    p--;
  int n = (int)(op.p + op.n - p);
  return n > 0 && (*p == 'f' || *p == 'e' || (n > 2 && p[0] == 'b' && p[1] == 'f') || *p == 't');
}

/* Bytes of the operands, by the signature of the operation. */
static void operand_bytes(const struct insn *in, struct how *how) {
  const char *sig = in->sig ? in->sig : "8:88";
  for (int i = 0; i < 3 && sig[2 + i]; i++)
    how->bytes[i] = (uint8_t)(sig[2 + i] - '0');
}

void depend_alu_begin(struct depend *d) {
  const struct program *p = d->program;
  d->quotient = d->remainder = (struct insn){.kind = INSN_ALU, .dst_bytes = 4};
  d->quotient.alu = exec_alu_find((struct slice){"div.u32", 7})->fn;
  d->remainder.alu = exec_alu_find((struct slice){"rem.u32", 7})->fn;
  for (int i = 0; i < p->ncode; i++) {
    const struct insn *in = &p->code[i];
    if (in->kind != INSN_ALU)
      continue;
    operand_bytes(in, &d->how[i]);
    if (float_name(in->op))
      d->how[i].rule = RULE_FLOAT;
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
      struct slice name = {rules[k].name, (int)strlen(rules[k].name)};
      if (in->alu != exec_alu_find(name)->fn)
        continue;
      d->how[i].rule = rules[k].rule;
      d->how[i].plus_c = rules[k].plus_c;
    }
  }
}

/* ---- limits */

static int64_t as(uint64_t v, int bytes, bool is_signed) {
  return bytes == 8 ? (int64_t)v : is_signed ? (int32_t)v : (int64_t)(uint32_t)v;
}

static struct depend_range range_of(const struct step *s, insn_slot slot, int bytes,
                                    bool is_signed) {
  struct depend_range r = {INT64_MAX, INT64_MIN};
  for (uint32_t left = s->mask; left; left &= left - 1) {
    int64_t v = as(depend_lane(s, slot, bytes, __builtin_ctz(left)), bytes, is_signed);
    r.low = v < r.low ? v : r.low;
    r.high = v > r.high ? v : r.high;
  }
  return r;
}

/* The value must stay within what its type holds. Of 64 bits unsigned: below 2^63. */
static void no_wrap(const struct step *s, insn_slot slot, forms_id id, int bytes, bool is_signed) {
  if (id == FORMS_NONE)
    return;
  struct depend_range r = range_of(s, slot, bytes, is_signed);
  int64_t least = bytes == 4 ? (is_signed ? INT32_MIN : 0) : is_signed ? INT64_MIN : 0;
  int64_t most = bytes == 4 ? (is_signed ? INT32_MAX : UINT32_MAX) : INT64_MAX;
  if (bytes == 8) { /* so that the differences fit */
    least /= 2;
    most /= 2;
  }
  if (r.low < least || r.high > most)
    forms_limit(s->d->forms, id, 0, 0);
  else
    forms_limit(s->d->forms, id, least - r.low, most - r.high);
}

/* ---- arithmetic */

struct operands {
  insn_slot slot[3];
  forms_id id[3];
  int bytes[3];
};

/* A result that is no sum: a new root if every lane has the same, else only of the same operands.
 */
static forms_id other(const struct step *s, const struct operands *o) {
  struct forms_operand with[3] = {{0}};
  bool scalars = s->in->kind == INSN_ALU;
  for (int i = 0; i < 3 && scalars; i++) {
    with[i] = (struct forms_operand){0, o->id[i], o->bytes[i]};
    scalars = !o->bytes[i] || depend_scalar(s, o->slot[i], o->bytes[i], &with[i].value);
  }
  if (scalars)
    return forms_node(s->d->forms, s->in, with);
  for (int i = 0; i < 3; i++)
    depend_fixed(s, o->id[i]);
  return FORMS_NONE;
}

static forms_id product(const struct step *s, const struct operands *o, const struct how *how) {
  bool wide = how->rule != RULE_MUL, is_signed = how->rule != RULE_MUL_WIDE_U;
  int x = o->id[0] != FORMS_NONE ? 0 : 1;
  bool narrow = s->in->dst_bytes == 4;
  forms_id with_c = how->plus_c ? o->id[2] : FORMS_NONE;
  uint64_t factor;
  if (o->id[0] == FORMS_NONE && o->id[1] == FORMS_NONE)
    return with_c;
  if (o->id[!x] != FORMS_NONE || !depend_scalar(s, o->slot[!x], o->bytes[!x], &factor))
    return other(s, o);
  if (wide)
    no_wrap(s, o->slot[x], o->id[x], 4, is_signed);
  return forms_add(s->d->forms, with_c, o->id[x], as(factor, o->bytes[!x], is_signed), narrow);
}

/* x / n or x % n with x >= 0: quotient and remainder of the least lane are new roots. The others
 * keep their distances from it as long as they stay in the multiples of n that they are in. */
static forms_id divided(const struct step *s, const struct operands *o, int64_t n, bool quotient,
                        bool is_signed) {
  struct forms *f = s->d->forms;
  struct depend_range r = range_of(s, o->slot[0], 4, is_signed), keep = {INT64_MIN, INT64_MAX};
  if (r.low < 0 || n < 1 || r.low == r.high || s->in->dst_bytes != 4)
    return other(s, o);
  const struct forms_operand with[3] = {{(uint64_t)r.low, o->id[0], 4}, {(uint64_t)n, 0, 4}};
  forms_id whole = forms_node(f, &s->d->quotient, with);
  forms_id part = forms_node(f, &s->d->remainder, with);
  if (whole == FORMS_DATA || part == FORMS_DATA)
    return other(s, o);
  forms_limit(f, o->id[0], -r.low, (is_signed ? INT32_MAX : (int64_t)UINT32_MAX) - r.high);
  for (uint32_t left = s->mask; left; left &= left - 1) {
    int64_t x = as(depend_lane(s, o->slot[0], 4, __builtin_ctz(left)), 4, is_signed);
    int64_t low = x / n * n - x, high = low + n - 1;
    keep.low = low > keep.low ? low : keep.low;
    keep.high = high < keep.high ? high : keep.high;
  }
  forms_limit(f, part, keep.low, keep.high);
  return quotient ? whole : part;
}

static forms_id division(const struct step *s, const struct operands *o, const struct how *how) {
  bool is_signed = how->rule == RULE_DIV_S || how->rule == RULE_REM_S;
  bool quotient = how->rule == RULE_DIV_S || how->rule == RULE_DIV_U;
  uint64_t n;
  if (o->id[1] != FORMS_NONE || !depend_scalar(s, o->slot[1], 4, &n))
    return other(s, o);
  return divided(s, o, as(n, 4, is_signed), quotient, is_signed);
}

static forms_id shift(const struct step *s, const struct operands *o, const struct how *how) {
  uint64_t n;
  bool left = how->rule == RULE_SHL;
  if (o->id[1] != FORMS_NONE || !depend_scalar(s, o->slot[1], 4, &n) || n > 31)
    return other(s, o);
  if (left)
    return forms_add(s->d->forms, FORMS_NONE, o->id[0], (int64_t)1 << n, s->in->dst_bytes == 4);
  if (!forms_divides(s->d->forms, o->id[0], (int)n))
    return divided(s, o, (int64_t)1 << n, true, how->rule == RULE_SHR_S);
  no_wrap(s, o->slot[0], o->id[0], s->in->dst_bytes, how->rule == RULE_SHR_S);
  return forms_shifted(s->d->forms, o->id[0], (int)n);
}

/* x & constant and x | constant where the difference is a multiple of a power of two above the bits
 * of the constant: the bits below stay, those above go on as in a sum. */
static forms_id bits_of(const struct step *s, const struct operands *o, const struct how *how) {
  int x = o->id[0] != FORMS_NONE ? 0 : 1, bytes = s->in->dst_bytes;
  if (o->id[!x] != FORMS_NONE)
    return other(s, o);
  uint64_t any = 0, all = bytes == 8 ? UINT64_MAX : UINT32_MAX, both = 0;
  for (uint32_t left = s->mask; left; left &= left - 1) {
    uint64_t c = depend_lane(s, o->slot[!x], bytes, __builtin_ctz(left));
    any |= c;
    all &= c;
    both |= c & depend_lane(s, o->slot[x], bytes, __builtin_ctz(left));
  }
  int top = any ? 64 - __builtin_clzll(any) : 0;
  if (how->rule == RULE_OR)
    return !both && forms_divides(s->d->forms, o->id[x], top) ? o->id[x] : other(s, o);
  if (forms_divides(s->d->forms, o->id[x], top))
    return FORMS_NONE;
  if (any == all && x == 0 && bytes == 4 && !(any & (any + 1)))
    return divided(s, o, (int64_t)any + 1, false, false);
  uint64_t cleared = ~all & (bytes == 8 ? UINT64_MAX : UINT32_MAX);
  int below = cleared ? 64 - __builtin_clzll(cleared) : 0;
  return any == all && forms_divides(s->d->forms, o->id[x], below) ? o->id[x] : other(s, o);
}

/* Limits under which a - b < t (strict), lane by lane, comes out as it does here. */
static void keep_order(const struct step *s, const struct operands *o, bool is_signed, int64_t t) {
  int bytes = o->bytes[0];
  struct depend_range r = {INT64_MIN / 2, INT64_MAX / 2};
  forms_id d = forms_add(s->d->forms, o->id[0], o->id[1], -1, false);
  no_wrap(s, o->slot[0], o->id[0], bytes, is_signed);
  no_wrap(s, o->slot[1], o->id[1], bytes, is_signed);
  if (d == FORMS_DATA) {
    depend_fixed(s, o->id[0]);
    depend_fixed(s, o->id[1]);
    return;
  }
  for (uint32_t left = s->mask; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    int64_t a = as(depend_lane(s, o->slot[0], bytes, l), bytes, is_signed);
    int64_t b = as(depend_lane(s, o->slot[1], bytes, l), bytes, is_signed), v;
    if (__builtin_sub_overflow(a, b, &v) || v > INT64_MAX / 4 || v < INT64_MIN / 4) {
      r = (struct depend_range){0, 0};
      break;
    }
    if (v < t)
      r.high = t - 1 - v < r.high ? t - 1 - v : r.high;
    else
      r.low = t - v > r.low ? t - v : r.low;
  }
  forms_limit(s->d->forms, d, r.low, r.high);
}

/* min and max: if all lanes take the same side, and go on doing so, the result is that side. */
static forms_id least(const struct step *s, const struct operands *o, const struct how *how) {
  bool is_signed = how->rule == RULE_MIN_S || how->rule == RULE_MAX_S;
  bool max = how->rule == RULE_MAX_S || how->rule == RULE_MAX_U, first = true, second = true;
  for (uint32_t left = s->mask; left; left &= left - 1) {
    int l = __builtin_ctz(left), bytes = o->bytes[0];
    uint64_t ua = depend_lane(s, o->slot[0], bytes, l), ub = depend_lane(s, o->slot[1], bytes, l);
    int64_t a = as(ua, bytes, is_signed), b = as(ub, bytes, is_signed);
    first &= max ? a >= b : a <= b;
    second &= max ? a <= b : a >= b;
  }
  if (!first && !second)
    return other(s, o);
  /* first, min: a <= b is a - b < 1; first, max: not a - b < 0; and so on. */
  keep_order(s, o, is_signed, first != max ? 1 : 0);
  return first ? o->id[0] : o->id[1];
}

static forms_id result(const struct step *s, const struct operands *o, const struct how *how) {
  struct forms *f = s->d->forms;
  bool narrow = s->in->dst_bytes == 4;
  bool data = false, none = true;
  for (int i = 0; i < 3; i++) {
    data |= o->id[i] == FORMS_DATA;
    none &= o->id[i] == FORMS_NONE;
  }
  if (data || none)
    return data ? FORMS_DATA : FORMS_NONE;
  switch ((enum rule)how->rule) {
  case RULE_MOV:
    return o->id[0];
  case RULE_ADD:
    return forms_add(f, o->id[0], o->id[1], 1, narrow);
  case RULE_SUB:
    return forms_add(f, o->id[0], o->id[1], -1, narrow);
  case RULE_NEG:
    return forms_add(f, FORMS_NONE, o->id[0], -1, narrow);
  case RULE_MUL:
  case RULE_MUL_WIDE_S:
  case RULE_MUL_WIDE_U:
    return product(s, o, how);
  case RULE_SHL:
  case RULE_SHR_S:
  case RULE_SHR_U:
    return shift(s, o, how);
  case RULE_AND:
  case RULE_OR:
    return bits_of(s, o, how);
  case RULE_MIN_S:
  case RULE_MAX_S:
  case RULE_MIN_U:
  case RULE_MAX_U:
    return least(s, o, how);
  case RULE_DIV_S:
  case RULE_DIV_U:
  case RULE_REM_S:
  case RULE_REM_U:
    return division(s, o, how);
  case RULE_FLOAT:
    return FORMS_DATA;
  case RULE_OTHER:
    break;
  }
  return other(s, o);
}

void depend_alu(const struct step *s) {
  const struct insn *in = s->in;
  const struct how *how = &s->d->how[in - s->d->program->code];
  struct operands o = {{in->a, in->b, in->c}, {0}, {how->bytes[0], how->bytes[1], how->bytes[2]}};
  for (int i = 0; i < 3; i++) {
    bool there = o.slot[i] < 0 || o.slot[i] >= NAMED; /* else there is no such operand */
    o.bytes[i] = there ? o.bytes[i] : 0;
    o.id[i] = o.bytes[i] ? depend_get(s, o.slot[i]) : FORMS_NONE;
  }
  depend_put(s, in->dst, result(s, &o, how));
}

/* ---- comparing */

void depend_alu_setp(const struct step *s) {
  const struct insn *in = s->in;
  const char *cmp = in->op.p + 5; /* behind "setp." */
  char type = '\0';
  for (int i = 0; i + 1 < in->op.n; i++)
    if (in->op.p[i] == '.')
      type = in->op.p[i + 1];
  int bytes = in->op.p[in->op.n - 2] == '6' && in->op.p[in->op.n - 1] == '4' ? 8 : 4;
  struct operands o = {
      {in->a, in->b, 0}, {depend_get(s, in->a), depend_get(s, in->b), 0}, {bytes, bytes, 0}};
  bool data = o.id[0] == FORMS_DATA || o.id[1] == FORMS_DATA;
  bool is_signed = type == 's', equality = cmp[0] == 'e' || cmp[0] == 'n';
  if (!data && (o.id[0] || o.id[1])) {
    if (type == 'f' || (in->op.p[in->op.n - 2] == '1')) { /* floats, 16 bits */
      depend_fixed(s, o.id[0]);
      depend_fixed(s, o.id[1]);
    } else if (equality && forms_add(s->d->forms, o.id[0], o.id[1], -1, false) != FORMS_NONE) {
      keep_order(s, &o, is_signed, 0);
      keep_order(s, &o, is_signed, 1);
    } else if (!equality) {
      /* lt ge lo hs: a - b < 0; le gt ls hi: a - b < 1 */
      bool strict = (cmp[0] == 'l' && (cmp[1] == 't' || cmp[1] == 'o')) ||
                    (cmp[0] == 'g' && cmp[1] == 'e') || (cmp[0] == 'h' && cmp[1] == 's');
      keep_order(s, &o, is_signed, strict ? 0 : 1);
    }
  }
  data |= in->sub != BOOL_NONE && depend_pred_data(s, in->pa);
  depend_put_pred(s, in->p, data);
  depend_put_pred(s, in->p2, data);
}

void depend_alu_selp(const struct step *s) {
  const struct insn *in = s->in;
  forms_id a = depend_get(s, in->a), b = depend_get(s, in->b);
  uint32_t yes = machine_pred(s->w, in->pa) & s->mask;
  if (depend_pred_data(s, in->pa)) {
    depend_put(s, in->dst, FORMS_DATA);
  } else if (a == b || yes == s->mask) {
    depend_put(s, in->dst, a);
  } else if (!yes) {
    depend_put(s, in->dst, b);
  } else {
    bool known = depend_fixed(s, a) && depend_fixed(s, b);
    depend_put(s, in->dst, known ? FORMS_NONE : FORMS_DATA);
  }
}

void depend_alu_cvt(const struct step *s) {
  const struct insn *in = s->in;
  forms_id a = depend_get(s, in->a);
  struct ptx_type to = in->type, from = in->from;
  bool whole = to.cls != PTX_FLOAT && from.cls != PTX_FLOAT && !in->sat &&
               in->width == from.bytes && in->dst_bytes == to.bytes;
  if (a == FORMS_NONE || a == FORMS_DATA) {
    depend_put(s, in->dst, a);
  } else if (to.cls == PTX_FLOAT) {
    depend_put(s, in->dst, FORMS_DATA);
  } else if (whole && from.bytes == 4 && to.bytes == 8) {
    no_wrap(s, in->a, a, 4, from.cls == PTX_SIGNED);
    depend_put(s, in->dst, a);
  } else if (whole && from.bytes >= 4 && to.bytes == from.bytes) {
    depend_put(s, in->dst, a);
  } else if (whole && from.bytes == 8 && to.bytes == 4) {
    depend_put(s, in->dst, forms_add(s->d->forms, FORMS_NONE, a, 1, true));
  } else {
    depend_fixed(s, a);
    depend_put(s, in->dst, FORMS_NONE);
  }
}
