/* What an x-ray found: the result object of docs/contracts.md 5, "xray". */
#ifndef MM_BENCH_XRAY_RESULT_H
#define MM_BENCH_XRAY_RESULT_H

#include "bench/result.h"
#include "sim/xray/xray.h"

enum xray_certificate {
  XRAY_NOT_CERTIFIED, /* no machine code of this compile was looked at */
  XRAY_EXACT,         /* the machine's instruction mix is that of the machine code */
  XRAY_PTX_LEVEL      /* it is not: see xray_result_lds_differ */
};

/* One source line of the kernel, or of what it calls. */
struct xray_result_line {
  char *file; /* "mine.cu", "" where the PTX has none */
  int line;
  char *text;   /* as compiled (host code blank), "" if the source is not known */
  bool counted; /* false: no instruction that is counted belongs to it */
  struct xray_counts counts;
};

/* A piece of the file that the compiler was not given. */
struct xray_result_left {
  int line;
  char *name, *why; /* "main", "host function"; name "" where it has none */
};

struct xray_result {
  struct result
      head;        /* kernel, params, device "xray", sizes, flop, bytes, verify, warnings, seed */
  bool verified;   /* head.verify was made; else the operation is not known */
  char entry[128]; /* "tiled<32>" */
  char op[16], dtype[8];           /* "gemm", "f32" of A */
  char args[400];                  /* "A,B,C,M,N,K": what each parameter was given */
  bool args_guessed;               /* from the names of the parameters */
  char arch[16];                   /* "compute_90"; what the PTX is for */
  char compiler[96];               /* "NVRTC 13.0", "shipped PTX", "a PTX file" */
  int64_t grid[3], block[3], smem; /* smem: dynamic, bytes */
  bool finished, sampled;
  int64_t blocks, blocks_executed;
  struct xray_counts counts;
  double flop_executed;                     /* 2 ffma + fadd + fmul + other */
  int registers, shared_bytes, spill_bytes; /* of a thread; of a block, static; -1 not known */
  double occupancy;                         /* 0..1 of the warps an SM holds; NAN not known */
  int blocks_per_sm;                        /* -1 not known */
  char occupancy_limit[24]; /* "registers" "shared memory" "threads" "blocks", "" not known */
  enum xray_certificate certificate;
  struct xray_mix mix,
      sass; /* the machine's and the machine code's; sass only with a certificate */
  struct xray_problem *problems;
  int nproblems;
  struct xray_result_line *lines; /* sorted by file and line */
  int nlines;
  struct xray_result_left *left;
  int nleft;
  char *print;               /* what printf of the kernel wrote, at most 64 KiB; NULL if nothing */
  double compile_ms, run_ms; /* of this machine, not of a GPU; NAN where nothing was compiled */
};

void xray_result_init(struct xray_result *r); /* everything unknown */
void xray_result_done(struct xray_result *r);
void xray_result_copy(struct xray_result *to, const struct xray_result *from); /* to: overwritten */

cJSON *xray_result_to_json(const struct xray_result *r); /* the caller deletes */
/* False with a sentence; r is then unknown throughout and holds nothing. */
bool xray_result_from_json(const cJSON *obj, struct xray_result *r, struct err *err);

/* "exact", "ptx_level"; "" if not certified. */
const char *xray_result_certificate_name(enum xray_certificate c);

/* True where machine code was looked at and its shared loads are others than the machine's. */
bool xray_result_lds_differ(const struct xray_result *r);

/* The counters of struct xray_counts by their names in JSON: i from 0; NULL behind the last one. */
const char *xray_result_count_name(int i);
double xray_result_count(const struct xray_counts *c, int i);

#endif
