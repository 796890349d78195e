/* What a CUDA C++ file says of a name in its host code: macros, variables, small functions. */
#ifndef MM_BENCH_XRAY_CFIND_H
#define MM_BENCH_XRAY_CFIND_H

#include "bench/xray_cexpr.h"

enum { XRAY_CFIND_TEXT = 400 }; /* longer texts are clipped */

/* The text behind the name of a #define, "(a, b) ..." for one with parameters; NULL if none. */
const char *xray_cfind_define(const struct xray_cexpr *c, const char *name,
                              char body[XRAY_CFIND_TEXT]);

/* What a variable is declared with, or last set to, nearest before c->at, else behind it: "= x"
 * gives x, "(x, y)" and "{x, y}" give "x, y". False if there is none. */
bool xray_cfind_variable(const struct xray_cexpr *c, const char *name, char out[XRAY_CFIND_TEXT]);

/* A function of one statement: `int up(int a, int b) { return (a + b - 1) / b; }` gives its
 * parameter list and the expression. */
bool xray_cfind_function(const struct xray_cexpr *c, const char *name, char params[XRAY_CFIND_TEXT],
                         char body[XRAY_CFIND_TEXT]);

/* The argument in c->entry that stands for a value parameter of the template. */
bool xray_cfind_template(const struct xray_cexpr *c, const char *name, char out[XRAY_CFIND_TEXT]);

#endif
