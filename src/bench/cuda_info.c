#include "bench/cuda_info.h"
#include "bench/cuda_fault.h"
#include "bench/gpus.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const struct cuda_api *cuda_info_start(int *count, struct err *err) {
  *count = 0;
  const struct cuda_api *cu = cuda_api_driver(err);
  if (!cu)
    return NULL;
  cuda_result rc = cu->init(0);
  if (!rc)
    rc = cu->device_count(count);
  if (!rc && *count > 0)
    return cu;
  *count = 0;
  cuda_fault_init(cu, rc, err);
  return NULL;
}

int cuda_info_lanes(int arch) {
  static const struct {
    int arch, lanes;
  } table[] = {{60, 64},  {61, 128}, {62, 128}, {70, 64},  {72, 64},   {75, 64},   {80, 64},
               {86, 128}, {87, 128}, {89, 128}, {90, 128}, {100, 128}, {103, 128}, {120, 128}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i].arch == arch)
      return table[i].lanes;
  return 0;
}

/* The first word of /proc/driver/nvidia/version that looks like 580.159.04; else CUDA's own number.
 */
static void driver_text(const struct cuda_api *cu, char *out, size_t size) {
  char line[256] = "";
  FILE *f = fopen("/proc/driver/nvidia/version", "r");
  if (f && !fgets(line, sizeof line, f))
    line[0] = 0;
  if (f)
    fclose(f);
  for (char *save, *w = strtok_r(line, " \t\n", &save); w; w = strtok_r(NULL, " \t\n", &save))
    if (isdigit((unsigned char)w[0]) && strchr(w, '.')) {
      snprintf(out, size, "%.20s", w);
      return;
    }
  int v = 0;
  if (!cu->driver_version(&v))
    snprintf(out, size, "CUDA %d.%d", v / 1000, v % 1000 / 10);
}

static double number(const struct cuda_api *cu, cuda_device d,
                     enum cuda_device_attribute attribute) {
  int v = 0;
  return cu->device_attribute(&v, attribute, d) || v <= 0 ? (double)NAN : v;
}

/* Peaks from the driver's clocks; the datasheet where it keeps them to itself. */
static void peaks(struct device_info *info, int arch) {
  int lanes = cuda_info_lanes(arch);
  info->peak_fp32 = lanes ? info->sms * info->clock_hz * lanes * 2 : (double)NAN;
  info->peak_dram = info->mem_clock_hz * info->bus_bits / 8 * 2;
  struct gpus_row row;
  if ((isnan(info->peak_fp32) || isnan(info->peak_dram)) &&
      gpus_find(info->name, info->cc, info->sms, &row)) {
    info->peak_fp32 = isnan(info->peak_fp32) ? row.fp32 : info->peak_fp32;
    info->peak_dram = isnan(info->peak_dram) ? row.dram : info->peak_dram;
  }
}

bool cuda_info_fill(const struct cuda_api *cu, int index, struct device_info *info,
                    cuda_device *handle, int *arch) {
  cuda_device d = 0;
  memset(info, 0, sizeof *info);
  if (cu->device_get(&d, index) || cu->device_name(info->name, sizeof info->name, d))
    return false;
  snprintf(info->id, sizeof info->id, "cuda:%d", index);
  int major = 0, minor = 0;
  cu->device_attribute(&major, CUDA_ATTR_CC_MAJOR, d);
  cu->device_attribute(&minor, CUDA_ATTR_CC_MINOR, d);
  snprintf(info->cc, sizeof info->cc, "%d.%d", major % 1000, minor % 10);
  driver_text(cu, info->driver, sizeof info->driver);
  size_t bytes = 0;
  info->memory_bytes = cu->device_memory(&bytes, d) ? (double)NAN : (double)bytes;
  info->sms = number(cu, d, CUDA_ATTR_SMS);
  info->clock_hz = number(cu, d, CUDA_ATTR_CLOCK_KHZ) * 1e3;
  info->smem_sm = number(cu, d, CUDA_ATTR_SMEM_SM);
  info->smem_block = number(cu, d, CUDA_ATTR_SMEM_BLOCK);
  info->l2_bytes = number(cu, d, CUDA_ATTR_L2_BYTES);
  info->regs_sm = number(cu, d, CUDA_ATTR_REGS_SM);
  info->threads_sm = number(cu, d, CUDA_ATTR_THREADS_SM);
  info->bus_bits = number(cu, d, CUDA_ATTR_BUS_BITS);
  info->mem_clock_hz = number(cu, d, CUDA_ATTR_MEM_CLOCK_KHZ) * 1e3;
  peaks(info, major * 10 + minor);
  if (handle)
    *handle = d;
  if (arch)
    *arch = major * 10 + minor;
  return true;
}
