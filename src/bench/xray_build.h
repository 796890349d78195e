/* From the kernel of an x-ray request to PTX in the machine: through NVRTC, from what is shipped,
 * or a PTX file as it is. */
#ifndef MM_BENCH_XRAY_BUILD_H
#define MM_BENCH_XRAY_BUILD_H

#include "bench/ptx_build.h"
#include "bench/xray_case.h"
#include "sim/xray/xray.h"

struct xray_build {
  xray_module *module;
  char *symbol;                 /* of the kernel in the PTX */
  char entry[128];              /* as a person names it: "tiled<32>" */
  struct xray_params params;    /* n = 0 where there is no source */
  const char *template_params;  /* "int BM", or NULL; belongs to the build */
  char compiler[96];            /* "NVRTC 13.0", "shipped PTX", "a PTX file" */
  char arch[16];                /* "compute_90"; "" not known */
  struct ptx_build_output made; /* of NVRTC; .ptx NULL where it was not used */
  struct cuda_scan *scan;       /* of a shipped kernel's source; NULL otherwise */
  const char *scan_name;        /* "tiled.cu" */
  struct ptx_build_entry code;  /* registers and the like, -1 not known; its strings are not set */
  bool has_sass; /* the machine code's mix is known: of NVRTC's cubin, or recorded with what is
                    shipped */
  struct xray_mix sass;
  const struct cuda_scan *home; /* the source with the kernel; NULL: none */
  const char *home_name;
  int first, last; /* the kernel's lines there; 0 not known */
};

/* Makes the kernel of the case. False with a fault that shows the compiler's own sentence. Free
 * with xray_build_done in either case. */
bool xray_build_make(struct xray_build *b, const struct xray_case *c, struct device_fault *fault);
void xray_build_done(struct xray_build *b);

#endif
