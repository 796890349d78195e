/* Right kernels with one instruction changed: the machine must report a problem, or the result must
 * be wrong, or the run must not end. What survives is listed below with the reason why the change
 * changes nothing; anything else that survives is a hole in the checks. XRAY_MUTANTS=all takes
 * every change there is, not a sample. */
#include "base/alloc.h"
#include "base/embed.h"
#include "sim/xray/xray.h"

#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A fifth of the changes, another one of each line; under a sanitizer fewer. */
#if defined(__SANITIZE_ADDRESS__)
enum { STEP = 31 };
#else
enum { STEP = 5 };
#endif

/* ---- kernels and their truth */

struct subject {
  const char *name, *file, *entry;
  int tile, threads[2]; /* rows and columns of C that a block makes */
  bool square;          /* takes n alone */
  int shapes[6][3];
};

static const struct subject subjects[] = {
    {"T8",
     "assets/ptx/cuda_tiled_T8.ptx",
     "matmul",
     8,
     {8, 8},
     false,
     {{9, 15, 23}, {16, 9, 13}, {1, 3, 5}, {8, 8, 24}, {9, 8, 41}, {2, 3, 1}}},
    {"T16",
     "assets/ptx/cuda_tiled_T16.ptx",
     "matmul",
     16,
     {16, 16},
     false,
     {{17, 33, 31}, {15, 17, 17}, {5, 1, 3}, {16, 16, 33}, {16, 16, 32}, {2, 3, 1}}},
    {"transposed",
     "tests/fixtures/xray/tiles.ptx",
     "transposed",
     32,
     {32, 32},
     true,
     {{64, 64, 64}}},
    {"rows", "tests/fixtures/xray/tiles.ptx", "rows", 64, {512, 1}, true, {{128, 128, 128}}},
    {"square", "tests/fixtures/xray/tiles.ptx", "square", 64, {256, 1}, true, {{128, 128, 128}}},
};

static float *matrix(int n, uint32_t seed) {
  float *m = alloc_zero((size_t)n, sizeof *m);
  for (int i = 0; i < n; i++) {
    seed = seed * 1664525u + 1013904223u;
    m[i] = (float)(seed >> 8) / 8388608.0f - 1.0f;
  }
  return m;
}

static bool right(const float *A, const float *B, const float *C, const int mnk[3]) {
  for (int r = 0; r < mnk[0]; r++)
    for (int c = 0; c < mnk[1]; c++) {
      double sum = 0, size = 0;
      for (int k = 0; k < mnk[2]; k++) {
        double v = (double)A[r * mnk[2] + k] * (double)B[k * mnk[1] + c];
        sum += v;
        size += fabs(v);
      }
      if (!(fabs((double)C[r * mnk[1] + c] - sum) <= 8 * sqrt(mnk[2]) * 0x1p-24 * size))
        return false;
    }
  return true;
}

static struct xray_arg int_arg(int v) {
  struct xray_arg a = {.array = -1, .bytes = 4};
  memcpy(a.value, &v, 4);
  return a;
}

/* 0 right, 1 wrong result, 2 a problem, 3 not run */
static int run(const struct subject *s, const xray_module *m, const int mnk[3]) {
  int na = mnk[0] * mnk[2], nb = mnk[2] * mnk[1], nc = mnk[0] * mnk[1];
  float *A = matrix(na, 1), *B = matrix(nb, 2), *C = matrix(nc, 3);
  for (int i = 0; i < nc; i++)
    C[i] = NAN;
  struct xray_array arrays[3] = {{"A", A, (size_t)na * 4, true},
                                 {"B", B, (size_t)nb * 4, true},
                                 {"C", C, (size_t)nc * 4, false}};
  struct xray_arg args[6] = {{.array = 0},    {.array = 1},    {.array = 2},
                             int_arg(mnk[0]), int_arg(mnk[1]), int_arg(mnk[2])};
  struct xray_launch l = {
      .entry = s->entry,
      .grid = {(mnk[1] + s->tile - 1) / s->tile, (mnk[0] + s->tile - 1) / s->tile, 1},
      .block = {s->threads[0], s->threads[1], 1},
      .arrays = arrays,
      .narrays = 3,
      .args = args,
      .nargs = s->square ? 4 : 6,
      .checks = XRAY_CHECK_ALL,
      .budget = 400000};
  struct xray_report r;
  struct err err;
  int verdict = 3;
  if (xray_run(m, &l, &r, &err)) {
    verdict = r.nproblems || !r.finished ? 2 : right(A, B, C, mnk) ? 0 : 1;
    xray_report_done(&r);
  }
  free(A);
  free(B);
  free(C);
  return verdict;
}

static int judge(const struct subject *s, const char *text) {
  struct err err;
  xray_module *m = xray_load(text, strlen(text), &err);
  int worst = m ? 0 : 3;
  for (int i = 0; m && !worst && i < 6 && s->shapes[i][0]; i++)
    worst = run(s, m, s->shapes[i]);
  xray_free(m);
  return worst;
}

/* ---- changes; each writes the changed line, or gives false where it has no place */

static bool drop(const char *line, char *out) {
  (void)line;
  *out = '\0';
  return true;
}

static bool move_offset(const char *line, char *out) {
  const char *open = strchr(line, '['), *close = strchr(line, ']');
  if (!open || strstr(line, "param"))
    return false;
  const char *plus = strchr(open, '+');
  if (plus)
    sprintf(out, "%.*s+%d%s", (int)(plus - line), line, atoi(plus + 1) + 4, close);
  else
    sprintf(out, "%.*s+4%s", (int)(close - line), line, close);
  return true;
}

/* The last two operands change places. */
static bool swap(const char *line, char *out) {
  const char *last = strrchr(line, ','), *end = strchr(line, ';'), *before = NULL;
  for (const char *p = line; last && p < last; p++)
    if (*p == ',')
      before = p;
  static const char *const same[] = {"add.", "mul.", "and.", "or.", "xor.",
                                     "max.", "min.", "eq.",  "ne.", "bar."};
  for (size_t i = 0; i < sizeof same / sizeof *same; i++)
    if (strstr(line, same[i]))
      return false;
  if (!before || !end || strchr(line, '['))
    return false;
  sprintf(out, "%.*s,%.*s,%.*s;", (int)(before - line), line, (int)(end - last - 1), last + 1,
          (int)(last - before - 1), before + 1);
  return strcmp(out, line) != 0;
}

static bool other_comparison(const char *line, char *out) {
  static const char *const pairs[][2] = {{".lt.", ".le."}, {".le.", ".lt."}, {".gt.", ".ge."},
                                         {".ge.", ".gt."}, {".eq.", ".ne."}, {".ne.", ".eq."}};
  for (size_t i = 0; strstr(line, "setp") && i < sizeof pairs / sizeof *pairs; i++) {
    const char *at = strstr(line, pairs[i][0]);
    if (!at)
      continue;
    sprintf(out, "%.*s%s%s", (int)(at - line), line, pairs[i][1], at + 4);
    return true;
  }
  return false;
}

static bool next_number(const char *line, char *out) {
  const char *comma = strrchr(line, ','), *p = comma ? comma + 1 : line;
  while (*p == ' ' || *p == '\t')
    p++;
  if (!comma || strchr(line, '[') || !isdigit((unsigned char)*p) || p[1] == 'f')
    return false;
  char *rest;
  long v = strtol(p, &rest, 10);
  sprintf(out, "%.*s%ld%s", (int)(p - line), line, v + 1, rest);
  return true;
}

static bool other_guard(const char *line, char *out) {
  const char *at = strchr(line, '@');
  if (!at)
    return false;
  sprintf(out, "%.*s@%s%s", (int)(at - line), line, at[1] == '!' ? "" : "!",
          at + (at[1] == '!' ? 2 : 1));
  return true;
}

static bool other_register(const char *line, char *out) {
  const char *last = strrchr(line, '%');
  if (!last || !isdigit((unsigned char)line[strlen(line) - 2]) || strstr(line, "bra"))
    return false;
  const char *digits = last;
  while (*digits && !isdigit((unsigned char)*digits))
    digits++;
  char *rest;
  long v = strtol(digits, &rest, 10);
  sprintf(out, "%.*s%ld%s", (int)(digits - line), line, v > 1 ? v - 1 : v + 1, rest);
  return true;
}

static bool (*const changes[])(const char *line, char *out) = {
    drop, move_offset, swap, other_comparison, next_number, other_guard, other_register};
static const char *const change_names[] = {"dropped", "offset",   "swapped", "comparison",
                                           "number",  "negation", "register"};
enum { CHANGES = sizeof changes / sizeof *changes };

/* ---- survivors that are right */

static const struct survivor {
  const char *entry, *change, *line; /* pieces of them */
} equivalent[] = {
    /* sizes are at least 1, those of the square kernels whole tiles */
    {"T8", "dropped", "%p1"},
    {"T8", "register", "setp.lt.s32 \t%p1"},
    {"T16", "dropped", "%p1"},
    {"T16", "register", "setp.lt.s32 \t%p1"},
    {"transposed", "", "setp.lt.s32 \t%p1"},
    {"transposed", "dropped", "@%p1"},
    {"rows", "", "setp.lt.s32 \t%p1"},
    {"rows", "dropped", "@%p1"},
    {"square", "", "setp.gt.s32 \t%p1"},
    {"square", "dropped", "bra.uni \t$L__BB2_1"},
    /* zeros that only stand for sums over nothing, or are there already, or go to elements outside
     * of C */
    {"T8", "", "mov.f32 \t%f104, 0f00000000"},
    {"T8", "dropped", "mov.f32 \t%f104, %f23"},
    {"T8", "dropped", "mov.u32 \t%r40, 0"},
    {"T8", "", "mov.f32 \t%f100, %f23"},
    {"T8", "", "mov.f32 \t%f101, %f102"},
    {"T16", "", "mov.f32 \t%f62, 0f00000000"},
    {"T16", "dropped", "mov.f32 \t%f62, %f9"},
    {"transposed", "", "mov.f32 \t%f104, 0f00000000"},
    {"rows", "", "mov.f32 \t%f85, 0f00000000"},
    {"square", "", "mov.f32 \t%f233, 0f00000000"},
    {"square", "", ", %f233;"},
    /* the first tile of a pair is never the ragged one; columns outside of C may hold anything */
    {"T8", "dropped", "add.s32 \t%r29, %r40, %r3"},
    {"T8", "", "setp.ge.s32 \t%p3, %r29, %r20"},
    {"T8", "register", "or.pred  \t%p5, %p4, %p3"},
    {"T8", "", "setp.ge.s32 \t%p6, %r11, %r20"},
    {"T8", "dropped", "%p8"},
    /* further tiles, all of zeros: only the counts tell */
    {"T8", "register", "add.s32 \t%r6, %r27, 1"},
    {"T8", "", "%p16"},
    {"T16", "dropped", "mov.u32 \t%r29, 0"},
    {"T16", "comparison", "setp.lt.s32 \t%p8, %r29, %r18"},
    /* the barrier behind the last tile; nothing to wait for */
    {"T8", "dropped", "bar.sync"},
    /* the same number: up to n = 1024; an even number and 61; tid & 63 & 7; As lies at 0 */
    {"transposed", "number", "%r25"},
    {"square", "number", "and.b32"},
    {"rows", "register", "and.b32  \t%r16, %r1, 7"},
    {"square", "register", "add.s64 \t%rd5, %rd32, 512"},
    {"", "dropped", "\tret;"},
};

static bool is_equivalent(const struct subject *s, const char *change, const char *line) {
  for (size_t i = 0; i < sizeof equivalent / sizeof *equivalent; i++)
    if (strstr(s->name, equivalent[i].entry) && strstr(change, equivalent[i].change) &&
        strstr(line, equivalent[i].line))
      return true;
  return false;
}

/* ---- all of them */

struct tally {
  int made, by[4], survived, unknown, step, seen;
};

static void change_line(const struct subject *s, const char *text, const char *from,
                        const char *end, struct tally *t) {
  char line[256], changed[300];
  snprintf(line, sizeof line, "%.*s", (int)(end - from), from);
  if (!strchr(line, ';') || strstr(line, ".loc") || strstr(line, ".reg") ||
      strstr(line, ".shared ") || strstr(line, ".pragma"))
    return;
  for (int c = 0; c < CHANGES; c++) {
    if (!changes[c](line, changed) || t->seen++ % t->step)
      continue;
    char *mutant = alloc_printf("%.*s%s%s", (int)(from - text), text, changed, end);
    int verdict = judge(s, mutant);
    free(mutant);
    t->made++;
    t->by[verdict]++;
    if (verdict)
      continue;
    t->survived++;
    if (is_equivalent(s, change_names[c], line))
      continue;
    t->unknown++;
    print_message("# survives: %s: %s: %s -> %s\n", s->name, change_names[c], line, changed);
  }
}

static char *read_text(const char *path) {
  const struct embed_file *e = embed_find(path);
  if (e)
    return alloc_strn(e->data, e->n);
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  char *text = alloc_zero(1 << 18, 1);
  assert_true(fread(text, 1, (1 << 18) - 1, f) > 0);
  fclose(f);
  return text;
}

static void test_mutants(void **state) {
  (void)state;
  const char *all = getenv("XRAY_MUTANTS");
  struct tally t = {.step = all ? 1 : STEP};
  for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
    const struct subject *s = &subjects[i];
    char *text = read_text(s->file), head[80];
    assert_int_equal(judge(s, text), 0);
    snprintf(head, sizeof head, ".entry %s(", s->entry);
    const char *from = strstr(text, head), *stop = strstr(from, "\n}");
    for (from = strchr(from, '{'); from < stop; from = strchr(from, '\n') + 1)
      change_line(s, text, from, strchr(from, '\n'), &t);
    free(text);
  }
  print_message("# %d changed kernels: %d by their result, %d by a problem, %d not run, %d right\n",
                t.made, t.by[1], t.by[2], t.by[3], t.survived);
  assert_true(t.made * STEP >= 1800);
  assert_int_equal(t.unknown, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_mutants)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
