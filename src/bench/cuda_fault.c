#include "bench/cuda_fault.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool cuda_fault_set(struct device_fault *fault, const char *code, const char *what, const char *why,
                    const char *next) {
  snprintf(fault->code, sizeof fault->code, "%s", code);
  snprintf(fault->what, sizeof fault->what, "%s", what ? what : "");
  snprintf(fault->why, sizeof fault->why, "%s", why ? why : "");
  snprintf(fault->next, sizeof fault->next, "%s", next ? next : "");
  return false;
}

struct meaning {
  cuda_result rc;
  const char *code, *what, *why, *next;
};

static const struct meaning meanings[] = {
    {CUDA_ILLEGAL_ADDRESS, "illegal_address",
     "The kernel read or wrote memory that is not its own (illegal address).",
     "An index went past the end of a matrix, most often in the blocks at the edge, where a guard "
     "like row < M && col < N is missing.",
     "Check every index against its limit. Sizes that are no multiple of the tile show it "
     "soonest."},
    {CUDA_MISALIGNED_ADDRESS, "illegal_address", "The kernel used a misaligned address.",
     "A float4 access needs an address that is a multiple of 16 bytes; a row whose length is not a "
     "multiple of 4 breaks that.",
     "Use sizes that are multiples of 4, or single floats at the edge."},
    {CUDA_INVALID_ADDRESS_SPACE, "illegal_address",
     "The kernel used an address of the wrong memory space.",
     "A pointer to shared or local memory was used as one to global memory, or the other way "
     "round.",
     "Check where each pointer comes from."},
    {CUDA_INVALID_PC, "illegal_address", "The kernel jumped to an address that is no code.",
     "Memory was overwritten past the end of an array.", "Check the index of every store."},
    {CUDA_HARDWARE_STACK, "launch_failed", "The kernel's stack is damaged.",
     "Deep recursion, or a store past the end of a local array.",
     "Check local arrays and recursion in the kernel."},
    {CUDA_ILLEGAL_INSTRUCTION, "launch_failed",
     "The kernel ran an instruction that this GPU lacks.",
     "It was compiled for another GPU, or memory was overwritten.",
     "Run it again without the cache; then check the stores of the kernel."},
    {CUDA_ASSERT, "launch_failed", "An assert in the kernel failed.",
     "The condition in the kernel's own assert was false.", "Read the printed line above."},
    {CUDA_LAUNCH_FAILED, "launch_failed", "The kernel failed while it ran.",
     "The usual cause is an index past the end of shared memory.",
     "Check the indices into shared memory, and its size in the front matter."},
    {CUDA_LAUNCH_TIMEOUT, "launch_timeout",
     "The driver stopped the kernel because it ran too long.",
     "This GPU also drives a display, and the driver allows a kernel there only a few seconds.",
     "Choose a smaller size or a faster rung, or a GPU without a display."},
    {CUDA_ECC, "ecc", "The GPU found a memory error that it could not correct (ECC).",
     "A bit in the GPU's memory flipped.", "Run it again. If it comes back, the card needs care."},
    {CUDA_NVLINK, "ecc", "The GPU found an NVLink error that it could not correct.",
     "The link between GPUs failed.", "Run it again. If it comes back, the machine needs care."},
    {CUDA_OUT_OF_RESOURCES, "too_many_resources",
     "The launch asks for more registers or shared memory than one SM has.",
     "Registers per thread times threads per block must not exceed the SM's registers.",
     "Use a smaller block or a smaller tile."},
    {CUDA_INVALID_VALUE, "launch", "The driver refused a value (invalid value).",
     "A grid, block or shared-memory size is outside the device's limits.",
     "Check grid, block and smem in the front matter for these sizes."},
    {CUDA_INVALID_CONFIGURATION, "launch", "The driver refused the launch (invalid configuration).",
     "A grid or block is outside the device's limits: y and z of a grid end at 65535, a block at "
     "1024 threads.",
     "Check grid and block in the front matter for these sizes."},
    {CUDA_OUT_OF_MEMORY, "out_of_memory", "The GPU has not enough free memory.",
     "Other programs use it too, or the matrices are too large.", "Choose a smaller size."},
    {CUDA_INVALID_IMAGE, "load", "The driver does not take the compiled kernel.",
     "The compiler is newer than the driver, or made code for another GPU.",
     "Update the driver, or use an NVRTC of the driver's own version."},
    {CUDA_NO_BINARY, "load", "The compiled kernel holds no code for this GPU.",
     "It was compiled for another architecture.", "Update NVRTC, or choose another rung."},
    {CUDA_INVALID_PTX, "load", "The driver does not take the kernel's PTX.",
     "The PTX was made for a newer GPU or is damaged.",
     "Choose another rung, or update the driver."},
    {CUDA_UNSUPPORTED_PTX, "load", "The driver is older than the PTX of this kernel.",
     "NVRTC wrote a PTX version that this driver does not know.",
     "Update the driver, or use an NVRTC of the driver's own version."},
    {CUDA_NO_JIT, "load", "The driver's own compiler is missing (libnvidia-ptxjitcompiler).",
     "The driver is installed in part only.", "Install the whole driver package, or NVRTC."},
    {CUDA_NOT_FOUND, "load", "The kernel's entry is not in the compiled file.",
     "The name in the front matter and the function's name differ, or extern \"C\" is missing.",
     "Make both names the same, and the function extern \"C\" __global__."},
    {CUDA_DEVICE_UNAVAILABLE, "device_busy", "The GPU is taken by another process.",
     "It is set to exclusive mode, or is out of service.", "Wait, or choose another GPU."},
    {CUDA_NOT_PERMITTED, "permission", "The driver does not permit this.",
     "The account lacks a right on the GPU.", "Ask the machine's administrator."},
};

bool cuda_fault_driver(const struct cuda_api *cu, cuda_result rc, const char *doing,
                       struct device_fault *fault) {
  const char *name = NULL, *text = NULL;
  cu->error_name(rc, &name);
  cu->error_string(rc, &text);
  for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
    if (meanings[i].rc != rc)
      continue;
    char why[512];
    snprintf(why, sizeof why, "%s (%s, error %d, while %s.)", meanings[i].why,
             name ? name : "unnamed", rc, doing);
    return cuda_fault_set(fault, meanings[i].code, meanings[i].what, why, meanings[i].next);
  }
  char what[256], why[256];
  snprintf(what, sizeof what, "The NVIDIA driver failed with error %d while %s.", rc, doing);
  snprintf(why, sizeof why, "The driver calls it %s: %s.", name ? name : "unnamed",
           text ? text : "no text");
  return cuda_fault_set(fault, "unknown", what, why,
                        "Run it again. If it comes back, run mmtutor doctor.");
}

bool cuda_fault_fatal(const char *code) {
  static const char *const fatal[] = {"illegal_address", "launch_failed", "launch_timeout", "ecc",
                                      "unknown"};
  for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
    if (!strcmp(code, fatal[i]))
      return true;
  return false;
}

static bool no_device(struct err *err) {
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  if (visible)
    return err_set(
        err, "CUDA_VISIBLE_DEVICES is \"%.60s\", which hides every GPU: unset it to use them.",
        visible);
  if (access("/dev/nvidiactl", F_OK) && access("/dev/dxg", F_OK))
    return err_set(err, "The NVIDIA driver's library is here but no GPU device file is: the kernel "
                        "module is not loaded, or the container was started without its GPUs.");
  return err_set(err, "The NVIDIA driver finds no GPU in this machine.");
}

static const struct {
  cuda_result rc;
  const char *text;
} init_texts[] = {
    {CUDA_STUB_LIBRARY,
     "The libcuda.so.1 found first is the toolkit's stub, not a driver: take its "
     "directory (stubs) off LD_LIBRARY_PATH, or install the NVIDIA driver."},
    {CUDA_INSUFFICIENT_DRIVER, "The NVIDIA driver is too old for this CUDA library (error 35): "
                               "update the driver."},
    {CUDA_DEVICE_UNAVAILABLE, "The GPU is taken by another process or out of service (error 46): "
                              "wait, or choose another one."},
    {CUDA_OPERATING_SYSTEM, "The operating system refused the NVIDIA driver a call (error 304): "
                            "check the rights on /dev/nvidia*."},
    {CUDA_NOT_PERMITTED, "The NVIDIA driver does not permit this account to use the GPU (error "
                         "800): ask the administrator."},
    {CUDA_SYSTEM_NOT_READY, "The GPUs are not ready (error 802): on a machine with NVSwitch the "
                            "service nvidia-fabricmanager must run."},
    {CUDA_DRIVER_MISMATCH, "The NVIDIA driver's library and its kernel module are of different "
                           "versions (error 803), as after an update: reboot."},
    {CUDA_COMPAT_UNSUPPORTED, "The CUDA compatibility library does not support this GPU (error "
                              "804): take cuda-compat off the library path, or update the driver."},
    {CUDA_UNKNOWN, "The NVIDIA driver gave an unknown error (999), as after an update or a "
                   "suspend: run nvidia-modprobe -u, or reboot."},
};

bool cuda_fault_init(const struct cuda_api *cu, cuda_result rc, struct err *err) {
  if (access("/dev/nvidiactl", R_OK | W_OK) && errno == EACCES)
    return err_set(err, "This account may not open /dev/nvidiactl: add it to the group that owns "
                        "/dev/nvidia* (often video or render), then log in again.");
  if (rc == CUDA_NO_DEVICE || rc == CUDA_OK)
    return no_device(err);
  for (size_t i = 0; i < sizeof init_texts / sizeof *init_texts; i++)
    if (init_texts[i].rc == rc)
      return err_set(err, "%s", init_texts[i].text);
  const char *name = NULL;
  cu->error_name(rc, &name);
  return err_set(err,
                 "The NVIDIA driver does not start (%s, error %d): reboot, or install it again.",
                 name ? name : "unnamed", rc);
}
