/* The measured roofs of a device: copy bandwidth and an FMA loop today, more rows later. */
#ifndef MM_BENCH_ROOFS_H
#define MM_BENCH_ROOFS_H

#include "base/json.h"
#include "bench/device.h"

struct roof {
  char name[32];      /* "dram", "fma" : the name in roof.* expressions */
  char label[48];     /* "DRAM copy", "FP32 FMA" */
  char unit[8];       /* "B/s" or "FLOP/s" */
  double value;       /* best of the probes and of every verified run; NAN if not measured */
  double spread;      /* (p90 - p10) / median of the probe */
  double theoretical; /* NAN if not known */
};
enum { ROOFS_MAX = 8 };
struct roofs {
  struct device_info device;
  struct roof roof[ROOFS_MAX];
  int n;
  char date[24];
  bool recorded; /* from assets/recorded, not measured on this machine */
};

/* Measures every roof of an open device, about `seconds` in all. False with a fault. */
bool roofs_measure(const struct device_ops *ops, device *d, double seconds, struct roofs *out,
                   struct device_fault *fault);
const struct roof *roofs_find(const struct roofs *r, const char *name); /* NULL if absent */
cJSON *roofs_to_json(const struct roofs *r);
bool roofs_from_json(const cJSON *obj, struct roofs *r, struct err *err);

/* Keeps and finds the measured roofs of this machine's devices (XDG cache). */
bool roofs_load(const char *device_id, struct roofs *out);
void roofs_save(const struct roofs *r);

#endif
