/* The PTX machine: runs a real CUDA kernel, as PTX, without a GPU, and counts what the hardware
 * would count (docs/counting.md). One warp instruction at a time, 32 lanes, with reconvergence at
 * the immediate post-dominator; every access is checked. This is the face of it; the parts are the
 * other files here. */
#ifndef MM_SIM_XRAY_XRAY_H
#define MM_SIM_XRAY_XRAY_H

#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct xray_module xray_module;

/* Reads PTX text of n bytes. An instruction that is not known stops only the kernel it is in, when
 * that kernel is run. NULL with "PTX line N: what" in err. Free with xray_free. */
xray_module *xray_load(const char *ptx, size_t n, struct err *err);
void xray_free(xray_module *m);

/* Names of the kernels (.entry), in the order of the text; NULL behind the last one. */
const char *xray_entry(const xray_module *m, int i);

/* Parameter i of a kernel as the ABI has it; false where there is no such kernel, or behind the
 * last parameter. */
struct xray_param {
  int64_t bytes;
  bool is_float; /* .f32, .f64; not known (false) of .b16 and structs */
};
bool xray_param(const xray_module *m, const char *entry, int i, struct xray_param *out);

/* Arithmetic of a kernel that rounds more coarsely than f32, by its instructions: sums kept in f16
 * or bf16, products of tf32. All false where there is no such kernel. */
struct xray_coarse {
  bool f16_sums, bf16_sums, tf32;
};
struct xray_coarse xray_coarse_of(const xray_module *m, const char *entry);

/* Instructions of a kernel as they stand in its code, each once; those of 4, 8 and 16 bytes a lane
 * apart (shorter ones are with 4). What a certificate compares: the machine's, after joining and
 * unrolling, with the cubin's. */
enum { XRAY_4, XRAY_8, XRAY_16, XRAY_WIDTHS };
struct xray_mix {
  int lds[XRAY_WIDTHS], sts[XRAY_WIDTHS], ldg[XRAY_WIDTHS], stg[XRAY_WIDTHS];
  int ffma;
};

/* Memory the kernel may touch: host arrays under a name. Addresses outside of all of them are
 * problems, and the host is never touched. One that bears the name of a __constant__ or __device__
 * variable gives it its values, and takes those of a __device__ variable at the end. */
struct xray_array {
  const char *name; /* "A" */
  void *data;       /* NULL: zero bytes */
  size_t bytes;
  bool written; /* its bytes count as initialised before the launch */
};

/* One kernel parameter, in order: the bytes as the ABI has them, or the address of an array. */
struct xray_arg {
  int array; /* index into the arrays, -1: a value */
  unsigned char value[128];
  int bytes; /* of value */
  int nrefs; /* pointers of a structure: the array that the 8 bytes at `at` of value point to */
  struct xray_ref {
    int at, array;
  } refs[16];
};

/* One memory instruction of one warp, or a barrier, for a trace. */
struct xray_event {
  const char *op; /* "ld.shared.f32", "bar.sync" */
  int64_t block[3];
  int warp;
  const char *file; /* of the source, "" if the PTX has none */
  int line;
  uint32_t mask;          /* active lanes */
  const int64_t *address; /* of 32 lanes, valid in mask: offset in `array`; NULL at a barrier */
  int bytes;              /* of a lane */
  const char *array;      /* "A", "shared", "local"; "" at a barrier */
};

enum { XRAY_CHECK_RACES = 1, XRAY_CHECK_INIT = 2, XRAY_CHECK_ALL = 3 }; /* bounds always */

struct xray_launch {
  const char *entry; /* NULL: the only one */
  int64_t grid[3], block[3];
  int64_t shared_bytes; /* dynamic */
  const struct xray_array *arrays;
  int narrays;
  const struct xray_arg *args;
  int nargs;
  int checks;           /* XRAY_CHECK_ bits */
  int64_t budget;       /* warp instructions in all before an endless loop is called; 0: 2^33 */
  int64_t block_budget; /* the same for each block by itself; 0: none */
  const volatile bool *stop; /* set by another thread: the run ends soon; NULL if none */
  bool (*stopped)(void);     /* the same as a question, asked now and then; NULL if none */
  int threads;               /* of the host that share the blocks; 0 and 1: this one alone */
  bool sample;               /* some blocks of each class, the counts scaled up to all */
  int64_t checked_blocks;    /* races and initialisation in so many blocks of each class; 0: all */
  const struct xray_mix *sass; /* of the cubin of this compile: larger loops are unrolled as its
                                  FFMA count says; NULL: loops stand as in the PTX */
  /* NULL, or takes what printf of the kernel writes, and the events of block trace_block. Both are
   * called by the thread that called xray_run. */
  void (*print)(void *ctx, const char *text, size_t n);
  void (*trace)(void *ctx, const struct xray_event *e);
  int64_t trace_block[3];
  void *ctx;
};

/* What a warp memory instruction of each kind cost; sums over the launch. Neighbouring shared loads
 * are joined as ptxas joins them, small loops unrolled; a larger loop is counted as it stands in
 * the PTX: its lds_ figures are of PTX level. Atomics and local memory are in none of these. */
struct xray_counts {
  double gld_requests, gld_sectors, gld_wavefronts;
  double gst_requests, gst_sectors, gst_wavefronts;
  double lds_requests, lds_wavefronts, lds_conflicts;
  double sts_requests, sts_wavefronts, sts_conflicts;
  double ffma, fadd, fmul; /* threads', f32 */
  double other_flop;       /* threads' operations of f64, f16 and bf16, and of tensor cores */
  double warp_instructions, barriers, divergent_branches;
};

enum xray_kind {
  XRAY_OOB_GLOBAL,
  XRAY_OOB_SHARED,
  XRAY_MISALIGNED,
  XRAY_NULL,
  XRAY_RACE_SHARED,
  XRAY_RACE_WARP,
  XRAY_RACE_GLOBAL,
  XRAY_UNINIT_SHARED,
  XRAY_UNINIT_GLOBAL,
  XRAY_BARRIER_DIVERGENCE,
  XRAY_DEADLOCK,
  XRAY_BUDGET,
  XRAY_TRAP,
  XRAY_SHFL_MASK,
  XRAY_CP_ASYNC_UNWAITED,
  XRAY_UNSUPPORTED,
  XRAY_KINDS
};

struct xray_problem {
  enum xray_kind kind;
  bool error; /* else a warning */
  char file[128];
  int line; /* of the source (.loc), 0 if the PTX has none */
  int64_t block[3], thread[3];
  char detail[400]; /* one sentence with array, offset, other side of a race ... */
  int64_t times;    /* how often this one was met */
};

struct xray_line { /* counts of one source line */
  char file[128];
  int line;
  struct xray_counts counts;
};

struct xray_report {
  struct xray_counts counts;
  struct xray_problem *problems; /* each kind and line once */
  int nproblems;
  struct xray_line *lines; /* sorted by file and line */
  int nlines;
  bool finished; /* every thread of every block that was run ended by itself */
  bool sampled;  /* counts are scaled up from blocks_executed of blocks */
  int64_t blocks, blocks_executed;
  struct xray_mix mix; /* of the machine */
  bool ptx_level;      /* a loop with shared loads may be unrolled otherwise by ptxas: lds_ figures
                          are the PTX's */
};

/* Runs the launch. false with a sentence only where nothing could be run (no such entry, wrong
 * arguments, a launch out of CUDA's limits); problems of the kernel are in the report. Arrays hold
 * what the kernel wrote. Free the report with xray_report_done. */
bool xray_run(const xray_module *m, const struct xray_launch *launch, struct xray_report *out,
              struct err *err);
void xray_report_done(struct xray_report *r);

/* The mix of a kernel's code, without a launch; *exact as xray_report.ptx_level would say no. False
 * with a sentence if there is no such entry. */
bool xray_mix_of(const xray_module *m, const char *entry, const struct xray_mix *sass,
                 struct xray_mix *out, bool *exact, struct err *err);

/* "oob_global" ... as the JSON has it. */
const char *xray_kind_name(enum xray_kind k);

#endif
