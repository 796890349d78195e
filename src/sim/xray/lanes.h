/* What the files that compute on 32 lanes share. The registers of a warp hold bits: the same bytes
 * are read as float here and as integer there, so the types may alias. */
#ifndef MM_SIM_XRAY_LANES_H
#define MM_SIM_XRAY_LANES_H

#include <stdint.h>

typedef uint32_t __attribute__((may_alias)) lane_u32;
typedef int32_t __attribute__((may_alias)) lane_s32;
typedef uint64_t __attribute__((may_alias)) lane_u64;
typedef int64_t __attribute__((may_alias)) lane_s64;
typedef float __attribute__((may_alias)) lane_f32;
typedef double __attribute__((may_alias)) lane_f64;

/* The destination may be a source too, lane by lane: no lane reads another's. */
#ifdef __clang__
#define LANES_FREE _Pragma("clang loop vectorize(assume_safety)")
#else
#define LANES_FREE _Pragma("GCC ivdep")
#endif

/* The same function twice, the second with AVX2 and FMA, chosen when the program starts. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) &&                            \
    !defined(LANES_PLAIN)
#define LANES_HOT __attribute__((target_clones("default", "arch=x86-64-v3")))
#else
#define LANES_HOT
#endif

#endif
