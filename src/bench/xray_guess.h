/* What the arguments of a kernel are, by the names and types of its parameters. */
#ifndef MM_BENCH_XRAY_GUESS_H
#define MM_BENCH_XRAY_GUESS_H

#include "bench/xray_case.h"

/* Writes one word for each parameter ("A", "M", "alpha", "M*N") if there is only one way to
 * understand them; false if not. */
bool xray_guess(const struct xray_case *c, const struct xray_params *p,
                const char *words[XRAY_PARAMS_MAX]);

/* The same, taken in order whether it is right or not: for an example. Cannot fail. */
void xray_guess_example(const struct xray_params *p, const char *words[XRAY_PARAMS_MAX]);

#endif
