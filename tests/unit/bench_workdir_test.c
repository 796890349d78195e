/* What a killed process left is removed by the next; a live one, a link, another name stay. */
#include "base/alloc.h"
#include "bench/workdir.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char *below(const char *dir, const char *name) { return alloc_printf("%s/%s", dir, name); }

static void touch(const char *path) {
  int fd = open(path, O_CREAT | O_WRONLY, 0600);
  assert_true(fd >= 0);
  close(fd);
}

static bool there(const char *path) { return access(path, F_OK) == 0; }

static void test_sweep(void **state) {
  (void)state;
  char tmp[] = "/tmp/workdir-test-XXXXXX";
  assert_non_null(mkdtemp(tmp));
  pid_t gone = fork();
  if (gone == 0)
    _exit(0);
  waitpid(gone, NULL, 0);
  char *dead = alloc_printf("%s/mmtutor-%ld-abc", tmp, (long)gone);
  char *file = below(dead, "kernel.so"), *other = below(tmp, "mmtutor-notes");
  char *link = alloc_printf("%s/mmtutor-%ld-link", tmp, (long)gone);
  assert_int_equal(mkdir(dead, 0700), 0);
  assert_int_equal(mkdir(other, 0700), 0);
  touch(file);
  assert_int_equal(symlink(other, link), 0);
  char *mine = workdir_make(tmp);
  assert_non_null(mine);
  assert_false(there(dead));
  assert_true(there(other));
  assert_true(there(link));
  assert_int_equal(workdir_sweep(tmp), 0);
  assert_true(there(mine));
  assert_null(workdir_make("/nonexistent"));
  rmdir(mine), rmdir(other), unlink(link), rmdir(tmp);
  free(mine), free(other), free(file), free(dead), free(link);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sweep)};
  return cmocka_run_group_tests_name("bench_workdir", tests, NULL, NULL);
}
