/* Cuts PTX text into tokens. Words keep their dots ("fma.rn.f32", "%tid.x") unless they begin with
 * one: ".reg.b32" is two words. */
#ifndef MM_SIM_XRAY_PTX_LEX_H
#define MM_SIM_XRAY_PTX_LEX_H

#include <stdbool.h>
#include <stddef.h>

struct slice { /* a piece of the text, not terminated */
  const char *p;
  int n;
};

enum ptx_tok { TOK_END, TOK_WORD, TOK_NUMBER, TOK_STRING, TOK_PUNCT };

struct ptx_lex {
  const char *at, *end;
  int text_line; /* of the token */
  enum ptx_tok kind;
  struct slice text; /* of a string: what stands between the quotes */
};

/* Starts before the first token; the text must outlive the tokens. */
void ptx_lex_init(struct ptx_lex *lex, const char *text, size_t n);

/* Moves to the next token; TOK_END for ever behind the last. Cannot fail: a character that PTX does
 * not know is a token of its own. */
void ptx_lex_next(struct ptx_lex *lex);

/* True if the slice is this word. */
bool ptx_lex_is(struct slice s, const char *word);

#endif
