/* The shipped PTX belongs to the shipped sources, and NVRTC of the same version makes it again. */
#include "../../scripts/ptx_files.h"
#include "base/embed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* The PTX of a file that is built in; fails if it is not there. */
static const char *shipped(const struct ptx_file *f) {
  const struct embed_file *e = embed_find(f->path);
  if (!e)
    fail_msg("%s is not there: run scripts/make_ptx.sh", f->path);
  return e->data;
}

static bool check_head(void *ctx, const struct ptx_file *f) {
  (void)ctx;
  const char *text = shipped(f);
  size_t line = strcspn(text, "\n");
  if (!memmem(text, line, f->kernel->sha256, 64))
    fail_msg("%s is of another source: run scripts/make_ptx.sh", f->path);
  assert_non_null(memmem(text, line, "NVRTC ", 6));
  assert_non_null(strstr(text, "\n.version "));
  char target[16], line_of[48];
  ptx_files_target(f->kernel, target);
  snprintf(line_of, sizeof line_of, "\n.target sm_%s\n", target);
  if (!strstr(text, line_of))
    fail_msg("%s is not for sm_%s: run scripts/make_ptx.sh", f->path, target);
  for (int i = 0; i < f->kernel->nlaunches; i++) {
    char *entry = alloc_printf(".visible .entry %s(", f->kernel->launches[i].entry);
    assert_non_null(strstr(text, entry));
    free(entry);
  }
  return true;
}

static void test_belongs_to_source(void **state) {
  int files = ptx_files_each(*state, check_head, NULL), embedded = 0;
  for (const struct embed_file *e = embed_files; e->path; e++)
    embedded += !strncmp(e->path, "assets/ptx/", 11);
  assert_int_equal(files, embedded); // none left over from a kernel that is gone
  assert_true(files >= 9);
}

/* The text without comment lines and without the .version line, which is lowered by hand. */
static char *body(const char *text) {
  struct str s = {0};
  while (*text) {
    size_t n = strcspn(text, "\n");
    if (strncmp(text, "//", 2) != 0 && strncmp(text, ".version", 8) != 0)
      str_addf(&s, "%.*s\n", (int)n, text);
    text += n + (text[n] == '\n');
  }
  return str_take(&s);
}

static int times(const char *text, const char *piece) {
  int n = 0;
  for (; (text = strstr(text, piece)) != NULL; text++)
    n++;
  return n;
}

/* Of a kernel whose text differs from start to start: the work and the order between threads. */
static bool same_work(const char *now, const char *then) {
  static const char *const pieces[] = {"\tfma.rn.f32 ",  "\tbar.sync ", "cp.async.c",
                                       "\tst.global.v4", "ld.acquire",  "st.release"};
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
    if (times(then, pieces[i]) == 0 || times(now, pieces[i]) != times(then, pieces[i]))
      return false;
  return true;
}

static bool check_same(void *ctx, const struct ptx_file *f) {
  size_t size;
  char *log;
  char *ptx = ptx_files_ship(ctx, f, &size, &log);
  if (!ptx)
    fail_msg("%s: %s", f->path, log ? log : "no PTX");
  char *now = body(ptx), *then = body(shipped(f));
  bool same = ptx_files_repeatable(f->kernel) ? strcmp(now, then) == 0 : same_work(now, then);
  if (!same)
    fail_msg("%s is not what NVRTC makes of the source: run scripts/make_ptx.sh", f->path);
  free(now);
  free(then);
  free(ptx);
  return true;
}

static bool same_version(void *ctx, const struct ptx_file *f) {
  const struct nvrtc *n = ctx;
  char *want = alloc_printf("NVRTC %d.%d,", n->major, n->minor);
  const char *text = shipped(f);
  bool same = memmem(text, strcspn(text, "\n"), want, strlen(want)) != NULL;
  free(want);
  if (!same) {
    print_message("# SKIP %s was made by another NVRTC than %d.%d\n", f->path, n->major, n->minor);
    skip();
  }
  return false; // all files are made at once: the first one tells
}

static void test_made_again(void **state) {
  struct nvrtc n;
  if (!nvrtc_open(&n)) {
    print_message("# SKIP no NVRTC here\n");
    skip();
  }
  ptx_files_each(*state, same_version, &n);
  ptx_files_each(*state, check_same, &n);
}

static void target_is(double cc_min, double cc_max, const char *suffix, const char *want) {
  struct kernel k = {.cc_min = cc_min, .cc_max = cc_max};
  char target[16];
  strcpy(k.cc_suffix, suffix);
  ptx_files_target(&k, target);
  assert_string_equal(target, want);
}

static void test_targets(void **state) {
  (void)state;
  target_is(0, 0, "", "75");
  target_is(7.5, 0, "", "75");
  target_is(8.0, 0, "", "80");
  target_is(8.9, 12.0, "", "89");
  target_is(9.0, 9.0, "a", "90a");
  struct kernel k = {.cc_min = 9.0, .cc_suffix = "a"};
  assert_true(ptx_files_runs_on(&k, 90) && !ptx_files_runs_on(&k, 100) &&
              !ptx_files_runs_on(&k, 89));
  k = (struct kernel){.cc_min = 8.0, .cc_max = 9.0};
  assert_true(ptx_files_runs_on(&k, 80) && ptx_files_runs_on(&k, 90) &&
              !ptx_files_runs_on(&k, 75) && !ptx_files_runs_on(&k, 100));
}

static int setup(void **state) {
  *state = catalog_new();
  return 0;
}

static int teardown(void **state) {
  catalog_free(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_belongs_to_source),
                                     cmocka_unit_test(test_made_again),
                                     cmocka_unit_test(test_targets)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
