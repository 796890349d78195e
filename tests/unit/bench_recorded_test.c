/* Recorded results: read, found by kernel, sizes and parameters, and refused where damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "bench/recorded.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char dir[] = "/tmp/mmtutor-rec-XXXXXX";

/* Puts text where the data directory has the record NAME. */
static void put(const char *name, const char *text) {
  struct err err = {""};
  char *path = alloc_printf("%s/assets/recorded/%s.json", dir, name);
  if (!paths_write(path, text, strlen(text), &err))
    fail_msg("%s", err.text);
  free(path);
}

static char *fixture(void) {
  struct err err = {""};
  size_t n;
  char *text = paths_read("tests/fixtures/recorded.json", 1 << 20, &n, &err);
  if (!text)
    fail_msg("%s", err.text);
  return text;
}

static void test_read(void **state) {
  (void)state;
  struct err err = {""};
  char *text = fixture();
  put("good", text);
  free(text);
  recorded *rec = recorded_load("good", &err);
  if (!rec)
    fail_msg("%s", err.text);
  assert_string_equal(recorded_card(rec), "Test card");
  assert_string_equal(recorded_date(rec), "2026-01-02T03:04:05Z");
  assert_true(recorded_device(rec)->sms > 131);
  assert_int_equal(recorded_count(rec), 4);
  assert_null(recorded_at(rec, 4));
  assert_null(recorded_at(rec, -1));
  const struct roofs *roofs = recorded_roofs(rec);
  assert_true(roofs->recorded);
  assert_string_equal(roofs->device.name, "Test card");
  assert_true(roofs_find(roofs, "dram")->value > 4e12);
  assert_true(isnan(roofs_find(roofs, "fma")->theoretical));
  assert_null(roofs_find(roofs, "shared"));
  recorded_free(rec);
}

static void test_find(void **state) {
  (void)state;
  struct err err = {""};
  recorded *rec = recorded_load("good", &err);
  assert_non_null(rec);
  struct kernel_size size = {.param = {32}};
  assert_ptr_equal(recorded_find(rec, "cuda/tiled", 1024, 1024, 1024, &size), recorded_at(rec, 2));
  assert_ptr_equal(recorded_find(rec, "cuda/tiled", 1024, 1024, 1024, NULL), recorded_at(rec, 1));
  assert_ptr_equal(recorded_find(rec, "cuda/tiled", 2048, 1024, 1024, &size), recorded_at(rec, 3));
  assert_ptr_equal(recorded_find(rec, "cuda/naive", 1024, 1024, 1024, &size), recorded_at(rec, 0));
  size.param[0] = 8;
  assert_null(recorded_find(rec, "cuda/tiled", 1024, 1024, 1024, &size));
  assert_null(recorded_find(rec, "cuda/other", 1024, 1024, 1024, NULL));
  assert_int_equal(recorded_at(rec, 0)->nsamples, 3);
  recorded_free(rec);
}

static void refuse(const char *text, const char *part) {
  struct err err = {""};
  put("bad", text);
  assert_null(recorded_load("bad", &err));
  if (!strstr(err.text, part))
    fail_msg("%s: %s", text, err.text);
}

static void test_damaged(void **state) {
  (void)state;
  struct err err = {""};
  assert_null(recorded_load("no-such-record", &err));
  assert_true(err.text[0] != 0);
  refuse("{\"schema\":1,", "bad.json:1");
  refuse("[]", "schema 1");
  refuse("{\"schema\":2}", "schema 1");
  refuse("{\"schema\":1,\"device\":{}}", "device");
  refuse("{\"schema\":1,\"device\":{\"name\":\"x\"}}", "runs");
  refuse("{\"schema\":1,\"device\":{\"name\":\"x\"},\n\"roofs\":{}}", "bad.json:2");
  refuse("{\"schema\":1,\"device\":{\"name\":\"x\"},\"runs\":[\n\n{\"schema\":1}]}", "bad.json:3");
}

int main(void) {
  if (!mkdtemp(dir))
    return 1;
  setenv("MMTUTOR_DATA", dir, 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_read),
      cmocka_unit_test(test_find),
      cmocka_unit_test(test_damaged),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  char *command = alloc_printf("rm -rf %s", dir);
  failed += system(command) != 0;
  free(command);
  return failed;
}
