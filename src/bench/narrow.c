#include "bench/narrow.h"

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

uint16_t narrow_from(float x, enum kernel_dtype t) {
  return t == DT_BF16 ? bf16_from(x) : f16_from(x);
}

void narrow_store(void *to, enum kernel_dtype t, const float *from, int64_t n) {
  unsigned char *at = to;
  if (t == DT_F32) {
    memcpy(to, from, (size_t)n * sizeof *from);
  } else if (t == DT_F64) {
    for (int64_t i = 0; i < n; i++)
      memcpy(at + 8 * i, &(double){(double)from[i]}, 8);
  } else if (t == DT_BF16) {
    for (int64_t i = 0; i < n; i++)
      memcpy(at + 2 * i, &(uint16_t){bf16_from(from[i])}, 2);
  } else {
    for (int64_t i = 0; i < n; i++)
      memcpy(at + 2 * i, &(uint16_t){f16_from(from[i])}, 2);
  }
}

static float f16_value(uint16_t h) {
  int e = h >> 10 & 31, m = h & 1023;
  float v = (float)m * 0x1p-24f;
  if (e == 31)
    v = m ? NAN : INFINITY;
  else if (e) {
    uint32_t bits = (uint32_t)(e + 127 - 15) << 23 | (uint32_t)m << 13;
    memcpy(&v, &bits, sizeof v);
  }
  return h & 0x8000 ? -v : v;
}

static float bf16_value(uint16_t h) {
  uint32_t bits = (uint32_t)h << 16;
  float v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

double narrow_load(const void *from, enum kernel_dtype t, int64_t i) {
  double wide;
  float v;
  const unsigned char *at = (const unsigned char *)from + (size_t)i * kernel_dtype_size(t);
  if (t == DT_F64) {
    memcpy(&wide, at, sizeof wide);
    return wide;
  }
  narrow_widen(at, t, 1, &v);
  return (double)v;
}

void narrow_widen(const void *from, enum kernel_dtype t, int64_t n, float *out) {
  const unsigned char *at = from;
  uint16_t h;
  if (t == DT_F32)
    memcpy(out, from, (size_t)n * sizeof *out);
  for (int64_t i = 0; t == DT_F64 && i < n; i++) {
    double wide;
    memcpy(&wide, at + 8 * i, sizeof wide);
    out[i] = (float)wide;
  }
  for (int64_t i = 0; (t == DT_F16 || t == DT_BF16) && i < n; i++) {
    memcpy(&h, at + 2 * i, sizeof h);
    out[i] = t == DT_F16 ? f16_value(h) : bf16_value(h);
  }
}
