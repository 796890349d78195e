#include "bench/cuda_api.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

bool cuda_api_bind(void *handle, const char *library, const struct cuda_api_symbol *symbols, int n,
                   void *api, struct err *err) {
  for (int i = 0; i < n; i++) {
    void *address = dlsym(handle, symbols[i].name);
    if (!address)
      return err_set(err,
                     "%s has no function %s: it is too old, or not the real library. Install a "
                     "newer one.",
                     library, symbols[i].name);
    memcpy((char *)api + symbols[i].offset, &address, sizeof address);
  }
  return true;
}

#define SYMBOL(field, symbol, params) {#symbol, offsetof(struct cuda_api, field)},
static const struct cuda_api_symbol driver_symbols[] = {CUDA_API_DRIVER(SYMBOL)};
static const struct cuda_api_symbol optional_symbols[] = {CUDA_API_DRIVER_OPTIONAL(SYMBOL)};
#undef SYMBOL
#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

/* The loader's own search first; then where WSL, container runtimes and NixOS keep the driver. The
 * plain libcuda.so is never tried: it is often the toolkit's stub. */
static void *open_driver(void) {
  static const char *const names[] = {
      "libcuda.so.1",
      "/usr/lib/wsl/lib/libcuda.so.1",
      "/usr/local/nvidia/lib64/libcuda.so.1",
      "/run/opengl-driver/lib/libcuda.so.1",
  };
  for (int i = 0; i < COUNT(names); i++) {
    void *handle = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL);
    if (handle)
      return handle;
  }
  return NULL;
}

const struct cuda_api *cuda_api_driver(struct err *err) {
  static struct cuda_api api;
  static void *handle;
  static bool bound;
  if (bound)
    return &api;
  if (!handle)
    handle = open_driver();
  if (!handle) {
    err_set(err, "No NVIDIA driver: libcuda.so.1 is not here.");
    return NULL;
  }
  if (!cuda_api_bind(handle, "The NVIDIA driver (libcuda.so.1)", driver_symbols,
                     COUNT(driver_symbols), &api, err))
    return NULL;
  for (int i = 0; i < COUNT(optional_symbols); i++)
    (void)cuda_api_bind(handle, "", &optional_symbols[i], 1, &api, NULL);
  bound = true;
  return &api;
}
