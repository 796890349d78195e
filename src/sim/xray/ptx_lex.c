#include "sim/xray/ptx_lex.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

void ptx_lex_init(struct ptx_lex *lex, const char *text, size_t n) {
  *lex = (struct ptx_lex){.at = text, .end = text + n, .text_line = 1, .kind = TOK_PUNCT};
}

static bool at_pair(const struct ptx_lex *lex, char a, char b) {
  return lex->end - lex->at >= 2 && lex->at[0] == a && lex->at[1] == b;
}

static void skip_space(struct ptx_lex *lex) {
  while (lex->at < lex->end) {
    if (at_pair(lex, '/', '/')) {
      while (lex->at < lex->end && *lex->at != '\n')
        lex->at++;
    } else if (at_pair(lex, '/', '*')) {
      lex->at += 2;
      while (lex->at < lex->end && !at_pair(lex, '*', '/'))
        lex->text_line += *lex->at++ == '\n';
      lex->at += lex->end - lex->at >= 2 ? 2 : lex->end - lex->at;
    } else if (isspace((unsigned char)*lex->at) || *lex->at == '\0') {
      lex->text_line += *lex->at++ == '\n';
    } else {
      return;
    }
  }
}

static bool word_char(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

static void take_word(struct ptx_lex *lex) {
  bool directive = *lex->at == '.';
  lex->at++;
  while (lex->at < lex->end) {
    if (directive && *lex->at == '.')
      break;
    if (at_pair(lex, ':', ':'))
      lex->at += 2;
    else if (word_char(*lex->at))
      lex->at++;
    else
      break;
  }
}

void ptx_lex_next(struct ptx_lex *lex) {
  skip_space(lex);
  const char *from = lex->at;
  lex->text = (struct slice){from, 0};
  if (from >= lex->end) {
    lex->kind = TOK_END;
    return;
  }
  if (*from == '"') {
    do
      lex->at++;
    while (lex->at < lex->end && *lex->at != '"' && *lex->at != '\n');
    ptrdiff_t n = lex->at - from - 1;
    lex->text = (struct slice){from + 1, n < INT_MAX ? (int)n : INT_MAX};
    lex->kind = TOK_STRING;
    lex->at += lex->at < lex->end;
    return;
  }
  if (isdigit((unsigned char)*from)) {
    lex->kind = TOK_NUMBER;
    take_word(lex);
  } else if (word_char(*from)) {
    lex->kind = TOK_WORD;
    take_word(lex);
  } else {
    lex->kind = TOK_PUNCT;
    lex->at++;
  }
  ptrdiff_t n = lex->at - from;
  lex->text.n = n < INT_MAX ? (int)n : INT_MAX;
}

bool ptx_lex_is(struct slice s, const char *word) {
  size_t n = strlen(word);
  return (size_t)s.n == n && memcmp(s.p, word, n) == 0;
}
