/* Grid, block and dynamic shared memory of a launch: as given, by the front matter, or from the
 * file's own <<<grid, block>>>. */
#ifndef MM_BENCH_XRAY_SHAPE_H
#define MM_BENCH_XRAY_SHAPE_H

#include "bench/xray_build.h"

struct xray_shape {
  int64_t grid[3], block[3], smem;
  int from_line; /* of the launch in the file that they were taken from; 0: none */
};

/* Settles the shape. False with a fault that says what to give. CUDA's limits are not looked at. */
bool xray_shape_settle(struct xray_shape *s, const struct xray_case *c, const struct xray_build *b,
                       struct device_fault *fault);

#endif
