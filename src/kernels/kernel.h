/* One rung: what its front matter says (docs/contracts.md 1), and its source. */
#ifndef MM_KERNELS_KERNEL_H
#define MM_KERNELS_KERNEL_H

#include "base/err.h"
#include "base/expr.h"
#include "kernels/mm_args.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kernel_target { KERNEL_CUDA, KERNEL_CPU };
enum kernel_op {
  OP_GEMM,
  OP_GEMV,
  OP_ADD,
  OP_COPY,
  OP_REDUCE,
  OP_TRANSPOSE,
  OP_FMA, /* a roof probe: registers only */
  OP_CHASE,
  OP_OTHER,
  OP_COUNT
};
enum kernel_dtype { DT_F32, DT_BF16, DT_F16, DT_F64, DT_COUNT };

struct kernel_param {
  char name[16];
  double values[16]; /* the allowed ones */
  int nvalues;
  double fallback; /* "default" */
};

/* A tensor map: how the TMA unit sees a matrix, and the part of it that one copy moves. */
struct kernel_map {
  char name[32];
  int of;       /* 0 A, 1 B, 2 C */
  char *box[2]; /* expressions, elements; the dimension that lies together in memory first */
  int swizzle;  /* bytes: 0, 32, 64 or 128 */
  int l2;       /* promotion in L2, bytes: 0, 64, 128 or 256 */
};
enum { KERNEL_MAPS = 8 };

struct kernel_launch {
  char *entry;                     /* C symbol */
  char *grid[3], *block[3], *smem; /* expressions */
  int cluster[3];
  char **args; /* matrix names, M N K lda ldb ldc alpha beta W, names of maps, numbers */
  int nargs;
};

struct kernel {
  char *id;      /* "cuda/tiled", "cpu/ikj@o0" */
  char *variant; /* "o0" or NULL */
  enum kernel_target target;
  enum kernel_op op;
  enum kernel_dtype a, b, c, acc;
  bool a_col, b_col, c_col; /* layout "col"; row otherwise */
  struct kernel_param params[MM_PARAMS];
  int nparams;
  char **flags; /* compiler flags of the variant */
  int nflags;
  char **defines; /* "UNROLL=4" of the variant */
  int ndefines;
  char **requires; /* expressions over M N K and the parameters */
  int nrequires;
  double cc_min, cc_max; /* 7.5; 0 where there is no limit */
  char cc_suffix[4];     /* "a" for sm_90a */
  char **isa;            /* CPU features that must be there */
  int nisa;
  bool parallel; /* a CPU rung that uses threads; others run on one */
  struct kernel_launch *launches;
  int nlaunches;
  struct kernel_map *maps;
  int nmaps;
  char *entry;     /* CPU: the C function, "cpu_ikj" */
  char *workspace; /* expression, bytes */
  char *tile_bm, *tile_bn, *tile_bk;
  int tile_tm, tile_tn, tile_stages;              /* 0 where there is no tile */
  char *requested, *dram_min, *wavefronts, *flop; /* expressions; NULL if absent */
  bool deterministic;
  char *idea[2], *limit[2]; /* by language: 0 en, 1 zh */
  char *source;             /* the whole file */
  char sha256[65];          /* of source */
  char *path;               /* "src/kernels/cuda/tiled.cu", or a learner's file */
  bool builtin;             /* its code is part of this program */
};

/* Reads the front matter of a source file. `path` says the target by its suffix (.cu, .c) and
 * stands in messages. variant NULL or "" gives the file's plain rung. On failure NULL and
 * "path:line: what". Free with kernel_free. */
struct kernel *kernel_parse(const char *source, size_t n, const char *path, const char *variant,
                            struct err *err);
void kernel_free(struct kernel *k);

/* Names of the file's variants (allocated array of allocated strings); the count, 0 if none. */
int kernel_variants(const char *source, size_t n, char ***names);

/* The tensor map of that name, or NULL. */
const struct kernel_map *kernel_map_find(const struct kernel *k, const char *name);

/* The sizes and parameters of one run. */
struct kernel_size {
  int64_t M, N, K;
  double param[MM_PARAMS]; /* in front-matter order */
  double sms, smem_sm;     /* of the device that is meant; 0: KERNEL_CARD_ below */
};

/* Where no device is meant, formulas with sms and smem_sm are of the card whose results are
 * recorded, an H200: multiprocessors, and bytes of shared memory of each. */
enum { KERNEL_CARD_SMS = 132, KERNEL_CARD_SMEM_SM = 228 * 1024 };

/* Sizes with the parameters at their defaults. A size that the op has no use for (N of gemv, K of
 * add, copy, transpose and fma) becomes 1, so that equal runs have equal sizes. */
struct kernel_size kernel_size_default(const struct kernel *k, int64_t M, int64_t N, int64_t K);

/* Sets a parameter by name; false with the allowed values in err. */
bool kernel_set_param(const struct kernel *k, struct kernel_size *size, const char *name,
                      double value, struct err *err);

/* The text a CUDA compiler gets: the parameters and the variant's defines as #define lines, a #line
 * that names the file, then the source. Not -D on the command line: NVRTC's own header comes first
 * and uses names such as T. The caller frees. */
char *kernel_code(const struct kernel *k, const struct kernel_size *size);

/* An expr_lookup over M N K and the parameters; ctx is a struct kernel_scope. */
struct kernel_scope {
  const struct kernel *k;
  const struct kernel_size *size;
  double sms, smem_sm; /* of the device; NAN: those of size */
};
bool kernel_lookup(void *scope, const char *name, double *value);

/* Checks that sizes are >= 1 and at most 2^31 - 1 each, and every `requires`. False with a sentence
 * that gives the multiple or the limit ("cuda/tiled needs M*K <= 2147483647 because ..."). */
bool kernel_accepts(const struct kernel *k, const struct kernel_size *size, struct err *err);

/* The geometry of launch i, evaluated; false with a sentence if a grid or block is out of CUDA's
 * limits (grid.x 2^31-1, y z 65535; 1024 threads). */
struct kernel_geometry {
  int64_t grid[3], block[3], smem;
};
bool kernel_geometry(const struct kernel *k, int launch, const struct kernel_size *size,
                     struct kernel_geometry *out, struct err *err);

/* FLOP, bytes requested and compulsory bytes by the front matter's formulas; NAN where none. */
double kernel_flop(const struct kernel *k, const struct kernel_size *size);
double kernel_requested(const struct kernel *k, const struct kernel_size *size);
double kernel_dram_min(const struct kernel *k, const struct kernel_size *size);

/* Elements of A, B and C for the op (gemm MK KN MN; gemv MK K M; add copy MN each, B 0 for copy).
 */
void kernel_elements(const struct kernel *k, const struct kernel_size *size, double *a, double *b,
                     double *c);
size_t kernel_dtype_size(enum kernel_dtype t);
const char *kernel_op_name(enum kernel_op op);
const char *kernel_dtype_name(enum kernel_dtype t);

/* The source as a lesson shows it: front matter and `//@ name` marks removed. *marks (may be NULL)
 * gets an array of {name, line from 1 in the shown text}, *nmarks its count. The caller frees both
 * and the names. */
struct kernel_mark {
  char *name;
  int line;
};
char *kernel_shown(const struct kernel *k, struct kernel_mark **marks, int *nmarks);

#endif
