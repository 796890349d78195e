/* The machine code of a kernel, read from a cubin: only which instructions there are, how wide they
 * are and where they branch to. What a certificate holds against the machine's count. */
#ifndef MM_SIM_XRAY_SASS_H
#define MM_SIM_XRAY_SASS_H

#include "sim/xray/xray.h"

/* Counts the loads, stores and FFMA of kernel `symbol` (its name in the PTX) in an ELF image of n
 * bytes as NVRTC makes it, any bytes allowed. Local helper functions in the kernel's section are
 * counted too. False with a sentence: no cubin, no such kernel, or a target whose instructions are
 * not known here (*out is then zero). */
bool sass_mix(const void *cubin, size_t n, const char *symbol, struct xray_mix *out,
              struct err *err);

/* True if both have the same LDS, STS, LDG and STG of each width and the same FFMA: then counts of
 * the one are exact for the other. */
bool sass_mix_equal(const struct xray_mix *x, const struct xray_mix *y);

#endif
