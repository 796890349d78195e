/* The few types and functions of the CUDA driver, NVRTC, cuBLAS and NVML that mmtutor uses,
 * declared in its own words so that no CUDA header is needed to build it. All of them are found by
 * dlopen; a test compares these declarations with the toolkit's headers where a toolkit is present.
 */
#ifndef MM_BENCH_CUDA_API_H
#define MM_BENCH_CUDA_API_H

#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- driver */
typedef int cuda_result; /* 0 is success; the others that are told apart are below */
typedef int cuda_device;
typedef unsigned long long cuda_ptr; /* an address on the device */
typedef struct CUctx_st *cuda_context;
typedef struct CUmod_st *cuda_module;
typedef struct CUfunc_st *cuda_function;
typedef struct CUstream_st *cuda_stream;
typedef struct CUevent_st *cuda_event;

enum {
  CUDA_OK = 0,
  CUDA_INVALID_VALUE = 1,
  CUDA_OUT_OF_MEMORY = 2,
  CUDA_INVALID_CONFIGURATION = 9, /* only the runtime says it, forwarded by some layers */
  CUDA_STUB_LIBRARY = 34,
  CUDA_INSUFFICIENT_DRIVER = 35, /* of the runtime as well */
  CUDA_DEVICE_UNAVAILABLE = 46,
  CUDA_NO_DEVICE = 100,
  CUDA_INVALID_IMAGE = 200,
  CUDA_NO_BINARY = 209,
  CUDA_ECC = 214,
  CUDA_INVALID_PTX = 218,
  CUDA_NVLINK = 220,
  CUDA_NO_JIT = 221,
  CUDA_UNSUPPORTED_PTX = 222,
  CUDA_OPERATING_SYSTEM = 304,
  CUDA_NOT_FOUND = 500,
  CUDA_ILLEGAL_ADDRESS = 700,
  CUDA_OUT_OF_RESOURCES = 701,
  CUDA_LAUNCH_TIMEOUT = 702,
  CUDA_ASSERT = 710,
  CUDA_HARDWARE_STACK = 714,
  CUDA_ILLEGAL_INSTRUCTION = 715,
  CUDA_MISALIGNED_ADDRESS = 716,
  CUDA_INVALID_ADDRESS_SPACE = 717,
  CUDA_INVALID_PC = 718,
  CUDA_LAUNCH_FAILED = 719,
  CUDA_NOT_PERMITTED = 800,
  CUDA_NOT_SUPPORTED = 801,
  CUDA_SYSTEM_NOT_READY = 802,
  CUDA_DRIVER_MISMATCH = 803,
  CUDA_COMPAT_UNSUPPORTED = 804,
  CUDA_UNKNOWN = 999
};

enum cuda_device_attribute {
  CUDA_ATTR_CLOCK_KHZ = 13,
  CUDA_ATTR_SMS = 16,
  CUDA_ATTR_MEM_CLOCK_KHZ = 36,
  CUDA_ATTR_BUS_BITS = 37,
  CUDA_ATTR_L2_BYTES = 38,
  CUDA_ATTR_THREADS_SM = 39,
  CUDA_ATTR_CC_MAJOR = 75,
  CUDA_ATTR_CC_MINOR = 76,
  CUDA_ATTR_SMEM_SM = 81,
  CUDA_ATTR_REGS_SM = 82,
  CUDA_ATTR_SMEM_BLOCK = 97 /* the most that a block may ask for */
};

enum cuda_function_attribute {
  CUDA_FUNC_MAX_THREADS = 0,
  CUDA_FUNC_SHARED = 1,
  CUDA_FUNC_LOCAL = 3,
  CUDA_FUNC_REGISTERS = 4,
  CUDA_FUNC_MAX_DYNAMIC_SHARED = 8
};

enum cuda_jit {
  CUDA_JIT_ERROR_LOG = 5,
  CUDA_JIT_ERROR_LOG_BYTES = 6
};

enum { CUDA_STREAM_NON_BLOCKING = 1, CUDA_EVENT_BLOCKING = 1 };

enum cuda_launch_attribute_id { CUDA_LAUNCH_CLUSTER = 4 };
struct cuda_launch_attribute {
  enum cuda_launch_attribute_id id;
  char pad[4];
  union {
    unsigned cluster[3];
    unsigned char bytes[64];
  } value;
};
struct cuda_launch_config {
  unsigned grid[3], block[3], shared;
  cuda_stream stream;
  struct cuda_launch_attribute *attributes;
  unsigned nattributes;
};

/* What the TMA unit reads; a kernel takes it by value. The driver asks for 64 bytes of
 * alignment, its header for 128. */
struct cuda_tensor_map {
  _Alignas(128) uint64_t word[16];
};
enum cuda_tensor_type { CUDA_TENSOR_F16 = 6, CUDA_TENSOR_F32 = 7, CUDA_TENSOR_BF16 = 9 };
enum cuda_tensor_interleave { CUDA_TENSOR_NOT_INTERLEAVED = 0 };
enum cuda_tensor_swizzle {
  CUDA_TENSOR_SWIZZLE_NONE = 0,
  CUDA_TENSOR_SWIZZLE_32 = 1,
  CUDA_TENSOR_SWIZZLE_64 = 2,
  CUDA_TENSOR_SWIZZLE_128 = 3
};
enum cuda_tensor_l2 {
  CUDA_TENSOR_L2_NONE = 0,
  CUDA_TENSOR_L2_64 = 1,
  CUDA_TENSOR_L2_128 = 2,
  CUDA_TENSOR_L2_256 = 3
};
enum cuda_tensor_outside { CUDA_TENSOR_ZEROS = 0 };

/* field, exported symbol, parameters. Versioned symbols are named outright: the plain name of some
 * of them is an older function with another signature. */
#define CUDA_API_DRIVER(X)                                                                         \
  X(init, cuInit, (unsigned flags))                                                                \
  X(driver_version, cuDriverGetVersion, (int *version))                                            \
  X(error_name, cuGetErrorName, (cuda_result code, const char **name))                             \
  X(error_string, cuGetErrorString, (cuda_result code, const char **text))                         \
  X(device_count, cuDeviceGetCount, (int *count))                                                  \
  X(device_get, cuDeviceGet, (cuda_device * device, int index))                                    \
  X(device_name, cuDeviceGetName, (char *name, int size, cuda_device device))                      \
  X(device_memory, cuDeviceTotalMem_v2, (size_t * bytes, cuda_device device))                      \
  X(device_attribute, cuDeviceGetAttribute,                                                        \
    (int *value, enum cuda_device_attribute attribute, cuda_device device))                        \
  X(device_pci, cuDeviceGetPCIBusId, (char *text, int size, cuda_device device))                   \
  X(ctx_retain, cuDevicePrimaryCtxRetain, (cuda_context * ctx, cuda_device device))                \
  X(ctx_release, cuDevicePrimaryCtxRelease_v2, (cuda_device device))                               \
  X(ctx_set, cuCtxSetCurrent, (cuda_context ctx))                                                  \
  X(mem_info, cuMemGetInfo_v2, (size_t * unused, size_t * total))                                  \
  X(mem_alloc, cuMemAlloc_v2, (cuda_ptr * address, size_t bytes))                                  \
  X(mem_free, cuMemFree_v2, (cuda_ptr address))                                                    \
  X(host_alloc, cuMemHostAlloc, (void **memory, size_t bytes, unsigned flags))                     \
  X(host_free, cuMemFreeHost, (void *memory))                                                      \
  X(to_device, cuMemcpyHtoDAsync_v2,                                                               \
    (cuda_ptr to, const void *from, size_t bytes, cuda_stream stream))                             \
  X(to_host, cuMemcpyDtoHAsync_v2, (void *to, cuda_ptr from, size_t bytes, cuda_stream stream))    \
  X(copy, cuMemcpyDtoDAsync_v2, (cuda_ptr to, cuda_ptr from, size_t bytes, cuda_stream stream))    \
  X(set_bytes, cuMemsetD8Async,                                                                    \
    (cuda_ptr to, unsigned char value, size_t bytes, cuda_stream stream))                          \
  X(stream_create, cuStreamCreate, (cuda_stream * stream, unsigned flags))                         \
  X(stream_wait, cuStreamSynchronize, (cuda_stream stream))                                        \
  X(stream_free, cuStreamDestroy_v2, (cuda_stream stream))                                         \
  X(event_create, cuEventCreate, (cuda_event * event, unsigned flags))                             \
  X(event_record, cuEventRecord, (cuda_event event, cuda_stream stream))                           \
  X(event_wait, cuEventSynchronize, (cuda_event event))                                            \
  X(event_ms, cuEventElapsedTime, (float *ms, cuda_event from, cuda_event to))                     \
  X(event_free, cuEventDestroy_v2, (cuda_event event))                                             \
  X(module_load, cuModuleLoadDataEx,                                                               \
    (cuda_module * module, const void *image, unsigned noptions, enum cuda_jit *options,           \
     void **values))                                                                               \
  X(module_free, cuModuleUnload, (cuda_module module))                                             \
  X(module_function, cuModuleGetFunction,                                                          \
    (cuda_function * function, cuda_module module, const char *name))                              \
  X(function_get, cuFuncGetAttribute,                                                              \
    (int *value, enum cuda_function_attribute attribute, cuda_function function))                  \
  X(function_set, cuFuncSetAttribute,                                                              \
    (cuda_function function, enum cuda_function_attribute attribute, int value))                   \
  X(launch, cuLaunchKernel,                                                                        \
    (cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,  \
     unsigned block_y, unsigned block_z, unsigned shared, cuda_stream stream, void **params,       \
     void **extra))

/* Absent from older drivers; NULL then. */
#define CUDA_API_DRIVER_OPTIONAL(X)                                                                \
  X(function_param, cuFuncGetParamInfo,                                                            \
    (cuda_function function, size_t index, size_t * offset, size_t * bytes))                       \
  X(launch_ex, cuLaunchKernelEx,                                                                   \
    (const struct cuda_launch_config *config, cuda_function function, void **params,               \
     void **extra))                                                                                \
  X(tensor_map, cuTensorMapEncodeTiled,                                                            \
    (struct cuda_tensor_map * map, enum cuda_tensor_type type, unsigned rank, void *address,       \
     const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,                          \
     const uint32_t *element_strides, enum cuda_tensor_interleave interleave,                      \
     enum cuda_tensor_swizzle swizzle, enum cuda_tensor_l2 l2, enum cuda_tensor_outside outside))

#define CUDA_API_FIELD(field, symbol, params) cuda_result(*field) params;
struct cuda_api {
  CUDA_API_DRIVER(CUDA_API_FIELD)
  CUDA_API_DRIVER_OPTIONAL(CUDA_API_FIELD)
};

/* ---- NVRTC */
typedef struct _nvrtcProgram *cuda_nvrtc_program;
enum { CUDA_NVRTC_OK = 0, CUDA_NVRTC_COMPILATION = 6, CUDA_NVRTC_BUILTINS = 7 };

#define CUDA_API_NVRTC(X)                                                                          \
  X(version, nvrtcVersion, (int *major, int *minor))                                               \
  X(arch_count, nvrtcGetNumSupportedArchs, (int *count))                                           \
  X(archs, nvrtcGetSupportedArchs, (int *archs))                                                   \
  X(create, nvrtcCreateProgram,                                                                    \
    (cuda_nvrtc_program * program, const char *source, const char *name, int nheaders,             \
     const char *const *headers, const char *const *include_names))                                \
  X(destroy, nvrtcDestroyProgram, (cuda_nvrtc_program * program))                                  \
  X(compile, nvrtcCompileProgram,                                                                  \
    (cuda_nvrtc_program program, int noptions, const char *const *options))                        \
  X(add_name, nvrtcAddNameExpression, (cuda_nvrtc_program program, const char *expression))        \
  X(lowered, nvrtcGetLoweredName,                                                                  \
    (cuda_nvrtc_program program, const char *expression, const char **lowered))                    \
  X(log_size, nvrtcGetProgramLogSize, (cuda_nvrtc_program program, size_t * bytes))                \
  X(log, nvrtcGetProgramLog, (cuda_nvrtc_program program, char *text))                             \
  X(ptx_size, nvrtcGetPTXSize, (cuda_nvrtc_program program, size_t * bytes))                       \
  X(ptx, nvrtcGetPTX, (cuda_nvrtc_program program, char *ptx))                                     \
  X(cubin_size, nvrtcGetCUBINSize, (cuda_nvrtc_program program, size_t * bytes))                   \
  X(cubin, nvrtcGetCUBIN, (cuda_nvrtc_program program, char *cubin))

struct cuda_nvrtc_api {
  CUDA_API_NVRTC(CUDA_API_FIELD)
  const char *(*error)(int code);
};

/* ---- cuBLAS */
typedef struct cublasContext *cuda_blas;
enum cuda_blas_op { CUDA_BLAS_N = 0, CUDA_BLAS_T = 1 };
enum cuda_blas_math { CUDA_BLAS_DEFAULT = 0, CUDA_BLAS_PEDANTIC = 2 };
enum cuda_blas_type { CUDA_BLAS_F32 = 0, CUDA_BLAS_F16 = 2, CUDA_BLAS_BF16 = 14 };
enum cuda_blas_compute { CUDA_BLAS_SUM_F32 = 68 };
enum cuda_blas_algo { CUDA_BLAS_ALGO_DEFAULT = -1 };

#define CUDA_API_BLAS(X)                                                                           \
  X(create, cublasCreate_v2, (cuda_blas * blas))                                                   \
  X(destroy, cublasDestroy_v2, (cuda_blas blas))                                                   \
  X(version, cublasGetVersion_v2, (cuda_blas blas, int *version))                                  \
  X(set_stream, cublasSetStream_v2, (cuda_blas blas, cuda_stream stream))                          \
  X(set_math, cublasSetMathMode, (cuda_blas blas, enum cuda_blas_math mode))                       \
  X(set_workspace, cublasSetWorkspace_v2, (cuda_blas blas, void *memory, size_t bytes))            \
  X(gemm_ex, cublasGemmEx,                                                                         \
    (cuda_blas blas, enum cuda_blas_op opa, enum cuda_blas_op opb, int m, int n, int k,            \
     const void *alpha, const void *A, enum cuda_blas_type ta, int lda, const void *B,             \
     enum cuda_blas_type tb, int ldb, const void *beta, void *C, enum cuda_blas_type tc, int ldc,  \
     enum cuda_blas_compute compute, enum cuda_blas_algo algo))                                    \
  X(sgemm, cublasSgemm_v2,                                                                         \
    (cuda_blas blas, enum cuda_blas_op opa, enum cuda_blas_op opb, int m, int n, int k,            \
     const float *alpha, const float *A, int lda, const float *B, int ldb, const float *beta,      \
     float *C, int ldc))                                                                           \
  X(sgemv, cublasSgemv_v2,                                                                         \
    (cuda_blas blas, enum cuda_blas_op op, int m, int n, const float *alpha, const float *A,       \
     int lda, const float *x, int incx, const float *beta, float *y, int incy))                    \
  X(sgeam, cublasSgeam,                                                                            \
    (cuda_blas blas, enum cuda_blas_op opa, enum cuda_blas_op opb, int m, int n,                   \
     const float *alpha, const float *A, int lda, const float *beta, const float *B, int ldb,      \
     float *C, int ldc))

struct cuda_blas_api {
  CUDA_API_BLAS(CUDA_API_FIELD)
};

/* ---- NVML */
typedef struct nvmlDevice_st *cuda_nvml_device;
enum cuda_nvml_clock { CUDA_NVML_SM = 1 };

#define CUDA_API_NVML(X)                                                                           \
  X(init, nvmlInit_v2, (void))                                                                     \
  X(by_pci, nvmlDeviceGetHandleByPciBusId_v2, (const char *pci, cuda_nvml_device *device))         \
  X(clock, nvmlDeviceGetClockInfo,                                                                 \
    (cuda_nvml_device device, enum cuda_nvml_clock clock, unsigned *mhz))                          \
  X(power, nvmlDeviceGetPowerUsage, (cuda_nvml_device device, unsigned *milliwatt))                \
  X(throttle, nvmlDeviceGetCurrentClocksThrottleReasons,                                           \
    (cuda_nvml_device device, unsigned long long *reasons))

struct cuda_nvml_api {
  CUDA_API_NVML(CUDA_API_FIELD)
};

/* One line of a symbol table: the name, and where its address goes in the struct. */
struct cuda_api_symbol {
  const char *name;
  size_t offset;
};

/* Fills the pointers of `api` from an open library; false with the first missing name in err.
 * `library` is what to call it in the sentence. */
bool cuda_api_bind(void *handle, const char *library, const struct cuda_api_symbol *symbols, int n,
                   void *api, struct err *err);

/* The driver, opened once for the process (cuInit is not called). NULL with one sentence: not here,
 * or too old (the first missing symbol is named). */
const struct cuda_api *cuda_api_driver(struct err *err);

#endif
