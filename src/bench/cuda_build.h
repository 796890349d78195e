/* From a kernel's source to a module on the device: the cache, NVRTC, or shipped PTX. */
#ifndef MM_BENCH_CUDA_BUILD_H
#define MM_BENCH_CUDA_BUILD_H

#include "bench/cuda_api.h"
#include "bench/device.h"

struct cuda_build_target {
  const struct cuda_api *cu; /* its context is current */
  int arch;                  /* 90 */
  const char *driver;        /* version text, part of the cache's key */
};

/* Loads the kernel with these parameters. Fills built's compile_ms, cached and log (also on
 * failure), and says in `compiler` who compiled ("NVRTC 13.0"). False with a fault. */
bool cuda_build(const struct cuda_build_target *t, const struct kernel *k,
                const struct kernel_size *size, cuda_module *module, char compiler[96],
                struct device_built *built, struct device_fault *fault);

/* The compiler's options for NVRTC's target `arch` (90) as allocated strings in an allocated array;
 * their count. Parameters are not among them: they are in kernel_code. */
int cuda_build_options(const struct kernel *k, int arch, bool ptx, const char *include,
                       char ***options);
void cuda_build_free_options(char **options, int n);

/* Name of the shipped PTX: "assets/ptx/cuda_tiled_T32.ptx". The caller frees. */
char *cuda_build_ptx_name(const struct kernel *k, const struct kernel_size *size);

#endif
