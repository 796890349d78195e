#include "bench/dev_cpu.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/rand.h"
#include "bench/cpu_build.h"
#include "bench/exact.h"
#include "bench/host.h"
#include "bench/pool.h"
#include "bench/ref_cblas.h"
#include "bench/result.h"
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define ARM_PAUSE_NS 50000000L
enum { FILL_STRETCH = 1 << 16 };

/* Pages of their own with a page behind them that cannot be touched; the rest of the last page is
 * filled with NaN, so that reading past the end shows and writing there is found. */
struct matrix {
  float *data;
  size_t n, mapped; /* elements; bytes with the guard */
};

struct device {
  struct device_info info;
  struct device_job job;
  struct matrix a, b, c, ref, w;
  struct cpu_build build;
  catalog_entry entry;
  struct mm_args args;
  int last_arm;
#ifdef __linux__
  cpu_set_t mask, one; /* what the process may use, and one CPU of it */
#endif
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

/* ---- instruction sets */

bool dev_cpu_has(enum catalog_isa isa) {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init(); /* looks at what the system saves too, not only at CPUID */
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  if (isa == ISA_AVX2)
    return avx2;
  if (isa == ISA_AVX512)
    return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#endif
  return isa == ISA_PLAIN;
}

enum catalog_isa dev_cpu_best(void) {
  return dev_cpu_has(ISA_AVX512) ? ISA_AVX512 : dev_cpu_has(ISA_AVX2) ? ISA_AVX2 : ISA_PLAIN;
}

/* The level that the kernel's own list asks for at least. */
static enum catalog_isa level_needed(const struct kernel *k) {
  enum catalog_isa need = ISA_PLAIN;
  for (int i = 0; i < k->nisa; i++) {
    if (!strncmp(k->isa[i], "avx512", 6))
      return ISA_AVX512;
    if (!strcmp(k->isa[i], "avx2") || !strcmp(k->isa[i], "fma"))
      need = ISA_AVX2;
  }
  return need;
}

static bool choose_level(const struct device_job *job, enum catalog_isa *isa,
                         struct device_fault *fault) {
  enum catalog_isa need = level_needed(job->kernel);
  char why[256];
  *isa = job->isa_auto ? dev_cpu_best() : job->isa;
  if (!dev_cpu_has(*isa) || *isa < need) {
    const char *name = catalog_isa_name(*isa < need ? need : *isa);
    if (!dev_cpu_has(*isa < need ? need : *isa))
      snprintf(why, sizeof why, "This CPU, or its system, does not run %s code.", name);
    else
      snprintf(why, sizeof why, "%s needs %s, and %s was asked for.", job->kernel->id, name,
               catalog_isa_name(*isa));
    return fail(fault, "isa", "The kernel cannot run at this instruction set.", why,
                "Leave --isa out to take the best that is there.");
  }
  return true;
}

/* ---- affinity */

#ifdef __linux__
static void choose_cpu(device *d) {
  int here = sched_getcpu();
  size_t cpu = here < 0 ? 0 : (size_t)here;
  CPU_ZERO(&d->one);
  for (size_t i = 0; i < CPU_SETSIZE && !CPU_ISSET(cpu, &d->mask); i++)
    cpu = i;
  CPU_SET(cpu, &d->one);
}
static void pin(device *d) {
  if (d->info.threads == 1)
    sched_setaffinity(0, sizeof d->one, &d->one);
}
static void unpin(device *d) { sched_setaffinity(0, sizeof d->mask, &d->mask); }
#else
static void choose_cpu(device *d) { (void)d; }
static void pin(device *d) { (void)d; }
static void unpin(device *d) { (void)d; }
#endif

/* ---- memory */

static void release(struct matrix *m) {
  if (m->data)
    munmap(m->data, m->mapped);
  *m = (struct matrix){0};
}

/* First touch: the pages belong to the CPU that writes here. */
static void poison_slack(struct matrix *m) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  memset(m->data + m->n, 0xff, m->mapped - page - m->n * sizeof(float));
}

static bool slack_is_whole(const struct matrix *m) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const unsigned char *p = (const unsigned char *)(m->data + m->n);
  const unsigned char *end = (const unsigned char *)m->data + m->mapped - page;
  while (p < end)
    if (*p++ != 0xff)
      return false;
  return true;
}

static bool reserve(struct matrix *m, double elements) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  if (!(elements < 1e15))
    return false;
  m->n = (size_t)elements;
  m->mapped = (m->n * sizeof(float) + page - 1) / page * page + page;
  void *p = mmap(NULL, m->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) {
    *m = (struct matrix){0};
    return false;
  }
  m->data = p;
  if (mprotect((char *)p + m->mapped - page, page, PROT_NONE))
    return false;
  poison_slack(m);
  return true;
}

static bool no_memory(struct device_fault *fault, double need, double avail) {
  char why[256], a[32], b[32];
  if (isfinite(avail))
    snprintf(why, sizeof why, "The run needs %s of host memory (%.0f bytes), %s are free.",
             host_gib(need, a), need, host_gib(avail, b));
  else
    snprintf(why, sizeof why, "The run needs %s of host memory (%.0f bytes).", host_gib(need, a),
             need);
  return fail(fault, "out_of_memory", "The matrices do not fit in memory.", why,
              "Choose smaller sizes.");
}

static bool workspace_bytes(const struct device_job *job, double *bytes, struct device_fault *f) {
  struct kernel_scope scope = {job->kernel, &job->size, NAN, NAN};
  struct err err = {""};
  *bytes = 0;
  if (!job->kernel->workspace ||
      expr_eval(job->kernel->workspace, kernel_lookup, &scope, bytes, &err))
    return true;
  return fail(f, "kernel", "The kernel's workspace is not known.", err.text,
              "Correct its front matter.");
}

static bool has_reference(enum kernel_op op) {
  return op == OP_GEMM || op == OP_GEMV || op == OP_COPY;
}

static bool allocate(device *d, struct device_fault *fault) {
  const struct device_job *job = &d->job;
  double a, b, c, w;
  kernel_elements(job->kernel, &job->size, &a, &b, &c);
  if (!workspace_bytes(job, &w, fault))
    return false;
  double ref = job->reference && has_reference(job->kernel->op) ? c : 0;
  double need = 4 * (a + b + c + ref) + w, avail = host_memory_free();
  if (need > avail)
    return no_memory(fault, need, avail);
  if (reserve(&d->a, a) && reserve(&d->b, b) && reserve(&d->c, c) &&
      (ref <= 0 || reserve(&d->ref, ref)) && (w <= 0 || reserve(&d->w, ceil(w / 4))))
    return true;
  return no_memory(fault, need, avail);
}

struct fill {
  struct matrix *m;
  uint64_t stream;
};

static void fill_stretch(void *ctx, int64_t i, int worker) {
  const struct fill *f = ctx;
  (void)worker;
  size_t at = (size_t)i * FILL_STRETCH, n = f->m->n - at;
  rand_fill(f->stream, at, n < FILL_STRETCH ? n : FILL_STRETCH, f->m->data + at);
}

/* Each page is first touched by the threads that will use it: one, or all. */
static void fill(device *d, struct matrix *m, uint64_t stream) {
  struct fill f = {m, stream};
  int64_t n = (int64_t)((m->n + FILL_STRETCH - 1) / FILL_STRETCH);
  if (d->info.threads > 1)
    pool_run(n, fill_stretch, &f);
  else
    for (int64_t i = 0; i < n; i++)
      fill_stretch(&f, i, 0);
}

/* ---- the table */

void device_cpu_glance(struct device_info *info) {
  static double clock_hz;
  if (clock_hz <= 0) /* once; NAN stays */
    clock_hz = host_clock_hz();
  result_device_init(info);
  snprintf(info->id, sizeof info->id, "cpu");
  host_cpu_name(info->name, sizeof info->name);
#if defined(__clang__)
  snprintf(info->compiler, sizeof info->compiler, "clang %d.%d.%d", __clang_major__,
           __clang_minor__, __clang_patchlevel__);
#else
  snprintf(info->compiler, sizeof info->compiler, "gcc %d.%d.%d", __GNUC__, __GNUC_MINOR__,
           __GNUC_PATCHLEVEL__);
#endif
  snprintf(info->isa, sizeof info->isa, "%s", catalog_isa_name(dev_cpu_best()));
  info->threads = host_threads();
  info->clock_hz = clock_hz;
  info->l2_bytes = host_cache_bytes();
  long pages = sysconf(_SC_PHYS_PAGES);
  if (pages > 0)
    info->memory_bytes = (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static device *cpu_open(int index, struct device_fault *fault) {
  if (index != 0) {
    fail(fault, "no_device", "There is one CPU device only.", "Its id is cpu.",
         "Use --device cpu.");
    return NULL;
  }
  device *d = alloc_zero(1, sizeof *d);
#ifdef __linux__
  sched_getaffinity(0, sizeof d->mask, &d->mask);
#endif
  device_cpu_glance(&d->info);
  return d;
}

static void cpu_describe(device *d, struct device_info *info) { *info = d->info; }

static void drop_job(device *d) {
  release(&d->a);
  release(&d->b);
  release(&d->c);
  release(&d->ref);
  release(&d->w);
  cpu_build_unload(&d->build);
  d->entry = NULL;
}

/* Takes the compiled rung, or compiles the file. */
static bool find_entry(device *d, enum catalog_isa isa, struct device_built *built,
                       struct device_fault *fault) {
  const struct kernel *k = d->job.kernel;
  const struct catalog_cpu *known = k->builtin ? catalog_cpu_find(k->id) : NULL;
  built->cached = known && known->entry[isa];
  if (built->cached) {
    d->entry = known->entry[isa];
    return true;
  }
  bool ok = cpu_build_load(k, isa, &d->build, fault);
  built->compile_ms = d->build.ms;
  built->log = d->build.log;
  d->build.log = NULL;
  if (built->log && !*built->log) {
    free(built->log);
    built->log = NULL;
  }
  snprintf(d->info.compiler, sizeof d->info.compiler, "%s", "cc -O3, at run time");
  d->entry = d->build.entry;
  return ok;
}

static void fill_args(device *d) {
  const struct kernel_size *s = &d->job.size;
  enum kernel_op op = d->job.kernel->op;
  struct mm_args *a = &d->args;
  memset(a, 0, sizeof *a);
  a->A = d->a.data;
  a->B = d->b.data;
  a->C = d->c.data;
  a->W = d->w.data;
  a->M = s->M;
  a->N = s->N;
  a->K = s->K;
  bool product = op == OP_GEMM || op == OP_GEMV;
  a->lda = product ? s->K : s->N;
  a->ldb = op == OP_GEMV ? 1 : s->N;
  a->ldc = op == OP_GEMV ? 1 : op == OP_TRANSPOSE ? s->M : s->N;
  a->alpha = 1;
  a->beta = 0;
  for (int i = 0; i < d->job.kernel->nparams; i++)
    a->param[i] = (int64_t)s->param[i];
  a->threads = d->info.threads;
}

static bool runs_here(const struct kernel *k, const struct kernel_size *size,
                      struct device_fault *fault) {
  struct err err = {""};
  if (k->target != KERNEL_CPU)
    return fail(fault, "kernel", "This kernel does not run on the CPU.",
                "It is written in CUDA.", "Choose a cpu/ kernel, or a CUDA device.");
  if (k->a != DT_F32 || k->b != DT_F32 || k->c != DT_F32 || k->a_col || k->b_col || k->c_col)
    return fail(fault, "kernel", "This kernel's matrices are not there on the CPU.",
                "CPU rungs take row-major f32 matrices.", "Correct its front matter.");
  if (!kernel_accepts(k, size, &err))
    return fail(fault, "size", "The kernel does not take these sizes.", err.text,
                "Choose sizes that it takes.");
  return true;
}

static bool cpu_prepare(device *d, const struct device_job *job, struct device_built *built,
                        struct device_fault *fault) {
  enum catalog_isa isa;
  drop_job(d);
  *built = (struct device_built){.registers = -1, .shared_bytes = -1, .spill_bytes = -1};
  built->transfer_in_ms = NAN;
  if (!runs_here(job->kernel, &job->size, fault) || !choose_level(job, &isa, fault))
    return false;
  device_cpu_glance(&d->info);
  d->job = *job;
  snprintf(d->info.isa, sizeof d->info.isa, "%s", catalog_isa_name(isa));
  if (job->threads > 0 && job->threads < d->info.threads)
    d->info.threads = job->threads;
  if (!job->kernel->parallel)
    d->info.threads = 1;
  choose_cpu(d);
  if (!find_entry(d, isa, built, fault) || !allocate(d, fault))
    return false;
  pin(d);
  fill(d, &d->a, 2 * job->seed);
  fill(d, &d->b, 2 * job->seed + 1);
  memset(d->c.data, 0xff, d->c.n * sizeof *d->c.data);
  unpin(d);
  fill_args(d);
  d->last_arm = -1;
  return true;
}

static bool cpu_poison(device *d, struct device_fault *fault) {
  (void)fault;
  pin(d);
  memset(d->c.data, 0xff, d->c.n * sizeof *d->c.data);
  unpin(d);
  return true;
}

static bool run_kernel(device *d, int n, struct device_fault *fault) {
  int rc = MM_OK;
  for (int i = 0; i < n && rc == MM_OK; i++)
    rc = d->entry(&d->args);
  if (rc == MM_OK)
    return true;
  char why[64];
  snprintf(why, sizeof why, "It returned %d.", rc);
  return fail(fault, rc == MM_NO_MEMORY ? "out_of_memory" : "launch", "The kernel gave up.",
              rc == MM_NO_MEMORY    ? "It got no memory for its buffers."
              : rc == MM_NO_THREADS ? "It could not start its threads."
                                    : why,
              "Choose smaller sizes or fewer threads.");
}

static void run_reference(device *d, int n) {
  const struct mm_args *a = &d->args;
  for (int i = 0; i < n; i++) {
    if (d->job.kernel->op == OP_GEMM)
      ref_cblas_gemm(a->M, a->N, a->K, a->A, a->B, d->ref.data);
    else if (d->job.kernel->op == OP_GEMV)
      ref_cblas_gemv(a->M, a->K, a->A, a->B, d->ref.data);
    else
      memcpy(d->ref.data, a->A, d->ref.n * sizeof *d->ref.data);
  }
}

static bool cpu_launch(device *d, enum device_arm arm, int n, double *ms,
                       struct device_fault *fault) {
  const struct timespec pause = {0, ARM_PAUSE_NS};
  bool ok = true;
  /* The other arm's heat and threads settle first. */
  if (d->last_arm >= 0 && d->last_arm != (int)arm)
    nanosleep(&pause, NULL);
  d->last_arm = (int)arm;
  pin(d);
  int64_t t0 = clock_ns();
  if (arm == ARM_KERNEL)
    ok = run_kernel(d, n, fault);
  else
    run_reference(d, n);
  *ms = (double)(clock_ns() - t0) * 1e-6;
  unpin(d);
  if (ok && arm == ARM_KERNEL && !slack_is_whole(&d->c))
    return fail(fault, "overrun", "The kernel wrote past the end of C.",
                "The numbers behind the last element changed.",
                "Guard the last row and column, and run again.");
  return ok;
}

static double cpu_overhead(device *d) {
  (void)d;
  return NAN;
}

static bool cpu_download(device *d, int64_t row0, int64_t rows, float *out, double *ms,
                         struct device_fault *fault) {
  (void)fault;
  struct exact e;
  size_t cols = d->c.n;
  if (exact_init(&e, &d->job, NULL))
    cols = (size_t)e.cols;
  memcpy(out, d->c.data + (size_t)row0 * cols, (size_t)rows * cols * sizeof *out);
  if (ms)
    *ms = NAN;
  return true;
}

static void cpu_health(device *d, double *mhz, double *watt, int *throttled) {
  (void)d;
  *mhz = *watt = NAN;
  *throttled = -1;
}

/* Three rows of what the reference computes for the real operands, against fp64. */
static bool reference_is_right(device *d) {
  struct exact e;
  struct exact_report report = {.first = -1};
  if (!exact_init(&e, &d->job, NULL))
    return false;
  memset(d->ref.data, 0xff, d->ref.n * sizeof *d->ref.data);
  run_reference(d, 1);
  int64_t rows[3] = {0, e.rows / 2, e.rows - 1};
  const float *c[3];
  for (int i = 0; i < 3; i++)
    c[i] = d->ref.data + rows[i] * e.cols;
  exact_compare(&e, rows, c, 3, &report);
  return report.first < 0;
}

static bool cpu_reference(device *d, char name[64], char version[64], struct err *why) {
  enum kernel_op op = d->job.kernel->op;
  if (!has_reference(op) || !d->ref.data)
    return err_set(why, "there is none for %s on the CPU.", kernel_op_name(op));
  if (op == OP_COPY) {
    snprintf(name, 64, "memcpy");
    snprintf(version, 64, "libc");
    return true;
  }
  if (!ref_cblas_load(why))
    return false;
  ref_cblas_threads(d->info.threads);
  ref_cblas_name(name, version);
  bool ok = reference_is_right(d);
  unpin(d); /* some builds set the mask at their first call */
  return ok || err_set(why, "%s %s computes these sizes wrongly; it is not used.", name, version);
}

static void cpu_close(device *d) {
  drop_job(d);
  unpin(d);
  free(d);
}

const struct device_ops device_cpu = {
    .kind = "cpu",
    .open = cpu_open,
    .describe = cpu_describe,
    .prepare = cpu_prepare,
    .poison = cpu_poison,
    .launch = cpu_launch,
    .overhead = cpu_overhead,
    .download = cpu_download,
    .health = cpu_health,
    .reference = cpu_reference,
    .close = cpu_close,
};
