/* Cuts one declaration or definition out of masked CUDA C++ text. */
#ifndef MM_KERNELS_CUDA_ITEM_H
#define MM_KERNELS_CUDA_ITEM_H

#include "kernels/cuda_mask.h"
#include <stdbool.h>
#include <stddef.h>

struct cuda_item_macro {
  size_t name, name_end; /* in the source */
  bool global, device;   /* its text holds __global__, or __device__ or the like */
  bool whole;            /* it takes arguments and makes whole functions */
};

/* What stays the same for one file. Free with cuda_item_text_done. */
struct cuda_item_text {
  const char *source, *code;
  size_t n;
  size_t *match; /* for an opening bracket its closing one, n if there is none */
  struct cuda_item_macro *macros;
  int nmacros;
  size_t no_angle; /* no '<' before this place opens an argument list */
};

enum cuda_item_form {
  CUDA_ITEM_OTHER, /* using, typedef, static_assert, ';' alone, forward declarations of types */
  CUDA_ITEM_NAMESPACE,
  CUDA_ITEM_EXTERN_C, /* with a block; body is its '{', as for a namespace */
  CUDA_ITEM_LABEL,    /* public: */
  CUDA_ITEM_TYPE,     /* with a body */
  CUDA_ITEM_FUNCTION, /* with a body */
  CUDA_ITEM_PROTOTYPE,
  CUDA_ITEM_VARIABLE
};

/* All places are offsets into the text; begin == end only at the end of the range. */
struct cuda_item {
  size_t begin, end;
  enum cuda_item_form form;
  size_t name, name_end;
  size_t body;             /* the '{', n if there is none */
  size_t params;           /* the '(' of a function, n if there is none */
  size_t targs, targs_end; /* between < and > of the last `template` */
  bool global, device, is_constexpr, is_const, is_virtual;
  bool is_template;
  bool std_object; /* its type is a class of the standard library */
};

void cuda_item_text_make(struct cuda_item_text *t, const char *source,
                         const struct cuda_mask *mask);
void cuda_item_text_done(struct cuda_item_text *t);

/* The item that begins at or behind `at`, before `end`. Always moves on unless at the end. */
struct cuda_item cuda_item_next(struct cuda_item_text *t, size_t at, size_t end);

#endif
