/* X-rays in this process, of the kernels of tests/fixtures/xray/ops.ptx and of the shipped rungs:
 * each operation is checked, wrong ones are told, and what cannot be run is a sentence. No compiler
 * and no GPU are needed; what needs NVRTC is in tests/cli/worker_xray_test.py. */
#include "base/alloc.h"
#include "base/paths.h"
#include "bench/xray_job.h"
#include "kernels/catalog.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *ptx;
static bool stop;

static bool stopped(void) { return stop; }

static void on_compiled(void *ctx, const struct device_built *built) {
  (void)built;
  ++*(int *)ctx;
}

static void on_trace(void *ctx, const char *lines, size_t n) {
  (void)ctx;
  (void)lines;
  (void)n;
}

static bool job(const struct xray_request *q, struct xray_result *r, struct device_fault *f) {
  int compiled = 0;
  const struct xray_job_sink sink = {&compiled, stopped, on_compiled, on_trace};
  bool ok = xray_job_run(q, NULL, &sink, r, f);
  assert_true(!ok || compiled == 1);
  return ok;
}

/* The request for a kernel of ops.ptx: 70 x 50 x 30 in blocks of 16 x 16. */
static struct xray_request ask(const char *entry, const char *args) {
  return (struct xray_request){.kernel = "ops.ptx",
                               .source = ptx,
                               .entry = entry,
                               .args = args,
                               .M = 70,
                               .N = 50,
                               .K = 30,
                               .grid = "ceil(N/16),ceil(M/16)",
                               .block = "16,16"};
}

static void run(const struct xray_request *q, struct xray_result *r) {
  struct device_fault f;
  if (!job(q, r, &f))
    fail_msg("%s: %s %s %s", q->entry, f.what, f.why, f.next);
  assert_true(r->finished);
  assert_int_equal(r->registers, -1);
  assert_int_equal(r->certificate, XRAY_NOT_CERTIFIED);
  assert_true(isnan(r->occupancy));
}

static void right(const struct xray_request *q, double checked) {
  struct xray_result r;
  run(q, &r);
  if (!r.verified || !r.head.verify.ok || r.head.verify.checked != checked || r.nproblems)
    fail_msg("%s: %s, %g elements, %s", q->entry, r.head.verify.note, r.head.verify.checked,
             r.nproblems ? r.problems[0].detail : "no problem");
  xray_result_done(&r);
}

/* `note` is what the first wrong element is said to be; NULL: anything. */
static void wrong(const struct xray_request *q, const char *note) {
  struct xray_result r;
  run(q, &r);
  assert_true(r.verified);
  assert_false(r.head.verify.ok);
  if (note)
    assert_string_equal(r.head.verify.note, note);
  else
    assert_true(r.head.verify.max_error > r.head.verify.bound);
  xray_result_done(&r);
}

static void test_gemm(void **state) {
  (void)state;
  struct xray_request q = ask("dots", "A,B,C,M,N,K");
  wrong(&q, NULL);
  q.layout[1] = "col";
  right(&q, 3500);
  q = ask("columns", "A,B,C,M,N,K,lda,ldb,ldc");
  wrong(&q, NULL);
  q.layout[0] = q.layout[1] = q.layout[2] = "col";
  right(&q, 3500);
  q = ask("typed", "A,B,C,M,N,K");
  q.dtype = "f64";
  right(&q, 3500);
  q.dtype = "f32";
  q.args = "A,B,C,M/2,N/2,K"; /* twice the bytes: only a part may be touched */
  q.grid = "2,2";
  wrong(&q, NULL);
  q = ask("short_k", "A,B,C,M,N,K");
  wrong(&q, NULL);
  q = ask("hole", "A,B,C,M,N,K");
  wrong(&q, "C[1,2] is NaN");
}

static void test_alpha_beta(void **state) {
  (void)state;
  struct xray_request q = ask("sgemm", "M,N,K,alpha,A,B,beta,C");
  right(&q, 3500);
  q.args = "M,N,K,1.5,A,B,-0.5,C";
  right(&q, 3500);
  q.args = "M,N,K,beta=1.5,A,B,alpha=-0.5,C"; /* the wrong way round: told apart by the name */
  wrong(&q, NULL);
  q.args = "M,N,K,alpha=2,A,B,beta=0,C";
  q.seed = 12345;
  right(&q, 3500);
}

static void test_other_operations(void **state) {
  (void)state;
  struct xray_request q = ask("gemv", "A,B,C,M,K");
  q.op = "gemv";
  q.grid = "1";
  q.block = "128";
  right(&q, 70);
  q = ask("add", "A,B,C,M*N");
  q.op = "add";
  q.grid = "ceil(M*N/128)";
  q.block = "128";
  right(&q, 3500);
  q.args = "A,A,C,M*N";
  wrong(&q, NULL);
  q = ask("copy", "A,C,M*N");
  q.op = "copy";
  q.grid = "ceil(M*N/128)";
  q.block = "128";
  right(&q, 3500);
  q.args = "A,C,M*N-1";
  wrong(&q, "C[69,49] is NaN");
  q = ask("transpose", "A,C,N,M");
  q.op = "transpose";
  right(&q, 3500);
  q.op = "copy";
  wrong(&q, NULL);
  q = ask("reduce", "A,C,M*N");
  q.op = "reduce";
  q.grid = "1";
  q.block = "128";
  right(&q, 1);
}

/* A sampled launch: what it has written is checked, and the counts are those of the whole. */
static void test_sampled(void **state) {
  (void)state;
  struct xray_result whole, r;
  struct xray_request q = ask("dots", "A,B,C,M,N,K");
  q.layout[1] = "col";
  q.M = q.N = q.K = 128;
  run(&q, &whole);
  q.sample = true;
  run(&q, &r);
  assert_true(r.sampled && r.blocks == 64 && r.blocks_executed < 64);
  assert_true(r.verified && r.head.verify.ok);
  assert_true(r.head.verify.checked == 256.0 * (double)r.blocks_executed);
  assert_true(r.counts.gld_sectors == whole.counts.gld_sectors);
  assert_true(r.counts.ffma == whole.counts.ffma);
  xray_result_done(&r);
  xray_result_done(&whole);
  q.layout[1] = NULL; /* wrong in every element */
  run(&q, &r);
  assert_true(r.sampled && r.verified && !r.head.verify.ok);
  xray_result_done(&r);
  q = ask("sgemm", "M,N,K,1.5,A,B,-0.5,C");
  q.M = q.N = q.K = 128;
  q.sample = true;
  run(&q, &r);
  assert_true(r.verified && r.head.verify.ok && r.head.verify.checked >= 256);
  xray_result_done(&r);
  q.M = q.N = 4096; /* C would repeat: what it was before is not known */
  run(&q, &r);
  assert_true(!r.verified && r.head.nwarnings == 2);
  xray_result_done(&r);
  q.args = "M,N,K,1.5,A,B,0,C";
  run(&q, &r);
  assert_true(r.verified && r.head.verify.ok && r.head.verify.checked >= 256);
  xray_result_done(&r);
  /* A column-major C is held as its transpose: B then stands on the left, read from memory. */
  q = ask("columns", "A,B,C,M,N,K,lda,ldb,ldc");
  q.layout[0] = q.layout[1] = q.layout[2] = "col";
  q.M = 4096, q.N = 2048, q.K = 2048;
  q.sample = true;
  run(&q, &r);
  assert_true(r.sampled && r.verified && r.head.verify.ok && r.head.verify.checked >= 256);
  xray_result_done(&r);
}

static void test_not_checked(void **state) {
  (void)state;
  struct xray_result r;
  struct xray_request q = ask("short_k", "A,B,C,M,N,K");
  q.op = "none";
  run(&q, &r);
  assert_false(r.verified);
  assert_int_equal(r.head.nwarnings, 1);
  assert_string_equal(r.op, "none");
  cJSON *o = xray_result_to_json(&r);
  assert_null(json_get(o, "verify"));
  cJSON_Delete(o);
  xray_result_done(&r);
}

/* ---- what goes wrong */

static int find_problem(const struct xray_result *r, enum xray_kind kind) {
  for (int i = 0; i < r->nproblems; i++)
    if (r->problems[i].kind == kind)
      return i;
  fail_msg("no problem %s", xray_kind_name(kind));
  return 0;
}

static void test_faults(void **state) {
  (void)state;
  struct device_fault f;
  struct xray_result r;
  struct xray_request q = ask("endless", "A,B,C,M,N,K");
  if (!job(&q, &r, &f))
    fail_msg("%s", f.what);
  assert_false(r.finished);
  assert_false(r.verified);
  int at = find_problem(&r, XRAY_BUDGET);
  assert_string_equal(r.problems[at].file, "ops.cu");
  assert_true(r.problems[at].line > 0);
  xray_result_done(&r);
  q.entry = "null";
  assert_true(job(&q, &r, &f));
  find_problem(&r, XRAY_NULL);
  xray_result_done(&r);
  q.entry = "far";
  assert_true(job(&q, &r, &f));
  find_problem(&r, XRAY_OOB_GLOBAL);
  xray_result_done(&r);
}

/* A fault of this code whose sentences hold this text. */
static void refused(const struct xray_request *q, const char *code, const char *text) {
  struct device_fault f;
  struct xray_result r;
  if (job(q, &r, &f))
    fail_msg("%s ran: no fault %s", q->entry ? q->entry : "", code);
  if (strcmp(f.code, code) ||
      !(strstr(f.what, text) || strstr(f.why, text) || strstr(f.next, text)))
    fail_msg("%s \"%s\": %s: %s %s %s", code, text, f.code, f.what, f.why, f.next);
  assert_true(f.what[strlen(f.what) - 1] == '.');
  assert_true(!f.next[0] || f.next[strlen(f.next) - 1] == '.');
  xray_result_done(&r);
}

static void test_arguments_that_do_not_fit(void **state) {
  (void)state;
  static const char *const of[][2] = {
      {"A,B,C,M,N", "takes 6 arguments, and --args gives 5"},
      {"A,B,C,M,N,K,K", "takes 6 arguments, and --args gives 7"},
      {"", "--args gives 1"},
      {"A,B,C,M,N,3e9", "3000000000 does not fit into parameter 6"},
      {"A,B,C,M,N,-3e9", "does not fit"},
      {"A,B,C,M,N,1.5", "does not fit"},
      {"A,B,C,M,N,banana", "\"banana\" for parameter 6"},
      {"A,B,C,M,N,A", "A is a matrix, and parameter 6"},
      {"A,B,C,M,N,K+", "is no number"},
      {"A,B,C,M,N,1/0", "is no number"},
      {NULL, "--args 'A,B,C,M,N,K'"},
  };
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    struct xray_request q = ask("short_k", of[i][0]);
    refused(&q, "args", of[i][1]);
  }
  struct xray_request q = ask("short_k", "A,B,C,M,N,K");
  q.entry = "missing";
  refused(&q, "entry", "has no kernel named missing");
  q.entry = NULL;
  refused(&q, "entry", "Name one with --entry");
  q = ask("short_k", "A,B,C,M,N,K");
  q.source = "no PTX";
  refused(&q, "ptx", "PTX");
}

/* A kernel that takes nothing needs no --args. */
static void test_no_parameters(void **state) {
  (void)state;
  static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                             ".visible .entry nothing()\n{\nret;\n}\n";
  for (int given = 0; given < 2; given++) {
    struct xray_request q = ask("nothing", given ? "" : NULL);
    struct xray_result r;
    q.source = text;
    run(&q, &r);
    assert_string_equal(r.args, "");
    assert_false(r.args_guessed);
    assert_false(r.verified);
    xray_result_done(&r);
  }
  struct xray_request q = ask("nothing", "A");
  q.source = text;
  refused(&q, "args", "takes 0 arguments, and --args gives 1");
}

static void test_shapes_that_do_not_fit(void **state) {
  (void)state;
  char long_one[400]; /* its first 199 characters are a number, and not the one that is meant */
  memset(long_one, '1', sizeof long_one - 1);
  memset(long_one + 1, ' ', 250);
  memcpy(long_one + 260, "*0+2", 4);
  long_one[264] = '\0';
  const char *const of[][4] = {
      {"1", "1000000", NULL, "1000000 threads"},
      {"1", "32,32,2", NULL, "2048 threads"},
      {"1", "0", NULL, "0 threads"},
      {"0", "32", NULL, "0 blocks"},
      {"1,70000", "32", NULL, "70000 blocks"},
      {"1", "-3", NULL, "-3 threads"},
      {"1", "1,2,3,4", NULL, "more than three"},
      {"x", "32", NULL, "the name x"},
      {"M/3", "32", NULL, "no whole number"},
      {"", "32", NULL, "cannot be evaluated"},
      {"1", "32", "1e6", "shared memory"},
      {"1", "32", "q", "--smem 'q'"},
      {long_one, "32", NULL, "too long"},
      {NULL, "32", NULL, "--grid"},
      {"1", NULL, NULL, "--block"},
  };
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    struct xray_request q = ask("short_k", "A,B,C,M,N,K");
    q.grid = of[i][0];
    q.block = of[i][1];
    q.smem = of[i][2];
    refused(&q, "launch", of[i][3]);
  }
}

static void test_memory_that_is_not_there(void **state) {
  (void)state;
  struct xray_request q = ask("typed", "A,B,C,M,N,K");
  q.M = q.N = q.K = 1000000;
  refused(&q, "out_of_memory", "12.0 TB");
  q.M = q.N = q.K = 2147483647;
  refused(&q, "out_of_memory", "memory");
  q.sample = true;
  refused(&q, "out_of_memory", "memory");
}

/* Runs a rung of the catalog at 70 x 50; `entry` and `grid` may be NULL. */
static bool rung(const catalog *c, const char *id, const char *entry, const char *grid,
                 struct xray_result *r, struct device_fault *f) {
  int compiled = 0;
  const struct xray_job_sink sink = {&compiled, stopped, on_compiled, on_trace};
  const struct xray_request q = {
      .kernel = id, .M = 70, .N = 50, .K = 1, .entry = entry, .grid = grid};
  bool ok = xray_job_run(&q, catalog_find(c, id), &sink, r, f);
  assert_true(!ok || compiled == 1);
  return ok;
}

/* What one launch alone counts; its C is not checked. */
static struct xray_counts alone(const catalog *c, const char *id, const char *entry) {
  struct xray_result r;
  struct device_fault f;
  if (!rung(c, id, entry, NULL, &r, &f))
    fail_msg("%s: %s %s", entry, f.what, f.why);
  assert_false(r.verified);
  struct xray_counts n = r.counts;
  xray_result_done(&r);
  return n;
}

/* All launches of a rung: their sum is right, and so are the sums of the counts. */
static void test_several_launches(void **state) {
  (void)state;
  static const char *const rungs[][3] = {{"cuda/reduce_tree", "clear", "reduce"},
                                         {"cuda/reduce_best", "partial", "finish"}};
  catalog *c = catalog_new();
  for (int i = 0; i < 2; i++) {
    struct xray_result r;
    struct device_fault f;
    struct xray_counts a = alone(c, rungs[i][0], rungs[i][1]);
    struct xray_counts b = alone(c, rungs[i][0], rungs[i][2]);
    if (!rung(c, rungs[i][0], NULL, NULL, &r, &f))
      fail_msg("%s: %s %s", rungs[i][0], f.what, f.why);
    assert_true(r.finished && r.nproblems == 0 && r.verified && r.head.verify.ok);
    assert_string_equal(r.entry, i == 0 ? "reduce" : "partial");
    assert_int_equal(r.head.nwarnings, 1);
    assert_non_null(strstr(r.head.warnings[0], rungs[i][1]));
    assert_non_null(strstr(r.head.warnings[0], rungs[i][2]));
    double gst = 0;
    for (int l = 0; l < r.nlines; l++)
      gst += r.lines[l].counts.gst_requests;
    assert_true(gst == r.counts.gst_requests && gst == a.gst_requests + b.gst_requests);
    for (int k = 0; xray_result_count_name(k); k++)
      assert_true(xray_result_count(&r.counts, k) ==
                  xray_result_count(&a, k) + xray_result_count(&b, k));
    xray_result_done(&r);
    assert_false(rung(c, rungs[i][0], NULL, "1", &r, &f)); /* a grid for which of them? */
    assert_string_equal(f.code, "launches");
  }
  catalog_free(c);
}

static void test_stopped(void **state) {
  (void)state;
  struct xray_request q = ask("endless", "A,B,C,M,N,K");
  stop = true;
  refused(&q, "cancelled", "cancelled");
  stop = false;
}

/* More time is a larger budget for a block, and the clock then ends it. */
static void test_seconds(void **state) {
  (void)state;
  struct xray_request q = ask("endless", "A,B,C,M,N,K");
  q.seconds = 0.001;
  refused(&q, "time", "stopped after 0.001 s");
}

int main(void) {
  struct err err;
  size_t n;
  ptx = paths_read("tests/fixtures/xray/ops.ptx", 1 << 20, &n, &err);
  if (!ptx) {
    print_error("%s Run the tests from the root of the sources.\n", err.text);
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gemm),
      cmocka_unit_test(test_alpha_beta),
      cmocka_unit_test(test_other_operations),
      cmocka_unit_test(test_sampled),
      cmocka_unit_test(test_not_checked),
      cmocka_unit_test(test_faults),
      cmocka_unit_test(test_arguments_that_do_not_fit),
      cmocka_unit_test(test_no_parameters),
      cmocka_unit_test(test_shapes_that_do_not_fit),
      cmocka_unit_test(test_memory_that_is_not_there),
      cmocka_unit_test(test_several_launches),
      cmocka_unit_test(test_stopped),
      cmocka_unit_test(test_seconds),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  free(ptx);
  return failed;
}
