#include "sim/warp.h"

#include <string.h>

enum { LANES = 32, BANKS = 32, WORD = 4, SECTOR = 32, LINE = 128, LINES_A_WAVEFRONT = 4 };

/* Adds v to a set kept in an array; returns the new size. */
static int add_distinct(int64_t *set, int n, int64_t v) {
  for (int i = 0; i < n; i++)
    if (set[i] == v)
      return n;
  set[n] = v;
  return n + 1;
}

int warp_sectors(const int64_t address[32], int width) {
  int64_t seen[LANES];
  int n = 0;
  for (int l = 0; l < LANES; l++)
    if (address[l] >= 0)
      for (int64_t b = address[l] / SECTOR; b <= (address[l] + width - 1) / SECTOR; b++)
        n = add_distinct(seen, n, b);
  return n;
}

/* The largest number of distinct words that lanes [from, from + count) want from one bank. */
static int bank_degree(const int64_t address[32], int width, int from, int count) {
  int64_t words[BANKS][LANES];
  int n[BANKS] = {0}, worst = 0;
  for (int l = from; l < from + count; l++) {
    if (address[l] < 0)
      continue;
    for (int64_t w = address[l] / WORD; w < (address[l] + width) / WORD; w++) {
      int bank = (int)(w % BANKS);
      n[bank] = add_distinct(words[bank], n[bank], w);
      if (n[bank] > worst)
        worst = n[bank];
    }
  }
  return worst;
}

/* True if every active lane has the address of lane ^ bit (that lane inactive counts as equal). */
static bool lanes_pair(const int64_t address[32], int bit) {
  for (int l = 0; l < LANES; l++)
    if (address[l] >= 0 && address[l ^ bit] >= 0 && address[l] != address[l ^ bit])
      return false;
  return true;
}

static bool any_active(const int64_t address[32]) {
  for (int l = 0; l < LANES; l++)
    if (address[l] >= 0)
      return true;
  return false;
}

/* Sum over the passes that a wide access is cut into; one without an active lane costs nothing. */
static int passes_sum(const int64_t address[32], int width, int passes) {
  int sum = 0, lanes = LANES / passes;
  for (int p = 0; p < passes; p++)
    sum += bank_degree(address, width, p * lanes, lanes);
  return sum;
}

int warp_shared_wavefronts(const int64_t address[32], int width, bool store) {
  if (!any_active(address))
    return 0;
  int passes = width / WORD;
  if (passes > 1 && !store && (lanes_pair(address, 1) || lanes_pair(address, 2)))
    passes /= 2;
  return passes_sum(address, width, passes);
}

/* Distinct 128-byte lines touched: each four of them cost a load one pass through the tags. */
static int lines_touched(const int64_t address[32], int width) {
  int64_t seen[LANES * 2];
  int n = 0;
  for (int l = 0; l < LANES; l++)
    if (address[l] >= 0)
      for (int64_t b = address[l] / LINE; b <= (address[l] + width - 1) / LINE; b++)
        n = add_distinct(seen, n, b);
  return n;
}

int warp_global_wavefronts(const int64_t address[32], int width, bool store) {
  if (!any_active(address))
    return 0;
  int data = passes_sum(address, width, width / WORD);
  if (store)
    return data;
  int tags = (lines_touched(address, width) + LINES_A_WAVEFRONT - 1) / LINES_A_WAVEFRONT;
  return data > tags ? data : tags;
}
