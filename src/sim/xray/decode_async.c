#include "sim/xray/decode_async.h"

#include <string.h>

static bool is_number(const struct ptx_operand *o) {
  return o->kind == PTX_IMM && !o->imm_float && !o->neg;
}

/* The address of an operand as out's; false if it is none. */
static bool address(struct decoder *d, const struct ptx_operand *o, uint8_t space) {
  d->out->space = space;
  decode_address(d, o);
  return o->kind == PTX_ADDRESS;
}

/* cp.async.ca.shared.global [to], [from], 16{, bytes or ignore}{, policy}; */
static bool copy(struct decoder *d) {
  struct insn *out = d->out;
  const struct ptx_insn *src = d->src;
  int n = src->n;
  if ((!decode_has(d, "ca") && !decode_has(d, "cg")) || n < 3 ||
      n > (decode_has(d, "L2::cache_hint") ? 5 : 4) || !is_number(&src->a[2]))
    return false;
  int64_t bytes = src->a[2].imm;
  if (bytes != 16 && (decode_has(d, "cg") || (bytes != 4 && bytes != 8)))
    return false;
  struct insn from = {0};
  d->out = &from;
  bool ok = address(d, &src->a[1], PTX_GLOBAL);
  d->out = out;
  if (!ok || !from.base_wide || from.offset != (int32_t)from.offset ||
      !address(d, &src->a[0], PTX_SHARED))
    return false;
  out->sub = ASYNC_COPY;
  out->round = decode_has(d, "cg") ? 'g' : 0;
  out->width = (uint8_t)bytes;
  out->nvec = 1;
  out->a = from.base;
  out->target = (int32_t)from.offset;
  n -= decode_has(d, "L2::cache_hint");
  const struct ptx_operand *size = n == 4 ? &src->a[3] : NULL;
  bool ignores = size && size->kind == PTX_REG && decode_lane_bytes(d, size) == 0;
  if (ignores) {
    out->pa = decode_pred(d, size);
    out->pa.neg = !out->pa.neg;
  }
  out->b = size && !ignores ? decode_source(d, size, 4) : decode_const(d, (uint64_t)bytes, 4);
  return true;
}

bool decode_async(struct decoder *d) {
  struct insn *out = d->out;
  out->kind = INSN_ASYNC;
  if (d->nparts < 3 || !ptx_lex_is(d->part[1], "async") || decode_has(d, "bulk"))
    return false;
  if (decode_has(d, "commit_group")) {
    out->sub = ASYNC_COMMIT;
    return d->src->n == 0;
  }
  if (decode_has(d, "wait_all")) {
    out->sub = ASYNC_WAIT_ALL;
    return d->src->n == 0;
  }
  if (decode_has(d, "wait_group")) {
    out->sub = ASYNC_WAIT;
    out->offset = d->src->n == 1 ? d->src->a[0].imm : 0;
    return d->src->n == 1 && is_number(&d->src->a[0]) && out->offset >= 0;
  }
  if (decode_has(d, "mbarrier")) {
    out->sub = ASYNC_ARRIVE;
    out->nvec = decode_has(d, "noinc");
    return decode_has(d, "arrive") && d->src->n == 1 && address(d, &d->src->a[0], PTX_SHARED);
  }
  return copy(d);
}

/* ---- mbarrier */

static int sub_of(const struct decoder *d) {
  static const struct {
    const char *name;
    int sub;
  } of[] = {{"init", MBAR_INIT},
            {"inval", MBAR_INVAL},
            {"arrive", MBAR_ARRIVE},
            {"arrive_drop", MBAR_DROP},
            {"expect_tx", MBAR_EXPECT_TX},
            {"complete_tx", MBAR_COMPLETE_TX},
            {"pending_count", MBAR_PENDING},
            {"test_wait", MBAR_TEST_STATE},
            {"try_wait", MBAR_TEST_STATE}};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    if (d->nparts > 1 && ptx_lex_is(d->part[1], of[i].name))
      return of[i].sub == MBAR_TEST_STATE && decode_has(d, "parity") ? MBAR_TEST_PARITY : of[i].sub;
  return -1;
}

/* mbarrier.arrive state, [at]{, count}; */
static bool arrive(struct decoder *d) {
  struct insn *out = d->out;
  int n = d->src->n;
  out->nvec = decode_has(d, "expect_tx");
  if (n < 2 + out->nvec || n > 3 || !address(d, &d->src->a[1], PTX_SHARED))
    return false;
  out->dst_bytes = 8;
  out->dst = decode_dest(d, &d->src->a[0], 8);
  out->a = n == 3 ? decode_source(d, &d->src->a[2], 4) : decode_const(d, 1, 4);
  return true;
}

/* mbarrier.try_wait p, [at], state or parity{, time}; */
static bool test(struct decoder *d) {
  struct insn *out = d->out;
  if (d->src->n < 3 || d->src->n > 4 || !address(d, &d->src->a[1], PTX_SHARED))
    return false;
  out->p = decode_pred(d, &d->src->a[0]);
  out->a = decode_source(d, &d->src->a[2], out->sub == MBAR_TEST_PARITY ? 4 : 8);
  return true;
}

bool decode_async_mbar(struct decoder *d) {
  struct insn *out = d->out;
  int sub = sub_of(d);
  if (sub < 0 || decode_has(d, "shared::cluster"))
    return false;
  out->kind = INSN_MBAR;
  out->sub = (uint8_t)sub;
  switch ((enum insn_mbar)sub) {
  case MBAR_ARRIVE:
  case MBAR_DROP:
    return arrive(d);
  case MBAR_TEST_STATE:
  case MBAR_TEST_PARITY:
    return test(d);
  case MBAR_PENDING:
    if (d->src->n != 2)
      return false;
    out->dst_bytes = 4;
    out->dst = decode_dest(d, &d->src->a[0], 4);
    out->a = decode_source(d, &d->src->a[1], 8);
    return true;
  case MBAR_INVAL:
    out->a = decode_const(d, 0, 4);
    return d->src->n == 1 && address(d, &d->src->a[0], PTX_SHARED);
  default:
    if (d->src->n != 2)
      return false;
    out->a = decode_source(d, &d->src->a[1], 4);
    return address(d, &d->src->a[0], PTX_SHARED);
  }
}
