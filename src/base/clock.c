#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int64_t clock_ns(void) {
  struct timespec t;
#ifdef CLOCK_MONOTONIC_RAW
  if (clock_gettime(CLOCK_MONOTONIC_RAW, &t) != 0)
#endif
    clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

double clock_ms(void) { return (double)clock_ns() / 1e6; }

bool clock_fake(void) {
  const char *fake = getenv("MMTUTOR_FAKE_CLOCK");
  return fake && *fake && !(fake[0] == '0' && fake[1] == '\0');
}

void clock_iso(char *out, int size) {
  if (size <= 0)
    return;
  out[0] = '\0';
  time_t now = time(NULL);
  struct tm utc;
  if (clock_fake())
    snprintf(out, (size_t)size, "2026-01-02T03:04:05Z");
  else if (gmtime_r(&now, &utc))
    strftime(out, (size_t)size, "%Y-%m-%dT%H:%M:%SZ", &utc);
}
