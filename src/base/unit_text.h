/* The words for units: prefixes, spellings, quotients. units.h is what the rest of mmtutor uses. */
#ifndef MM_BASE_UNIT_TEXT_H
#define MM_BASE_UNIT_TEXT_H

#include "base/units.h"
#include <stdbool.h>

struct unit_text {
  enum unit_class class;
  double factor; /* to the base unit */
  bool prefixed; /* an SI or IEC prefix is written */
  bool binary;   /* it is an IEC one */
};

/* Reads a unit ("", "GFLOP/s", "bytes per second", "KiB", "%", "x" for a ratio), spaces ignored.
 * False, and *out undefined, if it is none. */
bool unit_text_read(const char *text, struct unit_text *out);

/* Reads one unit without a slash ("GB"), or a prefix alone ("G": class UNIT_NONE). The same way. */
bool unit_text_simple(const char *s, struct unit_text *out);

#endif
