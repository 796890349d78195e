#include "bench/cuda_launch.h"
#include "bench/cuda_fault.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int attribute(const struct cuda_api *cu, cuda_function f, enum cuda_function_attribute a) {
  int v = -1;
  return cu->function_get(&v, a, f) ? -1 : v;
}

static bool leading_dimension(const struct device_job *job, const char *name, int64_t *value) {
  const struct kernel *k = job->kernel;
  const struct kernel_size *s = &job->size;
  if (!strcmp(name, "lda"))
    *value = k->a_col ? s->M : k->op == OP_GEMM || k->op == OP_GEMV ? s->K : s->N;
  else if (!strcmp(name, "ldb"))
    *value = k->b_col ? s->K : s->N;
  else if (!strcmp(name, "ldc"))
    *value = k->c_col || k->op == OP_TRANSPOSE ? s->M : s->N;
  else
    return false;
  return true;
}

/* A name or an expression of the front matter becomes a value. Whole numbers are passed as int,
 * those written with a point as float. */
static bool argument(const char *text, const struct cuda_buffers *b, const struct device_job *job,
                     struct kernel_scope *scope, union cuda_launch_arg *arg, struct err *err) {
  static const char *const matrices[] = {"A", "B", "C"};
  for (int i = 0; i < 3; i++)
    if (!strcmp(text, matrices[i])) {
      arg->pointer = b->at[i];
      return true;
    }
  if (!strcmp(text, "W")) {
    arg->pointer = b->at[BUFFER_WORK];
    return true;
  }
  if (!strcmp(text, "alpha") || !strcmp(text, "beta")) {
    arg->real = text[0] == 'a' ? 1.0f : 0.0f;
    return true;
  }
  if (leading_dimension(job, text, &arg->whole))
    return true;
  double v;
  if (!expr_eval(text, kernel_lookup, scope, &v, err))
    return false;
  if (strchr(text, '.'))
    arg->real = (float)v;
  else
    arg->whole = (int64_t)v;
  return true;
}

static bool arguments(struct cuda_launch *l, const struct kernel_launch *from,
                      const struct cuda_buffers *b, const struct device_job *job,
                      const struct device_info *info, struct device_fault *fault) {
  struct kernel_scope scope = {job->kernel, &job->size, info->sms, info->smem_sm};
  struct err err;
  l->nargs = from->nargs;
  if (from->nargs > CUDA_LAUNCH_ARGS)
    return cuda_fault_set(fault, "arguments", "The kernel has more than 32 arguments.",
                          "The launch table holds 32.", "Use fewer arguments.");
  for (int i = 0; i < from->nargs; i++)
    if (!argument(from->args[i], b, job, &scope, &l->arg[i], &err))
      return cuda_fault_set(fault, "arguments", "An argument in the front matter has no value.",
                            err.text, "Use A B C W M N K lda ldb ldc alpha beta or a number.");
  return true;
}

/* A kernel with more parameters than arguments would make the driver read past the list. Only newer
 * drivers can be asked. */
static bool parameter_count(const struct cuda_launch *l, const struct cuda_buffers *b,
                            const char *entry, struct device_fault *fault) {
  if (!b->cu->function_param)
    return true;
  size_t offset, bytes;
  int n = 0;
  while (n <= CUDA_LAUNCH_ARGS && !b->cu->function_param(l->function, (size_t)n, &offset, &bytes))
    n++;
  if (n == l->nargs)
    return true;
  char why[512];
  snprintf(why, sizeof why, "%.100s takes %d parameters, the front matter lists %d.", entry, n,
           l->nargs);
  return cuda_fault_set(fault, "arguments", "The arguments do not fit the kernel.", why,
                        "Make \"args\" in the front matter the same as the function's parameters.");
}

static bool threads_fit(struct cuda_launch *l, const struct cuda_buffers *b,
                        const struct device_info *info, struct device_fault *fault) {
  int most = attribute(b->cu, l->function, CUDA_FUNC_MAX_THREADS);
  int64_t threads = (int64_t)l->block[0] * l->block[1] * l->block[2];
  if (most < 1 || threads <= most)
    return true;
  char why[512];
  if (l->registers > 0 && info->regs_sm > 0)
    snprintf(
        why, sizeof why,
        "%lld threads x %d registers = %lld registers, and an SM has %.0f; this kernel can have "
        "%d threads a block.",
        (long long)threads, l->registers, (long long)threads * l->registers, info->regs_sm, most);
  else
    snprintf(why, sizeof why, "The block has %lld threads; this kernel can have %d.",
             (long long)threads, most);
  return cuda_fault_set(fault, "too_many_resources",
                        "The block asks for more registers than the GPU has.", why,
                        "Use a smaller block or a smaller tile, or __launch_bounds__.");
}

static bool shared_fits(struct cuda_launch *l, const struct cuda_buffers *b,
                        const struct device_info *info, struct device_fault *fault) {
  double all = (double)l->shared + (l->shared_bytes > 0 ? l->shared_bytes : 0);
  if (info->smem_block > 0 && all > info->smem_block) {
    char why[512];
    snprintf(why, sizeof why,
             "The block needs %.0f bytes of shared memory; this GPU gives a block "
             "%.0f.",
             all, info->smem_block);
    return cuda_fault_set(fault, "too_many_resources", "The block needs too much shared memory.",
                          why, "Use a smaller tile or fewer stages.");
  }
  if (!l->shared || all <= 48 << 10)
    return true;
  cuda_result rc = b->cu->function_set(l->function, CUDA_FUNC_MAX_DYNAMIC_SHARED, (int)l->shared);
  return rc ? cuda_fault_driver(b->cu, rc, "asking for more than 48 KiB of shared memory", fault)
            : true;
}

static bool geometry(struct cuda_launch *l, int i, const struct device_job *job,
                     struct device_fault *fault) {
  struct kernel_geometry g;
  struct err err;
  const int *cluster = job->kernel->launches[i].cluster;
  if (cluster[0] > 1 || cluster[1] > 1 || cluster[2] > 1)
    return cuda_fault_set(fault, "unsupported", "This kernel asks for thread block clusters.",
                          "This version launches kernels without clusters only.",
                          "Choose another rung.");
  if (!kernel_geometry(job->kernel, i, &job->size, &g, &err))
    return cuda_fault_set(fault, "size", "This kernel cannot be launched at these sizes.", err.text,
                          "Choose other sizes.");
  for (int d = 0; d < 3; d++) {
    l->grid[d] = (unsigned)g.grid[d];
    l->block[d] = (unsigned)g.block[d];
  }
  l->shared = (unsigned)g.smem;
  return true;
}

bool cuda_launch_prepare(struct cuda_launch *l, int i, cuda_module module,
                         const struct cuda_buffers *b, const struct device_job *job,
                         const struct device_info *info, struct device_fault *fault) {
  const struct kernel_launch *from = &job->kernel->launches[i];
  memset(l, 0, sizeof *l);
  if (!geometry(l, i, job, fault))
    return false;
  cuda_result rc = b->cu->module_function(&l->function, module, from->entry);
  if (rc) {
    char doing[160];
    snprintf(doing, sizeof doing, "looking for the entry %.100s", from->entry);
    return cuda_fault_driver(b->cu, rc, doing, fault);
  }
  l->registers = attribute(b->cu, l->function, CUDA_FUNC_REGISTERS);
  l->shared_bytes = attribute(b->cu, l->function, CUDA_FUNC_SHARED);
  l->local_bytes = attribute(b->cu, l->function, CUDA_FUNC_LOCAL);
  return arguments(l, from, b, job, info, fault) && parameter_count(l, b, from->entry, fault) &&
         threads_fit(l, b, info, fault) && shared_fits(l, b, info, fault);
}

cuda_result cuda_launch_go(struct cuda_launch *l, const struct cuda_buffers *b) {
  void *params[CUDA_LAUNCH_ARGS];
  for (int i = 0; i < l->nargs; i++)
    params[i] = &l->arg[i];
  return b->cu->launch(l->function, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
                       l->block[2], l->shared, b->stream, params, NULL);
}
