/* Time: monotonic for measuring, UTC for dates. */
#ifndef MM_BASE_CLOCK_H
#define MM_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Monotonic nanoseconds (CLOCK_MONOTONIC_RAW where there is one). Cannot fail. */
int64_t clock_ns(void);
double clock_ms(void);

/* "2026-11-30T02:03:04Z" into out (at least 24 bytes). MMTUTOR_FAKE_CLOCK=1 gives a fixed date. */
void clock_iso(char *out, int size);

/* True if MMTUTOR_FAKE_CLOCK is set: animations then advance by key only. */
bool clock_fake(void);

#endif
