#include "bench/ref_cblas.h"

#include "base/rand.h"
#include "bench/dev_cpu.h"
#include <dlfcn.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* From the CBLAS interface: the 32-bit integer (LP64) build. */
enum { ROW_MAJOR = 101, NO_TRANS = 111 };
typedef void sgemm_fn(int, int, int, int, int, int, float, const float *, int, const float *, int,
                      float, float *, int);
typedef void sgemv_fn(int, int, int, int, float, const float *, int, const float *, int, float,
                      float *, int);
typedef void threads_fn(int);
typedef char *text_fn(void);

static const char *const libraries[] = {
    "libopenblas.so.0",  "libopenblas.so",   "libblis.so.4",   "libblis.so.3",
    "libblis.so.2",      "libblis.so",       "libmkl_rt.so.2", "libmkl_rt.so.1",
    "libmkl_rt.so",      "libopenblas.dylib",
    "/opt/homebrew/opt/openblas/lib/libopenblas.dylib"};

static struct {
  enum { NOT_TRIED, GOOD, BAD } state;
  struct err why;
  void *handle;
  sgemm_fn *sgemm;
  sgemv_fn *sgemv;
  threads_fn *set_threads;
  void (*set_threads_blis)(int64_t); /* BLIS counts in its dim_t */
  int threads;
  char name[64], version[64], instead_of[24];
} blas;

/* dlsym gives an object pointer; POSIX says that it may hold a function's address. */
static void symbol(const char *name, void *fn) {
  void *p = dlsym(blas.handle, name);
  memcpy(fn, &p, sizeof p);
}

/* An OpenBLAS older than the CPU takes kernels of the SSE years for it, several times slower than
 * those it has: a weak reference would flatter every rung. True if it did. */
static bool took_old_core(const char *core) {
  static const char *const old[] = {"Prescott", "Core2",    "Penryn", "Dunnington",
                                    "Nehalem",  "Atom",     "Generic", "Opteron",
                                    "Opteron_SSE3", "Barcelona", "Bobcat", "Sandybridge"};
  for (size_t i = 0; dev_cpu_best() != ISA_PLAIN && i < sizeof old / sizeof *old; i++)
    if (!strcasecmp(core, old[i]))
      return true;
  return false;
}

/* Loads OpenBLAS again with the core that this CPU has. The user's own choice stays. */
static void choose_core(const char *library) {
  text_fn *core;
  symbol("openblas_get_corename", &core);
  const char *set = getenv("OPENBLAS_CORETYPE");
  if (!core || (set && *set) || !took_old_core(core()))
    return;
  snprintf(blas.instead_of, sizeof blas.instead_of, "%.16s", core());
  dlclose(blas.handle);
  setenv("OPENBLAS_CORETYPE", dev_cpu_best() == ISA_AVX512 ? "SkylakeX" : "Haswell", 1);
  blas.handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  unsetenv("OPENBLAS_CORETYPE");
}

static void identify(const char *library) {
  text_fn *text, *core;
  char config[96] = "";
  const char *coretype = getenv("OPENBLAS_CORETYPE");
  symbol("openblas_get_config", &text);
  symbol("openblas_get_corename", &core);
  if (text) {
    snprintf(blas.name, sizeof blas.name, "OpenBLAS");
    const char *s = text();
    sscanf(s, "OpenBLAS %95s", config);
    int n = snprintf(blas.version, sizeof blas.version, "%.16s%s%.16s", config, core ? " " : "",
                     core ? core() : "");
    if (blas.instead_of[0])
      snprintf(blas.version + n, sizeof blas.version - (size_t)n, " (not %s)", blas.instead_of);
    else if (coretype && *coretype)
      snprintf(blas.version + n, sizeof blas.version - (size_t)n, " (OPENBLAS_CORETYPE)");
    symbol("openblas_set_num_threads", &blas.set_threads);
    return;
  }
  symbol("bli_info_get_version_str", &text);
  if (text) {
    snprintf(blas.name, sizeof blas.name, "BLIS");
    snprintf(blas.version, sizeof blas.version, "%.40s", text());
    symbol("bli_thread_set_num_threads", &blas.set_threads_blis);
    return;
  }
  bool mkl = strstr(library, "mkl") != NULL;
  snprintf(blas.name, sizeof blas.name, "%s", mkl ? "MKL" : "CBLAS");
  symbol("MKL_Set_Num_Threads", &blas.set_threads);
}

/* A 19 x 23 x 17 product of random numbers against fp64. */
static bool computes(void) {
  enum { M = 19, N = 23, K = 17 };
  float A[M * K], B[K * N], C[M * N], y[M];
  rand_fill(11, 0, M * K, A);
  rand_fill(12, 0, K * N, B);
  for (int i = 0; i < M * N; i++)
    C[i] = NAN;
  for (int i = 0; i < M; i++)
    y[i] = NAN;
  ref_cblas_gemm(M, N, K, A, B, C);
  ref_cblas_gemv(M, K, A, B, y);
  for (int i = 0; i < M; i++) {
    double row = 0;
    for (int k = 0; k < K; k++)
      row += (double)A[i * K + k] * (double)B[k];
    if (!(fabs((double)y[i] - row) < 1e-5))
      return false;
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < K; k++)
        sum += (double)A[i * K + k] * (double)B[k * N + j];
      if (!(fabs((double)C[i * N + j] - sum) < 1e-5))
        return false;
    }
  }
  return true;
}

static bool open_any(void) {
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
    blas.handle = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
    if (!blas.handle)
      continue;
    choose_core(libraries[i]);
    if (!blas.handle)
      continue;
    symbol("cblas_sgemm", &blas.sgemm);
    symbol("cblas_sgemv", &blas.sgemv);
    if (blas.sgemm && blas.sgemv) {
      identify(libraries[i]);
      return true;
    }
    dlclose(blas.handle);
    blas.handle = NULL;
  }
  return err_set(&blas.why, "no CBLAS was found. Install OpenBLAS (libopenblas0) for one.");
}

bool ref_cblas_load(struct err *why) {
  if (blas.state == NOT_TRIED) {
#ifdef __linux__
    cpu_set_t mask;
    bool masked = !sched_getaffinity(0, sizeof mask, &mask);
#endif
    bool ok = open_any();
    if (ok) {
      ref_cblas_threads(1);
      ok = computes();
      if (!ok)
        err_set(&blas.why, "%s %s was found, but it computes a small product wrongly; it is "
                           "not used.", blas.name, blas.version);
    }
    blas.state = ok ? GOOD : BAD;
#ifdef __linux__
    if (masked)
      sched_setaffinity(0, sizeof mask, &mask);
#endif
  }
  return blas.state == GOOD || err_set(why, "%s", blas.why.text);
}

void ref_cblas_name(char name[64], char version[64]) {
  snprintf(name, 64, "%s", blas.name);
  if (blas.set_threads || blas.set_threads_blis)
    snprintf(version, 64, "%.44s, %d thread%s", blas.version, blas.threads,
             blas.threads == 1 ? "" : "s");
  else
    snprintf(version, 64, "%.44s", blas.version);
}

void ref_cblas_threads(int n) {
  blas.threads = n;
  if (blas.set_threads)
    blas.set_threads(n);
  if (blas.set_threads_blis)
    blas.set_threads_blis(n);
}

void ref_cblas_gemm(int64_t M, int64_t N, int64_t K, const float *A, const float *B, float *C) {
  blas.sgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, (int)M, (int)N, (int)K, 1, A, (int)K, B, (int)N, 0, C,
             (int)N);
}

void ref_cblas_gemv(int64_t M, int64_t K, const float *A, const float *x, float *y) {
  blas.sgemv(ROW_MAJOR, NO_TRANS, (int)M, (int)K, 1, A, (int)K, x, 1, 0, y, 1);
}
