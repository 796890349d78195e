/* Broken kernels (tests/fixtures/xray/faults*.cu): what is found in each, at which line, and in
 * which words. */
#include "xray_fixture.h"

/* The lines of the source that carry marks, kind by kind, between this kernel and the next. */
struct mark {
  int line;
  char kind[24];
  bool met;
};

static int read_marks(const char *source, const char *entry, struct mark marks[16]) {
  char head[80];
  snprintf(head, sizeof head, "void %s(", entry);
  const char *at = strstr(source, head);
  assert_non_null(at);
  int line = 1, n = 0;
  for (const char *p = source; p < at; p++)
    line += *p == '\n';
  for (; at && strncmp(at, "\n}", 2) != 0; line++) {
    const char *end = strchr(at + 1, '\n'), *m = strstr(at, "//@ ");
    if (m && end && m < end)
      for (m += 4; m < end;) {
        size_t k = strcspn(m, " \n");
        assert_true(n < 16 && k < sizeof marks->kind);
        marks[n] = (struct mark){.line = line};
        memcpy(marks[n++].kind, m, k);
        m += k + 1;
      }
    at = end;
    if (at && strncmp(at, "\n}", 2) != 0)
      at++;
  }
  return n;
}

/* True if a line of the source carries this mark: of a device function that several kernels call.
 */
static bool line_has(const char *source, int line, const char *kind) {
  for (; line > 1 && source; line--)
    source = strchr(source, '\n') ? strchr(source, '\n') + 1 : NULL;
  if (!source)
    return false;
  const char *end = strchr(source, '\n'), *m = strstr(source, "//@ "), *k = m ? strstr(m, kind) : m;
  return k && k < end;
}

static void check_marks(const char *source, const char *entry, struct mark *marks, int n,
                        const struct xray_report *r) {
  for (int i = 0; i < r->nproblems; i++) {
    const struct xray_problem *p = &r->problems[i];
    bool known = line_has(source, p->line, xray_kind_name(p->kind));
    for (int k = 0; k < n; k++)
      if (marks[k].line == p->line && strcmp(marks[k].kind, xray_kind_name(p->kind)) == 0)
        marks[k].met = true;
    if (!known)
      fail_msg("%s: %s at %s:%d: %s", entry, xray_kind_name(p->kind), p->file, p->line, p->detail);
    assert_true(p->times >= 1);
    assert_int_equal(p->detail[strlen(p->detail) - 1], '.');
  }
  assert_true(r->nproblems > 0);
  for (int k = 0; k < n; k++)
    if (!marks[k].met)
      fail_msg("%s: no %s at line %d", entry, marks[k].kind, marks[k].line);
}

/* The words of one problem of a kernel. */
struct words {
  const char *entry;
  bool error;
  const char *detail;
};

static const struct words words[] = {
    {"second_barrier", true,
     "Thread (32, 0, 0) writes shared memory at byte 128, which thread (31, 0, 0) read at line 10 "
     "with no __syncthreads between them."},
    {"past_the_end", true, "Reads 4 bytes of A at byte 16384; it has 16384 bytes."},
    {"null_pointer", true, "Reads 4 bytes at address 0: a null pointer."},
    {"race_of_blocks", true,
     "Writes C at byte 0, which block (0, 0, 0) wrote at line 105 in the same launch: the order of "
     "blocks is not defined."},
    {"race_in_a_warp", false,
     "Thread (0, 0, 0) reads shared memory at byte 4, which thread (1, 0, 0) wrote at line 110 "
     "with "
     "no __syncwarp between them."},
    {"failed_assert", true,
     "The assertion n != 128 fails in failed_assert (faults.cu, line 1). The kernel stops itself "
     "here."},
    {"copy_without_wait", true,
     "Reads shared memory at byte 252, where the cp.async of thread (63, 0, 0) at line 25 still "
     "copies to: no cp.async.wait of that thread came between."},
    {"copy_wrong_group", true,
     "Reads shared memory at byte 252, where the cp.async of thread (63, 0, 0) at line 34 still "
     "copies to: no cp.async.wait of that thread came between."},
    {"copy_over_readers", true,
     "Thread (32, 0, 0) writes shared memory at byte 128, which thread (31, 0, 0) read at line 62 "
     "with no __syncthreads between them."},
    {"copy_past_the_end", true, "Copies 4 bytes of A at byte 16384; it has 16384 bytes."},
    {"named_deadlock", true,
     "Waits at barrier 2 for ever: 32 threads have come, and no warp can run."},
    {"named_without_wait", true,
     "Reads shared memory at byte 124, which thread (31, 0, 0) wrote at line 85: no barrier orders "
     "the two."},
    {"mbarrier_never", true,
     "Waits for ever at the mbarrier at byte 0 of shared memory: its phase lacks 1 of 65 arrivals, "
     "and no other warp can run."},
    {"mbarrier_without_wait", true,
     "Reads shared memory at byte 140, which thread (31, 0, 0) wrote at line 111: no barrier "
     "orders "
     "the two."},
    {"mbarrier_too_many", true,
     "17 arrivals at an mbarrier whose phase lacks 16 of 16: the count that it was initialised "
     "with "
     "does not fit the threads that arrive."},
    {"dynamic_past_the_end", true,
     "Writes 4 bytes of shared memory at byte 512; there are 0 bytes."},
    {"race_in_block", true,
     "Reads C at byte 124, which thread (31, 0, 0) of the same block wrote at line 140 with no "
     "__syncthreads between them."},
    {"race_in_place", true,
     "Writes B at byte 256, which block (0, 0, 0) read at line 146 in the same launch: the order "
     "of "
     "blocks is not defined."},
    {"no_fence", false,
     "Reads C at byte 4000, which block (0, 0, 0) wrote at line 153 in the same launch: the order "
     "of blocks is not defined."},
    {"lock_in_a_warp", true,
     "Stopped here after the budget of warp instructions: lanes 0xfffffffe of the warp go round "
     "and "
     "lanes 0x00000001 wait for them to come out. If those hold what this loop waits for (a lock), "
     "it never ends."},
    {"unset_constant", false,
     "Reads the __constant__ variable filter, which the host would fill with cudaMemcpyToSymbol: "
     "here it holds zeros. Give the launch an array of its name."},
    {"assertion", true,
     "The assertion A[I] <= 3 fails in assertion (faults_order.cu, line 158). The kernel stops "
     "itself here."},
    {"deep", true,
     "Calls are nested 257 deep here: the x-ray follows no deeper recursion. Check that it ends, "
     "or "
     "write it as a loop."},
    {"allocates", true,
     "malloc and free in a kernel are not supported. Give the kernel an array of the host "
     "instead."},
    {"misaligned_pair", true,
     "Reads 8 bytes of shared memory at byte 4, which is no multiple of 8."},
    {"divergent_named", true,
     "Only lanes 0xaaaaaaaa of warp 0 reach this barrier together; 0xffffffff are alive."},
    {"leaves_early", true,
     "Only lanes 0xf5b9f57d of warp 0 come to this barrier: lanes 0x0a460a82 have left the kernel "
     "before it. CUDA leaves undefined what happens then; GPUs since Volta let the others pass."},
    {"divergent_barrier", true,
     "Only lanes 0x0000007f of warp 0 come to this barrier: lanes 0xffffff80 have left the kernel "
     "before it. CUDA leaves undefined what happens then; GPUs since Volta let the others pass."},
    {"barrier_in_loop", true,
     "Only lanes 0xfffffff0 of warp 0 reach this barrier together; 0xffffffff are alive."},
};
enum { WORDS = sizeof words / sizeof *words };

/* Marks the words that were found. */
static void check_words(const char *entry, const struct xray_report *r, bool found[WORDS]) {
  for (int k = 0; k < WORDS; k++) {
    if (strcmp(words[k].entry, entry) != 0)
      continue;
    for (int i = 0; i < r->nproblems; i++)
      if (strcmp(r->problems[i].detail, words[k].detail) == 0) {
        assert_int_equal(r->problems[i].error, words[k].error);
        found[k] = true;
      }
    if (!found[k])
      fail_msg("%s: not \"%s\" but \"%s\"", entry, words[k].detail, r->problems[0].detail);
  }
}

static int check_file(const char *name, bool found[WORDS]) {
  size_t n = 0;
  char file[40];
  snprintf(file, sizeof file, "%s.cu", name);
  char *source = read_fixture(file, &n);
  snprintf(file, sizeof file, "%s.ptx", name);
  xray_module *m = load_fixture(file);
  int kernels = 0;
  for (const char *entry; (entry = xray_entry(m, kernels)); kernels++) {
    struct field *f = field_new();
    struct xray_report r;
    struct err err;
    struct mark marks[16];
    int nmarks = read_marks(source, entry, marks);
    if (!run_fixture(m, entry, f, 100000, &r, &err))
      fail_msg("%s: %s", entry, err.text);
    check_marks(source, entry, marks, nmarks, &r);
    check_words(entry, &r, found);
    xray_report_done(&r);
    free(f);
  }
  xray_free(m);
  free(source);
  return kernels;
}

static void test_faults(void **state) {
  (void)state;
  bool found[WORDS] = {false};
  assert_int_equal(check_file("faults", found), 19);
  assert_int_equal(check_file("faults_order", found), 25);
  for (int k = 0; k < WORDS; k++)
    assert_true(found[k]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
