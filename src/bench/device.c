#include "bench/device.h"

#include <stdlib.h>
#include <string.h>

/* The kinds, and what their ids look like. */
static const struct {
  const char *kind;
  const struct device_ops *ops;
  bool numbered;
} kinds[] = {{"cuda", &device_cuda, true}, {"cpu", &device_cpu, false},
             {"null", &device_null, false}};

/* The number behind "cuda:", or -1. */
static int number(const char *text) {
  char *end;
  if (*text < '0' || *text > '9')
    return -1;
  long n = strtol(text, &end, 10);
  return *end || n > 1023 ? -1 : (int)n;
}

const struct device_ops *device_by_id(const char *id, int *index, struct err *err) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    size_t n = strlen(kinds[i].kind);
    if (strncmp(id, kinds[i].kind, n) != 0)
      continue;
    *index = 0;
    if (!id[n])
      return kinds[i].ops;
    if (kinds[i].numbered && id[n] == ':' && (*index = number(id + n + 1)) >= 0)
      return kinds[i].ops;
  }
  *index = 0;
  err_set(err, "There is no device '%s'; devices are cpu, and cuda:0, cuda:1 and so on.", id);
  return NULL;
}
