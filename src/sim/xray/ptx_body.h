/* Reads the body of one kernel; shares the reader of ptx_parse.c. */
#ifndef MM_SIM_XRAY_PTX_BODY_H
#define MM_SIM_XRAY_PTX_BODY_H

#include "base/err.h"
#include "sim/xray/ptx.h"

struct ptx_reader {
  struct ptx_lex lex;
  struct ptx_module *m;
  struct err *err;
  bool failed;
};

/* Reads from "{" to its "}"; what was read lies in f. A failure is noted in the reader. */
void ptx_body_read(struct ptx_reader *r, struct ptx_func *f);

/* The order in which the labels of a function stand: below, at or above this scope and name. */
int ptx_body_label_order(const struct ptx_label *l, int scope, struct slice name);

/* ---- helpers in ptx_parse.c. Those that return bool return false once the reading has failed. */
bool ptx_parse_fail(struct ptx_reader *r, const char *what);
bool ptx_parse_accept(struct ptx_reader *r, const char *word); /* skips the word if it is there */
bool ptx_parse_expect(struct ptx_reader *r, const char *word);
bool ptx_parse_number(struct ptx_reader *r, int64_t *out, int *float_bytes);
bool ptx_parse_var(struct ptx_reader *r, struct ptx_var *v); /* stands on ".shared" */
void *ptx_parse_more(void *p, int n, size_t size); /* room for element n of a growing array */

#endif
