/* How near an answer must be: "2%", "abs2", "exact". */
#ifndef MM_LESSON_TOLERANCE_H
#define MM_LESSON_TOLERANCE_H

#include <stdbool.h>

struct tolerance {
  bool relative, exact; /* neither: absolute */
  double size;          /* 0.02 for "2%", 2 for "abs2", in the item's unit */
};

/* False if the text is none of the three forms. */
bool tolerance_parse(const char *text, struct tolerance *out);

/* The distance from key that is still right; scale turns the item's unit into the base unit. Never
 * 0, so that rounding in the last bit does not matter. */
double tolerance_reach(const struct tolerance *t, double key, double scale);

#endif
