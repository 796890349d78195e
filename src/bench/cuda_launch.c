#include "bench/cuda_launch.h"
#include "bench/cuda_fault.h"
#include "bench/cuda_map.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLUSTER_MOST = 8 };

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
  for (int i = 0; i < from->nargs; i++) {
    const struct kernel_map *map = kernel_map_find(job->kernel, from->args[i]);
    if (map) {
      struct cuda_tensor_map made;
      if (!cuda_map_make(map, b, job, info, &made, fault))
        return false;
      memcpy(l->arg[i].map, &made, sizeof l->arg[i].map);
      l->is_map[i] = true;
    } else if (!argument(from->args[i], b, job, &scope, &l->arg[i], &err)) {
      return cuda_fault_set(fault, "arguments", "An argument in the front matter has no value.",
                            err.text, "Use A B C W M N K lda ldb ldc alpha beta or a number.");
    }
  }
  return true;
}

static bool arguments_differ(const char *why, struct device_fault *fault) {
  return cuda_fault_set(fault, "arguments", "The arguments do not fit the kernel.", why,
                        "Make \"args\" in the front matter the same as the function's parameters.");
}

/* A kernel with more parameters than arguments, or larger ones, would make the driver read past the
 * list. Only newer drivers can be asked. */
static bool parameters_fit(const struct cuda_launch *l, const struct cuda_buffers *b,
                           const char *entry, struct device_fault *fault) {
  if (!b->cu->function_param)
    return true;
  size_t offset, bytes;
  int n = 0;
  char why[512];
  for (; n <= CUDA_LAUNCH_ARGS; n++) {
    cuda_result rc = b->cu->function_param(l->function, (size_t)n, &offset, &bytes);
    if (rc == CUDA_NOT_SUPPORTED)
      return true;
    if (rc) /* there is no such parameter */
      break;
    if (n < l->nargs && (l->is_map[n] ? bytes != sizeof l->arg[n].map : bytes > 8)) {
      snprintf(why, sizeof why,
               "Parameter %d of %.100s has %zu bytes. A tensor map has 128, a pointer or number at "
               "most 8.",
               n + 1, entry, bytes);
      return arguments_differ(why, fault);
    }
  }
  if (n == l->nargs)
    return true;
  snprintf(why, sizeof why, "%.100s takes %d parameters, the front matter lists %d.", entry, n,
           l->nargs);
  return arguments_differ(why, fault);
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

static bool no_cluster(const char *what, const char *why, const char *next,
                       struct device_fault *fault) {
  return cuda_fault_set(fault, "cluster", what, why, next);
}

/* Blocks in groups: at most 8, which every GPU with clusters takes, and a grid that they divide. */
static bool cluster_fits(struct cuda_launch *l, const int size[3], const struct cuda_buffers *b,
                         struct device_fault *fault) {
  static const char correct[] = "Correct \"cluster\" in the front matter.";
  char why[256];
  int blocks = size[0] * size[1] * size[2];
  if (blocks == 1)
    return true;
  if (!b->cu->launch_ex)
    return no_cluster("This driver launches no thread block clusters.",
                      "It has no function cuLaunchKernelEx.",
                      "Install driver 520 or newer, or choose another rung.", fault);
  if (blocks > CLUSTER_MOST) {
    snprintf(why, sizeof why, "It has %d x %d x %d = %d blocks, and every GPU takes at most 8.",
             size[0], size[1], size[2], blocks);
    return no_cluster("The thread block cluster is too large.", why, correct, fault);
  }
  for (int d = 0; d < 3; d++) {
    if (l->grid[d] % (unsigned)size[d]) {
      snprintf(why, sizeof why, "The grid has %u blocks in %c, and a cluster %d.", l->grid[d],
               "xyz"[d], size[d]);
      return no_cluster("The grid is no whole number of thread block clusters.", why,
                        "Choose other sizes, or round the grid up in the front matter.", fault);
    }
    l->cluster[d] = (unsigned)size[d];
  }
  return true;
}

static bool geometry(struct cuda_launch *l, int i, const struct cuda_buffers *b,
                     const struct device_job *job, const struct device_info *info,
                     struct device_fault *fault) {
  struct kernel_geometry g;
  struct kernel_size size = job->size;
  struct err err;
  size.sms = info->sms > 0 ? info->sms : 0;
  size.smem_sm = info->smem_sm > 0 ? info->smem_sm : 0;
  if (!kernel_geometry(job->kernel, i, &size, &g, &err))
    return cuda_fault_set(fault, "size", "This kernel cannot be launched at these sizes.", err.text,
                          "Choose other sizes.");
  for (int d = 0; d < 3; d++) {
    l->grid[d] = (unsigned)g.grid[d];
    l->block[d] = (unsigned)g.block[d];
  }
  l->shared = (unsigned)g.smem;
  return cluster_fits(l, job->kernel->launches[i].cluster, b, fault);
}

bool cuda_launch_prepare(struct cuda_launch *l, int i, cuda_module module,
                         const struct cuda_buffers *b, const struct device_job *job,
                         const struct device_info *info, struct device_fault *fault) {
  const struct kernel_launch *from = &job->kernel->launches[i];
  memset(l, 0, sizeof *l);
  if (!geometry(l, i, b, job, info, fault))
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
  return arguments(l, from, b, job, info, fault) && parameters_fit(l, b, from->entry, fault) &&
         threads_fit(l, b, info, fault) && shared_fits(l, b, info, fault);
}

static cuda_result launch_clusters(struct cuda_launch *l, const struct cuda_buffers *b,
                                   void **params) {
  struct cuda_launch_attribute cluster = {.id = CUDA_LAUNCH_CLUSTER};
  struct cuda_launch_config c = {
      .shared = l->shared, .stream = b->stream, .attributes = &cluster, .nattributes = 1};
  memcpy(cluster.value.cluster, l->cluster, sizeof l->cluster);
  memcpy(c.grid, l->grid, sizeof c.grid);
  memcpy(c.block, l->block, sizeof c.block);
  return b->cu->launch_ex(&c, l->function, params, NULL);
}

cuda_result cuda_launch_go(struct cuda_launch *l, const struct cuda_buffers *b) {
  void *params[CUDA_LAUNCH_ARGS];
  for (int i = 0; i < l->nargs; i++)
    params[i] = &l->arg[i];
  if (l->cluster[0])
    return launch_clusters(l, b, params);
  return b->cu->launch(l->function, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
                       l->block[2], l->shared, b->stream, params, NULL);
}
