#include "kernels/cuda_headers.h"
#include <stddef.h>
#include <string.h>

/* A failed assert is a call, as nvcc makes it: an empty one would change the registers. */
#define ASSERT                                                                                     \
  "#undef assert\n"                                                                                \
  "#ifdef NDEBUG\n#define assert(e) ((void)0)\n#else\n"                                            \
  "#define assert(e) ((e) ? (void)0 : __assertfail(#e, __FILE__, __LINE__, "                       \
  "__PRETTY_FUNCTION__, 1))\n#endif\n"

const char cuda_headers_prelude_name[] = "mmtutor_prelude.h";

static const char limits[] =
    "#pragma once\n"
    "#define CHAR_BIT 8\n"
    "#define SCHAR_MIN (-128)\n#define SCHAR_MAX 127\n#define UCHAR_MAX 255\n"
    "#define SHRT_MIN (-32768)\n#define SHRT_MAX 32767\n#define USHRT_MAX 65535\n"
    "#define INT_MAX 2147483647\n#define INT_MIN (-INT_MAX - 1)\n#define UINT_MAX 4294967295U\n"
    "#define LONG_MAX 9223372036854775807L\n#define LONG_MIN (-LONG_MAX - 1)\n"
    "#define ULONG_MAX 18446744073709551615UL\n"
    "#define LLONG_MAX 9223372036854775807LL\n#define LLONG_MIN (-LLONG_MAX - 1)\n"
    "#define ULLONG_MAX 18446744073709551615ULL\n"
    "#define INT8_MIN SCHAR_MIN\n#define INT8_MAX SCHAR_MAX\n#define UINT8_MAX UCHAR_MAX\n"
    "#define INT16_MIN SHRT_MIN\n#define INT16_MAX SHRT_MAX\n#define UINT16_MAX USHRT_MAX\n"
    "#define INT32_MIN INT_MIN\n#define INT32_MAX INT_MAX\n#define UINT32_MAX UINT_MAX\n"
    "#define INT64_MIN LLONG_MIN\n#define INT64_MAX LLONG_MAX\n#define UINT64_MAX ULLONG_MAX\n"
    "#define SIZE_MAX ULONG_MAX\n#define RAND_MAX 2147483647\n"
    "#define FLT_MAX 3.402823466e+38f\n#define FLT_MIN 1.175494351e-38f\n"
    "#define FLT_EPSILON 1.192092896e-07f\n#define FLT_MANT_DIG 24\n#define FLT_DIG 6\n"
    "#define DBL_MAX 1.7976931348623157e+308\n#define DBL_MIN 2.2250738585072014e-308\n"
    "#define DBL_EPSILON 2.2204460492503131e-16\n#define DBL_MANT_DIG 53\n#define DBL_DIG 15\n"
    "#ifndef INFINITY\n#define INFINITY __int_as_float(0x7f800000)\n#endif\n"
    "#ifndef NAN\n#define NAN __int_as_float(0x7fffffff)\n#endif\n"
    "#ifndef HUGE_VALF\n#define HUGE_VALF INFINITY\n#endif\n"
    "#define CUDART_INF_F __int_as_float(0x7f800000)\n"
    "#define CUDART_NAN_F __int_as_float(0x7fffffff)\n#define CUDART_PI_F 3.141592654f\n"
    "#define M_E 2.7182818284590452354\n#define M_LOG2E 1.4426950408889634074\n"
    "#define M_LN2 0.69314718055994530942\n#define M_PI 3.14159265358979323846\n"
    "#define M_PI_2 1.57079632679489661923\n#define M_PI_4 0.78539816339744830962\n"
    "#define M_1_PI 0.31830988618379067154\n#define M_2_PI 0.63661977236758134308\n"
    "#define M_SQRT2 1.41421356237309504880\n#define M_SQRT1_2 0.70710678118654752440\n"
    "#ifndef NULL\n#define NULL 0\n#endif\n"
    "#ifndef EXIT_SUCCESS\n#define EXIT_SUCCESS 0\n#define EXIT_FAILURE 1\n#endif\n";

/* 64-bit types are long long: mangled names then are the same as nvcc's callers expect of
 * `long long`, and printf's %lld fits. The compiler itself has size_t, assert and printf. */
static const char prelude[] =
    "#pragma once\n#include \"mmtutor_limits.h\"\n"
    "typedef unsigned short ushort;\n"
    "typedef unsigned int uint; typedef unsigned long ulong;\n"
    "typedef signed char int8_t; typedef short int16_t; typedef int int32_t;\n"
    "typedef long long int64_t;\n"
    "typedef unsigned char uint8_t; typedef unsigned short uint16_t;\n"
    "typedef unsigned int uint32_t; typedef unsigned long long uint64_t;\n"
    "typedef long long intptr_t; typedef unsigned long long uintptr_t;\n"
    "typedef long long ssize_t; typedef long long intmax_t;\n"
    "typedef unsigned long long uintmax_t;\n"
    "extern \"C\" __device__ void __assertfail(const char *, const char *, unsigned,\n"
    "                                        const char *, size_t);\n" ASSERT "namespace std {\n"
    "namespace chrono {} namespace literals {} namespace placeholders {}\n"
    "using ::size_t; using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;\n"
    "using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t; using ::uintptr_t;\n"
    "template <class T> constexpr __host__ __device__ const T &min(const T &a, const T &b) {\n"
    "  return b < a ? b : a;\n}\n"
    "template <class T> constexpr __host__ __device__ const T &max(const T &a, const T &b) {\n"
    "  return a < b ? b : a;\n}\n"
    "template <class T> __host__ __device__ void swap(T &a, T &b) { T c = a; a = b; b = c; }\n"
    "template <bool B, class T, class F> struct conditional { typedef T type; };\n"
    "template <class T, class F> struct conditional<false, T, F> { typedef F type; };\n"
    "template <bool B, class T, class F>\n"
    "using conditional_t = typename conditional<B, T, F>::type;\n"
    "template <bool B, class T = void> struct enable_if {};\n"
    "template <class T> struct enable_if<true, T> { typedef T type; };\n"
    "template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;\n"
    "template <class A, class B> struct is_same { static constexpr bool value = false; };\n"
    "template <class A> struct is_same<A, A> { static constexpr bool value = true; };\n"
    "template <class A, class B> inline constexpr bool is_same_v = is_same<A, B>::value;\n"
    "template <class T> struct numeric_limits;\n"
    "#define MM_LIMITS(T, LOWEST, LEAST, MOST, INF) template <> struct numeric_limits<T> { \\\n"
    "  static constexpr __host__ __device__ T lowest() { return LOWEST; } \\\n"
    "  static constexpr __host__ __device__ T min() { return LEAST; } \\\n"
    "  static constexpr __host__ __device__ T max() { return MOST; } \\\n"
    "  static __host__ __device__ T infinity() { return INF; } };\n"
    "MM_LIMITS(int, INT_MIN, INT_MIN, INT_MAX, 0)\n"
    "MM_LIMITS(unsigned, 0u, 0u, UINT_MAX, 0u)\n"
    "MM_LIMITS(long long, LLONG_MIN, LLONG_MIN, LLONG_MAX, 0)\n"
    "MM_LIMITS(unsigned long long, 0, 0, ULLONG_MAX, 0)\n"
    "MM_LIMITS(float, -FLT_MAX, FLT_MIN, FLT_MAX, CUDART_INF_F)\n"
    "MM_LIMITS(double, -DBL_MAX, DBL_MIN, DBL_MAX, CUDART_INF_F)\n"
    "#undef MM_LIMITS\n"
    "}\n";

static const char *const empty[] = {
    /* CUDA: what device code needs of these, the compiler has built in */
    "cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "cuda_profiler_api.h", "cublas_v2.h",
    "cublas.h", "cublasLt.h", "curand.h", "cusparse.h", "cusolverDn.h", "cufft.h", "cudnn.h",
    "nvToolsExt.h", "nvtx3/nvToolsExt.h", "device_launch_parameters.h", "device_functions.h",
    "driver_types.h", "vector_types.h", "vector_functions.h", "math_constants.h",
    "math_functions.h", "helper_cuda.h", "helper_functions.h", "helper_string.h", "helper_timer.h",
    "nvrtc.h", "nvml.h", "sm_30_intrinsics.h",
    /* C */
    "assert.h", "ctype.h", "errno.h", "fcntl.h", "float.h", "inttypes.h", "limits.h", "malloc.h",
    "math.h", "memory.h", "omp.h", "pthread.h", "signal.h", "stdarg.h", "stdbool.h", "stddef.h",
    "stdint.h", "stdio.h", "stdlib.h", "string.h", "strings.h", "time.h", "unistd.h", "getopt.h",
    "cblas.h", "mkl.h", "sys/mman.h", "sys/resource.h", "sys/stat.h", "sys/time.h", "sys/types.h",
    "windows.h", "Windows.h", "immintrin.h", "x86intrin.h",
    /* C++ */
    "algorithm", "array", "atomic", "bitset", "cassert", "cctype", "cerrno", "cfloat", "chrono",
    "cinttypes", "climits", "cmath", "complex", "cstdarg", "cstddef", "cstdint", "cstdio",
    "cstdlib", "cstring", "ctime", "deque", "exception", "execution", "filesystem", "fstream",
    "functional", "initializer_list", "iomanip", "ios", "iostream", "iterator", "limits", "list",
    "map", "memory", "mutex", "new", "numeric", "optional", "ostream", "queue", "random", "ratio",
    "regex", "set", "sstream", "stack", "stdexcept", "string", "string_view", "thread", "tuple",
    "type_traits", "typeinfo", "unordered_map", "unordered_set", "utility", "variant", "vector"};
enum { NEMPTY = sizeof empty / sizeof *empty };

static const char *const toolkit[] = {"cuda_fp16.h",
                                      "cuda_fp16.hpp",
                                      "cuda_bf16.h",
                                      "cuda_bf16.hpp",
                                      "cuda_fp8.h",
                                      "cuda_fp6.h",
                                      "cuda_fp4.h",
                                      "mma.h",
                                      "cooperative_groups.h",
                                      "cuda_pipeline.h",
                                      "cuda_pipeline_primitives.h",
                                      "cuda_awbarrier.h",
                                      "cuda_awbarrier_primitives.h",
                                      "cuComplex.h",
                                      "curand_kernel.h"};
static const char *const toolkit_dirs[] = {"cooperative_groups/", "cuda/"};

static bool listed(const char *name, const char *const *names, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!strcmp(name, names[i]))
      return true;
  return false;
}

enum cuda_headers_kind cuda_headers_find(const char *name) {
  if (listed(name, empty, NEMPTY))
    return CUDA_HEADERS_EMPTY;
  if (listed(name, toolkit, sizeof toolkit / sizeof *toolkit))
    return CUDA_HEADERS_TOOLKIT;
  for (size_t i = 0; i < sizeof toolkit_dirs / sizeof *toolkit_dirs; i++)
    if (!strncmp(name, toolkit_dirs[i], strlen(toolkit_dirs[i])))
      return CUDA_HEADERS_TOOLKIT;
  return CUDA_HEADERS_UNKNOWN;
}

int cuda_headers_count(void) { return NEMPTY + 2; }

const char *cuda_headers_name(int i) {
  return i < NEMPTY ? empty[i] : i == NEMPTY ? "mmtutor_limits.h" : cuda_headers_prelude_name;
}

const char *cuda_headers_text(int i) {
  const char *name = cuda_headers_name(i);
  if (i >= NEMPTY)
    return i == NEMPTY ? limits : prelude;
  return !strcmp(name, "assert.h") || !strcmp(name, "cassert") ? ASSERT : "\n";
}
