/* The CPU kernels that are wrong on purpose: each is wrong in its own way, inside its arrays. */
#include "guarded.h"

#include "base/alloc.h"
#include "base/paths.h"
#include "kernels/kernel.h"
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static char dir[] = "/tmp/mmtutor-wrong-XXXXXX";

static int compile(const char *name) {
  char *command = alloc_printf("cc -shared -fPIC -O2 -Isrc/kernels -o %s/%s.so "
                               "tests/fixtures/wrong/cpu/%s.c 2>%s/log",
                               dir, name, name, dir);
  int rc = system(command);
  free(command);
  return rc;
}

/* Compiles a fixture and gives its entry. It stays loaded. */
static guarded_entry load(const char *name) {
  if (compile(name) != 0)
    fail_msg("%s does not compile", name);
  char *path = alloc_printf("%s/%s.so", dir, name);
  char *symbol = alloc_printf("cpu_wrong_%s", name);
  void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  assert_non_null(lib);
  void *f = dlsym(lib, symbol);
  assert_non_null(f);
  guarded_entry entry;
  memcpy(&entry, &f, sizeof entry);
  free(path);
  free(symbol);
  return entry;
}

static bool right(guarded_entry entry, int64_t M, int64_t N, int64_t K) {
  int code = -1;
  double e = guarded_gemm(entry, (struct guarded_shape){M, N, K, 0, 0}, &code);
  assert_int_equal(code, MM_OK);
  return e <= guarded_bound(K);
}

static void test_wrong_results(void **state) {
  (void)state;
  static const char *const names[] = {
      "store_transposed", "last_k_dropped", "last_row_skipped", "last_column_skipped",
      "writes_nothing",   "writes_one_nan", "n_for_k",          "only_squares",
      "reads_c"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    guarded_entry entry = load(names[i]);
    for (int s = 1; s < GUARDED_SHAPES; s++) { // 1 x 1 x 1 is right for some of them
      struct guarded_shape shape = guarded_shapes[s];
      bool thin = shape.M == 1 || shape.N == 1 || shape.K == 1 || shape.N == shape.K;
      if (right(entry, shape.M, shape.N, shape.K) && !thin)
        fail_msg("%s is right at %d x %d x %d", names[i], (int)shape.M, (int)shape.N, (int)shape.K);
    }
  }
}

static void test_right_where_it_seems(void **state) {
  (void)state;
  guarded_entry squares = load("only_squares"), strides = load("n_for_k");
  assert_true(right(squares, 16, 16, 16));
  assert_true(right(squares, 33, 33, 33));
  assert_false(right(squares, 16, 16, 17));
  assert_true(right(strides, 9, 24, 24));
  assert_false(right(strides, 9, 24, 23));
}

static void test_compile_error(void **state) {
  (void)state;
  assert_int_not_equal(compile("compile_error"), 0);
  char *path = alloc_printf("%s/log", dir);
  char *log = paths_read(path, 1 << 16, NULL, NULL);
  assert_non_null(log);
  assert_non_null(strstr(log, "accumulator"));
  free(log);
  free(path);
}

/* Runs an entry in a child with a second of CPU time; its wait status. */
static int run_child(guarded_entry entry) {
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    struct rlimit one = {1, 1};
    setrlimit(RLIMIT_CPU, &one);
    signal(SIGSEGV, SIG_DFL); // cmocka would catch it and go on with the tests in the child
    int code;
    guarded_gemm(entry, (struct guarded_shape){3, 4, 5, 0, 0}, &code);
    _exit(0);
  }
  int status = 0;
  assert_true(waitpid(child, &status, 0) == child);
  return status;
}

static void test_faults(void **state) {
  (void)state;
  int status = run_child(load("illegal_address"));
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)
    fail_msg("wait status %#x", (unsigned)status);
  status = run_child(load("endless"));
  assert_true(WIFSIGNALED(status));
  assert_true(WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL);
  assert_true(WIFEXITED(run_child(load("last_k_dropped"))));
}

static void test_front_matter(void **state) {
  (void)state;
  static const char *const names[] = {
      "store_transposed", "last_k_dropped", "last_row_skipped", "last_column_skipped",
      "writes_nothing",   "writes_one_nan", "n_for_k",          "only_squares",
      "reads_c",          "compile_error",  "illegal_address",  "endless"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char *path = alloc_printf("tests/fixtures/wrong/cpu/%s.c", names[i]);
    struct err err = {0};
    size_t n;
    char *text = paths_read(path, 1 << 16, &n, &err);
    struct kernel *k = text ? kernel_parse(text, n, path, NULL, &err) : NULL;
    if (!k) {
      fail_msg("%s", err.text);
      return;
    }
    assert_non_null(k->entry);
    assert_memory_equal(k->entry, "cpu_wrong_", 10);
    assert_string_equal(k->entry + 10, names[i]);
    assert_false(k->builtin);
    kernel_free(k);
    free(text);
    free(path);
  }
}

static int setup(void **state) {
  (void)state;
  return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  char *command = alloc_printf("rm -r %s", dir);
  int rc = system(command);
  free(command);
  return rc;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_front_matter), cmocka_unit_test(test_wrong_results),
      cmocka_unit_test(test_right_where_it_seems), cmocka_unit_test(test_compile_error),
      cmocka_unit_test(test_faults)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
