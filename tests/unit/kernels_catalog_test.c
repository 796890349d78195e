/* The catalog: every shipped rung loads, its geometry covers C, its formulas and sentences are
 * right. */
#include "base/alloc.h"
#include "base/embed.h"
#include "base/paths.h"
#include "kernels/catalog.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const int64_t ragged[][3] = {{1, 1, 1},    {7, 17, 31},   {33, 65, 129},     {129, 31, 2},
                                    {4100, 1, 3}, {1, 4100, 65}, {1000, 1023, 1025}};
enum { RAGGED = sizeof ragged / sizeof *ragged };

static struct kernel_size size_of(const struct kernel *k, int64_t M, int64_t N, int64_t K) {
  return kernel_size_default(k, M, N, K);
}

/* The header that the CPU rungs include is embedded too, and is no kernel. */
static void test_header_is_no_kernel(void **state) {
  assert_non_null(embed_find("src/kernels/mm_args.h"));
  assert_null(strstr(catalog_complaints(*state), "mm_args"));
}

static const struct kernel *need(const catalog *c, const char *id) {
  const struct kernel *k = catalog_find(c, id);
  if (!k)
    fail_msg("no %s", id);
  return k;
}

static void test_all_there(void **state) {
  static const char *const order[] = {"cuda/uncoalesced",
                                      "cuda/naive",
                                      "cuda/tiled",
                                      "cuda/tile_1d",
                                      "cuda/tile_2d",
                                      "cuda/vectorized",
                                      "cuda/padded",
                                      "cuda/double_buffer",
                                      "cuda/async_copy",
                                      "cuda/warp_tile",
                                      "cuda/sgemm_best",
                                      "cuda/wmma",
                                      "cuda/mma_sync",
                                      "cuda/wgmma_best",
                                      "cuda/copy",
                                      "cuda/add",
                                      "cuda/gemv",
                                      "cuda/fma",
                                      "cuda/transpose_naive",
                                      "cuda/transpose_tiled",
                                      "cuda/transpose_padded",
                                      "cuda/reduce_atomic",
                                      "cuda/reduce_tree",
                                      "cuda/reduce_first_add",
                                      "cuda/reduce_shuffle",
                                      "cuda/reduce_best",
                                      "cpu/ijk",
                                      "cpu/ikj",
                                      "cpu/tiled",
                                      "cpu/copy",
                                      "cpu/add",
                                      "cpu/gemv",
                                      "cpu/fma"};
  const catalog *c = *state;
  assert_string_equal(catalog_complaints(c), "");
  int at = -1;
  for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
    const struct kernel *k = need(c, order[i]);
    int found = 0;
    while (catalog_at(c, found) != k)
      found++;
    assert_true(found > at); // ladder order
    at = found;
  }
  assert_null(catalog_at(c, catalog_count(c)));
  assert_null(catalog_at(c, -1));
  for (int i = 0; i < catalog_count(c); i++) {
    const struct kernel *k = catalog_at(c, i);
    assert_true(k->builtin);
    for (int l = 0; l < 2; l++)
      assert_true(k->idea[l] && *k->idea[l] && k->limit[l] && *k->limit[l]);
    assert_non_null(k->flop);
    assert_non_null(k->dram_min);
    assert_true(k->target == KERNEL_CPU || k->cc_min >= 7.5);
  }
}

/* What the front matter's tile says, or the block's edge where it has no tile. */
static double edge(const struct kernel *k, const struct kernel_size *size, const char *text,
                   int64_t block) {
  struct kernel_scope scope = {k, size, (double)NAN, (double)NAN};
  double v = (double)block;
  struct err err = {0};
  if (text && !expr_eval(text, kernel_lookup, &scope, &v, &err))
    fail_msg("%s", err.text);
  return v;
}

/* Every element of C (or y) has a thread, for every parameter; nothing is launched outside CUDA's
 * limits. Kernels that need multiples get the next ones. */
static void check_cover(const struct kernel *k, const struct kernel_size *ragged_size) {
  struct kernel_size up = *ragged_size, *size = &up;
  struct kernel_geometry g;
  struct err err = {0};
  if (!kernel_accepts(k, size, &err)) {
    int64_t *const n[] = {&up.M, &up.N, &up.K};
    for (int i = 0; i < 3; i++)
      *n[i] = (*n[i] + 127) / 128 * 128;
  }
  if (!kernel_accepts(k, size, &err) || !kernel_geometry(k, 0, size, &g, &err))
    fail_msg("%s", err.text);
  // few threads stride through A, or stay for many tiles; the x-ray looks at what they reach
  if (k->op == OP_REDUCE || k->workspace || k->nmaps)
    return;
  double a, b, c;
  kernel_elements(k, size, &a, &b, &c);
  double threads =
      (double)(g.grid[0] * g.grid[1] * g.grid[2] * g.block[0] * g.block[1]) * (double)g.block[2];
  double each = k->op == OP_COPY                           ? 8
                : k->op == OP_ADD || k->op == OP_TRANSPOSE ? 4
                                                           : 1; // elements a thread
  if (k->tile_bm)
    each = k->tile_tm * k->tile_tn;
  if (!(threads * each >= c))
    fail_msg("%s: %g threads for %g elements", k->id, threads, c);
  if (k->op == OP_GEMM) { // also by side; uncoalesced has rows along x
    bool swapped = strstr(k->id, "uncoalesced") != NULL;
    double rows = edge(k, size, k->tile_bm, g.block[!swapped]);
    double cols = edge(k, size, k->tile_bn, g.block[swapped]);
    assert_true((double)g.grid[swapped] * cols >= (double)size->N);
    assert_true((double)g.grid[!swapped] * rows >= (double)size->M);
    double block = (double)(g.block[0] * g.block[1] * g.block[2]);
    if (k->tile_bm && k->a == DT_F32) // no thread idle, none too few
      assert_true(block * each == rows * cols);
  }
}

static void test_geometry(void **state) {
  const catalog *c = *state;
  for (int i = 0; i < catalog_count(c); i++) {
    const struct kernel *k = catalog_at(c, i);
    for (int s = 0; k->target == KERNEL_CUDA && s < RAGGED; s++) {
      struct kernel_size size = size_of(k, ragged[s][0], ragged[s][1], ragged[s][2]);
      check_cover(k, &size);
      for (int v = 0; k->nparams && v < k->params[0].nvalues; v++) {
        size.param[0] = k->params[0].values[v];
        check_cover(k, &size);
      }
    }
  }
  const struct kernel *tiled = need(c, "cuda/tiled");
  struct kernel_size size = size_of(tiled, 33, 65, 129);
  struct kernel_geometry g;
  assert_true(kernel_geometry(tiled, 0, &size, &g, NULL));
  assert_true(g.grid[0] == 3 && g.grid[1] == 2 && g.grid[2] == 1);
  assert_true(g.block[0] == 32 && g.block[1] == 32 && g.block[2] == 1 && g.smem == 0);
  struct err err;
  size = size_of(tiled, 65536 * 32, 1, 1);
  assert_false(kernel_geometry(tiled, 0, &size, &g, &err));
  assert_string_equal(err.text,
                      "cuda/tiled: grid.y = ceil(M/T) is 65536, and CUDA's limit is 65535. "
                      "Take smaller sizes");
}

static void says(const struct kernel *k, struct kernel_size size, const char *sentence) {
  struct err err = {0};
  assert_false(kernel_accepts(k, &size, &err));
  assert_string_equal(err.text, sentence);
}

static void test_accepts(void **state) {
  const catalog *c = *state;
  const struct kernel *tiled = need(c, "cuda/tiled");
  says(tiled, size_of(tiled, 65536, 1, 65536),
       "cuda/tiled needs M*K <= 2147483647 (it indexes with int); 65536*65536 = 4294967296. Take "
       "smaller sizes");
  says(tiled, size_of(tiled, 3000000, 1, 1),
       "cuda/tiled needs ceil(M/T) <= 65535 (CUDA's limit for a grid in y and z); "
       "ceil(3000000/32) = 93750. Take smaller sizes");
  says(tiled, size_of(tiled, 0, 1, 1),
       "cuda/tiled takes sizes from 1 to 2147483647; M = 0 is outside");
  says(tiled, size_of(tiled, 1, 1, 2147483648),
       "cuda/tiled takes sizes from 1 to 2147483647; K = 2147483648 is outside");
  says(tiled, size_of(tiled, 1, 1, 2147483647), // k0 += T would pass the largest int
       "cuda/tiled needs ceil(K/T)*T <= 2147483647 (it indexes with int); ceil(2147483647/32)*32 = "
       "2147483648. Take smaller sizes");
  struct kernel_size size = size_of(tiled, 46341, 1, 46341);
  assert_false(kernel_accepts(tiled, &size, NULL));
  size.M = size.K = 46340;
  assert_true(kernel_accepts(tiled, &size, NULL));
  const struct kernel *copy = need(c, "cuda/copy");
  size = size_of(copy, 65536, 65536, 1);
  assert_true(kernel_accepts(copy, &size, NULL));
}

/* Sentences of requirements that no shipped rung has. */
static void test_sentences(void **state) {
  (void)state;
  static const struct {
    const char *requirement, *sentence;
  } cases[] = {
      {"N%4==0", "cpu/x needs N to be a multiple of 4; 37 is not. Take 36 or 40"},
      {"K % 64 == 0", "cpu/x needs K to be a multiple of 64; 2 is not. Take 64"},
      {"M==N", "cpu/x needs M == N; 3 is not."},
      {"M*2>=N", "cpu/x needs M*2 >= N; 3*2 = 6."},
      {"M%4==0 && N%4==0",
       "cpu/x needs M%4==0 && N%4==0; here that is 3%4==0 && 37%4==0, which does not hold"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *text = alloc_printf("/* mmtutor {\"schema\": 1, \"id\": \"cpu/x\", \"op\": \"gemm\", "
                              "\"dtype\": {}, \"requires\": [\"%s\"]} */\nint cpu_x(void);\n",
                              cases[i].requirement);
    struct err err = {0};
    struct kernel *k = kernel_parse(text, strlen(text), "x.c", NULL, &err);
    if (!k)
      fail_msg("%s", err.text);
    says(k, size_of(k, 3, 37, 2), cases[i].sentence);
    kernel_free(k);
    free(text);
  }
}

static void test_parameters(void **state) {
  const catalog *c = *state;
  const struct kernel *tiled = need(c, "cuda/tiled");
  struct kernel_size size = size_of(tiled, 1, 1, 1);
  struct err err;
  assert_true(size.param[0] == 32);
  assert_true(kernel_set_param(tiled, &size, "T", 8, &err));
  assert_true(size.param[0] == 8);
  assert_false(kernel_set_param(tiled, &size, "T", 9, &err));
  assert_string_equal(err.text, "cuda/tiled takes T = 8, 16, 32; 9 is not one of them");
  assert_false(kernel_set_param(tiled, &size, "U", 9, &err));
  assert_string_equal(err.text, "cuda/tiled has no parameter 'U'; it has T");
  assert_false(kernel_set_param(need(c, "cuda/naive"), &size, "T", 9, &err));
  struct kernel_scope scope = {tiled, &size, 132, NAN};
  double v;
  assert_true(kernel_lookup(&scope, "sms", &v) && v == 132);
  assert_true(kernel_lookup(&scope, "smem_sm", &v) && v == KERNEL_CARD_SMEM_SM);
  assert_false(kernel_lookup(&scope, "Q", &v));
}

/* Bytes of A and B that the loads of the tiled kernel ask for, counted guard by guard. */
static double tiled_bytes(int64_t M, int64_t N, int64_t K, int64_t T) {
  double bytes = 0;
  for (int64_t by = 0; by * T < M; by++)
    for (int64_t bx = 0; bx * T < N; bx++)
      for (int64_t k0 = 0; k0 < K; k0 += T)
        for (int64_t ty = 0; ty < T; ty++)
          for (int64_t tx = 0; tx < T; tx++)
            bytes +=
                (by * T + ty < M && k0 + tx < K ? 4 : 0) + (bx * T + tx < N && k0 + ty < K ? 4 : 0);
  return bytes;
}

static void test_formulas(void **state) {
  const catalog *c = *state;
  const struct kernel *tiled = need(c, "cuda/tiled"), *naive = need(c, "cuda/naive");
  static const int64_t some[][3] = {{1, 1, 1}, {33, 65, 17}, {64, 32, 96}, {70, 3, 40}};
  for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
    int64_t M = some[i][0], N = some[i][1], K = some[i][2];
    struct kernel_size size = size_of(tiled, M, N, K);
    for (int v = 0; v < 3; v++) {
      size.param[0] = tiled->params[0].values[v];
      assert_true(kernel_requested(tiled, &size) == tiled_bytes(M, N, K, (int64_t)size.param[0]));
    }
    assert_true(kernel_flop(tiled, &size) == 2.0 * (double)(M * N * K));
    assert_true(kernel_requested(naive, &size) == 8.0 * (double)(M * N * K));
    assert_true(kernel_dram_min(naive, &size) == 4.0 * (double)(M * K + K * N + M * N));
  }
  for (int i = 0; i < catalog_count(c); i++) { // compulsory bytes are the arrays, once
    const struct kernel *k = catalog_at(c, i);
    struct kernel_size size = size_of(k, 12, 34, 56);
    double a, b, d;
    kernel_elements(k, &size, &a, &b, &d);
    a *= (double)kernel_dtype_size(k->a), b *= (double)kernel_dtype_size(k->b);
    assert_true(kernel_dram_min(k, &size) == a + b + d * (double)kernel_dtype_size(k->c));
  }
  struct kernel_size size = size_of(tiled, 4096, 4096, 4096);
  assert_true(kernel_flop(tiled, &size) == 137438953472.0);
  size = size_of(need(c, "cuda/fma"), 1000, 10, 1);
  assert_true(kernel_flop(need(c, "cuda/fma"), &size) == 2.0 * 8 * 1000 * 10);
}

static bool has_mark(const struct kernel_mark *marks, int n, const char *name, const char *shown,
                     const char *line_has) {
  for (int i = 0; i < n; i++) {
    const char *at = shown;
    for (int l = 1; l < marks[i].line; l++)
      at = strchr(at, '\n') + 1;
    size_t len = strcspn(at, "\n");
    if (!strcmp(marks[i].name, name) && memmem(at, len, line_has, strlen(line_has)))
      return true;
  }
  return false;
}

static void test_shown(void **state) {
  const catalog *c = *state;
  static const char *const marks_of_tiled[][2] = {
      {"load_a", "As[ty][tx] ="}, {"load_b", "Bs[ty][tx] ="},     {"barrier_1", "__syncthreads"},
      {"fma", "acc +="},          {"barrier_2", "__syncthreads"}, {"store", "C[r * N + c] ="},
      {"k_loop", "k0 += T"}};
  for (int i = 0; i < catalog_count(c); i++) {
    const struct kernel *k = catalog_at(c, i);
    struct kernel_mark *marks;
    int n;
    char *shown = kernel_shown(k, &marks, &n);
    assert_null(strstr(shown, "//@"));
    assert_null(strstr(shown, "mmtutor"));
    assert_null(strstr(shown, " \n"));
    assert_true(!strncmp(shown, "/*", 2) && n > 0);
    for (int m = 0; !strcmp(k->id, "cuda/tiled") && m < 7; m++)
      if (!has_mark(marks, n, marks_of_tiled[m][0], shown, marks_of_tiled[m][1]))
        fail_msg("no mark %s", marks_of_tiled[m][0]);
    for (int m = 0; m < n; m++)
      free(marks[m].name);
    free(marks);
    free(shown);
  }
}

static void unknown(const catalog *c, const char *id, const char *sentence) {
  struct err err;
  catalog_unknown(c, id, &err);
  if (strncmp(err.text, sentence, strlen(sentence)) != 0)
    fail_msg("%s", err.text);
}

static void test_unknown(void **state) {
  const catalog *c = *state;
  unknown(c, "cuda/tild", "no kernel 'cuda/tild'; did you mean cuda/tiled?");
  unknown(c, "tiled", "no kernel 'tiled'; did you mean cuda/tiled or cpu/tiled?");
  unknown(c, "cpu/ikk", "no kernel 'cpu/ikk'; did you mean cpu/ijk or cpu/ikj?");
  unknown(c, "zebra", "no kernel 'zebra'; there are cuda/uncoalesced, cuda/naive, ");
  unknown(c, "", "no kernel ''; there are ");
}

static void put_file(const char *dir, const char *name, const char *text) {
  char *path = alloc_printf("%s/%s", dir, name);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
  free(path);
}

/* A data directory adds rungs, replaces built-in ones, and complains about what it cannot read. */
static void test_data_directory(void **state) {
  const catalog *plain = *state;
  char dir[] = "/tmp/mmtutor-catalog-XXXXXX";
  assert_non_null(mkdtemp(dir));
  char *cpu = alloc_printf("%s/src/kernels/cpu", dir);
  char *command = alloc_printf("mkdir -p %s", cpu);
  assert_int_equal(system(command), 0);
  free(command);
  const char *own =
      "/* mmtutor {\"schema\": 1, \"id\": \"cpu/mine\", \"op\": \"gemm\", \"dtype\": {},"
      " \"variants\": {\"o0\": {\"flags\": [\"-O0\"]}}} */\nint cpu_mine(void);\n";
  put_file(cpu, "mine.c", own);
  put_file(cpu, "other.c", own);
  put_file(cpu, "broken.c", "int x;\n");
  put_file(cpu, "ijk.c",
           "/* mmtutor {\"schema\": 1, \"id\": \"cpu/ijk\", \"op\": \"gemm\", \"dtype\": "
           "{}} */\nint cpu_ijk(void);\n");
  put_file(cpu, "ikj.c", need(plain, "cpu/ikj")->source);
  setenv("MMTUTOR_DATA", dir, 1);
  catalog *c = catalog_new();
  unsetenv("MMTUTOR_DATA");
  assert_int_equal(catalog_count(c), catalog_count(plain) + 2);
  assert_false(need(c, "cpu/mine")->builtin);
  assert_string_equal(need(c, "cpu/mine@o0")->flags[0], "-O0");
  assert_false(need(c, "cpu/ijk")->builtin);
  assert_true(need(c, "cpu/ikj")->builtin);
  assert_non_null(strstr(catalog_complaints(c), "broken.c:1: "));
  assert_non_null(strstr(catalog_complaints(c), "the id cpu/mine does not fit the file's name"));
  catalog_free(c);
  command = alloc_printf("rm -r %s", dir);
  assert_int_equal(system(command), 0);
  free(command);
  free(cpu);
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_header_is_no_kernel),
                                     cmocka_unit_test(test_all_there),
                                     cmocka_unit_test(test_geometry),
                                     cmocka_unit_test(test_accepts),
                                     cmocka_unit_test(test_sentences),
                                     cmocka_unit_test(test_parameters),
                                     cmocka_unit_test(test_formulas),
                                     cmocka_unit_test(test_shown),
                                     cmocka_unit_test(test_unknown),
                                     cmocka_unit_test(test_data_directory)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
