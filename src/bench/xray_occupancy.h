/* How many blocks of a kernel an SM holds, by what each of them takes: a calculation, for targets
 * whose limits are published. */
#ifndef MM_BENCH_XRAY_OCCUPANCY_H
#define MM_BENCH_XRAY_OCCUPANCY_H

struct xray_occupancy {
  int blocks;        /* an SM holds; 0: not even one */
  double warps;      /* share of the warps that an SM holds, 0..1 */
  const char *limit; /* "registers" "shared memory" "threads" "blocks": what runs out first */
};

/* arch: 90 for compute capability 9.0. registers a thread, shared bytes a block (static and
 * dynamic). Returns false where the target's limits are not known. */
_Bool xray_occupancy_of(int arch, int threads, int registers, double shared,
                        struct xray_occupancy *out);

#endif
