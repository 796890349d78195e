/* The corpus of the fuzz target and damaged copies of it through the PTX machine: no crash, nothing
 * beyond the budget, no memory kept. `make fuzz-xray` is the long run of the same target. */
#include "../fuzz/xray_fuzz.c"

#include "../fuzz/replay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__)
enum { DAMAGED = 1500 };
#else
enum { DAMAGED = 8000 };
#endif

static struct replay corpus;

static void test_corpus(void **state) {
  (void)state;
  assert_true(replay_dir(&corpus, "tests/fuzz/corpus/xray", ".ptx") >= 60);
  replay_all(&corpus);
}

static void test_damaged(void **state) {
  (void)state;
  replay_damaged(&corpus, DAMAGED, 20261201);
}

static void test_keeps_nothing(void **state) {
  (void)state;
  replay_all(&corpus); /* what is made once is there now */
  size_t before = replay_in_use();
  for (int i = 0; i < 3; i++)
    replay_all(&corpus);
  size_t after = replay_in_use();
  assert_true(after <= before);
}

static int done(void **state) {
  (void)state;
  replay_done(&corpus);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_corpus),
      cmocka_unit_test(test_damaged),
      cmocka_unit_test(test_keeps_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, done);
}
