#include "sim/xray/report.h"

#include "base/alloc.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PROBLEMS = 200 };

struct report {
  const struct ptx_module *module;
  const struct program *program;
  struct xray_problem *list;
  struct mark {
    int line_index;
    int64_t block; /* that met it first */
  } *marks; /* of each problem */
  int n;
};

struct report *report_new(const struct ptx_module *module, const struct program *program) {
  struct report *r = alloc_zero(1, sizeof *r);
  r->module = module;
  r->program = program;
  r->list = alloc_zero(MAX_PROBLEMS, sizeof *r->list);
  r->marks = alloc_zero(MAX_PROBLEMS, sizeof *r->marks);
  return r;
}

void report_free(struct report *r) {
  if (!r)
    return;
  free(r->list);
  free(r->marks);
  free(r);
}

int report_line(const struct report *r, int index) { return r->program->lines[index].line; }

void report_file(const struct report *r, int index, char *out, size_t size) {
  *out = '\0';
  for (int i = 0; i < r->module->nfiles; i++) {
    struct slice s = r->module->files[i].name;
    if (r->module->files[i].number == r->program->lines[index].file)
      snprintf(out, size, "%.*s", s.n, s.p);
  }
}

static void set_thread(const struct machine *m, const struct warp *w, int lane, int64_t out[3]) {
  const int64_t *block = m->launch->block;
  int64_t t = (int64_t)w->index * INSN_LANES + lane;
  out[0] = t % block[0];
  out[1] = t / block[0] % block[1];
  out[2] = t / block[0] / block[1];
}

bool report_problem(const struct machine *m, const struct warp *w, const struct insn *in, int lane,
                    enum xray_kind kind, bool error, const char *fmt, ...) {
  struct report *r = m->report;
  for (int i = 0; i < r->n; i++)
    if (r->list[i].kind == kind && r->marks[i].line_index == in->line) {
      r->list[i].times++;
      return false;
    }
  if (r->n == MAX_PROBLEMS)
    return false;
  struct xray_problem *p = &r->list[r->n];
  r->marks[r->n++] = (struct mark){in->line, m->block_number};
  *p = (struct xray_problem){.kind = kind, .error = error, .times = 1};
  p->line = report_line(r, in->line);
  report_file(r, in->line, p->file, sizeof p->file);
  memcpy(p->block, m->block, sizeof p->block);
  set_thread(m, w, lane, p->thread);
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(p->detail, sizeof p->detail, fmt, ap);
  va_end(ap);
  return true;
}

struct xray_problem *report_take(struct report *r, int *n) {
  struct xray_problem *list = r->list;
  *n = r->n;
  r->list = NULL;
  r->n = 0;
  return list;
}

/* ---- several threads */

static int find(const struct report *r, enum xray_kind kind, int line_index) {
  for (int i = 0; i < r->n; i++)
    if (r->list[i].kind == kind && r->marks[i].line_index == line_index)
      return i;
  return -1;
}

/* Puts a problem behind those of its block and of blocks before it. */
static void insert(struct report *r, const struct xray_problem *p, struct mark mark) {
  int at = r->n++;
  for (; at > 0 && r->marks[at - 1].block > mark.block; at--) {
    r->list[at] = r->list[at - 1];
    r->marks[at] = r->marks[at - 1];
  }
  r->list[at] = *p;
  r->marks[at] = mark;
}

static void drop(struct report *r, int i) {
  r->n--;
  memmove(&r->list[i], &r->list[i + 1], (size_t)(r->n - i) * sizeof *r->list);
  memmove(&r->marks[i], &r->marks[i + 1], (size_t)(r->n - i) * sizeof *r->marks);
}

void report_merge(struct report *to, const struct report *from) {
  for (int i = 0; i < from->n; i++) {
    struct xray_problem p = from->list[i];
    int known = find(to, p.kind, from->marks[i].line_index);
    if (known >= 0 && to->marks[known].block < from->marks[i].block) {
      to->list[known].times += p.times;
      continue;
    }
    if (known >= 0) {
      p.times += to->list[known].times;
      drop(to, known);
    }
    if (to->n < MAX_PROBLEMS)
      insert(to, &p, from->marks[i]);
  }
}

bool report_depends_on_order(const struct report *r) {
  for (int i = 0; i < r->n; i++)
    if (r->list[i].kind == XRAY_RACE_GLOBAL || r->list[i].kind == XRAY_UNINIT_GLOBAL)
      return true;
  return r->n >= MAX_PROBLEMS / 2;
}
