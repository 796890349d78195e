/* The source with the counts of each line beside it. */
#ifndef MM_APP_XRAY_SOURCE_H
#define MM_APP_XRAY_SOURCE_H

#include "app/xray_page.h"
#include "bench/xray_result.h"

/* The table, by file, with a legend; one sentence where the PTX has no source lines. */
void xray_source_put(struct xray_page *p, const struct xray_result *r);

/* The text of one source line, without tabs and control characters; NULL if it is not known. The
 * caller frees. `file` "" means the only one. */
char *xray_source_line(const struct xray_result *r, const char *file, int line);

/* "x   12  sum += s[i];" of a problem's line; nothing if the text is not known. */
void xray_source_quote(struct xray_page *p, const struct xray_result *r, const char *file, int line,
                       const char *mark, enum xray_ink ink);

#endif
