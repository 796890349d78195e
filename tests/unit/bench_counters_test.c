/* The machine's counts of kernels as people write them, held against an H200's counters
 * (tests/fixtures/counters/h200.json, measured by tests/gpu/counters.py). Each must be equal to the
 * digit, or the case (tests/gpu/counters.json) says under "differs" why it cannot be. */
#include "base/alloc.h"
#include "base/json.h"
#include "base/paths.h"
#include "bench/ptx_build.h"
#include "sim/xray/sass.h"
#include "sim/xray/xray.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ARGS_MAX = 32, PATTERN = 0x3f };

static const nvrtc *compiler;
static json_doc *cases_doc, *truth_doc;

struct count {
  const char *name, *counter;
  size_t at;
};
#define COUNT(field, counter) {#field, counter ".sum", offsetof(struct xray_counts, field)}
static const struct count counts[] = {
    COUNT(gld_requests, "l1tex__t_requests_pipe_lsu_mem_global_op_ld"),
    COUNT(gld_sectors, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld"),
    COUNT(gst_requests, "l1tex__t_requests_pipe_lsu_mem_global_op_st"),
    COUNT(gst_sectors, "l1tex__t_sectors_pipe_lsu_mem_global_op_st"),
    COUNT(lds_wavefronts, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld"),
    COUNT(sts_wavefronts, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st"),
    COUNT(ffma, "smsp__sass_thread_inst_executed_op_ffma_pred_on"),
    COUNT(fadd, "smsp__sass_thread_inst_executed_op_fadd_pred_on"),
    COUNT(fmul, "smsp__sass_thread_inst_executed_op_fmul_pred_on"),
};
enum { COUNTS = sizeof counts / sizeof *counts };

static void label_of(const cJSON *c, char *out, size_t n) {
  snprintf(out, n, "%s %s %dx%dx%d", json_str(c, "file"), json_str(c, "entry"),
           (int)json_num(c, "M", 0), (int)json_num(c, "N", 0), (int)json_num(c, "K", 0));
}

/* The hardware's counter of a case; -1: it has none. */
static double counter_of(const char *label, const char *name) {
  const cJSON *names = json_get(json_root(truth_doc), "counters"), *v;
  const cJSON *row = json_get(json_get(json_root(truth_doc), "kernels"), label);
  int i = 0;
  assert_non_null(row);
  cJSON_ArrayForEach(v, names) {
    if (strcmp(v->valuestring, name) == 0)
      break;
    i++;
  }
  const cJSON *n = cJSON_GetArrayItem(row, i);
  return cJSON_IsNumber(n) ? n->valuedouble : -1;
}

/* ldmatrix is only in a counter that the loads share, stmatrix in none. */
static double wanted(const char *label, const struct count *c) {
  const char *name = c->counter;
  if (strcmp(c->name, "lds_wavefronts") == 0 &&
      counter_of(label, "smsp__inst_executed_op_ldsm.sum") > 0)
    name = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
  if (strcmp(c->name, "sts_wavefronts") == 0 &&
      counter_of(label, "smsp__inst_executed_op_shared_st.sum") == 0)
    return -1;
  return counter_of(label, name);
}

static void three(const char *text, int64_t out[3]) {
  int v[3] = {1, 1, 1};
  assert_true(sscanf(text, "%d,%d,%d", &v[0], &v[1], &v[2]) >= 1);
  for (int i = 0; i < 3; i++)
    out[i] = v[i];
}

struct launch {
  struct xray_launch l;
  struct xray_array arrays[ARGS_MAX];
  struct xray_arg args[ARGS_MAX];
};

static void put_arg(struct launch *l, const char *text) {
  struct xray_arg *a = &l->args[l->l.nargs++];
  const char *v = text + 2;
  int32_t i = atoi(v);
  float f = strtof(v, NULL);
  *a = (struct xray_arg){.array = -1, .bytes = 4};
  if (text[0] == 'p') {
    struct xray_array *p = &l->arrays[l->l.narrays];
    *p = (struct xray_array){.name = "array", .bytes = strtoull(v, NULL, 10), .written = true};
    p->data = alloc_zero(p->bytes, 1);
    memset(p->data, PATTERN, p->bytes);
    a->array = l->l.narrays++;
  } else {
    memcpy(a->value, text[0] == 'f' ? (void *)&f : (void *)&i, 4);
  }
}

static void launch_of(const cJSON *c, struct launch *l) {
  memset(l, 0, sizeof *l);
  three(json_str(c, "grid"), l->l.grid);
  three(json_str(c, "block"), l->l.block);
  l->l.shared_bytes = (int64_t)json_num(c, "smem", 0);
  l->l.checks = XRAY_CHECK_ALL;
  l->l.arrays = l->arrays;
  l->l.args = l->args;
  const cJSON *a;
  cJSON_ArrayForEach(a, json_get(c, "launch")) put_arg(l, a->valuestring);
}

/* All kernels of a file in one compile. */
static bool build(const char *file, struct ptx_build_output *out) {
  char path[200], why[600];
  struct err err;
  snprintf(path, sizeof path, "tests/fixtures/counters/%s", file);
  struct ptx_build_request q = {.name = path, .resources = true};
  char *source = paths_read(path, 1 << 20, &q.size, &err);
  assert_non_null(source);
  q.source = source;
  bool ok = ptx_build(compiler, &q, out, &err);
  snprintf(why, sizeof why, "%.599s", ok ? "" : err.text);
  free(source);
  if (!ok)
    print_message("# %s: %s\n", file, why);
  return ok;
}

static const char *symbol_of(const struct ptx_build_output *built, const char *entry) {
  for (int i = 0; i < built->nentries; i++)
    if (strcmp(built->entries[i].name, entry) == 0)
      return built->entries[i].symbol;
  return NULL;
}

/* The number of counts that are not as they should be. */
static int compare(const cJSON *c, const char *label, const struct xray_report *r) {
  int bad = 0;
  for (int i = 0; i < COUNTS; i++) {
    double want = wanted(label, &counts[i]), have;
    const char *known = json_str(json_get(c, "differs"), counts[i].name);
    memcpy(&have, (const char *)&r->counts + counts[i].at, sizeof have);
    if (want < 0 || (known ? have != want : have == want))
      continue;
    print_message("# %s: %s %.0f, hardware %.0f%s%s\n", label, counts[i].name, have, want,
                  known ? " although " : "", known ? known : "");
    bad++;
  }
  for (int i = 0; i < r->nproblems; i++) {
    if (!r->problems[i].error ||
        json_num(json_get(c, "problems"), xray_kind_name(r->problems[i].kind), 0) > 0)
      continue;
    print_message("# %s: line %d: %s\n", label, r->problems[i].line, r->problems[i].detail);
    bad++;
  }
  return bad;
}

static int run_case(const struct ptx_build_output *built, const cJSON *c) {
  char label[200];
  struct err err;
  label_of(c, label, sizeof label);
  struct launch l;
  launch_of(c, &l);
  struct xray_mix mix;
  l.l.entry = symbol_of(built, json_str(c, "entry"));
  if (!l.l.entry) {
    print_message("# %s was not compiled\n", label);
    return 1;
  }
  if (sass_mix(built->cubin, built->cubin_size, l.l.entry, &mix, &err))
    l.l.sass = &mix;
  xray_module *m = xray_load(built->ptx, strlen(built->ptx), &err);
  struct xray_report r;
  int bad = 1;
  if (m && xray_run(m, &l.l, &r, &err)) {
    bad = compare(c, label, &r);
    xray_report_done(&r);
  } else {
    print_message("# %s: %s\n", label, err.text);
  }
  xray_free(m);
  for (int i = 0; i < l.l.narrays; i++)
    free(l.arrays[i].data);
  return bad > 0;
}

/* The cases of one file. */
static void counters_of(const char *file) {
  if (!compiler)
    skip();
  int bad = 0, n = 0;
  struct ptx_build_output built;
  bool ok = build(file, &built);
  const cJSON *c;
  cJSON_ArrayForEach(c, json_root(cases_doc)) {
    if (strcmp(json_str(c, "file"), file) != 0)
      continue;
    n++;
    bad += ok ? run_case(&built, c) : 1;
  }
  ptx_build_done(&built);
  assert_true(n > 0);
  if (bad)
    print_message("# %d of %d kernels differ\n", bad, n);
  assert_int_equal(bad, 0);
}

static void test_rows(void **state) {
  (void)state;
  counters_of("01_rows.cu");
}
static void test_block(void **state) {
  (void)state;
  counters_of("02_block.cu");
}
static void test_vector(void **state) {
  (void)state;
  counters_of("03_vector.cu");
}
static void test_warp(void **state) {
  (void)state;
  counters_of("04_warp.cu");
}
static void test_rows_and_sums(void **state) {
  (void)state;
  counters_of("05_rows_and_sums.cu");
}
static void test_half(void **state) {
  (void)state;
  counters_of("06_half.cu");
}
static void test_async(void **state) {
  (void)state;
  counters_of("07_async.cu");
}
static void test_patterns(void **state) {
  (void)state;
  counters_of("08_patterns.cu");
}

static int setup(void **state) {
  (void)state;
  struct err err;
  compiler = nvrtc_open(&err);
  if (!compiler)
    print_message("# SKIP %s\n", err.text);
  cases_doc = json_load("tests/gpu/counters.json", 0, &err);
  truth_doc = json_load("tests/fixtures/counters/h200.json", 0, &err);
  return cases_doc && truth_doc ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  json_free(cases_doc);
  json_free(truth_doc);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows),          cmocka_unit_test(test_block),
      cmocka_unit_test(test_vector),        cmocka_unit_test(test_warp),
      cmocka_unit_test(test_rows_and_sums), cmocka_unit_test(test_half),
      cmocka_unit_test(test_async),         cmocka_unit_test(test_patterns),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
