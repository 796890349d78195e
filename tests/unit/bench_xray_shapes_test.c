/* Every built-in CUDA kernel through the x-ray, at ragged sizes: no problem reported, the right
 * result, and the counts that the simulator has in closed form. A rung added later is tested by
 * being in the catalog. The last tests break kernels on purpose: the judge must see it. */
#include "../../scripts/ptx_files.h"
#include "base/embed.h"
#include "sim/walk/walk.h"
#include "xray_rung.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SIZES = 8, TRIPLES = SIZES * SIZES, BUDGET = 1 << 23 };
static const int sizes[SIZES] = {1, 17, 31, 33, 64, 65, 127, 130};

#if defined(__SANITIZE_ADDRESS__)
enum { STEP = SIZES + 1 }; /* 8 of the triples: each M once, each N once */
#else
enum { STEP = 1 };
#endif

/* A Latin square: every pair of values of every two dimensions stands together exactly once. */
static void triple(int i, int64_t mnk[3]) {
  mnk[0] = sizes[i / SIZES];
  mnk[1] = sizes[i % SIZES];
  mnk[2] = sizes[(i / SIZES + i % SIZES) % SIZES];
}

/* For kernels that take whole tiles only, or multiples of 8. */
static const int64_t whole[][3] = {{128, 128, 64}, {128, 256, 128}, {256, 128, 192}, {384, 128, 64},
                                   {1, 8, 8},      {67, 136, 40},   {129, 72, 200}};

struct suite {
  xray_module *module;
  int files, runs, refused, passed_over;
};

static bool expect(struct err *err, const char *what, double is, double should) {
  return is == should || err_set(err, "%s: %.0f, not %.0f.", what, is, should);
}

/* ---- counts */

/* The walk that does what this rung does. */
static bool walk_of(const struct device_job *job, struct walk_setup *s) {
  const struct kernel *k = job->kernel;
  bool naive = !strcmp(k->id, "cuda/naive"), tiled = !strcmp(k->id, "cuda/tiled");
  *s = (struct walk_setup){.kind = tiled ? WALK_TILED : WALK_NAIVE,
                           .M = job->size.M,
                           .N = job->size.N,
                           .K = job->size.K,
                           .T = tiled ? (int)job->size.param[0] : 32};
  return naive || tiled;
}

static bool walk_counts(const struct walk_setup *s, const struct xray_counts *c, struct err *err) {
  struct walk_counters w;
  walk_total(s, &w);
  double warps = walk_warps(s);
  return expect(err, "FMAs", c->ffma, w.fma) &&
         expect(err, "barriers of warps", c->barriers, warps * w.barriers) &&
         expect(err, "sectors of loads", c->gld_sectors, w.global_sectors) &&
         expect(err, "wavefronts of global loads", c->gld_wavefronts, w.global_wavefronts) &&
         expect(err, "wavefronts of shared loads", c->lds_wavefronts, w.shared_load_wavefronts) &&
         expect(err, "wavefronts of shared stores", c->sts_wavefronts, w.shared_store_wavefronts);
}

static double tile_edge(const struct device_job *job, const char *text) {
  struct kernel_scope scope = {job->kernel, &job->size, (double)NAN, (double)NAN};
  double v = NAN;
  struct err err;
  if (!text || !expr_eval(text, kernel_lookup, &scope, &v, &err))
    return 1;
  return v;
}

/* At least the FLOP of the front matter, at most those of whole tiles. Additions of atomics are in
 * no count; a kernel that has them is not deterministic. */
static bool flop_counts(const struct device_job *job, const struct xray_counts *c,
                        struct err *err) {
  const struct kernel *k = job->kernel;
  double did = 2 * c->ffma + c->fadd + c->fmul + c->other_flop, most = INFINITY;
  double least = k->deterministic ? kernel_flop(k, &job->size) : 0;
  if (k->op == OP_GEMM && !k->workspace) { /* with one, blocks may add up what others left */
    double m = tile_edge(job, k->tile_bm), n = tile_edge(job, k->tile_bn);
    double d = tile_edge(job, k->tile_bk);
    double results = ceil((double)job->size.M / m) * m * ceil((double)job->size.N / n) * n;
    most = results * (2 * ceil((double)job->size.K / d) * d + 1);
  }
  return (did >= least && did <= most) ||
         err_set(err, "%.0f FLOP, not between %.0f and %.0f.", did, least, most);
}

static void add_counts(struct xray_counts *to, const struct xray_counts *from) {
  double *t = (double *)to;
  const double *f = (const double *)from;
  for (size_t i = 0; i < sizeof *to / sizeof *t; i++)
    t[i] += f[i];
}

/* ---- one shape */

/* Their kinds, then the first in words. */
static void tell_problems(const struct xray_report *r, struct err *err) {
  err_set(err, "%s", r->nproblems ? r->problems[0].detail : "It did not end.");
  for (int i = 0; i < r->nproblems; i++)
    err_prefix(err, "%s (line %d)", xray_kind_name(r->problems[i].kind), r->problems[i].line);
}

static bool all_launches(struct xray_rung *r, const xray_module *m, struct xray_counts *sum,
                         struct err *err) {
  for (int i = 0; i < r->job.kernel->nlaunches; i++) {
    struct xray_launch l = {.checks = XRAY_CHECK_ALL, .budget = BUDGET};
    struct xray_report out;
    if (!xray_rung_run(r, m, i, &l, &out, err))
      return false;
    add_counts(sum, &out.counts);
    bool good = out.finished && out.nproblems == 0;
    if (!good)
      tell_problems(&out, err);
    xray_report_done(&out);
    if (!good)
      return false;
  }
  return true;
}

/* Runs and judges one shape; false with what is wrong. *refused: the kernel does not take it. */
static bool judge(const struct kernel *k, const struct kernel_size *size, const xray_module *m,
                  bool *refused, struct err *err) {
  struct xray_rung r;
  struct xray_counts sum = {0};
  struct walk_setup walk;
  *refused = !xray_rung_new(&r, k, size, err);
  bool good = *refused || (all_launches(&r, m, &sum, err) && xray_rung_right(&r, err) &&
                           flop_counts(&r.job, &sum, err) &&
                           (!walk_of(&r.job, &walk) || walk_counts(&walk, &sum, err)));
  xray_rung_done(&r);
  return good;
}

/* Of a shape that is refused: the next one whose N and K are whole fours. M stays as it is. */
static bool judge_near(const struct kernel *k, struct kernel_size *size, const xray_module *m,
                       bool *refused, struct err *err) {
  bool good = judge(k, size, m, refused, err);
  if (!*refused)
    return good;
  size->N = (size->N + 3) / 4 * 4;
  size->K = (size->K + 3) / 4 * 4;
  return judge(k, size, m, refused, err);
}

static struct kernel_size sized(const struct ptx_file *f, const int64_t mnk[3]) {
  struct kernel_size s = kernel_size_default(f->kernel, mnk[0], mnk[1], mnk[2]);
  memcpy(s.param, f->size.param, sizeof s.param);
  return s;
}

/* Kernels for one architecture alone ("sm_90a") use TMA or wgmma: the machine does not run them. */
static bool passed_over(const struct kernel *k) { return k->cc_suffix[0] != '\0' || k->nmaps > 0; }

static xray_module *load(const struct ptx_file *f, const char *text, size_t n) {
  struct err err;
  xray_module *m = xray_load(text, n, &err);
  if (!m)
    fail_msg("%s: %s", f->path, err.text);
  return m;
}

static void one_shape(struct suite *s, const struct ptx_file *f, const xray_module *m,
                      const int64_t mnk[3]) {
  struct err err;
  bool refused = false;
  struct kernel_size size = sized(f, mnk);
  if (!judge_near(f->kernel, &size, m, &refused, &err))
    fail_msg("%s %lldx%lldx%lld: %s", f->path, (long long)size.M, (long long)size.N,
             (long long)size.K, err.text);
  s->refused += refused;
  s->runs += !refused;
}

static bool each_shape(void *ctx, const struct ptx_file *f) {
  struct suite *s = ctx;
  const struct embed_file *e = embed_find(f->path);
  if (passed_over(f->kernel) || !e) {
    s->passed_over++;
    return true;
  }
  xray_module *m = load(f, e->data, e->n);
  int refused = s->refused, runs = s->runs;
  for (int i = 0; i < TRIPLES; i += STEP) {
    int64_t mnk[3];
    triple(i, mnk);
    one_shape(s, f, m, mnk);
  }
  for (size_t i = 0; s->refused != refused && i < sizeof whole / sizeof *whole; i++)
    one_shape(s, f, m, whole[i]);
  if (s->runs == runs)
    fail_msg("%s refuses every shape", f->path);
  s->files++;
  xray_free(m);
  return true;
}

static void test_shapes(void **state) {
  struct suite s = {0};
  ptx_files_each(*state, each_shape, &s);
  print_message("# %d files, %d runs, %d refused by requires, %d files passed over\n", s.files,
                s.runs, s.refused, s.passed_over);
  assert_true(s.files >= 9);
}

static void test_latin_square(void **state) {
  (void)state;
  for (int a = 0; a < 3; a++)
    for (int b = a + 1; b < 3; b++)
      for (int x = 0; x < SIZES; x++)
        for (int y = 0; y < SIZES; y++) {
          int met = 0;
          for (int i = 0; i < TRIPLES; i++) {
            int64_t mnk[3];
            triple(i, mnk);
            met += mnk[a] == sizes[x] && mnk[b] == sizes[y];
          }
          assert_int_equal(met, 1);
        }
}

/* ---- kernels broken on purpose */

/* The text with `to` in place of `from` in the nth line (from 1) that holds `line`. The caller
 * frees. */
static char *edited(const char *text, const char *line, int nth, const char *from, const char *to) {
  const char *at = text;
  for (int i = 0; i < nth && at; i++) {
    at = strstr(i ? at + 1 : at, line);
    assert_non_null(at);
  }
  while (at > text && at[-1] != '\n')
    at--;
  const char *piece = strstr(at, from);
  assert_true(piece && piece < strchr(at, '\n'));
  return alloc_printf("%.*s%s%s", (int)(piece - text), text, to, piece + strlen(from));
}

static const struct breakage {
  const char *file, *line;
  int nth;
  const char *from, *to;
  const char *seen; /* stands in what the judge says */
} breakages[] = {
    {"cuda_tiled_T16", "bar.sync", 1, "bar.sync", "//", "race_shared"},
    {"cuda_tiled_T16", "bar.sync", 2, "bar.sync", "//", "race_shared"},
    {"cuda_tiled_T8", "bar.sync", 2, "bar.sync", "//", "race_shared"},
    {"cuda_tiled_T16", "setp.ge.s32", 2, "setp.ge", "setp.gt", "oob_global"},
    {"cuda_tiled_T16", "setp.ge.s32", 3, "setp.ge", "setp.gt", "oob_global"},
    {"cuda_tiled_T32", "st.shared", 1, "st.shared", "//", "uninit_shared"},
    {"cuda_tiled_T32", "st.shared", 2, "st.shared", "//", "uninit_shared"},
    {"cuda_tiled_T16", "+8]", 1, "+8]", "+12]", "C["},
    {"cuda_tiled_T16", "fma.rn", 2, "%f14;", "%f62;", "C["},
    {"cuda_tiled_T16", "st.global", 1, "st.global", "//", "C["},
    {"cuda_tiled_T16", "fma.rn", 1, "\tfma", "\tfma.rn.f32 %f14, %f13, %f12, %f62; fma", "FLOP"},
    {"cuda_tiled_T16", "bar.sync", 1, "bar", "bar.sync 0; bar", "barriers"},
    {"cuda_tiled_T16", "ld.shared", 1, "ld", "ld.shared.f32 %f12, [%rd4]; bar.warp.sync -1; ld",
     "wavefronts of shared loads"},
    {"cuda_tile_1d", "bar.sync", 1, "bar.sync", "//", "race_shared"},
    {"cuda_tile_2d", "bar.sync", 2, "bar.sync", "//", "race_shared"},
    {"cuda_vectorized", "st.shared", 3, "st.shared", "//", "uninit_shared"},
    {"cuda_padded", "bar.sync", 1, "bar.sync", "//", "race_shared"},
    {"cuda_double_buffer", "bar.sync", 2, "bar.sync", "//", "race_shared"},
    {"cuda_double_buffer", "st.global", 1, "st.global", "//", "C["},
    {"cuda_async_copy", "bar.sync", 1, "bar.sync", "//", "race_shared"},
    {"cuda_async_copy", "cp.async.wait_group", 1, "cp.async", "//", "async_unwaited"},
    {"cuda_async_copy", "cp.async.wait_group", 1, "2;", "3;", "async_unwaited"},
    {"cuda_warp_tile", "cp.async.ca", 1, "cp.async", "//", "uninit_shared"},
    {"cuda_naive", "setp.ge.s32", 1, "setp.ge", "setp.gt", "oob_global"},
    {"cuda_naive", "setp.ge.s32", 2, "setp.ge", "setp.gt", "race_global"},
    {"cuda_uncoalesced", "setp.ge.s32", 2, "setp.ge", "setp.gt", "oob_global"},
    {"cuda_gemv", "shfl.sync.down", 3, "%r27", "%r24", "C["},
    {"cuda_copy", "setp.ge.s64", 4, "setp.ge", "setp.gt", "oob_global"},
    {"cuda_add", "add.f32", 1, "add.f32", "sub.f32", "C["},
    {"cuda_fma", "st.global", 1, "]", "+4]", "oob_global"},
};

struct breaking {
  const struct breakage *b;
  bool met;
};

static bool break_one(void *ctx, const struct ptx_file *f) {
  struct breaking *c = ctx;
  size_t n = strlen(c->b->file);
  if (strncmp(f->path + strlen("assets/ptx/"), c->b->file, n) != 0 ||
      strcmp(f->path + strlen("assets/ptx/") + n, ".ptx") != 0)
    return true;
  char *text = edited(embed_find(f->path)->data, c->b->line, c->b->nth, c->b->from, c->b->to);
  xray_module *m = load(f, text, strlen(text));
  for (int i = 0; i < TRIPLES && !c->met; i += SIZES + 1) {
    int64_t mnk[3];
    struct err err = {{0}};
    bool refused = false;
    triple(i, mnk);
    struct kernel_size size = sized(f, mnk);
    c->met = !judge_near(f->kernel, &size, m, &refused, &err) && strstr(err.text, c->b->seen);
  }
  xray_free(m);
  free(text);
  return false;
}

static void test_judge(void **state) {
  for (size_t i = 0; i < sizeof breakages / sizeof *breakages; i++) {
    struct breaking c = {.b = &breakages[i]};
    ptx_files_each(*state, break_one, &c);
    if (!c.met)
      fail_msg("%s with \"%s\" at %s %d: no word of %s", c.b->file, c.b->to, c.b->line, c.b->nth,
               c.b->seen);
  }
}

static int setup(void **state) {
  *state = catalog_new();
  return 0;
}

static int teardown(void **state) {
  catalog_free(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_latin_square),
      cmocka_unit_test(test_shapes),
      cmocka_unit_test(test_judge),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
