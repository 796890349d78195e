#include "bench/xray_job.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/utf8.h"
#include "bench/pool.h"
#include "bench/wire.h"
#include "bench/xray_lines.h"
#include "bench/xray_matrix.h"
#include "bench/xray_occupancy.h"
#include "bench/xray_shape.h"
#include "bench/xray_sum.h"
#include "bench/xray_trace.h"
#include "bench/xray_verify.h"
#include "sim/xray/sass.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Warp instructions of one block, by default: an endless loop is found in about half a second, and
 * a block of 32 warps may still walk along a K of some ten thousand. */
#define BLOCK_BUDGET ((int64_t)1 << 23)
#define BLOCK_BUDGET_A_SECOND 16777216.0
#define SECONDS 60.0

enum {
  PRINT_MAX = 64 * 1024,
  TRACE_PART = 64 * 1024,
  TRACE_MAX = 64 << 20,
  CHECK_ALL_BELOW = 256, /* blocks */
  CHECKED_BLOCKS = 8,
  PROBLEMS_SHOWN = 200
};

/* What the callbacks of the machine need. */
struct run {
  const struct xray_job_sink *sink;
  struct str print, trace;
  bool print_cut;
  int64_t traced;
};

/* xray_launch.stopped has no context; one x-ray a process. */
static bool (*ask_stopped)(void);
static double deadline_ms;
static bool late;

static bool must_stop(void) {
  late = late || clock_ms() > deadline_ms;
  return late || ask_stopped();
}

static void on_print(void *ctx, const char *text, size_t n) {
  struct run *r = ctx;
  size_t room = PRINT_MAX - r->print.len;
  r->print_cut = r->print_cut || n > room;
  str_addn(&r->print, text, n < room ? n : room);
}

static void send_trace(struct run *r) {
  if (r->trace.len > 0)
    r->sink->trace(r->sink->ctx, r->trace.data, r->trace.len);
  r->traced += (int64_t)r->trace.len;
  str_clear(&r->trace);
}

static void on_trace(void *ctx, const struct xray_event *e) {
  struct run *r = ctx;
  if (r->traced >= TRACE_MAX)
    return;
  xray_trace_add(&r->trace, e);
  if (r->trace.len >= TRACE_PART)
    send_trace(r);
}

/* ---- the launch */

static int64_t block_count(const struct xray_shape *s) {
  double n = (double)s->grid[0] * (double)s->grid[1] * (double)s->grid[2];
  return n >= 1 && n < 0x1p62 ? s->grid[0] * s->grid[1] * s->grid[2] : 0;
}

static struct xray_launch make_launch(const struct xray_request *q, const struct xray_build *b,
                                      const struct xray_shape *s, const struct xray_data *d,
                                      const struct xray_args *a, struct run *run) {
  struct xray_launch l = {.entry = b->symbol,
                          .shared_bytes = s->smem,
                          .arrays = d->arrays,
                          .narrays = XRAY_ARGS_ARRAYS,
                          .args = a->arg,
                          .nargs = a->n,
                          .checks = q->no_checks ? 0 : XRAY_CHECK_ALL,
                          .block_budget = BLOCK_BUDGET,
                          .stopped = must_stop,
                          .threads = pool_width(),
                          .sample = q->sample,
                          .print = on_print,
                          .trace = q->trace ? on_trace : NULL,
                          .ctx = run};
  memcpy(l.grid, s->grid, sizeof l.grid);
  memcpy(l.block, s->block, sizeof l.block);
  memcpy(l.trace_block, q->trace_block, sizeof l.trace_block);
  if (q->seconds > 0)
    l.block_budget = (int64_t)fmax((double)BLOCK_BUDGET, q->seconds * BLOCK_BUDGET_A_SECOND);
  if (block_count(s) > CHECK_ALL_BELOW)
    l.checked_blocks = CHECKED_BLOCKS;
  return l;
}

static double limit_s(const struct xray_request *q) {
  return q->seconds > 0 ? q->seconds : SECONDS;
}

static bool stopped_fault(const struct xray_request *q, struct device_fault *fault) {
  char what[200];
  if (!late) {
    wire_fault_set(fault, "cancelled", "The run was cancelled.", "", "");
    return false;
  }
  snprintf(what, sizeof what, "The launch was stopped after %g s; it was not done.", limit_s(q));
  wire_fault_set(fault, "time", what, "",
                 "Choose smaller sizes, look at some blocks only with --sample, or allow more time "
                 "with --seconds.");
  return false;
}

/* ---- the result */

static void head_sizes(struct result *h, const struct xray_case *c) {
  double M = (double)c->size.M, N = (double)c->size.N, K = (double)c->size.K, n[3];
  const enum kernel_dtype t[3] = {c->shape.a, c->shape.b, c->shape.c};
  h->M = c->size.M;
  h->N = c->size.N;
  h->K = c->size.K;
  switch (c->shape.op) {
  case OP_GEMM:
    h->flop = 2 * M * N * K;
    break;
  case OP_GEMV:
    h->flop = 2 * M * K;
    break;
  case OP_ADD:
  case OP_REDUCE:
    h->flop = M * N;
    break;
  case OP_COPY:
  case OP_TRANSPOSE:
    h->flop = 0;
    break;
  default:
    break;
  }
  if (c->check) {
    kernel_elements(&c->shape, &c->size, &n[0], &n[1], &n[2]);
    h->dram_min = 0;
    for (int i = 0; i < 3; i++)
      h->dram_min += n[i] * (double)kernel_dtype_size(t[i]);
    if (c->beta != 0)
      h->dram_min += n[2] * (double)kernel_dtype_size(t[2]);
  }
  if (!c->front)
    return;
  h->requested = kernel_requested(c->front, &c->size);
  if (!isnan(kernel_flop(c->front, &c->size)))
    h->flop = kernel_flop(c->front, &c->size);
  if (!isnan(kernel_dram_min(c->front, &c->size)))
    h->dram_min = kernel_dram_min(c->front, &c->size);
}

static void fill_head(struct result *h, const struct xray_case *c, const struct xray_build *b) {
  const char *source = c->q->source ? c->q->source : c->front->source;
  snprintf(h->kernel, sizeof h->kernel, "%s", c->q->kernel);
  for (int i = 0; c->front && i < c->front->nparams; i++) {
    snprintf(h->params[i].name, sizeof h->params->name, "%s", c->front->params[i].name);
    h->params[i].value = c->size.param[i];
    h->nparams = i + 1;
  }
  head_sizes(h, c);
  snprintf(h->device.id, sizeof h->device.id, "xray");
  snprintf(h->device.compiler, sizeof h->device.compiler, "%s", b->compiler);
  hash_sha256(source, strlen(source), h->kernel_sha256);
  h->seed = c->q->seed ? c->q->seed : 1;
  clock_iso(h->date, sizeof h->date);
  snprintf(h->version, sizeof h->version, "%s", MMTUTOR_VERSION);
}

static void fill_code(struct xray_result *r, const struct xray_build *b, const struct xray_shape *s,
                      const struct xray_report *rep) {
  r->registers = b->code.registers;
  r->shared_bytes = b->code.shared_bytes;
  r->spill_bytes = b->code.spill_bytes;
  struct xray_occupancy o;
  int threads = (int)(s->block[0] * s->block[1] * s->block[2]);
  int arch = (int)strtol(b->arch + strcspn(b->arch, "0123456789"), NULL, 10);
  if (r->registers >= 0 &&
      xray_occupancy_of(arch, threads, r->registers, r->shared_bytes + (double)s->smem, &o)) {
    r->occupancy = o.warps;
    r->blocks_per_sm = o.blocks;
    snprintf(r->occupancy_limit, sizeof r->occupancy_limit, "%s", o.limit);
  }
  if (!b->has_sass)
    return;
  r->sass = b->sass;
  r->mix = rep->mix;
  r->certificate = sass_mix_equal(&r->mix, &r->sass) ? XRAY_EXACT : XRAY_PTX_LEVEL;
}

static void fill_run(struct xray_result *r, const struct xray_case *c, const struct xray_build *b,
                     const struct xray_shape *s, const struct xray_args *a,
                     const struct xray_report *rep) {
  snprintf(r->entry, sizeof r->entry, "%s", b->entry);
  snprintf(r->op, sizeof r->op, "%s",
           c->shape.op == OP_OTHER ? "none" : kernel_op_name(c->shape.op));
  snprintf(r->dtype, sizeof r->dtype, "%s", kernel_dtype_name(c->shape.a));
  snprintf(r->args, sizeof r->args, "%s", a->text);
  r->args_guessed = a->guessed;
  snprintf(r->arch, sizeof r->arch, "%s", b->arch);
  snprintf(r->compiler, sizeof r->compiler, "%s", b->compiler);
  memcpy(r->grid, s->grid, sizeof r->grid);
  memcpy(r->block, s->block, sizeof r->block);
  r->smem = s->smem;
  r->finished = rep->finished;
  r->sampled = rep->sampled;
  r->blocks = block_count(s);
  r->blocks_executed = rep->sampled    ? rep->blocks_executed
                       : rep->finished ? r->blocks
                                       : rep->blocks_executed;
  r->counts = rep->counts;
  const struct xray_counts *n = &rep->counts;
  r->flop_executed = 2 * n->ffma + n->fadd + n->fmul + n->other_flop;
  r->nproblems = rep->nproblems < PROBLEMS_SHOWN ? rep->nproblems : PROBLEMS_SHOWN;
  r->problems = alloc_zero((size_t)r->nproblems, sizeof *r->problems);
  for (int i = 0; i < r->nproblems; i++) {
    struct xray_problem *p = &r->problems[i];
    *p = rep->problems[i];
    const char *slash = strrchr(p->file, '/');
    if (slash)
      memmove(p->file, slash + 1, strlen(slash));
  }
}

static void fill_text(struct xray_result *r, struct run *run, const struct xray_build *b,
                      const struct xray_request *q) {
  for (int i = 0; i < b->made.sources.nmissing; i++)
    result_warn(&r->head, "The header %.80s is not here; it was taken as empty.",
                b->made.sources.missing[i]);
  if (q->no_checks)
    result_warn(&r->head, "Races and unwritten reads were not looked for.");
  else if (r->blocks > CHECK_ALL_BELOW)
    result_warn(&r->head,
                "Races and unwritten reads were looked for in some blocks only: there are more "
                "than %d.",
                CHECK_ALL_BELOW);
  if (run->print.len > 0)
    r->print = utf8_clean(run->print.data, run->print.len);
  if (run->print_cut)
    result_warn(&r->head, "The kernel printed more; only the first 64 KiB are here.");
  if (run->traced >= TRACE_MAX)
    result_warn(&r->head, "The trace is longer; only the first 64 MiB are here.");
}

static void check(struct xray_result *r, struct xray_case *c, const struct xray_data *d,
                  const struct xray_args *a) {
  bool sums = c->shape.op == OP_GEMM || c->shape.op == OP_GEMV || c->shape.op == OP_FMA;
  if (c->check && !a->uses[XRAY_ARGS_C])
    snprintf(c->reason, sizeof c->reason, "C was not checked: no parameter is C.");
  else if (c->check && !sums && (c->alpha != 1 || c->beta != 0))
    snprintf(c->reason, sizeof c->reason,
             "C was not checked: alpha and beta have a meaning for gemm and gemv only.");
  else if (c->check && c->beta != 0 && d->c.periodic)
    snprintf(c->reason, sizeof c->reason,
             "C was not checked: with beta, that needs a launch which is not sampled.");
  else if (c->check && c->several && r->sampled)
    snprintf(c->reason, sizeof c->reason,
             "C was not checked: with several launches, that needs all blocks.");
  else if (c->check && !r->finished)
    snprintf(c->reason, sizeof c->reason, "C was not checked: the launch did not end.");
  if (c->reason[0]) {
    result_warn(&r->head, "%s", c->reason);
    return;
  }
  r->verified = true;
  xray_verify(c, d, r->head.seed, r->sampled, &r->head.verify);
}

/* ---- the whole */

/* One launch, ready to run. */
struct pass {
  struct xray_case c; /* a copy of the job's */
  struct xray_build b;
  struct xray_args a;
  struct xray_shape s;
};

/* All that one x-ray holds. */
struct job {
  struct xray_case c;
  struct pass *pass; /* in the order of their launch */
  int n;
  struct pass *main; /* whose geometry, registers and text are shown */
  struct xray_data d;
  struct run run;
};

static bool prepare_pass(struct pass *p, struct job *j, struct device_fault *fault) {
  double start = clock_ms();
  bool ok = xray_build_make(&p->b, &p->c, fault);
  struct device_built built = {.compile_ms = clock_ms() - start,
                               .registers = p->b.code.registers,
                               .shared_bytes = p->b.code.shared_bytes,
                               .spill_bytes = p->b.code.spill_bytes,
                               .log = p->b.made.log,
                               .transfer_in_ms = NAN};
  if (p == j->main && (ok || (built.log && built.log[0])))
    j->run.sink->compiled(j->run.sink->ctx, &built);
  if (!ok || !xray_args_bind(&p->a, &p->c, p->b.module, p->b.symbol, &p->b.params, fault))
    return false;
  xray_case_rounding(&p->c, xray_coarse_of(p->b.module, p->b.symbol));
  return xray_shape_settle(&p->s, &p->c, &p->b, fault);
}

/* The time that is allowed begins here: large matrices take long to fill. */
static bool make_data(struct job *j, const struct xray_request *q, struct device_fault *fault) {
  deadline_ms = clock_ms() + 1000 * limit_s(q);
  late = false;
  xray_matrix_stopped(must_stop);
  bool ok =
      xray_data_make(&j->d, &j->main->c, &j->main->a, q->seed ? q->seed : 1, q->sample, fault);
  return must_stop() ? stopped_fault(q, fault) : ok;
}

static bool prepare(struct job *j, const struct xray_request *q, const struct kernel *rung,
                    struct device_fault *fault) {
  if (!xray_case_begin(&j->c, q, rung, fault))
    return false;
  j->n = j->c.several ? j->c.front->nlaunches : 1;
  j->pass = alloc_zero((size_t)j->n, sizeof *j->pass);
  j->main = &j->pass[j->c.several ? j->c.launch : 0];
  bool uses[XRAY_ARGS_ARRAYS] = {0}; /* of any launch */
  for (int i = 0; i < j->n; i++) {
    struct pass *p = &j->pass[i];
    p->c = j->c;
    if (j->c.several)
      p->c.launch = i;
    if (!prepare_pass(p, j, fault))
      return false;
    for (int a = 0; a < XRAY_ARGS_ARRAYS; a++)
      uses[a] = uses[a] || p->a.uses[a];
  }
  memcpy(j->main->a.uses, uses, sizeof uses);
  return make_data(j, q, fault);
}

/* Runs the launches until one does not end, and adds them up in *sum. False with a fault. */
static bool run_all(struct job *j, const struct xray_request *q, struct xray_report *sum,
                    struct device_fault *fault) {
  struct err err;
  struct xray_report other = {0};
  *sum = (struct xray_report){.finished = true};
  for (int i = 0; i < j->n && sum->finished; i++) {
    struct pass *p = &j->pass[i];
    struct xray_launch l = make_launch(q, &p->b, &p->s, &j->d, &p->a, &j->run);
    if (p->b.has_sass)
      l.sass = &p->b.sass;
    if (p != j->main)
      l.trace = NULL;
    if (!xray_run(p->b.module, &l, &other, &err)) {
      xray_report_done(sum);
      wire_fault_set(fault, "launch", err.text, "", "");
      return false;
    }
    xray_sum_add(sum, &other);
    if (p == j->main)
      sum->blocks_executed = other.blocks_executed;
    xray_report_done(&other);
    for (int a = 0; a < XRAY_ARGS_ARRAYS; a++) /* the next launch finds what this one left */
      j->d.arrays[a].written = true;
  }
  return true;
}

static void tell_launches(const struct job *j, struct xray_result *out) {
  struct str list = {0};
  for (int i = 0; i < j->n; i++) {
    const struct xray_shape *s = &j->pass[i].s;
    str_addf(&list, "%s%.40s %lld", i ? ", " : "", j->pass[i].b.entry, (long long)block_count(s));
  }
  result_warn(
      &out->head,
      "Counts are of %d launches (blocks: %.120s); the rest, such as registers, is of %.40s.", j->n,
      list.data, j->main->b.entry);
  str_free(&list);
}

/* What the machine code of all launches holds. */
static void sum_sass(struct job *j) {
  for (int i = 0; i < j->n; i++) {
    struct pass *p = &j->pass[i];
    if (p == j->main)
      continue;
    xray_sum_mix(&j->main->b.sass, &p->b.sass);
    j->main->b.has_sass = j->main->b.has_sass && p->b.has_sass;
    j->main->b.made.ms += p->b.made.ms;
  }
}

static void fill(struct job *j, const struct xray_request *q, const struct xray_report *rep,
                 struct xray_result *out) {
  struct pass *p = j->main;
  sum_sass(j);
  fill_head(&out->head, &p->c, &p->b);
  fill_run(out, &p->c, &p->b, &p->s, &p->a, rep);
  fill_code(out, &p->b, &p->s, rep);
  out->compile_ms = p->b.made.ptx ? p->b.made.ms : NAN;
  xray_lines_fill(out, &p->b, rep);
  fill_text(out, &j->run, &p->b, q);
  if (j->n > 1)
    tell_launches(j, out);
}

static bool launch(struct job *j, const struct xray_request *q, struct xray_result *out,
                   struct device_fault *fault) {
  struct xray_report rep;
  double start = clock_ms();
  if (!run_all(j, q, &rep, fault))
    return false;
  double ms = clock_ms() - start;
  send_trace(&j->run);
  bool stopped = !rep.finished && must_stop();
  if (stopped && (!late || rep.nproblems == 0)) {
    xray_report_done(&rep);
    return stopped_fault(q, fault);
  }
  fill(j, q, &rep, out);
  out->run_ms = ms;
  if (stopped)
    result_warn(&out->head, "The launch was stopped after %g s; it was not done.", limit_s(q));
  check(out, &j->main->c, &j->d, &j->main->a);
  xray_report_done(&rep);
  return true;
}

bool xray_job_run(const struct xray_request *q, const struct kernel *rung,
                  const struct xray_job_sink *sink, struct xray_result *out,
                  struct device_fault *fault) {
  struct job *j = alloc_zero(1, sizeof *j);
  j->run.sink = sink;
  ask_stopped = sink->stopped;
  xray_result_init(out);
  *fault = (struct device_fault){0};
  bool ok = prepare(j, q, rung, fault) && launch(j, q, out, fault);
  xray_data_done(&j->d);
  for (int i = 0; i < j->n; i++)
    xray_build_done(&j->pass[i].b);
  free(j->pass);
  xray_case_done(&j->c);
  str_free(&j->run.print);
  str_free(&j->run.trace);
  free(j);
  return ok;
}
