#include "sim/xray/exec_print.h"

#include "base/alloc.h"
#include "base/str.h"
#include "sim/xray/exec_call.h"
#include "sim/xray/memory.h"
#include "sim/xray/report.h"
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT = 1 << 20, MAX_STRING = 1024, MAX_FIELD = 512, MAX_ARGS = 512 };

struct print_piece {
  int64_t block;
  size_t from, n;
};

struct print_log {
  struct str text;
  struct print_piece *pieces;
  int npieces;
  bool full; /* more was printed than is kept: formatting the rest would only take time */
};

/* ---- memory of the kernel */

/* Up to n bytes behind a generic pointer; how many there are. */
static size_t read_memory(const struct machine *m, int64_t thread, uint64_t pointer, void *to,
                          size_t n) {
  int64_t at = (int64_t)pointer;
  enum ptx_space space = memory_space(&at);
  const struct memory_piece *p = memory_find(m->memory, space, at, thread);
  if (!p || at < p->base || at - p->base >= p->bytes)
    return 0;
  int64_t left = p->bytes - (at - p->base);
  n = (int64_t)n < left ? n : (size_t)left;
  memcpy(to, p->data + (at - p->base), n);
  return n;
}

struct reader {
  const struct machine *m;
  int64_t thread;
};

static void read_string(void *ctx, uint64_t pointer, char *to, size_t size) {
  const struct reader *r = ctx;
  size_t n = read_memory(r->m, r->thread, pointer, to, size - 1);
  to[n] = '\0';
  if (n == 0)
    snprintf(to, size, "(null)");
}

/* ---- formatting */

struct spec { /* of one conversion */
  bool left, plus, space, zero, alternate;
  int width, precision; /* -1: none */
  bool wide;            /* l, ll, z, j, t */
  char letter;
};

struct args {
  const unsigned char *at;
  size_t used, n;
};

static uint64_t take_arg(struct args *a, size_t bytes) {
  uint64_t v = 0;
  a->used = (a->used + bytes - 1) / bytes * bytes;
  if (a->used + bytes <= a->n)
    memcpy(&v, a->at + a->used, bytes);
  a->used += bytes;
  return v;
}

static const char *read_count(const char *p, struct args *a, int *out) {
  if (*p == '*') {
    *out = (int)take_arg(a, 4);
    return p + 1;
  }
  for (*out = 0; *p >= '0' && *p <= '9'; p++)
    *out = *out < 10 * MAX_FIELD ? *out * 10 + *p - '0' : *out;
  return p;
}

/* Reads what follows a '%'; where the conversion ends. */
static const char *read_spec(const char *p, struct args *a, struct spec *s) {
  *s = (struct spec){.precision = -1};
  for (; *p && strchr("-+ 0#", *p); p++) {
    s->left |= *p == '-';
    s->plus |= *p == '+';
    s->space |= *p == ' ';
    s->zero |= *p == '0';
    s->alternate |= *p == '#';
  }
  p = read_count(p, a, &s->width);
  if (s->width < 0) {
    s->left = true;
    s->width = s->width < -MAX_FIELD ? MAX_FIELD : -s->width;
  }
  if (*p == '.') {
    p = read_count(p + 1, a, &s->precision);
    s->precision = s->precision < 0 ? -1 : s->precision;
  }
  s->width = s->width > MAX_FIELD ? MAX_FIELD : s->width;
  s->precision = s->precision > MAX_FIELD / 2 ? MAX_FIELD / 2 : s->precision;
  for (; *p && strchr("hlLqjzt", *p); p++)
    s->wide |= *p != 'h';
  s->letter = *p;
  return *p ? p + 1 : p;
}

static void pad(struct str *out, char c, int n) {
  for (; n > 0; n--)
    str_addc(out, c);
}

/* Sign or prefix, zeros or blanks, and the body. */
static void put(struct str *out, const struct spec *s, const char *prefix, const char *body,
                bool zeros) {
  int missing = s->width - (int)strlen(prefix) - (int)strlen(body);
  if (!s->left && !zeros)
    pad(out, ' ', missing);
  str_add(out, prefix);
  if (!s->left && zeros)
    pad(out, '0', missing);
  str_add(out, body);
  if (s->left)
    pad(out, ' ', missing);
}

static const char *sign_of(const struct spec *s, bool minus) {
  return minus ? "-" : s->plus ? "+" : s->space ? " " : "";
}

static void put_integer(struct str *out, const struct spec *s, uint64_t v) {
  char digits[32], body[MAX_FIELD];
  const char *prefix = "";
  if (s->letter == 'd' || s->letter == 'i') {
    int64_t n = s->wide ? (int64_t)v : (int32_t)v;
    prefix = sign_of(s, n < 0);
    snprintf(digits, sizeof digits, "%llu",
             n < 0 ? 0 - (unsigned long long)n : (unsigned long long)n);
  } else if (s->letter == 'o') {
    prefix = s->alternate && v ? "0" : "";
    snprintf(digits, sizeof digits, "%llo", (unsigned long long)v);
  } else if (s->letter == 'x') {
    prefix = s->alternate && v ? "0x" : "";
    snprintf(digits, sizeof digits, "%llx", (unsigned long long)v);
  } else if (s->letter == 'X') {
    prefix = s->alternate && v ? "0X" : "";
    snprintf(digits, sizeof digits, "%llX", (unsigned long long)v);
  } else {
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)v);
  }
  int n = (int)strlen(digits), zeros = s->precision > n ? s->precision - n : 0;
  memset(body, '0', (size_t)zeros);
  memcpy(body + zeros, digits, (size_t)n + 1);
  if (s->precision == 0 && v == 0)
    body[0] = '\0';
  put(out, s, prefix, body, s->zero && s->precision < 0);
}

static int float_text(char *to, size_t size, char letter, int precision, double v) {
  switch (letter) {
  case 'e':
    return snprintf(to, size, "%.*e", precision, v);
  case 'E':
    return snprintf(to, size, "%.*E", precision, v);
  case 'g':
    return snprintf(to, size, "%.*g", precision, v);
  case 'G':
    return snprintf(to, size, "%.*G", precision, v);
  case 'a':
    return precision < 0 ? snprintf(to, size, "%a", v) : snprintf(to, size, "%.*a", precision, v);
  case 'A':
    return precision < 0 ? snprintf(to, size, "%A", v) : snprintf(to, size, "%.*A", precision, v);
  default:
    return snprintf(to, size, "%.*f", precision, v);
  }
}

static void put_float(struct str *out, const struct spec *s, uint64_t bits) {
  char body[MAX_FIELD + 400], *text = body;
  double v;
  memcpy(&v, &bits, sizeof v);
  bool hex = s->letter == 'a' || s->letter == 'A';
  float_text(body, sizeof body, s->letter, s->precision < 0 && !hex ? 6 : s->precision, v);
  char *point = strchr(body, *localeconv()->decimal_point);
  if (point) /* the device knows no locale */
    *point = '.';
  bool minus = *text == '-', number = bits << 1 < (uint64_t)0x7ff << 53;
  put(out, s, sign_of(s, minus), text + minus, s->zero && number);
}

static void put_text(struct str *out, const struct spec *s, const char *text) {
  char body[MAX_STRING];
  size_t n = s->precision >= 0 ? strnlen(text, (size_t)s->precision) : strlen(text);
  n = n < sizeof body ? n : sizeof body - 1;
  memcpy(body, text, n);
  body[n] = '\0';
  put(out, s, "", body, false);
}

/* One conversion; false if its letter is not known. */
static bool convert(struct str *out, const struct spec *s, struct args *a,
                    void (*string)(void *, uint64_t, char *, size_t), void *ctx) {
  char text[MAX_STRING];
  if (!s->letter)
    return false;
  if (strchr("diuoxX", s->letter)) {
    put_integer(out, s, take_arg(a, s->wide ? 8 : 4));
  } else if (strchr("fFeEgGaA", s->letter)) {
    put_float(out, s, take_arg(a, 8));
  } else if (s->letter == 'c') {
    text[0] = (char)take_arg(a, 4);
    text[1] = '\0';
    put_text(out, s, text);
  } else if (s->letter == 's') {
    string(ctx, take_arg(a, 8), text, sizeof text);
    put_text(out, s, text);
  } else if (s->letter == 'p') {
    snprintf(text, sizeof text, "%#llx", (unsigned long long)take_arg(a, 8));
    put_text(out, s, text);
  } else {
    return false;
  }
  return true;
}

void exec_print_format(struct str *out, const char *format, const unsigned char *args, size_t nargs,
                       void (*string)(void *ctx, uint64_t pointer, char *to, size_t size),
                       void *ctx, int *count) {
  struct args a = {args, 0, nargs};
  *count = 0;
  for (const char *p = format; *p;) {
    const char *next = strchr(p, '%');
    if (!next) {
      str_add(out, p);
      return;
    }
    str_addn(out, p, (size_t)(next - p));
    if (next[1] == '%') {
      str_addc(out, '%');
      p = next + 2;
      continue;
    }
    struct spec s;
    p = read_spec(next + 1, &a, &s);
    if (convert(out, &s, &a, string, ctx))
      ++*count;
    else
      str_addn(out, next, (size_t)(p - next));
  }
}

/* ---- printf */

static void keep(struct machine *m, const struct str *text) {
  if (!m->print)
    m->print = alloc_zero(1, sizeof *m->print);
  struct print_log *log = m->print;
  log->full = log->full || log->text.len + text->len > MAX_TEXT;
  if (log->full)
    return;
  struct print_piece *last = log->npieces ? &log->pieces[log->npieces - 1] : NULL;
  if (last && last->block == m->block_number) {
    last->n += text->len; /* nothing else came between */
  } else {
    log->pieces = alloc_grow(log->pieces, (size_t)log->npieces + 1, sizeof *log->pieces);
    log->pieces[log->npieces++] = (struct print_piece){m->block_number, log->text.len, text->len};
  }
  str_addn(&log->text, text->data, text->len);
}

void exec_print(struct machine *m, struct warp *w, const struct insn_call *c, uint32_t mask) {
  bool kept = m->launch->print && !(m->print && m->print->full);
  for (uint32_t left = kept ? mask : 0; left; left &= left - 1) {
    int l = __builtin_ctz(left), count = 0;
    struct reader r = {m, (int64_t)w->index * INSN_LANES + l};
    unsigned char args[MAX_ARGS];
    char format[4 * MAX_STRING];
    struct str text = {0};
    read_string(&r, exec_call_arg(m, w, c, 0, l), format, sizeof format);
    size_t n = read_memory(m, r.thread, exec_call_arg(m, w, c, 1, l), args, sizeof args);
    exec_print_format(&text, format, args, n, read_string, &r, &count);
    if (text.len)
      keep(m, &text);
    str_free(&text);
  }
}

static int by_block(const void *a, const void *b) {
  const struct print_piece *x = a, *y = b;
  if (x->block != y->block)
    return x->block < y->block ? -1 : 1;
  return (x->from > y->from) - (x->from < y->from);
}

/* The machine whose next piece is of the lowest block. */
static int next_machine(struct machine *const *machines, const int *at, int n) {
  int best = -1;
  for (int i = 0; i < n; i++) {
    const struct print_log *log = machines[i]->print;
    if (log && at[i] < log->npieces &&
        (best < 0 || log->pieces[at[i]].block < machines[best]->print->pieces[at[best]].block))
      best = i;
  }
  return best;
}

void exec_print_flush(struct machine *const *machines, int n) {
  int *at = alloc_zero((size_t)n, sizeof *at);
  for (int i = 0; i < n; i++)
    if (machines[i]->print)
      qsort(machines[i]->print->pieces, (size_t)machines[i]->print->npieces,
            sizeof(struct print_piece), by_block);
  for (int k; (k = next_machine(machines, at, n)) >= 0; at[k]++) {
    const struct print_log *log = machines[k]->print;
    const struct print_piece *p = &log->pieces[at[k]];
    machines[k]->launch->print(machines[k]->launch->ctx, log->text.data + p->from, p->n);
  }
  for (int i = 0; i < n; i++)
    if (machines[i]->print) {
      str_free(&machines[i]->print->text);
      free(machines[i]->print->pieces);
      free(machines[i]->print);
      machines[i]->print = NULL;
    }
  free(at);
}

/* ---- assert */

void exec_print_assert(struct machine *m, struct warp *w, const struct insn *in,
                       const struct insn_call *c, uint32_t mask) {
  int l = __builtin_ctz(mask);
  struct reader r = {m, (int64_t)w->index * INSN_LANES + l};
  char what[160], file[80], function[80];
  read_string(&r, exec_call_arg(m, w, c, 0, l), what, sizeof what);
  read_string(&r, exec_call_arg(m, w, c, 1, l), file, sizeof file);
  read_string(&r, exec_call_arg(m, w, c, 3, l), function, sizeof function);
  report_problem(m, w, in, l, XRAY_TRAP, true,
                 "The assertion %s fails in %s (%s, line %u). The kernel stops itself here.", what,
                 function, file, (unsigned)exec_call_arg(m, w, c, 2, l));
  m->halted = true;
}
