#include "base/alloc.h"
#include "base/clock.h"
#include "base/embed.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/rand.h"
#include "base/str.h"
#include "base/utf8.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void test_alloc(void **state) {
  (void)state;
  int *p = alloc_zero(100, sizeof *p);
  for (int i = 0; i < 100; i++)
    assert_int_equal(p[i], 0);
  p = alloc_grow(p, 1000, sizeof *p);
  p[999] = 7;
  free(p);
  free(alloc_zero(0, 8));
  free(alloc_grow(NULL, 0, 8));
  char *s = alloc_str(NULL);
  assert_string_equal(s, "");
  free(s);
  s = alloc_strn("abcdef", 3);
  assert_string_equal(s, "abc");
  free(s);
  s = alloc_printf("%d-%s", 5, "x");
  assert_string_equal(s, "5-x");
  free(s);
}

/* Runs f in a child; gives its exit status, and what it wrote to stderr. */
static int in_child(void (*f)(void), char *said, size_t size) {
  int pipes[2], status;
  assert_int_equal(pipe(pipes), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    dup2(pipes[1], STDERR_FILENO);
    f();
    _exit(0);
  }
  close(pipes[1]);
  ssize_t n = read(pipes[0], said, size - 1);
  said[n > 0 ? n : 0] = '\0';
  close(pipes[0]);
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static volatile size_t huge = SIZE_MAX / 2;

static void overflow_product(void) { free(alloc_zero(huge, 16)); }
static void overflow_growth(void) { free(alloc_grow(NULL, huge, 16)); }
static void overflow_text(void) { free(alloc_strn("", SIZE_MAX)); }

static void test_out_of_memory(void **state) {
  (void)state;
  static void (*const cases[])(void) = {overflow_product, overflow_growth, overflow_text};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
#ifdef __SANITIZE_ADDRESS__
    if (i < 2)
      continue; /* its allocator aborts by itself */
#endif
    char said[256];
    assert_int_equal(in_child(cases[i], said, sizeof said), 71);
    assert_non_null(strstr(said, "out of memory"));
  }
}

static void test_err(void **state) {
  (void)state;
  struct err err;
  assert_false(err_set(&err, "a %s", "b"));
  assert_string_equal(err.text, "a b");
  assert_false(err_prefix(&err, "line %d", 3));
  assert_string_equal(err.text, "line 3: a b");
  assert_false(err_set(&err, "again %s", err.text)); /* its own text as an argument */
  assert_string_equal(err.text, "again line 3: a b");
  assert_false(err_set(NULL, "x"));
  assert_false(err_prefix(NULL, "x"));
}

/* Cut at the buffer's end, but never inside a character. */
/* What was typed or read from a file cannot steer the terminal through a sentence. */
static void test_err_is_clean(void **state) {
  (void)state;
  struct err err;
  err_set(&err, "no '%s'", "a\x1b[31mb\x07\xff\xc2\x9b");
  assert_string_equal(err.text, "no 'a\xef\xbf\xbd[31mb\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd'");
  err_prefix(&err, "%s", "\x1b");
  assert_null(strchr(err.text, 0x1b));
}

static void test_err_clip(void **state) {
  (void)state;
  char text[3000];
  for (int shift = 0; shift < 4; shift++) {
    struct err err;
    memset(text, 'x', 4);
    for (size_t i = (size_t)shift; i + 3 < sizeof text; i += 3)
      memcpy(text + i, "中", 3);
    text[sizeof text - 8] = '\0';
    err_set(&err, "%s", text);
    size_t n = strlen(err.text);
    assert_true(n < sizeof err.text && n >= sizeof err.text - 4);
    assert_true(utf8_valid(err.text, n, NULL));
    memset(text, 'y', 2000);
    text[2000] = '\0';
    err_set(&err, "%s", text);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    err_prefix(&err, "%s", text);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
  }
}

static void test_str(void **state) {
  (void)state;
  struct str s = {0};
  char *none = str_take(&s);
  assert_string_equal(none, "");
  free(none);
  str_add(&s, "ab");
  str_addc(&s, 'c');
  str_addn(&s, "defg", 2);
  str_addf(&s, "%d", 42);
  assert_string_equal(s.data, "abcde42");
  assert_int_equal(s.len, 7);
  for (int i = 0; i < 12; i++)
    str_add(&s, s.data); /* itself, while it moves */
  assert_int_equal(s.len, 7 << 12);
  assert_memory_equal(s.data + s.len - 7, "abcde42", 8);
  str_clear(&s);
  assert_string_equal(s.data, "");
  str_addf(&s, "%1000d", 5);
  assert_int_equal(s.len, 1000);
  char *taken = str_take(&s);
  assert_int_equal(strlen(taken), 1000);
  assert_null(s.data);
  free(taken);
  str_free(&s);
}

static void test_str_num(void **state) {
  (void)state;
  struct str s = {0};
  struct rand r;
  rand_seed(&r, 5);
  for (int i = 0; i < 10000; i++) {
    double value = ldexp((double)(int64_t)rand_u64(&r), (int)rand_below(&r, 200) - 150);
    str_clear(&s);
    str_add_num(&s, value);
    assert_true(strtod(s.data, NULL) == value);
  }
  str_free(&s);
}

static void test_clock(void **state) {
  (void)state;
  int64_t a = clock_ns();
  double ms = clock_ms();
  int64_t b = clock_ns();
  assert_true(b >= a);
  assert_true(ms >= (double)a / 1e6 && ms <= (double)b / 1e6);
  char text[24], again[24], small[5];
  unsetenv("MMTUTOR_FAKE_CLOCK");
  assert_false(clock_fake());
  clock_iso(text, sizeof text);
  int year, month, day, hour, minute, second;
  assert_int_equal(
      sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2dZ", &year, &month, &day, &hour, &minute, &second), 6);
  assert_int_equal(strlen(text), 20);
  assert_true(year >= 2024);
  setenv("MMTUTOR_FAKE_CLOCK", "1", 1);
  assert_true(clock_fake());
  clock_iso(text, sizeof text);
  clock_iso(again, sizeof again);
  assert_string_equal(text, again);
  assert_int_equal(strlen(text), 20);
  clock_iso(small, sizeof small);
  assert_true(strlen(small) < sizeof small);
  unsetenv("MMTUTOR_FAKE_CLOCK");
}

static void test_rand(void **state) {
  (void)state;
  struct rand a, b;
  rand_seed(&a, 42);
  rand_seed(&b, 42);
  for (int i = 0; i < 100; i++)
    assert_true(rand_u64(&a) == rand_u64(&b));
  rand_seed(&b, 43);
  assert_true(rand_u64(&a) != rand_u64(&b));
  int count[7] = {0};
  for (int i = 0; i < 70000; i++)
    count[rand_below(&a, 7)]++;
  for (int i = 0; i < 7; i++)
    assert_in_range(count[i], 9500, 10500);
  assert_int_equal(rand_below(&a, 1), 0);
  for (int i = 0; i < 1000; i++)
    assert_true(rand_below(&a, (UINT64_C(1) << 63) + 1) <= UINT64_C(1) << 63);
}

static void test_rand_known(void **state) {
  (void)state;
  struct rand r;
  rand_seed(&r, 0); /* the published first values of splitmix64 */
  assert_true(rand_u64(&r) == UINT64_C(0xE220A8397B1DCDAF));
  assert_true(rand_u64(&r) == UINT64_C(0x6E789E6AA1B965F4));
}

static void test_rand_at(void **state) {
  (void)state;
  enum { n = 1 << 18 };
  static float fill[n];
  rand_fill(7, 1000, n, fill);
  double sum = 0, square = 0, neighbour = 0, streams = 0;
  for (int i = 0; i < n; i++) {
    float x = rand_at(7, 1000 + (uint64_t)i);
    assert_true(x == fill[i]);
    assert_true(x >= -1 && x < 1);
    assert_true(x * 0x1p23f == floorf(x * 0x1p23f)); /* 24 bits */
    sum += (double)x;
    square += (double)x * (double)x;
    neighbour += (double)x * (double)rand_at(7, 1001 + (uint64_t)i);
    streams += (double)x * (double)rand_at(8, 1000 + (uint64_t)i);
  }
  /* five standard deviations of each mean */
  assert_true(fabs(sum / n) < 5 * 0.577 / sqrt(n));
  assert_true(fabs(square / n - 1.0 / 3) < 5 * 0.298 / sqrt(n));
  assert_true(fabs(neighbour / n) < 5 * 0.333 / sqrt(n));
  assert_true(fabs(streams / n) < 5 * 0.333 / sqrt(n));
  assert_true(rand_at(7, 0) != rand_at(8, 0));
  assert_true(rand_at(0, 1) != rand_at(1, 0));
  for (uint64_t i = 0; i < 10; i++) /* seeds one step of the generator apart are not one stream */
    assert_true(rand_at(5, i + 1) != rand_at(5 + UINT64_C(0x9E3779B97F4A7C15), i));
  float edge[2];
  rand_fill(3, UINT64_MAX, 2, edge); /* the index wraps */
  assert_true(edge[0] == rand_at(3, UINT64_MAX) && edge[1] == rand_at(3, 0));
}

static void test_hash(void **state) {
  (void)state;
  char hex[65];
  hash_sha256("", 0, hex);
  assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  hash_sha256(NULL, 0, hex);
  assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  hash_sha256("abc", 3, hex);
  assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void test_embed(void **state) {
  (void)state;
  assert_null(embed_find(""));
  assert_null(embed_find("zzz/none"));
  const struct embed_file *last = NULL;
  for (const struct embed_file *f = embed_files; f->path; f++) {
    if (last)
      assert_true(strcmp(last->path, f->path) < 0);
    assert_ptr_equal(embed_find(f->path), f);
    assert_int_equal(f->data[f->n], 0);
    last = f;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_alloc),      cmocka_unit_test(test_out_of_memory),
      cmocka_unit_test(test_err_is_clean),
      cmocka_unit_test(test_err),        cmocka_unit_test(test_err_clip),
      cmocka_unit_test(test_str),        cmocka_unit_test(test_str_num),
      cmocka_unit_test(test_clock),      cmocka_unit_test(test_rand),
      cmocka_unit_test(test_rand_known), cmocka_unit_test(test_rand_at),
      cmocka_unit_test(test_hash),       cmocka_unit_test(test_embed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
