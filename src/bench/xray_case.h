/* What an x-ray computes: the operation with its types, layouts and sizes, settled from the request
 * and the front matter of the file or rung. */
#ifndef MM_BENCH_XRAY_CASE_H
#define MM_BENCH_XRAY_CASE_H

#include "bench/device.h"
#include "bench/xray_params.h"
#include "bench/xray_request.h"
#include "sim/xray/xray.h"

struct xray_case {
  const struct xray_request *q;
  const struct kernel *front; /* front matter with its source; NULL: a file without */
  struct kernel *own;         /* `front` if it was read here */
  int launch;                 /* of front->launches */
  bool several;               /* all of front->launches are run; `launch` is the main one */
  struct kernel shape;        /* op, types and layouts alone: for exact_init and the like */
  struct kernel_size size;    /* with the parameters of `front` */
  double alpha, beta;         /* C = alpha A B + beta C; 1 and 0 */
  bool takes_beta;            /* beta is an argument, be it 0: the kernel may read C */
  bool tf32;                  /* the kernel rounds A and B to tf32 */
  bool check;                 /* C can be held against a reference */
  char reason[200];           /* where it cannot: a sentence */
};

/* `rung` is the worker's own kernel of that name, NULL for a file. False with a fault. Free with
 * xray_case_done in either case. */
bool xray_case_begin(struct xray_case *c, const struct xray_request *q, const struct kernel *rung,
                     struct device_fault *fault);
void xray_case_done(struct xray_case *c);

/* Takes the element types from what the kernel's pointers point to, where the source says it: one
 * for each of A, B and C (NULL: not an argument). False with a fault if the request says otherwise.
 */
bool xray_case_types(struct xray_case *c, const struct xray_params_one *const of[3],
                     struct device_fault *fault);

/* Takes from the kernel's instructions how coarsely it sums; front matter says it itself. */
void xray_case_rounding(struct xray_case *c, struct xray_coarse coarse);

/* An expr_lookup over M N K, lda ldb ldc, the parameters and the defines; ctx is the case. */
bool xray_case_lookup(void *c, const char *name, double *value);

/* True for a PTX file's name. */
bool xray_case_is_ptx(const struct xray_request *q);

#endif
