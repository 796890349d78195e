/* Floating-point formats of 8, 16 and 19 bits: their values and their rounding. */
#ifndef MM_SIM_XRAY_EXEC_FLOAT_H
#define MM_SIM_XRAY_EXEC_FLOAT_H

#include <stdbool.h>
#include <stdint.h>

/* FLOAT_TF32: the upper 19 bits of a float, by themselves. FLOAT_F32: no small format, its code is
 * the float's bits. */
enum exec_float { FLOAT_F16, FLOAT_BF16, FLOAT_TF32, FLOAT_E4M3, FLOAT_E5M2, FLOAT_F32 };

/* The value of a code; any NaN becomes a quiet one. Bits above the format are ignored. */
double exec_float_value(enum exec_float format, uint32_t code);

/* The code of v after one rounding: mode 'n' nearest even, 'a' nearest with ties away from zero,
 * 'z' to zero, 'm' down, 'p' up. finite: what is too large becomes the largest number, not
 * infinity. NaN becomes the canonical one of PTX. FLOAT_F32 is always rounded to the nearest. */
uint32_t exec_float_bits(enum exec_float format, double v, char mode, bool finite);

/* x rounded to 53 bits so that rounding it once more to 50 or fewer is right: "to odd". */
double exec_float_odd_sum(double x, double y);
double exec_float_odd_integer(int64_t v, bool is_signed);

#endif
