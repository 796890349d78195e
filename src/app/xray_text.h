/* Source lines of a PTX file, which has only their numbers. */
#ifndef MM_APP_XRAY_TEXT_H
#define MM_APP_XRAY_TEXT_H

#include "bench/xray_result.h"

/* Fills in the texts of lines that have none, from the file that they name, if it lies beside
 * `path` and is not newer: a newer one may have other lines. Cannot fail. */
void xray_text_fill(struct xray_result *r, const char *path);

#endif
