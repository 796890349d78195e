/* Reads PTX text into the plain data of ptx.h. */
#ifndef MM_SIM_XRAY_PTX_PARSE_H
#define MM_SIM_XRAY_PTX_PARSE_H

#include "base/err.h"
#include "sim/xray/ptx.h"

/* Reads n bytes; unknown instructions are kept as they are. NULL with "PTX line N: what" in err.
 * Free with ptx_parse_free. */
struct ptx_module *ptx_parse(const char *text, size_t n, struct err *err);
void ptx_parse_free(struct ptx_module *m);

/* ".f32" or "f32" -> type; cls PTX_NONE if it is none. */
struct ptx_type ptx_parse_type(struct slice s);

#endif
