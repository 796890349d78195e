/* What printf and assert of a kernel write. The text is kept with its block until the end. */
#ifndef MM_SIM_XRAY_EXEC_PRINT_H
#define MM_SIM_XRAY_EXEC_PRINT_H

#include "sim/xray/machine.h"

/* printf of the lanes of mask, one after the other. Its text is kept up to 1 MiB, as much as a GPU
 * keeps; what does not fit is dropped. */
void exec_print(struct machine *m, struct warp *w, const struct insn_call *c, uint32_t mask);

/* A failed assert: the problem, with its text, file and line. */
void exec_print_assert(struct machine *m, struct warp *w, const struct insn *in,
                       const struct insn_call *c, uint32_t mask);

/* Hands the texts of these machines to the launch, in the order of the blocks, and frees them. */
void exec_print_flush(struct machine *const *machines, int n);

/* Formats as the device's printf does; args: the buffer it is given. *used: bytes of args read;
 * *count: conversions. A string behind %s is asked for with the pointer. Cannot fail: an unknown
 * conversion is written as it stands. */
struct str;
void exec_print_format(struct str *out, const char *format, const unsigned char *args, size_t nargs,
                       void (*string)(void *ctx, uint64_t pointer, char *to, size_t size),
                       void *ctx, int *count);

#endif
