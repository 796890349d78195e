/* Parts of the x-ray's request: JSON in both directions, parameters of kernels, guesses, grids in
 * host code, occupancy, numbers of 16 bits. */
#include "base/alloc.h"
#include "bench/xray_cexpr.h"
#include "bench/xray_guess.h"
#include "bench/narrow.h"
#include "bench/xray_occupancy.h"
#include "bench/xray_result.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- requests */

static void test_request_round_trip(void **state) {
  (void)state;
  const struct xray_request q = {.kernel = "mine.cu",
                                 .source = "text\n\"quoted\"",
                                 .dir = "/a",
                                 .M = 1,
                                 .N = 2147483647,
                                 .K = 3,
                                 .entry = "tiled<32>",
                                 .grid = "ceil(N/32),2",
                                 .block = "32",
                                 .smem = "4*T*T",
                                 .args = "A,B,C",
                                 .dtype = "bf16",
                                 .op = "transpose",
                                 .layout = {NULL, "col", "row"},
                                 .defines = {"T=16", "X"},
                                 .ndefines = 2,
                                 .arch = "sm_90a",
                                 .sample = true,
                                 .no_checks = true,
                                 .trace = true,
                                 .trace_block = {1, 2, 3},
                                 .seed = 9007199254740991,
                                 .seconds = 2.5};
  cJSON *line = xray_request_make(7, &q);
  struct xray_request r;
  struct err err;
  if (!xray_request_read(line, &r, &err))
    fail_msg("%s", err.text);
  assert_int_equal((int)json_num(line, "id", 0), 7);
  assert_string_equal(json_str(line, "req"), "xray");
  cJSON *again = xray_request_make(7, &r);
  char *a = json_print(line), *b = json_print(again);
  assert_string_equal(a, b);
  assert_true(r.M == q.M && r.N == q.N && r.K == q.K && r.seed == q.seed);
  assert_true(r.sample && r.no_checks && r.trace && r.trace_block[2] == 3);
  assert_string_equal(r.layout[1], "col");
  assert_null(r.layout[0]);
  assert_string_equal(r.defines[1], "X");
  assert_true(r.seconds == 2.5);
  free(a);
  free(b);
  cJSON_Delete(line);
  cJSON_Delete(again);
  /* What is not given is not sent. */
  line = xray_request_make(1, &(struct xray_request){.kernel = "cuda/naive"});
  assert_int_equal(cJSON_GetArraySize(line), 3);
  assert_true(xray_request_read(line, &r, &err));
  assert_true(r.M == 0 && !r.source && !r.trace && r.ndefines == 0);
  cJSON_Delete(line);
}

static void test_request_faults(void **state) {
  (void)state;
  static const char *const of[][2] = {
      {"{}", "\"kernel\" must be a string."},
      {"{\"kernel\":7}", "\"kernel\" must be a string."},
      {"{\"kernel\":\"x\",\"M\":0}", "\"M\" must be a whole number"},
      {"{\"kernel\":\"x\",\"N\":2147483648}", "\"N\" must be a whole number"},
      {"{\"kernel\":\"x\",\"K\":1.5}", "\"K\" must be a whole number"},
      {"{\"kernel\":\"x\",\"op\":\"fft\"}", "\"op\" must be one of gemm, gemv"},
      {"{\"kernel\":\"x\",\"dtype\":\"int\"}", "\"dtype\" must be one of f32"},
      {"{\"kernel\":\"x\",\"layout\":\"col\"}", "\"layout\" must be an object"},
      {"{\"kernel\":\"x\",\"layout\":{\"A\":\"diagonal\"}}", "\"A\" must be one of row, col."},
      {"{\"kernel\":\"x\",\"defines\":\"T\"}", "\"defines\" must be a list"},
      {"{\"kernel\":\"x\",\"defines\":[1]}", "\"defines\" must be a list"},
      {"{\"kernel\":\"x\",\"trace\":[0,0]}", "\"trace\" must be the three indices"},
      {"{\"kernel\":\"x\",\"trace\":[0,0,-1]}", "\"trace\" must be the three indices"},
      {"{\"kernel\":\"x\",\"trace\":[0,0,0,0]}", "\"trace\" must be the three indices"},
      {"{\"kernel\":\"x\",\"sample\":1}", "\"sample\" must be true or false."},
      {"{\"kernel\":\"x\",\"seconds\":-1}", "\"seconds\" must be a number"},
      {"{\"kernel\":\"x\",\"grid\":[1]}", "\"grid\" must be a string."},
  };
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    struct err err = {""};
    struct xray_request q;
    json_doc *doc = json_parse(of[i][0], strlen(of[i][0]), "request", 0, &err);
    assert_non_null(doc);
    if (xray_request_read(json_root(doc), &q, &err) || !strstr(err.text, of[i][1]))
      fail_msg("%s: \"%s\"", of[i][0], err.text);
    json_free(doc);
  }
}

/* ---- results */

static struct xray_result make_result(void) {
  struct xray_result r;
  xray_result_init(&r);
  snprintf(r.head.kernel, sizeof r.head.kernel, "mine.cu");
  r.head.M = r.head.N = r.head.K = 8;
  r.verified = r.finished = r.sampled = true;
  r.head.verify = (struct result_verify){true, 1e-7, 1e-6, 64, ""};
  result_warn(&r.head, "One.");
  snprintf(r.entry, sizeof r.entry, "tiled<32>");
  snprintf(r.args, sizeof r.args, "A,B,C,N");
  r.args_guessed = true;
  r.grid[0] = 2, r.block[1] = 3, r.smem = 48;
  r.blocks = 100, r.blocks_executed = 4;
  for (int i = 0; xray_result_count_name(i); i++) {
    double v = i + 0.5;
    memcpy((char *)&r.counts + (size_t)i * sizeof v, &v, sizeof v);
  }
  r.flop_executed = 77;
  r.registers = 40, r.shared_bytes = 0, r.spill_bytes = 8;
  r.occupancy = 0.5, r.blocks_per_sm = 2;
  snprintf(r.occupancy_limit, sizeof r.occupancy_limit, "registers");
  r.certificate = XRAY_PTX_LEVEL;
  r.mix.lds[2] = 5, r.sass.ldg[0] = 6, r.sass.ffma = 7;
  r.problems = alloc_zero(1, sizeof *r.problems);
  r.nproblems = 1;
  r.problems[0] = (struct xray_problem){.kind = XRAY_RACE_SHARED,
                                        .error = true,
                                        .file = "mine.cu",
                                        .line = 12,
                                        .block = {1, 2, 3},
                                        .thread = {4, 5, 6},
                                        .detail = "A race.",
                                        .times = 9};
  r.lines = alloc_zero(2, sizeof *r.lines);
  r.nlines = 2;
  r.lines[0] =
      (struct xray_result_line){alloc_str("mine.cu"), 3, alloc_str("  x;"), true, r.counts};
  r.lines[1] = (struct xray_result_line){.file = alloc_str(""), .line = 4, .text = alloc_str("")};
  r.left = alloc_zero(1, sizeof *r.left);
  r.nleft = 1;
  r.left[0] = (struct xray_result_left){20, alloc_str("main"), alloc_str("a host function")};
  r.print = alloc_str("hello\n");
  r.compile_ms = 30;
  r.run_ms = 4;
  return r;
}

static char *as_text(const struct xray_result *r) {
  cJSON *o = xray_result_to_json(r);
  char *text = json_print(o);
  cJSON_Delete(o);
  return text;
}

static void test_result_round_trip(void **state) {
  (void)state;
  struct xray_result r = make_result(), back, copy;
  struct err err;
  char *a = as_text(&r);
  json_doc *doc = json_parse(a, strlen(a), "result", 0, &err);
  assert_non_null(doc);
  if (!xray_result_from_json(json_root(doc), &back, &err))
    fail_msg("%s", err.text);
  json_free(doc);
  char *b = as_text(&back);
  assert_string_equal(a, b);
  assert_int_equal(back.certificate, XRAY_PTX_LEVEL);
  assert_int_equal(back.sass.ldg[0], 6);
  assert_int_equal(back.problems[0].thread[2], 6);
  assert_true(back.lines[0].counts.ffma > 0 && !back.lines[1].counted);
  xray_result_copy(&copy, &back);
  xray_result_done(&back);
  free(b);
  b = as_text(&copy);
  assert_string_equal(a, b);
  xray_result_done(&copy);
  xray_result_done(&r);
  free(a);
  free(b);
}

/* Every counter of the struct has a name: none is forgotten in JSON. */
static void test_every_counter(void **state) {
  (void)state;
  size_t n = 0;
  while (xray_result_count_name((int)n))
    n++;
  assert_int_equal(n * sizeof(double), sizeof(struct xray_counts));
}

static void test_unknown_is_absent(void **state) {
  (void)state;
  struct xray_result r;
  xray_result_init(&r);
  snprintf(r.head.kernel, sizeof r.head.kernel, "x");
  r.head.M = r.head.N = r.head.K = 1;
  cJSON *o = xray_result_to_json(&r);
  static const char *const absent[] = {"verify",    "registers",   "shared_bytes",  "spill_bytes",
                                       "occupancy", "certificate", "blocks_per_sm", "print",
                                       "run_ms",    "compile_ms",  "flop",          "args_guessed"};
  for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
    if (json_get(o, absent[i]))
      fail_msg("%s is there", absent[i]);
  struct xray_result back;
  struct err err;
  assert_true(xray_result_from_json(o, &back, &err));
  assert_true(back.registers == -1 && isnan(back.occupancy) && !back.verified && !back.print);
  xray_result_done(&back);
  cJSON *one = cJSON_CreateObject();
  cJSON_AddStringToObject(one, "kind", "of a later version");
  cJSON_AddItemToArray(cJSON_GetObjectItem(o, "problems"), one);
  assert_false(xray_result_from_json(o, &back, &err));
  cJSON_Delete(o);
}

/* ---- parameters and guesses */

static void test_params(void **state) {
  (void)state;
  struct xray_params p;
  xray_params_read(&p,
                   "const float *__restrict__ A, T *B, int M, const unsigned long n, float alpha, "
                   "const half2 *h, __nv_bfloat16 const *b, std::size_t s, Vec<float, 4> v, "
                   "float C[]",
                   "typename T, int BM", "gemm<double, 64>");
  assert_int_equal(p.n, 10);
  assert_true(p.all[0].pointer && p.all[0].is_const && p.all[0].dtype == DT_F32);
  assert_string_equal(p.all[0].name, "A");
  assert_true(p.all[1].pointer && !p.all[1].is_const);
  assert_true(p.all[1].kind == XRAY_PARAMS_FLOATING && p.all[1].dtype == DT_F64);
  assert_true(p.all[2].kind == XRAY_PARAMS_INTEGER && !p.all[2].is_unsigned && !p.all[2].pointer);
  assert_true(p.all[3].is_unsigned);
  assert_string_equal(p.all[3].name, "n");
  assert_true(p.all[4].kind == XRAY_PARAMS_FLOATING && !p.all[4].pointer);
  assert_true(p.all[5].dtype == DT_F16 && p.all[6].dtype == DT_BF16 && p.all[6].is_const);
  assert_true(p.all[7].kind == XRAY_PARAMS_INTEGER && p.all[7].is_unsigned);
  assert_int_equal(p.all[8].kind, XRAY_PARAMS_UNKNOWN);
  assert_true(p.all[9].pointer);
  assert_string_equal(p.all[9].name, "C");
  xray_params_read(&p, "void", NULL, "k");
  assert_int_equal(p.n, 0);
  xray_params_read(&p, "", NULL, "k");
  assert_int_equal(p.n, 0);
}

static void guess_is(enum kernel_op op, int64_t M, int64_t N, int64_t K, const char *params,
                     const char *expected) {
  struct xray_request q = {.kernel = "x.cu"};
  struct xray_case c = {.q = &q, .shape = {.op = op}, .size = {.M = M, .N = N, .K = K}};
  struct xray_params p;
  xray_params_read(&p, params, NULL, "k");
  const char *words[XRAY_PARAMS_MAX] = {NULL};
  char got[200] = "none";
  if (xray_guess(&c, &p, words)) {
    size_t n = 0;
    for (int i = 0; i < p.n; i++)
      n += (size_t)snprintf(got + n, sizeof got - n, "%s%s", i ? "," : "", words[i]);
  }
  if (strcmp(got, expected) != 0)
    fail_msg("%s: %s, not %s", params, got, expected);
}

static void test_guess(void **state) {
  (void)state;
  guess_is(OP_GEMM, 2, 3, 4, "const float *A, const float *B, float *C, int M, int N, int K",
           "A,B,C,M,N,K");
  guess_is(OP_GEMM, 2, 3, 4, "float *d_C, float *d_A, float *d_B, int k, int m, int n",
           "C,A,B,K,M,N");
  guess_is(OP_GEMM, 2, 3, 4,
           "int M, int N, int K, float alpha, float *a, int lda, float *b, "
           "int ldb, float beta, float *c, int ldc",
           "M,N,K,alpha,A,lda,B,ldb,beta,C,ldc");
  guess_is(OP_GEMM, 5, 5, 5, "float *dA, float *dB, float *dC, int width", "A,B,C,N");
  guess_is(OP_GEMM, 5, 5, 6, "float *dA, float *dB, float *dC, int width", "none");
  guess_is(OP_GEMM, 5, 5, 5, "const float *x, const float *w, float *out, int n", "A,B,C,N");
  guess_is(OP_GEMM, 5, 5, 5, "float *x, float *w, float *out, int n", "none");
  guess_is(OP_GEMM, 5, 5, 5, "float *a, float *b, float *c, int p, int q", "none");
  guess_is(OP_GEMM, 5, 5, 5, "float *a, float *b, float *c, int n, int n", "none");
  guess_is(OP_GEMM, 5, 5, 5, "float *a, float *b, float *c, int n, float scale", "none");
  guess_is(OP_GEMM, 5, 5, 5, "const float *in, float *out, int n", "none");
  guess_is(OP_COPY, 5, 6, 1, "const float *in, float *out, int n", "A,C,M*N");
  guess_is(OP_TRANSPOSE, 5, 6, 1, "float *out, const float *in, int width, int height", "C,A,N,M");
  guess_is(OP_TRANSPOSE, 5, 6, 1, "float *out, const float *in, int n", "none");
  guess_is(OP_GEMV, 5, 1, 6, "const float *A, const float *x, float *y, int rows, int cols",
           "A,B,C,M,K");
  guess_is(OP_ADD, 5, 6, 1, "float *a, float *b, float *c, int n", "A,B,C,M*N");
  guess_is(OP_GEMM, 5, 5, 5, "", "none");
}

/* ---- launches in host code */

static const char host[] =
    "#define BLOCK 16\n"
    "#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))\n"
    "const int TILE = 1 << 5; // int TILE = 7;\n"
    "static inline int up(int a, int b) { return (a + b - 1) / b; }\n"
    "int main(int argc, char **argv) {\n"
    "  int n = argc > 1 ? atoi(argv[1]) : 512;\n"
    "  int rows = N, threads = BLOCK * 2;\n"
    "  dim3 block(BLOCK, BLOCK), grid(CEIL_DIV(n, BLOCK), up(rows, block.y));\n"
    "  dim3 flat = dim3((unsigned)ceil(N / 32.0));\n"
    "  dim3 braces{2, 3};\n"
    "  int loop = loop + 1, unknown = rand();\n"
    "  int k = rows * 2, m = 9;\n"
    "  LAUNCH;\n"
    "  block = dim3(1);\n"
    "}\n";

static bool known(void *ctx, const char *name, double *v) {
  (void)ctx;
  *v = 100;
  return strcmp(name, "N") == 0;
}

static void dims_are(const char *text, int64_t x, int64_t y, int64_t z) {
  struct cuda_mask mask;
  cuda_mask_make(&mask, host, sizeof host - 1);
  const struct xray_cexpr c = {.source = host,
                               .mask = &mask,
                               .at = (size_t)(strstr(host, "LAUNCH") - host),
                               .known = known,
                               .template_params = "int BM, typename T, int BN",
                               .entry = "k<64, float, 8>"};
  int64_t d[3] = {-1, -1, -1};
  bool ok = xray_cexpr_dim3(&c, text, d);
  cuda_mask_done(&mask);
  if (x < 0 ? ok : !ok || d[0] != x || d[1] != y || d[2] != z)
    fail_msg("%s: %d, %lld %lld %lld", text, ok, (long long)d[0], (long long)d[1], (long long)d[2]);
}

static void test_launch_expressions(void **state) {
  (void)state;
  dims_are("256", 256, 1, 1);
  dims_are("grid", 7, 7, 1);
  dims_are("block", 16, 16, 1);
  dims_are("flat", 4, 1, 1);
  dims_are("braces", 2, 3, 1);
  dims_are("threads", 32, 1, 1);
  dims_are("dim3(N / 32, (n + TILE - 1) / TILE, 2)", 3, 4, 2);
  dims_are("dim3{1, 2}", 1, 2, 1);
  dims_are("(N + 16 - 1) / 16", 7, 1, 1);
  dims_are("ceil(N / 16)", 6, 1, 1);
  dims_are("std::ceil((float)N / 16)", 7, 1, 1);
  dims_are("static_cast<int>(7.9)", 7, 1, 1);
  dims_are("N > 50 ? 3 : 4", 3, 1, 1);
  dims_are("std::min(N, 7)", 7, 1, 1);
  dims_are("BM * BN", 512, 1, 1);
  dims_are("1 << 4", 16, 1, 1);
  dims_are("k", 200, 1, 1); /* the file's own: it follows from a size */
  dims_are("m", 9, 1, 1);   /* a constant, and M is not known here */
  dims_are("n", 100, 1, 1); /* rand() and atoi() are not: then it is N */
  dims_are("block.x * block.y", 256, 1, 1);
  dims_are("sizeof(float) * 4", 16, 1, 1);
  dims_are("7 - 5 % 3", 5, 1, 1);
}

static void test_launch_expressions_that_cannot_be_read(void **state) {
  (void)state;
  static const char *const of[] = {"unknown",
                                   "loop",
                                   "missing",
                                   "",
                                   "(",
                                   "1,2,3,4",
                                   "N / 0",
                                   "grid.w",
                                   "T",
                                   "up(1)",
                                   "f(g)",
                                   "1 +",
                                   "dim3(rand())",
                                   "((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))"};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    dims_are(of[i], -1, 0, 0);
}

/* ---- occupancy: by NVIDIA's own calculator */

static void occupancy_is(int arch, int threads, int registers, double shared, int blocks,
                         double warps, const char *limit) {
  struct xray_occupancy o;
  assert_true(xray_occupancy_of(arch, threads, registers, shared, &o));
  if (o.blocks != blocks || fabs(o.warps - warps) > 1e-12 || strcmp(o.limit, limit) != 0)
    fail_msg("%d %d %d %g: %d blocks, %g, %s", arch, threads, registers, shared, o.blocks, o.warps,
             o.limit);
}

static void test_occupancy(void **state) {
  (void)state;
  occupancy_is(90, 1024, 32, 0, 2, 1, "threads");
  occupancy_is(86, 1024, 32, 0, 1, 2.0 / 3, "threads");
  occupancy_is(75, 1024, 32, 8192, 1, 1, "threads");
  occupancy_is(90, 256, 64, 0, 4, 0.5, "registers");
  occupancy_is(90, 256, 65, 0, 3, 0.375, "registers"); /* 72 by the unit */
  occupancy_is(90, 1024, 65, 0, 0, 0, "registers");
  occupancy_is(90, 256, 32, 48 * 1024, 4, 0.5, "shared memory");
  occupancy_is(90, 128, 32, 227 * 1024, 1, 0.0625, "shared memory");
  occupancy_is(90, 32, 32, 0, 32, 0.5, "blocks");
  occupancy_is(89, 32, 32, 0, 24, 0.5, "blocks");
  struct xray_occupancy o;
  assert_false(xray_occupancy_of(70, 32, 32, 0, &o));
}

/* ---- numbers of 16 bits */

static void test_half(void **state) {
  (void)state;
  for (int t = DT_BF16; t <= DT_F16; t++)
    for (int i = 0; i < 65536; i++) { /* every one comes back */
      uint16_t h = (uint16_t)i;
      double v = narrow_load(&h, (enum kernel_dtype)t, 0);
      if (isnan(v))
        assert_true(isnan(narrow_load(&(uint16_t){narrow_from(NAN, (enum kernel_dtype)t)},
                                         (enum kernel_dtype)t, 0)));
      else if (narrow_from((float)v, (enum kernel_dtype)t) != h)
        fail_msg("%s %04x", kernel_dtype_name((enum kernel_dtype)t), h);
    }
  static const struct {
    float x;
    enum kernel_dtype t;
    uint16_t h;
  } of[] = {{1.0f, DT_F16, 0x3C00},       {-2.0f, DT_F16, 0xC000},      {65504.0f, DT_F16, 0x7BFF},
            {65519.0f, DT_F16, 0x7BFF},   {65520.0f, DT_F16, 0x7C00},   {0x1p-24f, DT_F16, 1},
            {0x1p-25f, DT_F16, 0},        {0x1.8p-25f, DT_F16, 1},      {1.0f, DT_BF16, 0x3F80},
            {0x1.01p0f, DT_BF16, 0x3F80}, {0x1.03p0f, DT_BF16, 0x3F82}, {3.4e38f, DT_BF16, 0x7F80}};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    if (narrow_from(of[i].x, of[i].t) != of[i].h)
      fail_msg("%a %s: %04x", (double)of[i].x, kernel_dtype_name(of[i].t),
               narrow_from(of[i].x, of[i].t));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_request_round_trip),
      cmocka_unit_test(test_request_faults),
      cmocka_unit_test(test_result_round_trip),
      cmocka_unit_test(test_every_counter),
      cmocka_unit_test(test_unknown_is_absent),
      cmocka_unit_test(test_params),
      cmocka_unit_test(test_guess),
      cmocka_unit_test(test_launch_expressions),
      cmocka_unit_test(test_launch_expressions_that_cannot_be_read),
      cmocka_unit_test(test_occupancy),
      cmocka_unit_test(test_half),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
