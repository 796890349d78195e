/* Numbers for the prose of a lesson outside the screen: the step's sizes, this machine's measured
 * roofs, runs made just now, and the recorded card for the rest. */
#ifndef MM_APP_VALUES_H
#define MM_APP_VALUES_H

#include "bench/fields.h"
#include "bench/recorded.h"
#include "lesson/lesson.h"
#include "lesson/prose.h"

enum { VALUES_RUNS = 32 };

struct values {
  const catalog *kernels; /* borrowed */
  recorded *rec;          /* NULL if there is none */
  char tag[64];           /* "(H200)" */
  struct roofs roofs;     /* of this machine */
  bool has_roofs;
  const struct lesson *lesson; /* set by the caller before values_source */
  const struct step *step;     /* may be NULL */
  struct values_run {
    char experiment[FIELDS_EXPERIMENT], as[FIELDS_AS];
    struct fields_rates rates;
    struct fields_counts counts;
    bool counted; /* counts, else rates */
  } run[VALUES_RUNS];
  int nruns;
};

/* Reads the record and the roofs that were measured here before; measures nothing. Cannot fail. */
void values_open(struct values *v, const catalog *kernels);
void values_close(struct values *v);

/* A source that borrows v. */
struct prose_source values_source(struct values *v);

/* Keeps what a run of the current lesson's experiment measured (an earlier one of that name goes).
 */
void values_keep(struct values *v, const char *experiment, const char *as, const struct result *r);

/* The same of what the x-ray counted. */
void values_keep_counts(struct values *v, const char *experiment, const char *as,
                        const struct xray_result *x);

/* Evaluates an expression over AS.field of the kept runs of an experiment; false if it has no
 * value. */
bool values_of_runs(struct values *v, const char *experiment, const char *text, double *out);

/* M, N, K and parameters of an experiment's run at sweep value `at` (NAN without a sweep). False
 * with a sentence if the kernel is unknown or does not take them. */
bool values_run_size(const struct values *v, const struct experiment *e, const struct exp_run *run,
                     double at, struct kernel_size *out, struct err *err);

#endif
