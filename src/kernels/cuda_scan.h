/* A learner's .cu file made ready for a compiler that takes device code only: host code is blanked
 * in place, so that every line keeps its number. Text only; nothing is preprocessed. */
#ifndef MM_KERNELS_CUDA_SCAN_H
#define MM_KERNELS_CUDA_SCAN_H

#include "kernels/cuda_launches.h"
#include "kernels/cuda_mask.h"
#include <stdbool.h>
#include <stddef.h>

enum cuda_scan_why {
  CUDA_SCAN_HOST_FUNCTION,
  CUDA_SCAN_HOST_METHOD,
  CUDA_SCAN_HOST_VARIABLE,
  CUDA_SCAN_HOST_DECLARATION,
  CUDA_SCAN_HOST_TYPE,
  CUDA_SCAN_DROPPED /* by cuda_scan_drop; `text` is the reason given there */
};

/* Something that is in the file and not in the text. */
struct cuda_scan_left {
  int line;
  enum cuda_scan_why why;
  char *name; /* "main"; "" where it has none */
  char *text; /* "" unless dropped */
};

enum cuda_scan_kind { CUDA_SCAN_KERNEL, CUDA_SCAN_DEVICE, CUDA_SCAN_TYPE, CUDA_SCAN_OTHER };

/* A top-level piece of the file that is in the text. */
struct cuda_scan_chunk {
  size_t begin, end;
  int line, last;
  enum cuda_scan_kind kind;
  char *name; /* "" where it has none */
  bool gone;
};

/* A kernel with a body, or a named instance of a template: "tiled<32>". */
struct cuda_scan_kernel {
  char *name; /* with its namespaces: "gemm::tiled"; unnamed ones are left out */
  int line;
  char *template_params; /* "int BM, int BN"; NULL for a plain kernel */
  char *params;          /* "float *A, int n", white space folded */
  int chunk;
};

struct cuda_scan_include {
  char *name;
  bool quoted;
  int line;
};

struct cuda_scan {
  char *text; /* as long as the source, NUL-terminated; a NUL byte of the source is a space */
  size_t n;
  struct cuda_scan_chunk *chunks;
  int nchunks;
  struct cuda_scan_left *left; /* in the order found */
  int nleft;
  struct cuda_scan_kernel *kernels; /* in file order */
  int nkernels;
  struct cuda_scan_include *includes;
  int nincludes;
  struct cuda_launches launches;
  bool makes_kernels; /* a macro of the file makes kernels whose names are not known here */
  struct cuda_mask mask;
};

/* Cuts the file. Takes any n bytes, in linear time; cannot fail. Free with cuda_scan_free. */
struct cuda_scan *cuda_scan_new(const char *source, size_t n);
void cuda_scan_free(struct cuda_scan *s);

/* Blanks the chunk, or else the #include or #error, at this line (from 1) and lists it as left out
 * with the compiler's word `text`. The chunk number `keep_chunk` stays (-1: none). False if nothing
 * was taken out. */
bool cuda_scan_drop(struct cuda_scan *s, int line, const char *text, int keep_chunk);

/* Lists something as left out without changing the text. */
void cuda_scan_note(struct cuda_scan *s, int line, const char *name, const char *text);

/* The chunk that holds this line and is still there; -1 if none. */
int cuda_scan_chunk_at(const struct cuda_scan *s, int line);

#endif
