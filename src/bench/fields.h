/* Numbers of a device, its roofs and its runs by the names that lessons use: device.sms, roof.dram,
 * run.EXPERIMENT.AS.gflops. One place for the screen and for the commands. */
#ifndef MM_BENCH_FIELDS_H
#define MM_BENCH_FIELDS_H

#include "bench/result.h"
#include "bench/roofs.h"
#include "bench/xray_result.h"

enum { FIELDS_EXPERIMENT = 96, FIELDS_AS = 16 };

/* What lessons ask of a run; NAN where it is not known. ms: the median. ratio: to the reference.
 * share: of its roof, 0..1. */
struct fields_rates {
  double gflops, ms, gbs, ratio, share;
};

/* The rates of a result; those without a reference or a roof stay unknown. Cannot fail. */
struct fields_rates fields_of(const struct result *r);

/* What lessons ask of a run in the x-ray: the counts by their names in JSON (gld_sectors ...), and
 * flop (executed), occupancy (0..1), registers; NAN where it is not known. */
struct fields_counts {
  struct xray_counts counts;
  double flop, occupancy, registers;
};

/* The counts of a result. Cannot fail. */
struct fields_counts fields_counts_of(const struct xray_result *r);

/* Each gives a number by the name behind the dot; false where it is not known. d and r may be NULL:
 * nothing is known then. */
bool fields_rate(const struct fields_rates *r, const char *name, double *value);
bool fields_count(const struct fields_counts *c, const char *name, double *value);
bool fields_device(const struct device_info *d, const char *name, double *value);
bool fields_roof(const struct roofs *r, const char *name, double *value);

/* Splits "e1.b.gflops", the part behind "run.", into experiment, run and field (which points into
 * name); false if it has another form or a part is too long. */
bool fields_run_name(const char *name, char experiment[FIELDS_EXPERIMENT], char as[FIELDS_AS],
                     const char **field);

#endif
