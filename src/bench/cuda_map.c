#include "bench/cuda_map.h"

#include "bench/cuda_fault.h"
#include <math.h>
#include <stdio.h>

enum { BOX_MOST = 256, UNIT = 16 }; /* elements; bytes */

/* A matrix as it lies in memory: `outer` rows of `inner` elements, without gaps. */
struct shape {
  char name; /* 'A' */
  enum kernel_dtype type;
  int64_t inner, outer;
};

/* False for what is no matrix: the x of gemv, the sum of reduce. */
static bool shape_of(int which, const struct device_job *job, struct shape *s) {
  const struct kernel *k = job->kernel;
  int64_t M = job->size.M, N = job->size.N, K = job->size.K, rows = M, cols = N;
  bool product = k->op == OP_GEMM || k->op == OP_OTHER || k->op == OP_GEMV;
  const bool col[3] = {k->a_col, k->b_col, k->c_col};
  const enum kernel_dtype type[3] = {k->a, k->b, k->c};
  double n[3];
  if (product && which == 0)
    cols = K;
  if (product && which == 1)
    rows = K;
  if (k->op == OP_TRANSPOSE && which == 2) {
    rows = N;
    cols = M;
  }
  *s = (struct shape){(char)('A' + which), type[which], col[which] ? rows : cols,
                      col[which] ? cols : rows};
  kernel_elements(k, &job->size, &n[0], &n[1], &n[2]);
  return n[which] == (double)rows * (double)cols;
}

static bool no_map(const struct kernel_map *map, const char *why, const char *next,
                   struct device_fault *fault) {
  char what[128];
  snprintf(what, sizeof what, "The tensor map %s cannot be made.", map->name);
  return cuda_fault_set(fault, "tensor_map", what, why, next);
}

static bool rows_fit(const struct kernel_map *map, const struct shape *s,
                     struct device_fault *fault) {
  char why[256];
  double bytes = (double)s->inner * (double)kernel_dtype_size(s->type);
  if (fmod(bytes, UNIT) == 0)
    return true;
  snprintf(why, sizeof why,
           "A row of %c is %lld elements of %s, %.0f bytes, and TMA needs a multiple of 16.",
           s->name, (long long)s->inner, kernel_dtype_name(s->type), bytes);
  return no_map(map, why, "Choose sizes that make each row a multiple of 16 bytes.", fault);
}

/* The box in elements: 1 to 256 each way, its rows whole units of 16 bytes within the swizzle. */
static bool box_of(const struct kernel_map *map, const struct shape *s, struct kernel_scope *scope,
                   uint32_t box[2], struct device_fault *fault) {
  static const char next[] = "Correct \"maps\" in the front matter.";
  char why[512];
  for (int i = 0; i < 2; i++) {
    struct err err;
    double v;
    if (!expr_eval(map->box[i], kernel_lookup, scope, &v, &err))
      return no_map(map, err.text, next, fault);
    if (!(v >= 1 && v <= BOX_MOST && v == floor(v))) {
      snprintf(why, sizeof why, "Its box is %.17g elements in a dimension, and TMA takes 1 to 256.",
               v);
      return no_map(map, why, next, fault);
    }
    box[i] = (uint32_t)v;
  }
  int bytes = (int)(box[0] * kernel_dtype_size(s->type));
  if (bytes % UNIT) {
    snprintf(why, sizeof why, "A row of its box is %d bytes, and TMA needs a multiple of 16.",
             bytes);
    return no_map(map, why, next, fault);
  }
  if (map->swizzle && bytes > map->swizzle) {
    snprintf(why, sizeof why, "A row of its box is %d bytes, and the swizzle takes %d.", bytes,
             map->swizzle);
    return no_map(map, why, next, fault);
  }
  return true;
}

static enum cuda_tensor_type type_of(enum kernel_dtype t) {
  return t == DT_BF16 ? CUDA_TENSOR_BF16 : t == DT_F16 ? CUDA_TENSOR_F16 : CUDA_TENSOR_F32;
}

static enum cuda_tensor_swizzle swizzle_of(int bytes) {
  return bytes == 128  ? CUDA_TENSOR_SWIZZLE_128
         : bytes == 64 ? CUDA_TENSOR_SWIZZLE_64
         : bytes == 32 ? CUDA_TENSOR_SWIZZLE_32
                       : CUDA_TENSOR_SWIZZLE_NONE;
}

static enum cuda_tensor_l2 l2_of(int bytes) {
  return bytes == 256   ? CUDA_TENSOR_L2_256
         : bytes == 128 ? CUDA_TENSOR_L2_128
         : bytes == 64  ? CUDA_TENSOR_L2_64
                        : CUDA_TENSOR_L2_NONE;
}

bool cuda_map_make(const struct kernel_map *map, const struct cuda_buffers *b,
                   const struct device_job *job, const struct device_info *info,
                   struct cuda_tensor_map *out, struct device_fault *fault) {
  struct kernel_scope scope = {job->kernel, &job->size, info->sms, info->smem_sm};
  struct shape s;
  uint32_t box[2];
  char doing[64];
  if (!b->cu->tensor_map)
    return no_map(map, "This driver has no tensor maps (cuTensorMapEncodeTiled is missing).",
                  "Install driver 525 or newer, or choose another rung.", fault);
  if (!shape_of(map->of, job, &s))
    return no_map(map, "What it is of has no rows and columns in this operation.",
                  "Correct \"maps\" in the front matter.", fault);
  if (!rows_fit(map, &s, fault) || !box_of(map, &s, &scope, box, fault))
    return false;
  const uint64_t sizes[2] = {(uint64_t)s.inner, (uint64_t)s.outer};
  const uint64_t stride = sizes[0] * kernel_dtype_size(s.type);
  const uint32_t every[2] = {1, 1};
  void *address = (void *)(uintptr_t)b->at[map->of]; // NOLINT: never followed on the host
  cuda_result rc = b->cu->tensor_map(out, type_of(s.type), 2, address, sizes, &stride, box, every,
                                     CUDA_TENSOR_NOT_INTERLEAVED, swizzle_of(map->swizzle),
                                     l2_of(map->l2), CUDA_TENSOR_ZEROS);
  snprintf(doing, sizeof doing, "making the tensor map %s", map->name);
  return rc ? cuda_fault_driver(b->cu, rc, doing, fault) : true;
}
