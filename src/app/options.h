/* What the commands share: numbers of options, and the sentences for options that are wrong. */
#ifndef MM_APP_OPTIONS_H
#define MM_APP_OPTIONS_H

#include "base/err.h"
#include "bench/device.h"
#include <stdbool.h>

/* A whole number, plain or as an expression (2^12). False with "NAME needs a whole number from ..."
 */
bool options_whole(const char *name, const char *text, double min, double max, double *out,
                   struct err *err);

/* A number that may have a fraction. */
bool options_number(const char *name, const char *text, double min, double max, double *out,
                    struct err *err);

/* Prints what getopt_long found wrong (c is '?' or ':'; opterr must be 0) with a hint; returns 2.
 */
int options_wrong(const char *command, char **argv, int c);

/* Prints "mmtutor COMMAND: sentence" on stderr and returns `code`. */
int options_fail(const char *command, int code, const char *sentence);

/* The same for a fault, with its why and next on lines of their own. */
int options_fault(const char *command, int code, const struct device_fault *fault);

#endif
