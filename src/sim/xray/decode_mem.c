#include "sim/xray/decode_mem.h"

#include "sim/xray/decode_half.h"
#include "sim/xray/ptx_parse.h"

static int lane_bytes(struct ptx_type t) { return t.bytes <= 4 ? 4 : 8; }

static bool among(struct slice s, const char *const *names) {
  for (; *names; names++)
    if (ptx_lex_is(s, *names))
      return true;
  return false;
}

static int space_of(struct slice s) {
  static const char *const names[] = {"", "global", "shared", "local", "const", "param"};
  for (int i = 1; i < PTX_SPACES; i++)
    if (ptx_lex_is(s, names[i]))
      return i;
  return ptx_lex_is(s, "shared::cta") ? PTX_SHARED : PTX_GENERIC;
}

/* Reads space, vector and type from the parts; false at a part that means something else. */
static bool memory_parts(struct decoder *d) {
  static const char *const ordering[] = {"volatile", "relaxed", "acquire", "release", NULL};
  static const char *const harmless[] = {"weak", "cta", "gpu", "sys", "nc", "ca", "cg",
                                         "cs",   "lu",  "cv",  "wb",  "wt", NULL};
  d->out->nvec = 1;
  d->out->type = ptx_parse_type(d->part[d->nparts - 1]);
  for (int i = 1; i < d->nparts - 1; i++) {
    struct slice s = d->part[i];
    if (space_of(s) != PTX_GENERIC)
      d->out->space = (uint8_t)space_of(s);
    else if (ptx_lex_is(s, "v2") || ptx_lex_is(s, "v4"))
      d->out->nvec = (uint8_t)(s.p[1] - '0');
    else if (among(s, ordering))
      d->out->ordered = true;
    else if (!among(s, harmless) && !(s.n > 4 && s.p[0] == 'L' && s.p[2] == ':'))
      return false;
  }
  struct ptx_type t = d->out->type;
  d->out->width = (uint8_t)t.bytes;
  return t.bytes > 0 && t.bytes * d->out->nvec <= 16;
}

static bool value_operands(struct decoder *d, const struct ptx_operand *o, bool load) {
  struct insn *out = d->out;
  if ((o->kind == PTX_VECTOR) != (out->nvec > 1) || (o->kind == PTX_VECTOR && o->n != out->nvec))
    return false;
  for (int i = 0; i < out->nvec; i++) {
    const struct ptx_operand *e = o->kind == PTX_VECTOR ? &d->func->pool[o->first + i] : o;
    int bytes = decode_lane_bytes(d, e);
    if (!bytes)
      bytes = lane_bytes(out->type);
    out->vec_bytes[i] = (uint8_t)bytes;
    if (bytes < out->type.bytes)
      return false;
    out->vec[i] = load                         ? decode_dest(d, e, bytes)
                  : out->type.cls == PTX_FLOAT ? decode_float_source(d, e, bytes)
                                               : decode_source(d, e, bytes);
  }
  return true;
}

/* An access with .L2::cache_hint has its policy behind the other operands; it changes no result. */
static bool operands(const struct decoder *d, int n) {
  return d->src->n == n + decode_has(d, "L2::cache_hint");
}

bool decode_mem_load(struct decoder *d) {
  d->out->kind = INSN_LD;
  if (!memory_parts(d) || !operands(d, 2))
    return false;
  decode_address(d, &d->src->a[1]);
  return value_operands(d, &d->src->a[0], true);
}

bool decode_mem_store(struct decoder *d) {
  d->out->kind = INSN_ST;
  if (!memory_parts(d) || !operands(d, 2) || d->out->space == PTX_CONST)
    return false;
  decode_address(d, &d->src->a[0]);
  if (d->out->space == PTX_PARAM) /* a kernel's own are read only */
    return false;
  return value_operands(d, &d->src->a[1], false);
}

static int atom_of(struct slice s) {
  static const char *const names[] = {"add", "min", "max", "cas", "exch",
                                      "and", "or",  "xor", "inc", "dec"};
  for (int i = 0; i < 10; i++)
    if (ptx_lex_is(s, names[i]))
      return i;
  return -1;
}

bool decode_mem_atom(struct decoder *d) {
  static const char *const harmless[] = {"relaxed", "acquire", "release", "acq_rel", "cta",
                                         "gpu",     "sys",     "noftz",   NULL};
  int red = ptx_lex_is(d->part[0], "red"), op = -1;
  struct insn *out = d->out;
  for (int i = 1; i < d->nparts - 1; i++) {
    if (space_of(d->part[i]) != PTX_GENERIC)
      out->space = (uint8_t)space_of(d->part[i]);
    else if (atom_of(d->part[i]) >= 0)
      op = atom_of(d->part[i]);
    else if (!among(d->part[i], harmless))
      return false;
  }
  out->kind = INSN_ATOM;
  out->sub = (uint8_t)op;
  out->nvec = 1;
  out->type = ptx_parse_type(d->part[d->nparts - 1]);
  out->width = (uint8_t)out->type.bytes;
  out->dst_bytes = out->width == 8 ? 8 : 4;
  bool cas = op == ATOM_CAS, halves = decode_half_shape(d->part[d->nparts - 1], &out->half);
  bool narrow = out->width == 2 && (halves || cas || op == ATOM_EXCH);
  if (op < 0 || (out->type.packed && !halves) || (out->width < 4 && !narrow) || (red && cas) ||
      d->src->n != 3 - red + cas || (out->type.cls == PTX_FLOAT && op != ATOM_ADD) ||
      out->space == PTX_LOCAL || out->space == PTX_CONST || out->space == PTX_PARAM)
    return false;
  out->dst = red ? d->sink : decode_dest(d, &d->src->a[0], out->dst_bytes);
  decode_address(d, &d->src->a[1 - red]);
  out->a = decode_float_source(d, &d->src->a[2 - red], out->dst_bytes);
  if (cas)
    out->b = decode_source(d, &d->src->a[3], out->dst_bytes);
  return true;
}

/* bar.red.popc.u32 d, a{, b}, p and bar.red.and.pred q, a{, b}, p. */
static bool barrier_reduces(struct decoder *d) {
  struct insn *out = d->out;
  int n = d->src->n;
  out->kind = INSN_BAR_RED;
  out->sub = (uint8_t)(decode_has(d, "popc")  ? VOTE_BALLOT
                       : decode_has(d, "and") ? VOTE_ALL
                                              : VOTE_ANY);
  if (decode_has(d, "cluster") || n < 3 || n > 4)
    return false;
  out->dst_bytes = 4;
  if (out->sub == VOTE_BALLOT)
    out->dst = decode_dest(d, &d->src->a[0], 4);
  else
    out->p = decode_pred(d, &d->src->a[0]);
  out->a = decode_source(d, &d->src->a[1], 4);
  out->b = n == 4 ? decode_source(d, &d->src->a[2], 4) : decode_const(d, 0, 4);
  out->pa = decode_pred(d, &d->src->a[n - 1]);
  return true;
}

bool decode_mem_barrier(struct decoder *d) {
  struct insn *out = d->out;
  if (decode_has(d, "warp")) {
    out->kind = INSN_WARP_SYNC;
    return decode_has(d, "sync") && d->src->n == 1;
  }
  if (decode_has(d, "red"))
    return barrier_reduces(d);
  out->kind = decode_has(d, "arrive") ? INSN_BAR_ARRIVE : INSN_BAR;
  if (decode_has(d, "cluster") || (!decode_has(d, "sync") && out->kind == INSN_BAR) ||
      d->src->n < 1 || d->src->n > 2)
    return false;
  out->a = decode_source(d, &d->src->a[0], 4);
  out->b = d->src->n == 2 ? decode_source(d, &d->src->a[1], 4) : decode_const(d, 0, 4);
  return true;
}

bool decode_mem_shuffle(struct decoder *d) {
  struct insn *out = d->out;
  out->kind = INSN_SHFL;
  out->sub = (uint8_t)(decode_has(d, "up")     ? SHFL_UP
                       : decode_has(d, "down") ? SHFL_DOWN
                       : decode_has(d, "bfly") ? SHFL_BFLY
                                               : SHFL_IDX);
  if (!decode_has(d, "sync") || d->src->n != 5 || !decode_has(d, "b32"))
    return false;
  out->dst_bytes = 4;
  out->dst = decode_dest(d, &d->src->a[0], 4);
  out->p = decode_pred_reg(d, d->src->pair);
  out->a = decode_source(d, &d->src->a[1], 4);
  out->b = decode_source(d, &d->src->a[2], 4);
  out->c = decode_source(d, &d->src->a[3], 4);
  out->vec[0] = decode_source(d, &d->src->a[4], 4);
  return true;
}

bool decode_mem_vote(struct decoder *d) {
  struct insn *out = d->out;
  out->kind = INSN_VOTE;
  bool ballot = decode_has(d, "ballot");
  out->sub = (uint8_t)(ballot                 ? VOTE_BALLOT
                       : decode_has(d, "all") ? VOTE_ALL
                       : decode_has(d, "any") ? VOTE_ANY
                                              : VOTE_UNI);
  if (!decode_has(d, "sync") || d->src->n != 3)
    return false;
  if (ballot)
    out->dst = decode_dest(d, &d->src->a[0], 4);
  else
    out->p = decode_pred(d, &d->src->a[0]);
  out->dst_bytes = 4;
  out->pa = decode_pred(d, &d->src->a[1]);
  out->vec[0] = decode_source(d, &d->src->a[2], 4);
  return true;
}

bool decode_mem_activemask(struct decoder *d) {
  d->out->kind = INSN_ACTIVEMASK;
  d->out->dst_bytes = 4;
  d->out->dst = decode_dest(d, decode_operand(d, 0), 4);
  return true;
}

bool decode_mem_match(struct decoder *d) {
  struct insn *out = d->out;
  out->kind = INSN_MATCH;
  out->dst_bytes = 4;
  bool all = decode_has(d, "all");
  if ((!all && !decode_has(d, "any")) || !decode_has(d, "sync") || d->src->n != 3 ||
      (!all && d->src->pair >= 0))
    return false;
  out->sub = all;
  out->width = decode_has(d, "b64") ? 8 : 4;
  out->dst = decode_dest(d, &d->src->a[0], 4);
  out->p = decode_pred_reg(d, d->src->pair);
  out->a = decode_source(d, &d->src->a[1], out->width);
  out->vec[0] = decode_source(d, &d->src->a[2], 4);
  return true;
}

bool decode_mem_redux(struct decoder *d) {
  struct insn *out = d->out;
  out->kind = INSN_REDUX;
  out->type = ptx_parse_type(d->part[d->nparts - 1]);
  int op = d->nparts == 4 ? atom_of(d->part[2]) : -1;
  out->sub = (uint8_t)op;
  if (!decode_has(d, "sync") || out->type.bytes != 4 || out->type.cls == PTX_FLOAT ||
      d->src->n != 3 || op < 0 || op == ATOM_CAS || op == ATOM_EXCH || op > ATOM_XOR)
    return false;
  out->dst_bytes = 4;
  out->dst = decode_dest(d, &d->src->a[0], 4);
  out->a = decode_source(d, &d->src->a[1], 4);
  out->vec[0] = decode_source(d, &d->src->a[2], 4);
  return true;
}
