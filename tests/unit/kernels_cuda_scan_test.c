/* Learners' files cut to device code: what stays, what goes, and that any bytes are survived. */
#include "base/alloc.h"
#include "kernels/cuda_headers.h"
#include "kernels/cuda_scan.h"
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- what must hold for any input */
static void check(const struct cuda_scan *s, const char *source, size_t n) {
  assert_int_equal(s->n, n);
  assert_int_equal(strlen(s->text), n);
  for (size_t i = 0; i < n; i++)
    if (s->text[i] != source[i])
      assert_true(s->text[i] == ' ' && source[i] != '\n');
  int last = 1;
  for (int i = 0; i < s->nchunks; i++) {
    assert_true(s->chunks[i].begin < s->chunks[i].end && s->chunks[i].end <= n);
    assert_true(s->chunks[i].line >= last && s->chunks[i].last >= s->chunks[i].line);
    last = s->chunks[i].line;
  }
  for (int i = 0; i < s->nkernels; i++)
    assert_true(s->kernels[i].chunk >= 0 && s->kernels[i].chunk < s->nchunks);
}

static struct cuda_scan *scan(const char *source) {
  struct cuda_scan *s = cuda_scan_new(source, strlen(source));
  check(s, source, strlen(source));
  return s;
}

/* "gone: main x | kernels: k ns::q" -- what a file comes to, in one line. */
static char *summary(const char *source) {
  static const char *const why[] = {"f", "m", "v", "d", "t", "x"};
  static char out[1000];
  struct cuda_scan *s = scan(source);
  size_t used = 0;
  out[0] = 0;
  for (int i = 0; i < s->nleft && used < 900; i++)
    used += (size_t)snprintf(out + used, sizeof out - used, "%s-%s:%d", i ? " " : "",
                             why[s->left[i].why], s->left[i].line);
  for (int i = 0; i < s->nleft && used < 900; i++)
    used += (size_t)snprintf(out + used, sizeof out - used, " %.40s", s->left[i].name);
  for (int i = 0; i < s->nkernels && used < 900; i++)
    used += (size_t)snprintf(out + used, sizeof out - used, " |%.60s", s->kernels[i].name);
  cuda_scan_free(s);
  return out;
}

#define SUMS(source, expected) assert_string_equal(summary(source), expected)

static bool keeps(const char *source, const char *piece) {
  struct cuda_scan *s = scan(source);
  bool found = strstr(s->text, piece) != NULL;
  cuda_scan_free(s);
  return found;
}

static void test_host_functions_go(void **state) {
  (void)state;
  SUMS("int main() { return 0; }\n__global__ void k(float *a) { a[0] = 1; }", "-f:1 main |k");
  SUMS("__global__ void k() {}\nint main(int c, char **v)\n{\n if (c) { } }\n", "-f:2 main |k");
  SUMS("static inline double now() { return 1; }", "-f:1 now");
  SUMS("std::vector<float> make(int n) { return {}; }", "-f:1 make");
  SUMS("auto f(int a) -> int { return a; }", "-f:1 f");
  SUMS("bool operator<(const P &a, const P &b) { return 1; }", "-f:1 operator<");
  SUMS("std::ostream & operator << (std::ostream &o, P p) { return o; }", "-f:1 operator <<");
  SUMS("M::M(int a) : x(a), y{a}, z(0) { run(); }\nint q;", "-f:1 -v:2 M q");
  SUMS("template <typename T, int N = (3 > 2)> void f(T a) { }", "-f:1 f");
  SUMS("template <> void f<float>(float a) { }", "-f:1 f<float>");
  SUMS("__host__ int h() { return 1; }\n__host__ __device__ int d() { return 2; }", "-f:1 h");
  SUMS("TEST(Suite, Name) { EXPECT(1); }", "-f:1 TEST");
  assert_false(keeps("int main() { return 77; }", "77"));
  assert_true(keeps("constexpr int up(int a) { return a + 77; }", "77"));
}

static void test_globals(void **state) {
  (void)state;
  SUMS("float *a, *b;\nint n = 3, m;\nstatic float x[4] = {1, 2};", "-v:1 -v:2 -v:3 a n x");
  SUMS("std::vector<int> v{1, 2};\nconst std::string s = \"x\";", "-v:1 -v:2 v s");
  SUMS("const char *names[] = {\"a;\", \"}\"};", "-v:1 names");
  SUMS("auto f = [](int x) { return x; };", "-v:1 f");
  SUMS("dim3 block(16, 16);\nvoid run(int);\nextern int e;", "-d:1 -d:2 -v:3 block run e");
  SUMS("void (*handler)(int) = 0;", "-v:1 ");
  SUMS("const int N = 4;\nconstexpr float h = 2;\nstatic const unsigned q = 1;\nenum { A, B };",
       "");
  SUMS("__device__ int c;\n__constant__ float m[3] = {1};\n__device__ const float *p;", "");
  SUMS("const std::size_t n = 4;\nstatic_assert(sizeof(int) == 4, \"int\");", "");
  SUMS("typedef float real;\nusing T = float;\nusing namespace std;\nnamespace cg = coop;", "");
  SUMS("using std::string;\nusing V = std::vector<int>;\nusing std::min;", "-d:1 -d:2 string V");
}

static void test_types(void **state) {
  (void)state;
  SUMS("struct P { int a; float *b; };\nstruct Q;\nunion U { int i; float f; };", "");
  SUMS("struct P { int a; P(int x) : a(x) {} void show() const; };", "-m:1 -m:1 P show");
  SUMS("struct P { __device__ int f() { return 1; } int g() { return 2; } };", "-m:1 g");
  SUMS("class P { public: P() = default; private: int a : 3; ~P() { } };", "-m:1 P");
  SUMS("struct A { struct B { void f() {} int x; } b; };", "-m:1 f");
  SUMS("struct L { std::vector<int> v; void f() {} };", "-t:1 L");
  SUMS("struct __align__(16) V { float x[4]; };", "");
  SUMS("struct F { void (*fn)(int); int n; };", "");
  SUMS("struct P make(int a) { return P(); }", "-f:1 make");
  SUMS("struct P { int a; } g;", "");
  assert_true(keeps("struct F { void (*fn)(int); };", "(*fn)(int);"));
  assert_true(keeps("struct P { int a = 3; bool f() const { return 9; } int b; };", "int b;"));
  assert_false(keeps("struct P { int a = 3; bool f() const { return 9; } int b; };", "9"));
}

static void test_nesting(void **state) {
  (void)state;
  SUMS("namespace a { namespace b { __global__ void k() {} int f() { return 1; } } int g; }\n"
       "__global__ void q() {}",
       "-f:1 -v:1 f g |a::b::k |q");
  SUMS("namespace a::b { __global__ void k() {} }", " |a::b::k");
  SUMS("namespace { __global__ void k() {} }", " |k");
  SUMS("extern \"C\" { __global__ void k() {} void f() {} }", "-f:1 f |k");
  SUMS("extern \"C\" __global__ void k() {}", " |k");
  assert_true(keeps("namespace a { int g; }", "namespace a {"));
}

static void test_kernels(void **state) {
  (void)state;
  struct cuda_scan *s = scan("#define KERNEL __global__ void\n"
                             "template <typename T, int BM = 64>\n"
                             "__global__ void __launch_bounds__(256, 2)\n"
                             "tiled(const T *__restrict__ A, // input\n"
                             "      int n) { }\n"
                             "KERNEL plain(float *p) {}\n"
                             "__global__ void later(int);\n"
                             "template <> __global__ void spec<float>(float *p) {}\n");
  assert_int_equal(s->nkernels, 3);
  assert_string_equal(s->kernels[0].name, "tiled");
  assert_int_equal(s->kernels[0].line, 4);
  assert_string_equal(s->kernels[0].template_params, "typename T, int BM = 64");
  assert_string_equal(s->kernels[0].params, "const T *__restrict__ A, int n");
  assert_string_equal(s->kernels[1].name, "plain");
  assert_null(s->kernels[1].template_params);
  assert_string_equal(s->kernels[2].name, "spec<float>");
  assert_null(s->kernels[2].template_params);
  assert_int_equal(s->nleft, 0);
  cuda_scan_free(s);
}

static void test_launches(void **state) {
  (void)state;
  struct cuda_scan *s = scan("int main() {\n"
                             "  ns::tiled<32, (3 > 2)> <<< dim3(n / 32, f(1, 2)), dim3(32, 32),\n"
                             "     smem * sizeof(float), stream >>> (a, b, /* c */ n);\n"
                             "  plain<<<1, 32>>>();  // no<<<1, 1>>>();\n"
                             "  puts(\"no<<<1, 1>>>()\"); x = a <<< 3; cout << b << c;\n}\n");
  assert_int_equal(s->launches.n, 2);
  const struct cuda_launch *l = s->launches.all;
  assert_string_equal(l[0].kernel, "ns::tiled");
  assert_string_equal(l[0].template_args, "32, (3 > 2)");
  assert_string_equal(l[0].grid, "dim3(n / 32, f(1, 2))");
  assert_string_equal(l[0].block, "dim3(32, 32)");
  assert_string_equal(l[0].smem, "smem * sizeof(float)");
  assert_string_equal(l[0].args, "a, b, n");
  assert_int_equal(l[0].line, 2);
  assert_string_equal(l[1].kernel, "plain");
  assert_null(l[1].template_args);
  assert_string_equal(l[1].smem, "");
  assert_string_equal(l[1].args, "");
  cuda_scan_free(s);
}

/* Constants of the launching function are put in: outside of it their names mean nothing. */
static void test_constants_in_launches(void **state) {
  (void)state;
  struct cuda_scan *s =
      scan("void f() {\n"
           "  using P = Pair<int, 3>;\n  const int A = g(1, 2), B = A * 2;\n"
           "  int C = 5; constexpr auto D = 7;\n"
           "  k<P, A, 4><<<1, 32>>>(); k<B><<<1, 1>>>(); k<C, D, E><<<1, 1>>>();\n"
           "}\n");
  static const char *const args[] = {"Pair<int, 3>, (g(1, 2)), 4", "((g(1, 2)) * 2)", "C, 7, E"};
  assert_int_equal(s->launches.n, 3);
  for (int i = 0; i < 3; i++)
    assert_string_equal(s->launches.all[i].template_args, args[i]);
  cuda_scan_free(s);
}

static void test_text_that_is_no_code(void **state) {
  (void)state;
  SUMS("/* int main() { */ __global__ void k() { } // }\nint x;", "-v:2 x |k");
  SUMS("int main() { puts(\"}{\"); char c = '}'; char d = '\\''; return '\"'; }\nint x;",
       "-f:1 -v:2 main x");
  SUMS("int main() { auto s = R\"(} \" { )\"; auto t = R\"x()\" )x\"; }\nint x;",
       "-f:1 -v:2 main x");
  SUMS("int main() { f(1'000); }\nint b;", "-f:1 -v:2 main b");
  SUMS("int a = 1'000'000;\nint b;", "-v:1 -v:2 a b");
  SUMS("// line \\\nint main() { }\nint x;", "-v:3 x");
  SUMS("#define OPEN {\n#define TWO do { \\\n  if (1) {\nint x;", "-v:4 x");
  SUMS("#if 0\nDon't { read \" this\n#endif\nint x;", "-v:4 x");
  SUMS("#if 1\nint x;\n#else\n} } {\n#endif\nint y;", "-v:2 -v:6 x y");
  SUMS("#ifdef A\nvoid f(int a) {\n#else\nvoid f(int b) {\n#endif\n}\nint x;", "-f:2 -v:7 f x");
  SUMS("\xef\xbb\xbfint x;\r\nint y;\r\n", "-v:1 -v:2 x y");
}

static void test_preprocessor_stays(void **state) {
  (void)state;
  const char *source = "int main() {\n#define T 32\n  go();\n#ifdef X\n  x();\n#endif\n}\n";
  assert_true(keeps(source, "#define T 32\n"));
  assert_true(keeps(source, "#ifdef X\n"));
  assert_false(keeps(source, "go"));
  struct cuda_scan *s = scan("#include <cuda.h>\n #  include \"my file.h\" // x\n#include FOO\n"
                             "// #include <no>\nint main() {\n#include \"in.h\"\n}\n");
  assert_int_equal(s->nincludes, 3);
  assert_string_equal(s->includes[0].name, "cuda.h");
  assert_false(s->includes[0].quoted);
  assert_string_equal(s->includes[1].name, "my file.h");
  assert_true(s->includes[1].quoted);
  assert_int_equal(s->includes[2].line, 6);
  cuda_scan_free(s);
}

static void test_macros_that_make_kernels(void **state) {
  (void)state;
  const char *source = "#define MAKE(N) __global__ void N(float *p) { p[0] = 1; }\n"
                       "MAKE(a)\nMAKE(b)\nint main() { a<<<1, 1>>>(0); }\n";
  SUMS(source, "-f:4 main");
  assert_true(keeps(source, "MAKE(a)\nMAKE(b)"));
}

static void test_drop(void **state) {
  (void)state;
  struct cuda_scan *s = scan("#include <x.h>\nstruct P {\n  int a;\n};\n#define K 3\n"
                             "__global__ void k(P p) {\n}\n");
  assert_int_equal(s->nchunks, 2);
  assert_false(cuda_scan_drop(s, 6, "why", 1));
  assert_false(cuda_scan_drop(s, 5, "why", -1));
  assert_true(cuda_scan_drop(s, 3, "no good", -1));
  assert_string_equal(s->left[0].name, "P");
  assert_string_equal(s->left[0].text, "no good");
  assert_int_equal(s->left[0].line, 2);
  assert_false(cuda_scan_drop(s, 3, "again", -1));
  assert_true(cuda_scan_drop(s, 1, "none", -1));
  assert_true(cuda_scan_drop(s, 7, "kernel", -1));
  assert_string_equal(s->text + strspn(s->text, " \n"),
                      "#define K 3\n                        \n \n");
  assert_int_equal(cuda_scan_chunk_at(s, 6), -1);
  cuda_scan_free(s);
}

static void test_headers(void **state) {
  (void)state;
  assert_int_equal(cuda_headers_find("cuda_runtime.h"), CUDA_HEADERS_EMPTY);
  assert_int_equal(cuda_headers_find("vector"), CUDA_HEADERS_EMPTY);
  assert_int_equal(cuda_headers_find("cuda_fp16.h"), CUDA_HEADERS_TOOLKIT);
  assert_int_equal(cuda_headers_find("cooperative_groups/reduce.h"), CUDA_HEADERS_TOOLKIT);
  assert_int_equal(cuda_headers_find("mine.h"), CUDA_HEADERS_UNKNOWN);
  bool prelude = false;
  for (int i = 0; i < cuda_headers_count(); i++) {
    prelude |= !strcmp(cuda_headers_name(i), cuda_headers_prelude_name);
    assert_true(strlen(cuda_headers_text(i)) > 0);
    for (int j = 0; j < i; j++)
      assert_string_not_equal(cuda_headers_name(i), cuda_headers_name(j));
  }
  assert_true(prelude);
}

/* ---- hostile text */
static void survive(const char *source, size_t n) {
  struct cuda_scan *s = cuda_scan_new(source, n);
  check(s, source, n);
  for (int line = 1; line < 40; line++)
    cuda_scan_drop(s, line, "x", -1);
  check(s, source, n);
  cuda_scan_free(s);
}

static void test_hostile(void **state) {
  (void)state;
  static const char *const units[] = {"{",
                                      "}",
                                      "(",
                                      "<",
                                      "<<<",
                                      "a<<<1,",
                                      "k<1><<<1,1>>>(",
                                      "R\"(",
                                      "\"",
                                      "'",
                                      "/*",
                                      "//\\\n",
                                      "#if 0\n",
                                      "#else\n",
                                      "\\\n",
                                      "template<",
                                      "struct ",
                                      "struct{",
                                      "namespace a{",
                                      "operator",
                                      "int a;",
                                      "#if 1\n{\n#else\n",
                                      "x",
                                      "::",
                                      "=",
                                      "1'",
                                      "class A{A():b{",
                                      "#define X __global__ {\n",
                                      "void f(){}",
                                      "a<b;",
                                      "<(",
                                      ";",
                                      "public:",
                                      "extern\"C\"{",
                                      "std::",
                                      "u8R\"xxxx(",
                                      "#define A__device__\nA",
                                      "f()<",
                                      "const a=a+a+a+a,b=a;k<a,a,a,b><<<1,1>>>();",
                                      "\n"};
  size_t size = 1 << 20;
  char *text = alloc_zero(size + 1, 1);
  for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
    size_t len = strlen(units[u]);
    for (size_t i = 0; i < size; i++)
      text[i] = units[u][i % len];
    survive(text, size);
  }
  memset(text, 0, size);
  survive(text, size);
  free(text);
  survive("", 0);
  for (size_t u = 0; u < sizeof units / sizeof *units; u++)
    survive(units[u], strlen(units[u]));
}

static uint64_t seed = 88172645463325252u;
static size_t draw(size_t below) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (size_t)(seed % below);
}

/* A few bytes changed, a piece cut out, a piece doubled, or the end cut off. */
static size_t mutate(char *text, size_t n, size_t room) {
  static const char bytes[] = "{}()<>[];:\"'/*#\\\n=,R ";
  for (size_t k = draw(6); n && k > 0; k--)
    text[draw(n)] = draw(8) ? bytes[draw(sizeof bytes - 1)] : (char)draw(256);
  size_t a = n ? draw(n) : 0, len = n - a ? draw(n - a) : 0;
  switch (draw(4)) {
  case 0:
    memmove(text + a, text + a + len, n - a - len);
    return n - len;
  case 1:
    if (n + len > room)
      return n;
    memmove(text + a + len, text + a, n - a);
    return n + len;
  case 2:
    return a;
  default:
    return n;
  }
}

static void test_mutations(void **state) {
  (void)state;
  DIR *dir = opendir("tests/fixtures/learner");
  assert_non_null(dir);
  static char source[1 << 16], text[1 << 17];
  int files = 0;
  for (struct dirent *d; (d = readdir(dir)) != NULL;) {
    char path[400];
    snprintf(path, sizeof path, "tests/fixtures/learner/%s", d->d_name);
    FILE *f = strstr(d->d_name, ".cu") ? fopen(path, "rb") : NULL;
    if (!f)
      continue;
    size_t n = fread(source, 1, sizeof source, f);
    fclose(f);
    files++;
    for (int i = 0; i < 150; i++) {
      memcpy(text, source, n);
      survive(text, mutate(text, n, sizeof text));
    }
  }
  closedir(dir);
  assert_true(files >= 12);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_host_functions_go),
                                     cmocka_unit_test(test_globals),
                                     cmocka_unit_test(test_types),
                                     cmocka_unit_test(test_nesting),
                                     cmocka_unit_test(test_kernels),
                                     cmocka_unit_test(test_launches),
                                     cmocka_unit_test(test_constants_in_launches),
                                     cmocka_unit_test(test_text_that_is_no_code),
                                     cmocka_unit_test(test_preprocessor_stays),
                                     cmocka_unit_test(test_macros_that_make_kernels),
                                     cmocka_unit_test(test_drop),
                                     cmocka_unit_test(test_headers),
                                     cmocka_unit_test(test_hostile),
                                     cmocka_unit_test(test_mutations)};
  return cmocka_run_group_tests_name("kernels_cuda_scan", tests, NULL, NULL);
}
