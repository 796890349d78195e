#include "bench/xray_occupancy.h"

#include <stdbool.h>
#include <stddef.h>

/* By compute capability: CUDA C++ Programming Guide, technical specifications. */
static const struct {
  int arch, shared_kib, threads, blocks;
  int reserved; /* bytes of shared memory that the system takes of each block */
} targets[] = {
    {75, 64, 1024, 16, 0},      {80, 164, 2048, 32, 1024},  {86, 100, 1536, 16, 1024},
    {87, 164, 1536, 16, 1024},  {89, 100, 1536, 24, 1024},  {90, 228, 2048, 32, 1024},
    {100, 228, 2048, 32, 1024}, {120, 100, 1536, 24, 1024},
};
enum {
  REGISTERS = 65536, /* of an SM, a quarter to each of its parts */
  PARTS = 4,
  REGISTER_UNIT = 256, /* registers are given out to a warp in such pieces */
  SHARED_UNIT = 128,
  WARP = 32
};

static int up(int n, int unit) { return (n + unit - 1) / unit * unit; }

bool xray_occupancy_of(int arch, int threads, int registers, double shared,
                       struct xray_occupancy *out) {
  size_t t = 0, n = sizeof targets / sizeof *targets;
  while (t < n && targets[t].arch != arch)
    t++;
  if (t == n || threads < 1 || registers < 0)
    return false;
  int warps = (threads + WARP - 1) / WARP, most = targets[t].threads / WARP;
  double by_shared = (double)targets[t].blocks;
  double taken = (double)up((int)shared, SHARED_UNIT) + targets[t].reserved;
  if (taken > 0)
    by_shared = targets[t].shared_kib * 1024.0 / taken;
  int of_part = registers > 0 ? REGISTERS / PARTS / up(registers * WARP, REGISTER_UNIT) : most;
  const struct {
    const char *name;
    int blocks;
  } limits[] = {{"threads", most / warps},
                {"registers", of_part * PARTS / warps},
                {"shared memory", (int)by_shared},
                {"blocks", targets[t].blocks}};
  *out = (struct xray_occupancy){limits[0].blocks, 0, limits[0].name};
  for (size_t i = 1; i < sizeof limits / sizeof *limits; i++)
    if (limits[i].blocks < out->blocks) {
      out->blocks = limits[i].blocks;
      out->limit = limits[i].name;
    }
  out->warps = (double)(out->blocks * warps) / most;
  return true;
}
