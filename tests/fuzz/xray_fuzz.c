/* Fuzz target: any text as PTX, each of its kernels run on the PTX machine.
 *
 * A first line "//!" with up to twelve bytes behind it says how to launch; without it the launch is
 * an ordinary one. Beyond not crashing, the target holds these: what was run stays within its
 * budget, a failure is a sentence, and a run without problems counts the same on several threads.
 */
#include "sim/xray/xray.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BUDGET = 20000, FLOATS = 2048, ARGS = 16, KERNELS = 24 };

struct place { /* one of the arrays, made anew for each run */
  float f[3][FLOATS];
};

static void want(bool holds, const char *what) {
  if (holds)
    return;
  fprintf(stderr, "xray_fuzz: %s\n", what);
  abort();
}

static int code(const uint8_t *how, int i) { return how[i] ? how[i] - 'a' : 0; }

static void on_print(void *ctx, const char *text, size_t n) {
  size_t *sum = ctx;
  for (size_t i = 0; i < n; i++)
    *sum += (unsigned char)text[i];
}

static void on_event(void *ctx, const struct xray_event *e) {
  size_t *sum = ctx;
  *sum += strlen(e->op) + strlen(e->file) + strlen(e->array);
  for (int l = 0; e->address && l < 32; l++)
    if (e->mask >> l & 1)
      *sum += (size_t)e->address[l] & 1;
}

static void reset(struct place *p) {
  for (int a = 0; a < 3; a++)
    for (int i = 0; i < FLOATS; i++)
      p->f[a][i] = a == 2 ? NAN : (float)((i * 37 + a) % 101 - 50) / 8.0f;
}

static void argument(const xray_module *m, const char *entry, int i, const uint8_t *how,
                     struct xray_arg *arg, int *pointers) {
  static const int ints[] = {40, 64, 1, 0, -1, 2147483647, 7, 32};
  struct xray_param p = {0};
  xray_param(m, entry, i, &p);
  *arg = (struct xray_arg){.array = -1, .bytes = (int)p.bytes};
  int value = ints[code(how, 6) & 7];
  float real = 1.5f;
  if (p.bytes == 8 && !(code(how, 7) & 1))
    arg->array = (*pointers)++ % 3;
  else
    memcpy(arg->value, p.is_float ? (const void *)&real : (const void *)&value, 4);
}

static void make_launch(const uint8_t *how, struct xray_launch *l, struct place *p,
                        struct xray_array arrays[3]) {
  static const int blocks[] = {64, 1, 31, 32, 33, 128, 256, 1024, 0, 96, 16, 8};
  static const int smem[] = {0, 256, 4096, 49152, 16, 233472, -1, 7};
  static const char *const names[] = {"A", "B", "C"};
  for (int a = 0; a < 3; a++)
    arrays[a] = (struct xray_array){names[a], p->f[a], sizeof p->f[a], a < 2};
  *l = (struct xray_launch){
      .grid = {how[0] ? code(how, 0) & 63 : 2, how[1] ? 1 + (code(how, 1) & 7) : 1, 1},
      .block = {blocks[(unsigned)code(how, 2) % 12], how[3] ? 1 + (code(how, 3) & 15) : 1,
                how[4] ? 1 + (code(how, 4) & 3) : 1},
      .shared_bytes = smem[code(how, 5) & 7],
      .arrays = arrays,
      .narrays = 3,
      .checks = how[8] ? code(how, 8) & 3 : XRAY_CHECK_ALL,
      .budget = BUDGET,
  };
}

static void check_report(const struct xray_report *r, const struct xray_launch *l) {
  const double *c = (const double *)&r->counts;
  double most = (double)l->budget + 1; /* the one that is not run any more may be counted */
  if (!r->sampled)
    want(r->counts.warp_instructions <= most, "more instructions than the budget");
  for (size_t i = 0; i < sizeof r->counts / sizeof *c; i++)
    want(c[i] >= 0 && isfinite(c[i]), "a count is no number");
  want(r->finished || r->nproblems > 0, "a run that did not end and has no problem");
  for (int i = 0; i < r->nproblems; i++) {
    const struct xray_problem *p = &r->problems[i];
    want(p->times > 0 && p->line >= 0 && (unsigned)p->kind < XRAY_KINDS, "a problem is not filled");
    want(*p->detail != '\0', "a problem without words");
  }
}

/* False if nothing was run. */
static bool run(const xray_module *m, struct xray_launch *l, struct place *p,
                struct xray_report *r) {
  struct err err = {{0}};
  reset(p);
  if (!xray_run(m, l, r, &err)) {
    want(err.text[0] != '\0', "a launch refused without a sentence");
    return false;
  }
  check_report(r, l);
  return true;
}

static void run_again(const xray_module *m, struct xray_launch *l, struct place *p, size_t *sum,
                      const struct xray_counts *first, bool compare) {
  static const struct xray_mix mix = {.lds = {3, 2, 16}, .ffma = 64};
  struct xray_report r;
  l->threads = 3;
  if (run(m, l, p, &r)) {
    if (compare && r.finished && r.nproblems == 0)
      want(!memcmp(first, &r.counts, sizeof *first), "threads change the counts");
    xray_report_done(&r);
  }
  l->threads = 2;
  l->sample = true;
  l->checked_blocks = 1;
  l->block_budget = BUDGET / 4;
  l->sass = &mix;
  l->print = on_print;
  l->trace = on_event;
  l->ctx = sum;
  if (run(m, l, p, &r))
    xray_report_done(&r);
}

static void run_kernel(const xray_module *m, const char *entry, const uint8_t *how, bool atomics) {
  struct place *p = malloc(sizeof *p);
  struct xray_array arrays[3];
  struct xray_arg args[ARGS];
  struct xray_launch l;
  struct xray_report r;
  struct xray_param none;
  int n = 0, pointers = 0;
  size_t sum = 0;
  make_launch(how, &l, p, arrays);
  for (; n < ARGS && xray_param(m, entry, n, &none); n++)
    argument(m, entry, n, how, &args[n], &pointers);
  l.entry = entry;
  l.args = args;
  l.nargs = n;
  if (run(m, &l, p, &r)) {
    struct xray_counts first = r.counts;
    bool clean = r.finished && r.nproblems == 0 && !atomics && l.checks == XRAY_CHECK_ALL;
    xray_report_done(&r);
    if (!(code(how, 9) & 1))
      run_again(m, &l, p, &sum, &first, clean);
  }
  free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint8_t how[12] = {0};
  if (size > 3 && memcmp(data, "//!", 3) == 0)
    for (size_t i = 3; i < size && i < 15 && data[i] != '\n'; i++)
      how[i - 3] = data[i];
  struct err err = {{0}};
  xray_module *m = xray_load((const char *)data, size, &err);
  if (!m) {
    want(strncmp(err.text, "PTX line ", 9) == 0, "a text refused without its line");
    return 0;
  }
  bool atomics = memmem(data, size, "atom", 4) || memmem(data, size, "red.", 4);
  const char *entry;
  for (int i = 0; i < KERNELS && (entry = xray_entry(m, i)); i++)
    run_kernel(m, entry, how, atomics);
  xray_free(m);
  return 0;
}
