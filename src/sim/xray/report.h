/* The problems of a run, each kind and line once. */
#ifndef MM_SIM_XRAY_REPORT_H
#define MM_SIM_XRAY_REPORT_H

#include "sim/xray/machine.h"

struct report *report_new(const struct ptx_module *module, const struct program *program);
void report_free(struct report *r); /* NULL allowed */

/* Notes one problem of thread (warp, lane) at an instruction; the sentence is kept the first time.
 * False if this kind was met at this line before. */
bool report_problem(const struct machine *m, const struct warp *w, const struct insn *in, int lane,
                    enum xray_kind kind, bool error, const char *fmt, ...)
    __attribute__((format(printf, 7, 8)));

/* Takes in what the machine of another thread noted in other blocks: the first block that met a
 * problem tells of it. */
void report_merge(struct report *to, const struct report *from);

/* True if the problems may be others when the blocks run in another order, or are too many to be
 * told each. */
bool report_depends_on_order(const struct report *r);

/* Hands the problems over: *n of them, the caller frees. */
struct xray_problem *report_take(struct report *r, int *n);

/* Source line of an index of a program; 0 where unknown. */
int report_line(const struct report *r, int index);

/* Writes the file name of a line index, "" where unknown. */
void report_file(const struct report *r, int index, char *out, size_t size);

#endif
