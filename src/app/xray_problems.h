/* What an x-ray found wrong, in sentences a learner can act on. */
#ifndef MM_APP_XRAY_PROBLEMS_H
#define MM_APP_XRAY_PROBLEMS_H

#include "app/xray_page.h"
#include "bench/xray_result.h"

/* Each problem: what it is, where, the line, the sentence, the other side of a race with its line,
 * and what to do. One sentence where there is none. */
void xray_problems_put(struct xray_page *p, const struct xray_result *r);

/* How many of them are errors; the others are warnings. */
int xray_problems_errors(const struct xray_result *r);

#endif
