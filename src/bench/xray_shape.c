#include "bench/xray_shape.h"

#include "bench/wire.h"
#include "bench/xray_cexpr.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 200, LAUNCHES_TRIED = 32 };

static bool refuse(struct device_fault *fault, const char *option, const char *text,
                   const char *why) {
  char what[TEXT_MAX + 100];
  snprintf(what, sizeof what, "%s '%.150s' cannot be evaluated.", option, text);
  wire_fault_set(fault, "launch", what, why,
                 "Give whole numbers, or expressions over M, N, K and the defines.");
  return false;
}

/* One number of an option. */
static bool number(const struct xray_case *c, const char *text, int64_t *out, struct err *err) {
  double v;
  if (!expr_eval(text, xray_case_lookup, (void *)(uintptr_t)c, &v, err))
    return false;
  if (v != floor(v) || fabs(v) > 1e15)
    return err_set(err, "%.17g is no whole number.", v);
  *out = (int64_t)v;
  return true;
}

/* "ceil(N/32),ceil(M/32)": cut at commas outside of parentheses; missing ones are 1. */
static bool three(const struct xray_case *c, const char *option, const char *text, int64_t out[3],
                  struct device_fault *fault) {
  struct err err = {""};
  out[0] = out[1] = out[2] = 1;
  const char *begin = text;
  int n = 0, depth = 0;
  for (const char *at = text;; at++) {
    depth += (*at == '(') - (*at == ')');
    if (*at && (*at != ',' || depth > 0))
      continue;
    char part[TEXT_MAX];
    if (at - begin >= TEXT_MAX)
      return refuse(fault, option, text, "An expression is too long.");
    snprintf(part, sizeof part, "%.*s", (int)(at - begin), begin);
    if (n == 3)
      return refuse(fault, option, text, "There are more than three numbers.");
    if (!number(c, part, &out[n++], &err))
      return refuse(fault, option, text, err.text);
    if (!*at)
      return true;
    begin = at + 1;
  }
}

/* ---- the launches in the file */

static size_t offset_of_line(const char *source, int line) {
  const char *at = source;
  for (; line > 1 && (at = strchr(at, '\n')); line--)
    at++;
  return at ? (size_t)(at - source) : 0;
}

/* True if the launch is of the kernel that was built: the same name, and the same template
 * arguments where both are written. */
static bool is_of(const struct cuda_launch *l, const char *entry) {
  size_t n = strcspn(entry, "<"), k = strlen(l->kernel);
  bool name = n >= k && !memcmp(entry + n - k, l->kernel, k) && (n == k || entry[n - k - 1] == ':');
  if (!name || !l->template_args || !entry[n])
    return name;
  const char *a = entry + n + 1, *t = l->template_args;
  for (;; a++, t++) {
    a += strspn(a, " ");
    t += strspn(t, " ");
    if (*a == '>' && !a[1])
      return *t == '\0';
    if (!*a || *a != *t)
      return false;
  }
}

static bool from_launch(struct xray_shape *s, const struct xray_case *c, const struct xray_build *b,
                        const struct cuda_launch *l) {
  const char *source = c->q->source ? c->q->source : c->front->source;
  const struct xray_cexpr e = {.source = source,
                               .mask = &b->home->mask,
                               .at = offset_of_line(source, l->line),
                               .known = xray_case_lookup,
                               .ctx = (void *)(uintptr_t)c,
                               .template_params = b->template_params,
                               .entry = b->entry};
  double smem = 0;
  if (!xray_cexpr_dim3(&e, l->grid, s->grid) || !xray_cexpr_dim3(&e, l->block, s->block) ||
      (l->smem[0] && !xray_cexpr_value(&e, l->smem, &smem)))
    return false;
  s->smem = (int64_t)smem;
  s->from_line = l->line;
  return true;
}

/* *met: a launch of the kernel was there, whether it could be evaluated or not. */
static bool from_file(struct xray_shape *s, const struct xray_case *c, const struct xray_build *b,
                      bool *met) {
  *met = false;
  /* Launches in a header have another text, which is not at hand here. */
  if (!b->home || b->home != (b->made.sources.n ? b->made.sources.all[0].scan : b->scan))
    return false;
  for (int i = 0, tried = 0; i < b->home->launches.n && tried < LAUNCHES_TRIED; i++) {
    const struct cuda_launch *l = &b->home->launches.all[i];
    if (!is_of(l, b->entry))
      continue;
    *met = true;
    tried++;
    if (from_launch(s, c, b, l))
      return true;
  }
  return false;
}

static bool from_front(struct xray_shape *s, const struct xray_case *c, const struct xray_build *b,
                       bool *ok, struct device_fault *fault) {
  const struct kernel *f = c->front;
  struct kernel_geometry g;
  struct err err;
  *ok = true;
  if (!f || f->nlaunches == 0 || strcmp(f->launches[c->launch].entry, b->entry) != 0)
    return false;
  if (!kernel_geometry(f, c->launch, &c->size, &g, &err)) {
    wire_fault_set(fault, "launch", err.text, "", "");
    *ok = false;
    return false;
  }
  memcpy(s->grid, g.grid, sizeof s->grid);
  memcpy(s->block, g.block, sizeof s->block);
  s->smem = g.smem;
  return true;
}

bool xray_shape_settle(struct xray_shape *s, const struct xray_case *c, const struct xray_build *b,
                       struct device_fault *fault) {
  const struct xray_request *q = c->q;
  struct err err;
  bool ok = true, met = false;
  *s = (struct xray_shape){.smem = 0};
  bool known = q->grid && q->block;
  if (!known || !q->smem) {
    bool found = from_front(s, c, b, &ok, fault);
    if (!ok)
      return false;
    known = found || from_file(s, c, b, &met) || known;
  }
  if (!known) {
    char what[300];
    snprintf(what, sizeof what, "How many blocks and threads %.100s is launched with is not known.",
             b->entry);
    wire_fault_set(fault, "launch", what,
                   met ? "The file's <<<grid, block>>> cannot be evaluated without running it."
                       : "The file has no <<<grid, block>>> of this kernel.",
                   "Give both, such as --grid 'ceil(N/16),ceil(M/16)' --block 16,16.");
    return false;
  }
  if ((q->grid && !three(c, "--grid", q->grid, s->grid, fault)) ||
      (q->block && !three(c, "--block", q->block, s->block, fault)))
    return false;
  if (q->smem && !number(c, q->smem, &s->smem, &err))
    return refuse(fault, "--smem", q->smem, err.text);
  return true;
}
