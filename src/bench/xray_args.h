/* The arguments of a launch: which matrix, size or number each parameter of the kernel gets. */
#ifndef MM_BENCH_XRAY_ARGS_H
#define MM_BENCH_XRAY_ARGS_H

#include "bench/xray_case.h"
#include "sim/xray/xray.h"

enum { XRAY_ARGS_A, XRAY_ARGS_B, XRAY_ARGS_C, XRAY_ARGS_W, XRAY_ARGS_ARRAYS };

struct xray_args {
  struct xray_arg arg[XRAY_PARAMS_MAX]; /* .array is one of XRAY_ARGS_A ... */
  int n;
  bool uses[XRAY_ARGS_ARRAYS];
  char text[400]; /* "A,B,C,M,N,K" */
  bool guessed;   /* from the names of the parameters */
};

/* Names of the arrays: "A" "B" "C" "W". */
extern const char *const xray_args_names[XRAY_ARGS_ARRAYS];

/* Settles the arguments of kernel `symbol` from --args, the front matter, or the names of its
 * parameters; then the types, alpha and beta of the case. `params` has n = 0 where there is no
 * source. False with a fault that lists the parameters and shows an example. */
bool xray_args_bind(struct xray_args *a, struct xray_case *c, const xray_module *m,
                    const char *symbol, const struct xray_params *params,
                    struct device_fault *fault);

#endif
