/* Holds the C of an x-ray against fp64. */
#ifndef MM_BENCH_XRAY_VERIFY_H
#define MM_BENCH_XRAY_VERIFY_H

#include "bench/result.h"
#include "bench/xray_data.h"

/* Compares C with alpha A B + beta C (or what the operation is) element by element: all of them
 * where that is quick, else so many, spread evenly. `only_written`: a sampled launch; elements that
 * are still as they were before it are passed over. out->checked says how many were compared; 0:
 * none, and out->ok is then false. Repeating matrices (xray_matrix.h) are read from memory, others
 * made again from the seed. */
void xray_verify(const struct xray_case *c, const struct xray_data *d, uint64_t seed,
                 bool only_written, struct result_verify *out);

#endif
