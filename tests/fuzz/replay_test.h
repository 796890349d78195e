/* The cmocka program around a fuzz target: the corpus, damaged copies of it, and no memory kept.
 * Before it are included the target and a struct replay_plan plan. `make fuzz-...` is the long run
 * of the same target. */
#ifndef MM_TESTS_FUZZ_REPLAY_TEST_H
#define MM_TESTS_FUZZ_REPLAY_TEST_H

#include "replay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__)
enum { REPLAY_SLOWER = 5 };
#else
enum { REPLAY_SLOWER = 1 };
#endif

static struct replay replay_corpus;

static void test_corpus(void **state) {
  (void)state;
  for (int i = 0; i < 2 && plan.dir[i]; i++)
    replay_dir(&replay_corpus, plan.dir[i], plan.ending);
  assert_true(replay_corpus.n >= plan.files);
  replay_all(&replay_corpus);
}

static void test_damaged(void **state) {
  (void)state;
  replay_damaged(&replay_corpus, plan.damaged / REPLAY_SLOWER, 20261201);
}

static void test_keeps_nothing(void **state) {
  (void)state;
  replay_all(&replay_corpus); /* what is made once is there now */
  size_t before = replay_in_use();
  for (int i = 0; i < (REPLAY_SLOWER > 1 ? 1 : 3); i++)
    replay_all(&replay_corpus);
  size_t after = replay_in_use();
  assert_true(after <= before);
}

static int replay_teardown(void **state) {
  (void)state;
  replay_done(&replay_corpus);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_corpus),
      cmocka_unit_test(test_damaged),
      cmocka_unit_test(test_keeps_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, replay_teardown);
}

#endif
