/* Tables of counters read on an H200, and the runs of the PTX machine that are held against them:
 * of PTX that is kept, and of PTX that NVRTC has just made. */
#ifndef MM_TESTS_XRAY_TABLES_H
#define MM_TESTS_XRAY_TABLES_H

#include "base/alloc.h"
#include "sim/xray/xray.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A whole file, NUL behind it; NULL if it is not there. The caller frees. */
static inline char *tables_read(const char *path, size_t *n) {
  FILE *f = fopen(path, "rb");
  if (!f)
    return NULL;
  char *text = alloc_zero(1 << 20, 1);
  *n = fread(text, 1, (1 << 20) - 1, f);
  fclose(f);
  return text;
}

static inline struct xray_arg tables_int(int v) {
  struct xray_arg a = {.array = -1, .bytes = 4};
  memcpy(a.value, &v, 4);
  return a;
}

static inline void tables_expect(const char *kernel, const char *what, double is, double should) {
  if (is != should)
    fail_msg("%s, %s: %.0f, not %.0f", kernel, what, is, should);
}

/* ---- shared memory, one access of one warp: rows and columns of docs/counting.md */

static inline void tables_patterns(const xray_module *m) {
  static const char *const kernels[6] = {"load4", "load8", "load16", "store4", "store8", "store16"};
  static const int wavefronts[13][6] = {
      {1, 1, 2, 1, 2, 4},       {1, 1, 2, 1, 2, 4},       {1, 2, 4, 1, 2, 4},
      {2, 4, 8, 2, 4, 8},       {4, 8, 16, 4, 8, 16},     {8, 16, 32, 8, 16, 32},
      {16, 32, 32, 16, 32, 32}, {32, 32, 32, 32, 32, 32}, {1, 2, 4, 1, 2, 4},
      {1, 1, 2, 1, 2, 4},       {1, 1, 2, 1, 2, 4},       {1, 2, 4, 1, 2, 4},
      {1, 2, 4, 1, 2, 4}};
  float out[32];
  struct xray_array array = {"out", out, sizeof out, false};
  for (int row = 0; row < 13; row++)
    for (int k = 0; k < 6; k++) {
      struct xray_arg args[2] = {{.array = 0}, tables_int(row)};
      struct xray_launch l = {.entry = kernels[k],
                              .grid = {1, 1, 1},
                              .block = {32, 1, 1},
                              .arrays = &array,
                              .narrays = 1,
                              .args = args,
                              .nargs = 2};
      struct xray_report r;
      struct err err;
      if (!xray_run(m, &l, &r, &err))
        fail_msg("%s", err.text);
      bool store = k > 2;
      double is = store ? r.counts.sts_wavefronts : r.counts.lds_wavefronts;
      if (is != wavefronts[row][k])
        fail_msg("%s of row %d: %.0f wavefronts, not %d", kernels[k], row, is, wavefronts[row][k]);
      tables_expect(kernels[k], "requests", store ? r.counts.sts_requests : r.counts.lds_requests,
                    1);
      xray_report_done(&r);
    }
}

/* ---- kernels of tiles.cu at M = N = K = 256 */

static inline void tables_tiles(const xray_module *m) {
  static const struct {
    const char *entry;
    int grid, block[2];
    double gld, sectors, gst_sectors, lds, lds_conflicts, sts, sts_conflicts;
  } of[] = {
      {"transposed", 8, {32, 32}, 32768, 131072, 8192, 4456448, 3670016, 540672, 507904},
      {"rows", 4, {512, 1}, 16384, 65536, 8192, 327680, 0, 16384, 0},
      {"square", 4, {256, 1}, 4096, 65536, 8192, 196608, 0, 40960, 24576},
  };
  size_t n = (size_t)256 * 256;
  float *data = alloc_zero(3 * n, sizeof *data);
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    struct xray_array arrays[3] = {
        {"A", data, n * 4, true}, {"B", data + n, n * 4, true}, {"C", data + 2 * n, n * 4, false}};
    struct xray_arg args[4] = {{.array = 0}, {.array = 1}, {.array = 2}, tables_int(256)};
    struct xray_launch l = {.entry = of[i].entry,
                            .grid = {of[i].grid, of[i].grid, 1},
                            .block = {of[i].block[0], of[i].block[1], 1},
                            .arrays = arrays,
                            .narrays = 3,
                            .args = args,
                            .nargs = 4};
    struct xray_report r;
    struct err err;
    if (!xray_run(m, &l, &r, &err))
      fail_msg("%s", err.text);
    tables_expect(of[i].entry, "load requests", r.counts.gld_requests, of[i].gld);
    tables_expect(of[i].entry, "load sectors", r.counts.gld_sectors, of[i].sectors);
    tables_expect(of[i].entry, "store sectors", r.counts.gst_sectors, of[i].gst_sectors);
    tables_expect(of[i].entry, "shared load wavefronts", r.counts.lds_wavefronts, of[i].lds);
    tables_expect(of[i].entry, "load conflicts", r.counts.lds_conflicts, of[i].lds_conflicts);
    tables_expect(of[i].entry, "shared store wavefronts", r.counts.sts_wavefronts, of[i].sts);
    tables_expect(of[i].entry, "store conflicts", r.counts.sts_conflicts, of[i].sts_conflicts);
    tables_expect(of[i].entry, "ffma", r.counts.ffma, 16777216);
    xray_report_done(&r);
  }
  free(data);
}

/* ---- rows of shapes/shapes.txt */

struct tables_shape {
  char name[80];
  char flags[12][40]; /* "-DT=8" */
  int nflags;
  struct xray_mix sass; /* of NVRTC 13.0 for sm_90 */
};

/* Reads a line "name KEY=VALUE ... : 13 counts"; false for others. */
static inline bool tables_shape_read(struct tables_shape *s, const char *line) {
  *s = (struct tables_shape){.nflags = 0};
  int used = 0;
  if (sscanf(line, "%79s%n", s->name, &used) != 1 || s->name[0] == '#')
    return false;
  char word[36];
  for (int more; sscanf(line += used, "%35s%n", word, &more) == 1; used = more) {
    if (strcmp(word, ":") == 0) {
      int *to[13] = {&s->sass.lds[0], &s->sass.lds[1], &s->sass.lds[2], &s->sass.sts[0],
                     &s->sass.sts[1], &s->sass.sts[2], &s->sass.ldg[0], &s->sass.ldg[1],
                     &s->sass.ldg[2], &s->sass.stg[0], &s->sass.stg[1], &s->sass.stg[2],
                     &s->sass.ffma};
      line += more;
      for (int i = 0; i < 13; i++, line += more)
        if (sscanf(line, "%d%n", to[i], &more) != 1)
          fail_msg("%s: its counts are missing in shapes.txt", s->name);
      return true;
    }
    assert_true(s->nflags < 12);
    snprintf(s->flags[s->nflags++], sizeof s->flags[0], "-D%s", word);
  }
  return true;
}

#endif
