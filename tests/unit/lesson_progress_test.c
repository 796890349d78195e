/* Progress: what is kept, damaged and newer files, two instances, links, no home. */
#include "lesson/progress.h"

#include "lesson_dirs.h"
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static char *home;

static int setup(void **state) {
  (void)state;
  home = dirs_new();
  setenv("XDG_STATE_HOME", home, 1);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  dirs_remove(home);
  return 0;
}

static char *file(void) { return paths_state("progress.json"); }

static void put(const char *text) {
  char *path = file();
  assert_true(paths_write(path, text, strlen(text), NULL));
  free(path);
}

static char *get(void) {
  char *path = file();
  size_t n;
  char *text = paths_read(path, 1 << 24, &n, NULL);
  free(path);
  return text;
}

static int set_aside(void) {
  char *dir = paths_state(".");
  DIR *d = opendir(dir);
  int n = 0;
  for (struct dirent *e; d && (e = readdir(d));)
    n += strstr(e->d_name, ".bad-") != NULL;
  if (d)
    closedir(d);
  free(dir);
  return n;
}

static progress *open_quietly(void) {
  struct err notice = {""};
  progress *p = progress_open(false, &notice);
  assert_string_equal(notice.text, "");
  return p;
}

static void test_round_trip(void **state) {
  (void)state;
  progress *p = open_quietly();
  struct progress_answer a = {.text = "137G", .seed = 18446744073709551615u, .right = true}, b;
  double value = 0;
  assert_null(progress_at(p, "tiling"));
  assert_null(progress_last_lesson(p));
  assert_false(progress_last_answer(p, "t.q", &b));
  assert_false(progress_prediction(p, "tiling", "ask", &value));
  progress_step_done(p, "tiling", "strips");
  progress_set_at(p, "tiling", "reuse");
  progress_answer(p, "t.q", &a);
  snprintf(a.tag, sizeof a.tag, "fma1");
  snprintf(a.text, sizeof a.text, "4096^3");
  a.right = false;
  progress_answer(p, "t.q", &a);
  progress_predict(p, "tiling", "ask", 1.5);
  progress_predict(p, "tiling", "ask2", NAN);
  progress_set_setting(p, "lang", "zh");
  progress_close(p);
  p = open_quietly();
  assert_true(progress_step_is_done(p, "tiling", "strips"));
  assert_false(progress_step_is_done(p, "tiling", "reuse"));
  assert_false(progress_step_is_done(p, "flops", "strips"));
  assert_string_equal(progress_at(p, "tiling"), "reuse");
  assert_string_equal(progress_last_lesson(p), "tiling");
  assert_int_equal(progress_answers(p, "t.q"), 2);
  assert_true(progress_last_answer(p, "t.q", &b));
  assert_string_equal(b.text, "4096^3");
  assert_string_equal(b.tag, "fma1");
  assert_true(b.seed == a.seed);
  assert_false(b.right);
  assert_int_equal(strlen(b.date), 20);
  assert_true(progress_prediction(p, "tiling", "ask", &value));
  assert_true(value == 1.5);
  assert_true(progress_prediction(p, "tiling", "ask2", &value));
  assert_true(isnan(value));
  char *lang = progress_get_setting(p, "lang");
  assert_string_equal(lang, "zh");
  free(lang);
  assert_null(progress_get_setting(p, "theme"));
  progress_close(p);
}

static void test_unknown_members_stay(void **state) {
  (void)state;
  put("{\"schema\":1,\"future\":{\"a\":[1,2]},\"lessons\":{\"gone\":{\"at\":\"x\",\"new\":7}}}");
  progress *p = open_quietly();
  progress_step_done(p, "tiling", "strips");
  progress_close(p);
  char *text = get();
  assert_non_null(strstr(text, "\"future\":{\"a\":[1,2]}"));
  assert_non_null(strstr(text, "\"new\":7"));
  assert_non_null(strstr(text, "strips"));
  free(text);
}

static void test_damaged(void **state) {
  (void)state;
  static const char *const bad[] = {
      "",        "{", "[]", "{\"schema\":\"one\"}", "{\"schema\":1,\"items\":3}", "{\"schema\":1}}",
      "\xff\xff"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct err notice = {""};
    put(bad[i]);
    int before = set_aside();
    progress *p = progress_open(false, &notice);
    assert_int_equal(set_aside(), before + 1);
    assert_non_null(strstr(notice.text, ".bad-"));
    progress_step_done(p, "tiling", "strips");
    progress_close(p);
    p = open_quietly();
    assert_true(progress_step_is_done(p, "tiling", "strips"));
    progress_close(p);
  }
}

static void test_directory_in_its_place(void **state) {
  (void)state;
  char *path = file();
  struct err notice = {""};
  put("x");
  unlink(path);
  assert_int_equal(mkdir(path, 0700), 0);
  progress *p = progress_open(false, &notice);
  assert_true(*notice.text != '\0');
  progress_step_done(p, "tiling", "strips");
  progress_close(p);
  rmdir(path);
  free(path);
}

static void test_newer_is_left_alone(void **state) {
  (void)state;
  static const char newer[] = "{\"schema\":2,\"shape\":\"new\"}";
  struct err notice = {""};
  put(newer);
  progress *p = progress_open(false, &notice);
  assert_non_null(strstr(notice.text, "newer"));
  progress_step_done(p, "tiling", "strips");
  assert_true(progress_step_is_done(p, "tiling", "strips"));
  progress_close(p);
  char *text = get();
  assert_string_equal(text, newer);
  free(text);
}

static void test_two_instances(void **state) {
  (void)state;
  struct err notice = {""};
  put("{\"schema\":1,\"lessons\":{\"tiling\":{\"done\":{\"a\":true}}}}");
  progress *one = open_quietly();
  progress *two = progress_open(false, &notice);
  assert_true(*notice.text != '\0');
  assert_true(progress_step_is_done(two, "tiling", "a")); /* still shown */
  progress_step_done(two, "tiling", "two");
  progress_step_done(one, "tiling", "one");
  progress_close(one);
  progress_close(two);
  char *text = get();
  assert_non_null(strstr(text, "one"));
  assert_null(strstr(text, "two"));
  free(text);
}

static void test_damaged_under_lock_is_not_moved(void **state) {
  (void)state;
  put("{\"schema\":1}");
  progress *one = open_quietly();
  int before = set_aside();
  struct err notice = {""};
  put("{");
  progress *two = progress_open(false, &notice);
  assert_int_equal(set_aside(), before);
  progress_close(two);
  progress_close(one);
}

static void test_link_stays(void **state) {
  (void)state;
  char *path = file(), *target = alloc_printf("%s/elsewhere.json", home);
  struct stat st;
  put("x");
  unlink(path);
  assert_int_equal(symlink(target, path), 0);
  progress *p = open_quietly();
  progress_step_done(p, "tiling", "strips");
  progress_close(p);
  assert_int_equal(lstat(path, &st), 0);
  assert_true(S_ISLNK(st.st_mode));
  assert_int_equal(stat(target, &st), 0);
  unlink(path);
  free(path);
  free(target);
}

static void test_many_answers(void **state) {
  (void)state;
  put("{\"schema\":1}");
  progress *p = open_quietly();
  struct progress_answer a = {.right = false}, last;
  for (int i = 0; i < 250; i++) {
    snprintf(a.text, sizeof a.text, "%d", i);
    progress_answer(p, "t.q", &a);
  }
  progress_close(p);
  p = open_quietly();
  assert_int_equal(progress_answers(p, "t.q"), 250);
  assert_true(progress_last_answer(p, "t.q", &last));
  assert_string_equal(last.text, "249");
  progress_close(p);
  char *text = get();
  assert_null(strstr(text, "\"text\":\"49\""));
  assert_non_null(strstr(text, "\"text\":\"50\""));
  free(text);
}

static void test_typed_rubbish(void **state) {
  (void)state;
  put("{\"schema\":1}");
  progress *p = open_quietly();
  struct progress_answer a = {.text = "\xff\033[2J\xe4\xb8"}, last;
  progress_answer(p, "t.q", &a);
  progress_close(p);
  p = open_quietly();
  assert_true(progress_last_answer(p, "t.q", &last));
  assert_null(strchr(last.text, '\033'));
  progress_close(p);
}

static void test_steps_of_a_lesson(void **state) {
  (void)state;
  struct err err = {""};
  struct lesson *l = lesson_load(DIRS_GOOD, &err);
  assert_non_null(l);
  progress *p = progress_open(true, NULL);
  assert_int_equal(progress_steps_done(p, l), 0);
  progress_step_done(p, "tiling", "strips");
  progress_step_done(p, "tiling", "strips");
  progress_step_done(p, "tiling", "a-step-of-old");
  assert_int_equal(progress_steps_done(p, l), 1);
  progress_close(p);
  lesson_free(l);
}

static void test_unwritable_home(void **state) {
  (void)state;
  struct err notice = {""};
  setenv("XDG_STATE_HOME", "/proc/nowhere", 1);
  progress *p = progress_open(false, &notice);
  assert_true(*notice.text != '\0');
  progress_step_done(p, "tiling", "strips");
  progress_close(p);
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
  const struct CMUnitTest tests[] = {
      T(test_round_trip),
      T(test_unknown_members_stay),
      T(test_damaged),
      T(test_directory_in_its_place),
      T(test_newer_is_left_alone),
      T(test_two_instances),
      T(test_damaged_under_lock_is_not_moved),
      T(test_link_stays),
      T(test_many_answers),
      T(test_typed_rubbish),
      T(test_steps_of_a_lesson),
      T(test_unwritable_home),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
