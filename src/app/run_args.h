/* The command line of `mmtutor run`, read and checked against the kernel. */
#ifndef MM_APP_RUN_ARGS_H
#define MM_APP_RUN_ARGS_H

#include "kernels/catalog.h"

enum { RUN_ARGS_POINTS = 256 };

struct run_args {
  const char *name; /* kernel or file; NULL if none was given */
  int64_t M, N, K;
  struct {
    char name[16];
    double value;
  } params[MM_PARAMS];
  int nparams;
  const char *device; /* NULL: the kernel's own */
  double seconds, warmup_s;
  const char *sweep, *isa, *worker;
  int threads;
  uint64_t seed;
  bool json, reference, cold, help, list;
};

/* Reads argv. 0, or 2 after the sentence was printed. */
int run_args_read(int argc, char **argv, struct run_args *a);

/* What is to be run: the kernel and the sizes of every point of the sweep (one without --sweep). */
struct run_plan {
  catalog *kernels;
  struct kernel *file; /* a learner's file, or NULL */
  const struct kernel *kernel;
  const char *device;
  struct kernel_size points[RUN_ARGS_POINTS];
  int npoints;
};

/* Finds the kernel and checks every point. False with a sentence: a fault of usage. */
bool run_args_plan(const struct run_args *a, struct run_plan *plan, struct err *err);
void run_args_plan_done(struct run_plan *plan);

#endif
