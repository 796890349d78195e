#include "bench/xray_case.h"

#include "bench/wire.h"
#include "bench/xray_rung.h"
#include "kernels/front.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_SIZE = 256 };

bool xray_case_is_ptx(const struct xray_request *q) {
  size_t n = strlen(q->kernel);
  return q->source && n > 4 && strcmp(q->kernel + n - 4, ".ptx") == 0;
}

/* The value behind '=' of a define, if it is a number. */
static bool define_value(const char *define, double *value) {
  const char *eq = strchr(define, '=');
  char *end;
  if (!eq) {
    *value = 1;
    return true;
  }
  *value = strtod(eq + 1, &end);
  return end > eq + 1 && *end == '\0' && isfinite(*value);
}

static bool is_define_of(const char *define, const char *name) {
  size_t n = strlen(name);
  return strncmp(define, name, n) == 0 && (define[n] == '=' || define[n] == '\0');
}

static bool leading(const struct xray_case *c, const char *name, double *value) {
  if (strncmp(name, "ld", 2) != 0 || !strchr("abc", name[2]) || !name[2] || name[3])
    return false;
  double M = (double)c->size.M, N = (double)c->size.N, K = (double)c->size.K;
  const bool col[3] = {c->shape.a_col, c->shape.b_col, c->shape.c_col};
  const double rows[3] = {M, K, M}, cols[3] = {c->shape.op == OP_GEMM ? K : N, N, N};
  int i = name[2] - 'a';
  if (c->shape.op == OP_GEMV && i == 0)
    *value = col[0] ? M : K;
  else if (c->shape.op == OP_TRANSPOSE && i == 2)
    *value = M;
  else
    *value = col[i] ? rows[i] : cols[i];
  return true;
}

bool xray_case_lookup(void *ctx, const char *name, double *value) {
  const struct xray_case *c = ctx;
  static const struct kernel none = {0};
  struct kernel_scope scope = {c->front ? c->front : &none, &c->size, NAN, NAN};
  if (kernel_lookup(&scope, name, value) || leading(c, name, value))
    return true;
  for (int i = 0; i < c->q->ndefines; i++)
    if (is_define_of(c->q->defines[i], name))
      return define_value(c->q->defines[i], value);
  return false;
}

/* ---- settling */

static enum kernel_op op_of(const struct xray_case *c) {
  if (!c->q->op)
    return c->front ? c->front->op : OP_GEMM;
  for (int i = 0; i < OP_COUNT; i++)
    if (strcmp(c->q->op, kernel_op_name((enum kernel_op)i)) == 0)
      return (enum kernel_op)i;
  return OP_OTHER; /* "none" */
}

static void settle_shape(struct xray_case *c) {
  struct kernel *s = &c->shape;
  const struct kernel *f = c->front;
  s->target = KERNEL_CUDA;
  s->op = op_of(c);
  if (f) {
    s->a = f->a, s->b = f->b, s->c = f->c, s->acc = f->acc;
    s->a_col = f->a_col, s->b_col = f->b_col, s->c_col = f->c_col;
  }
  for (int i = 0; c->q->dtype && i < DT_COUNT; i++)
    if (strcmp(c->q->dtype, kernel_dtype_name((enum kernel_dtype)i)) == 0)
      s->a = s->b = s->c = (enum kernel_dtype)i;
  if (!f || c->q->dtype)
    s->acc = s->a == DT_F64 ? DT_F64 : DT_F32;
  bool *const col[3] = {&s->a_col, &s->b_col, &s->c_col};
  for (int i = 0; i < 3; i++)
    if (c->q->layout[i])
      *col[i] = strcmp(c->q->layout[i], "col") == 0;
  c->check = s->op != OP_OTHER && s->op != OP_CHASE;
  if (!c->check)
    snprintf(c->reason, sizeof c->reason,
             "C was not checked: the operation is not known. --op names it.");
}

static bool settle_params(struct xray_case *c, struct device_fault *fault) {
  struct err err;
  for (int i = 0; c->front && i < c->q->ndefines; i++)
    for (int p = 0; p < c->front->nparams; p++) {
      double v;
      const char *name = c->front->params[p].name;
      if (!is_define_of(c->q->defines[i], name))
        continue;
      if (!define_value(c->q->defines[i], &v))
        err_set(&err, "%.100s must be a number, and --define gives \"%.100s\".", name,
                c->q->defines[i]);
      else if (kernel_set_param(c->front, &c->size, name, v, &err))
        continue;
      wire_fault_set(fault, "params", err.text, "", "");
      return false;
    }
  return true;
}

/* Of several launches, the one with the most threads: its geometry and registers are shown. */
static void choose_main(struct xray_case *c) {
  double most = -1;
  for (int i = 0; i < c->front->nlaunches; i++) {
    struct kernel_geometry g;
    double threads = 0;
    if (kernel_geometry(c->front, i, &c->size, &g, NULL)) {
      threads = 1;
      for (int d = 0; d < 3; d++)
        threads *= (double)g.grid[d] * (double)g.block[d];
    }
    if (threads > most) {
      most = threads;
      c->launch = i;
    }
  }
}

static bool settle_launch(struct xray_case *c, struct device_fault *fault) {
  const struct kernel *f = c->front;
  const struct xray_request *q = c->q;
  char what[256];
  if (!f || f->nlaunches < 2)
    return true;
  for (int i = 0; q->entry && i < f->nlaunches; i++)
    if (strcmp(f->launches[i].entry, q->entry) == 0)
      c->launch = i;
  c->several = !q->entry && !q->grid && !q->block && !q->smem && !q->args;
  if (c->several) {
    choose_main(c);
    return true;
  }
  if (!q->entry) {
    snprintf(what, sizeof what, "%.80s launches %d kernels one behind the other.", f->id,
             f->nlaunches);
    wire_fault_set(fault, "launches", what, "--grid, --block, --smem and --args are of one launch.",
                   "Name the kernel with --entry.");
    return false;
  }
  c->check = false;
  snprintf(c->reason, sizeof c->reason,
           "C was not checked: this launch is one of several that make it.");
  return true;
}

static bool accepts(struct xray_case *c, struct device_fault *fault) {
  struct err err;
  if (!c->front || kernel_accepts(c->front, &c->size, &err))
    return true;
  wire_fault_set(fault, "requires", err.text, "", "");
  return false;
}

bool xray_case_begin(struct xray_case *c, const struct xray_request *q, const struct kernel *rung,
                     struct device_fault *fault) {
  *c = (struct xray_case){.q = q, .front = rung, .alpha = 1};
  struct err err;
  struct front_span span;
  if (q->source && !xray_case_is_ptx(q) && front_find(q->source, strlen(q->source), &span)) {
    c->own = kernel_parse(q->source, strlen(q->source), "file.cu", NULL, &err);
    if (!c->own) {
      wire_fault_set(fault, "front_matter", err.text, "",
                     "Correct the comment at the head of the file, or take it away.");
      return false;
    }
    c->front = c->own;
  }
  if (c->front && c->front->target == KERNEL_CPU) {
    char what[200];
    snprintf(what, sizeof what, "%.100s is a CPU kernel; an x-ray takes CUDA kernels.",
             c->front->id);
    wire_fault_set(fault, "wrong_device", what, "", "`mmtutor run --list` names the CUDA kernels.");
    return false;
  }
  if (c->front && !xray_rung_runs(c->front, &err)) {
    wire_fault_set(fault, "unsupported", err.text, "", "");
    return false;
  }
  settle_shape(c);
  int64_t sizes[3] = {q->M, q->N, q->K};
  for (int i = 0; i < 3; i++)
    sizes[i] = sizes[i] > 0 ? sizes[i] : DEFAULT_SIZE;
  struct kernel params = c->shape;
  if (c->front) {
    params.nparams = c->front->nparams;
    memcpy(params.params, c->front->params, sizeof params.params);
  }
  c->size = kernel_size_default(&params, sizes[0], sizes[1], sizes[2]);
  return settle_params(c, fault) && accepts(c, fault) && settle_launch(c, fault);
}

void xray_case_done(struct xray_case *c) {
  kernel_free(c->own);
  c->own = NULL;
}

/* ---- types */

static bool no_number(const struct xray_params_one *p, char name, struct device_fault *fault) {
  char what[300];
  snprintf(what, sizeof what, "%c would be `%s`, which points to no floating-point numbers.", name,
           p->text);
  wire_fault_set(fault, "dtype", what, "A, B and C hold f32, f64, f16 or bf16.",
                 "Give it W, which holds zeros: --op none --args 'W,C'. C may be of integers with "
                 "--op none.");
  return false;
}

bool xray_case_types(struct xray_case *c, const struct xray_params_one *const of[3],
                     struct device_fault *fault) {
  enum kernel_dtype *const types[3] = {&c->shape.a, &c->shape.b, &c->shape.c};
  for (int i = 0; i < 3; i++) {
    const struct xray_params_one *p = of[i];
    if (!p || p->kind == XRAY_PARAMS_UNKNOWN)
      continue;
    if (p->kind == XRAY_PARAMS_INTEGER && i == 2 && c->shape.op == OP_OTHER)
      continue; /* bytes that the kernel writes */
    if (p->kind == XRAY_PARAMS_INTEGER)
      return no_number(p, "ABC"[i], fault);
    bool wider = i == 2 && p->dtype == DT_F32; /* C of a kernel for f16 may be float* */
    if (c->q->dtype && *types[i] != p->dtype && !wider) {
      char what[300];
      snprintf(what, sizeof what, "The kernel's %c is `%s`, and --dtype says %s.", "ABC"[i],
               p -> text, c -> q -> dtype);
      wire_fault_set(fault, "dtype", what, "", "Leave --dtype out: the source says it.");
      return false;
    }
    *types[i] = p->dtype;
  }
  if (c->shape.a == DT_F64 || c->shape.c == DT_F64)
    c->shape.acc = DT_F64;
  return true;
}

void xray_case_rounding(struct xray_case *c, struct xray_coarse coarse) {
  if (c->front || c->shape.acc == DT_F64)
    return;
  if (coarse.f16_sums && c->shape.a == DT_F16)
    c->shape.acc = DT_F16;
  if (coarse.bf16_sums && c->shape.a == DT_BF16)
    c->shape.acc = DT_BF16;
  c->tf32 = coarse.tf32 && c->shape.a == DT_F32;
}
