/* Joining and unrolling in the PTX machine: what ptxas makes of shared loads, from PTX alone. The
 * little texts here were compiled with ptxas 13.0 for sm_75, 90 and 120, which agree on them. */
#include "sim/xray/sass.h"

#include "xray_tables.h"

#define DIR "tests/fixtures/xray/"

static xray_module *load(const char *text, size_t n) {
  struct err err;
  xray_module *m = xray_load(text, n, &err);
  if (!m)
    fail_msg("%s", err.text);
  return m;
}

/* ---- loads of one block: PTX with p at 16 bytes a thread, and the widths that come out */

static xray_module *block_of(const char *loads) {
  char *text =
      alloc_printf(".version 8.0\n.target sm_75\n.address_size 64\n"
                   ".visible .entry k(.param .u64 out) {\n"
                   ".reg .b64 %%o; .reg .b32 %%p, %%q, %%t, %%b; .reg .f32 %%f<9>;\n"
                   ".reg .f64 %%d<3>; .reg .b16 %%h<5>; .reg .b32 %%r<5>; .reg .pred %%y;\n"
                   ".shared .align 16 .b8 s[4096];\n"
                   "ld.param.u64 %%o, [out]; mov.u32 %%t, %%tid.x; mov.u32 %%b, s;\n"
                   "mad.lo.s32 %%p, %%t, 16, %%b; mad.lo.s32 %%q, %%t, 8, %%b;\n"
                   "setp.eq.s32 %%y, %%t, 7;\n%s\nret; }\n",
                   loads);
  xray_module *m = load(text, strlen(text));
  free(text);
  return m;
}

static void expect_widths(const char *loads, int of4, int of8, int of16) {
  xray_module *m = block_of(loads);
  struct xray_mix mix;
  struct err err;
  bool exact = false;
  assert_true(xray_mix_of(m, NULL, NULL, &mix, &exact, &err));
  if (mix.lds[0] != of4 || mix.lds[1] != of8 || mix.lds[2] != of16)
    fail_msg("%s: %d %d %d, not %d %d %d", loads, mix.lds[0], mix.lds[1], mix.lds[2], of4, of8,
             of16);
  assert_true(exact); /* no loop */
  xray_free(m);
}

#define LD "ld.shared.f32 "
#define AT(i, at) LD "%f" #i ", [%p+" #at "]; "

static void test_words(void **state) {
  (void)state;
  expect_widths(AT(1, 0) AT(2, 4), 0, 1, 0);
  expect_widths(AT(1, 0) AT(2, 4) AT(3, 8), 0, 0, 1); /* three of four words */
  expect_widths(AT(1, 0) AT(2, 4) AT(3, 12), 0, 0, 1);
  expect_widths(AT(1, 0) AT(2, 8), 2, 0, 0);
  expect_widths(AT(1, 0) AT(2, 12), 2, 0, 0);
  expect_widths(AT(1, 4) AT(2, 8), 2, 0, 0); /* eight bytes, but not aligned */
  expect_widths(AT(1, 4) AT(2, 8) AT(3, 12) AT(4, 16), 1, 0, 1);
  expect_widths(AT(1, 0) AT(2, 0), 1, 0, 0); /* the same again */
  expect_widths(AT(1, 0) AT(2, 0) AT(3, 4) AT(4, 4), 0, 1, 0);
  /* 8 bytes a thread: the alignment is 8 */
  expect_widths(LD "%f1, [%q]; " LD "%f2, [%q+4]; " LD "%f3, [%q+8]; " LD "%f4, [%q+12];", 0, 2, 0);
}

static void test_widths(void **state) {
  (void)state;
  expect_widths("ld.shared.v2.f32 {%f1, %f2}, [%p]; ld.shared.v2.f32 {%f3, %f4}, [%p+8];", 0, 0, 1);
  expect_widths("ld.shared.v2.f32 {%f1, %f2}, [%p]; ld.shared.v2.f32 {%f3, %f4}, [%p+24];", 0, 2,
                0);
  expect_widths("ld.shared.v2.f32 {%f1, %f2}, [%p]; ld.shared.f32 %f3, [%p+12];", 0, 0, 1);
  expect_widths("ld.shared.f32 %f3, [%p]; ld.shared.v2.f32 {%f1, %f2}, [%p+8];", 0, 0, 1);
  expect_widths("ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%p]; ld.shared.f32 %f5, [%p+4];", 0, 0, 1);
  expect_widths("ld.shared.f64 %d1, [%p]; ld.shared.f64 %d2, [%p+8];", 0, 0, 1);
  expect_widths("ld.shared.f64 %d1, [%p]; ld.shared.f64 %d2, [%p+24];", 0, 2, 0);
  expect_widths("ld.shared.f64 %d1, [%p]; ld.shared.f32 %f1, [%p+8]; ld.shared.f32 %f2, [%p+12];",
                0, 2, 0);
  expect_widths("ld.shared.u16 %h1, [%p]; ld.shared.u16 %h2, [%p+2];", 2, 0, 0);
  expect_widths("ld.shared.v2.u16 {%h1, %h2}, [%p]; ld.shared.v2.u16 {%h3, %h4}, [%p+4];", 0, 1, 0);
  expect_widths("ld.shared.v2.u16 {%h1, %h2}, [%p]; ld.shared.u32 %r1, [%p+4];", 0, 1, 0);
}

static void test_between(void **state) {
  (void)state;
  expect_widths(AT(1, 0) "st.global.f32 [%o], %f1; " AT(2, 4), 0, 1, 0);
  expect_widths(AT(1, 0) "red.global.add.f32 [%o], %f1; " AT(2, 4), 0, 1, 0);
  expect_widths(AT(1, 0) "st.f32 [%o], %f1; " AT(2, 4), 2, 0, 0);
  expect_widths(AT(1, 0) "st.shared.f32 [%p+64], %f1; " AT(2, 4), 2, 0, 0);
  expect_widths(AT(1, 0) "bar.sync 0; " AT(2, 4), 2, 0, 0);
  expect_widths(AT(1, 0) "membar.cta; " AT(2, 4), 2, 0, 0);
  expect_widths(AT(1, 0) "bar.warp.sync -1; " AT(2, 4), 2, 0, 0);
  expect_widths(AT(1, 0) "shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1; " AT(2, 4), 0, 1, 0);
  expect_widths("ld.volatile.shared.f32 %f1, [%p]; ld.volatile.shared.f32 %f2, [%p+4];", 2, 0, 0);
  expect_widths("@%y " AT(1, 0) "@%y " AT(2, 4), 2, 0, 0);
}

/* ---- products in sums */

static void expect_ffma(const char *code, int ffma) {
  xray_module *m = block_of(code);
  struct xray_mix mix;
  struct err err;
  bool exact = false;
  assert_true(xray_mix_of(m, NULL, NULL, &mix, &exact, &err));
  if (mix.ffma != ffma)
    fail_msg("%s: %d FFMA, not %d", code, mix.ffma, ffma);
  xray_free(m);
}

#define MUL "mul.f32 %f1, %f2, %f3; "

static void test_products(void **state) {
  (void)state;
  expect_ffma(MUL "add.f32 %f4, %f1, %f5;", 1);
  expect_ffma(MUL "sub.f32 %f4, %f5, %f1;", 1);
  expect_ffma(MUL "@%y add.f32 %f4, %f1, %f5;", 1);
  expect_ffma(MUL "mul.f32 %f4, %f5, %f6; sub.f32 %f7, %f1, %f4;", 1);
  expect_ffma(MUL "add.f32 %f4, %f1, %f5; add.f32 %f6, %f1, %f7;", 2);
  expect_ffma(MUL "add.f32 %f4, %f1, %f5; st.global.f32 [%o], %f1;", 0);
  expect_ffma(MUL "add.f32 %f4, %f1, %f1;", 0);
  expect_ffma(MUL "add.rn.f32 %f4, %f1, %f5;", 0);
  expect_ffma("mul.rn.f32 %f1, %f2, %f3; add.f32 %f4, %f1, %f5;", 0);
  expect_ffma(MUL "@%y bra L; add.f32 %f4, %f1, %f5; L:", 0);
  expect_ffma("fma.rn.f32 %f1, %f2, %f3, %f4;", 1);
}

/* ---- loops */

/* The shapes whose PTX is kept, with the counts of their cubin. */
static void test_kept_shapes(void **state) {
  (void)state;
  size_t size = 0;
  char *text = tables_read(DIR "shapes/shapes.txt", &size), *rest = text, path[200];
  int shapes = 0;
  assert_non_null(text);
  for (char *line; (line = strsep(&rest, "\n"));) {
    struct tables_shape s;
    if (!tables_shape_read(&s, line))
      continue;
    snprintf(path, sizeof path, DIR "shapes/%s.ptx", s.name);
    char *ptx = tables_read(path, &size);
    if (!ptx)
      continue;
    xray_module *m = load(ptx, size);
    struct xray_mix mix;
    struct err err;
    bool exact = false;
    assert_true(xray_mix_of(m, NULL, &s.sass, &mix, &exact, &err));
    if (!exact || !sass_mix_equal(&mix, &s.sass))
      fail_msg("%s: lds %d %d %d, sts %d, ffma %d; the cubin has lds %d %d %d, sts %d, ffma %d",
               s.name, mix.lds[0], mix.lds[1], mix.lds[2], mix.sts[0], mix.ffma, s.sass.lds[0],
               s.sass.lds[1], s.sass.lds[2], s.sass.sts[0], s.sass.ffma);
    s.sass.stg[0]++; /* another machine code is none of this PTX */
    assert_true(xray_mix_of(m, NULL, &s.sass, &mix, &exact, &err));
    assert_false(exact);
    xray_free(m);
    free(ptx);
    shapes++;
  }
  free(text);
  assert_true(shapes >= 8);
}

struct launch {
  int M, N, K, grid[2], block[2];
};

static struct xray_report run_shape(const xray_module *m, const struct xray_mix *sass,
                                    const struct launch *a) {
  size_t na = (size_t)(a->M * a->K), nb = (size_t)(a->K * a->N), nc = (size_t)(a->M * a->N);
  float *data = alloc_zero(na + nb + nc, sizeof *data);
  struct xray_array arrays[3] = {{"A", data, na * 4, true},
                                 {"B", data + na, nb * 4, true},
                                 {"C", data + na + nb, nc * 4, false}};
  struct xray_arg args[6] = {{.array = 0},     {.array = 1},     {.array = 2},
                             tables_int(a->M), tables_int(a->N), tables_int(a->K)};
  struct xray_launch l = {.grid = {a->grid[0], a->grid[1], 1},
                          .block = {a->block[0], a->block[1], 1},
                          .arrays = arrays,
                          .narrays = 3,
                          .args = args,
                          .nargs = 6,
                          .sass = sass};
  struct xray_report r;
  struct err err;
  if (!xray_run(m, &l, &r, &err))
    fail_msg("%s", err.text);
  assert_int_equal(r.nproblems, 0);
  free(data);
  return r;
}

/* A loop of 32 trips whose cubin has two of them first, then a body of five: 4 LDS.64 and 4
 * LDS.128, then six times 20 LDS and 10 LDS.128. */
static void test_peeled_loop(void **state) {
  (void)state;
  size_t size = 0;
  char *ptx = tables_read(DIR "shapes/square64x128x32_4x8.ptx", &size);
  assert_non_null(ptx);
  xray_module *m = load(ptx, size);
  struct xray_mix sass = {
      .lds = {20, 4, 14}, .sts = {14, 0, 0}, .ldg = {14, 0, 0}, .stg = {32, 0, 0}, .ffma = 224};
  const struct launch once = {64, 128, 64, {1, 1}, {256, 1}};
  double warps = 8, tiles = 2;
  struct xray_report r = run_shape(m, &sass, &once);
  assert_false(r.ptx_level);
  assert_true(sass_mix_equal(&r.mix, &sass));
  tables_expect("peeled", "loads", r.counts.lds_requests, warps * tiles * (8 + 6 * 30));
  xray_report_done(&r);
  r = run_shape(m, NULL, &once); /* as it stands: 4 LDS and 2 LDS.128 a trip */
  assert_true(r.ptx_level);
  tables_expect("as it stands", "loads", r.counts.lds_requests, warps * tiles * 32 * 6);
  xray_report_done(&r);
  xray_free(m);
  free(ptx);
}

/* The counts of a row of shapes.txt; false if it has none of that name. */
static bool find_sass(const char *name, struct xray_mix *sass) {
  size_t size = 0;
  char *text = tables_read(DIR "shapes/shapes.txt", &size), *rest = text;
  bool found = false;
  for (char *line; !found && (line = strsep(&rest, "\n"));) {
    struct tables_shape s;
    found = tables_shape_read(&s, line) && strcmp(s.name, name) == 0;
    *sass = s.sass;
  }
  free(text);
  return found;
}

/* Counters of an H200 (shapes/h200.txt), for the shapes whose PTX is kept. */
static void test_hardware(void **state) {
  (void)state;
  FILE *f = fopen(DIR "shapes/h200.txt", "r");
  assert_non_null(f);
  char line[400], name[80], path[200];
  int shapes = 0;
  while (fgets(line, sizeof line, f)) {
    struct launch l = {256, 256, 256, {0}, {0}};
    double lds, lds_wave, sts_wave, ffma, gld, gld_sectors, gst_sectors;
    if (sscanf(line, "%79s %d %d %d %d %lf %lf %lf %lf %lf %lf %lf", name, &l.grid[0], &l.grid[1],
               &l.block[0], &l.block[1], &lds, &lds_wave, &sts_wave, &ffma, &gld, &gld_sectors,
               &gst_sectors) != 12)
      continue;
    size_t size = 0;
    snprintf(path, sizeof path, DIR "shapes/%s.ptx", name);
    char *ptx = tables_read(path, &size);
    if (!ptx)
      continue;
    struct xray_mix sass;
    assert_true(find_sass(name, &sass));
    xray_module *m = load(ptx, size);
    struct xray_report r = run_shape(m, &sass, &l);
    assert_false(r.ptx_level);
    tables_expect(name, "shared loads", r.counts.lds_requests, lds);
    tables_expect(name, "shared load wavefronts", r.counts.lds_wavefronts, lds_wave);
    tables_expect(name, "shared store wavefronts", r.counts.sts_wavefronts, sts_wave);
    tables_expect(name, "ffma", r.counts.ffma, ffma);
    tables_expect(name, "load requests", r.counts.gld_requests, gld);
    tables_expect(name, "load sectors", r.counts.gld_sectors, gld_sectors);
    tables_expect(name, "store sectors", r.counts.gst_sectors, gst_sectors);
    xray_report_done(&r);
    xray_free(m);
    free(ptx);
    shapes++;
  }
  fclose(f);
  assert_true(shapes >= 8);
}

static void test_patterns(void **state) {
  (void)state;
  size_t size = 0;
  char *ptx = tables_read(DIR "patterns.ptx", &size);
  assert_non_null(ptx);
  xray_module *m = load(ptx, size);
  tables_patterns(m);
  xray_free(m);
  free(ptx);
}

/* Damaged PTX with a mix that it has not: a plan is looked for, and never one beyond the text. */
static void test_damaged(void **state) {
  (void)state;
  static const char *const names[] = {"rows64x32x32_8", "tiled8_flat_uint", "rows64x64x8_8_pad"};
  uint32_t seed = 11;
  int read = 0;
  for (int i = 0; i < 300; i++) {
    size_t size = 0;
    char path[200];
    snprintf(path, sizeof path, DIR "shapes/%s.ptx", names[i % 3]);
    char *text = tables_read(path, &size);
    assert_non_null(text);
    for (int k = 0; k < 4; k++) {
      seed = seed * 1664525u + 1013904223u;
      size_t at = (seed >> 4) % size; /* numbers of registers, labels and offsets */
      while (at < size && (text[at] < '0' || text[at] > '9'))
        at++;
      if (at < size)
        text[at] = (char)('0' + (seed >> 9) % 10);
    }
    xray_module *m = xray_load(text, size, NULL);
    const char *entry = m ? xray_entry(m, 0) : NULL;
    struct xray_mix mix, sass;
    bool exact = false;
    if (entry) {
      assert_true(find_sass(names[i % 3], &sass));
      assert_true(xray_mix_of(m, entry, &sass, &mix, &exact, NULL));
      assert_true(exact == sass_mix_equal(&mix, &sass));
      sass.ffma += (int)(seed >> 28);
      assert_true(xray_mix_of(m, entry, &sass, &mix, &exact, NULL));
      read++;
    }
    xray_free(m);
    free(text);
  }
  assert_true(read > 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_words),       cmocka_unit_test(test_widths),
      cmocka_unit_test(test_between),     cmocka_unit_test(test_products),
      cmocka_unit_test(test_kept_shapes), cmocka_unit_test(test_peeled_loop),
      cmocka_unit_test(test_patterns),    cmocka_unit_test(test_hardware),
      cmocka_unit_test(test_damaged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
