/* Quantities as people write them: numbers with SI and IEC prefixes and this subject's units. */
#ifndef MM_BASE_UNITS_H
#define MM_BASE_UNITS_H

#include "base/err.h"
#include <stdbool.h>

enum unit_class {
  UNIT_NONE, /* a plain number or a ratio */
  UNIT_FLOP,
  UNIT_FLOPS, /* FLOP/s */
  UNIT_BYTE,
  UNIT_BYTES,     /* B/s */
  UNIT_INTENSITY, /* FLOP/B */
  UNIT_SECOND,
  UNIT_HERTZ,
  UNIT_PERCENT,
  UNIT_CLASSES
};

struct units_value {
  double value; /* in the base unit: FLOP, FLOP/s, B, B/s, FLOP/B, s, Hz; percent as written */
  enum unit_class unit; /* UNIT_NONE if none was written */
  bool prefixed;        /* an SI or IEC prefix was written */
};

/* The class that a unit text names ("", "FLOP", "FLOP/s", "B", "B/s", "FLOP/B", "s", "Hz", "%",
 * with any prefix, any of the usual spellings: FLOPS, flops/byte, GB/s, TFLOPS). False if not. */
bool units_class(const char *unit, enum unit_class *out);

/* The canonical unit text of a class: "FLOP/s". */
const char *units_name(enum unit_class c);

/* Reads what a learner types: `1.37e11`, `137G`, `137 GFLOP`, `0.137 TFLOP`, `1/6`, `2*4096^3`,
 * `0.65%`, `1.5e3 GB/s`, `20 us`, `4 KiB`; full-width digits and signs, thousands separators (1,024
 * and 1 024) and × are taken; a prefix belongs to the number before it (19.5T/1.555T), a unit to
 * the whole; '.' is the decimal point in any locale; `1,5` is refused with a sentence that says so,
 * as are nan, inf, hex and an empty text. FLOP/s may be written FLOPS (upper-case S); "FLOPs" is an
 * amount. False with a sentence in err. */
bool units_parse(const char *text, struct units_value *out, struct err *err);

/* "137 GFLOP", "8.95 TFLOP/s", "4.25 TB/s", "1.00 FLOP/B", "15.4 ms", "33 %", "0.25": digits
 * significant digits (3 if 0), SI prefix chosen (none for FLOP/B, % and plain numbers below 1e6).
 * Counts under 1000 print without a fraction if they are whole. A unit with a prefix ("GB/s",
 * "KiB") says in what value is given; an unknown one ("blocks") is put behind the plain number. NAN
 * gives "-". The caller frees. */
char *units_format(double value, const char *unit, int digits);

/* The same with exact integers kept: 2147483648 -> "2,147,483,648". The caller frees. */
char *units_exact(double value);

#endif
