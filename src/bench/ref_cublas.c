#include "bench/ref_cublas.h"
#include "base/alloc.h"
#include "bench/cuda_find.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKSPACE = 32 << 20 }; /* bytes, of cuBLAS's own */

struct ref_cublas {
  const struct cuda_blas_api *api;
  const struct cuda_api *cu;
  cuda_blas blas;
  cuda_ptr workspace; /* for the types that cublasGemmEx takes; 0 until one is met */
  char version[32];
};

#define SYMBOL(field, symbol, params) {#symbol, offsetof(struct cuda_blas_api, field)},
static const struct cuda_api_symbol symbols[] = {CUDA_API_BLAS(SYMBOL)};
#undef SYMBOL

static const struct cuda_blas_api *load(char dir[1024], struct err *why) {
  static const struct cuda_find what = {
      "cuBLAS",
      "MMTUTOR_CUBLAS",
      {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", NULL},
      {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11", NULL},
      "cublas"};
  static struct cuda_blas_api api;
  static char found[1024];
  static bool ready;
  if (!ready) {
    void *handle = cuda_find_open(&what, found, why);
    if (!handle || !cuda_api_bind(handle, "cuBLAS", symbols,
                                  (int)(sizeof symbols / sizeof *symbols), &api, why))
      return NULL;
    ready = true;
  }
  if (dir)
    snprintf(dir, 1024, "%s", found);
  return &api;
}

/* cuBLAS takes device addresses as pointers. */
static void *as_pointer(cuda_ptr address) {
  return (void *)(uintptr_t)address; // NOLINT: never followed on the host
}

bool ref_cublas_probe(char path[1024], struct err *why) { return load(path, why) != NULL; }

/* 130002 is 13.0.2; before version 12 the parts were thousands. */
static void version_text(int v, char *out, size_t size) {
  if (v >= 100000)
    snprintf(out, size, "%d.%d.%d", v / 10000, v / 100 % 100, v % 100);
  else
    snprintf(out, size, "%d.%d.%d", v / 1000, v / 100 % 10, v % 100);
}

ref_cublas *ref_cublas_open(const struct cuda_api *cu, cuda_stream stream, struct err *why) {
  const struct cuda_blas_api *api = load(NULL, why);
  if (!api)
    return NULL;
  ref_cublas *r = alloc_zero(1, sizeof *r);
  r->api = api;
  r->cu = cu;
  int v = 0, rc = api->create(&r->blas);
  if (!rc)
    rc = api->set_stream(r->blas, stream);
  if (!rc)
    rc = api->version(r->blas, &v);
  if (rc) {
    err_set(why, "cuBLAS does not start (status %d), so there is no reference here.", rc);
    ref_cublas_close(r);
    return NULL;
  }
  version_text(v, r->version, sizeof r->version);
  return r;
}

void ref_cublas_close(ref_cublas *r) {
  if (r && r->blas)
    r->api->destroy(r->blas);
  if (r && r->workspace)
    r->cu->mem_free(r->workspace);
  free(r);
}

/* Whether all that cuBLAS reads and writes is fp32. */
static bool single(const struct kernel *k) {
  return k->a == DT_F32 && k->b == DT_F32 && k->c == DT_F32;
}

bool ref_cublas_ready(ref_cublas *r, const struct kernel *k, struct err *why) {
  bool half = !single(k);
  if (half && !r->workspace && r->cu->mem_alloc(&r->workspace, WORKSPACE)) {
    r->workspace = 0;
    return err_set(why, "The GPU has no 32 MiB left for the workspace of cuBLAS.");
  }
  int rc = r->api->set_math(r->blas, half ? CUDA_BLAS_DEFAULT : CUDA_BLAS_PEDANTIC);
  /* Setting the stream gave the handle cuBLAS's own workspace; this stays until it is closed. */
  if (!rc && half)
    rc = r->api->set_workspace(r->blas, as_pointer(r->workspace), WORKSPACE);
  return rc ? err_set(why, "cuBLAS does not take its settings (status %d).", rc) : true;
}

bool ref_cublas_needs_library(const struct kernel *k) { return k->op != OP_COPY; }

/* Types that there is a reference for: one for all three; in a product C may be wider. */
static bool types_covered(const struct kernel *k) {
  if (k->op == OP_COPY)
    return k->a == k->c;
  if (k->op != OP_GEMM)
    return single(k);
  return k->a == k->b && (k->c == k->a || k->c == DT_F32) && k->a != DT_F64 && k->acc == DT_F32;
}

bool ref_cublas_covers(const struct kernel *k, struct err *why) {
  bool op = k->op == OP_GEMM || k->op == OP_GEMV || k->op == OP_ADD || k->op == OP_COPY ||
            k->op == OP_TRANSPOSE;
  if (!op)
    return err_set(why, "There is no reference for the operation %s.", kernel_op_name(k->op));
  if (!types_covered(k) || k->c_col || (k->op != OP_GEMM && (k->a_col || k->b_col)))
    return err_set(why, "There is no reference for these types or this layout of %s.",
                   kernel_op_name(k->op));
  return true;
}

void ref_cublas_name(const ref_cublas *r, const struct kernel *k, char name[64], char version[64]) {
  if (!ref_cublas_needs_library(k)) {
    snprintf(name, 64, "cuMemcpyDtoD");
    version[0] = 0;
    return;
  }
  snprintf(name, 64, "cuBLAS");
  snprintf(version, 64, "%s%s", r ? r->version : "",
           k->op == OP_GEMM && single(k) ? " pedantic" : "");
}

static enum cuda_blas_type blas_type(enum kernel_dtype t) {
  return t == DT_BF16 ? CUDA_BLAS_BF16 : t == DT_F16 ? CUDA_BLAS_F16 : CUDA_BLAS_F32;
}

/* A row-major matrix is its transpose for cuBLAS, so C = A B becomes C' = B' A'. */
static int gemm(const ref_cublas *r, const struct device_job *job, const void *A, const void *B,
                void *C) {
  static const float one = 1, zero = 0;
  const struct kernel *k = job->kernel;
  int M = (int)job->size.M, N = (int)job->size.N, K = (int)job->size.K;
  enum cuda_blas_op opa = k->a_col ? CUDA_BLAS_T : CUDA_BLAS_N;
  enum cuda_blas_op opb = k->b_col ? CUDA_BLAS_T : CUDA_BLAS_N;
  int lda = k->a_col ? M : K, ldb = k->b_col ? K : N;
  if (single(k))
    return r->api->sgemm(r->blas, opb, opa, N, M, K, &one, B, ldb, A, lda, &zero, C, N);
  return r->api->gemm_ex(r->blas, opb, opa, N, M, K, &one, B, blas_type(k->b), ldb, A,
                         blas_type(k->a), lda, &zero, C, blas_type(k->c), N, CUDA_BLAS_SUM_F32,
                         CUDA_BLAS_ALGO_DEFAULT);
}

static int elementwise(const ref_cublas *r, const struct device_job *job, const float *A,
                       const float *B, float *C) {
  static const float one = 1, zero = 0;
  int M = (int)job->size.M, N = (int)job->size.N, K = (int)job->size.K;
  switch (job->kernel->op) {
  case OP_GEMV:
    return r->api->sgemv(r->blas, CUDA_BLAS_T, K, M, &one, A, K, B, 1, &zero, C, 1);
  case OP_ADD:
    return r->api->sgeam(r->blas, CUDA_BLAS_N, CUDA_BLAS_N, N, M, &one, A, N, &one, B, N, C, N);
  default: /* transpose */
    return r->api->sgeam(r->blas, CUDA_BLAS_T, CUDA_BLAS_N, M, N, &one, A, N, &zero, C, M, C, M);
  }
}

bool ref_cublas_go(ref_cublas *r, const struct device_job *job, const struct cuda_buffers *b,
                   cuda_result *rc, struct err *why) {
  *rc = CUDA_OK;
  if (job->kernel->op == OP_COPY) {
    *rc = b->cu->copy(b->at[BUFFER_REFERENCE], b->at[BUFFER_A], b->bytes[BUFFER_REFERENCE],
                      b->stream);
    return true;
  }
  const void *A = as_pointer(b->at[BUFFER_A]), *B = as_pointer(b->at[BUFFER_B]);
  void *C = as_pointer(b->at[BUFFER_REFERENCE]);
  int status = job->kernel->op == OP_GEMM ? gemm(r, job, A, B, C) : elementwise(r, job, A, B, C);
  if (!status)
    return true;
  return err_set(why, "cuBLAS refused the operation (status %d) at these sizes.", status);
}
