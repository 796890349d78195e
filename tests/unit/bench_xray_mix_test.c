/* The certificate: the mix of loads, stores and FFMA that the PTX machine expects of a kernel, held
 * against the machine code of the same compile, for the shapes of tests/fixtures/xray/shapes. With
 * GENERATE=1 the counts in shapes.txt and the PTX kept beside it are written anew. The tables of an
 * H200 are repeated with PTX made here. */
#include "bench/ptx_build.h"
#include "sim/xray/sass.h"

#include "xray_tables.h"

#define DIR "tests/fixtures/xray/"
enum { MAX_SHAPES = 200, LEAST_PERCENT = 93 };

static const nvrtc *compiler; /* NULL: none here */

static struct ptx_build_output build(const char *path, const struct tables_shape *s,
                                     bool machine_code) {
  size_t n = 0;
  char *source = tables_read(path, &n);
  if (!source)
    fail_msg("%s is not there: run the tests from the root of the sources", path);
  const char *flags[12];
  for (int i = 0; s && i < s->nflags; i++)
    flags[i] = s->flags[i];
  struct ptx_build_request q = {.source = source,
                                .size = n,
                                .name = strrchr(path, '/') + 1,
                                .arch = "90",
                                .flags = flags,
                                .nflags = s ? s->nflags : 0,
                                .resources = machine_code};
  struct ptx_build_output out;
  struct err err;
  if (!ptx_build(compiler, &q, &out, &err))
    fail_msg("%s %s: %s", path, s ? s->name : "", err.text);
  free(source);
  return out;
}

static int read_shapes(struct tables_shape *shapes, char *lines[MAX_SHAPES], int *nlines) {
  size_t size = 0;
  char *text = tables_read(DIR "shapes/shapes.txt", &size), *rest = text;
  int n = 0;
  assert_non_null(text);
  *nlines = 0;
  for (char *line; (line = strsep(&rest, "\n")) && (rest || *line);) {
    assert_true(*nlines < MAX_SHAPES);
    lines[(*nlines)++] = alloc_str(line);
    n += tables_shape_read(&shapes[n], line);
  }
  free(text);
  return n;
}

static void print_mix(FILE *f, const struct xray_mix *m) {
  const int *of[4] = {m->lds, m->sts, m->ldg, m->stg};
  for (int i = 0; i < 4; i++)
    fprintf(f, " %d %d %d ", of[i][0], of[i][1], of[i][2]);
  fprintf(f, " %d\n", m->ffma);
}

static xray_module *load(const char *text, size_t n) {
  struct err err;
  xray_module *m = xray_load(text, n, &err);
  if (!m)
    fail_msg("%s", err.text);
  return m;
}

/* Writes the PTX of a shape whose PTX is kept, without the source lines. */
static void keep(const struct tables_shape *s, const char *ptx) {
  char path[200];
  size_t n = 0;
  snprintf(path, sizeof path, DIR "shapes/%s.ptx", s->name);
  char *there = tables_read(path, &n), *text = alloc_str(ptx), *rest = text;
  free(there);
  FILE *f = there ? fopen(path, "w") : NULL;
  for (char *line; f && (line = strsep(&rest, "\n"));)
    if (*line && !strstr(line, ".loc") && strncmp(line, "//", 2) != 0)
      fprintf(f, "%s\n", line);
  if (f)
    fclose(f);
  free(text);
}

/* True if the machine's mix is that of the machine code. */
static bool is_equal(struct tables_shape *s, bool generate) {
  struct ptx_build_output out = build(DIR "shapes/shapes.cu", s, true);
  struct xray_mix sass, mix;
  struct err err;
  bool exact = false;
  if (!sass_mix(out.cubin, out.cubin_size, out.entries[0].symbol, &sass, &err))
    fail_msg("%s: %s", s->name, err.text);
  xray_module *m = load(out.ptx, strlen(out.ptx));
  assert_true(xray_mix_of(m, NULL, &sass, &mix, &exact, &err));
  if (exact != sass_mix_equal(&mix, &sass))
    fail_msg("%s: called %s", s->name, exact ? "exact, and is not" : "not exact, and is");
  if (!exact) {
    printf("# %s differs: machine, cubin\n#", s->name);
    print_mix(stdout, &mix);
    printf("#");
    print_mix(stdout, &sass);
  }
  if (generate)
    keep(s, out.ptx);
  else if (strcmp(nvrtc_version(compiler), "13.0") == 0 && !sass_mix_equal(&sass, &s->sass))
    fail_msg("%s: shapes.txt has other counts than its cubin; run this test with GENERATE=1",
             s->name);
  s->sass = sass;
  xray_free(m);
  ptx_build_done(&out);
  return exact;
}

static void write_shapes(const struct tables_shape *shapes, char *lines[MAX_SHAPES], int nlines) {
  FILE *f = fopen(DIR "shapes/shapes.txt", "w");
  assert_non_null(f);
  for (int i = 0, n = 0; i < nlines; i++) {
    struct tables_shape s;
    if (!tables_shape_read(&s, lines[i])) {
      fprintf(f, "%s\n", lines[i]);
      continue;
    }
    fprintf(f, "%s", s.name);
    for (int k = 0; k < s.nflags; k++)
      fprintf(f, " %s", s.flags[k] + 2);
    fprintf(f, " :");
    print_mix(f, &shapes[n++].sass);
  }
  fclose(f);
}

static void test_shapes(void **state) {
  (void)state;
  static struct tables_shape shapes[MAX_SHAPES];
  char *lines[MAX_SHAPES];
  int nlines, n = read_shapes(shapes, lines, &nlines), equal = 0;
  bool generate = getenv("GENERATE") != NULL;
  if (compiler) {
    for (int i = 0; i < n; i++)
      equal += is_equal(&shapes[i], generate);
    if (generate)
      write_shapes(shapes, lines, nlines);
  }
  for (int i = 0; i < nlines; i++)
    free(lines[i]);
  if (!compiler)
    skip();
  printf("# %d of %d shapes have the mix of their cubin\n", equal, n);
  assert_true(n >= 90 && equal * 100 >= n * LEAST_PERCENT);
}

/* Every kernel of a file; those that differ are counted and named. */
static int differing(const char *path, int *kernels) {
  struct ptx_build_output out = build(path, NULL, true);
  xray_module *m = load(out.ptx, strlen(out.ptx));
  int n = 0;
  const char *entry;
  for (int i = 0; (entry = xray_entry(m, i)); i++, ++*kernels) {
    struct xray_mix sass, mix;
    struct err err;
    bool exact = false;
    if (!sass_mix(out.cubin, out.cubin_size, entry, &sass, &err) ||
        !xray_mix_of(m, entry, &sass, &mix, &exact, &err))
      fail_msg("%s: %s", entry, err.text);
    n += !exact;
    if (!exact)
      printf("# %s of %s differs\n", entry, path);
  }
  xray_free(m);
  ptx_build_done(&out);
  return n;
}

/* Of all other kernels here one differs: a division and a root are FFMAs in machine code. */
static void test_fixtures(void **state) {
  (void)state;
  static const char *const files[] = {"tensor.cu", "good.cu", "tiles.cu", "ops.cu", "blocks.cu"};
  int kernels = 0, differ = 0;
  if (!compiler)
    skip();
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[100];
    snprintf(path, sizeof path, DIR "%s", files[i]);
    differ += differing(path, &kernels);
  }
  printf("# %d of %d other kernels differ\n", differ, kernels);
  assert_true(kernels >= 60);
  assert_true(differ * 100 <= kernels * (100 - LEAST_PERCENT));
}

static void fresh(const char *path, void (*tables)(const xray_module *m)) {
  if (!compiler)
    skip();
  struct ptx_build_output out = build(path, NULL, false);
  xray_module *m = load(out.ptx, strlen(out.ptx));
  tables(m);
  xray_free(m);
  ptx_build_done(&out);
}

static void test_patterns(void **state) {
  (void)state;
  fresh(DIR "patterns.cu", tables_patterns);
}

static void test_tiles(void **state) {
  (void)state;
  fresh(DIR "tiles.cu", tables_tiles);
}

int main(void) {
  struct err err;
  compiler = nvrtc_open(&err);
  if (!compiler)
    printf("# skipped: %s\n", err.text);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shapes),
      cmocka_unit_test(test_fixtures),
      cmocka_unit_test(test_patterns),
      cmocka_unit_test(test_tiles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
