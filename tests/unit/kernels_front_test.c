/* Front matter: every field, every kind of mistake with its line, and hostile text. */
#include "base/alloc.h"
#include "base/str.h"
#include "kernels/front.h"
#include "kernels/kernel.h"
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* A full CUDA front matter, one member a line, so that a test can change a line and know its
 * number. */
static const char *const cuda_lines[] = {
    "/* mmtutor {",
    " \"schema\": 1,",
    " \"id\": \"cuda/x\",",
    " \"op\": \"gemm\",",
    " \"dtype\": {\"A\": \"bf16\", \"B\": \"f16\", \"C\": \"f32\", \"acc\": \"f64\"},",
    " \"layout\": {\"A\": \"row\", \"B\": \"col\", \"C\": \"row\"},",
    " \"params\": {\"T\": {\"values\": [8, 16], \"default\": 16}, \"U\": {\"values\": [1], "
    "\"default\": 1}},",
    " \"variants\": {\"nofma\": {\"flags\": [\"--fmad=false\"]}, \"u4\": {\"define\": {\"V\": "
    "\"4\"}}},",
    " \"requires\": [\"N%4==0\", \"M*K<=2147483647\"],",
    " \"cc\": {\"min\": \"7.5\", \"max\": \"9.0\", \"suffix\": \"a\"},",
    " \"launches\": [{\"entry\": \"f\", \"grid\": [\"ceil(N/T)\", \"M\", 1], \"block\": [\"T\", "
    "\"T\", 1],",
    "   \"cluster\": [2, 1, 1], \"smem\": \"4*T*T\", \"args\": [\"A\", \"C\", \"M\", \"alpha\", "
    "3, \"mapB\"]}],",
    " \"workspace\": \"8*M\",",
    " \"maps\": {\"mapA\": {\"of\": \"A\", \"box\": [\"64\", \"4*T\"], \"swizzle\": 128}, "
    "\"mapB\": {\"of\": \"B\", \"box\": [8, 16], \"swizzle\": 0, \"l2\": 0}},",
    " \"tile\": {\"BM\": \"T\", \"BN\": \"2*T\", \"BK\": 8, \"TM\": 4, \"TN\": 8, \"stages\": 2},",
    " \"traffic\": {\"requested\": \"8*M*N*K\", \"dram_min\": \"4*M*N\", \"wavefronts\": "
    "\"M*sms\"},",
    " \"flop\": \"2*M*N*K\",",
    " \"deterministic\": false,",
    " \"idea\": {\"en\": \"idea\", \"zh\": \"想法\"},",
    " \"limit\": {\"en\": \"limit\", \"zh\": \"限制\"} } */",
    "extern \"C\" __global__ void f(float *A) {",
    "  A[0] = 1.f;   //@ store",
    "}"};
enum { CUDA_LINES = sizeof cuda_lines / sizeof *cuda_lines };

/* The file with line `number` (from 1) put in another way; 0 changes nothing. The caller frees. */
static char *with_line(int number, const char *text) {
  struct str s = {0};
  for (int i = 0; i < CUDA_LINES; i++)
    str_addf(&s, "%s\n", i + 1 == number ? text : cuda_lines[i]);
  return str_take(&s);
}

static struct kernel *parse(const char *text, const char *path, const char *variant,
                            struct err *err) {
  *err = (struct err){0};
  return kernel_parse(text, strlen(text), path, variant, err);
}

/* The changed file must be refused with "x.cu:LINE: " and a sentence that holds `says`. */
static void refuse(int number, const char *text, const char *says) {
  char *source = with_line(number, text);
  struct err err;
  struct kernel *k = parse(source, "x.cu", NULL, &err);
  if (k)
    fail_msg("accepted: %s", text);
  char *start = alloc_printf("x.cu:%d: ", number);
  if (strncmp(err.text, start, strlen(start)) != 0 || !strstr(err.text, says))
    fail_msg("%s gave: %s", text, err.text);
  free(start);
  free(source);
}

static void test_every_field(void **state) {
  (void)state;
  char *source = with_line(0, "");
  struct err err;
  struct kernel *k = parse(source, "dir/x.cu", NULL, &err);
  if (!k)
    fail_msg("%s", err.text);
  assert_string_equal(k->id, "cuda/x");
  assert_null(k->variant);
  assert_int_equal(k->target, KERNEL_CUDA);
  assert_int_equal(k->op, OP_GEMM);
  assert_int_equal(k->a, DT_BF16);
  assert_int_equal(k->b, DT_F16);
  assert_int_equal(k->c, DT_F32);
  assert_int_equal(k->acc, DT_F64);
  assert_true(!k->a_col && k->b_col && !k->c_col);
  assert_int_equal(k->nparams, 2);
  assert_string_equal(k->params[0].name, "T");
  assert_int_equal(k->params[0].nvalues, 2);
  assert_true(k->params[0].values[0] == 8 && k->params[0].fallback == 16);
  assert_int_equal(k->nrequires, 2);
  assert_string_equal(k->requires[0], "N%4==0");
  assert_true(k->cc_min == 7.5 && k->cc_max == 9.0);
  assert_string_equal(k->cc_suffix, "a");
  assert_int_equal(k->nlaunches, 1);
  const struct kernel_launch *l = k->launches;
  assert_string_equal(l->entry, "f");
  assert_string_equal(l->grid[1], "M");
  assert_string_equal(l->grid[2], "1");
  assert_string_equal(l->block[0], "T");
  assert_string_equal(l->smem, "4*T*T");
  assert_true(l->cluster[0] == 2 && l->cluster[1] == 1);
  assert_int_equal(l->nargs, 6);
  assert_string_equal(l->args[3], "alpha");
  assert_string_equal(l->args[4], "3");
  assert_string_equal(l->args[5], "mapB");
  assert_int_equal(k->nmaps, 2);
  const struct kernel_map *a = kernel_map_find(k, "mapA"), *b = kernel_map_find(k, "mapB");
  assert_true(a && b && !kernel_map_find(k, "A"));
  assert_true(a->of == 0 && a->swizzle == 128 && a->l2 == 128);
  assert_true(b->of == 1 && b->swizzle == 0 && b->l2 == 0);
  assert_string_equal(a->box[0], "64");
  assert_string_equal(a->box[1], "4*T");
  assert_string_equal(b->box[1], "16");
  assert_string_equal(k->workspace, "8*M");
  assert_string_equal(k->tile_bn, "2*T");
  assert_string_equal(k->tile_bk, "8");
  assert_true(k->tile_tm == 4 && k->tile_tn == 8 && k->tile_stages == 2);
  assert_string_equal(k->requested, "8*M*N*K");
  assert_string_equal(k->dram_min, "4*M*N");
  assert_string_equal(k->wavefronts, "M*sms");
  assert_string_equal(k->flop, "2*M*N*K");
  assert_false(k->deterministic);
  assert_false(k->builtin);
  assert_string_equal(k->idea[0], "idea");
  assert_string_equal(k->limit[1], "限制");
  assert_string_equal(k->path, "dir/x.cu");
  assert_string_equal(k->source, source);
  assert_int_equal(strlen(k->sha256), 64);
  kernel_free(k);
  free(source);
}

static void test_variants(void **state) {
  (void)state;
  char *source = with_line(0, "");
  struct err err;
  struct kernel *k = parse(source, "x.cu", "nofma", &err);
  assert_non_null(k);
  assert_string_equal(k->id, "cuda/x@nofma");
  assert_string_equal(k->variant, "nofma");
  assert_int_equal(k->nflags, 1);
  assert_string_equal(k->flags[0], "--fmad=false");
  assert_int_equal(k->ndefines, 0);
  kernel_free(k);
  k = parse(source, "x.cu", "u4", &err);
  assert_non_null(k);
  assert_string_equal(k->defines[0], "V=4");
  struct kernel_size size = kernel_size_default(k, 1, 1, 1);
  char *code = kernel_code(k, &size);
  assert_memory_equal(code, "#define T 16\n#define U 1\n#define V 4\n#line 1 \"x.cu\"\n/*", 54);
  free(code);
  kernel_free(k);
  assert_null(parse(source, "x.cu", "none", &err));
  assert_string_equal(err.text, "x.cu:8: there is no variant 'none'; the file has nofma, u4");
  char **names;
  assert_int_equal(kernel_variants(source, strlen(source), &names), 2);
  assert_string_equal(names[0], "nofma");
  assert_string_equal(names[1], "u4");
  free(names[0]);
  free(names[1]);
  free(names);
  assert_int_equal(kernel_variants("int x;", 6, &names), 0);
  free(source);
}

static void test_mistakes(void **state) {
  (void)state;
  static const struct {
    int line;
    const char *text, *says;
  } cases[] = {
      {1, "/* mmtutor { \"speed\": 1,", "unknown key \"speed\""},
      {2, " \"schema\": 2,", "must be 1"},
      {2, " \"schema\": \"1\",", "must be 1"},
      {3, " \"id\": \"cpu/x\",", "\"id\" must be cuda/"},
      {3, " \"id\": \"cuda/../x\",", "\"id\" must be cuda/"},
      {3, " \"id\": 7,", "must be a string"},
      {4, " \"op\": \"mul\",", "unknown op \"mul\""},
      {5, " \"dtype\": {\"A\": \"f31\"},", "unknown type \"f31\""},
      {5, " \"dtype\": {\"D\": \"f32\"},", "unknown key \"D\""},
      {5, " \"dtype\": \"f32\",", "must be a JSON object"},
      {6, " \"layout\": {\"A\": \"diagonal\"},", "\"row\" or \"col\""},
      {7, " \"params\": {\"T\": {\"values\": [8, 16], \"default\": 9}},", "one of its values"},
      {7, " \"params\": {\"T\": {\"values\": [], \"default\": 9}},", "1 to 16 numbers"},
      {7, " \"params\": {\"T\": {\"values\": [1.5], \"default\": 1.5}},", "whole number"},
      {7, " \"params\": {\"M\": {\"values\": [1], \"default\": 1}},", "cannot be a parameter"},
      {7, " \"params\": {\"T T\": {\"values\": [1], \"default\": 1}},", "cannot be a parameter"},
      {7, " \"params\": [1],", "must be a JSON object"},
      {8, " \"variants\": {\"a b\": {}},", "cannot be a variant"},
      {8, " \"variants\": {\"a\": {\"flag\": []}},", "unknown key \"flag\""},
      {8, " \"variants\": {\"a\": {\"flags\": [1]}},", "strings only"},
      {8, " \"variants\": {\"a\": {\"define\": {\"x y\": \"1\"}}},", "maps a name"},
      {9, " \"requires\": [\"N%%4==0\"],", "requires"},
      {9, " \"requires\": [\"Q<=1\"],", "'Q', which is not known"},
      {9, " \"requires\": \"N\",", "array of expressions"},
      {10, " \"cc\": {\"min\": 7.5},", "compute capability"},
      {10, " \"cc\": {\"min\": \"7\"},", "compute capability"},
      {10, " \"cc\": {\"suffix\": \"zz\"},", "\"suffix\""},
      {11, " \"launches\": [{\"entry\": \"f()\", \"grid\": [1, \"M\", 1], \"block\": [1, 1, 1],",
       "C name"},
      {11, " \"launches\": [{\"entry\": \"f\", \"grid\": [1, \"M\"], \"block\": [1, 1, 1],",
       "three expressions"},
      {11, " \"launches\": [{\"entry\": \"f\", \"grid\": [1, \"M +\", 1], \"block\": [1, 1, 1],",
       "grid"},
      {11, " \"launches\": [{\"entry\": \"f\", \"grid\": [1, true, 1], \"block\": [1, 1, 1],",
       "an expression"},
      {11, " \"launches\": [{\"entry\": \"g\", \"grid\": [1, 1, 1], \"block\": [1, 1, 1],",
       "no function 'g'"},
      {12, "   \"cluster\": [0, 1, 1], \"smem\": 0, \"args\": []}],", "\"cluster\""},
      {12, "   \"args\": [\"D\"]}],", "an argument is"},
      {12, "   \"args\": [], \"arg\": []}],", "unknown key \"arg\""},
      {13, " \"workspace\": \"8*X\",", "'X', which is not known"},
      {14, " \"maps\": [],", "\"maps\" must be a JSON object"},
      {14, " \"maps\": {\"a\": 3},", "a tensor map must be a JSON object"},
      {14, " \"maps\": {\"a\": {}},", "\"of\" is missing"},
      {14, " \"maps\": {\"a\": {\"of\": \"W\"}},", "a tensor map is of A, B or C"},
      {14, " \"maps\": {\"a\": {\"of\": \"A\"}},", "\"box\" must be an array of two expressions"},
      {14, " \"maps\": {\"a\": {\"of\": \"A\", \"box\": [8]}},", "two expressions"},
      {14, " \"maps\": {\"a\": {\"of\": \"A\", \"box\": [8, \"Q\"]}},", "box uses 'Q'"},
      {14, " \"maps\": {\"a\": {\"of\": \"A\", \"box\": [8, 8]}},",
       "\"swizzle\" of a tensor map is 0, 32, 64 or 128"},
      {14, " \"maps\": {\"a\": {\"of\": \"A\", \"box\": [8, 8], \"swizzle\": -1}},",
       "\"swizzle\" of"},
      {14, " \"maps\": {\"a\": {\"of\": \"A\", \"box\": [8, 8], \"swizzle\": 64, \"l2\": 32}},",
       "\"l2\" of a tensor map is 0, 64, 128 or 256"},
      {14, " \"maps\": {\"a\": {\"of\": \"A\", \"box\": [8, 8], \"swizzle\": 64, \"pad\": 1}},",
       "unknown key \"pad\""},
      {14, " \"maps\": {\"lda\": {}},", "cannot be a tensor map's name"},
      {14, " \"maps\": {\"T\": {}},", "cannot be a tensor map's name"},
      {14, " \"maps\": {\"a b\": {}},", "cannot be a tensor map's name"},
      {15, " \"tile\": {\"BM\": \"T\"},", "BM, BN and BK"},
      {15, " \"tile\": {\"BM\": \"T\", \"BN\": 1, \"BK\": 1, \"TM\": 0},", "whole number"},
      {16, " \"traffic\": {\"read\": \"1\"},", "unknown key \"read\""},
      {17, " \"flop\": [2],", "an expression"},
      {18, " \"deterministic\": 1,", "true or false"},
      {19, " \"idea\": {\"en\": \"only\"},", "\"zh\" is missing"},
      {19, " \"idea\": \"x\",", "JSON object"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    refuse(cases[i].line, cases[i].text, cases[i].says);
}

static void test_missing(void **state) {
  (void)state;
  static const struct {
    int line;
    const char *says;
  } cases[] = {{2, "schema"},
               {3, "\"id\" is missing"},
               {4, "\"op\" is missing"},
               {5, "\"dtype\" is missing"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *source = with_line(cases[i].line, "");
    struct err err;
    assert_null(parse(source, "x.cu", NULL, &err));
    if (strncmp(err.text, "x.cu:1: ", 8) != 0 || !strstr(err.text, cases[i].says))
      fail_msg("%s", err.text);
    free(source);
  }
}

static void test_no_front_matter(void **state) {
  (void)state;
  static const char *const files[] = {"",
                                      "int main(void);\n",
                                      "/* mmtutor {\"schema\": 1}\n",
                                      "/* mmtuto",
                                      "/* other */ /* mmtutor {} */",
                                      "/**/"};
  struct err err;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    assert_null(parse(files[i], "y.c", NULL, &err));
    assert_memory_equal(err.text, "y.c:1: ", 7);
    assert_non_null(strstr(err.text, "/* mmtutor"));
  }
  assert_null(parse("/* mmtutor [1] */", "y.c", NULL, &err));
  assert_non_null(strstr(err.text, "JSON object"));
  assert_null(parse("/* mmtutor {} */", "y.txt", NULL, &err));
  assert_non_null(strstr(err.text, ".cu"));
  assert_null(kernel_parse("/* mmtutor {}\0 */", 17, "y.c", NULL, &err));
  assert_non_null(strstr(err.text, "NUL"));
}

static void test_cpu(void **state) {
  (void)state;
  static const char text[] =
      "\n/* mmtutor {\"schema\": 1, \"id\": \"cpu/y\", \"op\": \"gemm\", \"dtype\": {},\n"
      "\"isa\": [\"avx2\", \"fma\"], \"parallel\": true} */\n"
      "int cpu_y(const struct mm_args *a) { return 0; }\n";
  struct err err;
  struct kernel *k = parse(text, "y.c", NULL, &err);
  if (!k)
    fail_msg("%s", err.text);
  assert_int_equal(k->target, KERNEL_CPU);
  assert_string_equal(k->entry, "cpu_y");
  assert_true(k->parallel && k->deterministic && k->nlaunches == 0 && !k->launches);
  assert_int_equal(k->nisa, 2);
  assert_string_equal(k->isa[1], "fma");
  assert_null(k->flop);
  assert_null(k->idea[0]);
  struct kernel_size size = kernel_size_default(k, 2, 3, 4);
  assert_true(kernel_flop(k, &size) != kernel_flop(k, &size)); // NAN: not known
  kernel_free(k);
  char *other = alloc_str(text);
  *strstr(other, "cpu_y") = 'x';
  assert_null(parse(other, "y.c", NULL, &err));
  assert_memory_equal(err.text, "y.c:2: ", 7);
  free(other);
}

/* Every prefix of a good file, and the file with any one byte changed, is read or refused: no
 * crash. */
static void test_hostile(void **state) {
  (void)state;
  char *source = with_line(0, "");
  size_t n = strlen(source);
  struct err err;
  int refused = 0;
  for (size_t i = 0; i < n; i += 3) {
    char *cut = alloc_strn(source, i);
    struct kernel *k = kernel_parse(cut, i, "x.cu", NULL, &err);
    refused += !k;
    kernel_free(k);
    free(cut);
  }
  assert_true(refused > 100);
  static const char bytes[] = {'"', '}', ']', '\\', '9', '\xff', '*', '\n'};
  for (size_t i = 0; i < n; i += 2) {
    char *odd = alloc_strn(source, n);
    odd[i] = bytes[i / 2 % sizeof bytes];
    kernel_free(kernel_parse(odd, n, "x.cu", "u4", &err));
    free(odd);
  }
  struct str deep = {0};
  str_add(&deep, "/* mmtutor ");
  for (int i = 0; i < 10000; i++)
    str_add(&deep, "{\"a\":");
  str_add(&deep, " */");
  assert_null(parse(deep.data, "x.cu", NULL, &err));
  str_clear(&deep);
  str_add(&deep, "/* mmtutor {\"schema\":1,\"schema\":1} */");
  assert_null(parse(deep.data, "x.cu", NULL, &err));
  str_free(&deep);
  free(source);
}

/* The shown source has neither front matter nor marks; marks carry lines of the shown text. */
static void test_shown(void **state) {
  (void)state;
  static const char text[] =
      "/* mmtutor {\"schema\": 1, \"id\": \"cpu/y\", \"op\": \"gemm\", \"dtype\": {}} */\n\n"
      "// head\nint cpu_y(void) {\t//@ a b\n  //@ c\r\n  return 0; // why //@ d\n}";
  struct err err;
  struct kernel *k = parse(text, "y.c", NULL, &err);
  assert_non_null(k);
  struct kernel_mark *marks;
  int n;
  char *shown = kernel_shown(k, &marks, &n);
  assert_string_equal(shown, "// head\nint cpu_y(void) {\n\n  return 0; // why\n}\n");
  static const struct {
    const char *name;
    int line;
  } expect[] = {{"a", 2}, {"b", 2}, {"c", 3}, {"d", 4}};
  assert_int_equal(n, 4);
  for (int i = 0; i < n; i++) {
    assert_string_equal(marks[i].name, expect[i].name);
    assert_int_equal(marks[i].line, expect[i].line);
    free(marks[i].name);
  }
  free(marks);
  char *again = kernel_shown(k, NULL, NULL);
  assert_string_equal(again, shown);
  free(again);
  free(shown);
  kernel_free(k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_field),     cmocka_unit_test(test_variants),
      cmocka_unit_test(test_mistakes),        cmocka_unit_test(test_missing),
      cmocka_unit_test(test_no_front_matter), cmocka_unit_test(test_cpu),
      cmocka_unit_test(test_hostile),         cmocka_unit_test(test_shown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
