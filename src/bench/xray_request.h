/* What an x-ray is asked for (docs/contracts.md 4, "xray"): one struct for the command, the live
 * panel, the client and the worker, and its JSON in both directions. */
#ifndef MM_BENCH_XRAY_REQUEST_H
#define MM_BENCH_XRAY_REQUEST_H

#include "base/json.h"
#include <stdint.h>

enum { XRAY_REQUEST_DEFINES = 32 };

/* Plain data; { 0 } asks for nothing yet. Strings belong to whoever made it, or, when it was read
 * from JSON, to the document. NULL and 0 mean "not given": the worker takes the front matter of the
 * file, then what the file itself says, then its defaults, and has a sentence where nothing is
 * left. */
struct xray_request {
  const char *kernel;       /* a rung's id, or a file's name for messages: "mine.cu", "mine.ptx" */
  const char *source;       /* text of that file; NULL: the worker's own rung */
  const char *dir;          /* where its quoted headers lie; not sent to another machine's worker */
  int64_t M, N, K;          /* 256 each */
  const char *entry;        /* "tiled<32>" */
  const char *grid, *block; /* "16,16,1", expressions over M N K and the defines: "ceil(N/32)" */
  const char *smem;         /* dynamic shared memory, bytes: "0", "4*T*T" */
  const char *args;         /* "A,B,C,M,N,K,1.0": the parameters in order */
  const char *dtype;        /* "f32" "f64" "f16" "bf16": of A and B, and of C unless it is float* */
  const char *op;           /* "gemm" "gemv" "add" "copy" "reduce" "transpose" "none" */
  const char *layout[3];    /* of A, B, C: "row" "col" */
  const char *defines[XRAY_REQUEST_DEFINES]; /* "T=16"; also the parameters of a rung */
  int ndefines;
  const char *arch; /* "compute_90", "sm_90a" or "90" */
  bool sample;      /* some blocks of each class, counts scaled up */
  bool no_checks;   /* races and initialisation are not looked at: faster */
  bool trace;       /* events CLIENT_TRACE of one block */
  int64_t trace_block[3];
  uint64_t seed;  /* 0: 1 */
  double seconds; /* the most it may run; 0: the worker's default */
};

/* Reads and checks the fields of a request line; false with a sentence that names the field.
 * Strings belong to the line. */
bool xray_request_read(const cJSON *line, struct xray_request *q, struct err *err);

/* The request line {"id":id,"req":"xray",...}; the caller deletes. Cannot fail. */
cJSON *xray_request_make(int id, const struct xray_request *q);

#endif
