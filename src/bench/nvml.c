#include "bench/nvml.h"
#include "base/alloc.h"
#include "base/log.h"
#include "bench/cuda_api.h"
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>

struct nvml {
  const struct cuda_nvml_api *api;
  cuda_nvml_device device;
};

/* Reasons that slow a card down: power cap, hardware slowdown, the two thermal ones, power brake.
 * Idle and clocks set by the user are none. */
static const unsigned long long throttle_bits = 0x04 | 0x08 | 0x20 | 0x40 | 0x80;

#define SYMBOL(field, symbol, params) {#symbol, offsetof(struct cuda_nvml_api, field)},
static const struct cuda_api_symbol symbols[] = {CUDA_API_NVML(SYMBOL)};
#undef SYMBOL

static const struct cuda_nvml_api *load(void) {
  static struct cuda_nvml_api api;
  static int state; /* 0 not tried, 1 works, 2 does not */
  if (state)
    return state == 1 ? &api : NULL;
  state = 2;
  void *handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    handle = dlopen("/usr/local/nvidia/lib64/libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  struct err err = {""};
  if (handle &&
      cuda_api_bind(handle, "NVML", symbols, (int)(sizeof symbols / sizeof *symbols), &api, &err) &&
      !api.init())
    state = 1;
  else
    log_line("NVML: %s", handle ? err.text : "libnvidia-ml.so.1 is not here");
  return state == 1 ? &api : NULL;
}

nvml *nvml_open(const char *pci) {
  const struct cuda_nvml_api *api = load();
  cuda_nvml_device device;
  if (!api || api->by_pci(pci, &device))
    return NULL;
  nvml *n = alloc_zero(1, sizeof *n);
  n->api = api;
  n->device = device;
  return n;
}

void nvml_close(nvml *n) { free(n); }

void nvml_read(const nvml *n, double *mhz, double *watt, int *throttled) {
  unsigned clock, power;
  unsigned long long reasons;
  *mhz = n && !n->api->clock(n->device, CUDA_NVML_SM, &clock) ? clock : (double)NAN;
  *watt = n && !n->api->power(n->device, &power) ? power / 1e3 : (double)NAN;
  *throttled = n && !n->api->throttle(n->device, &reasons) ? (reasons & throttle_bits) != 0 : -1;
}
