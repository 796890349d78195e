#include "base/paths.h"

#include "base/alloc.h"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[64]; /* a fresh directory for each test */

static const char *in(const char *name) {
  static char path[8][512];
  static int turn;
  char *out = path[turn = (turn + 1) % 8];
  snprintf(out, sizeof path[0], "%s/%s", dir, name);
  return out;
}

static int setup(void **state) {
  (void)state;
  strcpy(dir, "/tmp/mmtutor-paths-XXXXXX");
  return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  char command[256];
  snprintf(command, sizeof command, "chmod -R u+rwx %s && rm -rf %s", dir, dir);
  return system(command);
}

static void check_taken(char *path, const char *want) {
  if (!want)
    assert_null(path);
  else
    assert_string_equal(path, want);
  free(path);
}

static void put(const char *path, const char *text) {
  struct err err = {""};
  if (!paths_write(path, text, strlen(text), &err))
    fail_msg("%s", err.text);
}

static void check_text(const char *path, const char *want) {
  struct err err = {""};
  size_t n = 0;
  char *text = paths_read(path, 1 << 20, &n, &err);
  if (!text)
    fail_msg("%s", err.text);
  assert_string_equal(text, want);
  assert_int_equal(n, strlen(want));
  free(text);
}

static int entries(const char *path) {
  DIR *d = opendir(path);
  int n = 0;
  assert_non_null(d);
  while (readdir(d))
    n++;
  closedir(d);
  return n - 2;
}

static void test_xdg(void **state) {
  (void)state;
  setenv("HOME", "/home/x y", 1);
  unsetenv("XDG_STATE_HOME");
  unsetenv("XDG_CONFIG_HOME");
  unsetenv("XDG_CACHE_HOME");
  unsetenv("XDG_DATA_HOME");
  check_taken(paths_config("c"), "/home/x y/.config/mmtutor/c");
  check_taken(paths_state("p.json"), "/home/x y/.local/state/mmtutor/p.json");
  check_taken(paths_user_data("d"), "/home/x y/.local/share/mmtutor/d");
  check_taken(paths_cache(""), "/home/x y/.cache/mmtutor");
  setenv("XDG_STATE_HOME", "/s", 1);
  check_taken(paths_state("p"), "/s/mmtutor/p");
  setenv("XDG_STATE_HOME", "relative", 1); /* the specification: ignored */
  check_taken(paths_state("p"), "/home/x y/.local/state/mmtutor/p");
  setenv("XDG_STATE_HOME", "", 1);
  check_taken(paths_state("p"), "/home/x y/.local/state/mmtutor/p");
}

static void test_no_home(void **state) {
  (void)state;
  static const char *const homes[] = {NULL, "", "relative/home"};
  unsetenv("XDG_STATE_HOME");
  for (int i = 0; i < 3; i++) {
    if (homes[i])
      setenv("HOME", homes[i], 1);
    else
      unsetenv("HOME");
    const struct passwd *user = getpwuid(getuid());
    char *want = user && user->pw_dir && user->pw_dir[0] == '/'
                     ? alloc_printf("%s/.local/state/mmtutor/p", user->pw_dir)
                     : NULL;
    check_taken(paths_state("p"), want);
    free(want);
  }
}

static void test_write_read(void **state) {
  (void)state;
  put(in("a/b/c.json"), "first");
  check_text(in("a/b/c.json"), "first");
  put(in("a/b/c.json"), "");
  check_text(in("a/b/c.json"), "");
  put(in("a/b/c.json"), "second");
  check_text(in("a/b/c.json"), "second");
  assert_int_equal(entries(in("a/b")), 1); /* no temporary file stays */
  struct stat st;
  assert_int_equal(stat(in("a"), &st), 0);
  assert_int_equal(st.st_mode & 0777, 0700);
  assert_int_equal(chmod(in("a/b/c.json"), 0640), 0);
  put(in("a/b/c.json"), "third");
  assert_int_equal(stat(in("a/b/c.json"), &st), 0);
  assert_int_equal(st.st_mode & 0777, 0640);
  char name[256];
  memset(name, 'n', 255);
  name[255] = '\0';
  put(in(name), "longest name"); /* the temporary file's name must fit as well */
  check_text(in(name), "longest name");
}

static void test_links(void **state) {
  (void)state;
  struct stat st;
  put(in("real/p.json"), "old");
  assert_int_equal(symlink("real/p.json", in("link.json")), 0);
  put(in("link.json"), "new");
  assert_int_equal(lstat(in("link.json"), &st), 0);
  assert_true(S_ISLNK(st.st_mode));
  check_text(in("real/p.json"), "new");
  assert_int_equal(symlink(in("link.json"), in("chain.json")), 0); /* absolute, and two of them */
  put(in("chain.json"), "chained");
  check_text(in("real/p.json"), "chained");
  assert_int_equal(symlink("later/x.json", in("dangling.json")), 0);
  put(in("dangling.json"), "made");
  check_text(in("later/x.json"), "made");
  assert_int_equal(lstat(in("dangling.json"), &st), 0);
  assert_true(S_ISLNK(st.st_mode));
  assert_int_equal(symlink("real", in("dirlink")), 0);
  put(in("dirlink/q.json"), "through");
  check_text(in("real/q.json"), "through");
  assert_int_equal(symlink("loop", in("loop")), 0);
  struct err err = {""};
  assert_false(paths_write(in("loop"), "x", 1, &err));
  assert_true(strlen(err.text) > 0);
}

static void refuse_write(const char *path, const char *part) {
  struct err err = {""};
  assert_false(paths_write(path, "x", 1, &err));
  if (!strstr(err.text, part))
    fail_msg("\"%s\" does not say \"%s\"", err.text, part);
}

static void test_write_refused(void **state) {
  (void)state;
  put(in("file"), "text");
  refuse_write(in("file/below"), "Not a directory");
  refuse_write(dir, "not a regular file");
  refuse_write("", "names no file");
  refuse_write(in("new/"), "names no file");
  assert_int_equal(mkfifo(in("fifo"), 0600), 0);
  refuse_write(in("fifo"), "not a regular file");
  refuse_write("/dev/null", "not a regular file");
  char longest[6000];
  memset(longest, 'a', sizeof longest - 1);
  longest[0] = '/';
  longest[sizeof longest - 1] = '\0';
  refuse_write(longest, "too long");
  refuse_write("/proc/nosuch/x", "Cannot");
  refuse_write("/dev/full", "not a regular file");
}

/* A write that fails leaves the old file and no other. */
static void test_disk_full(void **state) {
  (void)state;
  static char big[100000];
  struct rlimit old, small;
  put(in("d/p.json"), "old");
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
  small = (struct rlimit){4096, old.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  struct err err = {""};
  bool ok = paths_write(in("d/p.json"), big, sizeof big, &err);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
  assert_false(ok);
  assert_non_null(strstr(err.text, "Cannot write"));
  check_text(in("d/p.json"), "old");
  assert_int_equal(entries(in("d")), 1);
}

static void test_failed_write(void **state) {
  (void)state;
  if (geteuid() == 0) {
    printf("# root may write anywhere: nothing to see\n");
    return;
  }
  put(in("d/p.json"), "old");
  assert_int_equal(chmod(in("d"), 0500), 0);
  refuse_write(in("d/p.json"), "Permission denied");
  check_text(in("d/p.json"), "old");
  assert_int_equal(entries(in("d")), 1);
  assert_int_equal(chmod(in("d"), 0700), 0);
  assert_int_equal(chmod(in("d/p.json"), 0400), 0);
  refuse_write(in("d/p.json"), "Permission denied");
  check_text(in("d/p.json"), "old");
}

/* Run by root (sudo), files stay with the one who owns the directory. */
static void test_owner(void **state) {
  (void)state;
  struct stat st;
  if (geteuid() != 0) {
    printf("# only root can see this\n");
    return;
  }
  assert_int_equal(chown(dir, 12345, 12345), 0);
  put(in("made/p.json"), "x");
  int fd = paths_lock(in("made/p.json"), NULL);
  assert_true(fd >= 0);
  close(fd);
  static const char *const names[] = {"made", "made/p.json", "made/p.json.lock"};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(stat(in(names[i]), &st), 0);
    assert_int_equal(st.st_uid, 12345);
  }
}

static void refuse_read(const char *path, size_t max, const char *part) {
  struct err err = {""};
  assert_null(paths_read(path, max, NULL, &err));
  if (!strstr(err.text, part))
    fail_msg("\"%s\" does not say \"%s\"", err.text, part);
}

static void test_read_refused(void **state) {
  (void)state;
  put(in("f"), "12345");
  refuse_read(in("f"), 4, "larger than 4 bytes");
  check_text(in("f"), "12345");
  refuse_read(in("absent"), 10, "Check the name");
  refuse_read(dir, 10, "a directory");
  assert_int_equal(mkfifo(in("fifo"), 0600), 0);
  refuse_read(in("fifo"), 10, "a pipe"); /* and does not wait for a writer */
  refuse_read("/dev/zero", 10, "a pipe or a device");
  refuse_read(in("a\x1b[31mb\nc"), 10, "\xEF\xBF\xBD[31mb?c"); /* names reach the screen */
  struct err err;
  size_t n = 0;
  char *text = paths_read("/proc/self/status", 1 << 20, &n, &err); /* its size is told as 0 */
  assert_non_null(text);
  assert_true(n > 100 && strlen(text) == n);
  free(text);
  refuse_read("/proc/self/status", 100, "larger");
}

static void test_binary(void **state) {
  (void)state;
  static char data[300000];
  for (size_t i = 0; i < sizeof data; i++)
    data[i] = (char)(i * 7);
  struct err err;
  assert_true(paths_write(in("b"), data, sizeof data, &err));
  size_t n = 0;
  char *text = paths_read(in("b"), sizeof data, &n, &err);
  assert_non_null(text);
  assert_int_equal(n, sizeof data);
  assert_memory_equal(text, data, n);
  assert_int_equal(text[n], 0);
  free(text);
}

static void test_set_aside(void **state) {
  (void)state;
  struct err err = {""};
  setenv("MMTUTOR_FAKE_CLOCK", "1", 1);
  put(in("real.json"), "bad");
  assert_int_equal(symlink("real.json", in("p.json")), 0);
  char *first = paths_set_aside(in("p.json"), &err);
  assert_non_null(first);
  assert_non_null(strstr(first, "real.json.bad-20"));
  check_text(first, "bad");
  put(in("p.json"), "bad too"); /* through the link, which now dangles */
  char *second = paths_set_aside(in("p.json"), &err);
  assert_non_null(second);
  assert_string_not_equal(first, second);
  check_text(first, "bad");
  check_text(second, "bad too");
  free(first);
  free(second);
  assert_int_equal(mkdir(in("d.json"), 0700), 0); /* a directory of that name */
  char *third = paths_set_aside(in("d.json"), &err);
  assert_non_null(third);
  free(third);
  assert_null(paths_set_aside(in("absent"), &err));
  assert_non_null(strstr(err.text, "Cannot move aside"));
  unsetenv("MMTUTOR_FAKE_CLOCK");
}

static void test_lock(void **state) {
  (void)state;
  struct err err = {""};
  int fd = paths_lock(in("s/p.json"), &err);
  assert_true(fd >= 0);
  assert_int_equal(access(in("s/p.json.lock"), F_OK), 0);
  assert_int_equal(paths_lock(in("s/p.json"), &err), -1);
  assert_non_null(strstr(err.text, "Another mmtutor"));
  close(fd);
  fd = paths_lock(in("s/p.json"), &err);
  assert_true(fd >= 0);
  close(fd);
  put(in("file"), "x");
  assert_int_equal(paths_lock(in("file/p.json"), &err), -1);
  assert_non_null(strstr(err.text, "Not a directory"));
}

static void test_data(void **state) {
  (void)state;
  setenv("MMTUTOR_DATA", dir, 1);
  assert_null(paths_data("no-such-thing"));
  put(in("no-such-thing/x"), "data");
  check_taken(paths_data("no-such-thing"), dir);
  check_taken(paths_data("no-such-thing/x"), dir);
  assert_null(paths_data("../etc"));
  assert_null(paths_data("a/../../etc"));
  assert_null(paths_data("/etc"));
  assert_null(paths_data(""));
  size_t n = 0;
  struct err err = {""};
  char *text = paths_asset("no-such-thing/x", &n, &err);
  assert_string_equal(text, "data");
  assert_int_equal(n, 4);
  free(text);
  assert_null(paths_asset("not/there", &n, &err));
  assert_non_null(strstr(err.text, "Reinstall"));
  assert_null(paths_asset("no-such-thing", &n, &err)); /* a directory */
  unsetenv("MMTUTOR_DATA");
  assert_null(paths_data("no-such-thing"));
}

static void test_program(void **state) {
  (void)state;
  char *program = paths_program();
  assert_non_null(program);
  assert_int_equal(access(program, X_OK), 0);
  assert_non_null(strstr(program, "base_paths_test"));
  free(program);
  paths_set_program(NULL);
  paths_set_program("mmtutor");
  paths_set_program("/no/such/program");
  paths_set_program("/proc/self/exe");
  program = paths_program();
  assert_non_null(program);
  free(program);
  paths_set_program(NULL); /* frees what was remembered */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_xdg),       TEST(test_no_home),       TEST(test_write_read),
      TEST(test_links),     TEST(test_write_refused), TEST(test_failed_write),
      TEST(test_disk_full), TEST(test_read_refused),  TEST(test_binary),
      TEST(test_set_aside), TEST(test_owner),         TEST(test_lock),
      TEST(test_data),      TEST(test_program),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
