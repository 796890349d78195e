#include "bench/xray_args.h"

#include "base/alloc.h"
#include "base/str.h"
#include "bench/narrow.h"
#include "bench/wire.h"
#include "bench/xray_guess.h"
#include "bench/xray_struct.h"
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const xray_args_names[XRAY_ARGS_ARRAYS] = {"A", "B", "C", "W"};

enum { WORD_MAX = 100 };

/* What is at hand while the arguments are settled. */
struct binder {
  struct xray_args *out;
  struct xray_case *c;
  const xray_module *m;
  const char *symbol;
  const struct xray_params *params;
  struct device_fault *fault;
  int nparams; /* by the ABI */
  char words[XRAY_PARAMS_MAX][WORD_MAX];
  int nwords;
  int scalars;                     /* floating-point values so far */
  struct xray_params_one typed[3]; /* what points to A, B and C */
  bool has_type[3];
};

static const struct xray_params_one *source_of(const struct binder *b, int i) {
  return b->params->n == b->nparams ? &b->params->all[i] : NULL;
}

/* "const float *A, const float *B, int n", or by the ABI "8 bytes, 8 bytes, 4 bytes (float)". */
static void list_params(const struct binder *b, struct str *out) {
  struct xray_param p;
  for (int i = 0; i < b->nparams; i++) {
    const struct xray_params_one *one = source_of(b, i);
    str_add(out, i ? ", " : "");
    if (one)
      str_add(out, one->text);
    else if (xray_param(b->m, b->symbol, i, &p))
      str_addf(out, "%lld bytes%s", (long long)p.bytes, p.is_float ? " (floating point)" : "");
  }
}

static bool is_number(int64_t bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

static bool has_structure(const struct binder *b) {
  struct xray_param abi;
  for (int i = 0; xray_param(b->m, b->symbol, i, &abi); i++)
    if (!is_number(abi.bytes))
      return true;
  return false;
}

/* A fault with the kernel's parameters and an example of --args behind `what`. */
static bool refuse(const struct binder *b, const char *what) {
  struct str list = {0}, why = {0}, next = {0}, example = {0};
  list_params(b, &list);
  str_addf(&why, "The kernel's parameters are: %.420s.", list.data ? list.data : "none");
  const char *words[XRAY_PARAMS_MAX];
  struct xray_params by_abi = {.n = b->nparams};
  for (int i = 0; i < b->nparams; i++) {
    struct xray_param p;
    const struct xray_params_one *one = source_of(b, i);
    if (one)
      by_abi.all[i] = *one;
    else if (xray_param(b->m, b->symbol, i, &p)) {
      by_abi.all[i].pointer = p.bytes == 8 && !p.is_float;
      by_abi.all[i].kind = p.is_float ? XRAY_PARAMS_FLOATING : XRAY_PARAMS_INTEGER;
    }
  }
  xray_guess_example(&by_abi, words);
  int pointers = 0;
  for (int i = 0; i < b->nparams; i++)
    pointers += by_abi.all[i].pointer;
  bool unary = pointers == 2 && !b->c->q->op && !b->c->front;
  for (int i = 0; i < b->nparams; i++)
    str_addf(&example, "%s%s", i ? "," : "", words[i]);
  if (has_structure(b))
    str_add(&next, "Give the fields in order in braces, as in --args '{A,M,K},{B,K,N},{C,M,N}', or "
                   "write a __global__ function that takes them one by one.");
  else
    str_addf(&next, "Name one thing for each, in order, such as %s--args '%s'.",
             unary ? "--op copy " : "", example.data ? example.data : "");
  str_free(&example);
  wire_fault_set(b->fault, "args", what, why.data, next.data);
  str_free(&list);
  str_free(&why);
  str_free(&next);
  return false;
}

static bool refusef(const struct binder *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static bool refusef(const struct binder *b, const char *fmt, ...) {
  char what[400];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(what, sizeof what, fmt, ap);
  va_end(ap);
  return refuse(b, what);
}

/* A description of parameter i for a sentence. */
static const char *describe(const struct binder *b, int i, char out[160]) {
  const struct xray_params_one *one = source_of(b, i);
  if (one)
    snprintf(out, 160, "`%s`", one->text);
  else
    snprintf(out, 160, "parameter %d", i + 1);
  return out;
}

/* ---- the words */

static bool add_word(struct binder *b, const char *text, size_t n) {
  while (n && isspace((unsigned char)*text))
    text++, n--;
  while (n && isspace((unsigned char)text[n - 1]))
    n--;
  if (n >= WORD_MAX || b->nwords == XRAY_PARAMS_MAX)
    return refusef(b, "--args has a word of more than %d characters, or more than %d words.",
                   WORD_MAX - 1, XRAY_PARAMS_MAX);
  memcpy(b->words[b->nwords], text, n);
  b->words[b->nwords++][n] = '\0';
  return true;
}

/* Cuts at the commas outside of parentheses and braces. */
static bool cut_words(struct binder *b, const char *text) {
  int depth = 0;
  const char *begin = text;
  for (;; text++) {
    depth += (*text == '(' || *text == '{') - (*text == ')' || *text == '}');
    if (*text && (*text != ',' || depth > 0))
      continue;
    if (!add_word(b, begin, (size_t)(text - begin)))
      return false;
    if (!*text)
      return true;
    begin = text + 1;
  }
}

static bool refuse_structure(const struct binder *b, int i, int64_t bytes) {
  char text[160];
  return refusef(b,
                 "%s of the kernel is a structure of %lld bytes; an x-ray can give its fields "
                 "where they are numbers and pointers.",
                 describe(b, i, text), (long long)bytes);
}

static bool no_structures(const struct binder *b) {
  struct xray_param abi;
  for (int i = 0; xray_param(b->m, b->symbol, i, &abi); i++)
    if (!is_number(abi.bytes))
      return refuse_structure(b, i, abi.bytes);
  return true;
}

static bool find_words(struct binder *b) {
  const struct xray_case *c = b->c;
  if (c->q->args)
    return cut_words(b, c->q->args);
  const struct kernel *f = c->front;
  if (f && f->nlaunches > 0 &&
      (!c->q->entry || strcmp(f->launches[c->launch].entry, c->q->entry) == 0)) {
    const struct kernel_launch *l = &f->launches[c->launch];
    for (int i = 0; i < l->nargs; i++)
      if (!add_word(b, l->args[i], strlen(l->args[i])))
        return false;
    return true;
  }
  if (b->nparams == 0)
    return true;
  if (!no_structures(b))
    return false;
  const char *guess[XRAY_PARAMS_MAX] = {NULL};
  if (b->params->n != b->nparams || !xray_guess(c, b->params, guess))
    return refuse(b, "What the kernel's parameters are does not follow from their names.");
  for (int i = 0; i < b->nparams; i++)
    if (!add_word(b, guess[i], strlen(guess[i])))
      return false;
  return b->out->guessed = true;
}

/* ---- one argument */

static int array_of(const struct binder *b, int i) {
  const char *word = b->words[i];
  const struct xray_params_one *one = source_of(b, i);
  for (int k = 0; k < XRAY_ARGS_ARRAYS; k++)
    if (strcmp(word, xray_args_names[k]) == 0 ||
        (one && one->pointer && strcasecmp(word, xray_args_names[k]) == 0))
      return k;
  return -1;
}

static bool bind_array(struct binder *b, int i, int array, const struct xray_param *abi) {
  const struct xray_params_one *one = source_of(b, i);
  char text[160];
  if (!is_number(abi->bytes))
    return refuse_structure(b, i, abi->bytes);
  if (abi->bytes != 8 || abi->is_float || (one && !one->pointer))
    return refusef(b, "%s is a matrix, and %s of the kernel is no pointer.", b->words[i],
                   describe(b, i, text));
  b->out->arg[i].array = array;
  b->out->uses[array] = true;
  if (array < 3 && one) {
    b->typed[array] = *one;
    b->has_type[array] = true;
  }
  return true;
}

static bool put_integer(struct binder *b, int i, double v, const struct xray_param *abi) {
  const struct xray_params_one *one = source_of(b, i);
  bool whole = v == floor(v), positive = one && one->is_unsigned;
  double top = ldexp(1, (int)(8 * abi->bytes) - (positive ? 0 : 1));
  char text[160];
  if (!whole || v >= top || v < (positive ? 0 : -top) || fabs(v) > 9007199254740992.0)
    return refusef(b, "%s = %.17g does not fit into %s of the kernel (%lld bytes).", b->words[i], v,
                   describe(b, i, text), (long long)abi->bytes);
  int64_t x = (int64_t)v;
  memcpy(b->out->arg[i].value, &x, (size_t)abi->bytes); /* both are little-endian */
  return true;
}

static void put_float(struct binder *b, int i, double v, const struct xray_param *abi) {
  const struct xray_params_one *one = source_of(b, i);
  unsigned char *to = b->out->arg[i].value;
  float f = (float)v;
  if (abi->bytes == 8)
    memcpy(to, &v, 8);
  else if (abi->bytes == 4)
    memcpy(to, &f, 4);
  else {
    uint16_t h = narrow_from(f, one->dtype);
    memcpy(to, &h, 2);
  }
}

/* Takes a floating-point argument as alpha or beta, if it can be told which. */
static void note_scalar(struct binder *b, int i, double v) {
  const struct xray_params_one *one = source_of(b, i);
  struct xray_case *c = b->c;
  const char *name = one ? one->name : "";
  bool alpha = strcasecmp(name, "alpha") == 0 || strcmp(b->words[i], "alpha") == 0 ||
               strncmp(b->words[i], "alpha=", 6) == 0;
  bool beta = strcasecmp(name, "beta") == 0 || strcmp(b->words[i], "beta") == 0 ||
              strncmp(b->words[i], "beta=", 5) == 0;
  if (!alpha && !beta && !one && b->scalars < 2)
    *(b->scalars == 0 ? &alpha : &beta) = true;
  b->scalars++;
  if (alpha) {
    c->alpha = v;
  } else if (beta) {
    c->beta = v;
    c->takes_beta = true;
  } else if (c->check) {
    c->check = false;
    snprintf(c->reason, sizeof c->reason,
             "C was not checked: what the number %.40s does to it is not known.", b->words[i]);
  }
}

static bool value_of(struct binder *b, int i, double *v) {
  struct xray_case *c = b->c;
  const char *word = b->words[i];
  struct err err;
  char text[160];
  if (strcmp(word, "alpha") == 0 || strcmp(word, "beta") == 0) {
    *v = word[0] == 'a' ? c->alpha : c->beta;
    return true;
  }
  if (strncmp(word, "alpha=", 6) == 0)
    word += 6;
  else if (strncmp(word, "beta=", 5) == 0)
    word += 5;
  if (expr_eval(word, xray_case_lookup, c, v, &err))
    return true;
  return refusef(b, "\"%s\" for %s of the kernel is no number: %.200s", word, describe(b, i, text),
                 err.text);
}

static bool bind_value(struct binder *b, int i, const struct xray_param *abi) {
  const struct xray_params_one *one = source_of(b, i);
  char text[160];
  double v;
  bool null = strcmp(b->words[i], "0") == 0;
  if (one && one->pointer && !null)
    return refusef(b,
                   "%s of the kernel is a pointer, and \"%s\" is no matrix: there are A, B, C, "
                   "W (zeros) and 0 (a null pointer).",
                   describe(b, i, text), b->words[i]);
  if (one && one->pointer) {
    b->out->arg[i] = (struct xray_arg){.array = -1, .bytes = (int)abi->bytes};
    return true;
  }
  bool floating = abi->is_float || (one && one->kind == XRAY_PARAMS_FLOATING);
  if (!is_number(abi->bytes) || (floating && abi->bytes == 1) ||
      (floating && abi->bytes == 2 && !one))
    return refuse_structure(b, i, abi->bytes);
  if (!value_of(b, i, &v))
    return false;
  b->out->arg[i].array = -1;
  b->out->arg[i].bytes = (int)abi->bytes;
  if (!floating)
    return put_integer(b, i, v, abi);
  put_float(b, i, v, abi);
  note_scalar(b, i, v);
  return true;
}

/* Puts a field where it lies in parameter i; false if that has too many pointers. */
static bool place_field(struct binder *b, int i, const struct xray_arg *field, int64_t at,
                        int64_t bytes) {
  struct xray_arg *arg = &b->out->arg[i];
  if (field->array < 0) {
    memcpy(arg->value + at, field->value, (size_t)bytes);
    return true;
  }
  if (arg->nrefs == (int)(sizeof arg->refs / sizeof *arg->refs))
    return false;
  arg->refs[arg->nrefs++] = (struct xray_ref){(int)at, field->array};
  b->out->uses[field->array] = true;
  return true;
}

static bool bind_fields(struct binder *b, int i, struct binder *in, const struct xray_struct *s) {
  for (int j = 0; j < in->nparams; j++) {
    struct xray_param of = {.bytes = s->bytes[j]};
    int array = array_of(in, j);
    if (!(array >= 0 ? bind_array(in, j, array, &of) : bind_value(in, j, &of)))
      return false;
    if (!place_field(b, i, &in->out->arg[j], s->at[j], s->bytes[j]))
      return refuse_structure(b, i, b->out->arg[i].bytes);
  }
  b->scalars = in->scalars;
  memcpy(b->typed, in->typed, sizeof in->typed);
  memcpy(b->has_type, in->has_type, sizeof in->has_type);
  return true;
}

/* "{A,M,K}" for a structure: its fields are bound as parameters are. */
static bool bind_struct(struct binder *b, int i, const struct xray_param *abi) {
  struct xray_struct s;
  struct xray_args fields = {0};
  const struct xray_params_one *one = source_of(b, i);
  struct binder in = *b;
  if (!one || abi->bytes > (int64_t)sizeof fields.arg->value ||
      !xray_struct_find(&s, b->params->source, one->text, abi->bytes))
    return refuse_structure(b, i, abi->bytes);
  in.out = &fields;
  in.params = &s.fields;
  in.nparams = s.fields.n;
  in.nwords = 0;
  char *text = alloc_strn(b->words[i] + 1, strlen(b->words[i]) - 2);
  bool ok = cut_words(&in, text);
  free(text);
  if (ok && in.nwords != in.nparams)
    return refusef(b, "The structure has %d fields, and --args gives %d.", in.nparams, in.nwords);
  b->out->arg[i] = (struct xray_arg){.array = -1, .bytes = (int)abi->bytes};
  return ok && bind_fields(b, i, &in, &s);
}

static bool bind_one(struct binder *b, int i, const struct xray_param *abi) {
  size_t n = strlen(b->words[i]);
  if (n >= 2 && b->words[i][0] == '{' && b->words[i][n - 1] == '}')
    return bind_struct(b, i, abi);
  int array = array_of(b, i);
  return array >= 0 ? bind_array(b, i, array, abi) : bind_value(b, i, abi);
}

static bool take_types(struct binder *b) {
  const struct xray_params_one *of[3] = {NULL, NULL, NULL};
  for (int i = 0; i < 3; i++)
    if (b->has_type[i])
      of[i] = &b->typed[i];
  return xray_case_types(b->c, of, b->fault);
}

/* The words as one text, for the result. */
static void join(const struct binder *b) {
  size_t n = 0, size = sizeof b->out->text;
  for (int i = 0; i < b->nwords && n < size; i++)
    n += (size_t)snprintf(b->out->text + n, size - n, "%s%s", i ? "," : "", b->words[i]);
}

bool xray_args_bind(struct xray_args *a, struct xray_case *c, const xray_module *m,
                    const char *symbol, const struct xray_params *params,
                    struct device_fault *fault) {
  memset(a, 0, sizeof *a);
  struct binder b = {.out = a, .c = c, .m = m, .symbol = symbol, .params = params, .fault = fault};
  struct xray_param abi;
  while (xray_param(m, symbol, b.nparams, &abi))
    if (++b.nparams > XRAY_PARAMS_MAX) {
      wire_fault_set(fault, "args", "The kernel has more parameters than an x-ray can give.", "",
                     "Put them into fewer.");
      return false;
    }
  if (!find_words(&b))
    return false;
  if (b.nwords != b.nparams && !(b.nparams == 0 && !b.words[0][0]))
    return refusef(&b,
                   c->q->args ? "The kernel takes %d arguments, and --args gives %d."
                              : "The kernel takes %d arguments, and the front matter has %d.",
                   b.nparams, b.nwords);
  a->n = b.nparams;
  for (int i = 0; i < b.nparams; i++) {
    xray_param(m, symbol, i, &abi);
    if (!bind_one(&b, i, &abi))
      return false;
  }
  join(&b);
  return take_types(&b);
}
