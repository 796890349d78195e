#include "bench/measure.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/str.h"
#include "bench/roofs.h"
#include "bench/verify.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The protocol's numbers (docs/contracts.md 6). */
#define SAMPLE_MS 20.0
#define WINDOW_MS 50.0
#define AGREE 0.01
#define SPREAD_MARK 0.05
#define SHORT_MS 0.05
#define BEYOND_CACHE 4.0 /* working sets above so many caches live in memory */
#define STANDSTILL_MS 2000.0
#define TIMER_SLACK 1.02 /* above a theoretical peak by less than this is the timer's error */
enum { SAMPLES_MIN = 7, SAMPLES_MIN_LONG = 3, SAMPLES_MAX = 20000, BATCH_MAX = 100000 };

struct run {
  const struct device_ops *ops;
  device *d;
  const struct device_job *job;
  const struct measure_plan *plan;
  const struct measure_sink *sink;
  struct result *r;
  struct device_fault *fault;
  verify *check;
  bool reference; /* the other arm exists */
  double t1, t1_reference;
  int batch, batch_reference;
  double *ratio, *reference_ms;
  int nratio, nreference;
};

static bool fail(struct device_fault *f, const char *code, const char *what, const char *why,
                 const char *next) {
  memset(f, 0, sizeof *f);
  snprintf(f->code, sizeof f->code, "%s", code);
  snprintf(f->what, sizeof f->what, "%s", what);
  snprintf(f->why, sizeof f->why, "%s", why);
  snprintf(f->next, sizeof f->next, "%s", next);
  return false;
}

/* ---- head */

static void fill_head(struct run *m) {
  const struct device_job *job = m->job;
  const struct kernel *k = job->kernel;
  struct result *r = m->r;
  result_init(r);
  snprintf(r->kernel, sizeof r->kernel, "%s", k->id);
  for (int i = 0; i < k->nparams; i++) {
    snprintf(r->params[i].name, sizeof r->params[i].name, "%s", k->params[i].name);
    r->params[i].value = job->size.param[i];
  }
  r->nparams = k->nparams;
  r->M = job->size.M;
  r->N = job->size.N;
  r->K = job->size.K;
  r->flop = kernel_flop(k, &job->size);
  r->requested = kernel_requested(k, &job->size);
  r->dram_min = kernel_dram_min(k, &job->size);
  r->seed = job->seed;
  r->prediction = m->plan->prediction;
  snprintf(r->cache, sizeof r->cache, "%s", m->plan->cold ? "cold" : "hot");
  snprintf(r->version, sizeof r->version, "%s", MMTUTOR_VERSION);
  snprintf(r->kernel_sha256, sizeof r->kernel_sha256, "%s", k->sha256);
  clock_iso(r->date, sizeof r->date);
}

/* ---- the small odd shape */

static int64_t odd_multiple(int64_t step, int64_t base) {
  int64_t n = base / step;
  return step * (n < 1 ? 1 : n % 2 ? n : n - 1);
}

/* Sizes that are multiples of their steps (powers of two) and of no larger one. */
static struct kernel_size odd_size(const struct device_job *job, int64_t sm, int64_t sn,
                                   int64_t sk) {
  struct kernel_size size = job->size;
  enum kernel_op op = job->kernel->op;
  size.M = sm <= 8 ? odd_multiple(sm, 37 + sm / 2) : 3 * sm;
  size.N = sn <= 8 ? odd_multiple(sn, 53 + sn / 2) : 5 * sn;
  size.K = sk <= 8 ? odd_multiple(sk, 29) : sk;
  if (op != OP_GEMM && op != OP_GEMV)
    size.K = job->size.K;
  if (op == OP_GEMV)
    size.N = job->size.N;
  return size;
}

/* The smallest such shape that the kernel takes. False if there is none. */
static bool find_odd_size(const struct device_job *job, struct kernel_size *out) {
  for (int64_t most = 1; most <= 512; most *= 2)
    for (int64_t sm = 1; sm <= most; sm *= 2)
      for (int64_t sn = 1; sn <= most; sn *= 2)
        for (int64_t sk = 1; sk <= most; sk *= 2) {
          if (sm != most && sn != most && sk != most)
            continue;
          *out = odd_size(job, sm, sn, sk);
          if (out->M != out->N && out->N != out->K && out->M != out->K &&
              kernel_accepts(job->kernel, out, NULL))
            return true;
        }
  return false;
}

/* The runs whose small shape was right, so that it is checked once in a process. */
static char (*known)[65];
static int nknown;

static void run_key(const struct run *m, char key[65]) {
  struct str s = {0};
  struct device_info info;
  m->ops->describe(m->d, &info);
  str_addf(&s, "%s %s %s %s %d %d", m->job->kernel->id, m->job->kernel->sha256, info.id,
           info.compiler, (int)m->job->isa, m->job->isa_auto);
  for (int i = 0; i < m->job->kernel->nparams; i++)
    str_addf(&s, " %.17g", m->job->size.param[i]);
  hash_sha256(s.data, s.len, key);
  str_free(&s);
}

static bool is_known(const char *key) {
  for (int i = 0; i < nknown; i++)
    if (!strcmp(known[i], key))
      return true;
  return false;
}

static void remember(const char *key) {
  known = alloc_grow(known, (size_t)nknown + 1, sizeof *known);
  memcpy(known[nknown++], key, sizeof *known);
}

void measure_forget(void) {
  free(known);
  known = NULL;
  nknown = 0;
}

/* ---- steps */

static void tell_compile(struct run *m, const struct device_built *built) {
  if (m->sink && m->sink->compile)
    m->sink->compile(m->sink->ctx, built);
}

static void tell_verify(struct run *m) {
  if (m->sink && m->sink->verify)
    m->sink->verify(m->sink->ctx, &m->r->verify);
}

static bool prepare(struct run *m, const struct device_job *job, bool tell, double *in_ms) {
  struct device_built built = {.registers = -1, .shared_bytes = -1, .spill_bytes = -1};
  built.transfer_in_ms = NAN;
  bool ok = m->ops->prepare(m->d, job, &built, m->fault);
  if (tell && (ok || built.log))
    tell_compile(m, &built);
  free(built.log);
  *in_ms = built.transfer_in_ms;
  return ok;
}

/* Poison, one launch, verification. False with the fault; a wrong C is in r->verify. */
static bool launch_and_check(struct run *m, double *ms) {
  return m->ops->poison(m->d, m->fault) &&
         m->ops->launch(m->d, ARM_KERNEL, 1, ms, m->fault) &&
         verify_check(m->check, m->ops, m->d, &m->r->verify, &m->r->transfer_out_ms, m->fault);
}

static bool new_check(struct run *m, const struct device_job *job) {
  struct err why = {""};
  verify_free(m->check);
  m->check = verify_new(job, &why);
  if (!m->check)
    return fail(m->fault, "verify", "The result cannot be checked, so it is not measured.",
                why.text, "Choose a smaller size or another kernel.");
  return true;
}

static void prefix_note(struct result_verify *v, const char *prefix) {
  char *note = alloc_printf("%s: %s", prefix, v->note);
  snprintf(v->note, sizeof v->note, "%s", note);
  free(note);
}

/* Checks the small odd shape unless that was done. False with the fault; *right says whether C was.
 */
static bool check_odd_size(struct run *m, bool *told, bool *right) {
  char key[65], prefix[64];
  struct device_job job = *m->job;
  double in_ms, ms;
  *right = true;
  *told = false;
  run_key(m, key);
  if (is_known(key))
    return true;
  if (!find_odd_size(m->job, &job.size)) {
    result_warn(m->r, "No small shape with M, N and K all different fits what %s requires; "
                      "only the size asked for is checked.", m->job->kernel->id);
    return true;
  }
  job.reference = false;
  *told = true;
  if (!prepare(m, &job, true, &in_ms) || !new_check(m, &job) || !launch_and_check(m, &ms))
    return false;
  *right = m->r->verify.ok;
  if (*right) {
    remember(key);
    return true;
  }
  snprintf(prefix, sizeof prefix, "at M %lld, N %lld, K %lld", (long long)job.size.M,
           (long long)job.size.N, (long long)job.size.K);
  prefix_note(&m->r->verify, prefix);
  return true;
}

static void find_reference(struct run *m) {
  struct err why = {""};
  if (!m->job->reference)
    return;
  m->reference = m->ops->reference(m->d, m->r->reference.name, m->r->reference.version, &why);
  if (m->reference)
    return;
  m->r->reference.name[0] = m->r->reference.version[0] = 0;
  enum kernel_op op = m->job->kernel->op;
  if (op == OP_GEMM || op == OP_GEMV || op == OP_COPY) /* no library has the others */
    result_warn(m->r, "No reference: %s", why.text);
}

static int batch_of(double t1) {
  double n = ceil(SAMPLE_MS / t1);
  return n < 1 ? 1 : n < BATCH_MAX ? (int)n : BATCH_MAX; /* t1 = 0 gives the most */
}

/* Time of one launch of a batch. */
static bool batch(struct run *m, enum device_arm arm, double *ms) {
  int n = arm == ARM_KERNEL ? m->batch : m->batch_reference;
  if (!m->ops->launch(m->d, arm, n, ms, m->fault))
    return false;
  *ms /= n;
  return true;
}

/* Runs the kernel in windows of 50 ms until three agree, and settles the batches. */
static bool warm_up(struct run *m) {
  double total = 0, last[3] = {0};
  m->batch = batch_of(m->t1);
  for (int windows = 0; windows < 1000; windows++) {
    double spent = 0, ms;
    int launches = 0;
    do {
      if (!batch(m, ARM_KERNEL, &ms))
        return false;
      spent += ms * m->batch;
      launches += m->batch;
    } while (spent < WINDOW_MS && launches < BATCH_MAX);
    m->t1 = spent / launches;
    m->batch = batch_of(m->t1);
    last[windows % 3] = m->t1;
    double low = fmin(last[0], fmin(last[1], last[2]));
    double high = fmax(last[0], fmax(last[1], last[2]));
    total += spent;
    if ((windows >= 2 && high - low <= AGREE * low) || total >= m->plan->warmup_s * 1e3)
      break;
  }
  if (!m->reference)
    return true;
  /* The first launch may pick its algorithm; the second one tells the time. */
  m->batch_reference = 1;
  for (int i = 0; i < 2; i++)
    if (!batch(m, ARM_REFERENCE, &m->t1_reference))
      return false;
  m->batch_reference = batch_of(m->t1_reference);
  return true;
}

/* ---- samples */

static bool sample_kernel(struct run *m, double *spent, double *sum) {
  double ms;
  if (!batch(m, ARM_KERNEL, &ms))
    return false;
  struct result *r = m->r;
  if ((r->nsamples & (r->nsamples - 1)) == 0) /* room doubles at powers of two */
    r->samples_ms = alloc_grow(r->samples_ms, 2 * (size_t)r->nsamples + 1, sizeof *r->samples_ms);
  r->samples_ms[r->nsamples++] = ms;
  *spent += ms * m->batch;
  *sum += ms;
  if (m->sink && m->sink->sample)
    m->sink->sample(m->sink->ctx, &ms, 1);
  return true;
}

static bool sample_reference(struct run *m, double *spent, double *sum) {
  double ms;
  if (!batch(m, ARM_REFERENCE, &ms))
    return false;
  m->reference_ms =
      alloc_grow(m->reference_ms, (size_t)m->nreference + 1, sizeof *m->reference_ms);
  m->reference_ms[m->nreference++] = ms;
  *spent += ms * m->batch_reference;
  *sum += ms;
  return true;
}

/* One sample, or A B B A. In the last round C is poisoned before the last A, so that what is
 * verified afterwards was written by the last sample and by nothing else. */
static bool sample_round(struct run *m, bool last, double *spent) {
  double a = 0, b = 0;
  if (m->reference && (!sample_kernel(m, spent, &a) || !sample_reference(m, spent, &b) ||
                       !sample_reference(m, spent, &b)))
    return false;
  if (last && !m->ops->poison(m->d, m->fault))
    return false;
  if (!sample_kernel(m, spent, &a))
    return false;
  if (m->reference) {
    m->ratio = alloc_grow(m->ratio, (size_t)m->nratio + 1, sizeof *m->ratio);
    m->ratio[m->nratio++] = b / a;
  }
  return true;
}

static bool sample_all(struct run *m) {
  double spent = 0, budget = m->plan->seconds * 1e3;
  double round = m->t1 * m->batch;
  int step = m->reference ? 2 : 1;
  bool last = false;
  /* A device whose clock stands still must not keep us here. */
  double deadline = clock_ms() + 3 * budget + STANDSTILL_MS;
  if (m->reference)
    round = 2 * (round + m->t1_reference * m->batch_reference);
  /* Where one launch is longer than a sample and seven do not fit, three must do. */
  bool is_long = m->batch == 1 && SAMPLES_MIN * m->t1 > budget;
  int need = is_long ? SAMPLES_MIN_LONG : SAMPLES_MIN;
  m->r->launches_per_sample = m->batch;
  while (!last) {
    int n = m->r->nsamples + step;
    bool late = n >= SAMPLES_MAX || clock_ms() > deadline;
    last = n >= need && (late || spent + round >= budget);
    if (!sample_round(m, last, &spent))
      return false;
  }
  return true;
}

/* ---- conclusions */

/* A result that may not be shown keeps its verification and nothing that was measured. */
static void withhold(struct result *r) {
  free(r->samples_ms);
  r->samples_ms = NULL;
  r->nsamples = r->launches_per_sample = 0;
  r->median_ms = r->p10_ms = r->p90_ms = r->overhead_ms = r->gflops = r->gbs = NAN;
  r->reference.median_ms = r->reference.gflops = r->reference.ratio = NAN;
  r->roof.name[0] = 0;
}

static void conclude_reference(struct run *m) {
  if (!m->reference)
    return;
  double median = result_quantile(m->reference_ms, m->nreference, 0.5);
  m->r->reference.median_ms = median;
  if (median > 0 && m->r->flop > 0)
    m->r->reference.gflops = m->r->flop / median / 1e6;
  m->r->reference.ratio = result_quantile(m->ratio, m->nratio, 0.5);
}

static double working_set(const struct device_job *job) {
  const struct kernel *k = job->kernel;
  double a, b, c;
  kernel_elements(k, &job->size, &a, &b, &c);
  return a * (double)kernel_dtype_size(k->a) + b * (double)kernel_dtype_size(k->b) +
         c * (double)kernel_dtype_size(k->c);
}

static bool in_memory(const struct run *m) {
  return working_set(m->job) > BEYOND_CACHE * m->r->device.l2_bytes; /* false where unknown */
}

static bool is_fp32(const struct kernel *k) {
  return k->a == DT_F32 && k->b == DT_F32 && k->acc == DT_F32;
}

static void impossible(struct run *m, const char *what, double ours, double peak,
                       const char *unit) {
  struct result *r = m->r;
  snprintf(r->verify.note, sizeof r->verify.note,
           "impossible: %.4g %s is above the theoretical peak of %.4g; check the timer and C",
           ours, unit, peak);
  result_warn(r, "impossible: %.4g %s, but the theoretical %s peak is %.4g. The result is "
                 "withheld; check the timer and the result.", ours, unit, what, peak);
  r->verify.ok = false;
  withhold(r);
}

/* No CPU core does more than two FMAs on 16 floats a clock. The clock may be higher in the run than
 * it was when it was measured. INFINITY for other devices. */
static double core_limit(const struct result *r) {
  bool cpu = !strcmp(r->device.id, "cpu") && r->device.threads > 0 && r->device.clock_hz > 0;
  return cpu ? 1.3 * 64 * r->device.threads * r->device.clock_hz : INFINITY;
}

/* Faster than the hardware can be at its highest clock: the result is withheld. */
static void trip(struct run *m) {
  struct result *r = m->r;
  double flops = r->gflops * 1e9, bytes = r->gbs * 1e9, peak = r->device.peak_fp32;
  if (!(r->median_ms > 0)) {
    snprintf(r->verify.note, sizeof r->verify.note, "impossible: no time passed; check the timer");
    result_warn(r, "impossible: the clock says that no time passed. The result is withheld.");
    r->verify.ok = false;
    withhold(r);
  } else if (flops > core_limit(r)) {
    impossible(m, "FP32", flops / 1e12, core_limit(r) / 1e12, "TFLOP/s");
  } else if (is_fp32(m->job->kernel) && flops > TIMER_SLACK * peak) {
    impossible(m, "FP32", flops / 1e12, peak / 1e12, "TFLOP/s");
  } else if (in_memory(m) && bytes > TIMER_SLACK * r->device.peak_dram) {
    impossible(m, "memory", bytes / 1e9, r->device.peak_dram / 1e9, "GB/s");
  } else {
    double seen = peak * r->clock_mhz * 1e6 / r->device.clock_hz;
    if (is_fp32(m->job->kernel) && flops > TIMER_SLACK * seen)
      result_warn(r, "Above the theoretical peak at the clock that was seen, %.0f MHz: the clock "
                     "was read between launches.", r->clock_mhz);
  }
}

/* The share of the measured roof; a verified run that is faster raises it. */
static void compare_with_roof(struct run *m) {
  struct result *r = m->r;
  struct roofs roofs;
  enum kernel_op op = m->job->kernel->op;
  bool compute = op == OP_GEMM || op == OP_FMA;
  double ours = (compute ? r->gflops : r->gbs) * 1e9;
  if (!is_fp32(m->job->kernel) || !isfinite(ours) || !roofs_load(r->device.id, &roofs))
    return;
  const struct roof *found = roofs_find(&roofs, compute ? "fma" : "dram");
  /* A roof of one thread is none for two, and another card's is none for this one. */
  if (!found || !(found->value > 0) || roofs.device.threads != r->device.threads ||
      strcmp(roofs.device.name, r->device.name) != 0)
    return;
  struct roof *roof = &roofs.roof[found - roofs.roof];
  if (ours > roof->value && !compute && !in_memory(m)) {
    result_warn(r, "Above the DRAM roof because the data fits in the cache.");
  } else if (ours > roof->value) {
    result_warn(r, "Above the measured roof of %.4g G%s: roof raised.", roof->value / 1e9,
                roof->unit);
    roof->value = ours;
    roofs_save(&roofs);
  }
  snprintf(r->roof.name, sizeof r->roof.name, "%s", roof->label);
  snprintf(r->roof.unit, sizeof r->roof.unit, "%s", roof->unit);
  r->roof.value = roof->value;
  r->roof.share = ours / roof->value;
}

static bool verify_again(struct run *m) {
  double out_ms;
  if (!verify_check(m->check, m->ops, m->d, &m->r->verify, &out_ms, m->fault))
    return false;
  if (!m->r->verify.ok)
    prefix_note(&m->r->verify, "after the last sample");
  tell_verify(m);
  return true;
}

static bool sample_and_conclude(struct run *m) {
  struct result *r = m->r;
  if (!warm_up(m) || !sample_all(m))
    return false;
  m->ops->health(m->d, &r->clock_mhz, &r->power_w, &r->throttled);
  if (!verify_again(m))
    return false;
  if (!r->verify.ok) {
    withhold(r);
    return true;
  }
  result_statistics(r);
  conclude_reference(m);
  if (r->median_ms < SHORT_MS)
    r->overhead_ms = m->ops->overhead(m->d);
  trip(m);
  if (!r->verify.ok)
    return true;
  compare_with_roof(m);
  if (result_spread(r) > SPREAD_MARK)
    result_warn(r, "The samples spread by %.1f %% of the median (p10 to p90).",
                100 * result_spread(r));
  if (r->throttled == 1)
    result_warn(r, "The device lowered its clock during the run (power or heat).");
  return true;
}

static bool measure(struct run *m) {
  bool told, right;
  if (m->plan->cold)
    return fail(m->fault, "cold", "Cold runs are not there yet.",
                "They need rotated copies of the matrices, which no device makes today.",
                "Leave the cache hot.");
  if (!check_odd_size(m, &told, &right))
    return false;
  if (!right) {
    m->ops->describe(m->d, &m->r->device);
    tell_verify(m);
    return true;
  }
  if (!prepare(m, m->job, !told, &m->r->transfer_in_ms) || !new_check(m, m->job))
    return false;
  m->ops->describe(m->d, &m->r->device);
  if (!launch_and_check(m, &m->t1))
    return false;
  tell_verify(m);
  if (!m->r->verify.ok)
    return true;
  find_reference(m);
  return sample_and_conclude(m);
}

bool measure_run(const struct device_ops *ops, device *d, const struct device_job *job,
                 const struct measure_plan *plan, const struct measure_sink *sink,
                 struct result *r, struct device_fault *fault) {
  struct run m = {.ops = ops, .d = d, .job = job, .plan = plan, .sink = sink, .r = r};
  m.fault = fault;
  memset(fault, 0, sizeof *fault);
  fill_head(&m);
  bool ok = measure(&m);
  verify_free(m.check);
  free(m.ratio);
  free(m.reference_ms);
  if (!ok)
    result_done(r);
  return ok;
}
