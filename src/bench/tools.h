/* The libraries and permissions beside the devices: what `doctor` reports. Probing loads libraries,
 * so it happens in the worker. */
#ifndef MM_BENCH_TOOLS_H
#define MM_BENCH_TOOLS_H

#include "base/json.h"

/* One thing: what was found ("cuBLAS 13.0", "/usr/lib/libblas.so.3"), or one sentence why not. */
struct tools_thing {
  char found[160]; /* "" if it is not here */
  char path[256];  /* "" if not known */
  char why[512];   /* "" if found */
};

enum tools_id {
  TOOLS_CC,
  TOOLS_CBLAS,
  TOOLS_DRIVER,
  TOOLS_NVRTC,
  TOOLS_CUBLAS,
  TOOLS_COUNTERS,
  TOOLS_COUNT
};

struct tools {
  struct tools_thing thing[TOOLS_COUNT];
};

/* "cc" "cblas" "driver" "nvrtc" "cublas" "counters" */
const char *tools_name(enum tools_id id);

/* Looks at this machine. Loads libraries. Cannot fail. */
void tools_probe(struct tools *t);

cJSON *tools_to_json(const struct tools *t); /* the caller deletes */

/* What is absent or of a wrong type stays "". */
void tools_from_json(const cJSON *obj, struct tools *t);

#endif
