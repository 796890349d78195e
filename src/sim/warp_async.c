#include "sim/warp_async.h"

enum { LANES = 32, LINE = 128 };

/* The last of the lanes that write a place is the only one that reads. */
static bool overwritten(const int64_t from[32], const int64_t to[32], int lane) {
  for (int l = lane + 1; l < LANES; l++)
    if (from[l] >= 0 && to[l] == to[lane])
      return true;
  return false;
}

/* Different pairs of lines of 128 bytes. */
static int line_pairs(const int64_t from[32], const int64_t to[32]) {
  int n = 0;
  for (int l = 0; l < LANES; l++) {
    if (from[l] < 0 || overwritten(from, to, l))
      continue;
    bool known = false;
    for (int k = 0; k < l; k++)
      known |= from[k] >= 0 && !overwritten(from, to, k) && from[k] / LINE == from[l] / LINE &&
               to[k] / LINE == to[l] / LINE;
    n += !known;
  }
  return n;
}

/* The banks of an access as bits. */
static uint32_t banks(int64_t address, int width) {
  uint32_t words = (1u << width / 4) - 1;
  unsigned first = (unsigned)(address / 4) % LANES;
  return first ? words << first | words >> (LANES - first) : words;
}

/* In passes by the width; each wavefront takes the lanes, in order, whose banks on both sides are
 * free. Lanes with the same word are not served together. */
int warp_async_wavefronts(const int64_t from[32], const int64_t to[32], int width, bool bypass) {
  if (bypass)
    return line_pairs(from, to);
  int n = 0, of_pass = LANES / (width / 4);
  for (int pass = 0; pass < LANES; pass += of_pass) {
    uint32_t left = 0;
    for (int l = pass; l < pass + of_pass; l++)
      left |= (uint32_t)(from[l] >= 0) << l;
    for (; left; n++) {
      uint32_t read = 0, written = 0;
      for (uint32_t rest = left; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint32_t r = banks(from[l], width), w = banks(to[l], width);
        if (read & r || written & w)
          continue;
        read |= r;
        written |= w;
        left &= ~(1u << l);
      }
    }
  }
  return n;
}
