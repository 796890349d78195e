/* What `mmtutor check` says of lessons beyond what the loader refuses. */
#ifndef MM_LESSON_LESSON_CHECK_H
#define MM_LESSON_LESSON_CHECK_H

#include "lesson/lesson.h"

/* The authors' check of a lessons directory or of one lesson: appends "file:line: what" lines for
 * every fault (same ids in both languages; every key recomputed for every draw; no malrule within
 * twice the tolerance of the key unless dropped for that draw; experiments with band and
 * not_visible; step, kernel and item references; numbers in prose typed by hand beside an
 * expression). Kernels are not looked up where c is NULL. Returns the number of faults; `checked`
 * gets a summary line. */
int lesson_check(const char *path, const catalog *c, struct str *faults, struct str *checked);

#endif
