#include "bench/xray_sum.h"

#include "base/alloc.h"
#include <string.h>

static void add_counts(struct xray_counts *to, const struct xray_counts *from) {
  double *t = (double *)to; /* the struct is doubles throughout */
  const double *f = (const double *)from;
  for (size_t i = 0; i < sizeof *to / sizeof *t; i++)
    t[i] += f[i];
}

static struct xray_line *line_of(struct xray_report *r, const struct xray_line *l) {
  for (int i = 0; i < r->nlines; i++)
    if (r->lines[i].line == l->line && strcmp(r->lines[i].file, l->file) == 0)
      return &r->lines[i];
  return NULL;
}

static void add_lines(struct xray_report *to, const struct xray_report *from) {
  for (int i = 0; i < from->nlines; i++) {
    struct xray_line *l = line_of(to, &from->lines[i]);
    if (l) {
      add_counts(&l->counts, &from->lines[i].counts);
      continue;
    }
    to->lines = alloc_grow(to->lines, (size_t)to->nlines + 1, sizeof *to->lines);
    to->lines[to->nlines++] = from->lines[i];
  }
}

void xray_sum_mix(struct xray_mix *to, const struct xray_mix *from) {
  for (int i = 0; i < XRAY_WIDTHS; i++) {
    to->lds[i] += from->lds[i];
    to->sts[i] += from->sts[i];
    to->ldg[i] += from->ldg[i];
    to->stg[i] += from->stg[i];
  }
  to->ffma += from->ffma;
}

void xray_sum_add(struct xray_report *to, const struct xray_report *from) {
  add_counts(&to->counts, &from->counts);
  add_lines(to, from);
  xray_sum_mix(&to->mix, &from->mix);
  size_t n = (size_t)(to->nproblems + from->nproblems);
  if (from->nproblems > 0) {
    to->problems = alloc_grow(to->problems, n, sizeof *to->problems);
    memcpy(to->problems + to->nproblems, from->problems,
           (size_t)from->nproblems * sizeof *from->problems);
  }
  to->nproblems = (int)n;
  to->finished = to->finished && from->finished;
  to->sampled = to->sampled || from->sampled;
  to->ptx_level = to->ptx_level || from->ptx_level;
}
