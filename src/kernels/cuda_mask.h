/* CUDA C++ text with everything blanked that is no code, so that braces can be counted. */
#ifndef MM_KERNELS_CUDA_MASK_H
#define MM_KERNELS_CUDA_MASK_H

#include <stdbool.h>
#include <stddef.h>

struct cuda_mask_directive {
  size_t begin, end; /* from the '#' to the end of the (continued) line */
  int line;
};

/* `code` is as long as the source, line ends in their places. Comments, the insides of strings,
 * character constants, preprocessor lines and `#if 0` regions are spaces; where the branches of an
 * #if open braces twice, only the first branch's braces are there. */
struct cuda_mask {
  char *code; /* NUL-terminated */
  size_t n;
  bool *directive; /* for each byte: belongs to a preprocessor line */
  struct cuda_mask_directive *directives;
  int ndirectives;
};

/* Any n bytes are taken; linear time. Cannot fail. The caller frees with cuda_mask_done. */
void cuda_mask_make(struct cuda_mask *m, const char *source, size_t n);
void cuda_mask_done(struct cuda_mask *m);

/* True if source[at..] is the word `word`, with no letter behind it. */
bool cuda_mask_word(const char *source, size_t n, size_t at, const char *word);

/* Letters of identifiers, `$` and bytes of UTF-8 included. */
bool cuda_mask_ident(char c);

/* The directive's name begins here ("define"); its end if there is none. */
size_t cuda_mask_directive_name(const char *source, const struct cuda_mask_directive *d);

#endif
