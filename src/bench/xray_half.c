#include "bench/xray_half.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static uint16_t bf16_from(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  if (isnan(x))
    return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

static uint16_t f16_from(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
  if (isnan(x))
    return (uint16_t)(sign | 0x7E00 | (bits >> 13 & 0x1FF));
  float y = fabsf(x);
  if (y >= 65520.0f)
    return sign | 0x7C00;
  if (y < 0x1p-14f) /* subnormal: units of 2^-24 */
    return (uint16_t)(sign | (uint16_t)rintf(y * 0x1p24f));
  memcpy(&bits, &y, 4);
  bits += 0xFFF + (bits >> 13 & 1);
  return (uint16_t)(sign | (uint16_t)((bits >> 13) - ((127 - 15) << 10)));
}

uint16_t xray_half_from(float x, enum kernel_dtype t) {
  return t == DT_BF16 ? bf16_from(x) : f16_from(x);
}

void xray_half_store(void *to, enum kernel_dtype t, const float *from, int64_t n) {
  double *wide = to;
  uint16_t *narrow = to;
  if (t == DT_F32)
    memcpy(to, from, (size_t)n * 4);
  for (int64_t i = 0; t == DT_F64 && i < n; i++)
    wide[i] = (double)from[i];
  for (int64_t i = 0; (t == DT_F16 || t == DT_BF16) && i < n; i++)
    narrow[i] = xray_half_from(from[i], t);
}

static double f16_value(uint16_t h) {
  int e = h >> 10 & 31, m = h & 1023;
  double v = e == 31 ? (m ? NAN : INFINITY) : e == 0 ? ldexp(m, -24) : ldexp(m + 1024, e - 25);
  return h & 0x8000 ? -v : v;
}

double xray_half_load(const void *from, enum kernel_dtype t, int64_t i) {
  if (t == DT_F32)
    return (double)((const float *)from)[i];
  if (t == DT_F64)
    return ((const double *)from)[i];
  uint16_t h = ((const uint16_t *)from)[i];
  if (t == DT_F16)
    return f16_value(h);
  uint32_t bits = (uint32_t)h << 16;
  float f;
  memcpy(&f, &bits, 4);
  return (double)f;
}
